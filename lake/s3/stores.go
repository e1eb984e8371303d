package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// Stores are the origins by name.
type Stores map[string]*Store

// NewStores prepares a store for each origin.
func NewStores(origins []Origin, opts Options) (Stores, error) {
	stores := make(Stores, len(origins))
	for _, o := range origins {
		if _, ok := stores[o.Name]; ok {
			return nil, fmt.Errorf("two origins are named %q; give one another name", o.Name)
		}
		s, err := New(o, opts)
		if err != nil {
			return nil, err
		}
		stores[o.Name] = s
	}
	return stores, nil
}

// Send is [Store.Send] of a named origin.
func (s Stores) Send(ctx context.Context, origin string, req *http.Request, keys sigv4.Credentials, p sigv4.Payload,
	trailer func() []laketap.Field,
) (*http.Response, error) {
	store, err := s.get(origin)
	if err != nil {
		if req.Body != nil {
			err = errors.Join(err, req.Body.Close())
		}
		return nil, err
	}
	return store.Send(ctx, req, keys, p, trailer)
}

// SendSigned is [Store.SendSigned] of a named origin.
func (s Stores) SendSigned(ctx context.Context, origin string, req *http.Request, sign func(*http.Request) error, p sigv4.Payload) (*http.Response, error) {
	store, err := s.get(origin)
	if err != nil {
		if req.Body != nil {
			err = errors.Join(err, req.Body.Close())
		}
		return nil, err
	}
	return store.SendSigned(ctx, req, sign, p)
}

// OwnKeys is [Store.Keys] of a named origin.
func (s Stores) OwnKeys(ctx context.Context, origin string) (sigv4.Credentials, error) {
	store, err := s.get(origin)
	if err != nil {
		return sigv4.Credentials{}, err
	}
	return store.Keys(ctx)
}

// Close closes the idle connections of all.
func (s Stores) Close() {
	for _, store := range s {
		store.Close()
	}
}

func (s Stores) get(name string) (*Store, error) {
	if store, ok := s[name]; ok {
		return store, nil
	}
	return nil, fmt.Errorf("no origin is named %q", name)
}
