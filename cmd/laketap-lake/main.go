// Command laketap-lake is a small lake of one folder: an S3 store and an
// Iceberg REST catalog on loopback ports, for trying, tests and small
// installations. It imports nothing of the product, and the product reaches it
// as it would reach any other catalog and store.
//
// It owns its folder and nothing else. It refuses other interfaces than
// loopback, a folder another lake uses, and a folder of another layout.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage: laketap-lake DIR [flags]

Runs a local lake in DIR (created if missing) until SIGINT or SIGTERM. Prints
one line when ready; DIR/lake.json then says where everything is.

Examples:
  laketap-lake ./lake
  laketap-lake ./lake --catalog-port 8181 --log ./requests.jsonl

Flags:
`

func main() {
	options, err := parse(os.Args[1:], os.Stderr)
	// Help was asked for and has been printed, which is a success.
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "laketap-lake:", err)
		os.Exit(2)
	}
	if err := serve(options); err != nil {
		fmt.Fprintln(os.Stderr, "laketap-lake:", err)
		os.Exit(1)
	}
}

// serve runs the lake until a signal or, with --stdin-guard, until the parent
// closes our standard input, which also happens when it is killed.
func serve(options options) error {
	stdout, err := silence()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if options.stdinGuard {
		guarded, end := context.WithCancel(ctx)
		defer end()
		go func() { // ends with standard input, at the latest with the process
			_, _ = io.Copy(io.Discard, os.Stdin)
			end()
		}()
		ctx = guarded
	}
	// Warnings only: whoever runs the lake as a child repeats what it says to a
	// person, and a quiet lake is one that works.
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return run(ctx, options, stdout, log)
}

// silence points os.Stdout to nowhere and returns the real one. The S3 library
// prints there, and our standard output is one line that scripts read.
func silence() (*os.File, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open null device: %w", err)
	}
	stdout := os.Stdout
	os.Stdout = null
	return stdout, nil
}
