package mcp

import (
	"context"
	"fmt"
	"slices"

	"wick/limit"
)

// maxCompletions is how many values a completion may have, as MCP says.
const maxCompletions = 100

// completion answers completion/complete with the first values that fit what was
// typed, and the number of all that fit.
func (s *Server) completion(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	known, refused := s.argumentsOf(m.Params.Ref)
	asked := m.Params.Argument
	switch {
	case refused != nil:
	case !slices.Contains(known, asked.Name):
		refused = &Error{codeInvalidParams, fmt.Sprintf("there is no argument %q to complete", limit.Clip(asked.Name))}
	case len(asked.Value) > maxArgument:
		refused = &Error{codeInvalidParams, fmt.Sprintf("the value has %d bytes: at most %d", len(asked.Value), maxArgument)}
	}
	if refused != nil {
		return appendError(b, m.ID, refused), verdict{outcome: answered}
	}
	var values []string
	asking := Completion{c, asked.Name, asked.Value}
	if bug := s.guard("completion", func() { values = s.complete(ctx, asking) }); bug != nil {
		return appendError(b, m.ID, &Error{codeInternal, bug.Error()}), verdict{outcome: answered}
	}
	var result struct {
		Completion struct {
			Values []string `json:"values"`
			Total  int      `json:"total"`
			More   bool     `json:"hasMore"`
		} `json:"completion"`
	}
	// An empty list, not null, when nothing fits: the schema wants an array.
	result.Completion.Values = append([]string{}, values[:min(len(values), maxCompletions)]...)
	result.Completion.Total, result.Completion.More = len(values), len(values) > maxCompletions
	return s.result(b, m, nil, Encode(result)), verdict{outcome: answered}
}

// argumentsOf returns the names of the arguments of a prompt or template.
func (s *Server) argumentsOf(ref reference) (names []string, refused *Error) {
	switch ref.Type {
	case "ref/prompt":
		p := s.prompts[ref.Name]
		if p == nil {
			return nil, &Error{codeInvalidParams, fmt.Sprintf("unknown prompt %q: prompts/list has the names", limit.Clip(ref.Name))}
		}
		for _, a := range p.Arguments {
			names = append(names, a.Name)
		}
		return names, nil
	case "ref/resource":
		for _, r := range s.resources {
			if r.URI == ref.URI {
				return r.parts(), nil
			}
		}
		return nil, &Error{codeInvalidParams, fmt.Sprintf("unknown template %q: resources/templates/list has them", limit.Clip(ref.URI))}
	}
	return nil, &Error{codeInvalidParams, `ref must have the type "ref/prompt" or "ref/resource"`}
}
