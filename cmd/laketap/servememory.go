package main

import (
	"context"
	"path/filepath"

	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/remember"
)

// memory names the database.
func (c *Config) memory() remember.Options {
	return remember.Options{URL: c.Memory.URL, File: filepath.Join(c.Data, "memory.db")}
}

// openMemory reads who was denied last. The memory itself is opened beside the
// requests: a server starts and serves without it.
func (n *node) openMemory(context.Context) error {
	n.denials = remember.OpenDenyList(remember.DenyOptions{
		Memory: n.cfg.memory(), File: filepath.Join(n.cfg.Data, "denials.json"), Log: n.log.With("step", "remember"),
	})
	return nil
}

// memoryReason tells what is wrong with the memory; ok is false if nothing is.
func (n *node) memoryReason() (r admin.Reason, ok bool) {
	problem := n.denials.Problem()
	if problem == "" {
		return r, false
	}
	return admin.Reason{Kind: "memory", Reason: problem + "; who was denied last stays denied, and other nodes do not hear of changes until it answers"}, true
}
