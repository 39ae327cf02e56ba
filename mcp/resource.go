package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"wick/internal/limit"
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

// pattern returns what matches the URIs that r stands for, with a group for each part of a
// template. A part is never empty.
func (r *Resource) pattern() *regexp.Regexp {
	segments := strings.Split(r.URI, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			segments[i] = "(?P<" + strings.TrimSuffix(name, "}") + ">[^/]+)"
		} else {
			segments[i] = regexp.QuoteMeta(s)
		}
	}
	return regexp.MustCompile(`\A` + strings.Join(segments, "/") + `\z`)
}

// match reports whether a URI matches, and returns the unescaped texts in place of the
// template's parts, by the parts' names.
func match(pattern *regexp.Regexp, uri string) (parts map[string]string, ok bool) {
	found := pattern.FindStringSubmatch(uri)
	if len(found) > 1 {
		parts = make(map[string]string)
	}
	for i := 1; i < len(found); i++ {
		text, err := url.PathUnescape(found[i])
		if err != nil {
			return nil, false
		}
		parts[pattern.SubexpNames()[i]] = text
	}
	return parts, found != nil
}

// find returns the resource that a URI names, and the request for it; or nil.
func (s *Server) find(uri string) (*Resource, Reading) {
	if len(uri) <= maxURI {
		for i, pattern := range s.patterns {
			if parts, ok := match(pattern, uri); ok {
				return s.resources[i], Reading{URI: uri, Parts: parts}
			}
		}
	}
	return nil, Reading{}
}

// listResources returns the results of resources/list and resources/templates/list.
func listResources(resources []Resource) (list, templates result) {
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
	return &struct {
			head
			Resources []entry `json:"resources"`
		}{Resources: all}, &struct {
			head
			Templates []entry `json:"resourceTemplates"`
		}{Templates: patterns}
}

// contents is the result of resources/read.
type contents struct {
	head
	Contents []part `json:"contents"`
}

// part is one content on the wire: a text, or bytes.
type part struct {
	URI  string          `json:"uri"`
	MIME string          `json:"mimeType"` // of the resource unless the content names its own
	Meta json.RawMessage `json:"_meta,omitempty"`
	Text *text           `json:"text,omitempty"`
	Blob []byte          `json:"blob,omitempty"` // base64
}

// read answers resources/read: it runs the resource's Read as a job, like a tool.
func (s *Server) read(ctx context.Context, c Caller, r *request) Reply {
	found, reading := s.find(r.Params.URI)
	if found == nil {
		return refuse(unread(r.Params.URI, ErrNoResource))
	}
	reading.Caller = c
	return s.perform(ctx, r, Call{Caller: c}, job{found.URI, found.Cost,
		func(ctx context.Context, c Call) (*Result, error) {
			reading.Slot = c.Slot
			contents, err := found.Read(ctx, reading)
			return &Result{Content: contents}, err
		},
		func(got *Result, failure error) Reply {
			if failure != nil {
				return refuse(unread(r.Params.URI, failure))
			}
			return found.contents(r.Params.URI, got.Content)
		}})
}

// unread returns the error of a resource that could not be read or watched.
func unread(uri string, why error) *Error {
	if errors.Is(why, ErrNoResource) {
		return &Error{Code: codeUnknownURI, Message: fmt.Sprintf("%v: %q; resources/list and resources/templates/list have the URIs", why, limit.Clip(uri))}
	}
	return &Error{Code: codeInternal, Message: why.Error()}
}

// contents returns the reply with what was read.
func (r *Resource) contents(uri string, read []Content) Reply {
	size, all := 0, make([]part, len(read))
	for i, c := range read {
		size += len(c.Text) + len(c.Data)
		all[i] = part{URI: uri, MIME: cmp.Or(c.MIME, r.MIME), Meta: r.Meta, Blob: c.Data}
		if c.Data == nil {
			all[i].Text = (*text)(&read[i].Text)
		}
	}
	if size > maxContents {
		return refuse(&Error{Code: codeInternal, Message: fmt.Sprintf("the resource has %d bytes, more than the %d that a reply may hold", size, maxContents)})
	}
	return Reply{result: &contents{Contents: all}, cache: &cache{r.Fresh, r.Public}}
}
