package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
)

// This file has the shape of a tool's result: what a handler returns, and how it looks on
// the wire.

// Result is what a tool returns: its contents, and whether they describe an error.
type Result struct {
	Content []Content
	IsError bool

	// Fixed says that the tool returns this very Result again and again, and that nobody
	// changes it: a server encodes it once. There must be few of them.
	Fixed bool
}

// Content is one item of a result: a text, or an image when MIME is set.
type Content struct {
	Text []byte // UTF-8
	Data []byte // the raw bytes of an image; base64 is the encoder's work
	MIME string // such as image/png; empty for a text
}

// Text returns a result of one text.
func Text(text string) *Result { return &Result{Content: []Content{{Text: []byte(text)}}} }

// JSON returns a result of one text that holds v as [Encode] writes it.
func JSON(v any) *Result { return &Result{Content: []Content{{Text: Encode(v)}}} }

// Encode returns v as compact JSON without HTML escaping: with it, a "<" would
// cost a language model six characters. It panics if v cannot be encoded:
// payload types are ours and always can.
func Encode(v any) []byte {
	var b bytes.Buffer
	encode(&b, v)
	return b.Bytes()
}

// encode appends v as Encode returns it.
func encode(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("mcp: " + err.Error())
	}
	b.Truncate(b.Len() - len("\n"))
}

// text is a []byte that is a JSON string, written without a copy of it.
type text []byte

func (t text) MarshalText() ([]byte, error) { return t, nil }

// called is the result of tools/call.
type called struct {
	head
	Content []item `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

// item is one content on the wire: a text, or an image.
type item struct {
	Type string `json:"type"`
	Text *text  `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"` // base64
	MIME string `json:"mimeType,omitempty"`
}

// outcome returns the reply for what a tool returned. A failure becomes a result with
// isError set, which a model reads. Only an [Error] becomes an error of the protocol, which
// the client's program reads.
func (s *Server) outcome(r *request, got *Result, failure error) Reply {
	if failure != nil {
		if refused, ok := errors.AsType[*Error](failure); ok {
			return refuse(refused)
		}
		if input, ok := errors.AsType[*InputRequired](failure); ok {
			if asked := input.ask(r); asked != nil {
				return Reply{result: asked}
			}
		}
		got = Text(failure.Error())
		got.IsError = true
	}
	if !got.Fixed {
		return Reply{result: got.wire()}
	}
	encoded, known := s.results.Load(got)
	if !known {
		encoded, _ = s.results.LoadOrStore(got, s.fix(got.wire(), nil))
	}
	return Reply{fixed: encoded.(*fixed)}
}

// wire returns a result as it is encoded.
func (r *Result) wire() *called {
	all := make([]item, len(r.Content))
	for i := range r.Content {
		if c := &r.Content[i]; c.MIME != "" {
			all[i] = item{Type: "image", Data: c.Data, MIME: c.MIME}
		} else {
			all[i] = item{Type: "text", Text: (*text)(&c.Text)}
		}
	}
	return &called{Content: all, IsError: r.IsError}
}

// InputRequired is the error of a handler that needs an answer of the client's
// user before it goes on. The client shows the message and a form, or leads its user to
// the page at URL, and repeats the call with the state, and the answer to a form, in
// [Call.Responses] and [Call.State]. To a client that can do neither, it is an error like
// any other.
type InputRequired struct {
	Key     string          // of the answer in [Call.Responses]
	Message string          // for the user
	Schema  json.RawMessage // of the form; nil if a form's answer would not count
	URL     string          // of the page on which the user answers; empty for none

	// State comes back with the repeated call. Any client may send any state, so it must
	// be one that nobody can guess, and the handler must compare the caller and the
	// arguments.
	State string

	// Else is the text of the error for a client that can do neither.
	Else string
}

// Error returns Else.
func (e *InputRequired) Error() string { return e.Else }

// Response is the user's answer to a form: Action is accept, decline or cancel.
type Response struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content"`
}

// ask returns the result that asks the client's user: the question under its key, and the
// state that comes back with the answer. It returns nil for a client that cannot ask.
func (e *InputRequired) ask(r *request) result {
	type form struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema,omitempty"`
		URL     string          `json:"url,omitempty"`
		ID      string          `json:"elicitationId,omitempty"`
	}
	type question struct {
		Method string `json:"method"`
		Params form   `json:"params"`
	}
	var asked form
	switch {
	case e.Schema != nil && r.elicits("form"):
		asked = form{Mode: "form", Message: e.Message, Schema: e.Schema}
	case e.URL != "" && r.elicits("url"):
		asked = form{Mode: "url", Message: e.Message, URL: e.URL, ID: e.State}
	default:
		return nil
	}
	return &struct {
		head
		Requests map[string]question `json:"inputRequests"`
		State    string              `json:"requestState"`
	}{head{Type: "input_required"}, map[string]question{e.Key: {"elicitation/create", asked}}, e.State}
}
