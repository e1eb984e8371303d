package s3

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/laketap/laketap/internal/sigv4"
)

// forgetFailure is how long a chain without credentials is not asked again:
// each try may wait for an instance's metadata service.
const forgetFailure = 5 * time.Second

// ownKeys finds the configured credentials of an origin.
type ownKeys struct {
	origin Origin
	now    func() time.Time
	// load makes the AWS default chain; a field so that tests need no machine
	// in a known state.
	load func(context.Context) (aws.CredentialsProvider, error)

	mu       sync.Mutex // guards what follows
	chain    aws.CredentialsProvider
	failed   error
	failedAt time.Time
}

func (k *ownKeys) init(o Origin, now func() time.Time) {
	k.origin, k.now = o, now
	k.load = func(ctx context.Context) (aws.CredentialsProvider, error) {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(o.Region),
			config.WithLogger(logging.Nop{})) // it writes to standard error past our log
		if err != nil {
			return nil, err
		}
		return cfg.Credentials, nil // keeps what it found until it expires
	}
}

// Keys returns the origin's own keys: the configured pair, else what the AWS
// default chain finds, which is first asked here and not at start-up.
func (s *Store) Keys(ctx context.Context) (sigv4.Credentials, error) { return s.own.get(ctx) }

func (k *ownKeys) get(ctx context.Context) (sigv4.Credentials, error) {
	if k.origin.AccessKeyID != "" {
		return sigv4.Credentials{AccessKeyID: k.origin.AccessKeyID, SecretAccessKey: k.origin.SecretAccessKey}, nil
	}
	chain, err := k.provider(ctx)
	if err == nil {
		var c aws.Credentials
		if c, err = chain.Retrieve(ctx); err == nil {
			return sigv4.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken}, nil
		}
	}
	err = fmt.Errorf("find keys of origin %s: %w; set an id and secret for it under storage.origins, "+
		"or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile or role that the AWS SDK finds", k.origin.Name, err)
	if ctx.Err() == nil {
		k.mu.Lock()
		k.failed, k.failedAt = err, k.now()
		k.mu.Unlock()
	}
	return sigv4.Credentials{}, err
}

// provider returns the chain, loaded once.
func (k *ownKeys) provider(ctx context.Context) (aws.CredentialsProvider, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil && k.now().Sub(k.failedAt) < forgetFailure {
		return nil, k.failed
	}
	k.failed = nil
	if k.chain == nil {
		chain, err := k.load(ctx)
		if err != nil {
			return nil, err
		}
		k.chain = chain
	}
	return k.chain, nil
}
