package laketap

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of what can be denied.
const (
	DenyPrincipal = "principal" // who the upstream catalog let in, as accesses name it
	DenyTable     = "table"     // "catalog.namespace.table", or its UUID
	DenyKey       = "key"       // one access key id
)

// A Denial shuts somebody or something out until it is lifted. A table denied
// by its UUID stays so when it is renamed; one denied by its name is whatever
// bears the name.
type Denial struct {
	Kind    string    `json:"kind"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
	By      string    `json:"by,omitempty"`     // who said so, as they said
	Reason  string    `json:"reason,omitempty"` // for people
}

// denialMax bounds each text of a denial, in bytes.
const denialMax = 1024

// Check returns what is wrong with a denial.
func (d Denial) Check() error {
	switch d.Kind {
	case DenyPrincipal, DenyTable, DenyKey:
	default:
		return fmt.Errorf("kind %q is none of principal, table, key", d.Kind)
	}
	if d.Subject == "" {
		return errors.New("subject is empty: name the " + d.Kind + " to deny")
	}
	for _, text := range []string{d.Subject, d.By, d.Reason} {
		if len(text) > denialMax {
			return fmt.Errorf("a text is longer than %d bytes", denialMax)
		}
		// NUL is no text to Postgres, and the rest would forge lines of a log.
		if strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("a text has control characters or is no UTF-8")
		}
	}
	return nil
}
