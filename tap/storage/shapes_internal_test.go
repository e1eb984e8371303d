package storage

// A shape is what a client may write on one connection to make two servers
// read it differently.
type shape struct {
	name string
	// answers are the statuses of what comes back, "!" marks a closed
	// connection. 403 is a request that was understood: nobody signed it.
	answers string
	wire    string
}

// shapes are a table for tests and the seeds of the fuzzer. A bare line feed
// ends a request line and a trailer, as RFC 9112 §2.2 lets a server do, and as
// net/http does; everywhere else it is refused.
func shapes() []shape {
	const get = "GET /lake/a HTTP/1.1\r\nHost: h\r\n"
	const put = "PUT /lake/a HTTP/1.1\r\nHost: h\r\n"
	const next = "GET /lake/next HTTP/1.1\r\nHost: h\r\n\r\n"
	const chunked = put + "Transfer-Encoding: chunked\r\n\r\n"
	return []shape{
		{"plain", "403 403", get + "\r\n" + next},
		{"length", "403 403", put + "Content-Length: 3\r\n\r\nabc" + next},
		{"chunks", "403 403", chunked + "3\r\nabc\r\n0\r\n\r\n" + next},
		{"body of a GET", "403 403", get + "Content-Length: 3\r\n\r\nabc" + next},
		{"chunks of a GET", "403 403", get + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + next},
		{"two lengths", "400!", put + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"two other lengths", "400!", put + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + next},
		{"length and coding", "400!", put + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next},
		{"two codings", "400!", put + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next},
		{"coding in capitals", "403 403", put + "transfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n" + next},
		{"coding with a tab", "403 403", put + "Transfer-Encoding:\tchunked\t\r\n\r\n0\r\n\r\n" + next},
		{"coding with vertical tab", "400!", put + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + next},
		{"identity", "400!", put + "Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"odd coding", "400!", put + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + next},
		{"empty coding", "400!", put + "Transfer-Encoding:\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"folded", "400!", put + "X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"line feed", "400!", put + "X: a\nContent-Length: 3\r\n\r\nabc" + next},
		{"line feed in the first line", "403 403", "PUT /lake/a HTTP/1.1\nHost: h\r\n\r\n" + next},
		{"line feed after the head", "400!", put + "X: a\r\n\n" + next},
		{"carriage return", "400!", put + "X: a\rContent-Length: 3\r\n\r\nabc" + next},
		{"carriage return in the first line", "400!", "GET /lake/a\r HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"NUL", "400!", put + "X: a\x00\r\n\r\n" + next},
		{"NUL in the target", "400!", "GET /a\x00b HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"control in a value", "400!", put + "X: a\x01\x7f\r\n\r\n" + next},
		{"control in a name", "400!", put + "X\x01: a\r\n\r\n" + next},
		{"separator in a name", "400!", put + "X(a): a\r\n\r\n" + next},
		{"space in a name", "400!", put + "X a: a\r\n\r\n" + next},
		{"space before the colon", "400!", put + "Content-Length : 3\r\n\r\nabc" + next},
		{"space before the first", "400!", "PUT /lake/a HTTP/1.1\r\n Host: h\r\n\r\n" + next},
		{"sign of a length", "400!", put + "Content-Length: +3\r\n\r\nabc" + next},
		{"length in hexadecimal", "400!", put + "Content-Length: 0x3\r\n\r\nabc" + next},
		{"length with zeros", "403 403", put + "Content-Length: 003\r\n\r\nabc" + next},
		{"length list", "400!", put + "Content-Length: 3, 3\r\n\r\nabc" + next},
		{"length of nothing", "400!", put + "Content-Length: \r\n\r\n" + next},
		{"length too large", "400!", put + "Content-Length: 99999999999999999999\r\n\r\nabc"},
		{"chunk with sign", "403!", chunked + "+3\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk with space", "403!", chunked + " 3\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk with space behind", "403 403", chunked + "3 \r\nabc\r\n0\r\n\r\n" + next},
		{"chunk in hexadecimal", "403!", chunked + "0x3\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk too large", "403!", chunked + "fffffffffffffffff\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk that overflows", "403!", chunked + "8000000000000003\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk with zeros", "403 403", chunked + "000000000000003\r\nabc\r\n000\r\n\r\n" + next},
		{"chunk with extension", "403 403", chunked + "3;a=b\r\nabc\r\n0;x\r\n\r\n" + next},
		{"chunk extension with line feed", "403!", chunked + "3;a\nabc\r\n0\r\n\r\n" + next},
		{"chunk extension with carriage return", "403!", chunked + "3;a\rb\r\nabc\r\n0\r\n\r\n" + next},
		{"chunk with line feed", "403!", chunked + "3\nabc\r\n0\r\n\r\n" + next},
		{"chunk end with line feed", "403!", chunked + "3\r\nabc\n0\r\n\r\n" + next},
		{"chunk without end", "403!", chunked + "3\r\nabcd\r\n0\r\n\r\n" + next},
		{"last chunk with line feed", "403!", chunked + "0\n\n" + next},
		{"trailer", "403 403", chunked + "0\r\nX-A: b\r\n\r\n" + next},
		{"trailer of a line feed", "403 403", chunked + "0\r\n\n" + next},
		{"trailer with line feed", "403 403", chunked + "0\r\nX-A: b\n\r\n" + next},
		{"trailer that frames", "400!", put + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n" + next},
		{"HTTP/1.0", "403!", "GET /lake/a HTTP/1.0\r\n\r\n" + next},
		{"HTTP/1.0 kept", "403 403", "GET /lake/a HTTP/1.0\r\nConnection: keep-alive\r\nHost: h\r\n\r\n" + next},
		{"HTTP/1.0 with coding", "400!", "PUT /lake/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n" + next},
		{"HTTP/1.2", "400!", "PUT /lake/a HTTP/1.2\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next},
		{"HTTP/2.0", "400!", "GET /lake/a HTTP/2.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n" + next},
		{"HTTP/0.9", "400!", "GET /lake/a\r\n" + next},
		{"two spaces", "400!", "GET  /lake/a HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"space in the target", "400!", "GET /lake/a b HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"tab in the target", "400!", "GET /lake/a\tb HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"bytes in the target", "403 403", "GET /lake/\xc3\xa9\xff HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"escape that is none", "400!", "GET /lake/%zz HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"escape in the query", "400!", "GET /lake?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"authority", "400!", "GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"CONNECT", "405!", "CONNECT /lake/a HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"CONNECT to a host", "405!", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"asterisk", "400!", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"method in small letters", "403 403", "get /lake/a HTTP/1.1\r\nHost: h\r\n\r\n" + next},
		{"head with body", "403 403", "HEAD /lake/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"two hosts", "400!", get + "Host: other\r\n\r\n" + next},
		{"empty lines", "403 403", "\r\n\r\n" + get + "\r\n\r\n" + next},
		{"line feeds before", "403 403", "\n" + get + "\r\n" + next},
		{"expectation", "100 403 403", put + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc" + next},
		{"expectation and chunks", "100 403 403", put + "Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + next},
		{"expectation of a GET", "100 403 403", get + "Expect: 100-continue\r\n\r\n" + next},
		{"connection named twice", "403!", get + "Connection: keep-alive\r\nConnection: close\r\n\r\n" + next},
		{"broken off in a body", "400!", put + "Content-Length: 30\r\n\r\nabc"},
		{"broken off in chunks", "403!", chunked + "30\r\nabc"},
		{"broken off in a head", "400!", put + "Content-Le"},
		{"nothing", "", ""},
	}
}
