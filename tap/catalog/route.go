package catalog

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/laketap/laketap/tap"
)

// levels separates the levels of a namespace in a path unless the upstream
// says otherwise.
const levels = "\x1f"

// A route is what a request asks for, in the words of the Iceberg REST
// specification. Nothing of it is used to make the path that is forwarded:
// that is the path as it came.
type route struct {
	op        string // operation id of the specification; "unknown" else
	prefix    string // decoded {prefix}; "" for none
	namespace string // decoded, as in the path
	table     string // decoded
	// tables is the raw path of the table collection ("/v1/p/namespaces/n/tables"),
	// for requests of our own.
	tables string
	plan   string // decoded plan id
}

// leavesBase reports whether a raw path, resolved as some servers do, leads
// above where it begins: out of the base path of an upstream's URL, or from one
// catalog's name to another's.
func leavesBase(path string) bool {
	depth := 0
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch decoded, _ := url.PathUnescape(segment); {
		case decoded == "..":
			if depth--; depth < 0 {
				return true
			}
		case strings.ContainsAny(decoded, `/\`) && tap.Climbs(decoded):
			return true // an encoded slash: how deep it leads is the server's to say
		case decoded != "." && decoded != "":
			depth++
		}
	}
	return false
}

// A shape is the tail of a path behind the prefix; "*" is any one segment.
type shape struct{ method, path, op string }

// shapes are the operations of the specification that lie below a prefix.
var shapes = []shape{
	{http.MethodGet, "namespaces", "listNamespaces"},
	{http.MethodPost, "namespaces", "createNamespace"},
	{http.MethodGet, "namespaces/*", "loadNamespaceMetadata"},
	{http.MethodHead, "namespaces/*", "namespaceExists"},
	{http.MethodDelete, "namespaces/*", "dropNamespace"},
	{http.MethodPost, "namespaces/*/properties", "updateProperties"},
	{http.MethodPost, "namespaces/*/register", opRegister},
	{http.MethodPost, "namespaces/*/register-view", "registerView"},
	{http.MethodGet, "namespaces/*/tables", "listTables"},
	{http.MethodPost, "namespaces/*/tables", opCreateTable},
	{http.MethodGet, "namespaces/*/tables/*", opLoadTable},
	{http.MethodPost, "namespaces/*/tables/*", opUpdateTable},
	{http.MethodDelete, "namespaces/*/tables/*", opDropTable},
	{http.MethodHead, "namespaces/*/tables/*", "tableExists"},
	{http.MethodGet, "namespaces/*/tables/*/credentials", opCredentials},
	{http.MethodPost, "namespaces/*/tables/*/metrics", opMetrics},
	{http.MethodPost, "namespaces/*/tables/*/plan", opPlan},
	{http.MethodGet, "namespaces/*/tables/*/plan/*", opFetchPlan},
	{http.MethodDelete, "namespaces/*/tables/*/plan/*", "cancelPlanning"},
	{http.MethodPost, "namespaces/*/tables/*/tasks", "fetchScanTasks"},
	{http.MethodPost, "namespaces/*/tables/*/sign", "signRequest"},
	{http.MethodPost, "namespaces/*/tables/*/unregister", opUnregister},
	{http.MethodGet, "namespaces/*/views", "listViews"},
	{http.MethodPost, "namespaces/*/views", "createView"},
	{http.MethodGet, "namespaces/*/views/*", "loadView"},
	{http.MethodPost, "namespaces/*/views/*", "replaceView"},
	{http.MethodDelete, "namespaces/*/views/*", "dropView"},
	{http.MethodHead, "namespaces/*/views/*", "viewExists"},
	{http.MethodGet, "namespaces/*/functions", "listFunctions"},
	{http.MethodGet, "namespaces/*/functions/*", "loadFunction"},
	{http.MethodPost, "tables/rename", opRename},
	{http.MethodPost, "views/rename", "renameView"},
	{http.MethodPost, "transactions/commit", opTransaction},
}

// Operations that need more than passing on.
const (
	opConfig      = "getConfig"
	opToken       = "getToken"
	opLoadTable   = "loadTable"
	opCreateTable = "createTable"
	opRegister    = "registerTable"
	opUpdateTable = "updateTable"
	opDropTable   = "dropTable"
	opUnregister  = "unregisterTable"
	opRename      = "renameTable"
	opTransaction = "commitTransaction"
	opCredentials = "loadCredentials"
	opMetrics     = "reportMetrics"
	opPlan        = "planTableScan"
	opFetchPlan   = "fetchPlanningResult"
	opUnknown     = "unknown"
)

// parseRoute reads a raw path that begins with "/v1/". Anything it does not
// know is a route of its own, "unknown", and forwarded like the rest.
func parseRoute(method, path string) route {
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return route{op: opUnknown}
	}
	switch {
	case rest == "config" && method == http.MethodGet:
		return route{op: opConfig}
	case rest == "oauth/tokens" && method == http.MethodPost:
		return route{op: opToken}
	}
	// A prefix has any number of segments (Unity has "catalogs/NAME"), so the
	// first tail that fits decides where it ends.
	segs := strings.Split(rest, "/")
	for i := range segs {
		if r, ok := match(method, segs[i:]); ok {
			r.prefix = decode(url.PathUnescape, strings.Join(segs[:i], "/"))
			if r.namespace != "" {
				r.tables = "/v1/" + strings.Join(segs[:i+2], "/") + "/tables"
			}
			return r
		}
	}
	return route{op: opUnknown}
}

// match finds the operation of a tail.
func match(method string, segs []string) (route, bool) {
	for _, s := range shapes {
		want := strings.Split(s.path, "/")
		if s.method != method || len(want) != len(segs) {
			continue
		}
		if values, ok := fit(want, segs); ok {
			r := route{op: s.op}
			for i, v := range values {
				// Java spells a space as "+" and a plus as "%2B" in paths,
				// others as "%20" and "%2B": this reads both.
				value := decode(url.QueryUnescape, v)
				switch {
				case i == 0:
					r.namespace = value
				case i == 1 && want[2] == "tables":
					r.table = value
				case i == 2:
					r.plan = value
				}
			}
			return r, true
		}
	}
	return route{}, false
}

// fit compares segments and returns those that stand for "*".
func fit(want, segs []string) (values []string, ok bool) {
	for i, w := range want {
		switch {
		case w == "*" && segs[i] != "":
			values = append(values, segs[i])
		case w != segs[i]:
			return nil, false
		}
	}
	return values, true
}

// decode unescapes, or leaves what cannot be.
func decode(unescape func(string) (string, error), s string) string {
	if out, err := unescape(s); err == nil {
		return out
	}
	return s
}

// dotted spells a namespace and a name for people. separator is the one that
// the upstream set, "" if it set none.
func dotted(namespace, name, separator string) string {
	namespace = strings.ReplaceAll(namespace, levels, ".")
	if separator != "" {
		namespace = strings.ReplaceAll(namespace, separator, ".")
	}
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// refOf returns the branch in a prefix of Nessie, "main|warehouse". A prefix
// without the bar names no branch: it is part of the table's identity as it is.
func refOf(prefix string) string {
	ref, _, ok := strings.Cut(prefix, "|")
	if !ok {
		return ""
	}
	return ref
}

// target returns the request target as it was received: the path, raw, and
// the query, raw. hasQuery tells "/p?" from "/p".
func target(r *http.Request) (path, query string, hasQuery bool) {
	raw := r.RequestURI
	if raw == "" { // not from a server
		raw = r.URL.RequestURI()
	}
	if !strings.HasPrefix(raw, "/") { // absolute form, or "*"
		if _, rest, ok := strings.Cut(raw, "://"); ok {
			if i := strings.IndexAny(rest, "/?"); i >= 0 {
				raw = rest[i:]
			} else {
				raw = "/"
			}
		}
	}
	return strings.Cut(raw, "?")
}
