package s3

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A chain without credentials is slow to say so; it is not asked by every request.
func TestFailedChainRests(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := New(Origin{Name: "aws"}, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	loads := 0
	found := errors.New("no EC2 metadata")
	s.own.load = func(context.Context) (aws.CredentialsProvider, error) {
		loads++
		return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "token"}, found
		}), nil
	}
	_, first := s.Keys(context.Background())
	if first == nil || !strings.Contains(first.Error(), "storage.origins") {
		t.Errorf("got %v: it should say what to set", first)
	}
	found = nil
	if _, err := s.Keys(context.Background()); !errors.Is(err, errors.Unwrap(first)) {
		t.Errorf("asked again at once: got %v", err)
	}
	now = now.Add(forgetFailure)
	got, err := s.Keys(context.Background())
	if err != nil || got.AccessKeyID != "id" || got.SecretAccessKey != "secret" || got.SessionToken != "token" {
		t.Errorf("after a rest: got %v, %v", got, err)
	}
	if loads != 1 {
		t.Errorf("the chain was loaded %d times", loads)
	}
}

// A caller that gives up says nothing about the chain.
func TestCancelledLookUpIsNoFailure(t *testing.T) {
	s, err := New(Origin{Name: "aws"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.own.load = func(context.Context) (aws.CredentialsProvider, error) {
		return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, ctx.Err()
		}), nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Keys(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Keys(context.Background()); err != nil {
		t.Error(err)
	}
}
