package catalog

import "github.com/laketap/laketap"

// A row is what one engine needs beyond what every engine gets; see vend.go
// for that. An engine that is not listed needs nothing.
type row struct {
	engine string
	why    string
	// more names further spellings: each is set to the value of what it spells.
	more [][2]string
}

// rows are the differences between engines, all of them.
var rows = []row{
	{
		engine: "starrocks",
		why:    "its frontend reads manifests with a client that knows the endpoint only by this name",
		more:   [][2]string{{"aws.s3.endpoint", "s3.endpoint"}, {"aws.s3.enable_path_style_access", "s3.path-style-access"}},
	},
	{
		engine: "clickhouse",
		why:    "it glues bucket and endpoint together and needs the slash between them; every engine gets it, nobody minds",
	},
}

// rowOf returns the row of an engine; the zero row asks for nothing.
func rowOf(e laketap.Engine) row {
	for _, r := range rows {
		if r.engine == e.Name {
			return r
		}
	}
	return row{}
}
