package tap_test

import (
	"testing"

	"github.com/laketap/laketap/tap"
)

func TestOriginOf(t *testing.T) {
	aws := tap.Origin{Name: "aws"}
	local := tap.Origin{Name: "local", Endpoint: "http://127.0.0.1:7070"}
	named := tap.Origin{Name: "named", Endpoint: "https://minio.example.com", Buckets: []string{"lake"}}
	tests := []struct {
		name             string
		origins          []tap.Origin
		bucket, endpoint string
		want             string
	}{
		{"one origin takes every bucket", []tap.Origin{aws}, "b", "", "aws"},
		{"a listed bucket wins", []tap.Origin{aws, named}, "lake", "", "named"},
		{"an unlisted bucket goes to the origin without a list", []tap.Origin{named, aws}, "b", "", "aws"},
		{"only lists, none matches", []tap.Origin{named}, "b", "", ""},
		{"the vended endpoint is the origin's", []tap.Origin{local}, "b", "http://127.0.0.1:7070/", "local"},
		{"the vended endpoint is another store", []tap.Origin{local}, "b", "http://127.0.0.1:9999", ""},
		{"a listed bucket at another store", []tap.Origin{named}, "lake", "https://other.example.com", ""},
		{"default port", []tap.Origin{named}, "lake", "https://MINIO.example.com:443/", "named"},
		{"no scheme means https", []tap.Origin{named}, "lake", "minio.example.com", "named"},
		{"aws by region", []tap.Origin{aws}, "b", "https://s3.eu-west-1.amazonaws.com", "aws"},
		{"aws is not another store", []tap.Origin{aws}, "b", "https://storage.example.com", ""},
		{"a name that only looks like aws", []tap.Origin{aws}, "b", "https://s3.amazonaws.com.example.com", ""},
		{"another store is not aws", []tap.Origin{local}, "b", "https://s3.amazonaws.com", ""},
		{"nonsense", []tap.Origin{aws, local}, "b", "http://%zz", ""},
		{"no origin", nil, "b", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tap.OriginOf(tt.origins, tt.bucket, tt.endpoint)
			if got.Name != tt.want || ok != (tt.want != "") {
				t.Errorf("OriginOf = %q, %v, want %q", got.Name, ok, tt.want)
			}
		})
	}
}
