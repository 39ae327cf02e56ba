package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"wick/internal/limit"
)

// job is a handler to be run for a request: a tool's or a resource's.
type job struct {
	name  string
	cost  Cost
	run   Handler
	reply func(got *Result, failure error) Reply // for what run returned
}

// call answers tools/call: it runs the tool.
func (s *Server) call(ctx context.Context, c Caller, r *request) Reply {
	tool, args, refused := s.lookup(r)
	if refused != nil {
		return refuse(refused)
	}
	call := Call{Caller: c, Arguments: args, Elicits: r.elicits("form"), State: r.Params.RequestState.Value, Responses: r.Params.InputResponses.Value, Listens: r.listens()}
	if report := newProgress(r); report != nil {
		call.Progress = report.update
		defer report.end()
	}
	return s.perform(ctx, r, call, job{tool.Name, tool.Cost, tool.Handle,
		func(got *Result, failure error) Reply { return s.outcome(r, got, failure) }})
}

// lookup returns the tool that a tools/call asks for, and its arguments, or the
// error that refuses it.
func (s *Server) lookup(r *request) (tool *Tool, args json.RawMessage, refused *Error) {
	tool, args = s.tools[r.Params.Name], r.Params.Arguments
	switch {
	case r.Params.Name == "":
		return nil, nil, InvalidParams(`tools/call needs params with the "name" of a tool`)
	case tool == nil:
		return nil, nil, InvalidParams(fmt.Sprintf("unknown tool %q: tools/list has the names", limit.Clip(r.Params.Name)))
	case string(args) == "null":
		args = nil
	case args != nil && !isObject(args):
		return nil, nil, InvalidParams("the arguments of a tool must be an object")
	}
	return tool, args, nil
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// perform runs a job once there is a slot for it. Before it waits for one it checks whether the
// caller may run the job at all.
func (s *Server) perform(ctx context.Context, r *request, c Call, j job) (reply Reply) {
	defer func() { reply.name = j.name }()
	if err := s.may(ctx, c.Caller, j.name); err != nil {
		if errors.As(err, new(ScopeError)) {
			return refuse(forbidden(err))
		}
		return j.reply(&Result{}, err)
	}
	if gate := s.gates[j.cost]; gate != nil {
		// The call is registered before it waits, so that it can be cancelled while it waits.
		if r.session == nil {
			r.session = s.Sessions.begin(ctx, c.Caller)
			defer r.session.End()
		}
		ctx = r.session.cancellable(r.ID)
		refused := gate.enter(ctx, c.Caller)
		if refused == nil {
			defer gate.leave()
			c.Slot = Slot{gate, c.Caller}
			if r.by != nil { // other calls may have used up the caller's share meanwhile
				refused = r.by.room()
			}
		}
		// A call that was cancelled or whose token ended while it waited does not run.
		if ended := endedBy(ctx); ended != nil {
			return refuse(ended)
		}
		if refused != nil {
			return refuse(refused)
		}
	}
	var got *Result
	var err error
	if bug := s.guard(j.name, func() { got, err = j.run(ctx, c) }); bug != nil {
		got, err = nil, errors.New(bug.Message) // a model reads it
	}
	// Nobody waits for the reply of a cancelled call, whatever the job made of it.
	if ended := endedBy(ctx); ended == errCancelled || ended != nil && err != nil {
		return refuse(ended)
	}
	if got == nil {
		got = &Result{}
	}
	return j.reply(got, err)
}

// endedBy returns the error for a context that its client or the end of its token has
// ended, else nil.
func endedBy(ctx context.Context) *Error {
	switch context.Cause(ctx) {
	case error(errCancelled):
		return errCancelled
	case ErrRevoked:
		return errUnauthorized
	}
	return nil
}

// forbidden returns the error of a request that needs a scope which the caller lacks.
func forbidden(why error) *Error {
	return &Error{Code: codeUnauthorized, Message: why.Error(), Status: http.StatusForbidden}
}

// guard calls f, which runs a function of the tool, resource or prompt with that name,
// and returns an error if it panics: no request may end the process. The value of the
// panic and the stack go to the log only, since the caller must not see them.
func (s *Server) guard(name string, f func()) (bug *Error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("handler panicked", "of", name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			bug = &Error{Code: codeInternal, Message: name + " failed inside the server, which is a bug and is in its log; the same call would most likely fail again"}
		}
	}()
	f()
	return nil
}
