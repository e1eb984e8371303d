package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// How much room the data directory needs. It holds keys and little else today,
// so only a full disk is a failure.
const (
	lowDisk = 1 << 30  // bytes: warn
	noDisk  = 16 << 20 // bytes: fail
)

// ports checks that all can be opened, unless a server has opened them.
func (d *doctor) ports(ctx context.Context) {
	// They are taken, by the server that was just asked. Another server on other
	// ports would be one with another configuration.
	if d.server != nil {
		return
	}
	l, err := listen(ctx, d.cfg)
	if err != nil {
		d.split(bad, "ports", err)
		return
	}
	l.close()
	d.tell(good, "ports", fmt.Sprintf("%s, %s and %s are free", d.cfg.Catalog.Listen, d.cfg.Storage.Listen, d.cfg.Admin.Listen), "")
	if host, _, err := net.SplitHostPort(d.cfg.Admin.Listen); err == nil && !isLoopback(host) {
		d.tell(warn, "ports", "admin.listen is open to other machines, and has no password", "listen on 127.0.0.1, or keep the network private")
	}
}

// data checks that the data directory can be written, or made, and has room.
func (d *doctor) data() {
	dir := d.cfg.Data
	if _, err := os.Stat(dir); d.adopted && errors.Is(err, fs.ErrNotExist) {
		d.tell(good, "data", "the running server keeps its own; --data DIR looks at it", "")
		return
	}
	// What is not there yet is made at the first start, below the nearest folder
	// that is.
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			d.tell(bad, "data", dir+" is no directory", "set data to one")
			return
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
	}
	// By trying: the bits of the mode say nothing of read-only file systems and
	// of other rules.
	probe, err := os.CreateTemp(dir, ".laketap-doctor-*")
	if err != nil {
		d.tell(bad, "data", fmt.Sprintf("%s cannot be written: %v", dir, err), "give this user the right to, or set data to another directory")
		return
	}
	err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		d.tell(warn, "data", err.Error(), "look at the file system")
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		d.tell(warn, "data", fmt.Sprintf("free space of %s is unknown: %v", dir, err), "look at the file system")
		return
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // its type differs between systems
	text := fmt.Sprintf("%s can be written, %s free", d.cfg.Data, bytesText(free))
	switch {
	case free < noDisk:
		d.tell(bad, "data", text, "make room, or set data to another disk")
	case free < lowDisk:
		d.tell(warn, "data", text, "make room, or set data to another disk")
	default:
		d.tell(good, "data", text, "")
	}
}

// audit checks that the record of accesses can be written, without making it.
func (d *doctor) audit() {
	name := d.cfg.Audit.File
	if name == "" {
		return
	}
	const what, fix = "audit", "give this user the right to append to it, or name another with audit.file"
	_, err := os.Stat(name)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	} else if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.CreateTemp(filepath.Dir(name), ".laketap-doctor-*"); err == nil {
			err = os.Remove(f.Name())
		}
	}
	if f != nil {
		_ = f.Close() // nothing was written
	}
	if err != nil {
		d.tell(bad, what, name+" cannot be written: "+err.Error(), fix)
		return
	}
	d.tell(good, what, name+" can be written", "")
}

// clusterKey checks the file that sessions are sealed with, without making it.
func (d *doctor) clusterKey() {
	name := d.cfg.keyFile()
	if d.cfg.Cluster.KeyFile == "" {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			text := "will be made at the first start"
			if d.server != nil { // nobody serves without one
				text = "the running server has one, elsewhere than " + name
			}
			d.tell(good, "cluster key", text, "")
			return
		}
	}
	// The file is there, so this makes none.
	if _, _, err := openKeyring(d.cfg); err != nil {
		d.split(bad, "cluster key", err)
		return
	}
	d.tell(good, "cluster key", name, "")
}

// staticKeys checks the keys of clients without a catalog.
func (d *doctor) staticKeys() {
	if len(d.cfg.Keys) == 0 {
		return
	}
	if _, err := staticKeys(d.cfg.Keys, tapOrigins(d.cfg.Storage.Origins)); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			d.split(bad, "keys", errors.New(line))
		}
		return
	}
	d.tell(good, "keys", fmt.Sprintf("%d static keys", len(d.cfg.Keys)), "")
}

// advertise checks the address that engines get for files.
func (d *doctor) advertise(ctx context.Context) {
	const what = "advertise"
	text, listens := d.cfg.Storage.Advertise, d.cfg.Storage.Listen
	if d.server != nil { // it may have been started with other flags
		text = d.server.Addresses.Advertised
		listens = d.server.Addresses.StorageListen
	}
	if text == "" {
		host, port, err := net.SplitHostPort(listens)
		if err != nil {
			return // Check has looked at it
		}
		if isLoopback(host) {
			d.tell(warn, what, "the storage tap listens on loopback: only engines on this machine reach it", "set storage.listen to :"+port+" for others")
			return
		}
		d.tell(good, what, "engines get the host that they reached the catalog by, with port "+port, "")
		return
	}
	u, err := url.Parse(text)
	if err != nil {
		return // Check has looked at it
	}
	if d.server != nil { // else nobody listens there yet
		ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
		defer cancel()
		if err := dial(ctx, text, nil); err != nil {
			d.tell(bad, what, text+" is not reached from here: "+err.Error(), "open the port, or correct storage.advertise")
			return
		}
	}
	if isLoopback(u.Hostname()) {
		d.tell(warn, what, text+" is a loopback address: only engines on this machine reach it", "set storage.advertise to a name that others know")
		return
	}
	d.tell(good, what, text, "")
}

// isLoopback reports whether a host is this machine for itself only.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// clock compares the clock of something behind us with ours: signatures are
// good for 15 minutes.
func (d *doctor) clock(what string, skew time.Duration) {
	const fix = "set the clocks by NTP"
	switch text := fmt.Sprintf("its clock and ours are %v apart", skew.Abs()); {
	case skew.Abs() > 5*time.Minute:
		d.tell(bad, what, text+"; signatures will be refused", fix)
	case skew.Abs() > 5*time.Second:
		d.tell(warn, what, text, fix)
	}
}
