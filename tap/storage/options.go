package storage

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/internal/sigv4"
	"github.com/laketap/laketap/tap"
)

// Blocks answers reads of objects from wherever their bytes are nearest, and
// is told of every object that is about to change and that has changed.
type Blocks interface {
	Get(ctx context.Context, get laketap.Get, fetch laketap.Fetch) (*laketap.Reply, error)
	Forget(name laketap.ObjectName)
}

// A Sender reaches the stores behind us; lake/s3 has one.
type Sender interface {
	// Send signs and sends a path-style request to an origin. It never repeats
	// a request that may have had an effect, follows no redirect and decodes
	// no body. With zero credentials it does not sign. trailer is asked when
	// the body has been read.
	Send(ctx context.Context, origin string, req *http.Request, keys sigv4.Credentials, p sigv4.Payload, trailer func() []laketap.Field) (*http.Response, error)
	// SendSigned is Send with a signature from elsewhere: sign is called with
	// the request as it will be sent and adds to its headers.
	SendSigned(ctx context.Context, origin string, req *http.Request, sign func(*http.Request) error, p sigv4.Payload) (*http.Response, error)
	// OwnKeys returns the configured credentials of an origin.
	OwnKeys(ctx context.Context, origin string) (sigv4.Credentials, error)
}

// A Signatory has requests to a store signed by a catalog behind us; the catalog
// tap is one.
type Signatory interface {
	// Sign posts a document to where the catalog signs, with what the session's
	// client shows there, and returns the catalog's answer, bounded.
	Sign(ctx context.Context, catalog string, at tap.Signer, document []byte) (status int, answer []byte, err error)
}

// An Auditor is told of every request before it is served. On an error the
// request is refused: no record, no access. It may block.
type Auditor interface {
	Begin(access laketap.Access) error
}

// A StaticKey is a key pair from the configuration. It uses the origin's own
// credentials, so its scope is all that limits it.
type StaticKey struct {
	ID, Secret string
	Principal  string         // who holds it; "" is the key id
	Prefixes   []tap.Location // what it may touch
	All        bool           // everything, bucket operations too; for administrators and tests
	ReadOnly   bool           // may not change objects
}

// Options configure a Server.
type Options struct {
	Origins []tap.Origin // the stores behind us; required
	Send    Sender       // reaches them; required
	Keys    *tap.Keyring // opens vended sessions; required
	Static  []StaticKey
	Tables  *tap.Tables // locations of tables; nil: only the session's own table is known

	// Anonymous sends requests that nobody signed on to the store, unsigned.
	// Otherwise they are refused.
	Anonymous bool

	Blocks Blocks // nil: every read goes to the origin
	// ProofByObject: a right to one object is none to the next, as with stores
	// that have policies by object. Then each needs its own proof.
	ProofByObject bool
	Watch         Watcher          // of replies, where there are no Blocks; nil: nobody
	Recorder      laketap.Recorder // nil: nobody is told
	Audit         Auditor          // nil: every request that may be served is
	Deny          Denier           // nil: nobody is denied
	Sign          Signatory        // nil: no catalog signs

	Region string // that clients sign for, beside those of the origins; "" is us-east-1
	Domain string // "s3.example.com" also takes bucket.s3.example.com; "" is path style only

	// TLS is what connections are encrypted by; nil is plain HTTP. HTTP/1.1 must
	// be all that its NextProtos offer: a client that was let choose HTTP/2
	// would speak it.
	TLS *tls.Config

	MaxConns      int           // connections at once; 0 is 10,000
	MaxHeader     int           // bytes of a request's head; 0 is 32 KiB
	HeaderTimeout time.Duration // for a request's head to arrive; 0 is 1 min
	IdleTimeout   time.Duration // between requests of a connection; 0 is 3 min
	StallTimeout  time.Duration // without a byte moving, on either side; 0 is 5 min

	Log        *slog.Logger          // nil: discarded
	Registerer prometheus.Registerer // nil: not measured
	Now        func() time.Time      // nil is time.Now
	Rand       io.Reader             // nil is crypto/rand
}

// withDefaults fills in what zero stands for and refuses what cannot work.
func (o Options) withDefaults() (Options, error) {
	switch {
	case len(o.Origins) == 0:
		return o, errors.New("storage.origins is empty: name the store behind Laketap")
	case o.Send == nil || o.Keys == nil:
		return o, errors.New("storage tap needs Options.Send and Options.Keys")
	}
	seen := map[string]bool{}
	for _, k := range o.Static {
		switch {
		case k.ID == "" || k.Secret == "":
			return o, errors.New("keys: every static key needs an id and a secret")
		case seen[k.ID]:
			return o, fmt.Errorf("keys: id %s appears twice", k.ID)
		case !k.All && len(k.Prefixes) == 0:
			return o, fmt.Errorf("keys: %s may touch nothing; give it prefixes or scope: all", k.ID)
		}
		if _, ok := o.Keys.Secret(k.ID); ok {
			return o, fmt.Errorf("keys: id %s looks like a vended key; choose one that does not begin with LT", k.ID)
		}
		seen[k.ID] = true
	}
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.MaxConns = cmp.Or(o.MaxConns, 10_000)
	o.MaxHeader = cmp.Or(o.MaxHeader, 32<<10)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 3*time.Minute)
	o.StallTimeout = cmp.Or(o.StallTimeout, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	if o.Recorder == nil {
		o.Recorder = nobody{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	return o, nil
}

// A Watcher is shown what the origin replies to plain reads. It may put a body
// in the place of the reply's that gives the same bytes, and changes nothing
// else.
type Watcher interface {
	Watch(get laketap.Get, reply *laketap.Reply)
}

// nobody is a Recorder that forgets.
type nobody struct{}

func (nobody) Access(laketap.Access)   {}
func (nobody) Table(laketap.TableSeen) {}
func (nobody) Report(laketap.Report)   {}
