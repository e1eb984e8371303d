package catalog

import (
	"bytes"
	"net/http"
	"net/url"

	"github.com/laketap/laketap/tap"
)

// signing are the properties by which a catalog has clients ask it to sign
// their requests to the store.
var signing = []string{"s3.signer*", "signer.*", "s3.remote-signing*", "remote-signing*"}

// config carries /v1/config and edits what would lead a client around us.
func (x *exchange) config(req *http.Request) (*http.Response, error) {
	acceptGzip(req.Header)
	resp, err := x.send(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, why, err := x.read(resp)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return resp, nil
	}
	top, ok := parseObject(body)
	if !ok {
		return resp, nil
	}
	x.up.listen(top)
	edited := editConfig(top, x.configEdits(top))
	if !bytes.Equal(edited, body) {
		replace(resp, edited)
	}
	return resp, nil
}

// A configEdit says how /v1/config is edited.
type configEdit struct {
	base, ours string // the upstream's URL and the same through us
	signing    bool   // drop what makes the catalog sign
	storage    bool   // drop endpoint and keys of the store
}

// configEdits says what of /v1/config is to go beyond what always goes. A
// client needs the store's own settings as long as tables may pass byte for
// byte: they go only if there is authority to lead it through us.
func (x *exchange) configEdits(top object) configEdit {
	e := configEdit{base: x.up.url(), ours: x.ours()}
	e.signing = x.h.opts.Authority.Mode == ModeCatalog
	x.up.note(func(s *UpstreamStatus) { e.signing = e.signing || s.Edited > 0 && s.Passed == 0 })
	if endpoint := storageIn(top); endpoint != "" {
		for _, o := range x.h.opts.Origins {
			o.Buckets = nil // an endpoint of ours is meant, whatever the bucket
			_, ours := tap.OriginOf([]tap.Origin{o}, "", endpoint)
			e.storage = e.storage || e.signing && ours
		}
	}
	return e
}

// editConfig edits the text of /v1/config.
func editConfig(top object, e configEdit) []byte {
	var set []pair
	for _, section := range []string{"defaults", "overrides"} {
		if properties, ok := top.object(section); ok {
			set = append(set, pair{section, editProperties(properties, e)})
		}
	}
	if endpoints, times := top.get("endpoints"); times == 1 {
		if list, ok := addEndpoint(endpoints, metricsEndpoint); ok {
			set = append(set, pair{"endpoints", list})
		}
	}
	return top.edit(set, nil)
}

// editProperties edits defaults or overrides.
func editProperties(properties object, e configEdit) []byte {
	var set []pair
	for _, key := range []string{"oauth2-server-uri", "credentials.uri", refreshKey} {
		// A relative one is resolved against our address already, and one of
		// another host is somebody else's.
		if value, ok := properties.text(key); ok {
			if led, ok := reroute(value, e.base, e.ours); ok {
				set = append(set, text(key, led))
			}
		}
	}
	return properties.edit(set, func(key string) bool {
		switch {
		case key == "uri":
			return true
		case fits(signing, key):
			return e.signing
		case leadsAround(key) && key != "s3.region" && key != "client.region":
			return e.storage
		}
		return false
	})
}

// addEndpoint appends to a list of endpoints; ok is false if it is no list or
// has it already. A list that is missing stays missing: the specification's
// defaults, which include reports, apply then.
func addEndpoint(list []byte, endpoint string) (longer []byte, ok bool) {
	values, ok := elements(list)
	if !ok {
		return nil, false
	}
	for _, value := range values {
		if value[0] == '"' && unquote(value) == endpoint {
			return nil, false
		}
	}
	end := bytes.LastIndexByte(list, ']')
	var b bytes.Buffer
	b.Write(list[:end])
	if len(values) > 0 {
		b.WriteByte(',')
	}
	b.Write(quote(endpoint))
	b.Write(list[end:])
	return b.Bytes(), true
}

// storageIn returns the S3 endpoint that /v1/config sets, "" if none.
func storageIn(top object) (endpoint string) {
	for _, section := range []string{"defaults", "overrides"} {
		if properties, ok := top.object(section); ok {
			if value, ok := properties.text("s3.endpoint"); ok {
				endpoint = value
			}
		}
	}
	return endpoint
}

// listen notes what an upstream says of itself.
func (u *upstream) listen(top object) {
	separator, signedFor := "", ""
	for _, section := range []string{"defaults", "overrides"} {
		if properties, ok := top.object(section); ok {
			if value, ok := properties.text("namespace-separator"); ok {
				separator = decode(url.PathUnescape, value)
			}
			if value, _ := properties.text("rest.sigv4-enabled"); value == "true" {
				signedFor = "execute-api" // what clients sign for by default
				if name, ok := properties.text("rest.signing-name"); ok {
					signedFor = clip(name)
				}
			}
		}
	}
	var endpoints map[string]bool
	if list, times := top.get("endpoints"); times == 1 {
		if values, ok := elements(list); ok {
			endpoints = make(map[string]bool, len(values))
			for _, value := range values {
				if value[0] == '"' {
					endpoints[unquote(value)] = true
				}
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.separator, u.endpoints, u.storage = separator, endpoints, storageIn(top)
	if signedFor != "" {
		u.status.SignedFor = signedFor
	}
}
