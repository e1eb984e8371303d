package catalog_test

import (
	"strings"
	"testing"
)

// Spark numbers the columns of a new table from 0.
func TestFieldIDsFromZero(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	body := `{"name":"t","schema":{"type":"struct","schema-id":0,"identifier-field-ids":[0],"fields":[
		{"id":0,"name":"id","type":"long","required":true},
		{"id":1,"name":"tags","type":{"type":"list","element-id":2,"element":"string","element-required":false},"required":false}]},
		"partition-spec":{"spec-id":0,"fields":[{"source-id":0,"field-id":1000,"name":"id","transform":"identity"}]},
		"write-order":{"order-id":1,"fields":[{"source-id":0,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}}`
	for _, stage := range []bool{true, false} {
		text := body
		if stage {
			text = strings.Replace(body, `{"name"`, `{"stage-create":true,"name"`, 1)
		}
		raw := string(c.rawMetadata(c.must("POST", "/v1/namespaces/n/tables", text)))
		for _, want := range []string{`"source-id":1`, `"identifier-field-ids":[1]`, `"last-column-id":3`, `"element-id":3`} {
			if !strings.Contains(strings.ReplaceAll(raw, " ", ""), want) {
				t.Errorf("staged %v: no %s in %s", stage, want, raw)
			}
		}
		if strings.Contains(raw, `"source-id":0`) {
			t.Errorf("staged %v: an id is still 0: %s", stage, raw)
		}
	}
}

// A default value is data, whatever its members are called.
func TestDefaultsAreNotIDs(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	raw := string(c.rawMetadata(c.must("POST", "/v1/namespaces/n/tables", `{"name":"t","properties":{"format-version":"3"},"schema":{"type":"struct","fields":[
		{"id":0,"name":"id","type":"long","required":false,"initial-default":0,"write-default":7}]}}`)))
	if !strings.Contains(raw, `"write-default":7`) || !strings.Contains(raw, `"initial-default":0`) {
		t.Errorf("the defaults changed: %s", raw)
	}
}

// ClickHouse leaves out the snapshot-id of a branch that must not exist.
func TestRequirementWithoutSnapshot(t *testing.T) {
	c := open(t, nil)
	c.must("POST", "/v1/namespaces", `{"namespace":["n"]}`)
	c.must("POST", "/v1/namespaces/n/tables", `{"name":"t","schema":{"type":"struct","fields":[{"id":1,"name":"id","type":"long","required":false}]}}`)
	c.must("POST", "/v1/namespaces/n/tables/t", `{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main"}],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`)
}
