package admin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/laketap/laketap/admin"
)

// A document is the part of OpenAPI that the tests read.
type document struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct {
				Schema *schema `yaml:"schema"`
			} `yaml:"content"`
		} `yaml:"responses"`
	} `yaml:"paths"`
	Components struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
}

type schema struct {
	Ref        string             `yaml:"$ref"`
	Type       string             `yaml:"type"`
	Required   []string           `yaml:"required"`
	Properties map[string]*schema `yaml:"properties"`
	Additional *schema            `yaml:"additionalProperties"`
	Items      *schema            `yaml:"items"`
	Enum       []string           `yaml:"enum"`
	OneOf      []*schema          `yaml:"oneOf"`
}

func readDocument(t *testing.T) *document {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

func TestEveryPathIsDescribed(t *testing.T) {
	d, _ := deps()
	want := admin.Paths(d)
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(readDocument(t).Paths))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths served and described (-served +described):\n%s", diff)
	}
}

func TestAnswersAreAsDescribed(t *testing.T) {
	doc := readDocument(t)
	d, _ := deps()
	h := admin.New(d)
	for path, methods := range doc.Paths {
		if _, reads := methods["get"]; !reads {
			continue
		}
		queries := []string{""}
		if path == "/api/v1/accesses" || path == "/api/v1/observations" {
			queries = []string{"", "?after=1", "?after=x"}
		}
		if strings.HasPrefix(path, "/api/v1/memory/") {
			queries = []string{"", "?table=prod.tpch.orders", "?table=nothing", "?since=x"}
		}
		for _, query := range queries {
			w := get(t, h, path+query)
			response, ok := methods["get"].Responses[strconv.Itoa(w.Code)]
			if !ok {
				t.Errorf("%s%s answers %d, which is not described", path, query, w.Code)
				continue
			}
			doc.checkBody(t, path+query, w, response.Content["application/json"].Schema)
			media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
			if _, ok := response.Content[media]; !ok {
				t.Errorf("%s answers %s, which is not described", path, media)
			}
		}
	}
}

func (doc *document) checkBody(t *testing.T, what string, w *httptest.ResponseRecorder, s *schema) {
	t.Helper()
	if s == nil {
		return
	}
	var body any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, problem := range doc.check(what, body, s) {
		t.Error(problem)
	}
}

// check returns how a value differs from its schema, roughly.
func (doc *document) check(at string, v any, s *schema) []string {
	if s.Ref != "" {
		target, ok := doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if !ok {
			return []string{at + ": dangling " + s.Ref}
		}
		s = target
	}
	switch v := v.(type) {
	case map[string]any:
		return doc.checkObject(at, v, s)
	case []any:
		var problems []string
		for i, item := range v {
			problems = append(problems, doc.check(fmt.Sprintf("%s[%d]", at, i), item, s.Items)...)
		}
		return problems
	case string:
		if s.Type != "string" || len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			return []string{fmt.Sprintf("%s: %q is no %s %v", at, v, s.Type, s.Enum)}
		}
	case float64:
		if s.Type != "number" && (s.Type != "integer" || v != math.Trunc(v)) {
			return []string{fmt.Sprintf("%s: %v is no %s", at, v, s.Type)}
		}
	case bool:
		if s.Type != "boolean" {
			return []string{fmt.Sprintf("%s: %v is no %s", at, v, s.Type)}
		}
	default:
		return []string{fmt.Sprintf("%s: %v is not described", at, v)}
	}
	return nil
}

func (doc *document) checkObject(at string, v map[string]any, s *schema) []string {
	var problems []string
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			problems = append(problems, at+": lacks "+name)
		}
	}
	for name, value := range v {
		property, ok := s.Properties[name]
		if !ok && s.Additional != nil {
			property, ok = s.Additional, true
		}
		if !ok {
			problems = append(problems, at+": has "+name+", which is not described")
			continue
		}
		problems = append(problems, doc.check(at+"."+name, value, property)...)
	}
	return problems
}

func TestDescriptionIsServed(t *testing.T) {
	d, _ := deps()
	want, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if w := get(t, admin.New(d), "/api/v1/openapi.yaml"); w.Code != http.StatusOK || w.Body.String() != string(want) {
		t.Errorf("got %d and %d bytes, want the file", w.Code, w.Body.Len())
	}
}
