package s3diff_test

import (
	"net/http"
	"testing"

	"github.com/laketap/laketap/test/s3"
)

// A NUL in a key, which a store of files cannot hold, is the store's to refuse:
// the storage tap passes on what it says, and is well afterwards.
func TestNULInKey(t *testing.T) {
	bare := startStore(t)
	for _, mode := range []string{"observe", "accelerate"} {
		through := client(startTap(t, bare, mode).Storage)
		if mode == "observe" {
			succeed(t, through, s3.Request{Method: http.MethodPut, Target: "/flow"})
		}
		for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodHead, http.MethodDelete} {
			r := s3.Request{Method: method, Target: "/flow/a%00b"}
			direct, tapped := ask(t, client(bare.endpoint), r), ask(t, through, r)
			if tapped.Status != direct.Status || tapped.Code != direct.Code {
				t.Errorf("%s: %s directly, %s through Laketap in mode %s", method, direct, tapped, mode)
			}
		}
		succeed(t, through, s3.Request{Method: http.MethodPut, Target: "/flow/well", Text: "well"})
		succeed(t, through, s3.Request{Target: "/flow/well"})
	}
}

func client(endpoint string) *s3.Client {
	return &s3.Client{Endpoint: endpoint, Region: "us-east-1", Keys: s3.Keys{ID: keyID, Secret: secret}}
}

func ask(t *testing.T, c *s3.Client, r s3.Request) s3.Response {
	t.Helper()
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Target, err)
	}
	return resp
}

func succeed(t *testing.T, c *s3.Client, r s3.Request) {
	t.Helper()
	if resp := ask(t, c, r); resp.Status != http.StatusOK {
		t.Fatalf("%s %s: %s, want 200", r.Method, r.Target, resp)
	}
}
