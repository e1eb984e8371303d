package parquet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/lake/parquet"
)

// data is what the files made by hand hold before their footer.
var data = strings.Repeat("x", 100)

// parse reads a whole file.
func parse(b []byte, opts parquet.Options) (*parquet.Layout, error) {
	return parquet.ParseFooter(b, int64(len(b)), opts)
}

// mustParse reads a whole file that is in order.
func mustParse(t *testing.T, b []byte, opts parquet.Options) *parquet.Layout {
	t.Helper()
	l, err := parse(b, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParseFooter(t *testing.T) {
	b := file(data, plain().with(field{6, str("by hand")}))
	l := mustParse(t, b, parquet.Options{})
	if l.Size() != int64(len(b)) || l.Rows() != 10 || l.Version() != 1 || l.CreatedBy() != "by hand" {
		t.Errorf("size %d, rows %d, version %d, created by %q", l.Size(), l.Rows(), l.Version(), l.CreatedBy())
	}
	if got, want := l.Footer(), (laketap.Extent{Off: 104, Len: int64(len(b)) - 104}); got != want {
		t.Errorf("footer %v, want %v", got, want)
	}
	if l.NumColumns() != 2 || l.NumRowGroups() != 1 || !l.HasFieldIDs() || l.Ignored() != 0 {
		t.Errorf("%d columns, %d row groups, ids %v, %d ignored", l.NumColumns(), l.NumRowGroups(), l.HasFieldIDs(), l.Ignored())
	}
	want := parquet.RowGroup{Rows: 10, Uncompressed: 100, Compressed: 100, Ordinal: -1}
	if got := l.RowGroup(0); got != want {
		t.Errorf("row group %+v, want %+v", got, want)
	}
	wantChunk := parquet.Chunk{
		Extent:       laketap.Extent{Off: 44, Len: 60},
		Values:       10,
		Uncompressed: 60,
		Codec:        parquet.Snappy,
		Encodings:    1<<parquet.Plain | 1<<parquet.RLE,
	}
	if diff := cmp.Diff(wantChunk, l.Chunk(0, 1)); diff != "" {
		t.Error(diff)
	}
	wantColumn := parquet.Column{Name: "b", Field: 2, Type: parquet.Int32, MaxDefinition: 1}
	if diff := cmp.Diff(wantColumn, l.Column(1)); diff != "" {
		t.Error(diff)
	}
	if n := l.Memory(); n < len(b)-104 || n > 4096 {
		t.Errorf("holds %d bytes", n)
	}
}

// Thrift lets fields come in any order, and new ones come with new versions.
func TestFieldsInAnyOrder(t *testing.T) {
	meta := plain().with(field{7, list{obj{{1, obj{}}}, obj{{9, obj{}}}}}, field{6, str("x")})
	want := mustParse(t, file(data, meta), parquet.Options{})
	var turned obj
	for _, f := range meta {
		turned = append(obj{f}, turned...)
	}
	unknown := obj{
		{40, flag(true)},
		{41, raw{3, "\x01"}},
		{42, i16(1)},
		{43, i32(2)},
		{44, i64(3)},
		{45, raw{7, "12345678"}},
		{46, str("s")},
		{47, list{i64(1), i64(1 << 60)}},
		{48, raw{10, "\x21\x01\x02"}},
		{49, raw{11, "\x00"}},
		{50, raw{11, "\x01\x8b\x01k\x00"}},
		{51, raw{13, "0123456789abcdef"}},
		{32767, obj{{1, list{obj{}, obj{{-3, flag(false)}}}}}},
	}
	got := mustParse(t, file(data, slices.Concat(unknown, turned)), parquet.Options{})
	for c := range 2 {
		if diff := cmp.Diff(want.Chunk(0, c), got.Chunk(0, c)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Column(c), got.Column(c)); diff != "" {
			t.Error(diff)
		}
	}
	if got.Column(0).Order != parquet.TypeOrder || got.Column(1).Order != parquet.NoOrder {
		t.Errorf("orders %v and %v", got.Column(0).Order, got.Column(1).Order)
	}
}

// Field case P15.
func TestDamagedEnds(t *testing.T) {
	whole := file(data, plain())
	with := func(at int, s string) []byte {
		b := append([]byte(nil), whole...)
		if at < 0 {
			at += len(b)
		}
		copy(b[at:], s)
		return b
	}
	tests := []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, parquet.ErrNotParquet},
		{"short", []byte("PAR1PAR1"), parquet.ErrNotParquet},
		{"another magic behind", with(-4, "ORC1"), parquet.ErrNotParquet},
		{"another magic in front", with(0, "RIFF"), parquet.ErrNotParquet},
		{"encrypted in front only", with(0, "PARE"), parquet.ErrNotParquet},
		{"longer than the file", with(-8, "\xff\xff\xff\x7f"), parquet.ErrMalformed},
		{"as long as can be", with(-8, "\xff\xff\xff\xff"), parquet.ErrMalformed},
		{"as long as the file", with(-8, string([]byte{byte(len(whole) - 11), 0})), parquet.ErrMalformed},
		{"a file in the middle", append(with(0, ""), "and more, which is no footer"...), parquet.ErrNotParquet},
		{"no metadata", []byte("PAR1\x00\x00\x00\x00PAR1"), parquet.ErrMalformed},
		{"footers of zeros", []byte("PAR1\x00\x01\x00\x00\x00PAR1"), parquet.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse(tt.file, parquet.Options{}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestFooterLength(t *testing.T) {
	whole := file(data, plain())
	want := int64(len(whole) - 104)
	if got, err := parquet.FooterLength(whole[len(whole)-8:]); got != want || err != nil {
		t.Errorf("got %d, %v, want %d", got, err, want)
	}
	var short *parquet.ShortError
	if _, err := parquet.FooterLength(whole[len(whole)-7:]); !errors.As(err, &short) || short.Need != 8 {
		t.Errorf("of seven bytes: %v", err)
	}
	if _, err := parquet.ParseFooter(whole[120:], int64(len(whole)), parquet.Options{}); !errors.As(err, &short) || short.Need != want {
		t.Errorf("of less than the footer: %v", err)
	}
	if _, err := parquet.ParseFooter(whole[104:], int64(len(whole)), parquet.Options{}); err != nil {
		t.Errorf("of exactly the footer: %v", err)
	}
}

func TestEncrypted(t *testing.T) {
	gcm, ctr := obj{{1, obj{}}}, obj{{2, obj{{2, str("aad")}}}}
	hidden := obj{{2, i64(0)}, {8, obj{{2, obj{}}}}, {9, str("secret metadata")}}
	sealed := file(data, obj{{1, ctr}, {2, str("key")}})
	copy(sealed[len(sealed)-4:], "PARE")
	copy(sealed, "PARE")
	garbage := append([]byte(nil), sealed...)
	garbage[104] = 0xff
	tests := []struct {
		name string
		file []byte
		want parquet.EncryptedError
	}{
		{"footer", sealed, parquet.EncryptedError{Footer: true, Algorithm: "AES_GCM_CTR_V1"}},
		{"footer of garbage", garbage, parquet.EncryptedError{Footer: true}},
		{"signed footer", file(data, plain().with(field{8, gcm})), parquet.EncryptedError{Algorithm: "AES_GCM_V1"}},
		{"signing key alone", file(data, plain().with(field{9, str("k")})), parquet.EncryptedError{}},
		{"new algorithm", file(data, plain().with(field{8, obj{{3, obj{}}}})), parquet.EncryptedError{}},
		{
			"column",
			file(data, metadata(list{root(1), leaf("a", 0)}, rowGroup(hidden)).with(field{8, gcm})),
			parquet.EncryptedError{Algorithm: "AES_GCM_V1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(tt.file, parquet.Options{})
			var got *parquet.EncryptedError
			if !errors.As(err, &got) || !errors.Is(err, parquet.ErrEncrypted) {
				t.Fatalf("got %v", err)
			}
			if *got != tt.want {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
			if got.Error() == "" || errors.Is(err, parquet.ErrMalformed) {
				t.Errorf("unfit error %v", got)
			}
		})
	}
}

func TestKeyValues(t *testing.T) {
	pairs := list{obj{{1, str("a")}, {2, str("1")}}, obj{{1, str("no value")}}, obj{{1, str("b")}, {2, str("")}, {3, i32(1)}}}
	b := file(data, plain().with(field{5, pairs}))
	got := []string{}
	for k, v := range mustParse(t, b, parquet.Options{}).KeyValues() {
		got = append(got, k+"="+v)
	}
	if diff := cmp.Diff([]string{"a=1", "no value=", "b="}, got); diff != "" {
		t.Error(diff)
	}
	for k := range mustParse(t, b, parquet.Options{DropFooter: true}).KeyValues() {
		t.Errorf("a dropped footer yields %q", k)
	}
	for k := range mustParse(t, file(data, plain()), parquet.Options{}).KeyValues() {
		t.Errorf("a file without pairs yields %q", k)
	}
}
