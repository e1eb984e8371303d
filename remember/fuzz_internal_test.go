package remember

import "testing"

// Whatever is in the file, it is a list whose every line could have been
// written, or it is refused.
func FuzzDenyFile(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"denials":[{"kind":"key","subject":"LTA","since":"2026-12-01T00:00:00Z"}]}`,
		`{"denials":[{"kind":"x","subject":"y"}]}`, `{"pending":[{"denial":{"kind":"table","subject":"u"},"lift":true}]}`, `{"denials":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseDenyFile(text)
		if err != nil {
			if len(got.Denials)+len(got.Pending) > 0 {
				t.Errorf("refused and taken: %v", got)
			}
			return
		}
		for _, d := range applied(got.Denials, got.Pending) {
			if err := d.Check(); err != nil {
				t.Errorf("%+v: %v", d, err)
			}
		}
	})
}
