package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/laketap/laketap/admin"
)

// doctorTimeout bounds one look at something on the network. It is longer than
// a look should take and shorter than people wait without asking why.
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

// A level is how bad a finding is: fail means that a server with this
// configuration would not start or could not serve.
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

	at     string        // where a server was asked for
	server *admin.Status // nil: none runs
	// adopted says that cfg is the server's as far as the admin API tells: the
	// configuration at hand names no catalog, so it cannot be the one that the
	// server was started with. Keys, secrets and the data directory are never
	// told, so nothing may be concluded from what cfg says of these.
	adopted bool
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
	refusal := d.askServer(a.ctx)
	d.summary()
	d.serverState(refusal)
	d.ports(a.ctx)
	d.data()
	d.clusterKey()
	d.staticKeys()
	d.certificate()
	d.audit()
	for i := range d.cfg.Catalogs {
		d.catalog(a.ctx, &d.cfg.Catalogs[i])
	}
	if d.adopted {
		d.serverStores()
	} else {
		d.stores(a.ctx)
	}
	d.advertise(a.ctx)
	// After Ctrl-C every look failed, and none of the findings is one.
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
	return true
}

// summary tells whose configuration is examined. Without a catalog it is still
// a valid one, since serve --lake brings its own.
func (d *doctor) summary() {
	text := fmt.Sprintf("%s, %s, authority %s",
		counted(len(d.cfg.Catalogs), "catalog"), counted(len(d.cfg.Storage.Origins), "origin"), d.cfg.Storage.Authority)
	switch {
	case d.adopted:
		d.tell(good, "config", "none here names a catalog, so that of the running server is looked at: "+text, "")
	case len(d.cfg.Catalogs) == 0:
		d.tell(warn, "config", "names no catalog", "name the one to stand in front of (--catalog, or catalogs in laketap.yml), or serve a local lake (laketap serve --lake DIR)")
	default:
		d.tell(good, "config", text, "")
	}
}

// askServer asks a server that runs how it is, and returns why there is none.
// What it stands in front of is looked at too, if the configuration at hand
// names nothing else: a server with a local lake has its catalogs from the
// lake.
func (d *doctor) askServer(ctx context.Context) error {
	at := d.cmd.adminFlags
	// Nobody named a server, so it is the one of this configuration.
	if at.Admin == defaultAdmin {
		at.Admin = d.cfg.Admin.Listen
		if d.cfg.TLS.on("admin") {
			at.Admin = "https://" + at.Admin
		}
	}
	d.at = at.Admin
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	var s admin.Status
	if err := at.ask(ctx, "/api/v1/status", nil, &s); err != nil {
		return err
	}
	d.server = &s
	if len(d.cfg.Catalogs) == 0 {
		d.adopt(&s)
	}
	return nil
}

// adopt makes what a server told the configuration to examine.
func (d *doctor) adopt(s *admin.Status) {
	d.adopted = true
	for _, u := range s.Upstreams {
		d.cfg.Catalogs = append(d.cfg.Catalogs, UpstreamConfig{Name: u.Name, URL: u.URL})
	}
	d.cfg.Storage.Origins = nil
	for _, o := range s.Origins {
		d.cfg.Storage.Origins = append(d.cfg.Storage.Origins, OriginConfig{Name: o.Name, Endpoint: o.Endpoint, Region: o.Region, Buckets: o.Buckets})
	}
	d.cfg.Storage.Authority, d.cfg.Storage.Roots = s.Authority, s.Roots
}

// serverState tells how the server is, or why it was not reached: that is no
// failure, since doctor is of use before the first start, too.
func (d *doctor) serverState(refusal error) {
	if d.server == nil {
		d.split(warn, "server", refusal)
		return
	}
	s := d.server
	d.tell(good, "server", fmt.Sprintf("%s, version %s, up %v", d.at, s.Version, d.now().Sub(s.Started).Round(time.Second)), "")
	for _, r := range s.Reasons {
		d.split(bad, reasonFor(r), fmt.Errorf("as the server sees it: %s", r.Reason))
	}
	for _, r := range s.Warnings {
		d.split(warn, reasonFor(r), fmt.Errorf("as the server sees it: %s", r.Reason))
	}
	for i := range s.Upstreams {
		d.seen(&s.Upstreams[i])
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
