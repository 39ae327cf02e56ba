package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"wick/limit"
)

// outcome is what became of a message; a transport turns it into a status.
type outcome int

const (
	silent       outcome = iota // nothing to answer
	answered                    // a result or an error to a well-formed request
	invalid                     // not a message, or not one of its era
	unauthorized                // no valid token
	forbidden                   // a token without the scope of what it asks for
	crowded                     // too much of the caller under way
	busy                        // too much under way in all
	unknown                     // a method of the newer era that there is not
	cancelled                   // cancelled by the client, nothing appended
)

// verdict is an outcome, and what was called or read, if anything was.
type verdict struct {
	outcome outcome
	name    string // of a tool, resource or prompt, for the log
	scope   string // that the caller lacks, when it is forbidden
}

// method is what answers requests of one name. In the older era, in the newer
// one, or in both.
type method struct {
	older, newer bool
	answer       func(s *Server, ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict)
}

// fixed returns a method whose result is always the same.
func fixed(older, newer bool, c *cache, body []byte) method {
	return method{older, newer, func(s *Server, _ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
		return s.result(b, m, c, body), verdict{outcome: answered}
	}}
}

// methods returns what a server with these options answers. Lists are one page: a
// cursor can only be another server's, and is not looked at.
func methods(o Options) map[string]method {
	found := discoverResult(o)
	all := map[string]method{
		"initialize": fixed(true, false, nil, initializeResult(o)), // whatever version was asked for: the client decides whether ours will do
		"ping":       fixed(true, false, nil, []byte("{}")),
		"server/discover": {newer: true, answer: func(_ *Server, _ context.Context, b []byte, _ Caller, m *message) ([]byte, verdict) {
			return append(append(appendHead(b, m.ID, "result"), found...), '}'), verdict{outcome: answered}
		}},
		"tools/list": fixed(true, true, &listed, toolsListResult(o.Tools)),
		"tools/call": {true, true, (*Server).call},
	}
	if len(o.Resources) > 0 {
		list, templates := resourceLists(o.Resources)
		all["resources/list"] = fixed(true, true, &listed, list)
		all["resources/templates/list"] = fixed(true, true, &listed, templates)
		all["resources/read"] = method{true, true, (*Server).read}
		if o.Tell != nil {
			all["resources/subscribe"] = method{older: true, answer: (*Server).subscribe}
			all["resources/unsubscribe"] = method{older: true, answer: (*Server).unsubscribe}
		}
	}
	if len(o.Prompts) > 0 {
		all["prompts/list"] = fixed(true, true, &listed, promptsListResult(o.Prompts))
		all["prompts/get"] = method{true, true, (*Server).prompt}
	}
	if o.Complete != nil {
		all["completion/complete"] = method{true, true, (*Server).completion}
	}
	return all
}

// reply appends the reply to one message. A subscriptions/listen does not come
// here: its reply ends with the stream, which is the transport's.
func (s *Server) reply(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	switch {
	case m.refused != nil:
		return appendError(b, m.ID, m.refused), verdict{outcome: invalid}
	case m.isResponse():
		return b, verdict{outcome: silent}
	case m.isNotification():
		s.notified(c, m)
		return b, verdict{outcome: silent}
	case m.odd:
		return appendError(b, m.ID, &Error{CodeInvalidParams, "params must be an object"}), verdict{outcome: answered}
	}
	found := s.methods[m.Method]
	// An unknown method is HTTP 404 in the newer era, and an ordinary reply with status
	// 200 in the older one.
	if m.modern() {
		if refused, data := m.checkEra(); refused != nil {
			return appendErrorData(b, m.ID, refused, data), verdict{outcome: invalid}
		}
		if !found.newer {
			return s.unknownMethod(b, m, unknown)
		}
	} else if !found.older {
		return s.unknownMethod(b, m, answered)
	}
	return found.answer(s, ctx, b, c, m)
}

// unknownMethod appends the error for a method that the message's era does not have.
// The outcome decides the status of an HTTP answer.
func (s *Server) unknownMethod(b []byte, m *message, o outcome) ([]byte, verdict) {
	return appendError(b, m.ID, &Error{CodeUnknownMethod, fmt.Sprintf("unknown method %q", limit.Clip(m.Method))}), verdict{outcome: o}
}

// notified takes a notification. All but cancellation are without effect here,
// and so is a request's method without an id: nobody could learn the outcome.
func (s *Server) notified(c Caller, m *message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if legalID(m.Params.RequestID) {
		s.inflight.cancel(c.Key(), m.Params.RequestID)
	}
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
