package catalog

import (
	"net/http"

	"github.com/laketap/laketap"
)

// A Denier knows who and what is shut out. It is asked on the path of every
// request that may vend keys, so it answers without I/O.
type Denier interface {
	// Denied reports whether any of what a request comes with is denied; what
	// it does not have is empty.
	Denied(principal, key string, table laketap.TableID, name string) bool
}

// vends reports whether the answer to the request may have keys in it.
func (x *exchange) vends() bool {
	switch x.route.op {
	case opLoadTable, opCreateTable, opRegister, opCredentials, opPlan, opFetchPlan:
		return true
	}
	return false
}

// denied reports whether the request is one by which somebody who is denied,
// or for a table that is, would get keys: a session that was shut out at the
// storage tap would just fetch another.
func (x *exchange) denied() bool {
	return x.h.opts.Deny != nil && x.vends() && x.h.opts.Deny.Denied(x.claim, "", x.tableAsKnown(), x.access.TableName)
}

// tableAsKnown is the table of the request as far as that is known before the
// upstream was asked.
func (x *exchange) tableAsKnown() laketap.TableID {
	id := x.access.Table
	id.Catalog = x.up.name
	return id
}

// deniedLater reports whether a table that the upstream answered with is one
// that is denied. Only a read is asked so: what a mutation did is done, and its
// client has to hear of it; the keys of its session open nothing.
func (x *exchange) deniedLater(id laketap.TableID) bool {
	return x.h.opts.Deny != nil && !x.mutatesTable() && x.h.opts.Deny.Denied(x.claim, "", id, x.access.TableName)
}

func (x *exchange) mutatesTable() bool {
	return x.route.op == opCreateTable || x.route.op == opRegister
}

// refusalDenied is what who is denied is told.
func refusalDenied() refusal {
	return refusal{http.StatusForbidden, "ForbiddenException", "access is denied by the administrator of Laketap; laketap deny lists why"}
}

// deny puts the refusal in the place of an answer.
func (x *exchange) deny(resp *http.Response) {
	resp.StatusCode, resp.Status = http.StatusForbidden, ""
	resp.Header.Del("ETag")
	x.explain(resp, refusalDenied())
}

// denied is why an answer is a refusal of ours; it never passed.
const denied reason = "denied"
