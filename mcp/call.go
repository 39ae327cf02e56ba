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

// job is a handler to be run for a request: a tool's or a resource's.
type job struct {
	name  string
	cost  Cost
	run   Handler
	reply func(b []byte, result *Result, failure error) []byte // appends the reply for what run returned
}

// call answers tools/call: it runs the tool and appends its result.
func (s *Server) call(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	tool, args, refused := s.lookup(m)
	state, responses := m.Params.RequestState, m.Params.InputResponses
	if refused == nil && (state.Wrong || responses.Wrong) && m.modern() {
		refused = &Error{codeInvalidParams, "params.inputResponses must be an object that has an object for each question, with an action; and params.requestState the string that came with the question"}
	}
	if refused != nil {
		return appendError(b, m.ID, refused), verdict{outcome: answered}
	}
	call := Call{Caller: c, Arguments: args, Elicits: m.elicits("form"), State: state.Value, Responses: responses.Value}
	report := newProgress(m)
	if report != nil {
		call.Progress = report.update
		defer report.end()
	}
	return s.perform(ctx, b, m, call, job{tool.Name, tool.Cost, tool.Handle,
		func(b []byte, result *Result, failure error) []byte { return s.appendOutcome(b, m, result, failure) }})
}

// perform runs a job once there is a slot for it, and appends its reply. Whether
// the caller may is checked before the slot: a call that may not run does not wait.
func (s *Server) perform(ctx context.Context, b []byte, m *message, c Call, j job) ([]byte, verdict) {
	switch err := s.may(ctx, c.Caller, j.name); {
	case errors.As(err, new(ScopeError)):
		return forbid(b, m, j.name, err)
	case err != nil:
		return j.reply(b, &Result{}, err), verdict{outcome: answered, name: j.name}
	}
	if j.cost != Cheap {
		// The call is registered before it waits, so that it can be cancelled while it waits.
		if m.registered != nil {
			ctx = m.registered
		} else {
			var end func()
			ctx, end = s.inflight.begin(ctx, c.Caller.Key(), m.ID)
			defer end()
		}
		gate := s.gate
		switch j.cost {
		case Heavy:
			gate = s.heavy
		case Waiting:
			gate = s.waiting
		}
		// A status other than 0 says that the call got no slot. A call that was cancelled
		// while it waited does not run: its client no longer wants what it would do.
		status := gate.enter(ctx, c.Caller)
		if status == 0 {
			defer gate.leave()
			c.Slot = Slot{gate, c.Caller}
		}
		switch {
		case context.Cause(ctx) == errCancelled:
			return b, verdict{outcome: cancelled, name: j.name}
		case status != 0:
			return appendError(b, m.ID, busyError(status)), verdict{outcome: busyOutcome(status), name: j.name}
		}
		if refused, why := s.late(m, c.Caller); refused != nil {
			return appendError(b, m.ID, refused), verdict{outcome: why, name: j.name}
		}
	}
	result, failure := s.run(ctx, j, c)
	// Nobody waits for the reply of a cancelled call, whatever the job made of it.
	if context.Cause(ctx) == errCancelled {
		return b, verdict{outcome: cancelled, name: j.name}
	}
	return j.reply(b, result, failure), verdict{outcome: answered, name: j.name}
}

// late returns why a call that has got its slot may not run after all: while it waited,
// its token was revoked, or other calls of its caller used up the caller's share. It
// returns nil if the call may run.
func (s *Server) late(m *message, c Caller) (refused *Error, why outcome) {
	if s.revoked(c) {
		return &Error{codeUnauthorized, unauthorizedText}, unauthorized
	}
	if status := m.held.fits(c, 1); status != 0 {
		return busyError(status), busyOutcome(status)
	}
	return nil, answered
}

// revoked reports whether the token of an authenticated caller no longer works.
func (s *Server) revoked(c Caller) bool { return s.valid != nil && !s.valid(c.ID) }

// forbid appends the error for a request that needs a scope which the caller lacks.
func forbid(b []byte, m *message, name string, why error) ([]byte, verdict) {
	return appendError(b, m.ID, &Error{codeUnauthorized, why.Error()}), verdict{forbidden, name}
}

// busyError returns the error of a request for which there is no room. Status 429
// means that the caller used up its own share, 503 that all callers together used up
// the server's.
func busyError(status int) *Error {
	if status == http.StatusTooManyRequests {
		return &Error{codeBusy, "too much of this client is under way: let it finish, or take the replies that wait, then try again"}
	}
	return &Error{codeBusy, "the server is busy with other calls: try again in a second"}
}

// busyOutcome returns the outcome of a request that busyError refuses.
func busyOutcome(status int) outcome {
	if status == http.StatusTooManyRequests {
		return crowded
	}
	return busy
}

// appendOutcome appends the reply for what a tool returned. A failure becomes a result
// with isError set, which a model reads. Only an [Error] becomes an error of the
// protocol, which the client's program reads.
func (s *Server) appendOutcome(b []byte, m *message, result *Result, failure error) []byte {
	if failure != nil {
		if protocol := (*Error)(nil); errors.As(failure, &protocol) {
			return appendError(b, m.ID, protocol)
		}
		if input := (*InputRequired)(nil); errors.As(failure, &input) && input.mode(m) != "" {
			return append(input.append(appendHead(b, m.ID, "result"), s.meta, input.mode(m)), '}')
		}
		result = Text(failure.Error())
		result.IsError = true
	}
	return append(appendResult(s.open(b, m, nil), result), '}')
}

// lookup returns the tool that a tools/call asks for, and its arguments, or the
// error that refuses it.
func (s *Server) lookup(m *message) (*Tool, json.RawMessage, *Error) {
	refused := func(why string) (*Tool, json.RawMessage, *Error) {
		return nil, nil, &Error{codeInvalidParams, why}
	}
	tool, args := s.tools[m.Params.Name], m.Params.Arguments
	switch {
	case m.Params.odd || m.Params.Name == "":
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

// run calls the handler of a job. The result is never nil. A handler that panics has
// failed: run returns an error.
func (s *Server) run(ctx context.Context, j job, c Call) (result *Result, err error) {
	if bug := s.guard(j.name, func() { result, err = j.run(ctx, c) }); bug != nil {
		result, err = nil, bug
	}
	if result == nil {
		result = &Result{}
	}
	return result, err
}

// guard calls f, which runs a function of the tool, resource or prompt with that name,
// and returns an error if it panics: no request may end the process. The value of the
// panic and the stack go to the log only, since the caller must not see them.
func (s *Server) guard(name string, f func()) (bug error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("handler panicked", "of", name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			bug = fmt.Errorf("%s failed inside the server, which is a bug and is in its log; the same call would most likely fail again", name)
		}
	}()
	f()
	return nil
}
