package storage

import (
	"net/http"
	"slices"
	"strings"
)

// A level is how much of a path there is.
type level uint8

const (
	service level = iota // "/"
	bucket               // "/bucket"
	object               // "/bucket/key"
)

// A kind says which question of rights an operation raises.
type kind uint8

const (
	kindOther         kind = iota // for keys with scope: all only
	kindRead                      // one object, or an upload to it, is read
	kindWrite                     // one object, or an upload to it, is changed
	kindList                      // keys below a prefix are read
	kindBucket                    // says that a bucket exists, or where
	kindDeleteObjects             // the keys are in the body
)

// An operation is an S3 API action.
type operation struct {
	name   string
	method string
	level  level
	marks  []string // query parameters that tell it from others
	copies bool     // told by x-amz-copy-source
	allows []string // further query parameters it has
	kind   kind
	write  bool // changes something
}

// listing holds the parameters of ListObjects V1 and V2.
const listing = "prefix delimiter encoding-type max-keys marker start-after continuation-token fetch-owner"

// common operations are the ones open to sessions and to keys with prefixes.
// Whatever is not in this list takes a key with scope: all.
func commonOperations() []operation {
	get := strings.Fields("versionId partNumber response-cache-control response-content-disposition " +
		"response-content-encoding response-content-language response-content-type response-expires")
	list := strings.Fields(listing)
	versions := append([]string{"key-marker", "version-id-marker", "upload-id-marker", "max-uploads"}, list...)
	version := []string{"versionId"}
	return []operation{
		{name: "GetObject", method: http.MethodGet, level: object, allows: get, kind: kindRead},
		{name: "HeadObject", method: http.MethodHead, level: object, allows: get, kind: kindRead},
		{name: "PutObject", method: http.MethodPut, level: object, kind: kindWrite, write: true},
		{name: "CopyObject", method: http.MethodPut, level: object, copies: true, kind: kindWrite, write: true},
		{name: "DeleteObject", method: http.MethodDelete, level: object, allows: version, kind: kindWrite, write: true},
		{name: "CreateMultipartUpload", method: http.MethodPost, level: object, marks: []string{"uploads"}, kind: kindWrite, write: true},
		{name: "UploadPart", method: http.MethodPut, level: object, marks: []string{"partNumber", "uploadId"}, kind: kindWrite, write: true},
		{name: "UploadPartCopy", method: http.MethodPut, level: object, copies: true, marks: []string{"partNumber", "uploadId"}, kind: kindWrite, write: true},
		{name: "CompleteMultipartUpload", method: http.MethodPost, level: object, marks: []string{"uploadId"}, kind: kindWrite, write: true},
		{name: "AbortMultipartUpload", method: http.MethodDelete, level: object, marks: []string{"uploadId"}, kind: kindWrite, write: true},
		{name: "ListParts", method: http.MethodGet, level: object, marks: []string{"uploadId"}, allows: []string{"max-parts", "part-number-marker", "encoding-type"}, kind: kindRead},
		{name: "DeleteObjects", method: http.MethodPost, level: bucket, marks: []string{"delete"}, kind: kindDeleteObjects, write: true},
		{name: "ListObjects", method: http.MethodGet, level: bucket, allows: list, kind: kindList},
		{name: "ListObjectsV2", method: http.MethodGet, level: bucket, marks: []string{"list-type"}, allows: list, kind: kindList},
		{name: "ListObjectVersions", method: http.MethodGet, level: bucket, marks: []string{"versions"}, allows: versions, kind: kindList},
		{name: "ListMultipartUploads", method: http.MethodGet, level: bucket, marks: []string{"uploads"}, allows: versions, kind: kindList},
		{name: "HeadBucket", method: http.MethodHead, level: bucket, kind: kindBucket},
		{name: "GetBucketLocation", method: http.MethodGet, level: bucket, marks: []string{"location"}, kind: kindBucket},
	}
}

// A subresource is a part of a bucket's or an object's configuration, read,
// replaced and deleted under one query parameter.
type subresource struct {
	level      level
	mark, noun string
}

func subresources() []subresource {
	return []subresource{
		{object, "acl", "ObjectAcl"},
		{object, "tagging", "ObjectTagging"},
		{object, "retention", "ObjectRetention"},
		{object, "legal-hold", "ObjectLegalHold"},
		{bucket, "accelerate", "BucketAccelerateConfiguration"},
		{bucket, "acl", "BucketAcl"},
		{bucket, "analytics", "BucketAnalyticsConfiguration"},
		{bucket, "cors", "BucketCors"},
		{bucket, "encryption", "BucketEncryption"},
		{bucket, "intelligent-tiering", "BucketIntelligentTieringConfiguration"},
		{bucket, "inventory", "BucketInventoryConfiguration"},
		{bucket, "lifecycle", "BucketLifecycleConfiguration"},
		{bucket, "logging", "BucketLogging"},
		{bucket, "metrics", "BucketMetricsConfiguration"},
		{bucket, "notification", "BucketNotificationConfiguration"},
		{bucket, "object-lock", "ObjectLockConfiguration"},
		{bucket, "ownershipControls", "BucketOwnershipControls"},
		{bucket, "policy", "BucketPolicy"},
		{bucket, "publicAccessBlock", "PublicAccessBlock"},
		{bucket, "replication", "BucketReplication"},
		{bucket, "requestPayment", "BucketRequestPayment"},
		{bucket, "tagging", "BucketTagging"},
		{bucket, "versioning", "BucketVersioning"},
		{bucket, "website", "BucketWebsite"},
	}
}

// otherOperations only have names, so that accesses and metrics can tell them
// apart; they all take a key with scope: all.
func otherOperations() []operation {
	ops := make([]operation, 0, 96)
	ops = append(ops, []operation{
		{name: "ListBuckets", method: http.MethodGet, level: service},
		{name: "CreateBucket", method: http.MethodPut, level: bucket, write: true},
		{name: "DeleteBucket", method: http.MethodDelete, level: bucket, write: true},
		{name: "PostObject", method: http.MethodPost, level: bucket, write: true},
		{name: "GetObjectAttributes", method: http.MethodGet, level: object, marks: []string{"attributes"}},
		{name: "GetObjectTorrent", method: http.MethodGet, level: object, marks: []string{"torrent"}},
		{name: "SelectObjectContent", method: http.MethodPost, level: object, marks: []string{"select", "select-type"}},
		{name: "RestoreObject", method: http.MethodPost, level: object, marks: []string{"restore"}, write: true},
		{name: "RenameObject", method: http.MethodPut, level: object, marks: []string{"renameObject"}, write: true},
		{name: "GetBucketPolicyStatus", method: http.MethodGet, level: bucket, marks: []string{"policyStatus"}},
		{name: "CreateSession", method: http.MethodGet, level: bucket, marks: []string{"session"}},
	}...)
	for _, s := range subresources() {
		marks := []string{s.mark}
		ops = append(ops,
			operation{name: "Get" + s.noun, method: http.MethodGet, level: s.level, marks: marks},
			operation{name: "Put" + s.noun, method: http.MethodPut, level: s.level, marks: marks, write: true},
			operation{name: "Delete" + s.noun, method: http.MethodDelete, level: s.level, marks: marks, write: true})
	}
	return ops
}

// operations is the table of all operations.
type operations []operation

func newOperations() operations { return append(commonOperations(), otherOperations()...) }

// names returns the name of every operation, for metrics.
func (ops operations) names() []string {
	names := make([]string, 0, len(ops)+2)
	for _, op := range ops {
		names = append(names, op.name)
	}
	return append(names, unknownOperation, noOperation)
}

const (
	unknownOperation = "Unknown" // none in the table
	noOperation      = "None"    // the request was refused before it was understood
)

// classify finds the operation of a request: of those with its method, level
// and marks the one with the most marks. known is false if a query parameter
// is left that the operation does not have: another server may take the
// request for something else, so only keys with scope: all may send it.
func (ops operations) classify(r *request) (op *operation, known bool) {
	at := service
	switch {
	case r.key != "":
		at = object
	case r.bucket != "":
		at = bucket
	}
	copies := r.times("X-Amz-Copy-Source") > 0
	for i := range ops {
		o := &ops[i]
		if o.method == r.sig.Method && o.level == at && o.copies == copies && o.marked(r.params) && (op == nil || len(o.marks) > len(op.marks)) {
			op = o
		}
	}
	if op == nil {
		return &operation{name: unknownOperation, method: r.sig.Method, level: at, write: r.sig.Method != http.MethodGet && r.sig.Method != http.MethodHead}, false
	}
	return op, op.knows(r.params)
}

// marked reports whether all marks of the operation are among the parameters.
func (o *operation) marked(params []param) bool {
	for _, m := range o.marks {
		if !slices.ContainsFunc(params, func(p param) bool { return p.name == m }) {
			return false
		}
	}
	return true
}

// knows reports whether the operation has every one of the parameters, each
// given once.
func (o *operation) knows(params []param) bool {
	for i, p := range params {
		if !slices.Contains(o.marks, p.name) && !slices.Contains(o.allows, p.name) && !everywhere(p.name) {
			return false
		}
		if slices.ContainsFunc(params[:i], func(q param) bool { return q.name == p.name }) {
			return false
		}
	}
	return true
}

// everywhere reports whether any operation may have the parameter: what names
// the operation to people, signs the request, or is an x-amz header that a
// presigned URL carries in its query; no source of a copy or rename, whose
// scope is only checked as a header.
func everywhere(name string) bool {
	if name == "x-id" {
		return true
	}
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "x-amz-") && !strings.Contains(lower, "source")
}
