package storage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/tap"
)

// maxDeleteBody bounds a DeleteObjects document, as S3 does. How many keys are
// too many, and whether none is too few, is the origin's to say.
const maxDeleteBody = 2 << 20

var errDeleteDocument = errors.New("not a plain Delete document")

// deleteFields are the children an Object of a Delete document may have.
const deleteFields = " Key VersionId ETag LastModifiedTime Size "

// parseDelete reads the keys of a DeleteObjects document. The origin parses
// the same bytes again, so whatever two parsers could read differently is
// refused: document types, processing instructions, comments inside values,
// attributes, foreign namespaces, unknown or repeated elements.
func parseDelete(doc []byte) ([]string, error) {
	p := deleteParser{dec: xml.NewDecoder(bytes.NewReader(doc))}
	if err := p.open("Delete"); err != nil {
		return nil, err
	}
	var keys []string
	quiet := false
	for {
		name, err := p.child()
		switch {
		case err != nil:
			return nil, err
		case name == "":
			return keys, p.end()
		case name == "Quiet" && !quiet:
			quiet = true
			if _, err := p.text(); err != nil {
				return nil, err
			}
		case name == "Object":
			key, err := p.object()
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		default:
			return nil, errDeleteDocument
		}
	}
}

// A deleteParser walks the tokens of a document.
type deleteParser struct {
	dec   *xml.Decoder
	space string // namespace of the root: S3's or none
}

const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// open reads up to the root element.
func (p *deleteParser) open(root string) error {
	for {
		tok, err := p.dec.Token()
		if err != nil {
			return errDeleteDocument
		}
		switch tok := tok.(type) {
		case xml.ProcInst:
			if tok.Target != "xml" {
				return errDeleteDocument
			}
		case xml.CharData:
			if !blank(tok) {
				return errDeleteDocument
			}
		case xml.StartElement:
			p.space = tok.Name.Space
			if tok.Name.Local != root || p.space != "" && p.space != s3Namespace || !plain(tok) {
				return errDeleteDocument
			}
			return nil
		default:
			return errDeleteDocument
		}
	}
}

// child returns the name of the next child element; "" is the end of the
// parent.
func (p *deleteParser) child() (string, error) {
	for {
		tok, err := p.dec.Token()
		if err != nil {
			return "", errDeleteDocument
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if tok.Name.Space != p.space || !plain(tok) {
				return "", errDeleteDocument
			}
			return tok.Name.Local, nil
		case xml.EndElement:
			return "", nil
		case xml.CharData:
			if !blank(tok) {
				return "", errDeleteDocument
			}
		default:
			return "", errDeleteDocument
		}
	}
}

// object reads an Object element to its end and returns its key.
func (p *deleteParser) object() (string, error) {
	seen := map[string]bool{}
	key := ""
	for {
		name, err := p.child()
		switch {
		case err != nil:
			return "", err
		case name == "":
			if !seen["Key"] {
				return "", errDeleteDocument
			}
			return key, nil
		case seen[name] || !strings.Contains(deleteFields, " "+name+" "):
			return "", errDeleteDocument
		}
		seen[name] = true
		text, err := p.text()
		if err != nil {
			return "", err
		}
		switch {
		case name == "Key":
			key = text
		case name == "VersionId" && tap.Climbs(text): // see request.climbs
			return "", errDeleteDocument
		}
	}
}

// text reads an element that holds text only, to its end.
func (p *deleteParser) text() (string, error) {
	var b strings.Builder
	for {
		tok, err := p.dec.Token()
		if err != nil {
			return "", errDeleteDocument
		}
		switch tok := tok.(type) {
		case xml.CharData:
			b.Write(tok)
		case xml.EndElement:
			return b.String(), nil
		default:
			return "", errDeleteDocument
		}
	}
}

// end makes sure that nothing but space follows the root.
func (p *deleteParser) end() error {
	for {
		tok, err := p.dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if data, ok := tok.(xml.CharData); err != nil || !ok || !blank(data) {
			return errDeleteDocument
		}
	}
}

// plain reports whether an element has no attribute but its namespace.
func plain(e xml.StartElement) bool {
	for _, a := range e.Attr {
		if a.Name.Space != "" || a.Name.Local != "xmlns" {
			return false
		}
	}
	return true
}

func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// readDelete reads and checks the body of a DeleteObjects. Every key counts:
// one outside the scope and nothing is deleted, unless the store decides.
func (s *Server) readDelete(r *request, body io.Reader) (doc []byte, err error) {
	doc, err = io.ReadAll(io.LimitReader(body, maxDeleteBody+1))
	if err != nil {
		return nil, err
	}
	if len(doc) > maxDeleteBody {
		return nil, errMalformedXML
	}
	keys, err := parseDelete(doc)
	if err != nil {
		return nil, errMalformedXML.because(err.Error())
	}
	for _, key := range keys {
		name := laketap.ObjectName{Origin: r.origin, Bucket: r.bucket, Key: key}
		if !r.who.covers(name, s.opts.Tables) && !r.who.upstream() {
			return nil, errAccessDenied.because("a key to delete is outside the scope")
		}
		r.deletes = append(r.deletes, name)
	}
	if err := s.refuseDeniedObjects(r.deletes...); err != nil {
		return nil, err
	}
	return doc, nil
}
