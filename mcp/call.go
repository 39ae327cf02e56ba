package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"wick/limit"
)

// call runs a tool under tools/call.
func (s *Server) call(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	tool, args, refused := s.lookup(m)
	if refused != nil {
		return appendError(b, m.ID, refused), verdict{outcome: answered}
	}
	if !c.Has(tool.Scope) {
		why := fmt.Sprintf("%s needs the scope %q, which this token does not hold", tool.Name, tool.Scope)
		return appendError(b, m.ID, &Error{CodeUnauthorized, why}), verdict{forbidden, tool}
	}
	if tool.Cost != Cheap {
		var end func()
		ctx, end = s.inflight.begin(ctx, c.ID, m.ID)
		defer end()
		gate := s.gate
		if tool.Cost == Heavy {
			gate = s.heavy
		}
		switch status := gate.enter(ctx, c); {
		case status != 0 && context.Cause(ctx) == errCancelled:
			return b, verdict{cancelled, tool}
		case status != 0:
			return appendError(b, m.ID, busyError(status)), verdict{busyOutcome(status), tool}
		}
		defer gate.leave()
	}
	result, failure := s.run(ctx, tool, Call{Caller: c, Arguments: args})
	if context.Cause(ctx) == errCancelled {
		return b, verdict{cancelled, tool}
	}
	return appendOutcome(b, m.ID, result, failure), verdict{answered, tool}
}

// busyError returns the error of a request for which there is no room: 429 is
// the caller's own doing, 503 is not.
func busyError(status int) *Error {
	if status == http.StatusTooManyRequests {
		return &Error{CodeBusy, "too much of this client is under way: let it finish, or take the replies that wait, then try again"}
	}
	return &Error{CodeBusy, "the server is busy with other calls: try again in a second"}
}

// busyOutcome returns the outcome of such a request.
func busyOutcome(status int) outcome {
	if status == http.StatusTooManyRequests {
		return crowded
	}
	return busy
}

// appendOutcome appends what a tool returned.
func appendOutcome(b []byte, id json.RawMessage, result *Result, failure error) []byte {
	if failure != nil {
		if protocol := (*Error)(nil); errors.As(failure, &protocol) {
			return appendError(b, id, protocol)
		}
		result = Text(failure.Error())
		result.IsError = true
	}
	return append(appendResult(appendHead(b, id, "result"), result), '}')
}

// lookup returns the tool that a tools/call asks for, and its arguments, or the
// error that refuses it.
func (s *Server) lookup(m *message) (*Tool, json.RawMessage, *Error) {
	refused := func(why string) (*Tool, json.RawMessage, *Error) {
		return nil, nil, &Error{CodeInvalidParams, why}
	}
	tool, args := s.tools[m.Params.Name], m.Params.Arguments
	switch {
	case m.odd || m.Params.Name == "":
		return refused(`tools/call needs params with the "name" of a tool`)
	case tool == nil:
		return refused(fmt.Sprintf("unknown tool %q: tools/list has the names", limit.Clip(m.Params.Name)))
	case string(args) == "null":
		args = nil
	case args != nil && !isObject(args):
		return refused("the arguments of a tool must be an object")
	}
	return tool, args, nil
}

// run calls the tool's handler. A panic is a failed tool; its value and stack
// go to the log alone, since they may show what the caller must not see.
func (s *Server) run(ctx context.Context, tool *Tool, c Call) (result *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("tool panicked", "tool", tool.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			result, err = nil, fmt.Errorf("%s failed inside the server, which is a bug and is in its log; the same call would most likely fail again", tool.Name)
		}
	}()
	result, err = tool.Handle(ctx, c)
	if result == nil {
		result = &Result{}
	}
	return result, err
}
