package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// key is a pair of S3 keys.
type key struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// keys are the two users of the lake: the owner may do everything, the reader
// may read.
type keys struct {
	Owner  key `json:"owner"`
	Reader key `json:"reader"`
}

// loadKeys reads the keys of the lake, and makes them on first start. They stay
// the same over restarts, since engines keep them in their configuration.
func (h *home) loadKeys() (keys, error) {
	data, err := os.ReadFile(h.path(keysName))
	if errors.Is(err, fs.ErrNotExist) {
		return h.makeKeys()
	}
	if err != nil {
		return keys{}, fmt.Errorf("read keys of lake: %w", err)
	}
	// Damaged keys are not replaced by new ones without asking: clients have the
	// old ones in their configuration, and would be refused without a word why.
	var k keys
	if err := json.Unmarshal(data, &k); err != nil || k.Owner.ID == "" || k.Owner.Secret == "" || k.Reader.ID == "" || k.Reader.Secret == "" {
		return keys{}, fmt.Errorf("%s is damaged: remove it and start again, new keys are made", h.path(keysName))
	}
	return k, nil
}

func (h *home) makeKeys() (keys, error) {
	k := keys{Owner: newKey("LAKE"), Reader: newKey("READ")}
	data, err := json.Marshal(k)
	if err != nil {
		return keys{}, fmt.Errorf("encode keys: %w", err)
	}
	return k, h.save(keysName, append(data, '\n'))
}

// newKey makes a pair in the form of AWS keys: 20 characters for the id and 40
// for the secret, of letters and digits as far as it goes, because clients put
// both in URLs and shell lines.
func newKey(kind string) key {
	secret := make([]byte, 30)
	// It cannot fail: where there is no randomness, the runtime ends the program.
	rand.Read(secret)
	return key{ID: kind + rand.Text()[:16], Secret: base64.RawURLEncoding.EncodeToString(secret)}
}
