package observe

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// A mapped is a Parquet file with its layout; nil if it has none.
type mapped struct {
	name   string
	bytes  []byte
	layout *parquet.Layout
}

// samples reads the files that many writers wrote for lake/parquet.
func samples(t *testing.T) (all []mapped) {
	t.Helper()
	names, err := filepath.Glob("../lake/parquet/testdata/*.parquet")
	if err != nil || len(names) < 20 {
		t.Fatalf("samples: %v, %v", names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		layout, err := parquet.ReadLayout(t.Context(), bytes.NewReader(b), int64(len(b)), parquet.Options{})
		if err != nil && !errors.Is(err, parquet.ErrEncrypted) {
			t.Fatal(err)
		}
		all = append(all, mapped{name, b, layout})
	}
	return all
}

// checkParts holds parts to what is always so: they sum up to n, follow one
// another from the beginning of the range, and no part is named twice.
func checkParts(t rapid.TB, parts []laketap.PartBytes, asked laketap.Extent, n int64) {
	t.Helper()
	at := asked.Off
	named := map[laketap.Part]bool{}
	for _, p := range parts {
		if p.Bytes <= 0 || named[p.Part] || p.Kind >= laketap.PartKinds {
			t.Fatalf("part %+v", p)
		}
		named[p.Part] = true
		if at < p.Extent.Off || at+p.Bytes > p.Extent.Off+p.Extent.Len {
			t.Fatalf("%d bytes at %d are not within their part %+v", p.Bytes, at, p)
		}
		if p.First != (at == p.Extent.Off) && p.Kind != laketap.UnknownPart {
			t.Fatalf("part %+v at %d: first %v", p, at, p.First)
		}
		at += p.Bytes
	}
	if at-asked.Off != n {
		t.Fatalf("parts of %d bytes sum up to %d", n, at-asked.Off)
	}
}

// The parts of an access sum up to its bytes, whatever was asked for and
// however it broke off, and each byte is what the layout says of it.
func TestPartsSumUp(t *testing.T) {
	files := samples(t)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		size := int64(len(f.bytes))
		off := rapid.Int64Range(0, size).Draw(t, "off")
		asked := laketap.Extent{Off: off, Len: rapid.Int64Range(0, size-off).Draw(t, "len")}
		n := rapid.OneOf(rapid.Just(asked.Len), rapid.Int64Range(0, asked.Len+100)).Draw(t, "bytes")
		known := &namedFile{part: laketap.DataPart, file: laketap.File{Object: laketap.Object{Size: size}}}
		parts := split(asked, n, known, f.layout)
		checkParts(t, parts, asked, n)
		if f.layout == nil {
			return
		}
		at := off
		for _, p := range parts {
			if at >= size || at >= off+asked.Len {
				break
			}
			want := f.layout.PartAt(at)
			if p.Kind != kindOf(want.Kind) || p.RowGroup != want.RowGroup || p.Field != max(want.Field, 0) {
				t.Fatalf("byte %d is %+v, taken for %+v", at, want, p)
			}
			at += p.Bytes
		}
	})
}

// Vectors of a Puffin file are told apart, wherever they are said to lie.
func TestVectorsSumUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &namedFile{part: laketap.DeletionVectorPart}
		at := int64(0)
		for range rapid.IntRange(0, 5).Draw(t, "vectors") {
			at += rapid.Int64Range(0, 20).Draw(t, "gap")
			v := laketap.Extent{Off: at, Len: rapid.Int64Range(1, 50).Draw(t, "size")}
			f.vectors = append(f.vectors, v)
			at += v.Len
		}
		asked := laketap.Extent{Off: rapid.Int64Range(0, 300).Draw(t, "off"), Len: rapid.Int64Range(0, 300).Draw(t, "len")}
		parts := split(asked, asked.Len, f, nil)
		checkParts(t, parts, asked, asked.Len)
		at = asked.Off
		for _, p := range parts {
			for ; p.Bytes > 0; p.Bytes, at = p.Bytes-1, at+1 {
				in := laketap.DeleteFilePart
				for _, v := range f.vectors {
					if at >= v.Off && at < v.Off+v.Len {
						in = laketap.DeletionVectorPart
					}
				}
				if p.Kind != in {
					t.Fatalf("byte %d is %v, taken for %v", at, in, p.Kind)
				}
			}
		}
	})
}

// Vectors that lie over one another, as a damaged manifest has them, make no
// bytes of none.
func TestVectorsThatOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &namedFile{part: laketap.DeletionVectorPart}
		for range rapid.IntRange(0, 5).Draw(t, "vectors") {
			f.vectors = append(f.vectors, laketap.Extent{Off: rapid.Int64Range(-10, 100).Draw(t, "off"), Len: rapid.Int64Range(-10, 100).Draw(t, "len")})
		}
		asked := laketap.Extent{Off: rapid.Int64Range(0, 300).Draw(t, "off"), Len: rapid.Int64Range(0, 300).Draw(t, "len")}
		var sum int64
		for _, p := range split(asked, asked.Len, f, nil) {
			sum += p.Bytes
		}
		if sum != asked.Len {
			t.Fatalf("%d bytes sum up to %d", asked.Len, sum)
		}
	})
}

func TestGuess(t *testing.T) {
	for key, want := range map[string]laketap.PartKind{
		"wh/t/metadata/00001-x.metadata.json":    laketap.TableMetadataPart,
		"wh/t/metadata/00001-x.gz.metadata.json": laketap.TableMetadataPart,
		"wh/t/metadata/snap-1-2-x.avro":          laketap.ManifestListPart,
		"wh/t/metadata/x-m0.avro":                laketap.ManifestPart,
		"wh/t/metadata/x.stats":                  laketap.StatisticsPart,
		"wh/t/data/a.parquet":                    laketap.DataPart,
		"wh/t/data/a.orc":                        laketap.DataPart,
		"wh/t/data/a.avro":                       laketap.UnknownPart,
		"wh/t/data/a":                            laketap.UnknownPart,
	} {
		f := guess(laketap.ObjectName{Key: key}, 7)
		if f.part != want || f.file.Object.Size != 7 {
			t.Errorf("%s is taken for %v", key, f.part)
		}
		if meta := want != laketap.DataPart && want != laketap.UnknownPart; meta != (f.file.Content == laketap.MetadataContent) {
			t.Errorf("%s has the content %d", key, f.file.Content)
		}
	}
}
