package s3diff_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	tmtypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// aws-sdk-go-v2 and its transfer manager see the same of the store and of the
// storage tap.
func TestGoFlow(t *testing.T) {
	want := goFlow(t, startStore(t).endpoint)
	for _, mode := range []string{"observe", "accelerate"} {
		got := goFlow(t, startTap(t, startStore(t), mode).Storage)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mode %s: aws-sdk-go-v2 sees otherwise (-direct +through Laketap):\n%s", mode, diff)
		}
	}
}

// A teller runs operations and keeps a line of what each came to.
type teller struct {
	t     *testing.T
	s3    *s3.Client
	lines []string
}

func (f *teller) say(what string, v ...any) {
	f.lines = append(f.lines, what+" "+strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
}

// tell keeps the answer's fields, or the status and code of the refusal.
// A failure of another kind ends the test.
func tell[I, O any](f *teller, what string, do func(context.Context, *I, ...func(*s3.Options)) (*O, error), in *I) {
	f.t.Helper()
	out, err := do(f.t.Context(), in)
	if err != nil {
		f.refused(what, err)
		return
	}
	f.say(what, seen(f.t, out))
}

func (f *teller) refused(what string, err error) {
	f.t.Helper()
	var api smithy.APIError
	var status interface{ HTTPStatusCode() int }
	if !errors.As(err, &api) || !errors.As(err, &status) {
		f.t.Fatalf("%s: %v", what, err)
	}
	f.say(what, status.HTTPStatusCode(), api.ErrorCode())
}

// seen shows what an answer has, but for times and ids: each field that is
// set, in order, and the hash of the body.
func seen(t *testing.T, out any) string {
	t.Helper()
	var b strings.Builder
	v := reflect.ValueOf(out).Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if name == "ResultMetadata" || !field.CanInterface() || field.IsZero() {
			continue
		}
		switch value := field.Interface().(type) {
		case io.ReadCloser:
			body, err := io.ReadAll(value)
			if err = errors.Join(err, value.Close()); err != nil {
				t.Fatalf("read body: %v", err)
			}
			fmt.Fprintf(&b, "%s=%d:%x ", name, len(body), sha256.Sum256(body))
		case *time.Time: // another on each store
		case *string:
			fmt.Fprintf(&b, "%s=%s ", name, *value)
		case []types.Object:
			for _, o := range value {
				fmt.Fprintf(&b, "%s:%d:%s ", *o.Key, *o.Size, *o.ETag)
			}
		case []types.CommonPrefix:
			for _, o := range value {
				fmt.Fprintf(&b, "%s ", *o.Prefix)
			}
		case []types.DeletedObject:
			for _, o := range value {
				fmt.Fprintf(&b, "%s ", *o.Key)
			}
		case *types.CopyObjectResult:
			fmt.Fprintf(&b, "%s=%s ", name, seen(t, value))
		default:
			fmt.Fprintf(&b, "%s=%v ", name, reflect.Indirect(field))
		}
	}
	return b.String()
}

func goFlow(t *testing.T, endpoint string) []string {
	t.Helper()
	f := &teller{t: t, s3: s3.New(s3.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(keyID, secret, ""),
		// What a loaded configuration has by default.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	})}
	bucket := aws.String("flow")
	tell(f, "bucket", f.s3.CreateBucket, &s3.CreateBucketInput{Bucket: bucket})
	f.objects(bucket)
	if !strings.Contains(f.lines[1], "ChecksumCRC32=") {
		t.Errorf("%q, want the checksum that the SDK sends by default", f.lines[1])
	}
	f.conditions(bucket)
	f.transfers(bucket)
	f.presigned(bucket)
	f.listAndDelete(bucket)
	return f.lines
}

func (f *teller) objects(bucket *string) {
	for _, key := range []string{"plain", "a b+c/=é%25"} {
		tell(f, "put", f.s3.PutObject, &s3.PutObjectInput{
			Bucket: bucket, Key: &key, Body: strings.NewReader("twelve bytes"), Metadata: map[string]string{"who": "me"},
		})
		tell(f, "head", f.s3.HeadObject, &s3.HeadObjectInput{Bucket: bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled})
		tell(f, "get", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled})
		tell(f, "range", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: &key, Range: aws.String("bytes=2-5")})
	}
	tell(f, "missing", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("none")})
	tell(f, "missing", f.s3.HeadObject, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("none")})
	tell(f, "copy", f.s3.CopyObject, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("copy"), CopySource: aws.String("flow/plain")})
	tell(f, "copied", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("copy")})
}

func (f *teller) conditions(bucket *string) {
	key, any, other := aws.String("once"), aws.String("*"), aws.String(`"none"`)
	put := func(what, body string, match, noneMatch *string) {
		f.t.Helper()
		tell(f, what, f.s3.PutObject, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader(body), IfMatch: match, IfNoneMatch: noneMatch})
	}
	put("first", "first", nil, any)
	put("second", "second", nil, any)
	f.ends("412 PreconditionFailed")
	put("replace another", "third", other, nil)
	head, err := f.s3.HeadObject(f.t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		f.t.Fatal(err)
	}
	put("replace", "fourth", head.ETag, nil)
	tell(f, "get another", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: key, IfMatch: other})
	f.ends("412 PreconditionFailed")
	if head, err = f.s3.HeadObject(f.t.Context(), &s3.HeadObjectInput{Bucket: bucket, Key: key}); err != nil {
		f.t.Fatal(err)
	}
	tell(f, "get match", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: key, IfMatch: head.ETag})
	tell(f, "get changed", f.s3.GetObject, &s3.GetObjectInput{Bucket: bucket, Key: key, IfNoneMatch: head.ETag})
}

// ends makes sure that the flow saw what it is about, on either side.
func (f *teller) ends(want string) {
	f.t.Helper()
	if last := f.lines[len(f.lines)-1]; !strings.HasSuffix(last, want) {
		f.t.Errorf("%q, want %s", last, want)
	}
}

// transfers sends and fetches 12 MiB and a bit with the transfer manager, in
// parts of 5 MiB, several at once.
func (f *teller) transfers(bucket *string) {
	big := bytes.Repeat([]byte("laketap 16 bytes"), 12<<16+1)
	for _, by := range []tmtypes.GetObjectType{tmtypes.GetObjectRanges, tmtypes.GetObjectParts} {
		manager := transfermanager.New(f.s3, func(o *transfermanager.Options) {
			o.PartSizeBytes, o.MultipartUploadThreshold = 5<<20, 5<<20
			o.Concurrency, o.GetObjectType = 3, by
		})
		key := aws.String("big/" + string(by))
		up, err := manager.UploadObject(f.t.Context(), &transfermanager.UploadObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(big)})
		if err != nil {
			f.t.Fatalf("upload by %s: %v", by, err)
		}
		f.say("upload", aws.ToString(up.ETag), aws.ToString(up.ChecksumCRC32), up.ChecksumType, len(up.CompletedParts))
		tell(f, "uploaded", f.s3.HeadObject, &s3.HeadObjectInput{Bucket: bucket, Key: key, ChecksumMode: types.ChecksumModeEnabled})
		for range 2 {
			body := tmtypes.NewWriteAtBuffer(nil)
			down, err := manager.DownloadObject(f.t.Context(), &transfermanager.DownloadObjectInput{Bucket: bucket, Key: key, WriterAt: body})
			if err != nil {
				f.refused("download by "+string(by), err)
				continue
			}
			if !bytes.Equal(body.Bytes(), big) {
				f.t.Errorf("download by %s has other bytes", by)
			}
			f.say("download by "+string(by), aws.ToString(down.ETag), aws.ToInt64(down.ContentLength), down.ChecksumType)
		}
	}
}

func (f *teller) presigned(bucket *string) {
	p, key := s3.NewPresignClient(f.s3), aws.String("signed")
	send := func(what string, r *v4.PresignedHTTPRequest, err error, body string) {
		f.t.Helper()
		if err != nil {
			f.t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(f.t.Context(), r.Method, r.URL, strings.NewReader(body))
		if err != nil {
			f.t.Fatal(err)
		}
		req.Header = r.SignedHeader.Clone()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			f.t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			f.t.Fatal(err)
		}
		f.say(what, resp.StatusCode, resp.Header.Get("ETag"), string(text))
		if resp.StatusCode != http.StatusOK {
			f.t.Errorf("%s answers %d: %s", what, resp.StatusCode, text)
		}
	}
	r, err := p.PresignPutObject(f.t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key})
	send("presigned put", r, err, "presigned")
	r, err = p.PresignGetObject(f.t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
	send("presigned get", r, err, "")
}

func (f *teller) listAndDelete(bucket *string) {
	in := &s3.ListObjectsV2Input{Bucket: bucket, MaxKeys: aws.Int32(2)}
	var all []types.ObjectIdentifier
	for pages := s3.NewListObjectsV2Paginator(f.s3, in); pages.HasMorePages(); {
		page, err := pages.NextPage(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		f.say("page", seen(f.t, page))
		for _, o := range page.Contents {
			all = append(all, types.ObjectIdentifier{Key: o.Key})
		}
	}
	if len(all) != 7 {
		f.t.Errorf("%d objects are listed, want 7", len(all))
	}
	tell(f, "folders", f.s3.ListObjectsV2, &s3.ListObjectsV2Input{Bucket: bucket, Delimiter: aws.String("/")})
	tell(f, "delete", f.s3.DeleteObjects, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: all}})
	tell(f, "empty", f.s3.ListObjectsV2, &s3.ListObjectsV2Input{Bucket: bucket})
	tell(f, "bucket", f.s3.DeleteBucket, &s3.DeleteBucketInput{Bucket: bucket})
}
