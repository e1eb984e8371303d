// Command laketap runs the taps and tells people what they saw. It owns the
// command line, the configuration and the wiring; it refuses logic of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// grammar is the command line: a field a command.
type grammar struct {
	Serve    ServeCmd    `cmd:"" help:"Run the taps in front of one or more catalogs and their stores."`
	Demo     DemoCmd     `cmd:"" help:"Run Laketap in front of a local lake, for trying it out."`
	Status   StatusCmd   `cmd:"" help:"Show what runs, what it stands in front of, and which engines and tables it saw."`
	Accesses AccessesCmd `cmd:"" help:"Show what engines read and wrote, request by request."`
	Tables   TablesCmd   `cmd:"" help:"Show how much which engines read of every table, over restarts and nodes."`
	Columns  ColumnsCmd  `cmd:"" help:"Show how much which engines read of a table's columns."`
	Files    FilesCmd    `cmd:"" help:"Show how much was read of a table's files."`
	Engines  EnginesCmd  `cmd:"" help:"Show what every engine did since the server started."`
	Unused   UnusedCmd   `cmd:"" help:"Show tables and columns that nobody reads."`
	Export   ExportCmd   `cmd:"" help:"Write the memory as Parquet files, for any engine to query."`
	Forget   ForgetCmd   `cmd:"" help:"Forget what engines did with a table, or a principal did, for good."`
	Deny     DenyCmd     `cmd:"" help:"Shut out a principal, a table or a key from its next request on, or list what is."`
	Allow    AllowCmd    `cmd:"" help:"Lift what laketap deny shut out."`
	Cache    CacheCmd    `cmd:"" help:"Show what the block cache holds, empty it, or check every byte of it."`
	Connect  ConnectCmd  `cmd:"" help:"Print the exact lines that connect an engine to this server."`
	Doctor   DoctorCmd   `cmd:"" help:"Check configuration, catalogs, stores, addresses, clock and disk, each with its fix."`
	Version  VersionCmd  `cmd:"" help:"Print the version."`
}

const description = `Laketap stands between query engines and the lakehouse they share. Engines reach their catalog and their ` +
	`files through it; only the catalog URI changes.`

// An app is what commands need of the process.
type app struct {
	ctx            context.Context //nolint:containedctx // the process's own context, handed to the command that runs
	stdout, stderr io.Writer
	environ        []string
}

func main() {
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second one kills. Only then
	// do commands hear of the first, so whoever sees them end can rely on it.
	ctx, end := context.WithCancelCause(context.Background())
	context.AfterFunc(signalled, func() {
		stop()
		end(context.Cause(signalled))
	})
	code := run(&app{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes one command and returns the exit code: 0 is success, 1 a
// failure, 2 a command line that makes no sense.
func run(a *app, args []string) int {
	var g grammar
	// Kong would end the process; whoever runs a command in a test would be gone.
	exited := -1 // what --help asked for
	parser, err := kong.New(&g, kong.Name("laketap"), kong.Description(description), kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(code int) { exited = code }), kong.Vars{"engines": engines}, kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(a.stderr, "laketap:", err)
		return 1
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "laketap: %v\nlaketap --help lists commands, laketap COMMAND --help their flags\n", err)
		return 2
	}
	err = command.Run(a)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSilent):
		return 1
	}
	fmt.Fprintln(a.stderr, "laketap: "+indent(err.Error()))
	return 1
}

// errSilent ends a command that has said already what is wrong.
var errSilent = errors.New("told already")

// indent moves all lines but the first to the right.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n         ") }
