package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// objects is an S3 client of a lake with some keys.
func (p *process) objects(k key, token string) *s3.Client {
	return s3.New(s3.Options{
		Region:       p.file.S3.Region,
		BaseEndpoint: &p.file.S3.Endpoint,
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(k.ID, k.Secret, token),
		// Refusals must be seen at once, not after retries.
		Retryer: aws.NopRetryer{},
	})
}

func put(ctx context.Context, client *s3.Client, key string, data []byte) error {
	_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: bytes.NewReader(data)})
	return err
}

func read(ctx context.Context, client *s3.Client, key, span string) ([]byte, string, error) {
	in := &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key}
	if span != "" {
		in.Range = &span
	}
	out, err := client.GetObject(ctx, in)
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	return data, aws.ToString(out.ETag), err
}

// code is the S3 error code and status of an error.
func code(err error) string {
	if err == nil {
		return "no error"
	}
	name, status := "no code", 0
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		name = api.ErrorCode()
	}
	if response, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		status = response.HTTPStatusCode()
	}
	return fmt.Sprintf("%d %s", status, name)
}

func TestObjects(t *testing.T) {
	p := start(t, t.TempDir())
	client := p.objects(p.file.Keys, "")
	ctx := t.Context()
	data := []byte(strings.Repeat("0123456789", 1000))
	for _, key := range []string{"a/plain", "a/with space", "a/100%", "a/ü+&=?;'", "warehouse/x=1/y.parquet"} {
		if err := put(ctx, client, key, data); err != nil {
			t.Fatalf("put %q: %v", key, err)
		}
		got, tag, err := read(ctx, client, key, "")
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("get %q: %d bytes, %v", key, len(got), err)
		}
		sum := md5.Sum(data)
		if want := `"` + hex.EncodeToString(sum[:]) + `"`; tag != want {
			t.Errorf("get %q: ETag %s, want %s", key, tag, want)
		}
	}
	for span, want := range map[string]string{"bytes=3-6": "3456", "bytes=9998-": "89", "bytes=-3": "789"} {
		if got, _, err := read(ctx, client, "a/plain", span); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", span, got, err, want)
		}
	}
	if _, err := client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b/copy"), CopySource: aws.String(bucket + "/a/plain")}); err != nil {
		t.Errorf("copy: %v", err)
	}
	listed, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String("a/")})
	if err != nil || len(listed.Contents) != 4 {
		t.Errorf("list: %v, %v", listed, err)
	}
	_, err = client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: aws.String(bucket), Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("a/plain")}, {Key: aws.String("b/copy")}}}})
	if err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, _, err := read(ctx, client, "a/plain", ""); code(err) != "404 NoSuchKey" {
		t.Errorf("deleted object: %s", code(err))
	}
	if _, _, err := read(ctx, client, "a/with space", "bytes=10000-"); code(err) != "416 InvalidRange" {
		t.Errorf("range outside: %s", code(err))
	}
}

func TestMultipart(t *testing.T) {
	p := start(t, t.TempDir())
	client := p.objects(p.file.Keys, "")
	ctx := t.Context()
	random := rand.NewChaCha8([32]byte{1})
	parts := make([][]byte, 3)
	for i, size := range []int{5 << 20, 6 << 20, 123} {
		parts[i] = make([]byte, size)
		_, _ = random.Read(parts[i])
	}
	name := aws.String("big/one")
	upload, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: name})
	if err != nil {
		t.Fatal(err)
	}
	done := make([]types.CompletedPart, 0, len(parts))
	var sums []byte
	for i, part := range parts {
		out, err := client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: aws.String(bucket), Key: name, UploadId: upload.UploadId, PartNumber: aws.Int32(int32(i + 1)), Body: bytes.NewReader(part),
		})
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, types.CompletedPart{ETag: out.ETag, PartNumber: aws.Int32(int32(i + 1)), ChecksumCRC32: out.ChecksumCRC32})
		sum := md5.Sum(part)
		sums = append(sums, sum[:]...)
	}
	_, err = client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucket), Key: name, UploadId: upload.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: done},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, tag, err := read(ctx, client, *name, "")
	if err != nil || !bytes.Equal(got, slices.Concat(parts...)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	sum := md5.Sum(sums)
	if want := fmt.Sprintf(`"%s-3"`, hex.EncodeToString(sum[:])); tag != want {
		t.Errorf("ETag %s, want %s", tag, want)
	}
}

func TestRights(t *testing.T) {
	p := start(t, t.TempDir())
	ctx := t.Context()
	owner, reader := p.objects(p.file.Keys, ""), p.objects(p.file.Reader, "")
	if err := put(ctx, owner, "a/b", []byte("content")); err != nil {
		t.Fatal(err)
	}
	wrong := p.objects(key{p.file.Keys.ID, p.file.Reader.Secret}, "")
	nobody := p.objects(key{"LAKENOBODY0000000000", p.file.Keys.Secret}, "")
	session := p.objects(p.file.Keys, "a-session-token")
	text := aws.String(bucket)
	where := aws.String("a/b")
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"reader puts", put(ctx, reader, "a/c", nil), "403 AccessDenied"},
		{"reader overwrites", put(ctx, reader, "a/b", nil), "403 AccessDenied"},
		{"reader deletes", second(reader.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: text, Key: where})), "403 AccessDenied"},
		{"reader copies", second(reader.CopyObject(ctx, &s3.CopyObjectInput{Bucket: text, Key: aws.String("a/c"), CopySource: aws.String("lake/a/b")})), "403 AccessDenied"},
		{"reader uploads", second(reader.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: text, Key: where})), "403 AccessDenied"},
		{"reader sets a policy", second(reader.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: text, Policy: aws.String("{}")})), "403 AccessDenied"},
		{"reader makes a bucket", second(reader.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("mine")})), "403 AccessDenied"},
		{"reader lists", second(reader.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: text})), "no error"},
		{"reader heads", second(reader.HeadObject(ctx, &s3.HeadObjectInput{Bucket: text, Key: where})), "no error"},
		{"wrong secret puts", put(ctx, wrong, "a/c", nil), "403 SignatureDoesNotMatch"},
		{"unknown key puts", put(ctx, nobody, "a/c", nil), "403 InvalidAccessKeyId"},
		{"session token", put(ctx, session, "a/c", nil), "400 InvalidToken"},
	}
	for _, tt := range tests {
		if got := code(tt.err); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	for name, client := range map[string]*s3.Client{"owner": owner, "reader": reader} {
		if got, _, err := read(ctx, client, "a/b", ""); err != nil || string(got) != "content" {
			t.Errorf("%s reads %q, %v", name, got, err)
		}
	}
	for name, client := range map[string]*s3.Client{"wrong secret": wrong, "unknown key": nobody} {
		if _, _, err := read(ctx, client, "a/b", ""); !strings.HasPrefix(code(err), "403 ") {
			t.Errorf("%s reads: %s", name, code(err))
		}
	}
	if status, _, err := get(ctx, http.DefaultClient, p.file.S3.Endpoint+"/lake/a/b"); err != nil || status != http.StatusForbidden {
		t.Errorf("unsigned read: %d, %v, want 403", status, err)
	}
}

// second drops the answer of a call whose error alone matters.
func second[T any](_ T, err error) error { return err }

// What the catalog writes, S3 serves: same bytes, a true ETag.
func TestMetadataOverS3(t *testing.T) {
	p := start(t, t.TempDir(), "--vend=readonly")
	p.table("t")
	var view struct {
		At       string            `json:"metadata-location"`
		Metadata json.RawMessage   `json:"metadata"`
		Config   map[string]string `json:"config"`
	}
	if err := json.Unmarshal([]byte(p.mustGet("/v1/namespaces/n/tables/t")), &view); err != nil {
		t.Fatal(err)
	}
	reader := p.objects(key{view.Config["s3.access-key-id"], view.Config["s3.secret-access-key"]}, "")
	data, tag, err := read(t.Context(), reader, strings.TrimPrefix(view.At, "s3://lake/"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, view.Metadata) {
		t.Errorf("S3 has\n%s\nthe catalog has\n%s", data, view.Metadata)
	}
	sum := md5.Sum(data)
	if want := `"` + hex.EncodeToString(sum[:]) + `"`; tag != want {
		t.Errorf("ETag %s, want %s", tag, want)
	}
	// Purging goes through the store, so that listings know.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, p.file.Catalog+"/v1/namespaces/n/tables/t?purgeRequested=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if status, body, err := do(http.DefaultClient, req); err != nil || status != http.StatusNoContent {
		t.Fatalf("drop: %d %s %v", status, body, err)
	}
	listed, err := reader.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String("warehouse/")})
	if err != nil || len(listed.Contents) != 0 {
		t.Errorf("after purge: %v, %v", listed, err)
	}
}

func TestVend(t *testing.T) {
	for _, vend := range []vending{vendKeys, vendReadonly, vendNone} {
		t.Run(string(vend), func(t *testing.T) {
			p := start(t, t.TempDir(), "--vend", string(vend))
			p.table("t")
			var view struct {
				Metadata struct {
					Location string `json:"location"`
				} `json:"metadata"`
				Config      map[string]string `json:"config"`
				Credentials []struct {
					Prefix string            `json:"prefix"`
					Config map[string]string `json:"config"`
				} `json:"storage-credentials"`
			}
			if err := json.Unmarshal([]byte(p.mustGet("/v1/namespaces/n/tables/t")), &view); err != nil {
				t.Fatal(err)
			}
			pair := map[vending]key{vendKeys: p.file.Keys, vendReadonly: p.file.Reader}[vend]
			want := map[string]string{
				"s3.endpoint": p.file.S3.Endpoint + "/", "s3.path-style-access": "true", "s3.region": "us-east-1", "client.region": "us-east-1",
				"s3.access-key-id": pair.ID, "s3.secret-access-key": pair.Secret,
			}
			if vend == vendNone {
				if view.Config != nil || view.Credentials != nil {
					t.Errorf("vends %v and %v", view.Config, view.Credentials)
				}
				return
			}
			if diff := cmp.Diff(want, view.Config); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if len(view.Credentials) != 1 || view.Credentials[0].Prefix != view.Metadata.Location || !cmp.Equal(want, view.Credentials[0].Config) {
				t.Errorf("credentials: %+v", view.Credentials)
			}
		})
	}
}

// Every request that arrives is one line, refused ones too, and no line holds
// a secret.
func TestRequestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	p := start(t, t.TempDir(), "--log", path)
	ctx := t.Context()
	owner := p.objects(p.file.Keys, "")
	if err := put(ctx, owner, "a/b c", []byte("content")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(ctx, owner, "a/b c", "bytes=1-3"); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("a/b c")}); err != nil {
		t.Fatal(err)
	}
	_ = put(ctx, p.objects(p.file.Reader, ""), "no", nil)
	presigned, err := s3.NewPresignClient(owner).PresignGetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a/b c")})
	if err != nil {
		t.Fatal(err)
	}
	if status, body, err := get(ctx, http.DefaultClient, presigned.URL); err != nil || status != 200 || body != "content" {
		t.Fatalf("presigned: %d %s %v", status, body, err)
	}
	p.mustGet("/v1/config?warehouse=w")
	type short struct {
		Kind, Method, Path, Range, Key string
		Status                         int
		Bytes                          int64
	}
	entries := lines(t, path)
	got := make([]short, 0, len(entries))
	for _, e := range entries {
		if e.At.IsZero() || e.UserAgent == "" {
			t.Errorf("line without time or user agent: %+v", e)
		}
		if e.Kind == "s3" && e.Method != http.MethodHead && !strings.Contains(e.Query, "x-id=") {
			t.Errorf("query of %s %s: %q", e.Method, e.Path, e.Query)
		}
		if strings.Contains(e.Query, "X-Amz-Signature=") && !strings.Contains(e.Query, "X-Amz-Signature=redacted") {
			t.Errorf("signature in %q", e.Query)
		}
		got = append(got, short{e.Kind, e.Method, e.Path, e.Range, e.AccessKey, e.Status, e.Bytes})
	}
	id := p.file.Keys.ID
	config := int64(len(p.mustGet("/v1/config")))
	refused := int64(0)
	if len(got) > 3 {
		refused = got[3].Bytes // the size of an error is its own affair
	}
	want := []short{
		{"s3", "PUT", "/lake/a/b%20c", "", id, 200, 0},
		{"s3", "GET", "/lake/a/b%20c", "bytes=1-3", id, 206, 3},
		{"s3", "HEAD", "/lake/a/b%20c", "", id, 200, 0},
		{"s3", "PUT", "/lake/no", "", p.file.Reader.ID, 403, refused},
		{"s3", "GET", "/lake/a/b%20c", "", id, 200, 7},
		{"catalog", "GET", "/v1/config", "", "", 200, config},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
