package catalog

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/laketap/laketap/tap"
)

// signEndpoint is where a catalog signs that names no place (Iceberg's
// s3-signer-open-api), below its URL.
const signEndpoint = "v1/aws/s3/sign"

// signatureMax bounds a catalog's answer with a signature, in bytes.
const signatureMax = 256 << 10

// findSigner finds out where the catalog signs requests to the store of a table,
// if that is to be used: under [ModeSigner], where the answer says that it does,
// and at a place below the catalog's own address, for there the caller's
// credentials go anyway.
func (x *exchange) findSigner(l *loaded) {
	if x.h.opts.Authority.Mode != ModeSigner || !saysYes(l.config, "s3.remote-signing-enabled", "remote-signing-enabled") {
		return
	}
	// As Iceberg's RESTUtil.resolveEndpoint joins them.
	where := firstText(l.config, signEndpoint, "s3.signer.endpoint", "signer.endpoint")
	if !strings.Contains(where, "://") {
		base := firstText(l.config, x.up.url(), "s3.signer.uri", "signer.uri")
		where = strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(where, "/")
	}
	if !x.up.owns(where) {
		return
	}
	authorization := x.in.Header.Get("Authorization")
	l.signer = &tap.Signer{URL: where, Authorization: authorization}
	l.signs = x.access.At.Add(catalogSession)
	if ends := expiryOf(authorization); !ends.IsZero() && ends.Before(l.signs) {
		l.signs = ends
	}
}

// owns reports whether a URL is on the upstream's host, by its scheme.
func (u *upstream) owns(where string) bool {
	parsed, err := url.Parse(where)
	return err == nil && parsed.User == nil && parsed.Scheme == u.scheme && parsed.Host == u.host
}

// saysYes reports whether one of some properties is true.
func saysYes(config object, keys ...string) bool {
	return strings.EqualFold(firstText(config, "", keys...), "true")
}

// firstText returns the first property that is there, else what is given.
func firstText(config object, otherwise string, keys ...string) string {
	for _, key := range keys {
		if value, ok := config.text(key); ok && value != "" {
			return value
		}
	}
	return otherwise
}

// expiryOf returns when a bearer token that is a JWT ends; zero if it does not
// say. Nothing is verified: who shows one that has ended is refused by the
// catalog.
func expiryOf(authorization string) time.Time {
	_, token, _ := strings.Cut(authorization, " ")
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 || len(parts[1]) > 64<<10 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > lastExpiry/1000 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}

// Sign posts a document to where a catalog signs requests to the store, with
// what the client of a session showed when it loaded the table, and returns
// what the catalog answers. It is sent once.
func (h *Handler) Sign(ctx context.Context, catalog string, at tap.Signer, document []byte) (status int, answer []byte, err error) {
	up := h.upstream(catalog)
	if up == nil {
		return 0, nil, fmt.Errorf("no catalog is named %q any more", catalog)
	}
	if !up.owns(at.URL) { // the catalog's address may have changed since
		return 0, nil, errors.New("the place to sign is not the catalog's any more")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL, bytes.NewReader(document))
	if err != nil {
		return 0, nil, fmt.Errorf("ask catalog %s to sign: %w", catalog, err)
	}
	req.GetBody = nil
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, passedHeader: {h.instance}}
	if at.Authorization != "" {
		req.Header.Set("Authorization", at.Authorization)
	}
	resp, err := up.transport.RoundTrip(req)
	if err != nil {
		return 0, nil, fmt.Errorf("ask catalog %s to sign: %w", catalog, err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, signatureMax+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("read signature of catalog %s: %w", catalog, err)
	case len(answer) > signatureMax:
		return 0, nil, fmt.Errorf("signature of catalog %s is longer than %d bytes", catalog, signatureMax)
	}
	return resp.StatusCode, answer, nil
}
