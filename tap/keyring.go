package tap

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/laketap/laketap/internal/sigv4"
)

// What can be wrong with a key or a token that a client shows.
var (
	ErrUnknownKey = errors.New("access key id was not issued by this cluster")
	ErrToken      = errors.New("session token is missing, damaged or belongs to another key")
)

const (
	keyMark   = "LT" // begins every access key id that we vend
	keyIDLen  = 4    // characters that name the cluster key
	keyRandom = 10   // random bytes: 16 characters of base32
	secretLen = 32   // bytes of a cluster key
)

// keyEncoding spells access key ids as AWS does: capitals and digits.
var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// A Keyring holds the cluster's keys. Everything that Laketap hands to clients
// and takes back (session tokens, ETags) is sealed with the first; any of them
// opens, so that keys rotate without dropping a session. It holds no state
// about sessions: an access key id is "LT" + cluster key id + random, its
// secret an HMAC of it under the cluster key. Its keys can be changed while it
// is in use.
type Keyring struct {
	keys       atomic.Pointer[[]clusterKey]
	generation atomic.Uint64
}

type clusterKey struct {
	id     string
	secret []byte
}

// NewKeyring makes a keyring of one new key.
func NewKeyring(random io.Reader) (*Keyring, error) {
	buf := make([]byte, secretLen+keyIDLen)
	if _, err := io.ReadFull(random, buf); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	id := keyEncoding.EncodeToString(buf[secretLen:])[:keyIDLen]
	return keyringOf([]clusterKey{{id, buf[:secretLen]}}), nil
}

func keyringOf(keys []clusterKey) *Keyring {
	k := &Keyring{}
	k.keys.Store(&keys)
	return k
}

// Adopt gives the keyring the keys of another in place of its own, in one step.
func (k *Keyring) Adopt(other *Keyring) {
	k.keys.Store(other.keys.Load())
	k.generation.Add(1)
}

// Generation changes when the keys do: what was derived from them in another one
// counts no more.
func (k *Keyring) Generation() uint64 { return k.generation.Load() }

// Equal reports whether two keyrings hold the same keys in the same order.
func (k *Keyring) Equal(other *Keyring) bool {
	return subtle.ConstantTimeCompare(k.Text(), other.Text()) == 1
}

// ParseKeyring reads the cluster key file: a line per key, "ID BASE64", where
// ID is four characters of A–Z and 2–7 and BASE64 spells 32 bytes. The first
// seals. Blank lines and lines that begin with '#' are skipped.
func ParseKeyring(text []byte) (*Keyring, error) {
	var keys []clusterKey
	seen := map[string]bool{}
	scan := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		id, encoded, _ := strings.Cut(line, " ")
		if _, err := keyEncoding.DecodeString(id + "AAAA"); err != nil || len(id) != keyIDLen {
			return nil, fmt.Errorf("line %d: a cluster key line is ID BASE64, with an ID of %d characters A–Z and 2–7", n, keyIDLen)
		}
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if err != nil || len(secret) != secretLen {
			return nil, fmt.Errorf("line %d: key %s is not %d bytes in base64", n, id, secretLen)
		}
		if seen[id] {
			return nil, fmt.Errorf("line %d: key id %s appears twice", n, id)
		}
		seen[id] = true
		keys = append(keys, clusterKey{id, secret})
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read cluster keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, errors.New("no cluster key in it; delete the file to have one made")
	}
	return keyringOf(keys), nil
}

// Text returns the keyring in the form that [ParseKeyring] reads.
func (k *Keyring) Text() []byte {
	var b bytes.Buffer
	b.WriteString("# Laketap cluster keys: the first seals, all open. Keep secret; share between nodes.\n")
	for _, key := range *k.keys.Load() {
		fmt.Fprintf(&b, "%s %s\n", key.id, base64.StdEncoding.EncodeToString(key.secret))
	}
	return b.Bytes()
}

// Vend makes a key pair that stands for the session.
func (k *Keyring) Vend(s Session, random io.Reader) (sigv4.Credentials, error) {
	buf := make([]byte, keyRandom)
	if _, err := io.ReadFull(random, buf); err != nil {
		return sigv4.Credentials{}, fmt.Errorf("read randomness: %w", err)
	}
	key := (*k.keys.Load())[0]
	id := keyMark + key.id + keyEncoding.EncodeToString(buf)
	plain, err := json.Marshal(s)
	if err != nil {
		return sigv4.Credentials{}, fmt.Errorf("encode session: %w", err)
	}
	token, err := key.seal("session", plain, []byte(id), random)
	if err != nil {
		return sigv4.Credentials{}, err
	}
	return sigv4.Credentials{AccessKeyID: id, SecretAccessKey: key.secretOf(id), SessionToken: token}, nil
}

// Secret returns the secret of an access key id that this cluster vended; ok
// is false for any other id. A valid secret proves nothing about the session:
// [Keyring.Open] its token too.
func (k *Keyring) Secret(accessKeyID string) (secret string, ok bool) {
	key, ok := k.keyOf(accessKeyID)
	if !ok {
		return "", false
	}
	return key.secretOf(accessKeyID), true
}

// Open returns the session that a key pair stands for. The error is
// [ErrUnknownKey] or [ErrToken]; an expired session opens.
func (k *Keyring) Open(accessKeyID, token string) (Session, error) {
	key, ok := k.keyOf(accessKeyID)
	if !ok {
		return Session{}, ErrUnknownKey
	}
	plain, err := key.open("session", token, []byte(accessKeyID))
	if err != nil {
		return Session{}, ErrToken
	}
	var s Session
	if err := json.Unmarshal(plain, &s); err != nil {
		return Session{}, ErrToken
	}
	s.AccessKeyID = accessKeyID
	return s, nil
}

// Seal encrypts something that a client keeps for us, for one purpose.
func (k *Keyring) Seal(purpose string, plain []byte, random io.Reader) (string, error) {
	key := (*k.keys.Load())[0]
	sealed, err := key.seal(purpose, plain, nil, random)
	return key.id + sealed, err
}

// Unseal returns what [Keyring.Seal] sealed for the same purpose, or [ErrToken].
func (k *Keyring) Unseal(purpose, sealed string) ([]byte, error) {
	for _, key := range *k.keys.Load() {
		if rest, ok := strings.CutPrefix(sealed, key.id); ok {
			return key.open(purpose, rest, nil)
		}
	}
	return nil, ErrToken
}

func (k *Keyring) keyOf(accessKeyID string) (clusterKey, bool) {
	rest, ok := strings.CutPrefix(accessKeyID, keyMark)
	if !ok || len(rest) < keyIDLen {
		return clusterKey{}, false
	}
	for _, key := range *k.keys.Load() {
		if rest[:keyIDLen] == key.id {
			return key, true
		}
	}
	return clusterKey{}, false
}

// secretOf derives the secret of an access key id: 40 characters, as AWS has.
func (c clusterKey) secretOf(accessKeyID string) string {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte("laketap secret " + accessKeyID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:40]
}

// aead returns a cipher under a key of its own for the purpose and the
// associated data, so that a random nonce never meets the same key twice often
// enough to matter (NIST SP 800-38D §8.3 allows 2³² per key).
func (c clusterKey) aead(purpose string, associated []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, c.secret, associated, "laketap "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

func (c clusterKey) seal(purpose string, plain, associated []byte, random io.Reader) (string, error) {
	aead, err := c.aead(purpose, associated)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, plain, associated)), nil
}

func (c clusterKey) open(purpose, sealed string, associated []byte) ([]byte, error) {
	aead, err := c.aead(purpose, associated)
	if err != nil {
		return nil, ErrToken
	}
	// Strict: one sealed text has one spelling, so that a changed last
	// character is a changed token.
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(data) < aead.NonceSize() {
		return nil, ErrToken
	}
	plain, err := aead.Open(nil, data[:aead.NonceSize()], data[aead.NonceSize():], associated)
	if err != nil {
		return nil, ErrToken
	}
	return plain, nil
}
