package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// startMemory makes what keeps what engines do.
func (n *node) startMemory() {
	o := remember.WriterOptions{
		Memory: n.cfg.memory(), Bounds: remember.Bounds{History: n.cfg.Memory.History, Idle: n.cfg.Memory.Idle, Files: n.cfg.Memory.Files, Uses: n.cfg.Memory.Habits},
		Registerer: n.registry, Log: n.log.With("step", "remember"),
	}
	if n.cfg.Privacy.Literals == "hash" {
		o.Literal = literalHash(n.keys.Text())
	}
	n.memory = remember.NewWriter(o)
}

// literalHash returns what stands for a value of the data: the same for the
// same value on all nodes, and nothing that could be found by trying values
// without the cluster's keys.
func literalHash(keys []byte) func(string) string {
	key := sha256.Sum256(append([]byte("laketap privacy.literals\n"), keys...))
	return func(value string) string {
		mac := hmac.New(sha256.New, key[:])
		mac.Write([]byte(value))
		return "hash:" + hex.EncodeToString(mac.Sum(nil)[:12])
	}
}

// memoryReason tells what is wrong with the memory; ok is false if nothing is.
func (n *node) memoryReason() (r admin.Reason, ok bool) {
	problem := n.denials.Problem()
	if problem == "" {
		if problem = n.memory.Problem(); problem != "" {
			return admin.Reason{Kind: "memory", Reason: problem + "; engines are served, and what they do is remembered once it answers"}, true
		}
		return r, false
	}
	return admin.Reason{Kind: "memory", Reason: problem + "; who was denied last stays denied, and other nodes do not hear of changes until it answers"}, true
}
