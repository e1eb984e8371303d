package storage_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
	"github.com/laketap/laketap/tap/storage"
)

// A holder is somebody with a key: for which table, and what is wrong with it.
type holder struct {
	name  string
	table string // "t", "o", "inner"
	keys  sigv4.Credentials
	code  string // of the refusal whatever is asked; "" is that the table decides
}

// holders are all ways to come with a key.
func holders(t *testing.T, f *fixture) []holder {
	t.Helper()
	of := func(table string) sigv4.Credentials {
		return f.session(func(s *tap.Session) {
			s.Table.UUID, s.TableName, s.Scope[0].Path = "uuid-"+table, "db."+table, places[table]
		})
	}
	own, other := of("t"), of("t")
	mixed := func(change func(*sigv4.Credentials)) sigv4.Credentials { c := own; change(&c); return c }
	strange, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := strange.Vend(tap.Session{Table: tableT, Origin: "main", Write: true, Scope: []tap.Location{{Origin: "main", Bucket: "lake", Path: "wh"}}}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return []holder{
		{"own", "t", own, ""},
		{"another principal's", "t", f.session(func(s *tap.Session) { s.Principal = "bob" }), ""},
		{"another table's", "o", of("o"), ""},
		{"the nested table's", "inner", of("inner"), ""},
		{"expired", "t", f.session(func(s *tap.Session) { s.Expires = time.Now().Add(-time.Second) }), "ExpiredToken"},
		{"tampered", "t", mixed(func(c *sigv4.Credentials) { c.SessionToken = flip(c.SessionToken) }), "InvalidToken"},
		{"truncated", "t", mixed(func(c *sigv4.Credentials) { c.SessionToken = c.SessionToken[:len(c.SessionToken)-4] }), "InvalidToken"},
		{"with another key's token", "t", mixed(func(c *sigv4.Credentials) { c.SessionToken = other.SessionToken }), "InvalidToken"},
		{"without a token", "t", mixed(func(c *sigv4.Credentials) { c.SessionToken = "" }), "InvalidAccessKeyId"},
		{"with another secret", "t", mixed(func(c *sigv4.Credentials) { c.SecretAccessKey = other.SecretAccessKey }), "SignatureDoesNotMatch"},
		{"of another cluster", "t", foreign, "InvalidAccessKeyId"},
	}
}

// places are where tables lie, and two where none does. The nested one is
// inside another; "tt" only begins like one.
var places = map[string]string{"t": "wh/t", "o": "wh/o", "inner": "wh/t/inner", "tt": "wh/t2", "none": "else"}

// Every holder asks for everything everywhere. What is expected comes of one
// sentence: a good key opens what lies at its table and in no table within.
func TestRightsMatrix(t *testing.T) {
	f := start(t, func(o *storage.Options) { o.Domain = "s3.test" })
	for _, name := range []string{"t", "o", "inner"} {
		f.tables.Put(tap.Table{
			ID: laketap.TableID{Catalog: "prod", UUID: "uuid-" + name}, Name: "db." + name,
			Location: tap.Location{Origin: "main", Bucket: "lake", Path: places[name]},
		})
	}
	asked, let := 0, 0
	for _, h := range holders(t, f) {
		for where, path := range places {
			for what, c := range operations(path, places[h.table]) {
				f.origin.put("lake/"+path+"/x", "data")
				f.origin.put("lake/"+places[h.table]+"/x", "data")
				f.origin.seen()
				c.keys = h.keys
				got := f.do(c)
				want := h.code
				if want == "" && where != h.table {
					want = "AccessDenied"
				}
				asked++
				if want == "" {
					let++
				}
				if problem := verdict(f, c, got, want); problem != nil {
					t.Errorf("key %s: %s at %s: %v", h.name, what, where, problem)
				}
			}
		}
	}
	if asked != 11*5*9 || let != 4*9 {
		t.Errorf("asked %d times and %d were to be let in: the matrix has holes", asked, let)
	}
}

// operations are requests for what lies at a path, by somebody whose own
// table is at home.
func operations(path, home string) map[string]call {
	return map[string]call{
		"GetObject":       {method: "GET", target: "/lake/" + path + "/x"},
		"GetObject, host": {method: "GET", target: "/" + path + "/x", host: "lake.s3.test"},
		"HeadObject":      {method: "HEAD", target: "/lake/" + path + "/x"},
		"PutObject":       {method: "PUT", target: "/lake/" + path + "/new", body: "b"},
		"DeleteObject":    {method: "DELETE", target: "/lake/" + path + "/x"},
		"ListObjectsV2":   {method: "GET", target: "/lake?list-type=2&prefix=" + path + "/"},
		"DeleteObjects":   {method: "POST", target: "/lake?delete", body: deleteDoc(home+"/x", path+"/x")},
		"CopyObject to":   {method: "PUT", target: "/lake/" + path + "/copy", header: copyFrom("/lake/" + home + "/x")},
		"CopyObject from": {method: "PUT", target: "/lake/" + home + "/copy", header: copyFrom("/lake/" + path + "/x")},
	}
}

// verdict compares an answer with the code that is wanted; "" is success.
func verdict(f *fixture, c call, got result, want string) error {
	reached := len(f.origin.seen()) > 0
	switch {
	case want == "" && (got.status/100 != 2 || !reached):
		return errors.New("refused with " + got.code() + ", want success")
	case want == "":
		return nil
	case reached:
		return errors.New("reached the store, want " + want)
	case c.method == "HEAD" && got.status/100 == 4: // has no body to tell the code
		return nil
	case got.code() != want:
		return errors.New("got code " + got.code() + ", want " + want)
	}
	return nil
}

// A session from before a change of the cluster key goes on; once its key is
// taken away, it is one of another cluster.
func TestSessionOutlivesKeyRotation(t *testing.T) {
	before, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	next, err := tap.NewKeyring(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	session := (&fixture{t: t, keys: before}).session(nil)
	for _, tt := range []struct {
		name string
		ring []byte
		want int
	}{
		{"appended", append(before.Text(), next.Text()...), 200},
		{"first", append(next.Text(), before.Text()...), 200},
		{"alone", next.Text(), 403},
	} {
		ring, err := tap.ParseKeyring(tt.ring)
		if err != nil {
			t.Fatal(err)
		}
		f := start(t, func(o *storage.Options) { o.Keys = ring })
		f.origin.put("lake/wh/t/x", "data")
		if got := f.do(call{method: "GET", target: "/lake/wh/t/x", keys: session}); got.status != tt.want {
			t.Errorf("with the new key %s: got %d %s, want %d", tt.name, got.status, got.body, tt.want)
		}
	}
}
