package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(here, name) }
	tests := []struct {
		name string
		args string
		want options
	}{
		{"folder alone", "lake", options{dir: in("lake"), vend: vendKeys}},
		{"absolute", "/lake", options{dir: "/lake", vend: vendKeys}},
		{"flags behind", "lake --catalog-port 1 --s3-port=2 --vend readonly --log x --stdin-guard", options{dir: in("lake"), catalogPort: 1, s3Port: 2, vend: vendReadonly, log: in("x"), stdinGuard: true}},
		{"flags before", "--vend=none -log /x lake", options{dir: in("lake"), vend: vendNone, log: "/x"}},
		{"folder between", "--s3-port 2 lake --stdin-guard", options{dir: in("lake"), s3Port: 2, vend: vendKeys, stdinGuard: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(strings.Fields(tt.args), &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"Usage: laketap-lake DIR", "-catalog-port", "-s3-port", "-vend", "-log", "-stdin-guard"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("%s is not in the help", want)
		}
	}
}

func TestVendingConfig(t *testing.T) {
	k := keys{Owner: key{"O", "o"}, Reader: key{"R", "r"}}
	tests := []struct {
		vend       vending
		id, secret string
	}{{vendKeys, "O", "o"}, {vendReadonly, "R", "r"}}
	for _, tt := range tests {
		got := tt.vend.config("http://127.0.0.1:1", k)
		want := map[string]string{
			"s3.endpoint": "http://127.0.0.1:1/", "s3.path-style-access": "true", "s3.region": "us-east-1", "client.region": "us-east-1",
			"s3.access-key-id": tt.id, "s3.secret-access-key": tt.secret,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.vend, diff)
		}
	}
	if got := vendNone.config("http://127.0.0.1:1", k); got != nil {
		t.Errorf("none: %v", got)
	}
}
