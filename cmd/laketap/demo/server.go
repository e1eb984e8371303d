package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/laketap/laketap/admin"
)

const (
	serverPatience = 30 * time.Second // until the server must be ready
	pollEvery      = 50 * time.Millisecond
)

// A server is `laketap serve --lake` as a child.
type server struct {
	catalog string // what engines are told, and all but one are told nothing else
	storage string // for Trino
	region  string // for Trino
	admin   string

	ended chan struct{} // closed when it has ended
	err   error         // why; read after ended
	stop  func()        // ends it and waits for that
}

// startServer starts the server that c describes and waits until it is ready.
// It closes the server's log when that has ended. ctx bounds the start only, so
// that the engines can be ended before the server they talk to.
func startServer(ctx context.Context, c child, adminURL string) (*server, error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{admin: adminURL, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = c.run(running)
		_ = c.log.Close() // what is missing there, nobody can be told
	}()
	s.stop = func() {
		cancel()
		<-s.ended
	}
	if err := s.await(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// await polls until the server says that it is ready.
func (s *server) await(ctx context.Context) error {
	late := fmt.Errorf("it is not ready after %v", serverPatience)
	ctx, cancel := context.WithTimeoutCause(ctx, serverPatience, late)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	// The last thing that was wrong is what a person wants to know if it is late.
	why := errors.New("nobody answers")
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, late) {
				return cause
			}
			return fmt.Errorf("start the server: %w: %w", late, why)
		case <-s.ended:
			return fmt.Errorf("start the server: it ended: %w", s.err)
		case <-tick.C:
			var status admin.Status
			switch err := getJSON(ctx, s.admin+"/api/v1/status", &status); {
			case err != nil:
				why = err
			case !status.Ready:
				why = notReady(status.Reasons)
			default:
				return s.reached(&status)
			}
		}
	}
}

// reached notes where engines find the server.
func (s *server) reached(status *admin.Status) error {
	if len(status.Upstreams) == 0 || len(status.Origins) == 0 {
		return errors.New("start the server: it runs without a catalog or a store")
	}
	s.catalog, s.storage = status.Upstreams[0].URI, status.Addresses.Storage
	s.region = status.Origins[0].Region
	return nil
}

// notReady words the server's own reasons.
func notReady(reasons []admin.Reason) error {
	all := make([]string, 0, len(reasons))
	for _, r := range reasons {
		all = append(all, strings.TrimSpace(r.Kind+" "+r.Name)+": "+r.Reason)
	}
	return errors.New(strings.Join(all, "; "))
}

// getJSON gets what the admin API answers at a URL.
func getJSON(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", req.URL.Path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read what %s answered: %w", req.URL.Path, err)
	}
	return nil
}

// freeAddresses returns n loopback addresses that nobody listens on. Somebody
// may take one before it is used; the server then says so.
func freeAddresses(ctx context.Context, n int) ([]string, error) {
	var config net.ListenConfig
	addresses := make([]string, 0, n)
	for range n {
		l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // at the end, so that all differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
