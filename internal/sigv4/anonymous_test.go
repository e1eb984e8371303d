package sigv4_test

import (
	"testing"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
)

// Whatever claims to be somebody's, however badly, is not anonymous.
func TestAnonymous(t *testing.T) {
	for _, c := range []struct {
		query  string
		header []laketap.Field
		want   bool
	}{
		{"", nil, true},
		{"list-type=2&prefix=X-Amz-Signature", nil, true},
		{"", []laketap.Field{{Name: "X-Amz-Date", Value: "20261201T000000Z"}}, true},
		{"", []laketap.Field{{Name: "Authorization", Value: ""}}, false},
		{"", []laketap.Field{{Name: "authorization", Value: "Basic x"}}, false},
		{"X-Amz-Signature=a", nil, false},
		{"X-Amz-Credential=a", nil, false},
		{"AWSAccessKeyId=a&Signature=b&Expires=1", nil, false},
		{"%zz", nil, false},
	} {
		if got := sigv4.Anonymous(&sigv4.Request{Method: "GET", Path: "/b/k", Query: c.query, Header: c.header}); got != c.want {
			t.Errorf("%q %v: got %v, want %v", c.query, c.header, got, c.want)
		}
	}
}
