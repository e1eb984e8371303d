package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// An id of an upload is a name and no way to another folder.
func TestUploadIDsDoNotClimb(t *testing.T) {
	p := start(t, t.TempDir())
	client, ctx := p.objects(p.file.Keys, ""), t.Context()
	if err := put(ctx, client, "wh/t/keep", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	key := aws.String("wh/u/object")
	if _, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: key}); err != nil {
		t.Fatal(err)
	}
	const want = "404 NoSuchUpload"
	for _, id := range []string{"../../../wh/t", "../../../wh/t/", "../..", "..", ".", "x/../../../../wh/t", "/wh/t"} {
		id := &id
		_, err := client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: key, UploadId: id})
		if got := code(err); got != want {
			t.Errorf("abort %q: %s, want %s", *id, got, want)
		}
		_, err = client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: aws.String(bucket), Key: key, UploadId: id, PartNumber: aws.Int32(1), Body: strings.NewReader("evil"),
		})
		if got := code(err); got != want {
			t.Errorf("upload a part to %q: %s, want %s", *id, got, want)
		}
		_, err = client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
			Bucket: aws.String(bucket), Key: key, UploadId: id, PartNumber: aws.Int32(1), CopySource: aws.String(bucket + "/wh/t/keep"),
		})
		if got := code(err); got != want {
			t.Errorf("copy a part to %q: %s, want %s", *id, got, want)
		}
		_, err = client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: aws.String(bucket), Key: key, UploadId: id, MultipartUpload: &types.CompletedMultipartUpload{
				Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: aws.String("x")}},
			},
		})
		if got := code(err); got != want {
			t.Errorf("complete %q: %s, want %s", *id, got, want)
		}
		_, err = client.ListParts(ctx, &s3.ListPartsInput{Bucket: aws.String(bucket), Key: key, UploadId: id})
		if got := code(err); got != want {
			t.Errorf("list %q: %s, want %s", *id, got, want)
		}
	}
	if got, _, err := read(ctx, client, "wh/t/keep", ""); err != nil || string(got) != "kept" {
		t.Errorf("object elsewhere: %q, %v", got, err)
	}
}
