package catalog

import (
	"io"
	"net/http"

	"github.com/laketap/laketap"
)

// reportMax bounds what is kept of a report.
const reportMax = 1 << 20

// metricsEndpoint is how /v1/config lists the endpoint for reports.
const metricsEndpoint = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics"

// swallows reports whether the tap answers reports by itself, because the
// upstream lists its endpoints and this is none of them.
func (x *exchange) swallows() bool {
	yes, known := x.up.offers(metricsEndpoint)
	return known && !yes
}

// swallow takes a report that the upstream would not.
func (x *exchange) swallow(r *http.Request) {
	x.access.Served = laketap.FromTap
	if r.Body != nil {
		// More than a report may have is not read: the server closes the
		// connection then.
		_, _ = io.CopyN(io.Discard, r.Body, reportMax+1)
	}
	x.tell("")
	x.w.Header().Set(requestIDHeader, x.access.RequestID)
	x.w.WriteHeader(http.StatusNoContent)
}

// report carries a report to an upstream that has the endpoint, or of which
// that is not known.
func (x *exchange) report(req *http.Request) (*http.Response, error) {
	resp, err := x.send(req)
	if err != nil {
		x.tell("")
		return resp, err
	}
	if resp.StatusCode/100 == 2 {
		x.tell(x.claim)
		return resp, nil
	}
	x.tell("")
	if _, known := x.up.offers(metricsEndpoint); !known {
		switch resp.StatusCode {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			// We may have listed the endpoint before a restart.
			discard(resp)
			replace(resp, nil)
			resp.Header.Del("Content-Type")
			resp.Header.Del("Content-Length")
			resp.StatusCode, resp.Status = http.StatusNoContent, ""
			x.access.Served = laketap.FromTap
		}
	}
	return resp, nil
}

// tell passes a report on.
func (x *exchange) tell(principal string) {
	body, ok := x.sent.body(x.in.ContentLength)
	if !ok {
		return
	}
	report, ok := parseObject(body)
	if !ok {
		return
	}
	kind, _ := report.text("report-type")
	x.h.opts.Recorder.Report(laketap.Report{
		At: x.access.At, Kind: kind, Engine: x.access.Engine, Principal: principal,
		Catalog: x.up.name, TableName: x.access.TableName, Body: body,
	})
}
