// Package catalog is the tap on the Iceberg REST protocol: a reverse proxy for
// every path that, of all the bytes that pass, changes only where engines are
// told to fetch data and with which keys, and learns tables from the rest.
//
// It owns routing to upstream catalogs, the edits of /v1/config, of loaded
// tables and of credentials, ETags, the delegation header, principals, and the
// errors an engine sees when an upstream is out of reach. It refuses to
// judge rights (the upstream does, for each request), to keep answers, and to
// send a mutation twice.
package catalog
