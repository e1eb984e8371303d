package authz

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// etag is that of every table for everybody: the worst a catalog may do to
// whoever stands before it.
const etag = `"one"`

// refreshGrant and exchangeGrant are the ways to a new token by an old one.
const (
	refreshGrant  = "refresh_token"
	exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// catalog answers what an engine that only reads asks for.
func (s *Server) catalog(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/v1/config":
		answer(w, http.StatusOK, map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}})
		return
	case "/v1/oauth/tokens":
		s.token(w, r)
		return
	}
	who := s.tokens[bearer(r)]
	name, isTable := strings.CutPrefix(r.URL.Path, "/v1/namespaces/r/tables/")
	table, tail, _ := strings.Cut(name, "/")
	switch {
	case who == "":
		refuse(w, http.StatusUnauthorized, "NotAuthorizedException")
	case !isTable || r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "NoSuchTableException")
	case !slices.Contains(s.rights[who], table):
		refuse(w, http.StatusForbidden, "ForbiddenException")
	case tail == "credentials":
		answer(w, http.StatusOK, map[string]any{"storage-credentials": []any{
			map[string]any{"prefix": location(table), "config": s.vend(who, table)},
		}})
	default:
		s.load(w, r, who, table)
	}
}

// load answers with a table, the caller's name in it, and keys of the caller.
func (s *Server) load(w http.ResponseWriter, r *http.Request, who, table string) {
	tags := r.Header.Get("If-None-Match")
	s.tags = append(s.tags, tags)
	w.Header().Set("ETag", etag)
	if strings.Contains(tags, etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	config := map[string]string{}
	switch {
	case !s.signs:
		config = s.vend(who, table)
	case r.Header.Get("X-Iceberg-Access-Delegation") == "vended-credentials":
		config["s3.remote-signing-enabled"] = "false" // and no keys
	default:
		config["s3.remote-signing-enabled"] = "true"
		config["s3.signer.uri"] = "http://" + r.Host + "/"
		config["s3.signer.endpoint"] = "v1/namespaces/r/tables/" + table + "/sign"
	}
	config["answered-to"] = who
	answer(w, http.StatusOK, map[string]any{
		"metadata-location": location(table) + "/metadata/1.json",
		"metadata": map[string]any{
			"format-version": 2, "table-uuid": fmt.Sprintf("00000000-0000-4000-8000-%012x", len(table)),
			"location": location(table), "properties": map[string]string{},
		},
		"config": config,
	})
}

func location(table string) string { return "s3://" + Bucket + "/" + table }

// vend makes out keys and returns the properties that tell them.
func (s *Server) vend(who, table string) map[string]string {
	id := s.next("AK")
	k := key{of: who, token: "session of " + id, ends: time.Now().Add(s.life)}
	s.keys[id] = k
	return map[string]string{
		"s3.access-key-id":                    id,
		"s3.secret-access-key":                "secret of " + id,
		"s3.session-token":                    k.token,
		"s3.session-token-expires-at-ms":      strconv.FormatInt(k.ends.UnixMilli(), 10),
		"client.refresh-credentials-endpoint": "v1/namespaces/r/tables/" + table + "/credentials",
	}
}

// token is the token endpoint. Whoever gets a token by an old one can no longer
// use the old one. Alice's tokens say nothing; bob's are JWTs.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	var who, old string
	switch r.PostFormValue("grant_type") {
	case "client_credentials":
		id := r.PostFormValue("client_id")
		if _, known := s.rights[id]; known && r.PostFormValue("client_secret") == "secret of "+id {
			who = id
		}
	case refreshGrant:
		old = r.PostFormValue("refresh_token")
	case exchangeGrant:
		old = r.PostFormValue("subject_token")
	}
	if old != "" {
		who = s.tokens[old]
		delete(s.tokens, old)
	}
	if who == "" {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	access, refresh := s.next("opaque"), s.next("refresh")
	if who == "bob" {
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"authz","sub":"bob"}`))
		access = "e30." + claims + "." + access
	}
	s.tokens[access], s.tokens[refresh] = who, who
	answer(w, http.StatusOK, map[string]any{
		"access_token": access, "refresh_token": refresh, "token_type": "bearer", "expires_in": 60,
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
	})
}

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that left learns nothing
}

func refuse(w http.ResponseWriter, status int, kind string) {
	answer(w, status, map[string]any{"error": map[string]any{"message": "not yours", "type": kind, "code": status}})
}
