package cluster

import (
	"context"
	"errors"
	"sync"
)

// question is a request to etcd that many callers make at the same time. The answer to one
// that is under way may be older than a call, so callers that come meanwhile share the next.
type question[T any] struct {
	turn chan struct{} // holds a value while a request is under way

	mu   sync.Mutex
	next *answered[T] // the request that was not sent yet, or nil; guarded by mu
}

// answered is one request, and its answer once done is closed.
type answered[T any] struct {
	done  chan struct{}
	value T
	err   error // until then, and if the request panicked, errNotAsked
}

// errNotAsked is the answer to a request that did not end.
var errNotAsked = errors.New("etcd was not asked")

// newQuestion returns a question that nobody has asked yet.
func newQuestion[T any]() *question[T] { return &question[T]{turn: make(chan struct{}, 1)} }

// ask returns what send returns, called after ask was, by this caller or one that shares
// the request. If ctx ends while ask waits for others, ask returns its error; how long send
// takes is send's concern.
func (q *question[T]) ask(ctx context.Context, send func() (T, error)) (none T, err error) {
	q.mu.Lock()
	if q.next == nil {
		q.next = &answered[T]{done: make(chan struct{}), err: errNotAsked}
	}
	a := q.next
	q.mu.Unlock()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case <-a.done:
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
		q.mu.Lock()
		mine := q.next == a // otherwise a is done
		if mine {
			q.next = nil
		}
		q.mu.Unlock()
		if mine {
			a.value, a.err = send()
			close(a.done)
		}
	}
	return a.value, a.err
}
