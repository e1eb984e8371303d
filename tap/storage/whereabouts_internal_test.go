package storage

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A reply says where an object is in the client's words, however it arrives.
func TestRelocated(t *testing.T) {
	theirs := []string{"http://store:9000/b/", "http://b.store:9000/"}
	for _, c := range []struct{ in, want string }{
		{"<R><Location>http://store:9000/b/k</Location></R>", "<R><Location>http://tap/k</Location></R>"},
		{"   \n<R><Location>http://b.store:9000/k</Location></R>", "   \n<R><Location>http://tap/k</Location></R>"},
		{"<R><Location>http://else/b/k</Location></R>", "<R><Location>http://else/b/k</Location></R>"},
		{"<R><Locat</R><Location>", "<R><Locat</R><Location>"},
		{"<R><Location>http://sto", "<R><Location>http://sto"},
		{"<Location>x</Location><Location>http://store:9000/b/k", "<Location>x</Location><Location>http://store:9000/b/k"},
		{"", ""},
	} {
		for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
			l := &relocated{src: io.NopCloser(wrap(strings.NewReader(c.in))), theirs: theirs, ours: "http://tap/"}
			if got, err := io.ReadAll(l); err != nil || string(got) != c.want {
				t.Errorf("%q: got %q, %v, want %q", c.in, got, err, c.want)
			}
		}
	}
}

// White space that keeps a client waiting is not held back.
func TestRelocatedPassesOnAtOnce(t *testing.T) {
	pr, pw := io.Pipe()
	defer pr.Close()
	l := &relocated{src: pr, theirs: []string{"http://store/"}, ours: "http://tap/"}
	go func() { _, _ = io.WriteString(pw, " ") }() // ends with the read below
	b := make([]byte, 8)
	if n, err := l.Read(b); n != 1 || err != nil {
		t.Errorf("got %d bytes, %v, want 1", n, err)
	}
}
