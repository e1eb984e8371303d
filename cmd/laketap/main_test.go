package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain lets scripts run this test binary as laketap and as laketap-lake.
func TestMain(m *testing.M) {
	testscript.Main(noLeaks{m}, map[string]func(){"laketap": main, lakeProgram: fakeLakeMain})
}

// noLeaks runs tests and fails if they leave goroutines behind.
type noLeaks struct{ m *testing.M }

func (n noLeaks) Run() int {
	code := n.m.Run()
	if code != 0 {
		return code
	}
	// fasthttp looks every ten seconds whether its pool should end, and keeps a
	// clock for the whole process.
	err := goleak.Find(goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
