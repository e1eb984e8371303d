package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/certs"
	"github.com/laketap/laketap/lake/s3"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/catalog"
	"github.com/laketap/laketap/tap/storage"
)

// This file turns configuration into what the steps call the same things.

// upstreamsOf returns the catalogs behind us.
func upstreamsOf(all []UpstreamConfig) ([]catalog.Upstream, error) {
	upstreams := make([]catalog.Upstream, 0, len(all))
	for i, c := range all {
		at := item("catalogs", i, c.Name)
		u, err := url.Parse(c.URL)
		if err != nil {
			return nil, fmt.Errorf("%s.url: %w", at, err)
		}
		roots, err := readCA(at, c.CA)
		if err != nil {
			return nil, err
		}
		upstreams = append(upstreams, catalog.Upstream{Name: c.Name, URL: u, RootCAs: roots})
	}
	return upstreams, nil
}

// readCA reads certificate authorities; nil is the system's.
func readCA(at, name string) (*x509.CertPool, error) {
	roots, err := certs.Roots(name)
	if err != nil {
		return nil, fmt.Errorf("%s.ca: %w", at, err)
	}
	return roots, nil
}

// tapOrigins returns the stores behind us as the taps know them.
func tapOrigins(all []OriginConfig) []tap.Origin {
	origins := make([]tap.Origin, 0, len(all))
	for _, o := range all {
		origins = append(origins, tap.Origin{Name: o.Name, Endpoint: o.Endpoint, Region: o.Region, Buckets: o.Buckets})
	}
	return origins
}

// s3Origins returns the stores behind us with their own keys. Those of a local
// lake come from the lake.
func s3Origins(all []OriginConfig, l *lake) ([]s3.Origin, error) {
	origins := make([]s3.Origin, 0, len(all))
	for i, o := range all {
		origin := s3.Origin{
			Name: o.Name, Endpoint: o.Endpoint, Region: o.Region, PathStyle: o.PathStyle, CA: o.CA, AccessKeyID: o.AccessKeyID,
		}
		switch {
		// They are in the lake's own file and never in the configuration, so that
		// nobody reads them there.
		case l != nil && o.Name == l.origin().Name:
			origin.AccessKeyID, origin.SecretAccessKey = l.file.Keys.ID, l.file.Keys.Secret
		case o.SecretFile != "":
			secret, err := readSecret(item("storage.origins", i, o.Name)+".secret_file", o.SecretFile)
			if err != nil {
				return nil, err
			}
			origin.SecretAccessKey = secret
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

// staticKeys returns the keys of clients without a catalog.
func staticKeys(all []KeyConfig, origins []tap.Origin) ([]storage.StaticKey, error) {
	keys := make([]storage.StaticKey, 0, len(all))
	var problems []error
	for i, k := range all {
		at := item("keys", i, k.ID)
		secret, err := readSecret(at+".secret_file", k.SecretFile)
		// An empty secret would let in whoever knows the id.
		if err == nil && secret == "" {
			err = fmt.Errorf("%s.secret_file: %s is empty; write the secret into it", at, k.SecretFile)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		// Reading is the rule and writing is asked for.
		key := storage.StaticKey{ID: k.ID, Secret: secret, Principal: k.Principal, All: k.Scope == "all", ReadOnly: !k.Write}
		for _, uri := range k.Prefixes {
			place, err := placeOf(origins, uri)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s.prefixes: %w", at, err))
			}
			key.Prefixes = append(key.Prefixes, place)
		}
		keys = append(keys, key)
	}
	return keys, errors.Join(problems...)
}

// placeOf finds a prefix URI in the stores behind us.
func placeOf(origins []tap.Origin, uri string) (tap.Location, error) {
	bucket, _, _ := laketap.SplitS3(uri)
	origin, ok := tap.OriginOf(origins, bucket, "")
	if !ok {
		return tap.Location{}, fmt.Errorf("the bucket of %s belongs to no origin; name it under storage.origins", uri)
	}
	place, ok := tap.LocationOf(origin.Name, uri)
	if !ok {
		return tap.Location{}, fmt.Errorf("%s is no place in a store", uri)
	}
	return place, nil
}
