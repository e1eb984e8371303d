package iceberg

import "strconv"

// kindNames are the words of the kinds, by kind.
var kindNames = [...]string{
	Boolean: "boolean", Int: "int", Long: "long", Float: "float", Double: "double", Decimal: "decimal", Date: "date", Time: "time",
	Timestamp: "timestamp", TimestampTZ: "timestamptz", String: "string", UUID: "uuid", Fixed: "fixed", Binary: "binary",
	Struct: "struct", List: "list", Map: "map", TimestampNS: "timestamp_ns", TimestampTZNS: "timestamptz_ns", Unknown: "unknown",
	Variant: "variant", Geometry: "geometry", Geography: "geography",
}

// String returns the type as metadata spells it, and of what has fields only
// the word: "struct", "list", "map".
func (t Type) String() string {
	if int(t.Kind) >= len(kindNames) {
		return ""
	}
	name := kindNames[t.Kind]
	switch {
	case t.Kind == Decimal:
		return name + "(" + strconv.Itoa(t.Precision) + ", " + strconv.Itoa(t.Scale) + ")"
	case t.Kind == Fixed:
		return name + "[" + strconv.Itoa(t.Length) + "]"
	case t.CRS != "" && t.Edges != "":
		return name + "(" + t.CRS + ", " + t.Edges + ")"
	case t.CRS != "":
		return name + "(" + t.CRS + ")"
	}
	return name
}
