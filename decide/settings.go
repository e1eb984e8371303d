package decide

import (
	"path"
	"slices"
	"time"

	"github.com/laketap/laketap"
)

// A Mode says what becomes of a decision.
type Mode string

// The modes.
const (
	Observe    Mode = "observe"    // nothing is decided
	Advise     Mode = "advise"     // decisions are told, not carried out
	Accelerate Mode = "accelerate" // they are carried out, inside Laketap only
)

// A Rule sets the mode of some policies for some tables.
type Rule struct {
	Tables   string           // pattern of "catalog.namespace.table", * and ? match dots too
	Policies []laketap.Policy // nil: all
	Mode     Mode
}

// Settings are what people set. The zero value is the defaults.
type Settings struct {
	Mode  Mode   // where no rule says otherwise; "" is Accelerate
	Rules []Rule // the first that matches counts

	// Control is the share of objects that are left alone, to compare with; 0 is
	// 0.05, and less than 0 is none.
	Control float64
	// Threshold is how likely a column has to be read in a file that is opened for
	// it to be brought; 0 is 0.5.
	Threshold float64
	// MinOpens is how many files of a table have to have been opened, in heat,
	// before its habits count; 0 is 4.
	MinOpens float64
	// Floor is the share of what is brought for a column that has to be used; 0 is
	// 0.4. Below it the column is left alone until Retry has passed; 0 is 6 h.
	Floor float64
	Retry time.Duration

	Validity time.Duration // of what stands; 0 is 24 h
	// WarmFor is for how long after a commit its files are worth bringing; 0 is 1 h.
	WarmFor time.Duration
	// Cache is how many bytes the cache has, and Share how much of it files of
	// commits may take that nobody has asked for; 0 is 10 GiB and 0.25.
	Cache int64
	Share float64
	// RoundTrip is what a request to the origin takes, until it is known better;
	// 0 is 30 ms.
	RoundTrip time.Duration
}

// withDefaults fills in what zero stands for.
func (s Settings) withDefaults() Settings {
	if s.Mode == "" {
		s.Mode = Accelerate
	}
	if s.Control == 0 {
		s.Control = 0.05
	}
	s.Control = min(max(s.Control, 0), 1)
	for of, value := range map[*float64]float64{&s.Threshold: 0.5, &s.MinOpens: 4, &s.Floor: 0.4, &s.Share: 0.25} {
		if *of == 0 {
			*of = value
		}
	}
	for of, value := range map[*time.Duration]time.Duration{
		&s.Retry: 6 * time.Hour, &s.Validity: 24 * time.Hour, &s.WarmFor: time.Hour, &s.RoundTrip: 30 * time.Millisecond,
	} {
		if *of == 0 {
			*of = value
		}
	}
	if s.Cache == 0 {
		s.Cache = 10 << 30
	}
	return s
}

// mode returns what becomes of decisions of a policy about a table.
func (s *Settings) mode(p laketap.Policy, t *laketap.TableFacts) Mode {
	for _, r := range s.Rules {
		if ok, err := path.Match(r.Tables, t.ID.Catalog+"."+t.Name); err != nil || !ok {
			continue // the configuration has refused what is no pattern
		}
		if r.Policies == nil || slices.Contains(r.Policies, p) {
			return r.Mode
		}
	}
	return s.Mode
}
