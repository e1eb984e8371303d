package catalog

import (
	"net/http"
	"strings"
)

// change carries a request that changes tables, and learns from it if it
// succeeded.
func (x *exchange) change(req *http.Request) (*http.Response, error) {
	resp, err := x.send(req)
	if err != nil || resp.StatusCode/100 != 2 {
		return resp, err
	}
	switch x.route.op {
	case opUpdateTable:
		// The answer holds the table's new metadata. It passes as it is: an
		// engine goes on with the keys it has.
		x.learnPassing(resp)
	case opDropTable, opUnregister:
		x.forget(x.access.TableName)
	case opRename:
		x.renamed()
	case opTransaction:
		if body, ok := x.sent.body(x.in.ContentLength); ok {
			x.h.queue(lesson{
				up: x.up, route: x.route, at: x.access.At, body: body, transaction: true,
				encoding: x.in.Header.Get("Content-Encoding"),
			})
		}
	}
	return resp, nil
}

// renamed forgets the name that is gone and what a table of the new name may
// have been before.
func (x *exchange) renamed() {
	body, ok := x.sent.body(x.in.ContentLength)
	if !ok {
		return
	}
	request, ok := parseObject(body)
	if !ok {
		return
	}
	for _, member := range []string{"destination", "source"} {
		if identifier, ok := request.object(member); ok {
			name := nameIn(identifier)
			x.access.TableName = name
			x.forget(name)
		}
	}
}

// nameIn spells a table identifier of a request body.
func nameIn(identifier object) string {
	name, _ := identifier.text("name")
	namespace, _ := identifier.get("namespace")
	parts, ok := elements(namespace)
	if !ok {
		return name
	}
	var dots []string
	for _, part := range parts {
		if part[0] == '"' {
			dots = append(dots, unquote(part))
		}
	}
	return strings.Join(append(dots, name), ".")
}

// learnTransaction reads a transaction that succeeded: its answer is empty,
// so what it did to the tables' snapshots stands in the request.
func (h *Handler) learnTransaction(one lesson, body []byte) {
	request, ok := parseObject(body)
	if !ok {
		return
	}
	value, _ := request.get("table-changes")
	changes, ok := elements(value)
	if !ok {
		return
	}
	for _, raw := range changes {
		change, ok := cut(raw)
		if !ok {
			continue
		}
		identifier, ok := change.object("identifier")
		if !ok {
			continue
		}
		snapshot := mainAfter(change)
		id, known := h.ids.of(idKey{one.up.name, one.route.prefix, nameIn(identifier)})
		if table, ok := h.opts.Tables.Get(id); known && ok && snapshot >= 0 {
			table.Snapshot, table.Seen = snapshot, one.at
			table.MetadataLocation = "" // a new one, which the answer does not name
			h.opts.Tables.Put(table)
		}
	}
}

// mainAfter returns the snapshot that a change makes the current one; -1 if it
// makes none.
func mainAfter(change object) int64 {
	snapshot := int64(-1)
	value, _ := change.get("updates")
	updates, ok := elements(value)
	if !ok {
		return -1
	}
	for _, raw := range updates {
		update, ok := cut(raw)
		if !ok {
			continue
		}
		action, _ := update.text("action")
		ref, _ := update.text("ref-name")
		if action == "set-snapshot-ref" && ref == "main" {
			snapshot = update.integer("snapshot-id", snapshot)
		}
	}
	return snapshot
}
