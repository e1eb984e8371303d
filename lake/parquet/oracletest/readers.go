package oracletest

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	peer "github.com/parquet-go/parquet-go"

	"github.com/laketap/laketap/lake/parquet"
)

// A Reader reads the footer of a file that is in memory whole.
type Reader struct {
	Name string
	Read func(file []byte) error
}

// Readers returns the reader under test and those it is measured against.
func Readers() []Reader {
	return []Reader{
		{"laketap", func(b []byte) error {
			_, err := parquet.ParseFooter(b, int64(len(b)), parquet.Options{})
			return err
		}},
		{"arrow-go", func(b []byte) error {
			_, err := metadata.NewFileMetaData(Metadata(b), nil)
			return err
		}},
		{"parquet-go", func(b []byte) error {
			_, err := peer.OpenFile(bytes.NewReader(b), int64(len(b)), peer.SkipPageIndex(true), peer.SkipBloomFilters(true))
			return err
		}},
	}
}

// Metadata returns the encoded metadata of a file that is in order.
func Metadata(b []byte) []byte {
	n := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	return b[len(b)-8-n : len(b)-8]
}
