package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An upstream is the least that can be taken for a catalog: it has its answers
// in memory and writes them at once. A table is called tSIZE_THINK. Its tables
// have as many snapshots as make their metadata so long.
type upstream struct {
	address string
	server  *http.Server
	answers map[string][]byte
	bucket  string
}

func startUpstream(ctx context.Context) (*upstream, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	up := &upstream{address: ln.Addr().String(), answers: map[string][]byte{}, bucket: "lake"}
	for _, c := range cells() {
		up.answers[answerName(c.commit, c.metadata)] = []byte(up.table(c))
	}
	up.server = &http.Server{Handler: up, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = up.server.Serve(ln) }() // ends with close
	return up, nil
}

func (u *upstream) close() { _ = u.server.Close() }

func answerName(commit bool, size int) string { return fmt.Sprint(commit, size) }

// table spells the answer to a load or a commit.
func (u *upstream) table(c cell) string {
	location := fmt.Sprintf("s3://%s/t%d", u.bucket, c.metadata)
	var b strings.Builder
	fmt.Fprintf(&b, `{"metadata-location":"%s/metadata/00001.metadata.json","metadata":{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-%012d",`+
		`"location":%q,"last-sequence-number":1,"last-updated-ms":1796083200000,"last-column-id":2,"current-schema-id":0,`+
		`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"},{"id":2,"name":"name","required":false,"type":"string"}]}],`+
		`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],`+
		`"properties":{"owner":"bench"},"current-snapshot-id":1,"snapshots":[`, location, c.metadata, location)
	for i := 1; i == 1 || b.Len() < c.metadata; i++ {
		if i > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"snapshot-id":%d,"sequence-number":%d,"timestamp-ms":%d,"schema-id":0,"manifest-list":"%s/metadata/snap-%d-1-01a2307b-be1d-75c5-bedc-bd53a04ab0dd.avro",`+
			`"summary":{"operation":"append","added-data-files":"4","added-records":"1000","added-files-size":"40960","changed-partition-count":"1","total-records":"%d","total-data-files":"%d"}}`,
			i, i, 1796083200000+i, location, i, 1000*i, 4*i)
	}
	b.WriteString(`]}`)
	if !c.commit {
		b.WriteString(`,"config":{"s3.access-key-id":"UP","s3.secret-access-key":"up","s3.session-token":"token"}`)
	}
	b.WriteString("}")
	return b.String()
}

// ServeHTTP answers what the benchmark asks, and /v1/config.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, name, ok := strings.Cut(r.URL.Path, "/tables/t")
	size, think, _ := strings.Cut(name, "_")
	bytes, err1 := strconv.Atoi(size)
	millis, err2 := strconv.Atoi(think)
	if !ok || err1 != nil || err2 != nil {
		_, _ = io.WriteString(w, `{"defaults":{},"overrides":{}}`)
		return
	}
	answer := u.answers[answerName(r.Method == http.MethodPost, bytes)]
	time.Sleep(time.Duration(millis) * time.Millisecond)
	w.Header().Set("ETag", `"v1"`)
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer)
}
