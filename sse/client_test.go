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

// queue is the plainest source: a list, of which all that was written is cut
// off at the front.
type queue struct {
	bell chan struct{}

	mu     sync.Mutex
	events []Event
	wrote  []int // the calls of Wrote
}

func newQueue(events ...Event) *queue { return &queue{bell: make(chan struct{}, 1), events: events} }

func (q *queue) Bell() chan struct{} { return q.bell }

func (q *queue) Next() (events []Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append(events, q.events...)
}

func (q *queue) Wrote(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = slices.Clone(q.events[n:])
	q.wrote = append(q.wrote, n)
	if len(q.events) > 0 {
		Ring(q.bell)
	}
}

// add queues events with the ids from first to last and wakes the stream.
func (q *queue) add(first, last int) {
	q.mu.Lock()
	for i := first; i <= last; i++ {
		q.events = append(q.events, Event{"a-" + strconv.Itoa(i), []byte(`{"n":` + strconv.Itoa(i) + `}`)})
	}
	q.mu.Unlock()
	Ring(q.bell)
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events)
}

// connect opens a stream and waits until it is idle.
func connect(t *testing.T, source Source, comments ...string) *ssetest.Client {
	return ssetest.Open(t, func(ctx context.Context, w http.ResponseWriter) error { return Serve(ctx, w, source, comments...) })
}
