package s3_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/laketap/laketap/lake/s3"
)

func TestCheck(t *testing.T) {
	xml := func(code, more string) string { return "<Error><Code>" + code + "</Code>" + more + "</Error>" }
	tests := []struct {
		name   string
		status int
		body   string
		header []string
		code   string
		want   string // in the error; "" is none
	}{
		{"good", 200, "<ListBucketResult/>", nil, "", ""},
		{"may not list", 403, xml("AccessDenied", ""), nil, "AccessDenied", ""},
		{"unknown key", 403, xml("InvalidAccessKeyId", ""), nil, "InvalidAccessKeyId", "does not know the key"},
		{"wrong secret", 403, xml("SignatureDoesNotMatch", ""), nil, "SignatureDoesNotMatch", "secret does not belong"},
		{"clock", 403, xml("RequestTimeTooSkewed", ""), nil, "RequestTimeTooSkewed", "NTP"},
		{"no bucket", 404, xml("NoSuchBucket", ""), nil, "NoSuchBucket", "no bucket lake-bucket"},
		{"region in body", 400, xml("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"), nil, "AuthorizationHeaderMalformed", "region eu-west-1"},
		{"region in header", 301, xml("PermanentRedirect", ""), []string{"X-Amz-Bucket-Region", "eu-west-1"}, "PermanentRedirect", "region eu-west-1"},
		{"malformed for another reason", 400, xml("AuthorizationHeaderMalformed", ""), nil, "AuthorizationHeaderMalformed", "status 400"},
		{"no store", 404, "<html>not here</html>", nil, "", "is it the address of an S3 store?"},
		{"in trouble", 503, xml("SlowDown", ""), nil, "SlowDown", "status 503, SlowDown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ask := ""
			s := newStore(t, serve(t, func(w http.ResponseWriter, req *http.Request) {
				ask = req.RequestURI
				for i := 0; i < len(tt.header); i += 2 {
					w.Header().Set(tt.header[i], tt.header[i+1])
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}), s3.Options{})
			h, err := s.Check(context.Background(), "lake-bucket")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if !h.Reached || h.Status != tt.status || h.Code != tt.code {
				t.Errorf("got %+v", h)
			}
			if ask != "/lake-bucket?list-type=2&max-keys=1" {
				t.Errorf("asked for %s", ask)
			}
			if _, err := s.Check(context.Background(), ""); err != nil && tt.want == "" || ask != "/" {
				t.Errorf("without bucket: asked for %s, got %v", ask, err)
			}
		})
	}
}

func TestCheckSigns(t *testing.T) {
	var got stored
	s := newStore(t, serve(t, strict(secrets, func(s stored) { got = s })), s3.Options{})
	if _, err := s.Check(context.Background(), "bucket"); err != nil || got.err != nil {
		t.Errorf("got %v, %v", err, got.err)
	}
}

func TestCheckTellsSkew(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := newStore(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", now.Add(-20*time.Minute).Format(http.TimeFormat))
	}), s3.Options{Now: func() time.Time { return now }})
	h, err := s.Check(context.Background(), "bucket")
	if err != nil || h.Skew != -20*time.Minute {
		t.Errorf("got %v, %v", h.Skew, err)
	}
}

func TestCheckUnreachable(t *testing.T) {
	s := newStore(t, "http://127.0.0.1:1", s3.Options{})
	h, err := s.Check(context.Background(), "bucket")
	if h.Reached || err == nil || !strings.Contains(err.Error(), "check endpoint http://127.0.0.1:1") {
		t.Errorf("got %+v, %v", h, err)
	}
}
