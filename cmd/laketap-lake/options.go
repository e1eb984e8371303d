package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
)

// options is the command line.
type options struct {
	dir         string // absolute
	catalogPort int    // 0: the port of the last run, else any free one
	s3Port      int    // 0: likewise
	vend        vending
	log         string // absolute; empty: no request log
	stdinGuard  bool
}

// parse reads the command line. The folder may stand before, between or after
// the flags.
func parse(args []string, help io.Writer) (options, error) {
	var o options
	var vend string
	flags := flag.NewFlagSet("laketap-lake", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.catalogPort, "catalog-port", 0, "port of the catalog; 0 takes that of the last run, or a free one")
	flags.IntVar(&o.s3Port, "s3-port", 0, "port of the object store; 0 takes that of the last run, or a free one")
	flags.StringVar(&vend, "vend", string(vendKeys), "which keys tables are handed out with: keys, readonly or none")
	flags.StringVar(&o.log, "log", "", "file to append one JSON line per request to")
	flags.BoolVar(&o.stdinGuard, "stdin-guard", false, "end when standard input is closed")

	// The flag package stops at the first word that is no flag. Taking that word
	// and parsing on lets flags stand on either side of the folder.
	var words []string
	for rest := args; ; {
		if err := flags.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprint(help, usage)
				flags.SetOutput(help)
				flags.PrintDefaults()
			}
			return options{}, err
		}
		if flags.NArg() == 0 {
			break
		}
		words = append(words, flags.Arg(0))
		rest = flags.Args()[1:]
	}
	if len(words) != 1 || words[0] == "" {
		return options{}, fmt.Errorf("want one folder, got %d: laketap-lake DIR [flags]", len(words))
	}
	return o.resolve(words[0], vend)
}

// resolve checks values and makes paths absolute: the S3 library changes the
// working directory of the process.
func (o options) resolve(dir, vend string) (options, error) {
	for name, port := range map[string]int{"catalog-port": o.catalogPort, "s3-port": o.s3Port} {
		if port < 0 || port > 65535 {
			return options{}, fmt.Errorf("--%s=%d: want a port, 0 to 65535", name, port)
		}
	}
	// A misspelt value must not vend more than was meant, so there is no default
	// for what is not known.
	o.vend = vending(vend)
	if !o.vend.known() {
		return options{}, fmt.Errorf("--vend=%s: want keys, readonly or none", vend)
	}
	var err error
	if o.dir, err = filepath.Abs(dir); err != nil {
		return options{}, fmt.Errorf("resolve folder: %w", err)
	}
	if o.log != "" {
		if o.log, err = filepath.Abs(o.log); err != nil {
			return options{}, fmt.Errorf("resolve log file: %w", err)
		}
	}
	return o, nil
}
