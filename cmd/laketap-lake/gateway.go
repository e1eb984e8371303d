package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

// Limits of the S3 server, far above what one machine's engines open.
const (
	maxConnections = 10_000
	maxRequests    = 8_000
	maxParts       = 10_000
)

// portAttempts bounds how often another port is tried when the free one we
// picked was taken before the library bound it.
const portAttempts = 5

// gateway is the running S3 server.
type gateway struct {
	port int
	stop context.CancelFunc
	done chan error // gets the server's end, once
}

// startGateway serves the objects over S3 and returns when it accepts requests.
// The library binds an address itself, so a free port can be lost between
// picking and binding; with a port of our choice that means picking again.
func startGateway(ctx context.Context, h *home, k keys, log *requestLog, wanted, last int) (*gateway, *store, error) {
	var failures error
	for attempt := range portAttempts {
		port, err := pickPort(ctx, wanted, last)
		if err != nil {
			return nil, nil, err
		}
		// Anew each time: a server that failed to start may have ended its store.
		objects, err := openStore(ctx, h, k)
		if err != nil {
			return nil, nil, err
		}
		running, err := listen(ctx, objects, k, log, port)
		if err == nil {
			return running, objects, nil
		}
		failures = fmt.Errorf("start object store on port %d: %w", port, err)
		// With a port that was asked for there is no other to try.
		if wanted != 0 || attempt == portAttempts-1 {
			break
		}
		last = 0
	}
	return nil, nil, failures
}

// listen runs the server on one port. Only one may run in a process.
func listen(ctx context.Context, objects *store, k keys, log *requestLog, port int) (*gateway, error) {
	// The server outlives ctx: it is stopped last, when the catalog is.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ready := make(chan struct{})
	config := &embedgw.Config{
		RootUserAccess:    k.Owner.ID,
		RootUserSecret:    k.Owner.Secret,
		Region:            region,
		Ports:             []string{net.JoinHostPort(loopback, strconv.Itoa(port))},
		MaxConnections:    maxConnections,
		MaxRequests:       maxRequests,
		MultipartMaxParts: maxParts,
		Quiet:             true,
		// Arrow's multipart upload fails on a connection that is kept alive.
		KeepAlive:  false,
		IAMService: users{k},
		S3Options: []s3api.Option{
			s3api.WithOnListen(func() { close(ready) }),
			s3api.WithMiddleware("/", log.fiber),
		},
	}
	g := &gateway{port: port, stop: stop, done: make(chan error, 1)}
	go func() { g.done <- embedgw.RunVersityGW(running, uploads{objects.backend}, config) }()
	select {
	case <-ready:
		return g, nil
	case err := <-g.done:
		stop()
		if err == nil {
			err = errors.New("server ended at once")
		}
		return nil, err
	case <-ctx.Done():
		stop()
		return nil, errors.Join(context.Cause(ctx), <-g.done)
	}
}

// close drains the server and waits for its end.
func (g *gateway) close() error {
	g.stop()
	return <-g.done
}
