package engines

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/laketap/laketap/test/process"
)

// trinoJava is the oldest Java that Trino 476 runs on.
const trinoJava = 24

// A TrinoServer is a running Trino. One serves all catalogs of a test, for it
// starts a JVM and takes its time.
type TrinoServer struct {
	URL     string
	Process *process.Process
}

// StartTrino starts Trino with catalogs by name, each the text of its file of
// properties. It does not wait until it is ready: others may start beside it.
func StartTrino(t testing.TB, catalogs map[string]string) *TrinoServer {
	t.Helper()
	home := filepath.Join(Home(t), "trino")
	if _, err := os.Stat(filepath.Join(home, "lib")); err != nil {
		t.Fatalf("%v\nrun: make engines", err)
	}
	dir := t.TempDir()
	s := &TrinoServer{URL: "http://127.0.0.1:" + strconv.Itoa(process.FreePort(t))}
	files := map[string]string{"config.properties": s.config()}
	for name, properties := range catalogs {
		files[filepath.Join("catalog", name+".properties")] = properties
	}
	if err := os.MkdirAll(filepath.Join(dir, "etc", "catalog"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Process = process.Start(t, process.Command{Path: process.Java(t, trinoJava), Args: []string{
		"-server", "-Xms512M", "-Xmx1500M", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError",
		"-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading", "--enable-native-access=ALL-UNNAMED",
		"-XX:TieredStopAtLevel=1", // the cheap compiler halves the start
		"-Dfile.encoding=UTF-8", "-Dnode.environment=test", "-Dnode.id=test", "-Dnode.data-dir=" + filepath.Join(dir, "data"),
		"-Dconfig=" + filepath.Join(dir, "etc", "config.properties"), "-Dplugin.dir=" + filepath.Join(home, "plugin"),
		"-Dcatalog.config-dir=" + filepath.Join(dir, "etc", "catalog"),
		"-cp", filepath.Join(home, "lib", "*"), "io.trino.server.TrinoServer",
	}})
	return s
}

// config is the server's own file of properties: one small node.
func (s *TrinoServer) config() string {
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	return strings.Join([]string{
		"coordinator=true", "node-scheduler.include-coordinator=true",
		"http-server.http.port=" + port, "discovery.uri=" + s.URL,
		"node.bind-ip=127.0.0.1", "node.internal-address=127.0.0.1",
		"http-server.log.enabled=false", // it would lie in the test's folder
		"query.max-memory=512MB", "query.max-memory-per-node=512MB", "memory.heap-headroom-per-node=300MB",
	}, "\n")
}

// Ready waits until the server takes queries.
func (s *TrinoServer) Ready(t testing.TB) {
	t.Helper()
	s.Process.Eventually(t, startTime, func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/info", http.NoBody)
		if err != nil {
			return fmt.Errorf("make request: %w", err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("ask Trino: %w", err)
		}
		defer resp.Body.Close()
		var info struct{ Starting bool }
		if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
			return fmt.Errorf("read Trino's answer: %w", err)
		}
		if info.Starting {
			return errors.New("it says that it is starting")
		}
		return nil
	})
}

// Env tells the script of Trino where the server is and which catalog is meant.
func (s *TrinoServer) Env(catalog string) []string {
	return []string{"TRINO=" + s.URL, "TRINO_CATALOG=" + catalog}
}
