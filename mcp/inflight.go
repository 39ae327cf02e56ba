package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// errCancelled is the cause of a call's context that the client cancelled.
var errCancelled = errors.New("the client cancelled the call")

// callKey names a running call: ids are unique per client only, and a client
// may cancel its own calls alone.
type callKey struct{ caller, id string }

// running is a call in progress. Two clients that share a token may use one id
// at the same time; then nobody can tell which of the calls is meant, and
// cancelling is refused for both rather than hit the wrong one.
type running struct {
	cancel context.CancelCauseFunc // nil once a second call has joined
	calls  int
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
	// The second call with an id that is in use makes both uncancellable, as [running]
	// says.
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
