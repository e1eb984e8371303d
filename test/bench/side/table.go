package side

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A Table is one that a catalog tells of, whose data files are the objects of an
// [Origin]: what engines read is known to be immutable by its metadata alone.
type Table struct {
	Files map[string]int // path at the origin, as in /bench/0/4096 → bytes
	Known string         // of the files the one that Load looks at; "": any

	Address string // of its catalog, host and port
	server  *http.Server
	list    string // paths at the origin
	entries string
}

// Start writes the table's metadata to the origin, and starts its catalog.
func (t *Table) Start(ctx context.Context, o *Origin) error {
	t.list, t.entries = "/bench/metadata/list.avro", "/bench/metadata/manifest.avro"
	manifest := t.manifest()
	o.Put(t.entries, manifest)
	o.Put(t.list, container(listSchema, text("s3:/"+t.entries)+long(int64(len(manifest)))+long(0)+long(0)+long(1)+long(1)+long(1)))
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.Address = ln.Addr().String()
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = t.server.Serve(ln) }() // ends with Close
	return nil
}

// Close ends the catalog.
func (t *Table) Close() { _ = t.server.Close() }

// ServeHTTP answers /v1/config and every load.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(r.URL.Path, "/tables/") {
		_, _ = io.WriteString(w, `{"defaults":{},"overrides":{}}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"metadata-location":"s3://bench/metadata/1.metadata.json","metadata":{"format-version":2,`+
		`"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://bench","last-sequence-number":1,"last-updated-ms":1796083200000,`+
		`"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],`+
		`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,`+
		`"sort-orders":[{"order-id":0,"fields":[]}],"current-snapshot-id":1,"snapshots":[{"snapshot-id":1,"sequence-number":1,`+
		`"timestamp-ms":1796083200000,"manifest-list":"s3:/%s","summary":{"operation":"append"}}]},`+
		`"config":{"s3.access-key-id":"UP","s3.secret-access-key":"up","s3.session-token":"token"}}`, t.list)
}

// Load loads the table through a server and returns the keys that it hands out.
// It reads the table's metadata as an engine does, and waits until the server
// knows the files by it: until reading one again asks the origin nothing.
func (t *Table) Load(ctx context.Context, s *Server, o *Origin) (aws.Credentials, error) {
	keys, err := vended(ctx, "http://"+s.Catalog+"/v1/namespaces/bench/tables/t")
	if err != nil {
		return aws.Credentials{}, err
	}
	o.mu.Lock()
	sizes := map[string]int{t.list: len(o.put[t.list]), t.entries: len(o.put[t.entries])}
	o.mu.Unlock()
	for _, path := range []string{t.list, t.entries} {
		if err := once(ctx, Request{Address: s.Storage, Path: path, Length: sizes[path], Keys: keys}); err != nil {
			return aws.Credentials{}, err
		}
	}
	for path, size := range t.Files {
		if t.Known != "" && path != t.Known {
			continue
		}
		for range 200 {
			before, _ := o.Served()
			if err := once(ctx, Request{Address: s.Storage, Path: path, Length: size, Keys: keys}); err != nil {
				return aws.Credentials{}, err
			}
			if after, _ := o.Served(); after == before {
				return keys, nil
			}
			time.Sleep(20 * time.Millisecond) // the server learns beside what it serves
		}
		return aws.Credentials{}, errors.New("the server does not come to know the table's files")
	}
	return keys, nil
}

// once asks for something once.
func once(ctx context.Context, r Request) error {
	c, err := Dial(ctx, r)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Get()
}

// vended loads a table and returns the keys in the answer's config.
func vended(ctx context.Context, url string) (aws.Credentials, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return aws.Credentials{}, err
	}
	req.Header.Set("Authorization", "Bearer bench")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return aws.Credentials{}, err
	}
	defer resp.Body.Close()
	var answer struct{ Config map[string]string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return aws.Credentials{}, fmt.Errorf("load table: %w", err)
	}
	c := answer.Config
	if !strings.HasPrefix(c["s3.access-key-id"], "LT") {
		return aws.Credentials{}, fmt.Errorf("load table: %s, the server hands out no keys of its own", resp.Status)
	}
	return aws.Credentials{AccessKeyID: c["s3.access-key-id"], SecretAccessKey: c["s3.secret-access-key"], SessionToken: c["s3.session-token"]}, nil
}

// What the manifest and its list have, and no more.
const (
	listSchema = `{"type":"record","name":"manifest_file","fields":[{"name":"manifest_path","type":"string","field-id":500},` +
		`{"name":"manifest_length","type":"long","field-id":501},{"name":"partition_spec_id","type":"int","field-id":502},` +
		`{"name":"content","type":"int","field-id":517},{"name":"sequence_number","type":"long","field-id":515},` +
		`{"name":"min_sequence_number","type":"long","field-id":516},{"name":"added_snapshot_id","type":"long","field-id":503}]}`
	entrySchema = `{"type":"record","name":"manifest_entry","fields":[{"name":"status","type":"int","field-id":0},` +
		`{"name":"snapshot_id","type":"long","field-id":1},{"name":"sequence_number","type":"long","field-id":3},` +
		`{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[` +
		`{"name":"content","type":"int","field-id":134},{"name":"file_path","type":"string","field-id":100},` +
		`{"name":"file_format","type":"string","field-id":101},` +
		`{"name":"partition","field-id":102,"type":{"type":"record","name":"r102","fields":[]}},` +
		`{"name":"record_count","type":"long","field-id":103},{"name":"file_size_in_bytes","type":"long","field-id":104}]}}]}`
)

// manifest spells the table's manifest.
func (t *Table) manifest() []byte {
	values := make([]string, 0, len(t.Files))
	for path, size := range t.Files {
		values = append(values, long(1)+long(1)+long(1)+long(0)+text("s3:/"+path)+text("PARQUET")+long(1000)+long(int64(size)))
	}
	return container(entrySchema, values...)
}

// container spells an Avro object container file of one block.
func container(schema string, values ...string) []byte {
	const sync = "0123456789abcdef"
	body := strings.Join(values, "")
	return []byte("Obj\x01" + long(2) + text("avro.schema") + text(schema) + text("format-version") + text("2") + long(0) + sync +
		long(int64(len(values))) + long(int64(len(body))) + body + sync)
}

// long and text are values as Avro encodes them.
func long(n int64) string  { return string(binary.AppendVarint(nil, n)) }
func text(s string) string { return long(int64(len(s))) + s }
