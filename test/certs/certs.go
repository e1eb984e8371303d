// Package certs makes authorities and certificates for tests.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority issues certificates.
type Authority struct {
	File string // its own certificate, in PEM form

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

// New makes an authority that nobody knows yet.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir(), key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Laketap test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(60 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a.File = filepath.Join(a.dir, "ca.pem")
	writePEM(t, a.File, "CERTIFICATE", create(t, a.cert, a.cert, a.key, a.key))
	return a
}

// Issue makes a certificate for 127.0.0.1 and names, and returns its files.
func (a *Authority) Issue(t testing.TB, names ...string) (cert, key string) {
	t.Helper()
	secret := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Laketap test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(50 * 24 * time.Hour),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(a.dir, "tls.crt"), filepath.Join(a.dir, "tls.key")
	writePEM(t, cert, "CERTIFICATE", create(t, template, a.cert, secret, a.key))
	writePEM(t, key, "PRIVATE KEY", der)
	return cert, key
}

// Config returns the configuration of a server with a certificate of its own.
func (a *Authority) Config(t testing.TB) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Issue(t))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// Trust returns the configuration of a client that trusts the authority alone.
func (a *Authority) Trust(t testing.TB) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(a.File)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatalf("%s holds no certificate", a.File)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func create(t testing.TB, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func writePEM(t testing.TB, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
