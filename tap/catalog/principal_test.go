package catalog_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func unmarshal(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("answer %q: %v", body, err)
	}
}

func jwt(claims string) string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(`{"alg":"RS256"}`)) + "." + e([]byte(claims)) + "." + e([]byte("signature"))
}

func TestPrincipals(t *testing.T) {
	tests := []struct {
		name, authorization, want string
	}{
		{"nobody", "", "anonymous"},
		{"PyIceberg without a token", "Bearer None", "anonymous"},
		{"empty bearer", "Bearer ", "anonymous"},
		{"jwt", "Bearer " + jwt(`{"iss":"https://idp","sub":"alice","exp":1}`), "prod:alice@https://idp"},
		{"jwt in lower case", "bearer " + jwt(`{"iss":"https://idp","sub":"alice"}`), "prod:alice@https://idp"},
		{"jwt without an issuer", "Bearer " + jwt(`{"sub":"bob"}`), "prod:bob"},
		{"jwt with control characters", "Bearer " + jwt(`{"sub":"b\u0000o\nb"}`), "prod:bob"},
		{"jwt without a subject", "Bearer " + jwt(`{"iss":"x"}`), "prod:key-"},
		{"jwt whose subject is a number", "Bearer " + jwt(`{"sub":1}`), "prod:key-"},
		{"three parts that are no jwt", "Bearer a.b.c", "prod:key-"},
		{"opaque", "Bearer opaque", "prod:key-"},
		{"basic", "Basic YTpi", "prod:key-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, `{}`), nil)
			var headers []string
			if tt.authorization != "" {
				headers = []string{"Authorization: " + tt.authorization}
			}
			f.do("GET", "/v1/wh/namespaces", "", headers...)
			got := lastAccess(t, f.records, 1).Principal
			if got != tt.want && (!strings.HasSuffix(tt.want, "-") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("principal = %q, want %q", got, tt.want)
			}
			_, secret, _ := strings.Cut(tt.authorization, " ")
			if len(secret) > 4 && strings.Contains(got, secret) {
				t.Errorf("principal %q holds the secret", got)
			}
			// Who is not let in is nobody.
			f.upstream = reply(401, `{}`)
			f.do("GET", "/v1/wh/namespaces", "", headers...)
			if got := lastAccess(t, f.records, 2).Principal; got != "" {
				t.Errorf("principal = %q after 401", got)
			}
		})
	}
}

// The token endpoint passes untouched, and says who a bearer token is.
func TestTokenEndpoint(t *testing.T) {
	const form = "grant_type=client_credentials&client_id=etl&client_secret=s%26x&scope=PRINCIPAL_ROLE%3AALL"
	const granted = `{"access_token":"opaque-1","token_type":"bearer","expires_in":3600, "issued_token_type" : "x"}`
	f := setUp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			send(w, 200, granted, "Cache-Control: no-store")
			return
		}
		send(w, 200, `{}`)
	}, nil)
	got := f.do("POST", "/v1/oauth/tokens", form, "Content-Type: application/x-www-form-urlencoded", "Authorization: Basic YTpi")
	call := f.seen()[0]
	if string(got.body) != granted || call.body != form || call.header.Get("Authorization") != "Basic YTpi" || call.target != "/iceberg/v1/oauth/tokens" {
		t.Errorf("got %s for %+v", got.body, call)
	}
	f.do("GET", "/v1/wh/namespaces", "", "Authorization: Bearer opaque-1")
	if got := lastAccess(t, f.records, 2).Principal; got != "prod:etl" {
		t.Errorf("principal = %q", got)
	}
	// A token that is exchanged stays with its client.
	f.upstream = reply(200, `{"access_token":"opaque-2"}`)
	f.do("POST", "/v1/oauth/tokens", "grant_type=urn%3Aietf&subject_token=opaque-1")
	f.do("GET", "/v1/wh/namespaces", "", "Authorization: Bearer opaque-2")
	if got := lastAccess(t, f.records, 4).Principal; got != "prod:etl" {
		t.Errorf("principal = %q after an exchange", got)
	}
	// Basic authorization names the client as well.
	f.upstream = reply(200, `{"access_token":"opaque-3"}`)
	f.do("POST", "/v1/oauth/tokens", "grant_type=client_credentials", "Authorization: Basic ZGFnOnNlY3JldA==")
	f.do("GET", "/v1/wh/namespaces", "", "Authorization: Bearer opaque-3")
	if got := lastAccess(t, f.records, 6).Principal; got != "prod:dag" {
		t.Errorf("principal = %q after Basic", got)
	}
	for _, tt := range []struct {
		status int
		body   string
	}{{401, `{"error":"invalid_client"}`}, {400, `{}`}, {200, `garbage`}, {200, strings.Repeat(" ", 2<<20)}} { // R11
		f.upstream = reply(tt.status, tt.body)
		if got := f.do("POST", "/v1/oauth/tokens", form); got.status != tt.status || string(got.body) != tt.body {
			t.Errorf("%d became %d %.50s", tt.status, got.status, got.body)
		}
	}
}

// N21, R11: a token that was got by another is of whom the other was of, also
// where a service exchanges its users' tokens.
func TestExchangedTokensKeepTheirPrincipal(t *testing.T) {
	const exchange = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
	ann := jwt(`{"sub":"ann"}`)
	tests := []struct {
		name, form string
		headers    []string
		want       string
	}{
		{"a user's JWT by a service", exchange + "&client_id=trino&subject_token=" + ann, nil, "prod:ann"},
		{"a user's JWT by a service with Basic", exchange + "&subject_token=" + ann, []string{"Authorization: Basic ZGFnOnNlY3JldA=="}, "prod:ann"},
		{"an opaque token by its client", exchange + "&client_id=etl&subject_token=opaque", nil, "prod:etl"},
		{"an opaque token by nobody", exchange + "&subject_token=opaque", nil, "the token's"},
		{"an opaque refresh token by nobody", "grant_type=refresh_token&refresh_token=opaque", nil, "the token's"},
		{"nothing to go by", exchange, nil, "the new token's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t, reply(200, `{"access_token":"new"}`), nil)
			who := func(n int, token string) string {
				f.do("GET", "/v1/wh/namespaces", "", "Authorization: Bearer "+token)
				return lastAccess(t, f.records, n).Principal
			}
			before, unseen := who(1, "opaque"), who(2, "new")
			f.do("POST", "/v1/oauth/tokens", tt.form, tt.headers...)
			want := map[string]string{"the token's": before, "the new token's": unseen}[tt.want]
			if want == "" {
				want = tt.want
			}
			if got := who(4, "new"); got != want || before == unseen {
				t.Errorf("principal = %q, want %q", got, want)
			}
		})
	}
}

// Catalogs whose clients sign for the upstream's host are explained by name.
func TestSignedClients(t *testing.T) {
	signed := func(service string) string {
		return "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20261201/us-east-1/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
	}
	f := setUp(t, reply(403, `{"message":"The request signature we calculated does not match"}`), nil)
	for service, name := range map[string]string{"glue": "AWS Glue", "s3tables": "Amazon S3 Tables", "odd": `service \"odd\"`} {
		for _, method := range []string{"GET", "POST"} {
			got := f.do(method, "/v1/config", "", signed(service))
			var body struct {
				Error struct {
					Message, Type string
					Code          int
				}
			}
			unmarshal(t, got.body, &body)
			if got.status != 403 || body.Error.Code != 403 || !strings.Contains(string(got.body), name) || !strings.Contains(body.Error.Message, got.header.Get("X-Laketap-Request-Id")) {
				t.Errorf("%s: got %d %s", service, got.status, got.body)
			}
			if s := f.h.Upstreams()[0].SignedFor; s != service {
				t.Errorf("status says %q, want %q", s, service)
			}
		}
	}
	told := setUp(t, reply(200, `{"overrides":{"rest.sigv4-enabled":"true","rest.signing-name":"s3tables"}}`), nil)
	told.do("GET", "/v1/config", "")
	if s := told.h.Upstreams()[0].SignedFor; s != "s3tables" {
		t.Errorf("status says %q of a catalog that has its clients sign", s)
	}
	f.upstream = reply(200, `{}`)
	if got := f.do("GET", "/v1/config", "", signed("glue")); got.status != 200 {
		t.Errorf("a catalog that does not mind the signature: %d", got.status)
	}
}
