package mcp

import "encoding/json"

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

// mode returns how m's client can ask its user: "form", "url", or "" for not at all.
func (e *InputRequired) mode(m *message) string {
	switch {
	case e.Schema != nil && m.elicits("form"):
		return "form"
	case e.URL != "" && m.elicits("url"):
		return "url"
	}
	return ""
}

// append appends the result that asks the client's user: the question under its key,
// and the state that comes back with the answer.
func (e *InputRequired) append(b, meta []byte, mode string) []byte {
	type form struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema,omitempty"`
		URL     string          `json:"url,omitempty"`
		ID      string          `json:"elicitationId,omitempty"`
	}
	asked := form{Mode: mode, Message: e.Message, Schema: e.Schema}
	if mode == "url" {
		asked = form{Mode: mode, Message: e.Message, URL: e.URL, ID: e.State}
	}
	type question struct {
		Method string `json:"method"`
		Params form   `json:"params"`
	}
	body := Encode(struct {
		Requests map[string]question `json:"inputRequests"`
		State    string              `json:"requestState"`
	}{map[string]question{e.Key: {"elicitation/create", asked}}, e.State})
	b = append(append(b, `{"resultType":"input_required",`...), meta...)
	// The body's opening brace was written before the meta.
	return append(append(b, ','), body[1:]...)
}
