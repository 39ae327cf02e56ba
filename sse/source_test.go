package sse

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"wick/sse/ssetest"
)

// list is the plainest source: a list, of which all that was written is cut
// off at the front.
type list struct {
	bell chan struct{}

	mu     sync.Mutex
	events []Event
	wrote  []int // the calls of Wrote
}

func newList(events ...Event) *list { return &list{bell: make(chan struct{}, 1), events: events} }

func (q *list) Bell() chan struct{} { return q.bell }

func (q *list) Next() (events []Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append(events, q.events...)
}

func (q *list) Wrote(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = slices.Clone(q.events[n:])
	q.wrote = append(q.wrote, n)
	if len(q.events) > 0 {
		Ring(q.bell)
	}
}

// add queues events with the ids from first to last and wakes the stream.
func (q *list) add(first, last int) {
	q.mu.Lock()
	for i := first; i <= last; i++ {
		q.events = append(q.events, Event{"a-" + strconv.Itoa(i), []byte(`{"n":` + strconv.Itoa(i) + `}`)})
	}
	q.mu.Unlock()
	Ring(q.bell)
}

func (q *list) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events)
}

// openSource opens a stream and waits until it is idle.
func openSource(t *testing.T, source Source) *ssetest.Client {
	return ssetest.Open(t, func(ctx context.Context, w http.ResponseWriter) error { return Serve(ctx, w, source) })
}
