package tap_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

func newKeyring(t testing.TB) *tap.Keyring {
	t.Helper()
	k, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sampleSession() tap.Session {
	return tap.Session{
		Catalog:   "prod",
		Table:     laketap.TableID{Catalog: "prod", UUID: "8f0c"},
		TableName: "sales.orders",
		Engine:    laketap.Engine{Name: "duckdb", Version: "1.5.5"},
		Principal: "prod:alice",
		Origin:    "aws",
		Scope:     []tap.Location{{Origin: "aws", Bucket: "lake", Path: "wh/orders"}},
		Upstream:  []tap.Vended{{Prefix: "s3://lake/wh/orders", Keys: sigv4.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "s", SessionToken: "t"}}},
		Write:     true,
		Issued:    time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Expires:   time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC),
	}
}

func TestVendedKeysOpenToTheirSession(t *testing.T) {
	k := newKeyring(t)
	want := sampleSession()
	keys, err := k.Vend(want, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.Open(keys.AccessKeyID, keys.SessionToken)
	if err != nil {
		t.Fatal(err)
	}
	want.AccessKeyID = keys.AccessKeyID
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if secret, ok := k.Secret(keys.AccessKeyID); !ok || secret != keys.SecretAccessKey {
		t.Errorf("Secret = %q, %v, want the vended secret", secret, ok)
	}
	if strings.Contains(keys.SessionToken, "orders") {
		t.Error("the token shows its contents")
	}
}

func TestVendedKeysLookLikeKeys(t *testing.T) {
	k := newKeyring(t)
	a, errA := k.Vend(sampleSession(), rand.Reader)
	b, errB := k.Vend(sampleSession(), rand.Reader)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if a.AccessKeyID == b.AccessKeyID || a.SecretAccessKey == b.SecretAccessKey {
		t.Error("two sessions share a key")
	}
	if len(a.AccessKeyID) != 22 || len(a.SecretAccessKey) != 40 {
		t.Errorf("key id has %d characters, secret %d; want 22 and 40", len(a.AccessKeyID), len(a.SecretAccessKey))
	}
}

func TestOpenRefuses(t *testing.T) {
	k, other := newKeyring(t), newKeyring(t)
	keys, err := k.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := k.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, token := keys.AccessKeyID, keys.SessionToken
	tests := []struct {
		name      string
		ring      *tap.Keyring
		id, token string
		want      error
	}{
		{"no token", k, id, "", tap.ErrToken},
		{"truncated", k, id, token[:len(token)-1], tap.ErrToken},
		{"first character", k, id, flip(token, 0), tap.ErrToken},
		{"middle character", k, id, flip(token, len(token)/2), tap.ErrToken},
		{"last character", k, id, flip(token, len(token)-1), tap.ErrToken},
		{"a longer spelling", k, id, token + "A", tap.ErrToken},
		{"not base64", k, id, "!" + token[1:], tap.ErrToken},
		{"under another key id", k, second.AccessKeyID, token, tap.ErrToken},
		{"unknown cluster key", other, id, token, tap.ErrUnknownKey},
		{"not one of ours", k, "AKIAIOSFODNN7EXAMPLE", token, tap.ErrUnknownKey},
		{"empty key id", k, "", token, tap.ErrUnknownKey},
		{"mark alone", k, "LT", token, tap.ErrUnknownKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.ring.Open(tt.id, tt.token); !errors.Is(err, tt.want) {
				t.Errorf("Open = %v, want %v", err, tt.want)
			}
		})
	}
}

// flip changes one character to another of the same alphabet.
func flip(s string, i int) string {
	c := byte('A')
	if s[i] == 'A' {
		c = 'B'
	}
	return s[:i] + string(c) + s[i+1:]
}

func TestEveryBitOfATokenCounts(t *testing.T) {
	k := newKeyring(t)
	keys, err := k.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(keys.SessionToken)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 1
		if _, err := k.Open(keys.AccessKeyID, base64.RawURLEncoding.EncodeToString(bad)); err == nil {
			t.Fatalf("a token with bit %d changed opens", i*8)
		}
	}
}

func TestUpstreamTokenOf4KiBTravels(t *testing.T) {
	k := newKeyring(t)
	s := sampleSession()
	s.Upstream[0].Keys.SessionToken = strings.Repeat("x", 4096)
	keys, err := k.Vend(s, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// Header buffers of the storage tap hold 32 KiB; leave room for the rest.
	if len(keys.SessionToken) > 8<<10 {
		t.Errorf("token has %d bytes, want at most 8 KiB", len(keys.SessionToken))
	}
	got, err := k.Open(keys.AccessKeyID, keys.SessionToken)
	if err != nil {
		t.Fatal(err)
	}
	if got.Upstream[0].Keys.SessionToken != s.Upstream[0].Keys.SessionToken {
		t.Error("the upstream token came back changed")
	}
}

func TestKeyringFile(t *testing.T) {
	k := newKeyring(t)
	again, err := tap.ParseKeyring(k.Text())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := k.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Open(keys.AccessKeyID, keys.SessionToken); err != nil {
		t.Errorf("a keyring read back does not open: %v", err)
	}
}

func TestRotationKeepsSessions(t *testing.T) {
	old := newKeyring(t)
	keys, err := old.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	etag, err := old.Seal("etag", []byte("v1"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	both, err := tap.ParseKeyring(append(newKeyring(t).Text(), old.Text()...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := both.Open(keys.AccessKeyID, keys.SessionToken); err != nil {
		t.Errorf("after rotation an old session does not open: %v", err)
	}
	if plain, err := both.Unseal("etag", etag); err != nil || string(plain) != "v1" {
		t.Errorf("Unseal = %q, %v, want v1", plain, err)
	}
	fresh, err := both.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Open(fresh.AccessKeyID, fresh.SessionToken); !errors.Is(err, tap.ErrUnknownKey) {
		t.Errorf("a new session is sealed with the old key: %v", err)
	}
}

func TestParseKeyringRefuses(t *testing.T) {
	good := strings.TrimSpace(strings.SplitN(string(newKeyring(t).Text()), "\n", 2)[1])
	tests := []struct{ name, text, want string }{
		{"empty", "", "no cluster key"},
		{"comment only", "# nothing\n", "no cluster key"},
		{"short secret", "ABCD " + base64.StdEncoding.EncodeToString([]byte("short")), "line 1: key ABCD is not 32 bytes"},
		{"not base64", "ABCD ****", "line 1: key ABCD is not 32 bytes"},
		{"id too long", "ABCDE " + good[5:], "line 1: a cluster key line is ID BASE64"},
		{"id of other characters", "ab-1 " + good[5:], "line 1: a cluster key line is ID BASE64"},
		{"twice", good + "\n" + good, "line 2: key id " + good[:4] + " appears twice"},
		{"binary", "\x00\xff", "line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tap.ParseKeyring([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseKeyring = %v, want an error with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), good[5:]) {
				t.Error("the error shows a secret")
			}
		})
	}
}

func TestSealIsForOnePurpose(t *testing.T) {
	k := newKeyring(t)
	sealed, err := k.Seal("etag", []byte("x"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Unseal("page", sealed); !errors.Is(err, tap.ErrToken) {
		t.Errorf("Unseal for another purpose = %v, want ErrToken", err)
	}
	if _, err := newKeyring(t).Unseal("etag", sealed); !errors.Is(err, tap.ErrToken) {
		t.Errorf("Unseal by another cluster = %v, want ErrToken", err)
	}
}

func TestNoRandomnessNoKey(t *testing.T) {
	k := newKeyring(t)
	if _, err := tap.NewKeyring(strings.NewReader("few")); err == nil {
		t.Error("NewKeyring made a key out of too little randomness")
	}
	if _, err := k.Vend(sampleSession(), strings.NewReader("few")); err == nil {
		t.Error("Vend made a key pair out of too little randomness")
	}
	if _, err := k.Vend(sampleSession(), strings.NewReader("ten bytes.")); err == nil {
		t.Error("Vend sealed without a nonce")
	}
}

func FuzzOpen(f *testing.F) {
	k := newKeyring(f)
	keys, err := k.Vend(sampleSession(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(keys.AccessKeyID, keys.SessionToken)
	f.Add(keys.AccessKeyID, "")
	f.Add("LT", "AAAA")
	f.Add(keys.AccessKeyID, strings.Repeat("A", 40))
	f.Fuzz(func(t *testing.T, id, token string) {
		s, err := k.Open(id, token)
		if err == nil && (id != keys.AccessKeyID || token != keys.SessionToken) {
			t.Errorf("a token that was never vended opens to %+v", s)
		}
		if err != nil && !errors.Is(err, tap.ErrToken) && !errors.Is(err, tap.ErrUnknownKey) {
			t.Errorf("Open = %v, want ErrToken or ErrUnknownKey", err)
		}
	})
}

// A ring in use takes other keys in one step: what each seals and opens is told
// by the keys that it has then.
func TestAdoptedKeys(t *testing.T) {
	ring, next := newKeyring(t), newKeyring(t)
	before, err := ring.Vend(sampleSession(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := ring.Seal("etag", []byte("v1"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old := string(ring.Text())
	for _, step := range []struct {
		name, text string
		opens      bool
	}{{"appended", old + string(next.Text()), true}, {"first", string(next.Text()) + old, true}, {"alone", string(next.Text()), false}} {
		parsed, err := tap.ParseKeyring([]byte(step.text))
		if err != nil {
			t.Fatal(err)
		}
		if ring.Equal(parsed) {
			t.Errorf("%s: not yet adopted and already equal", step.name)
		}
		if ring.Adopt(parsed); !ring.Equal(parsed) {
			t.Errorf("%s: not equal to what it adopted", step.name)
		}
		_, err = ring.Open(before.AccessKeyID, before.SessionToken)
		_, tagErr := ring.Unseal("etag", tag)
		if (err == nil) != step.opens || (tagErr == nil) != step.opens {
			t.Errorf("%s: a session from before opens with %v, an ETag with %v; want opened: %v", step.name, err, tagErr, step.opens)
		}
		after, err := ring.Vend(sampleSession(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := next.Secret(after.AccessKeyID); ok != (step.name != "appended") {
			t.Errorf("%s: sealed with the new key: %v", step.name, ok)
		}
	}
}
