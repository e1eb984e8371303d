package main

import (
	"io"
	"log/slog"
)

// newLogger returns a logger as configured; Check has looked at the words.
func newLogger(w io.Writer, cfg LogConfig) *slog.Logger {
	// The zero level is info.
	opts := &slog.HandlerOptions{}
	var level slog.Level
	if level.UnmarshalText([]byte(cfg.Level)) == nil {
		opts.Level = level
	}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
