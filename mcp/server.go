package mcp

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"wick/limit"
)

// Server holds the tools, resources and prompts and answers messages. It is safe
// for concurrent use.
type Server struct {
	log       *slog.Logger // never nil
	methods   map[string]method
	tools     map[string]*Tool
	resources []*Resource
	prompts   map[string]*Prompt
	complete  func(context.Context, Completion) []string
	valid     func(caller string) bool // see Options
	may       func(ctx context.Context, c Caller, action string) error

	meta []byte // see metaOf

	gate     *gate // for tools of cost Normal
	heavy    *gate // for tools of cost Heavy
	waiting  *gate // for tools of cost Waiting
	inflight inflight
	watch    watch
}

// outcome is what became of a message; a transport turns it into a status.
type outcome int

const (
	silent       outcome = iota // no reply is due
	answered                    // a result or an error to a well-formed request
	invalid                     // not a message, or not a valid one of its era
	unauthorized                // no valid token
	forbidden                   // a token without the scope that the request needs
	crowded                     // the caller has too many calls or bytes under way
	busy                        // all callers together have too many
	unknown                     // a method that the newer era does not have
	cancelled                   // the client cancelled the call; nothing was appended
)

// verdict is an outcome, and what was called or read, if anything was.
type verdict struct {
	outcome outcome
	name    string // of a tool, resource or prompt, for the log
}

// method answers the requests for one method, and says in which eras it exists.
type method struct {
	older, newer bool
	answer       func(s *Server, ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict)
}

// reply appends the reply to one message. Transports do not call it for a
// subscriptions/listen, whose reply is the last line of a stream that they write.
func (s *Server) reply(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	switch {
	case m.refused != nil:
		return appendError(b, m.ID, m.refused), verdict{outcome: invalid}
	case m.isResponse():
		return b, verdict{outcome: silent}
	case m.isNotification():
		// All but cancellations are ignored, and so is a request without an id: its client
		// could not learn the outcome.
		if m.Method == "notifications/cancelled" && legalID(m.Params.RequestID) {
			s.inflight.cancel(c.Key(), m.Params.RequestID)
		}
		return b, verdict{outcome: silent}
	case m.Params.odd:
		return appendError(b, m.ID, &Error{codeInvalidParams, "params must be an object"}), verdict{outcome: answered}
	}
	found := s.methods[m.Method]
	// An unknown method is HTTP 404 in the newer era, and an ordinary reply with status
	// 200 in the older one.
	exists, missing := found.older, answered
	if m.modern() {
		if refused, data := m.checkEra(); refused != nil {
			return appendErrorData(b, m.ID, refused, data), verdict{outcome: invalid}
		}
		exists, missing = found.newer, unknown
	}
	if !exists {
		why := fmt.Sprintf("unknown method %q", limit.Clip(m.Method))
		return appendError(b, m.ID, &Error{codeUnknownMethod, why}), verdict{outcome: missing}
	}
	return found.answer(s, ctx, b, c, m)
}

// logged returns what the log calls a method. Only names that we know appear there: any
// other is a stranger's text, perhaps a token that a broken client sent in the wrong place.
func (s *Server) logged(method string) string {
	switch method {
	case "subscriptions/listen", "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return method
	}
	if _, known := s.methods[method]; known {
		return method
	}
	return "unknown"
}

// open appends the beginning of a reply with a result, up to the first member of the
// method's own. With a nil cache the reply does not say how long it may be kept.
func (s *Server) open(b []byte, m *message, c *cache) []byte {
	b = append(appendHead(b, m.ID, "result"), '{')
	if m.modern() {
		b = append(append(b, `"resultType":"complete",`...), s.meta...)
		if c != nil {
			b = c.append(b)
		}
		b = append(b, ',')
	}
	return b
}

// result appends a successful reply whose result, an object, is already JSON.
func (s *Server) result(b []byte, m *message, c *cache, body []byte) []byte {
	b = s.open(b, m, c)
	if len(body) == len("{}") {
		b = bytes.TrimSuffix(b, []byte(",")) // no member follows
	}
	return append(append(b, body[1:]...), '}')
}
