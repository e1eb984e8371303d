package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/laketap/laketap/cmd/laketap-lake/catalog"
)

// drainTime is how long requests may go on after the lake was told to end.
const drainTime = 10 * time.Second

// run opens the folder, the object store and the catalog, announces them, and
// closes them in reverse order when ctx ends: the catalog first, which writes
// to the store; the lock of the folder last, so that the next lake starts on a
// folder that nobody writes to any more.
func run(ctx context.Context, o options, stdout io.Writer, log *slog.Logger) (err error) {
	// Who types the command gets the answer at once; a parent that starts us
	// right after it was killed may find our predecessor about to end.
	patience := time.Duration(0)
	if o.stdinGuard {
		patience = lockPatience
	}
	h, err := openHome(ctx, o.dir, patience)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	k, err := h.loadKeys()
	if err != nil {
		return err
	}
	requests, err := openLog(o.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, requests.close()) }()

	// Both ports before the catalog: what it vends names the store's address, so
	// that must be known and must not change any more.
	last := h.lastPorts()
	listener, err := bind(ctx, o.catalogPort, last.Catalog)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer listener.Close() // once more after the server closed it: harmless
	store, objects, err := startGateway(ctx, h, k, requests, o.s3Port, last.S3)
	if err != nil {
		return fmt.Errorf("object store: %w", err)
	}
	defer func() { err = errors.Join(err, store.close()) }()

	file := describe(k, portOf(listener), store.port)
	tables, err := catalog.Open(ctx, objects, catalog.Options{
		Database:  h.path(databaseName),
		Bucket:    bucket,
		Warehouse: warehouse,
		Vend:      o.vend.config(file.S3.Endpoint, k),
		Log:       log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	if err := h.savePorts(ports{Catalog: portOf(listener), S3: store.port}); err != nil {
		return err
	}
	return serveCatalog(ctx, listener, requests.wrap(tables), store.done, door{
		open:  func() error { return welcome(h, file, stdout) },
		close: h.retract,
	})
}

// describe is lake.json of this process.
func describe(k keys, catalogPort, s3Port int) lakeFile {
	return lakeFile{
		Version:   1,
		PID:       os.Getpid(),
		Catalog:   fmt.Sprintf("http://%s:%d", loopback, catalogPort),
		S3:        s3Info{Endpoint: fmt.Sprintf("http://%s:%d", loopback, s3Port), Region: region, Bucket: bucket},
		Keys:      k.Owner,
		Reader:    k.Reader,
		Warehouse: "s3://" + bucket + "/" + warehouse,
	}
}

// welcome tells the world that the lake is ready.
func welcome(h *home, file lakeFile, stdout io.Writer) error {
	if err := h.announce(file); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "lake ready: catalog %s, s3 %s, dir %s\n", file.Catalog, file.S3.Endpoint, h.dir); err != nil {
		return fmt.Errorf("say that the lake is ready: %w", err)
	}
	return nil
}

// door is called when requests are accepted and before they no longer are.
type door struct{ open, close func() error }

// serveCatalog serves until ctx ends or a server fails. Of the two ends of
// s3done the other is the gateway's close, which waits for the same one value;
// whoever takes it here puts it back.
func serveCatalog(ctx context.Context, listener net.Listener, handler http.Handler, s3done chan error, d door) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	failure := d.open()
	if failure == nil {
		select {
		case <-ctx.Done():
		case failure = <-done:
			done <- failure // for the wait below
		case failure = <-s3done:
			s3done <- failure // for the one who closes it
			failure = errors.Join(errors.New("object store ended"), failure)
		}
	}
	failure = errors.Join(failure, d.close())
	// ctx has ended, which is why we are here: the drain needs a time of its own.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(limited); err != nil {
		failure = errors.Join(failure, fmt.Errorf("drain catalog: %w", err), server.Close())
	}
	// The listener's goroutine has an end in every case: Shutdown or Close made
	// Serve return.
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		failure = errors.Join(failure, fmt.Errorf("serve catalog: %w", err))
	}
	return failure
}
