package block

import (
	"net/http"
	"strconv"

	"github.com/laketap/laketap"
)

// reply makes the answer from a record, with the header that the origin gave
// for the whole, and what says which part this is.
func (r *request) reply(o *object, off, end int64, body laketap.Body, served laketap.Served) *laketap.Reply {
	reply := &laketap.Reply{
		Status: http.StatusOK, Object: o.Object, Header: o.header,
		Length: end - off, Body: body, Served: served,
	}
	switch {
	case r.get.Range.Set:
		reply.Status = http.StatusPartialContent
		reply.Header = make([]laketap.Field, len(o.header), len(o.header)+1)
		copy(reply.Header, o.header)
		reply.Header = append(reply.Header, laketap.Field{Name: "Content-Range", Value: formatContentRange(off, end, o.Size)})
	case r.get.Checksums && len(o.checksums) > 0:
		reply.Header = append(append(make([]laketap.Field, 0, len(o.header)+len(o.checksums)), o.header...), o.checksums...)
	}
	return reply
}

// head makes the answer to a HEAD: that of a GET without its body.
func (r *request) head(o *object, off, end int64) *laketap.Reply {
	r.c.metrics.heads.Inc()
	return r.reply(o, off, end, laketap.Body{}, laketap.FromMemory)
}

// formatContentRange writes the field of a 206 for bytes [off, end).
func formatContentRange(off, end, size int64) string {
	b := make([]byte, 0, 64)
	b = append(b, "bytes "...)
	b = strconv.AppendInt(b, off, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, end-1, 10)
	b = append(b, '/')
	return string(strconv.AppendInt(b, size, 10))
}
