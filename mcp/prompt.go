package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"wick/internal/limit"
	"wick/internal/strictjson"
)

const (
	maxArgument    = 500 // bytes of the value of a prompt's argument
	maxCompletions = 100 // values of a completion, as MCP says
)

// prompted is the result of prompts/get: the text as one message of the user.
type prompted struct {
	head
	Description string          `json:"description,omitempty"`
	Messages    []promptMessage `json:"messages"`
}

type promptMessage struct {
	Role    string `json:"role"`
	Content item   `json:"content"`
}

// prompt answers prompts/get: with the prompt's text, filled in with the arguments.
func (s *Server) prompt(ctx context.Context, c Caller, r *request) Reply {
	if err := s.may(ctx, c, r.Method); err != nil {
		return refuse(forbidden(err))
	}
	p := s.prompts[r.Params.Name]
	if p == nil {
		return refuse(unknownPrompt(r.Params.Name))
	}
	arguments, refused := p.read(r.Params.Arguments)
	var said text
	if refused == nil {
		refused = s.guard(p.Name, func() { said = text(p.Text(arguments)) })
	}
	if refused != nil {
		return Reply{err: refused, name: p.Name}
	}
	return Reply{result: &prompted{Description: p.Description, Messages: []promptMessage{{"user", item{Type: "text", Text: &said}}}}, name: p.Name}
}

func unknownPrompt(name string) *Error {
	return InvalidParams(fmt.Sprintf("unknown prompt %q: prompts/list has the names", limit.Clip(name)))
}

// placeholder is a value in place of which the client puts its user's words later, as opencode
// does, which asks for a prompt before it shows it as a command.
var placeholder = regexp.MustCompile(`^\$[0-9]{1,2}$`)

// read returns the arguments of a prompt that are known and not empty, or why they are
// refused. Unknown ones are ignored.
func (p *Prompt) read(raw json.RawMessage) (map[string]string, *Error) {
	var given map[string]string
	if len(raw) > 0 && strictjson.Unmarshal(raw, &given, "") != nil {
		return nil, InvalidParams("the arguments of a prompt must be an object of strings")
	}
	arguments := make(map[string]string)
	for _, a := range p.Arguments {
		value := given[a.Name]
		switch {
		case value == "" && a.Required:
			return nil, InvalidParams(fmt.Sprintf("the prompt %s needs the argument %s", p.Name, a.Name))
		case len(value) > maxArgument:
			return nil, InvalidParams(fmt.Sprintf("the argument %s has %d bytes: at most %d", a.Name, len(value), maxArgument))
		case placeholder.MatchString(value):
			arguments[a.Name] = value
		case value != "":
			read, err := a.Read(value)
			if err != nil {
				return nil, InvalidParams(a.Name + ": " + err.Error())
			}
			arguments[a.Name] = read
		}
	}
	return arguments, nil
}

// completed is the result of completion/complete: the first values that fit what was typed,
// and the number of all that fit.
type completed struct {
	head
	Completion struct {
		Values []string `json:"values"`
		Total  int      `json:"total"`
		More   bool     `json:"hasMore"`
	} `json:"completion"`
}

// completion answers completion/complete.
func (s *Server) completion(ctx context.Context, c Caller, r *request) Reply {
	if err := s.may(ctx, c, r.Method); err != nil {
		return refuse(forbidden(err))
	}
	var known []string // names of the arguments of the prompt or template
	switch ref := r.Params.Ref; ref.Type {
	case "ref/prompt":
		p := s.prompts[ref.Name]
		if p == nil {
			return refuse(unknownPrompt(ref.Name))
		}
		for _, a := range p.Arguments {
			known = append(known, a.Name)
		}
	case "ref/resource":
		at := slices.IndexFunc(s.resources, func(r *Resource) bool { return r.URI == ref.URI })
		if at < 0 {
			return refuse(InvalidParams(fmt.Sprintf("unknown template %q: resources/templates/list has them", limit.Clip(ref.URI))))
		}
		known = s.patterns[at].SubexpNames()[1:]
	default:
		return refuse(InvalidParams(`ref must have the type "ref/prompt" or "ref/resource"`))
	}
	asked := r.Params.Argument
	switch {
	case !slices.Contains(known, asked.Name):
		return refuse(InvalidParams(fmt.Sprintf("there is no argument %q to complete", limit.Clip(asked.Name))))
	case len(asked.Value) > maxArgument:
		return refuse(InvalidParams(fmt.Sprintf("the value has %d bytes: at most %d", len(asked.Value), maxArgument)))
	}
	var values []string
	if bug := s.guard("completion", func() { values = s.complete(ctx, Completion{c, asked.Name, asked.Value}) }); bug != nil {
		return refuse(bug)
	}
	var done completed
	// An empty list, not null, when nothing fits: the schema wants an array.
	done.Completion.Values = append([]string{}, values[:min(len(values), maxCompletions)]...)
	done.Completion.Total, done.Completion.More = len(values), len(values) > maxCompletions
	return Reply{result: &done}
}
