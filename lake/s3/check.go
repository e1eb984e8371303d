package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
)

// Health is what a probe of an origin learned, also if it ended in an error.
type Health struct {
	Reached bool          // something answered
	Status  int           // HTTP; 0 if not reached
	Code    string        // of S3's error; "" is none
	Region  string        // of the bucket, where the store tells it
	Skew    time.Duration // its clock minus ours, to the second; 0 if it told no date
}

// Check asks the origin, with its own keys, for one key of a bucket, or with
// bucket "" for its buckets. The error says what to do. Keys that are known
// but may not list are no error: [Health].Code is then AccessDenied.
func (s *Store) Check(ctx context.Context, bucket string) (Health, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return Health{}, err
	}
	u := &url.URL{Path: "/"}
	if bucket != "" {
		u = &url.URL{Path: "/" + bucket, RawQuery: "list-type=2&max-keys=1"}
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
	resp, err := s.Send(ctx, req, keys, sigv4.Payload{}, nil)
	if err != nil {
		return Health{}, fmt.Errorf("%w; check endpoint %s, the network and, for https, the ca setting", err, s.url())
	}
	defer func() { _ = resp.Body.Close() }()
	h := Health{Reached: true, Status: resp.StatusCode, Region: resp.Header.Get("X-Amz-Bucket-Region")}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		h.Skew = date.Sub(s.now()).Round(time.Second)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return h, fmt.Errorf("read reply of origin %s: %w", s.origin.Name, err)
	}
	if resp.StatusCode == http.StatusOK {
		return h, nil
	}
	var e struct {
		XMLName xml.Name `xml:"Error"`
		Code    string   `xml:"Code"`
		Region  string   `xml:"Region"`
	}
	if xml.Unmarshal(body, &e) == nil {
		h.Code = e.Code
		if h.Region == "" {
			h.Region = e.Region
		}
	}
	return h, s.explain(h, bucket)
}

// explain turns a refusal into an error that says what to do.
func (s *Store) explain(h Health, bucket string) error {
	name := "origin " + s.origin.Name + ": "
	switch h.Code {
	case "AccessDenied":
		return nil
	case "InvalidAccessKeyId", "InvalidToken", "ExpiredToken":
		return fmt.Errorf("%sit does not know the key (%s); check the keys under storage.origins, or what the AWS default chain finds", name, h.Code)
	case "SignatureDoesNotMatch":
		return errors.New(name + "the secret does not belong to the key; check the keys under storage.origins, or what the AWS default chain finds")
	case "RequestTimeTooSkewed":
		return fmt.Errorf("%sits clock and ours are %v apart; set this machine's clock by NTP", name, h.Skew.Abs())
	case "NoSuchBucket":
		return fmt.Errorf("%sit has no bucket %s; check buckets and endpoint under storage.origins", name, bucket)
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
		if h.Region != "" && h.Region != s.origin.Region {
			return fmt.Errorf("%sit is in region %s and not %s; set region under storage.origins", name, h.Region, s.origin.Region)
		}
	}
	if h.Code == "" {
		return fmt.Errorf("%s%s answered status %d and no S3 error; is it the address of an S3 store?", name, s.url(), h.Status)
	}
	return fmt.Errorf("%sit answered status %d, %s", name, h.Status, h.Code)
}

func (s *Store) url() string { return s.endpoint.Scheme + "://" + s.host() }
