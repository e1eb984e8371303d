package sigv4

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"
)

// The short HMAC agrees with the standard library's for every length around
// its limits.
func TestMAC(t *testing.T) {
	lengths := []int{0, 1, 31, 32, 63, 64, 65, 200, macRoom - sha256.BlockSize, macRoom - sha256.BlockSize + 1, 1000}
	for _, k := range lengths {
		for _, n := range lengths {
			key, text := bytes.Repeat([]byte{0x5a}, k), bytes.Repeat([]byte{0xa5}, n)
			h := hmac.New(sha256.New, key)
			h.Write(text)
			if got := mac(key, text); !bytes.Equal(got[:], h.Sum(nil)) {
				t.Errorf("key of %d, text of %d: got %x", k, n, got)
			}
		}
	}
}
