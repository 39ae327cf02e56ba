package mcp

import "encoding/json"

// InputRequired is the error of a handler that needs an answer of the client's
// user before it goes on. The client shows the message, and repeats the call with
// the answer and the state, in [Call.Responses] and [Call.State]. To a client
// that cannot show a form, it is an error like any other.
type InputRequired struct {
	Key     string // of the answer in [Call.Responses]
	Message string // for the user
	Schema  json.RawMessage

	// State comes back with the repeated call. Any client may send any state, so the
	// handler must seal it (encrypt and authenticate it) and bind it to the caller and
	// the arguments.
	State string

	// Else is the text of the error for a client that cannot show a form.
	Else string
}

// Error returns Else.
func (e *InputRequired) Error() string { return e.Else }

// Response is the user's answer to a form: Action is accept, decline or cancel.
type Response struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content"`
}

// append appends the result that asks the client's user: the question under its key,
// and the state that comes back with the answer.
func (e *InputRequired) append(b, meta []byte) []byte {
	type form struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	type question struct {
		Method string `json:"method"`
		Params form   `json:"params"`
	}
	body := Encode(struct {
		Requests map[string]question `json:"inputRequests"`
		State    string              `json:"requestState"`
	}{map[string]question{e.Key: {"elicitation/create", form{"form", e.Message, e.Schema}}}, e.State})
	b = append(append(b, `{"resultType":"input_required",`...), meta...)
	// The body's opening brace was written before the meta.
	return append(append(b, ','), body[1:]...)
}
