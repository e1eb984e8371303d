package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// Roots reads certificate authorities from a file in PEM form; "" is nil, the
// system's. An error does not name the setting: whoever calls knows it.
func Roots(name string) (*x509.CertPool, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // a nil pool is what crypto/tls calls the system's
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	// It passes over what is no certificate; a file without any is a mistake.
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(name + " holds no PEM certificate")
	}
	return pool, nil
}

// Distrusted reports whether a connection failed because the other side's
// certificate is not trusted: of no known authority, for another name, or over.
// Then nothing was sent.
func Distrusted(err error) bool {
	_, yes := errors.AsType[*tls.CertificateVerificationError](err)
	return yes
}
