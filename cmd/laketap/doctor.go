package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/laketap/laketap/admin"
)

// doctorTimeout bounds one look at something on the network.
const doctorTimeout = 10 * time.Second

// DoctorCmd checks what a server needs, and says what to do about the rest.
type DoctorCmd struct {
	configFlags
	adminFlags

	Token     string `env:"LAKETAP_TOKEN" placeholder:"TOKEN" help:"Bearer token to look into catalogs with."`
	Warehouse string `placeholder:"NAME" help:"Warehouse to look into, if a catalog has several."`
}

// Help shows examples.
func (DoctorCmd) Help() string {
	return `Examples:
  laketap doctor
  laketap doctor --config /etc/laketap.yml
  laketap doctor --catalog http://localhost:8080/iceberg --token "$TOKEN"

The exit code is 1 if a check fails; warnings do not count.`
}

// A level is how bad a finding is.
type level string

const (
	good level = "ok"
	warn level = "warn"
	bad  level = "fail"
)

// A doctor looks at one thing after the other and tells what it finds.
type doctor struct {
	cmd   *DoctorCmd
	cfg   *Config
	out   io.Writer
	now   func() time.Time
	fails int

	server *admin.Status // nil: none runs
}

// tell prints a finding. fix is empty for what is good.
func (d *doctor) tell(l level, what, text, fix string) {
	if l == bad {
		d.fails++
	}
	fmt.Fprintf(d.out, "%-5s %-16s %s\n", l, what, text)
	if fix != "" {
		fmt.Fprintf(d.out, "      %-16s fix: %s\n", "", fix)
	}
}

// split tells an error whose text names the fix after its first semicolon.
func (d *doctor) split(l level, what string, err error) {
	text, fix, _ := strings.Cut(err.Error(), "; ")
	d.tell(l, what, text, fix)
}

// Run executes the command.
func (c *DoctorCmd) Run(a *app) error {
	d := &doctor{cmd: c, out: a.stdout, now: time.Now}
	if !d.configuration(a.environ) {
		return errSilent
	}
	d.findServer(a.ctx)
	d.ports(a.ctx)
	d.data()
	d.clusterKey()
	d.staticKeys()
	for i := range d.cfg.Catalogs {
		d.catalog(a.ctx, &d.cfg.Catalogs[i])
	}
	d.stores(a.ctx)
	d.advertise(a.ctx)
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	if d.fails > 0 {
		return errSilent
	}
	return nil
}

// configuration reads and checks it; without one, nothing else makes sense.
func (d *doctor) configuration(environ []string) bool {
	cfg, err := d.cmd.load(environ)
	if err == nil {
		err = cfg.Check()
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			text, fix, _ := strings.Cut(line, "; ")
			d.tell(bad, "config", text, fix)
		}
		return false
	}
	d.cfg = cfg
	d.tell(good, "config", fmt.Sprintf("%d catalogs, %d origins, authority %s", len(cfg.Catalogs), len(cfg.Storage.Origins), cfg.Storage.Authority), "")
	return true
}

// findServer asks a server that runs how it is. What it stands in front of is
// looked at too, if the configuration at hand names nothing else: a server
// with a local lake has its catalogs from the lake.
func (d *doctor) findServer(ctx context.Context) {
	at := d.cmd.adminFlags
	if at.Admin == defaultAdmin {
		at.Admin = d.cfg.Admin.Listen
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	var s admin.Status
	if err := at.ask(ctx, "/api/v1/status", nil, &s); err != nil {
		d.split(warn, "server", err)
		return
	}
	d.server = &s
	d.tell(good, "server", fmt.Sprintf("%s, version %s, up %v", at.Admin, s.Version, d.now().Sub(s.Started).Round(time.Second)), "")
	for _, r := range s.Reasons {
		d.split(bad, cmp.Or(strings.TrimSpace(r.Kind+" "+r.Name), "server"), fmt.Errorf("as the server sees it: %s", r.Reason))
	}
	for i := range s.Upstreams {
		d.seen(&s.Upstreams[i])
	}
	if len(d.cfg.Catalogs) == 0 {
		for _, u := range s.Upstreams {
			d.cfg.Catalogs = append(d.cfg.Catalogs, UpstreamConfig{Name: u.Name, URL: u.URL})
		}
		d.cfg.Storage.Origins = nil // the server tells of its own, in reasons
		for _, o := range s.Origins {
			d.cfg.Storage.Origins = append(d.cfg.Storage.Origins, OriginConfig{Name: o.Name, Endpoint: o.Endpoint, Region: o.Region, Buckets: o.Buckets})
		}
	}
}

// seen tells what the server has seen of an upstream.
func (d *doctor) seen(u *admin.Upstream) {
	what := "catalog " + u.Name
	if u.SignedFor != "" {
		d.tell(bad, what, "clients sign their requests for AWS "+u.SignedFor+", over the host name; such a catalog cannot be proxied", "let engines reach it directly")
	}
	if !u.DelegationRefused.IsZero() {
		d.tell(warn, what, "refused to be asked for credentials, "+ago(d.now(), u.DelegationRefused), "switch vended credentials on in the catalog")
	}
	if u.LastPassed != nil {
		d.tell(warn, what, fmt.Sprintf("table %s was passed on unchanged (%s): %s", u.LastPassed.Table, u.LastPassed.Reason, u.LastPassed.Fix), "")
	}
}
