package sigv4

import (
	"crypto/md5"  //nolint:gosec // a checksum that S3 offers, not a proof
	"crypto/sha1" //nolint:gosec // a checksum that S3 offers, not a proof
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"strings"
)

const checksumPrefix = "x-amz-checksum-"

// nvme is the reversed polynomial of CRC-64/NVME.
const nvme = 0x9a6c9329ac4bc9b5

// A checksumKind is an algorithm whose value may trail a body. S3 has more of
// them than the standard library: what has no hash here is checked for its
// form and left to the store, which is sent the same value.
type checksumKind struct {
	size int // bytes of the sum
	hash func() hash.Hash
}

// checksums holds the algorithms by the end of their header's name.
var checksums = map[string]checksumKind{
	"crc32":     {4, func() hash.Hash { return crc32.NewIEEE() }},
	"crc32c":    {4, func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	"crc64nvme": {8, func() hash.Hash { return crc64.New(crc64.MakeTable(nvme)) }},
	"sha1":      {sha1.Size, sha1.New},
	"sha256":    {sha256.Size, sha256.New},
	"sha512":    {sha512.Size, sha512.New},
	"md5":       {md5.Size, md5.New},
	"xxhash64":  {size: 8},
	"xxhash3":   {size: 8},
	"xxhash128": {size: 16},
}

// checksumSize returns the bytes of the sum in a trailing header; 0 is a name
// that may not trail.
func checksumSize(name string) int {
	kind, ok := strings.CutPrefix(name, checksumPrefix)
	if !ok {
		return 0
	}
	return checksums[kind].size
}

// newChecksum returns the hash of a trailing header; nil if there is none here.
func newChecksum(name string) hash.Hash {
	if make := checksums[strings.TrimPrefix(name, checksumPrefix)].hash; make != nil {
		return make()
	}
	return nil
}

// validChecksum reports whether a value has the form of the header's sums.
func validChecksum(name, value string) bool {
	sum, err := base64.StdEncoding.Strict().DecodeString(value)
	return err == nil && len(sum) == checksumSize(name) && !strings.ContainsAny(value, "\r\n")
}
