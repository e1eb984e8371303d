package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// loopback is the only address the lake listens on: its catalog hands out keys
// to whoever asks.
const loopback = "127.0.0.1"

// bind listens on the wanted port; without one, on the last run's port if that
// is free, else on any.
func bind(ctx context.Context, wanted, last int) (net.Listener, error) {
	var config net.ListenConfig
	first := wanted
	if first == 0 {
		first = last
	}
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(first)))
	// The last run's port is a wish: an address that survives a restart is nice
	// to have. A port that was asked for is not, so no other will do.
	if err != nil && wanted == 0 && last != 0 {
		listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use: end what listens there, or choose another port", wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	return listener, nil
}

// pickPort is bind for a library that wants to bind by itself. Between the two
// another program may take the port; startGateway then tries again.
func pickPort(ctx context.Context, wanted, last int) (int, error) {
	listener, err := bind(ctx, wanted, last)
	if err != nil {
		return 0, err
	}
	return portOf(listener), listener.Close()
}

// portOf is the port a listener got.
func portOf(listener net.Listener) int {
	if address, ok := listener.Addr().(*net.TCPAddr); ok {
		return address.Port
	}
	return 0
}
