package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"wick/limit"
)

// maxArgument is the longest value of a prompt's argument, in bytes.
const maxArgument = 500

// prompt answers prompts/get: with the prompt's text, filled in with the arguments, as
// one message of the user.
func (s *Server) prompt(_ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
	p := s.prompts[m.Params.Name]
	if p == nil {
		why := fmt.Sprintf("unknown prompt %q: prompts/list has the names", limit.Clip(m.Params.Name))
		return appendError(b, m.ID, &Error{codeInvalidParams, why}), verdict{outcome: answered}
	}
	arguments, refused := p.read(m.Params.Arguments)
	if refused != nil {
		return appendError(b, m.ID, refused), verdict{outcome: answered, name: p.Name}
	}
	type message struct {
		Role    string `json:"role"`
		Content struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	said := message{Role: "user"}
	said.Content.Type = "text"
	if bug := s.guard(p.Name, func() { said.Content.Text = p.Text(arguments) }); bug != nil {
		return appendError(b, m.ID, &Error{codeInternal, bug.Error()}), verdict{outcome: answered, name: p.Name}
	}
	body := Encode(struct {
		Description string    `json:"description,omitempty"`
		Messages    []message `json:"messages"`
	}{p.Description, []message{said}})
	return s.result(b, m, nil, body), verdict{outcome: answered, name: p.Name}
}

// read returns the arguments of a prompt that are known and not empty, or why they are
// refused. Unknown ones are ignored.
func (p *Prompt) read(raw json.RawMessage) (map[string]string, *Error) {
	var given map[string]string
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return nil, &Error{codeInvalidParams, "the arguments of a prompt must be an object of strings"}
	}
	arguments := make(map[string]string)
	for _, a := range p.Arguments {
		value := given[a.Name]
		switch {
		case value == "" && a.Required:
			return nil, &Error{codeInvalidParams, fmt.Sprintf("the prompt %s needs the argument %s", p.Name, a.Name)}
		case len(value) > maxArgument:
			return nil, &Error{codeInvalidParams, fmt.Sprintf("the argument %s has %d bytes: at most %d", a.Name, len(value), maxArgument)}
		case value != "":
			read, err := a.Read(value)
			if err != nil {
				return nil, &Error{codeInvalidParams, a.Name + ": " + err.Error()}
			}
			arguments[a.Name] = read
		}
	}
	return arguments, nil
}
