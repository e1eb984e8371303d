package s3_test

import (
	"context"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/lake/s3"
)

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("holds no PEM certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		origin s3.Origin
		want   string
	}{
		{"no scheme", s3.Origin{Endpoint: "minio:9000"}, "http"},
		{"other scheme", s3.Origin{Endpoint: "s3://bucket"}, "needs http:// or https://"},
		{"no host", s3.Origin{Endpoint: "https://:9000"}, "a host"},
		{"path", s3.Origin{Endpoint: "https://minio/bucket"}, "alone"},
		{"query", s3.Origin{Endpoint: "https://minio?x"}, "alone"},
		{"password", s3.Origin{Endpoint: "https://user:hunter2@minio"}, "alone"},
		{"no url", s3.Origin{Endpoint: "http://[::1"}, "https://host:port"},
		{"id without secret", s3.Origin{AccessKeyID: "a"}, "belong together"},
		{"secret without id", s3.Origin{SecretAccessKey: "hunter2"}, "belong together"},
		{"no ca file", s3.Origin{CA: filepath.Join(dir, "none.pem")}, ": ca: open"},
		{"ca without certificate", s3.Origin{CA: empty}, "holds no PEM certificate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.origin.Name = "lake"
			_, err := s3.New(tt.origin, s3.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "lake") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it tells the secret: %v", err)
			}
		})
	}
}

func TestCertificateAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.ProtoMajor != 1 {
			t.Errorf("got %s", req.Proto)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := s3.New(s3.Origin{Name: "lake", Endpoint: server.URL, CA: file}, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if code, _ := status(t, s, request(http.MethodGet, "/bucket", nil), sigv4.Payload{}); code != http.StatusNoContent {
		t.Errorf("got %d", code)
	}
	stranger := newStore(t, server.URL, s3.Options{})
	if _, err := stranger.Check(context.Background(), "bucket"); err == nil || !strings.Contains(err.Error(), "ca setting") {
		t.Errorf("without the authority: got %v", err)
	}
}

func TestStores(t *testing.T) {
	var got stored
	a, b := serve(t, strict(secrets, func(s stored) { got = s })), serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	stores, err := s3.NewStores([]s3.Origin{
		{Name: "a", Endpoint: a, AccessKeyID: "own", SecretAccessKey: "own secret"},
		{Name: "b", Endpoint: b},
	}, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stores.Close)
	own, err := stores.OwnKeys(context.Background(), "a")
	if err != nil || own != (sigv4.Credentials{AccessKeyID: "own", SecretAccessKey: "own secret"}) {
		t.Errorf("got %v, %v", own, err)
	}
	for name, want := range map[string]int{"a": http.StatusOK, "b": http.StatusTeapot} {
		resp, err := stores.Send(context.Background(), name, request(http.MethodGet, "/bucket/k", nil), own, sigv4.Payload{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: got %d (%v)", name, resp.StatusCode, got.err)
		}
	}
	if _, err := stores.OwnKeys(context.Background(), "c"); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("got %v", err)
	}
	if _, err := s3.NewStores([]s3.Origin{{Name: "a"}, {Name: "a"}}, s3.Options{}); err == nil {
		t.Error("two origins of one name: no error")
	}
	if _, err := s3.NewStores([]s3.Origin{{Name: "a", Endpoint: "x"}}, s3.Options{}); err == nil {
		t.Error("bad endpoint: no error")
	}
}

// The default chain of the AWS SDK is the last resort.
func TestKeysFromEnvironment(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "of the environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "its secret")
	t.Setenv("AWS_SESSION_TOKEN", "its token")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	s, err := s3.New(s3.Origin{Name: "aws"}, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := sigv4.Credentials{AccessKeyID: "of the environment", SecretAccessKey: "its secret", SessionToken: "its token"}
	for range 2 {
		if got, err := s.Keys(context.Background()); err != nil || got != want {
			t.Errorf("got %v, %v", got, err)
		}
	}
}
