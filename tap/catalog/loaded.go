package catalog

import (
	"strings"
	"time"

	"github.com/laketap/laketap/tap"
)

// A loaded is what we read in the answer to LoadTable, CreateTable or Register
// (a LoadTableResult), or to a commit, which has neither config nor
// credentials.
type loaded struct {
	top              object
	metadata         []byte // raw
	metadataLocation string // "" for a staged create
	location         string // as the metadata spells it
	uuid             string
	snapshot         int64 // current; -1: none
	schema           int   // current schema id
	writePaths       []string
	config           object // empty if there is none
	credentials      []credential

	// Set by [exchange.findSigner]: where the catalog signs requests to the store,
	// nil if it does not or is not to be asked, and until when for this caller.
	signer *tap.Signer
	signs  time.Time
}

// A credential is one entry of storage-credentials.
type credential struct {
	prefix string
	config object
}

// writePathKeys are table properties that send writes elsewhere than below the
// table's location.
var writePathKeys = []string{"write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"}

// storeKeys are the properties of a config that say which store and whose
// rights are meant.
var storeKeys = []string{
	"s3.endpoint", "s3.access-key-id", "s3.secret-access-key", "s3.session-token", expiryKey, refreshKey,
	"s3.remote-signing-enabled", "remote-signing-enabled", "s3.signer.uri", "signer.uri", "s3.signer.endpoint", "signer.endpoint",
}

// readLoaded reads an answer. ok is false if it is not JSON, has no table
// metadata with a location, or says one thing twice, so that engines may
// differ in what they take of it.
func readLoaded(body []byte) (l loaded, ok bool) {
	top, ok := parseObject(body)
	if !ok {
		return loaded{}, false
	}
	l.top = top
	metadata, ok := top.object("metadata")
	if !ok {
		return loaded{}, false
	}
	l.metadata = metadata.raw
	if l.location, ok = metadata.text("location"); !ok {
		return loaded{}, false
	}
	if value, times := top.get("metadata-location"); times > 0 && !isNull(value) {
		if l.metadataLocation, ok = top.text("metadata-location"); !ok {
			return loaded{}, false
		}
	}
	if l.uuid, _ = metadata.text("table-uuid"); l.uuid == "" {
		l.uuid = l.location // format v1 may lack a UUID: the place is all there is
	}
	l.snapshot = metadata.integer("current-snapshot-id", -1)
	l.schema = int(metadata.integer("current-schema-id", 0))
	properties, ok := objectOrNothing(metadata, "properties")
	if !ok || !properties.once(writePathKeys) {
		return loaded{}, false
	}
	for _, key := range writePathKeys {
		if path, ok := properties.text(key); ok && path != "" {
			l.writePaths = append(l.writePaths, path)
		}
	}
	if l.config, ok = objectOrNothing(top, "config"); !ok || !l.config.once(storeKeys) {
		return loaded{}, false
	}
	value, times := top.get("storage-credentials")
	if times > 1 {
		return loaded{}, false
	}
	l.credentials, ok = readCredentials(value)
	return l, ok
}

// readCredentials reads a storage-credentials value; absent and null are none.
func readCredentials(value []byte) (all []credential, ok bool) {
	if isNull(value) {
		return nil, true
	}
	entries, ok := elements(value)
	if !ok {
		return nil, false
	}
	for _, raw := range entries {
		entry, ok := cut(raw)
		if !ok {
			return nil, false
		}
		prefix, ok := entry.text("prefix")
		if !ok {
			return nil, false
		}
		config, ok := objectOrNothing(entry, "config")
		if !ok || !config.once(storeKeys) {
			return nil, false
		}
		all = append(all, credential{prefix, config})
	}
	return all, true
}

// objectOrNothing returns the object of a member, or an empty one if the
// member is absent or null; ok is false if it is anything else.
func objectOrNothing(o object, name string) (object, bool) {
	value, times := o.get(name)
	if times == 0 || times == 1 && isNull(value) {
		return cut([]byte("{}"))
	}
	return o.object(name)
}

// directoryOf returns the URI of the directory of a file.
func directoryOf(file string) string {
	i := strings.LastIndexByte(file, '/')
	if i < 0 {
		return ""
	}
	return file[:i]
}
