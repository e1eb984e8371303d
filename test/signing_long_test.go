//go:build long

package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/upstream"
	"github.com/laketap/laketap/test/workload"
)

// Nessie as it comes signs its clients' requests and vends nothing: however a
// client asks, it gets Nessie's own word for the table, and doctor names the
// reason and what to set in Nessie.
func TestLongNessieSigns(t *testing.T) {
	nessie := upstream.StartNessie(t, lake.Start(t))
	server := laketap.Start(t, nessie.InFrontOf(t))
	direct, through := nessie.Client(nessie.URI), nessie.Client(server.Catalog)
	direct.Create(t, "p", "t", "")
	for asked, signs := range map[string]string{"": "true", "remote-signing": "true", "vended-credentials": "false"} {
		header := http.Header{"X-Iceberg-Access-Delegation": {asked}}
		if asked == "" {
			header["X-Iceberg-Access-Delegation"] = nil
		}
		got, err := through.Do(t.Context(), http.MethodGet, "/v1/"+nessie.Prefix+"namespaces/p/tables/t", "", header)
		body := string(got.Body)
		if err != nil || got.Status != http.StatusOK || !strings.Contains(body, `"s3.remote-signing-enabled" : "`+signs+`"`) {
			t.Errorf("asked for %q: %d %s %v, want remote signing %s", asked, got.Status, body, err, signs)
		}
		if named := strings.Contains(body, `"s3.signer.uri" : "`+nessie.URI); named != (signs == "true") {
			t.Errorf("asked for %q, Nessie's signer is named: %v in %s", asked, named, body)
		}
		if strings.Contains(body, server.Storage) {
			t.Errorf("asked for %q, the client is led to the storage tap: %s", asked, body)
		}
	}
	said, _ := laketap.Doctor(t, server)
	for _, want := range []string{"table p.t was passed on unchanged (remote_signing)", "client-iam.enabled"} {
		if !strings.Contains(said, want) {
			t.Errorf("doctor does not say %q:\n%s", want, said)
		}
	}
}

// With storage.authority: signer, engines that know a URI and nothing else read
// and write through Laketap what Nessie signs for them, and what one has read
// the other has from the cache: for five minutes after it was signed for.
func TestLongNessieSignsForLaketap(t *testing.T) {
	text := slices.DeleteFunc(readCatalogs(t), func(p workload.Paragraph) bool {
		return slices.ContainsFunc(nessieLacks, func(word string) bool { return strings.Contains(p.Text, word) })
	})
	bare := upstream.StartNessie(t, lake.Start(t))
	direct := runStarted(t, text, bare, startAs(t, withoutSpark(ownSettings(bare, bare.URI))))
	bare.Process.Close()

	for _, mode := range []string{"observe", "accelerate"} {
		t.Run(mode, func(t *testing.T) {
			behind := upstream.StartNessie(t, lake.Start(t))
			config := behind.InFrontOf(t)
			config.Storage.Authority, config.Mode = "signer", mode
			server := laketap.Start(t, config)
			compare(t, direct, runOn(t, text, behind, server.Catalog, engines.DuckDB, engines.PyIceberg))
			if mode == "observe" {
				checkBehind(t, behind, server)
				return
			}
			hits := 0
			for _, a := range server.Accesses(t) {
				if a.Served == "memory" || a.Served == "disk" {
					hits++
				}
			}
			t.Logf("%d reads from the cache", hits)
			if hits == 0 {
				t.Error("nothing was read from the cache")
			}
		})
	}
}
