package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// errCancelled is the cause with which the context of a call ends when the client
// cancels the call.
var errCancelled = errors.New("the client cancelled the call")

// callKey names a running call. The caller is part of it because ids are unique only
// within one client, and because a client may cancel only its own calls.
type callKey struct{ caller, id string }

// running is a call in progress. Two clients that share a token may use the same id at
// the same time. Then nobody can tell which of the calls a cancellation means, and it is
// ignored rather than cancel the wrong one.
type running struct {
	cancel context.CancelCauseFunc // nil from the second call with the same key on
	calls  int                     // how many calls with this key run
}

// inflight holds the calls that can be cancelled.
type inflight struct {
	mu    sync.Mutex
	calls map[callKey]*running // guarded by mu
}

// begin registers a call and returns its context and the function that ends
// the registration.
func (f *inflight) begin(ctx context.Context, caller string, id json.RawMessage) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := callKey{caller, string(id)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = make(map[callKey]*running)
	}
	// A second call with the same key makes both impossible to cancel, as [running] says.
	r := f.calls[key]
	if r == nil {
		r = &running{cancel: cancel}
		f.calls[key] = r
	} else {
		r.cancel = nil
	}
	r.calls++
	return ctx, func() {
		f.mu.Lock()
		if r.calls--; r.calls == 0 {
			delete(f.calls, key)
		}
		f.mu.Unlock()
		cancel(nil)
	}
}

// cancel ends the caller's call of that id, if there is exactly one. The id is
// compared by its bytes, as the client spelled it.
func (f *inflight) cancel(caller string, id json.RawMessage) {
	f.mu.Lock()
	var end context.CancelCauseFunc
	if r := f.calls[callKey{caller, string(id)}]; r != nil {
		end = r.cancel
	}
	f.mu.Unlock()
	if end != nil {
		end(errCancelled)
	}
}
