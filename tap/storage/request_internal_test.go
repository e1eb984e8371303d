package storage

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

func TestParseHead(t *testing.T) {
	fields, host, err := parseHead("Host: a:1\r\nX-A:\t b c \r\nx-a: 2\r\nEmpty:\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []laketap.Field{{Name: "X-A", Value: "b c"}, {Name: "x-a", Value: "2"}, {Name: "Empty", Value: ""}}
	if diff := cmp.Diff(want, fields); diff != "" || host != "a:1" {
		t.Errorf("host %q (-want +got):\n%s", host, diff)
	}
	for _, bad := range []string{
		"A: b", "A: b\n\r\n", "A: b\r\n c\r\n\r\n", " A: b\r\n\r\n", "A : b\r\n\r\n", ": b\r\n\r\n", "A\r\n\r\n", "A: b\r\n\r\nB: c\r\n",
		"A: b\rc\r\n\r\n", "A: \x00\r\n\r\n", "A: \x01\r\n\r\n", "A: \x7f\r\n\r\n", "A(: b\r\n\r\n", "A\xc3\xa9: b\r\n\r\n", "A\x0b: b\r\n\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: gzip\r\n\r\n",
	} {
		if _, _, err := parseHead(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add("Host: a\r\nContent-Length: 1\r\n\r\n")
	f.Add("A: b\r\n c\r\n\r\n")
	f.Add("A: b\n\r\n")
	f.Add("Transfer-Encoding: chunked\r\nX: \xff\r\n\r\n")
	f.Fuzz(func(t *testing.T, raw string) {
		fields, host, err := parseHead(raw)
		if err != nil {
			return
		}
		for _, v := range append(fields, laketap.Field{Name: "Host", Value: host}) {
			if v.Name == "" || strings.ContainsFunc(v.Name+v.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) || strings.ContainsAny(v.Name, " \t:()") {
				t.Errorf("%q gave %q", raw, v)
			}
		}
		if len(fields) > strings.Count(raw, "\n") {
			t.Errorf("%q gave %d fields", raw, len(fields))
		}
	})
}

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		target, host, bucket, key string
		params                    []param
		err                       error
	}{
		{"/", "h", "", "", nil, nil},
		{"/b", "h", "b", "", nil, nil},
		{"/b/", "h", "b", "", nil, nil},
		{"/b/k", "h", "b", "k", nil, nil},
		{"/b//k/", "h", "b", "/k/", nil, nil},
		{"/b/a%2Fb+c%20d", "h", "b", "a/b+c d", nil, nil},
		{"/b/a%252Fb", "h", "b", "a%2Fb", nil, nil},
		{"/b/../k", "h", "b", "../k", nil, nil},
		{"/b?list-type=2&prefix=a+b%2Bc&uploads&&=x", "h", "b", "", []param{{"list-type", "2"}, {"prefix", "a b+c"}, {"uploads", ""}}, nil},
		{"/k/x", "bucket.s3.test:9191", "bucket", "k/x", nil, nil},
		{"/", "my.bucket.S3.TEST", "my.bucket", "", nil, nil},
		{"/b/k", "s3.test", "b", "k", nil, nil},
		{"/b/k", "evils3.test", "b", "k", nil, nil},
		{"b/k", "h", "", "", nil, errInvalidURI},
		{"/b/%", "h", "", "", nil, errInvalidURI},
		{"/b/k?a=%x", "h", "", "", nil, errInvalidURI},
		{"/b/k#f", "h", "", "", nil, errInvalidURI},
		{"/%2e%2e/k", "h", "", "", nil, errBucketName},
		{"//k", "h", "", "", nil, errBucketName},
	} {
		r := &request{sig: sigv4.Request{Host: c.host}}
		err := r.locate(c.target, "s3.test")
		if c.err != nil {
			if err != c.err { //nolint:errorlint // locate returns these very values
				t.Errorf("%s: got %v, want %v", c.target, err, c.err)
			}
			continue
		}
		if err != nil || r.bucket != c.bucket || r.key != c.key {
			t.Errorf("%s at %s: bucket %q, key %q, %v; want %q, %q", c.target, c.host, r.bucket, r.key, err, c.bucket, c.key)
		}
		if diff := cmp.Diff(c.params, r.params, cmp.AllowUnexported(param{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: parameters (-want +got):\n%s", c.target, diff)
		}
	}
}

// What is sent on must mean the same object as what was checked.
func FuzzLocate(f *testing.F) {
	for _, s := range []string{"/b/k", "/b//k?x=y", "/b/%2e%2e/x", "/b/a%252Fb", "/b/é+ ", "/b?prefix=a;b", "//", "/b/%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		r := &request{auth: &sigv4.Auth{}}
		if r.locate(target, "") != nil {
			return
		}
		req := newOutgoing(t.Context(), r, http.Header{})
		again := &request{}
		if err := again.locate(req.URL.RequestURI(), ""); err != nil {
			t.Fatalf("%q is sent as %q: %v", target, req.URL.RequestURI(), err)
		}
		if again.bucket != r.bucket || again.key != r.key || !slices.Equal(again.params, r.params) {
			t.Errorf("%q is sent as %q: %q/%q became %q/%q", target, req.URL.RequestURI(), r.bucket, r.key, again.bucket, again.key)
		}
	})
}

func TestClassify(t *testing.T) {
	ops := newOperations()
	for _, c := range []struct {
		method, target, source string
		op                     string
		known                  bool
	}{
		{"GET", "/b/k", "", "GetObject", true},
		{"GET", "/b/k?x-id=GetObject&X-Amz-Signature=x", "", "GetObject", true},
		{"GET", "/b/k?uploadId=u", "", "ListParts", true},
		{"GET", "/b/k?acl", "", "GetObjectAcl", true},
		{"GET", "/b/k?strange", "", "GetObject", false},
		{"GET", "/b/k?versionId=1&versionId=2", "", "GetObject", false},
		{"HEAD", "/b/k", "", "HeadObject", true},
		{"PUT", "/b/k", "", "PutObject", true},
		{"PUT", "/b/k?versionId=1", "", "PutObject", false},
		{"PUT", "/b/k", "s/k", "CopyObject", true},
		{"PUT", "/b/k?partNumber=1&uploadId=u", "", "UploadPart", true},
		{"PUT", "/b/k?partNumber=1&uploadId=u", "s/k", "UploadPartCopy", true},
		{"PUT", "/b/k?uploadId=u", "", "PutObject", false},
		{"POST", "/b/k?uploads", "", "CreateMultipartUpload", true},
		{"POST", "/b/k?uploadId=u", "", "CompleteMultipartUpload", true},
		{"POST", "/b/k", "", "Unknown", false},
		{"DELETE", "/b/k?uploadId=u", "", "AbortMultipartUpload", true},
		{"DELETE", "/b/k?versionId=u", "", "DeleteObject", true},
		{"POST", "/b?delete", "", "DeleteObjects", true},
		{"POST", "/b", "", "PostObject", true},
		{"GET", "/b", "", "ListObjects", true},
		{"GET", "/b?list-type=2&prefix=p", "", "ListObjectsV2", true},
		{"GET", "/b?versions", "", "ListObjectVersions", true},
		{"GET", "/b?uploads", "", "ListMultipartUploads", true},
		{"GET", "/b?location", "", "GetBucketLocation", true},
		{"GET", "/b?policy", "", "GetBucketPolicy", true},
		{"GET", "/b?list-type=2&policy", "", "ListObjectsV2", false},
		{"HEAD", "/b", "", "HeadBucket", true},
		{"PUT", "/b", "", "CreateBucket", true},
		{"DELETE", "/b", "", "DeleteBucket", true},
		{"GET", "/", "", "ListBuckets", true},
		{"PATCH", "/b/k", "", "Unknown", false},
		{"GET", "/b/k", "s/k", "Unknown", false},
	} {
		r := &request{sig: sigv4.Request{Method: c.method}}
		if err := r.locate(c.target, ""); err != nil {
			t.Fatal(err)
		}
		if c.source != "" {
			r.sig.Header = []laketap.Field{{Name: "x-amz-copy-source", Value: c.source}}
		}
		op, known := ops.classify(r)
		if op.name != c.op || known != c.known {
			t.Errorf("%s %s: %s, %v; want %s, %v", c.method, c.target, op.name, known, c.op, c.known)
		}
		if !slices.Contains(ops.names(), op.name) {
			t.Errorf("%s has no label", op.name)
		}
	}
}

func TestParseCopySource(t *testing.T) {
	for _, c := range []struct {
		header, bucket, key string
		ok                  bool
	}{
		{"b/k", "b", "k", true},
		{"/b/k", "b", "k", true},
		{"/b/a%20b%2Fc?versionId=x/y", "b", "a b/c", true},
		{"b%2Fk", "b", "k", true},
		{"%2Fb%2Fk", "b", "k", true},
		{"/b/a%3Fb", "b", "a?b", true},
		{"/b//k", "b", "/k", true},
		{"b", "", "", false},
		{"/b/", "", "", false},
		{"", "", "", false},
		{"/b/k?other=1", "", "", false},
		{"/b/%zz", "", "", false},
		{"arn:aws:s3:us-west-2:1:accesspoint/a/object/k", "", "", false},
	} {
		bucket, key, ok := parseCopySource(c.header)
		if ok != c.ok || ok && (bucket != c.bucket || key != c.key) {
			t.Errorf("parseCopySource(%q) = %q, %q, %v, want %q, %q, %v", c.header, bucket, key, ok, c.bucket, c.key, c.ok)
		}
	}
}

func TestParseDelete(t *testing.T) {
	const open = `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`
	for _, c := range []struct {
		name, doc string
		want      []string
	}{
		{"plain", "<Delete><Object><Key>a</Key></Object></Delete>", []string{"a"}},
		{"all fields", open + "\n <Quiet>true</Quiet>\n<Object>\n<Key>a&amp;b &#13;</Key><VersionId>1</VersionId><ETag>e</ETag><Size>1</Size><LastModifiedTime>x</LastModifiedTime></Object><Object><Key>c</Key></Object></Delete>\n", []string{"a&b \r", "c"}},
		{"quiet last", open + "<Object><Key>a</Key></Object><Quiet>false</Quiet></Delete>", []string{"a"}},
	} {
		got, err := parseDelete([]byte(c.doc))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	object := "<Object><Key>a</Key></Object>"
	for name, doc := range map[string]string{
		"empty":                    "",
		"another root":             "<Remove>" + object + "</Remove>",
		"another namespace":        `<Delete xmlns="urn:x">` + object + "</Delete>",
		"prefixed":                 `<Delete><x:Object xmlns:x="urn:y"><Key>a</Key></x:Object></Delete>`,
		"doctype":                  `<!DOCTYPE d [<!ENTITY k "wh/t2/x">]><Delete>` + object + "</Delete>",
		"entity":                   "<Delete><Object><Key>&k;</Key></Object></Delete>",
		"processing instruction":   "<Delete><?x y?>" + object + "</Delete>",
		"comment in a key":         "<Delete><Object><Key>a<!-- -->b</Key></Object></Delete>",
		"element in a key":         "<Delete><Object><Key>a<b/></Key></Object></Delete>",
		"two keys":                 "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
		"no key":                   "<Delete><Object><VersionId>a</VersionId></Object></Delete>",
		"unknown field":            "<Delete><Object><Key>a</Key><Path>b</Path></Object></Delete>",
		"unknown element":          "<Delete>" + object + "<Object2/></Delete>",
		"two quiets":               "<Delete><Quiet>true</Quiet><Quiet>false</Quiet>" + object + "</Delete>",
		"attribute":                `<Delete><Object id="1"><Key>a</Key></Object></Delete>`,
		"text between":             "<Delete>x" + object + "</Delete>",
		"second root":              "<Delete>" + object + "</Delete><Delete>" + object + "</Delete>",
		"text behind":              "<Delete>" + object + "</Delete>x",
		"cut":                      "<Delete>" + object,
		"another encoding":         `<?xml version="1.0" encoding="UTF-16"?><Delete>` + object + "</Delete>",
		"byte order mark and text": "\ufeffx<Delete>" + object + "</Delete>",
	} {
		if keys, err := parseDelete([]byte(doc)); err == nil {
			t.Errorf("%s: taken with keys %q", name, keys)
		}
	}
	for _, n := range []int{0, 1, 1000} {
		if keys, err := parseDelete([]byte("<Delete>" + strings.Repeat(object, n) + "</Delete>")); err != nil || len(keys) != n {
			t.Errorf("%d objects: %d, %v", n, len(keys), err)
		}
	}
}

func FuzzParseDelete(f *testing.F) {
	f.Add([]byte("<Delete><Quiet>true</Quiet><Object><Key>a&amp;</Key><VersionId>1</VersionId></Object></Delete>"))
	f.Add([]byte(`<?xml version="1.0"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key><![CDATA[x]]></Key></Object></Delete>`))
	f.Add([]byte("<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		keys, err := parseDelete(doc)
		if err == nil && len(keys) > len(doc)/len("<Object><Key/></Object>") {
			t.Errorf("%q: %d keys", doc, len(keys))
		}
	})
}

func FuzzParseCopySource(f *testing.F) {
	f.Add("/b/k?versionId=1")
	f.Add("b%2F..%2Fk")
	f.Fuzz(func(t *testing.T, header string) {
		bucket, key, ok := parseCopySource(header)
		if ok && (bucket == "" || key == "" || strings.Contains(bucket, "/")) {
			t.Errorf("%q: %q, %q", header, bucket, key)
		}
	})
}
