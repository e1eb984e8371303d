package main

import (
	"context"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// uploads guards multipart uploads: the library takes the id of one for a path
// below its folder, so that an id with ".." in it would write, list and remove
// anything that this process may.
type uploads struct{ *posix.Posix }

// checkUpload reports an upload id that is more than the name of a folder.
func checkUpload(id *string) error {
	if id == nil || *id == "" || *id == "." || *id == ".." || filepath.Base(*id) != *id {
		name := ""
		if id != nil {
			name = *id
		}
		return s3err.GetNoSuchUploadErr(name)
	}
	return nil
}

// UploadPart implements the library's interface.
func (u uploads) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return nil, err
	}
	return u.Posix.UploadPart(ctx, in)
}

// UploadPartCopy implements the library's interface.
func (u uploads) UploadPartCopy(ctx context.Context, in *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.CopyPartResult{}, err
	}
	return u.Posix.UploadPartCopy(ctx, in)
}

// CompleteMultipartUpload implements the library's interface.
func (u uploads) CompleteMultipartUpload(ctx context.Context, in *s3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", err
	}
	return u.Posix.CompleteMultipartUpload(ctx, in)
}

// AbortMultipartUpload implements the library's interface.
func (u uploads) AbortMultipartUpload(ctx context.Context, in *s3.AbortMultipartUploadInput) error {
	if err := checkUpload(in.UploadId); err != nil {
		return err
	}
	return u.Posix.AbortMultipartUpload(ctx, in)
}

// ListParts implements the library's interface.
func (u uploads) ListParts(ctx context.Context, in *s3.ListPartsInput) (s3response.ListPartsResult, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.ListPartsResult{}, err
	}
	return u.Posix.ListParts(ctx, in)
}
