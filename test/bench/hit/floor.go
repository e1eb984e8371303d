package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"strconv"
)

// body is what the largest object holds; the others begin like it. The origin
// has the same.
func body() []byte {
	b := make([]byte, 8<<20)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

// sum is the CRC-32C of an object.
func sum(size int) uint32 {
	return crc32.Checksum(body()[:size], crc32.MakeTable(crc32.Castagnoli))
}

// answerLeast answers one request for /bench/0/SIZE.
func answerLeast(conn net.Conn, in *bufio.Reader, all []byte) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read request line: %w", err)
	}
	size := 0
	if rest, ok := bytes.CutPrefix(line, []byte("GET /bench/0/")); ok {
		digits, _, _ := bytes.Cut(rest, []byte(" "))
		if size, err = strconv.Atoi(string(digits)); err != nil || size > len(all) {
			return io.ErrUnexpectedEOF
		}
	}
	for len(bytes.TrimSpace(line)) > 0 {
		if line, err = in.ReadSlice('\n'); err != nil {
			return fmt.Errorf("read head: %w", err)
		}
	}
	answer := net.Buffers{
		strconv.AppendInt([]byte("HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n"+
			"Accept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\nServer: bench\r\nContent-Length: "), int64(size), 10),
		[]byte("\r\n\r\n"),
		all[:size],
	}
	_, err = answer.WriteTo(conn)
	return err //nolint:wrapcheck // it ends the connection, whatever it is
}
