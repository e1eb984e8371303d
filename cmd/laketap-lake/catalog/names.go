package catalog

import (
	"slices"
	"strings"
)

// separator joins the levels of a namespace, in the database as in paths
// (where it is written %1F). It is the protocol's default, which every client
// uses that is not told another one by /v1/config; dots would not do, since
// they are part of names.
const separator = "\x1f"

// namespace is the levels of a namespace, outermost first; never empty once
// parsed.
type namespace []string

// parseNamespace reads the levels of a path segment that is already unescaped.
func parseNamespace(text string) (namespace, error) {
	ns := namespace(strings.Split(text, separator))
	return ns, ns.check()
}

// check refuses levels that could not be told apart again, and zero bytes:
// SQLite's length() ends at one, so the children of such a namespace would not
// be found, and it could be dropped from above them.
func (n namespace) check() error {
	if len(n) == 0 {
		return badRequest("a namespace needs at least one level")
	}
	for _, level := range n {
		if level == "" || strings.ContainsAny(level, separator+"\x00") {
			return badRequest("namespace level %q: a level is not empty and holds no unit separator and no zero byte", level)
		}
	}
	return nil
}

// key is the namespace's primary key.
func (n namespace) key() string { return strings.Join(n, separator) }

// below is the key prefix of everything inside the namespace. It ends in the
// separator, so that "ab" is not taken to be inside "a".
func (n namespace) below() string { return n.key() + separator }

// ancestors are the namespaces around n, outermost first, n not included.
func (n namespace) ancestors() []namespace {
	var out []namespace
	for i := 1; i < len(n); i++ {
		out = append(out, slices.Clone(n[:i]))
	}
	return out
}

// String is for messages only: with dots between levels, two namespaces may
// have the same one.
func (n namespace) String() string { return strings.Join(n, ".") }

// identifier names a table.
type identifier struct {
	Namespace namespace `json:"namespace"`
	Name      string    `json:"name"`
}

// check refuses an identifier a client left incomplete.
func (i identifier) check() error {
	if err := i.Namespace.check(); err != nil {
		return err
	}
	if i.Name == "" {
		return badRequest("a table needs a name")
	}
	return nil
}

// String is for messages.
func (i identifier) String() string { return i.Namespace.String() + "." + i.Name }
