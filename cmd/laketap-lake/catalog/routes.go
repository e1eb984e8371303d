package catalog

import (
	"net/http"
	"strings"
)

// route is one endpoint, written as the specification writes it.
type route struct {
	method string
	path   string
	handle handler
}

// pattern is the path as this catalog serves it: without a prefix.
func (r route) pattern() []string {
	return strings.Split(strings.Replace(strings.TrimPrefix(r.path, "/"), "{prefix}/", "", 1), "/")
}

// routes is everything the catalog serves. It is a function, not a variable,
// because the handlers refer to it.
func routes() []route {
	const (
		namespaces = "/v1/{prefix}/namespaces"
		oneSpace   = namespaces + "/{namespace}"
		tables     = oneSpace + "/tables"
		oneTable   = tables + "/{table}"
		views      = oneSpace + "/views"
		oneView    = views + "/{view}"
	)
	return []route{
		{http.MethodGet, configPath, (*Catalog).config},
		{http.MethodGet, namespaces, (*Catalog).listNamespaces},
		{http.MethodPost, namespaces, (*Catalog).createNamespace},
		{http.MethodGet, oneSpace, (*Catalog).loadNamespace},
		{http.MethodHead, oneSpace, (*Catalog).namespaceExists},
		{http.MethodDelete, oneSpace, (*Catalog).dropNamespace},
		{http.MethodPost, oneSpace + "/properties", (*Catalog).updateNamespace},
		{http.MethodGet, tables, (*Catalog).listTables},
		{http.MethodPost, tables, (*Catalog).createTable},
		{http.MethodGet, oneTable, (*Catalog).loadTable},
		{http.MethodHead, oneTable, (*Catalog).tableExists},
		{http.MethodPost, oneTable, (*Catalog).commitTable},
		{http.MethodDelete, oneTable, (*Catalog).dropTable},
		{http.MethodGet, oneTable + "/credentials", (*Catalog).loadCredentials},
		{http.MethodPost, oneTable + "/metrics", (*Catalog).reportMetrics},
		{http.MethodPost, oneSpace + "/register", (*Catalog).registerTable},
		{http.MethodPost, "/v1/{prefix}/tables/rename", (*Catalog).renameTable},
		{http.MethodPost, "/v1/{prefix}/transactions/commit", (*Catalog).commitTransaction},
		{http.MethodGet, views, (*Catalog).listViews},
		{http.MethodPost, views, (*Catalog).createView},
		{http.MethodGet, oneView, (*Catalog).loadView},
		{http.MethodHead, oneView, (*Catalog).viewExists},
		{http.MethodPost, oneView, (*Catalog).replaceView},
		{http.MethodDelete, oneView, (*Catalog).dropView},
		{http.MethodPost, oneSpace + "/register-view", (*Catalog).registerView},
		{http.MethodPost, "/v1/{prefix}/views/rename", (*Catalog).renameView},
	}
}

// configPath is the one endpoint that is served but never listed: a client
// that reads the list has already found it.
const configPath = "/v1/config"

// configBody is the answer to GET /v1/config.
type configBody struct {
	Defaults  map[string]string `json:"defaults"`
	Overrides map[string]string `json:"overrides"`
	Endpoints []string          `json:"endpoints"`
}

// config answers with what is served. Every warehouse name is this lake.
func (c *Catalog) config(*request) (reply, error) {
	body := configBody{Defaults: map[string]string{}, Overrides: map[string]string{}}
	// Clients choose by this list what they ask for; without one each of them
	// assumes a set of its own, which is not what this lake serves.
	for _, r := range routes() {
		if r.path != configPath {
			body.Endpoints = append(body.Endpoints, r.method+" "+r.path)
		}
	}
	return reply{status: http.StatusOK, body: body}, nil
}
