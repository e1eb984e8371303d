package s3_test

import (
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

// A store with an authority of its own is reached with ca, and without it the
// error says so and nothing is sent.
func TestSendOverTLS(t *testing.T) {
	sent := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{ca: "", "": "set storage.origins[lake].ca"} {
		s, err := s3.New(s3.Origin{Name: "lake", Endpoint: server.URL, PathStyle: true, CA: file}, s3.Options{})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := send(t, s, request(http.MethodPut, "/bucket/k", nil), sigv4.Payload{}, nil)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("ca %q: error %v, want %q", file, err, want)
		}
		s.Close()
	}
	if sent != 1 {
		t.Errorf("%d requests arrived, want the trusted one", sent)
	}
}
