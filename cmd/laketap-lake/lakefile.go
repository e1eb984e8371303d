package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lakeFile is DIR/lake.json: where a running lake is and how to get in. It is
// the only interface to other programs; docs/formats/lake.md describes it.
type lakeFile struct {
	Version   int    `json:"version"`
	PID       int    `json:"pid"` // tells this run's file from one that a killed run left
	Catalog   string `json:"catalog"`
	S3        s3Info `json:"s3"`
	Keys      key    `json:"keys"`
	Reader    key    `json:"reader"`
	Warehouse string `json:"warehouse"`
}

// s3Info is the object store's part of lake.json.
type s3Info struct {
	Endpoint string `json:"endpoint"`
	Region   string `json:"region"`
	Bucket   string `json:"bucket"`
}

// announce writes lake.json. It exists only while the lake is ready, and it
// appears whole: programs poll for it and read it the moment it is there. It
// holds keys, so it is for its owner only.
func (h *home) announce(file lakeFile) error {
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("encode lake.json: %w", err)
	}
	return h.save(lakeName, append(data, '\n'))
}

// retract removes lake.json.
// It goes before the servers do, so that whoever finds it can connect; one that
// is gone already is no error, since a person may have removed it.
func (h *home) retract() error {
	err := os.Remove(h.path(lakeName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// forget removes the lake.json of a run that was killed, so that nobody who
// waits for this run finds the addresses of that one. The lock is ours, so it
// is nobody else's file.
func (h *home) forget() error {
	if err := h.retract(); err != nil {
		return fmt.Errorf("remove old lake.json: %w", err)
	}
	return nil
}

// ports remembers where the lake was, so that addresses survive a restart.
type ports struct {
	Catalog int `json:"catalog"`
	S3      int `json:"s3"`
}

// lastPorts are those of the last run; zeros if there is none to be read. They
// are a convenience, so a bad file is not an error.
func (h *home) lastPorts() ports {
	var p ports
	data, err := os.ReadFile(h.path(portsName))
	if err != nil || json.Unmarshal(data, &p) != nil {
		return ports{}
	}
	return p
}

// savePorts keeps the ports for the next run.
func (h *home) savePorts(p ports) error {
	if p == h.lastPorts() {
		return nil
	}
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode ports: %w", err)
	}
	return h.save(portsName, append(data, '\n'))
}
