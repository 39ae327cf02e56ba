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
	invalid                     // not a message
	unauthorized                // no valid token
	forbidden                   // a token without the scope of the tool
	crowded                     // too much of the caller under way
	busy                        // too much under way in all
	cancelled                   // cancelled by the client, nothing appended
)

// verdict is an outcome and the tool that was called, if one was.
type verdict struct {
	outcome outcome
	tool    *Tool
}

// reply appends the reply to one message.
func (s *Server) reply(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	switch {
	case m.refused != nil:
		return appendError(b, m.ID, m.refused), verdict{outcome: invalid}
	case m.isResponse():
		return b, verdict{outcome: silent}
	case m.isNotification():
		s.notified(c, m)
		return b, verdict{outcome: silent}
	}
	if m.odd {
		return appendError(b, m.ID, &Error{CodeInvalidParams, "params must be an object"}), verdict{outcome: answered}
	}
	switch m.Method {
	case "initialize": // whatever version was asked for: the client decides whether ours will do
		return appendRaw(b, m.ID, s.initialize), verdict{outcome: answered}
	case "ping":
		return appendRaw(b, m.ID, []byte("{}")), verdict{outcome: answered}
	case "tools/list": // one page; a cursor can only be another server's
		return appendRaw(b, m.ID, s.toolsList), verdict{outcome: answered}
	case "tools/call":
		return s.call(ctx, b, c, m)
	}
	return appendError(b, m.ID, &Error{CodeUnknownMethod, fmt.Sprintf("unknown method %q", limit.Clip(m.Method))}), verdict{outcome: answered}
}

// notified takes a notification. All but cancellation are without effect here,
// and so is a request's method without an id: nobody could learn the outcome.
func (s *Server) notified(c Caller, m *message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if legalID(m.Params.RequestID) {
		s.inflight.cancel(c.ID, m.Params.RequestID)
	}
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
