package storage

import (
	"net/http"
	"strconv"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// An answer is what a client gets: an origin's reply as it is, what Blocks
// had, or a refusal.
type answer struct {
	status int
	header []laketap.Field
	length int64 // of the body; -1: unknown
	body   laketap.Body
	served laketap.Served
	object laketap.Object // that a read was answered from; zero: not known
	err    error          // why it is a refusal
	drop   bool           // close the connection after it
	after  func()         // to do when it has been written, whatever became of it; nil is nothing
}

// record tells the recorder and the metrics of a request whose answer has
// been written, or broke off with err after out bytes.
func (s *Server) record(r *request, a *answer, out int64, err error) {
	access := s.accessOf(r)
	access.Latency = s.opts.Now().Sub(r.at)
	if a.status == http.StatusOK || a.status == http.StatusPartialContent {
		access.ETag, access.Size = a.object.ETag, max(a.object.Size, 0)
	}
	access.Status, access.BytesIn, access.BytesOut, access.Served = a.status, r.body.count.Load(), out, a.served
	switch {
	case a.err != nil:
		access.Err = a.err.Error()
	case err != nil:
		access.Err = err.Error()
	}
	s.metrics.observe(&access)
	s.opts.Recorder.Access(access)
}

// begin has the auditor write down what a request is about to do, and returns
// the refusal if it cannot; nil is leave to go on.
func (s *Server) begin(r *request) *answer {
	if s.opts.Audit == nil {
		return nil
	}
	if err := s.opts.Audit.Begin(s.accessOf(r)); err != nil {
		return errUnaudited.because(err.Error()).answer(r)
	}
	return nil
}

// accessOf returns what is known of a request before it is answered.
func (s *Server) accessOf(r *request) laketap.Access {
	access := laketap.Access{At: r.at, RequestID: r.id, Tap: laketap.StorageTap, Op: noOperation, Range: r.rng, Also: r.deletes}
	if r.op != nil {
		access.Op = r.op.name
	}
	if r.source != (laketap.ObjectName{}) {
		access.Also = []laketap.ObjectName{r.source}
	}
	session := laketap.Engine{}
	if r.who != nil {
		session = r.who.engine()
		access.Principal, access.Session = r.who.principal(), r.who.keyID
	}
	access.Engine = tap.EngineAtStorage(r.header("User-Agent"), session)
	if r.bucket != "" {
		access.Object = r.name()
		s.tableOf(r, &access)
	}
	return access
}

// tableOf sets the table of an access: the one that its path belongs to, else
// the session's own if the path lies in its scope. Engines use one key for
// several tables, so the key alone says nothing.
func (s *Server) tableOf(r *request, access *laketap.Access) {
	if r.who == nil {
		return // not believed: its path is only a claim
	}
	name := r.place()
	if s.opts.Tables != nil {
		if table, ok := s.opts.Tables.At(name); ok {
			access.Catalog, access.Table, access.TableName = table.ID.Catalog, table.ID, table.Name
			return
		}
	}
	if own := r.who.session; own != nil {
		access.Catalog = own.Catalog
		if r.covered {
			access.Table, access.TableName = own.Table, own.TableName
		}
	}
}

// statusClass is the status as a label: "2xx".
func statusClass(status int) string { return strconv.Itoa(status/100) + "xx" }
