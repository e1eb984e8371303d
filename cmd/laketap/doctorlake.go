package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/certs"
	"github.com/laketap/laketap/lake/s3"
	"github.com/laketap/laketap/tap"
)

// catalog checks an upstream: that it answers, and what it says about a table.
func (d *doctor) catalog(ctx context.Context, u *UpstreamConfig) {
	what := "catalog " + u.Name
	roots, err := readCA(what, u.CA)
	if err != nil {
		d.tell(bad, what, err.Error(), "correct catalogs.ca")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	look := &look{
		base: u.URL, token: d.cmd.Token, warehouse: d.cmd.Warehouse,
		client: &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
		}},
	}
	began := d.now()
	if err := look.config(ctx); err != nil {
		d.refused(what, u, err)
		return
	}
	took := d.now().Sub(began)
	d.tell(good, what, fmt.Sprintf("%s answers in %v", u.URL, took.Round(time.Millisecond)), "")
	// The answer's date was written about half-way through the request. To the
	// second: that is all a date tells.
	if !look.date.IsZero() {
		d.clock(what, look.date.Sub(began.Add(took/2)).Truncate(time.Second))
	}
	table, err := look.firstTable(ctx)
	switch {
	case err != nil:
		d.refused(what, u, err)
	case table == nil:
		d.tell(good, what, "has no table yet, so whether it vends keys is not known", "")
	default:
		d.vending(what, table)
	}
}

// refused tells why a look went no further.
func (d *doctor) refused(what string, u *UpstreamConfig, err error) {
	var status statusError
	switch {
	case errors.As(err, &status) && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		d.tell(warn, what, fmt.Sprintf("%s answers, and asks for credentials (%d)", u.URL, int(status)), "laketap doctor --token TOKEN looks further")
	case errors.As(err, &status) && status == http.StatusBadRequest && d.cmd.Warehouse == "":
		d.tell(warn, what, u.URL+" answers, and does not know which warehouse is meant (400)", "laketap doctor --warehouse NAME looks further")
	case errors.As(err, &status) && status == http.StatusNotFound:
		d.tell(bad, what, u.URL+" has no /v1/config (404)", "set catalogs.url to what engines use as their URI, without /v1")
	case errors.As(err, &status):
		d.tell(bad, what, fmt.Sprintf("%s answers %d", u.URL, int(status)), "look at the catalog's log")
	case certs.Distrusted(err):
		d.tell(bad, what, "its certificate is not trusted: "+err.Error(), "set catalogs["+u.Name+"].ca to the PEM file of its authority")
	default:
		d.tell(bad, what, "is out of reach: "+err.Error(), "start it, or correct catalogs.url; for https with an authority of your own set catalogs.ca")
	}
}

// vending tells what follows from how the catalog answered a table.
func (d *doctor) vending(what string, t *lookedAt) {
	origins := tapOrigins(d.cfg.Storage.Origins)
	bucket, _, isS3 := laketap.SplitS3(t.location)
	origin, known := tap.OriginOf(origins, bucket, t.endpoint)
	switch {
	case !isS3:
		d.tell(warn, what, fmt.Sprintf("table %s lies at %s: not S3, so its files are read around Laketap, as without it", t.name, t.location), "")
	case !known:
		d.tell(warn, what, fmt.Sprintf("table %s lies in bucket %s%s, which belongs to no origin: its files are read around Laketap", t.name, bucket, at(t.endpoint)),
			"name the bucket and the endpoint under storage.origins")
	case t.vends:
		d.tell(good, what, fmt.Sprintf("vends keys for table %s: engines are led to the storage tap with the catalog's rights", t.name), "")
	// From here on the catalog has vended nothing.
	case d.cfg.Storage.Authority != "catalog":
		d.tell(warn, what, fmt.Sprintf("vends no keys for table %s: its files are read around Laketap", t.name),
			"let the catalog vend credentials; or set storage.authority to catalog with roots: [s3://"+bucket+"/…] and keys for origin "+origin.Name)
	case d.belowRoot(t.location):
		d.tell(good, what, fmt.Sprintf("vends no keys for table %s, which lies below a root: the catalog's yes to loading it counts", t.name), "")
	default:
		d.tell(warn, what, fmt.Sprintf("vends no keys for table %s, and it lies below no root: its files are read around Laketap", t.name),
			"add "+t.location+" or a place above it to storage.roots")
	}
}

func at(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	return " at " + endpoint
}

// belowRoot reports whether a table lies below a root of the configuration.
func (d *doctor) belowRoot(location string) bool {
	table, ok := tap.LocationOf("", location)
	for _, uri := range d.cfg.Storage.Roots {
		root, isRoot := tap.LocationOf("", uri)
		if ok && isRoot && root.ContainsPrefix("", table.Bucket, table.Path+"/") {
			return true
		}
	}
	return false
}

// serverStores tells of the origins what the server sees: their keys are the
// server's, and so is the network that it reaches them by. What is not ready
// has been told as a reason.
func (d *doctor) serverStores() {
	for _, o := range d.server.Origins {
		if o.Ready {
			d.tell(good, "origin "+o.Name, cmp.Or(o.Endpoint, "AWS "+o.Region)+" is ready, as the server sees it", "")
		}
	}
}

// stores checks the origins.
func (d *doctor) stores(ctx context.Context) {
	origins, err := s3Origins(d.cfg.Storage.Origins, nil)
	if err != nil {
		d.split(bad, "origins", err)
		return
	}
	stores, err := s3.NewStores(origins, s3.Options{})
	if err != nil {
		d.tell(bad, "origins", err.Error(), "correct storage.origins")
		return
	}
	defer stores.Close()
	for _, o := range d.cfg.Storage.Origins {
		ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
		d.store(ctx, o, stores[o.Name])
		cancel()
	}
}

// store checks an origin: with its keys if they are used for anything, else
// whether somebody listens.
func (d *doctor) store(ctx context.Context, o OriginConfig, store *s3.Store) {
	what := "origin " + o.Name
	if !needsKeys(d.cfg, o) {
		where := "AWS"
		if o.Endpoint != "" {
			where = o.Endpoint + " listens"
			if err := reach(ctx, o); err != nil {
				d.tell(bad, what, "is out of reach: "+err.Error(), "start it, or correct endpoint and ca under storage.origins")
				return
			}
		}
		d.tell(good, what, where+"; engines come with keys of the catalog, none of its own are used", "")
		return
	}
	buckets := o.Buckets
	if len(buckets) == 0 {
		buckets = []string{""}
	}
	for _, bucket := range buckets {
		health, err := store.Check(ctx, bucket)
		d.clock(what, health.Skew)
		switch {
		case err != nil:
			d.split(bad, what, err)
		case health.Code == "AccessDenied":
			d.tell(warn, what, "knows the keys, and does not let them list "+orDash(bucket), "give them s3:ListBucket if engines of static keys or authority catalog need it")
		default:
			d.tell(good, what, "answers with the configured keys "+bucket, "")
		}
	}
}
