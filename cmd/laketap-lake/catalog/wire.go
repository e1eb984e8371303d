package catalog

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/apache/iceberg-go/table"
)

// What clients send and the library's types do not read as the specification
// means it is put right here, before it is decoded.

// UnmarshalJSON reads a request whose field ids may begin at 0, as Spark's do.
// In a creation ids only say which column is meant, and the catalog assigns the
// real ones, but the library refuses 0 where a partition or an order names it.
func (b *createBody) UnmarshalJSON(data []byte) error {
	type plain createBody
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	numbers := map[string]any{}
	zero := false
	for _, name := range []string{"schema", "partition-spec", "write-order"} {
		if raw, ok := parts[name]; ok {
			value, err := decodeExact(raw)
			if err != nil {
				return err
			}
			numbers[name] = value
			eachID(value, func(id json.Number) json.Number { zero = zero || id == "0"; return id })
		}
	}
	if !zero {
		return json.Unmarshal(data, (*plain)(b))
	}
	for name, value := range numbers {
		eachID(value, oneMore)
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		parts[name] = raw
	}
	moved, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	return json.Unmarshal(moved, (*plain)(b))
}

// decodeExact decodes a value and keeps its numbers as they are spelled.
func decodeExact(raw []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// idMembers are the members that hold a column's id, alone or in a list.
var idMembers = map[string]bool{
	"id": true, "element-id": true, "key-id": true, "value-id": true,
	"source-id": true, "source-ids": true, "identifier-field-ids": true,
}

// eachID replaces every column id in a schema, a partition spec or a sort
// order. It does not look into default values, which are the user's data.
func eachID(value any, replace func(json.Number) json.Number) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			eachID(one, replace)
		}
	case map[string]any:
		for name, one := range v {
			switch ids, isList := one.([]any); {
			case strings.HasSuffix(name, "-default"):
			case !idMembers[name]:
				eachID(one, replace)
			case isList:
				for i := range ids {
					if id, ok := ids[i].(json.Number); ok {
						ids[i] = replace(id)
					}
				}
			default:
				if id, ok := one.(json.Number); ok {
					v[name] = replace(id)
				}
			}
		}
	}
}

// oneMore adds one to a number; what is no integer stays, and is refused later.
func oneMore(id json.Number) json.Number {
	n, err := id.Int64()
	if err != nil {
		return id
	}
	raw, err := json.Marshal(n + 1)
	if err != nil {
		return id
	}
	return json.Number(raw)
}

// requirements are those of a commit. ClickHouse leaves out a snapshot-id that
// is null, which means the same: the branch must not exist.
type requirements table.Requirements

// UnmarshalJSON reads a list of requirements.
func (r *requirements) UnmarshalJSON(data []byte) error {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, one := range all {
		if _, has := one["snapshot-id"]; !has && string(one["type"]) == `"assert-ref-snapshot-id"` {
			one["snapshot-id"] = json.RawMessage("null")
		}
	}
	whole, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return json.Unmarshal(whole, (*table.Requirements)(r))
}
