package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
)

// What the store is called.
const (
	region    = "us-east-1"
	bucket    = "lake"
	warehouse = "warehouse"
)

// maxCopy is the largest object a server-side copy takes. The library's own
// default is only set by its command line.
const maxCopy = 5 << 30

// store is the objects on disk: one folder for content and one for metadata,
// because not every file system has extended attributes.
type store struct {
	backend *posix.Posix
	root    string // holds the bucket's folder
}

// openStore opens the objects of a lake. It changes the working directory of
// the process, which is the library's way.
func openStore(ctx context.Context, h *home, k keys) (*store, error) {
	// The metadata must lie beside the objects and not among them: what is under
	// root is what engines see as keys.
	root, beside := h.path("s3/objects"), h.path("s3/meta")
	for _, folder := range []string{root, beside} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("create object folder: %w", err)
		}
	}
	sidecar, err := meta.NewSideCar(beside)
	if err != nil {
		return nil, fmt.Errorf("open object metadata: %w", err)
	}
	backend, err := posix.New(root, sidecar, posix.PosixOpts{
		SideCarDir:          beside,
		CopyObjectThreshold: maxCopy,
	})
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	s := &store{backend: backend, root: root}
	if err := s.ensureBucket(ctx, sidecar, k); err != nil {
		return nil, err
	}
	return s, nil
}

// ensureBucket creates the bucket and sets who may do what. A first start that
// was killed may have left a folder that is no bucket yet; it is empty.
func (s *store) ensureBucket(ctx context.Context, sidecar meta.SideCar, k keys) error {
	_, err := sidecar.RetrieveAttribute(nil, bucket, "", "acl")
	if errors.Is(err, meta.ErrNoSuchKey) {
		// Remove and not RemoveAll: if there is anything in it after all, it is
		// somebody's data, and the start fails.
		if err := os.Remove(filepath.Join(s.root, bucket)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear unfinished bucket: %w", err)
		}
		acl, err := json.Marshal(auth.ACL{Owner: k.Owner.ID})
		if err != nil {
			return fmt.Errorf("encode bucket owner: %w", err)
		}
		name := bucket
		err = s.backend.CreateBucket(ctx, &s3.CreateBucketInput{
			Bucket:                    &name,
			ObjectOwnership:           types.ObjectOwnershipBucketOwnerEnforced,
			CreateBucketConfiguration: &types.CreateBucketConfiguration{},
		}, acl)
		if err != nil {
			return fmt.Errorf("create bucket: %w", err)
		}
	} else if err != nil {
		return fmt.Errorf("read bucket owner: %w", err)
	}
	// At each start: a policy is cheap to set, and this way a lake of an older
	// program gets the rights of this one.
	if err := s.backend.PutBucketPolicy(ctx, bucket, readerPolicy(k.Reader.ID)); err != nil {
		return fmt.Errorf("set rights of the reader: %w", err)
	}
	return nil
}

// readerPolicy lets the reader read objects and list the bucket. Whatever no
// policy allows is refused to everybody but the owner.
func readerPolicy(reader string) []byte {
	return fmt.Appendf(nil, `{"Version":"2012-10-17","Statement":[`+
		`{"Effect":"Allow","Principal":{"AWS":[%q]},"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::%[2]s/*"]},`+
		`{"Effect":"Allow","Principal":{"AWS":[%[1]q]},"Action":["s3:ListBucket","s3:GetBucketLocation"],"Resource":["arn:aws:s3:::%[2]s"]}]}`,
		reader, bucket)
}
