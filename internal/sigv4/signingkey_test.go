package sigv4_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/laketap/laketap/internal/sigv4"
)

// A key that was kept verifies what its secret signed on its day and for its
// region, and nothing else.
func TestSigningKeysAreOfADayAndARegion(t *testing.T) {
	claim := func(at time.Time, region, secret string) (sigv4.Request, *sigv4.Auth) {
		t.Helper()
		req := newRequest(t, http.MethodGet, "http://s3.test/lake/key", nil)
		c := keys()
		c.SecretAccessKey = secret
		if err := sigv4.Sign(req, c, sigv4.Payload{}, region, at, nil); err != nil {
			t.Fatal(err)
		}
		r := received(req)
		a, err := sigv4.Parse(&r)
		if err != nil {
			t.Fatal(err)
		}
		return r, a
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	_, first := claim(now, "us-east-1", "secret")
	key := first.SigningKey("secret")
	for name, tt := range map[string]struct {
		at             time.Time
		region, secret string
		key            sigv4.SigningKey
		ok             bool
	}{
		"later that day": {now.Add(11 * time.Hour), "us-east-1", "secret", key, true},
		"the next day":   {now.Add(13 * time.Hour), "us-east-1", "secret", key, false},
		"elsewhere":      {now, "eu-central-1", "secret", key, false},
		"another secret": {now, "us-east-1", "another", key, false},
		"no key":         {now, "us-east-1", "secret", sigv4.SigningKey{}, false},
		"no secret":      {now, "us-east-1", "secret", first.SigningKey(""), false},
	} {
		r, a := claim(tt.at, tt.region, tt.secret)
		if err := a.VerifyBy(&r, tt.key, tt.region, tt.at); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
