package demo

import (
	"encoding/json"
	"testing"
)

func TestEventRows(t *testing.T) {
	for _, tt := range []struct {
		line  string
		rows  int
		count int64
		ok    bool
	}{
		{`{"event":"table","rows":600572}`, 0, 600572, true},
		{`{"event":"answer","rows":[["a",null],["b","1"]]}`, 2, 0, true},
		{`{"event":"answer","rows":[]}`, 0, 0, true},
		{`{"event":"answer"}`, 0, 0, true},
		{`{"event":"answer","rows":[[1]]}`, 0, 0, false},
		{`{"event":"answer","rows":"many"}`, 0, 0, false},
	} {
		var e event
		err := json.Unmarshal([]byte(tt.line), &e)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.line, err)
		}
		if err == nil && (len(e.Rows.cells) != tt.rows || e.Rows.count != tt.count) {
			t.Errorf("%s: %d rows, count %d", tt.line, len(e.Rows.cells), e.Rows.count)
		}
	}
}

// What an engine prints never stops the demo, whatever it is.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{
		`{"event":"answer","question":"q1","rows":[["A",null]],"seconds":0.1}`,
		`{"event":"table","name":"nation","rows":25,"loaded":true}`,
		`{"event":"failed","error":"x"}`, `[]`, `null`, `{`, "26/11/30 WARN NativeCodeLoader",
		`{"event":"answer","rows":[[[]]]}`, `{"event":"answer","rows":1e99}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, line []byte) {
		var e event
		_ = json.Unmarshal(line, &e)
		for _, row := range e.Rows.cells {
			_ = differs([]column{{"c", "decimal"}}, [][]*string{row}, [][]*string{row})
		}
	})
}
