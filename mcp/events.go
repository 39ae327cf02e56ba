package mcp

import (
	"net/http"
	"time"
)

// eventTimeout is how long a client may take to accept one event of a reply.
const eventTimeout = 10 * time.Second

// events is a reply that is a stream of events: notifications about the request,
// and last the reply itself.
// One goroutine at a time writes it: progress is told under a lock, and ends
// before the reply is written.
type events struct{ w http.ResponseWriter }

// write writes one line as an event. A client that is gone is noticed by the
// request's context, so errors need no answer here.
func (e *events) write(line []byte) {
	control := http.NewResponseController(e.w)
	control.SetWriteDeadline(time.Now().Add(eventTimeout))
	e.w.Write(append(append([]byte("event: message\ndata: "), line...), "\n\n"...))
	control.Flush()
}
