package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"wick/limit"
)

// Bounds on resources.
const (
	maxURI = 512 // bytes of a URI that a client sends

	// maxContents is how many bytes the contents of one resource may have before
	// they are encoded. Clients refuse replies that are far smaller.
	maxContents = 2 << 20
)

// ErrNoResource is what a Read returns, wrapped or not, if there is nothing under the
// URI.
var ErrNoResource = errors.New("no such resource")

// parts returns the names of a template's parts, in their order.
func (r *Resource) parts() (names []string) {
	for segment := range strings.SplitSeq(r.URI, "/") {
		if name, ok := partName(segment); ok {
			names = append(names, name)
		}
	}
	return names
}

// partName returns the name of a part such as {name}.
func partName(segment string) (string, bool) {
	if len(segment) > 2 && segment[0] == '{' && segment[len(segment)-1] == '}' {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

// match compares a URI with r's, segment by segment, and reports whether they match. It
// returns the unescaped texts in place of the template's parts, by the parts' names. A
// part is never empty.
func (r *Resource) match(uri string) (parts map[string]string, ok bool) {
	pattern, segments := strings.Split(r.URI, "/"), strings.Split(uri, "/")
	if len(pattern) != len(segments) {
		return nil, false
	}
	for i, p := range pattern {
		name, variable := partName(p)
		if !variable {
			if p != segments[i] {
				return nil, false
			}
			continue
		}
		text, err := url.PathUnescape(segments[i])
		if err != nil || text == "" {
			return nil, false
		}
		if parts == nil {
			parts = make(map[string]string)
		}
		parts[name] = text
	}
	return parts, true
}

// find returns the resource that a URI names, and the request for it; or nil.
func (s *Server) find(uri string) (*Resource, Reading) {
	if len(uri) <= maxURI {
		for _, r := range s.resources {
			if parts, ok := r.match(uri); ok {
				return r, Reading{URI: uri, Parts: parts}
			}
		}
	}
	return nil, Reading{}
}

// resourceLists returns the results of resources/list and
// resources/templates/list.
func resourceLists(resources []Resource) (list, templates []byte) {
	type entry struct {
		URI         string `json:"uri,omitempty"`
		Template    string `json:"uriTemplate,omitempty"`
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
		MIME        string `json:"mimeType,omitempty"`
	}
	all, patterns := []entry{}, []entry{} // not nil, which would be null: the schema wants arrays
	for _, r := range resources {
		e := entry{r.URI, "", r.Name, r.Title, r.Description, r.MIME}
		if strings.Contains(r.URI, "{") { // a template
			e.URI, e.Template = "", r.URI
			patterns = append(patterns, e)
		} else {
			all = append(all, e)
		}
	}
	return Encode(map[string][]entry{"resources": all}), Encode(map[string][]entry{"resourceTemplates": patterns})
}

// read answers resources/read: it runs the resource's Read as a job, like a tool.
func (s *Server) read(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	r, reading := s.find(m.Params.URI)
	if r == nil {
		return s.noResource(b, m, ErrNoResource), verdict{outcome: answered}
	}
	reading.Caller = c
	return s.perform(ctx, b, m, Call{Caller: c}, job{r.URI, r.Cost,
		func(ctx context.Context, c Call) (*Result, error) {
			reading.Slot = c.Slot
			contents, err := r.Read(ctx, reading)
			return &Result{Content: contents}, err
		},
		func(b []byte, result *Result, failure error) []byte {
			return s.appendRead(b, m, r, result.Content, failure)
		}})
}

// noResource appends the error of a URI that names nothing.
func (s *Server) noResource(b []byte, m *message, why error) []byte {
	code := codeUnknownURI
	if m.modern() {
		code = codeInvalidParams
	}
	text := fmt.Sprintf("%v: %q; resources/list and resources/templates/list have the URIs", why, limit.Clip(m.Params.URI))
	return appendError(b, m.ID, &Error{code, text})
}

// appendRead appends the reply with what was read, or the error for a read that failed.
// A resource over maxContents is refused before it is copied.
func (s *Server) appendRead(b []byte, m *message, r *Resource, contents []Content, failure error) []byte {
	size := 0
	for _, c := range contents {
		size += len(c.Text) + len(c.Data)
	}
	switch {
	case errors.Is(failure, ErrNoResource):
		return s.noResource(b, m, failure)
	case failure != nil:
		return appendError(b, m.ID, &Error{codeInternal, failure.Error()})
	case size > maxContents:
		return appendError(b, m.ID, &Error{codeInternal, fmt.Sprintf("the resource has %d bytes, more than the %d that a reply may hold", size, maxContents)})
	}
	b = append(s.open(b, m, &cache{r.Fresh, r.Public}), `"contents":[`...)
	for i, c := range contents {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPart(b, m.Params.URI, r, c)
	}
	return append(b, "]}}"...)
}

// appendPart appends one content of a resource: as a blob in base64 if it has data, else
// as text. It has the MIME type of the resource unless it names its own.
func appendPart(b []byte, uri string, r *Resource, c Content) []byte {
	b = appendText(append(b, `{"uri":`...), []byte(uri))
	b = appendText(append(b, `,"mimeType":`...), []byte(cmp.Or(c.MIME, r.MIME)))
	if r.Meta != nil {
		b = append(append(b, `,"_meta":`...), r.Meta...)
	}
	if c.Data != nil {
		b = base64.StdEncoding.AppendEncode(append(b, `,"blob":"`...), c.Data)
		return append(b, `"}`...)
	}
	return append(appendText(append(b, `,"text":`...), c.Text), '}')
}
