package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/laketap/laketap/test/catalog"
	"github.com/laketap/laketap/test/certs"
	"github.com/laketap/laketap/test/engines"
	"github.com/laketap/laketap/test/lake"
	"github.com/laketap/laketap/test/laketap"
	"github.com/laketap/laketap/test/process"
	"github.com/laketap/laketap/test/s3"
)

// proxies are the balancers that etc/ has a configuration for.
func proxies() []string { return []string{"nginx", "haproxy"} }

// A proxied is a balancer in front of both ports.
type proxied struct{ catalog, storage string }

// startProxy starts a balancer with the configuration of etc/, in which
// nothing but addresses is another. Its ports are chosen before, since
// storage.advertise must be known when Laketap starts.
func startProxy(t *testing.T, name string, ports [2]int, catalogAt, storageAt string, more ...string) proxied {
	t.Helper()
	dir := t.TempDir()
	file := map[string]string{"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[name]
	text, err := os.ReadFile(filepath.Join(process.Root(t), "etc", file))
	if err != nil {
		t.Fatal(err)
	}
	temp := func(kind string) string { return fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind)) }
	own := "http {\naccess_log off;\n" + temp("client_body") + temp("proxy") + temp("fastcgi") + temp("uwsgi") + temp("scgi")
	swaps := map[string][]string{
		"nginx": {
			"http {\n", own,
			"listen 8181;", fmt.Sprintf("listen 127.0.0.1:%d;", ports[0]), "listen 9191;", fmt.Sprintf("listen 127.0.0.1:%d;", ports[1]),
		},
		"haproxy": {"bind :8181\n", fmt.Sprintf("bind 127.0.0.1:%d\n", ports[0]), "bind :9191\n", fmt.Sprintf("bind 127.0.0.1:%d\n", ports[1])},
	}[name]
	swaps = append(swaps, "10.0.0.11:8181", catalogAt, "10.0.0.11:9191", storageAt)
	swaps = append(swaps, more...)
	for i := 0; i < len(swaps); i += 2 {
		if strings.Count(string(text), swaps[i]) != 1 {
			t.Fatalf("etc/%s has %q %d times, want once", file, swaps[i], strings.Count(string(text), swaps[i]))
		}
	}
	path := filepath.Join(dir, file)
	write(t, path, strings.NewReplacer(swaps...).Replace(string(text)))
	// Workers of nginx that root starts are another user's.
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // for them
		t.Fatal(err)
	}
	args := map[string][]string{
		"nginx":   {"-c", path, "-e", "stderr", "-g", "daemon off; pid " + filepath.Join(dir, "pid") + ";"},
		"haproxy": {"-db", "-f", path},
	}[name]
	p := process.Start(t, process.Command{Path: system(t, name), Args: args})
	for _, port := range ports {
		p.Eventually(t, 20*time.Second, func() error {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				err = conn.Close()
			}
			return err
		})
	}
	at := func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }
	return proxied{at(ports[0]), at(ports[1])}
}

// system finds a program that Debian has a package of.
func system(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed\nrun: apt-get install %s (.ci/run does)", name, name)
	return ""
}

func freePorts(t *testing.T) [2]int {
	t.Helper()
	return [2]int{process.FreePort(t), process.FreePort(t)}
}

// Through each balancer, with the configuration that we ship: engines read and
// write, signatures hold for keys of every spelling, and a session token of
// 12 KiB passes.
func TestProxiesInFront(t *testing.T) {
	for _, name := range proxies() {
		t.Run(name, func(t *testing.T) {
			l := lake.Start(t)
			catalog.Client{URI: l.Catalog}.Create(t, "p", "t", "")
			upstream := passing(t, l)
			config := laketap.InFrontOf(t, l)
			config.Catalogs[0].URL = upstream.URL
			ports := freePorts(t)
			config.Storage.Advertise = fmt.Sprintf("http://127.0.0.1:%d", ports[1])
			server := laketap.Start(t, config)
			front := startProxy(t, name, ports, fmt.Sprint(config.Catalog["listen"]), config.Storage.Listen)
			table := catalog.Client{URI: front.catalog}.Load(t, "p", "t")
			if got := table.Config["s3.endpoint"]; got != front.storage+"/" {
				t.Fatalf("engines are led to %s, want %s/", got, front.storage)
			}
			if n := len(table.Keys().Token); n < 10<<10 {
				t.Fatalf("the session token has %d bytes, want 10 KiB and more: the test proves nothing", n)
			}
			bucket, path, _ := strings.Cut(strings.TrimPrefix(table.Path(), "/"), "/")
			boto3(t, front.storage, bucket, path+"/data/boto3", "path", table.Keys())
			for _, engine := range []string{engines.PyIceberg, engines.DuckDB} {
				tell(t, engine, front.catalog)
			}
			if n := len(server.Accesses(t)); n < 100 {
				t.Errorf("%d accesses at Laketap, want all that was done", n)
			}
		})
	}
}

// tell has an engine make, fill and read a table.
func tell(t *testing.T, engine, uri string) {
	t.Helper()
	tellBy(t, engine, engines.Command(t, engine, uri), func() {})
}

// tellBy is tell with a command for the engine, and something to do in between.
func tellBy(t *testing.T, engine string, c process.Command, between func()) {
	t.Helper()
	steps := map[string][]string{
		engines.PyIceberg: {
			"catalog.create_table('p.events', Schema(NestedField(1, 'id', LongType()), NestedField(2, 'at', StringType())), " +
				"partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), 'at')))",
			"table('p.events').append(rows('p.events', (1, '12:30 a/b'), (2, 'é+%')))",
		},
		engines.DuckDB: {"insert into lk.p.events values (3, 'x = y')"},
	}[engine]
	e := engines.StartBy(t, engine, c)
	for _, step := range steps {
		if got := e.Do(engines.Step{Run: step}); got.Error != "" {
			t.Fatalf("%s: %s: %s", engine, step, got.Error)
		}
	}
	between()
	got := e.Do(engines.Step{Read: &engines.Read{Table: "p.events", Columns: "id", Order: "id"}})
	want := map[string]int{engines.PyIceberg: 2, engines.DuckDB: 3}[engine]
	if got.Error != "" || len(got.Rows) != want {
		t.Errorf("%s reads %s, %s; want %d rows", engine, got.Rows, got.Error, want)
	}
	e.Close()
}

// boto3 runs boto3 over keys of every spelling.
func boto3(t *testing.T, endpoint, bucket, prefix, style string, keys s3.Keys, env ...string) {
	t.Helper()
	p := process.Start(t, process.Command{
		Path: filepath.Join(engines.Home(t), "venv", "bin", "python"),
		Args: []string{filepath.Join(process.Root(t), "test", "engines", "boto3_keys.py"), endpoint, bucket, prefix, style},
		Env: append([]string{
			"AWS_ACCESS_KEY_ID=" + keys.ID, "AWS_SECRET_ACCESS_KEY=" + keys.Secret, "AWS_SESSION_TOKEN=" + keys.Token, "WORK=" + t.TempDir(),
			"AWS_EC2_METADATA_DISABLED=true",
		}, env...),
	})
	if code := p.WaitFor(t, 3*time.Minute); code != 0 || !strings.Contains(p.Tail(), "ok ") {
		t.Errorf("boto3 ends with %d:\n%s", code, p.Tail())
	}
}

// A change is sent on once whatever becomes of it, and no balancer answers it
// with 503, which clients take as leave to repeat it.
func TestProxiesSendChangesOnce(t *testing.T) {
	var arrived atomic.Int64
	breaker := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived.Add(1)
		panic(http.ErrAbortHandler) // the outcome is unknown
	})
	for _, name := range proxies() {
		t.Run(name, func(t *testing.T) {
			at := strings.TrimPrefix(breaker.URL, "http://")
			front := startProxy(t, name, freePorts(t), at, at)
			for _, url := range []string{front.catalog, front.storage} {
				for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
					before := arrived.Load()
					status := send(t, method, url+"/v1/namespaces/n/tables/t")
					if n := arrived.Load() - before; n != 1 {
						t.Errorf("%s arrived %d times, want once", method, n)
					}
					if status != http.StatusBadGateway {
						t.Errorf("%s broken off: %d, want 502", method, status)
					}
				}
			}
			// Nobody behind it at all.
			alone := startProxy(t, name, freePorts(t), fmt.Sprint("127.0.0.1:", process.FreePort(t)), fmt.Sprint("127.0.0.1:", process.FreePort(t)))
			for _, method := range []string{"POST", "DELETE"} {
				if status := send(t, method, alone.catalog+"/v1/namespaces/n/tables/t"); status != http.StatusBadGateway {
					t.Errorf("%s that cannot be sent: %d, want 502", method, status)
				}
			}
			if status := send(t, "GET", alone.catalog+"/v1/config"); status != http.StatusBadGateway && status != http.StatusServiceUnavailable {
				t.Errorf("GET that cannot be sent: %d, want 502 or 503", status)
			}
		})
	}
}

// Laketap's own 503 stays one, whatever the method.
func TestProxiesKeepAnswers(t *testing.T) {
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for _, name := range proxies() {
		at := strings.TrimPrefix(busy.URL, "http://")
		front := startProxy(t, name, freePorts(t), at, at)
		for _, url := range []string{front.catalog, front.storage} {
			if status := send(t, "POST", url+"/v1/oauth/tokens"); status != http.StatusServiceUnavailable {
				t.Errorf("%s turns 503 into %d", name, status)
			}
		}
	}
}

func send(t *testing.T, method, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Bodies pass while they are made, in both directions, and heads as they are
// spelled.
func TestProxiesStream(t *testing.T) {
	for _, name := range proxies() {
		t.Run(name, func(t *testing.T) {
			const target = "/b/a//b%2Fc/%7e/x%20y?prefix=a%2Fb&list-type=2"
			half, read := make(chan string, 1), make(chan struct{})
			backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				part := make([]byte, 4)
				_, _ = io.ReadFull(r.Body, part)
				half <- r.RequestURI + " " + r.Host + " " + string(part) + " " + r.Header.Get("X-Amz-Meta-a_b") + " " + strconv.Itoa(len(r.Header.Get("X-Amz-Security-Token")))
				rest, _ := io.ReadAll(r.Body)
				_, _ = w.Write(rest)
				_ = http.NewResponseController(w).Flush()
				<-read // the client has what it has before the end
			}))
			backend.Start()
			defer backend.Close()
			defer close(read)
			at := strings.TrimPrefix(backend.URL, "http://")
			front := startProxy(t, name, freePorts(t), at, at)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(front.storage, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			token := strings.Repeat("t", 16<<10)
			fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: Lake.Example:9191\r\nContent-Length: 8\r\nX-Amz-Meta-a_b: meta\r\nX-Amz-Security-Token: %s\r\n\r\nhalf", target, token)
			want := target + " Lake.Example:9191 half meta 16384"
			select {
			case got := <-half:
				if got != want {
					t.Errorf("arrived as %q\nwant       %q", got, want)
				}
			case <-time.After(15 * time.Second):
				t.Fatal("half a body did not pass before the other half came")
			}
			fmt.Fprint(conn, "more")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			part := make([]byte, 4)
			if _, err := io.ReadFull(resp.Body, part); err != nil || string(part) != "more" {
				t.Errorf("half an answer: %q, %v", part, err)
			}
			_ = conn.Close() // or closing the body would wait for the rest of it
		})
	}
}

// The lines for TLS are comments in our files; uncommented they work, and the
// storage port offers no HTTP/2.
func TestProxiesWithTLS(t *testing.T) {
	backend := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	at := strings.TrimPrefix(backend.URL, "http://")
	for _, name := range proxies() {
		t.Run(name, func(t *testing.T) {
			a := certs.New(t)
			cert, key := a.Issue(t)
			both := filepath.Join(t.TempDir(), "laketap.pem")
			write(t, both, read(t, cert)+read(t, key))
			ports := freePorts(t)
			more := map[string][]string{
				"nginx": {
					"# listen 8443 ssl http2;\n    # ssl_certificate /etc/nginx/laketap.crt;\n    # ssl_certificate_key /etc/nginx/laketap.key;",
					fmt.Sprintf("listen 127.0.0.1:%d ssl http2; ssl_certificate %s; ssl_certificate_key %s;", ports[0], cert, key),
					"# listen 9443 ssl;\n    # ssl_certificate /etc/nginx/laketap.crt;\n    # ssl_certificate_key /etc/nginx/laketap.key;",
					fmt.Sprintf("listen 127.0.0.1:%d ssl; ssl_certificate %s; ssl_certificate_key %s;", ports[1], cert, key),
				},
				"haproxy": {
					"# bind :8443 ssl crt /etc/haproxy/laketap.pem ", fmt.Sprintf("bind 127.0.0.1:%d ssl crt %s ", ports[0], both),
					"# bind :9443 ssl crt /etc/haproxy/laketap.pem ", fmt.Sprintf("bind 127.0.0.1:%d ssl crt %s ", ports[1], both),
				},
			}[name]
			startProxy(t, name, freePorts(t), at, at, more...)
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: a.Trust(t), ForceAttemptHTTP2: true}}
			defer client.CloseIdleConnections()
			for i, major := range []int{2, 1} {
				host := fmt.Sprint("127.0.0.1:", ports[i])
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.ProtoMajor != major || string(body) != host {
					t.Errorf("port %d: HTTP/%d, host %q behind it; want HTTP/%d and %q", i, resp.ProtoMajor, body, major, host)
				}
			}
		})
	}
}

// read returns a file's text.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// passing is the lake's catalog, which lets changes through, with keys for its
// tables by prefix, each with a long token, as clouds have them. All of them
// travel inside ours.
func passing(t *testing.T, l *lake.Lake) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		got, err := catalog.Client{URI: l.Catalog}.Do(r.Context(), r.Method, r.URL.RequestURI(), string(body), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(got.Status)
		_, _ = w.Write(withCredentials(l, got.Body))
	})
}

// withCredentials returns a catalog's answer with credentials for four
// prefixes, if it is a table.
func withCredentials(l *lake.Lake, body []byte) []byte {
	var loaded map[string]json.RawMessage
	var metadata struct{ Location string }
	if json.Unmarshal(body, &loaded) != nil || json.Unmarshal(loaded["metadata"], &metadata) != nil {
		return body
	}
	keys := func(token string) map[string]string {
		return map[string]string{
			"s3.endpoint": l.S3.Endpoint, "s3.access-key-id": l.Keys.ID, "s3.secret-access-key": l.Keys.Secret,
			"s3.session-token": token, "s3.path-style-access": "true", "client.region": l.S3.Region,
		}
	}
	// The lake takes keys without a token only: those with one are for places
	// that nobody goes to.
	own := keys("")
	delete(own, "s3.session-token")
	credentials := []map[string]any{{"prefix": metadata.Location, "config": own}}
	for i := range 3 {
		credentials = append(credentials, map[string]any{
			"prefix": fmt.Sprint(metadata.Location, "/unused-", i), "config": keys(strings.Repeat(fmt.Sprint("3KiB", i), 614)),
		})
	}
	loaded["config"] = json.RawMessage("{}")
	loaded["storage-credentials"], _ = json.Marshal(credentials)
	changed, _ := json.Marshal(loaded)
	return changed
}
