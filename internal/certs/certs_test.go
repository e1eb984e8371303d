package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap/internal/certs"
)

// A made is a certificate that signs itself, and its key.
type made struct{ cert, key []byte }

// issue makes a certificate for names, good for a while.
func issue(t *testing.T, serial int64, ends time.Time, names ...string) made {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: ends, DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1).To4()},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return made{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}
}

// A kept is a pair of files.
type kept struct{ cert, key string }

func (k kept) write(t *testing.T, m made) {
	t.Helper()
	for name, text := range map[string][]byte{k.cert: m.cert, k.key: m.key} {
		// As renewal programs do: the new file takes the old one's place.
		if err := os.WriteFile(name+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
}

func files(t *testing.T, m made) kept {
	t.Helper()
	dir := t.TempDir()
	k := kept{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	k.write(t, m)
	return k
}

// A clock stands until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// serial returns which certificate a handshake is shown.
func serial(t *testing.T, p *certs.Pair) int64 {
	t.Helper()
	pair, err := p.Certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf.SerialNumber.Int64()
}

func TestRenewal(t *testing.T) {
	ends := time.Now().Add(24 * time.Hour)
	k := files(t, issue(t, 1, ends, "a.example"))
	c := &clock{now: time.Now()}
	var log bytes.Buffer
	p, err := certs.Open(k.cert, k.key, certs.Options{Now: c.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	k.write(t, issue(t, 2, ends, "b.example"))
	if got := serial(t, p); got != 1 {
		t.Errorf("certificate %d within the second, want 1: the files are not looked at for every handshake", got)
	}
	c.pass(time.Second)
	if got := serial(t, p); got != 2 {
		t.Errorf("certificate %d after a second, want 2", got)
	}
	if s := p.State(); s.Problem != "" || cmp.Diff(s.Names, []string{"b.example", "127.0.0.1"}) != "" {
		t.Errorf("state %+v, want the new names and no problem", s)
	}
	if got := strings.Count(log.String(), "took a new certificate"); got != 1 {
		t.Errorf("logged %d times, want once:\n%s", got, log.String())
	}
}

func TestBadNewPairKeepsTheOld(t *testing.T) {
	ends := time.Now().Add(24 * time.Hour)
	first, other := issue(t, 1, ends, "a.example"), issue(t, 2, ends, "a.example")
	for name, spoil := range map[string]func(*testing.T, kept){
		"key of another certificate": func(t *testing.T, k kept) { k.write(t, made{first.cert, other.key}) },
		"no certificate":             func(t *testing.T, k kept) { k.write(t, made{[]byte("nothing"), first.key}) },
		"half a file":                func(t *testing.T, k kept) { k.write(t, made{first.cert[:len(first.cert)/2], first.key}) },
		"key is gone": func(t *testing.T, k kept) {
			if err := os.Remove(k.key); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := files(t, first)
			c := &clock{now: time.Now()}
			var log bytes.Buffer
			p, err := certs.Open(k.cert, k.key, certs.Options{Now: c.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			spoil(t, k)
			for range 3 {
				c.pass(time.Minute)
				if got := serial(t, p); got != 1 {
					t.Errorf("certificate %d, want the old one", got)
				}
			}
			if p.State().Problem == "" {
				t.Error("the state has no problem")
			}
			if got := strings.Count(log.String(), "level=ERROR"); got != 1 {
				t.Errorf("%d errors in the log for one bad pair, want 1:\n%s", got, log.String())
			}
			if err := p.Reload(); err == nil {
				t.Error("Reload returns no error")
			}
			k.write(t, other)
			if err := p.Reload(); err != nil {
				t.Errorf("reload a good pair: %v", err)
			}
			if got, s := serial(t, p), p.State(); got != 2 || s.Problem != "" {
				t.Errorf("certificate %d, problem %q; want 2 and none", got, s.Problem)
			}
		})
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	m := issue(t, 1, time.Now().Add(time.Hour), "a.example")
	k := files(t, m)
	none := filepath.Join(t.TempDir(), "none")
	for _, tt := range []struct{ name, cert, key, want string }{
		{"no certificate", none, k.key, "tls.cert: "},
		{"no key", k.cert, none, "tls.key: "},
		{"swapped", k.key, k.cert, "no pair"},
	} {
		if _, err := certs.Open(tt.cert, tt.key, certs.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		} else if strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: the error shows the key: %v", tt.name, err)
		}
	}
}

func TestExpired(t *testing.T) {
	ends := time.Now().Add(-time.Minute)
	k := files(t, issue(t, 1, ends, "a.example"))
	var log bytes.Buffer
	p, err := certs.Open(k.cert, k.key, certs.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatalf("an expired certificate is shown all the same: %v", err)
	}
	if got := p.State().Expires; got.Sub(ends).Abs() > time.Second {
		t.Errorf("expires %v, want %v", got, ends)
	}
	if !strings.Contains(log.String(), "certificate has expired") {
		t.Errorf("log: %q, want a warning", log.String())
	}
}

func TestHost(t *testing.T) {
	ends := time.Now().Add(time.Hour)
	for _, tt := range []struct {
		names      []string
		host, want string
	}{
		{[]string{"lake.example"}, "127.0.0.1", "127.0.0.1"}, // it is good for the address
		{[]string{"lake.example"}, "10.0.0.7", "lake.example"},
		{[]string{"*.s3.example", "s3.example"}, "10.0.0.7", "s3.example"},
		{[]string{"*.s3.example"}, "10.0.0.7", "10.0.0.7"},
		{nil, "lake.example", "lake.example"},
	} {
		k := files(t, issue(t, 1, ends, tt.names...))
		p, err := certs.Open(k.cert, k.key, certs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Host(tt.host); got != tt.want {
			t.Errorf("Host(%s) of %v = %s, want %s", tt.host, tt.names, got, tt.want)
		}
	}
}

// Handshakes at the same time as renewals: the race detector looks on.
func TestManyHandshakes(t *testing.T) {
	ends := time.Now().Add(time.Hour)
	k := files(t, issue(t, 1, ends, "a.example"))
	p, err := certs.Open(k.cert, k.key, certs.Options{Every: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if pair, err := p.Certificate(nil); err != nil || pair == nil {
					t.Errorf("no certificate: %v", err)
				}
				p.State()
			}
		})
	}
	for n := range int64(5) {
		k.write(t, issue(t, 2+n, ends, "a.example"))
	}
	wg.Wait()
	if err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := serial(t, p); got != 6 {
		t.Errorf("certificate %d in the end, want 6", got)
	}
}

func TestConfig(t *testing.T) {
	k := files(t, issue(t, 1, time.Now().Add(time.Hour), "a.example"))
	p, err := certs.Open(k.cert, k.key, certs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config("http/1.1")
	if c.MinVersion != tls.VersionTLS12 || cmp.Diff(c.NextProtos, []string{"http/1.1"}) != "" {
		t.Errorf("version %x, protocols %q", c.MinVersion, c.NextProtos)
	}
}

func TestRoots(t *testing.T) {
	k := files(t, issue(t, 1, time.Now().Add(time.Hour), "a.example"))
	if pool, err := certs.Roots(""); pool != nil || err != nil {
		t.Errorf("no file: %v, %v; want the system's", pool, err)
	}
	if pool, err := certs.Roots(k.cert); pool == nil || err != nil {
		t.Errorf("a certificate: %v, %v", pool, err)
	}
	for _, name := range []string{k.key, k.cert + ".none"} {
		if _, err := certs.Roots(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names the file", name, err)
		}
	}
}
