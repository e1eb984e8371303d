package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
)

// subjectFlags name whom or what a denial is about.
type subjectFlags struct {
	Principal string `placeholder:"NAME" help:"A principal, as laketap accesses --json names it." xor:"subject"`
	Table     string `placeholder:"TABLE" help:"A table: CATALOG.NAMESPACE.TABLE, or its UUID, which stays when it is renamed." xor:"subject"`
	Key       string `placeholder:"ID" help:"An access key id, LT…" xor:"subject"`
}

// subject returns what the flags name; kind is empty if they name nothing.
func (f *subjectFlags) subject() (kind, subject string) {
	switch {
	case f.Principal != "":
		return laketap.DenyPrincipal, f.Principal
	case f.Table != "":
		return laketap.DenyTable, f.Table
	case f.Key != "":
		return laketap.DenyKey, f.Key
	}
	return "", ""
}

// DenyCmd shuts somebody or something out.
type DenyCmd struct {
	adminFlags
	subjectFlags

	Reason string `placeholder:"TEXT" help:"Why, for people."`
	By     string `env:"USER" placeholder:"NAME" help:"Who says so (${env})."`
}

// Help shows examples.
func (DenyCmd) Help() string {
	return `What is denied is refused from its next request on, on every node, until laketap allow lifts it.
Examples:
  laketap deny                                      list what is denied
  laketap deny --principal prod:alice --reason "left the company"
  laketap deny --table prod.tpch.orders
  laketap deny --key LTABCDEFGHIJKLMNOPQRST`
}

// Run executes the command.
func (c *DenyCmd) Run(a *app) error {
	kind, subject := c.subject()
	var page admin.DenialPage
	if kind == "" {
		if c.Reason != "" {
			return errors.New("--reason is of nothing: name --principal, --table or --key")
		}
		if err := c.ask(a.ctx, "/api/v1/denials", nil, &page); err != nil {
			return err
		}
		return showDenials(a, &page)
	}
	body, err := json.Marshal(admin.NewDenial{Kind: kind, Subject: subject, By: c.By, Reason: c.Reason})
	if err != nil {
		return fmt.Errorf("write denial: %w", err)
	}
	if err := c.tell(a.ctx, http.MethodPost, "/api/v1/denials", nil, body, &page); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "denied %s %s\n", kind, subject)
	warnUnshared(a, &page)
	return nil
}

// AllowCmd lifts a denial.
type AllowCmd struct {
	adminFlags
	subjectFlags
}

// Help shows examples.
func (AllowCmd) Help() string {
	return `Examples:
  laketap allow --principal prod:alice
  laketap allow --table prod.tpch.orders`
}

// Run executes the command.
func (c *AllowCmd) Run(a *app) error {
	kind, subject := c.subject()
	if kind == "" {
		return errors.New("name what to allow again: --principal, --table or --key; laketap deny lists what is denied")
	}
	var page admin.DenialPage
	if err := c.tell(a.ctx, http.MethodDelete, "/api/v1/denials", url.Values{"kind": {kind}, "subject": {subject}}, nil, &page); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "allowed %s %s\n", kind, subject)
	warnUnshared(a, &page)
	return nil
}

// showDenials prints a denial a line.
func showDenials(a *app, page *admin.DenialPage) error {
	warnUnshared(a, page)
	if len(page.Denials) == 0 {
		fmt.Fprintln(a.stderr, "nothing is denied")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tSUBJECT\tSINCE\tBY\tREASON")
	for _, d := range page.Denials {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Kind, d.Subject, d.Since.Format("2006-01-02 15:04:05Z"), orDash(d.By), cmp.Or(d.Reason, "-"))
	}
	return w.Flush()
}

// warnUnshared says that other nodes may not have heard.
func warnUnshared(a *app, page *admin.DenialPage) {
	if page.Problem != "" {
		fmt.Fprintln(a.stderr, "holds on this node only until the memory answers: "+page.Problem)
	}
}
