package sse

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Serve writes a stream of name to w until ctx ends, the stream expires (zero:
// never), the hub is closed or the client is gone. With lastEventID the client
// says which event it saw last; empty, the stream begins with what waits. A
// stream that cannot be opened is answered with 503, and the error says why.
func (h *Hub) Serve(ctx context.Context, w http.ResponseWriter, name, lastEventID string, expires time.Time) error {
	control := http.NewResponseController(w)
	s := &stream{
		expires:  expires,
		deadline: func(t time.Time) { control.SetWriteDeadline(t) },
	}
	gap, err := h.attach(name, lastEventID, s)
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return err
	}
	defer h.detach(s)
	out := httpWriter{w, control}
	if err := out.head(gap); err != nil {
		return err
	}
	return h.run(ctx, s, out.write)
}

// httpWriter writes the events of one stream.
type httpWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Values of the head, shared by all streams, of which there may be many.
var (
	headEventStream = []string{"text/event-stream"}
	headNoStore     = []string{"no-store"}
	headNo          = []string{"no"}    // buffering: nginx would gather events
	headClose       = []string{"close"} // the connection keeps the last deadline, so it serves nothing more
)

// head begins the response, with a comment and a flush, since net/http holds
// the head back until then and the client would wait for its 200.
func (o httpWriter) head(gap bool) error {
	header := o.w.Header()
	header["Content-Type"] = headEventStream
	header["Cache-Control"] = headNoStore
	header["X-Accel-Buffering"] = headNo
	header["Connection"] = headClose
	o.w.WriteHeader(http.StatusOK)
	opening := ": open\n\n"
	if gap {
		opening += ": resumed-from earliest\n\n"
	}
	return o.send([]byte(opening))
}

// texts holds buffers for one write of events.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// write writes all of w at once, so the items count as written together.
func (o httpWriter) write(w work) (int, error) {
	text := texts.Get().(*[]byte)
	defer texts.Put(text)
	b := (*text)[:0]
	for _, it := range w.items {
		b = append(b, "id: "...)
		b = appendID(b, w.label, it.seq)
		b = append(b, "\nevent: message\ndata: "...)
		b = append(b, it.frame...)
		b = append(b, "\n\n"...)
	}
	switch {
	case w.end:
		b = append(b, "retry: 2000\n\n"...) // come back, but not at once
	case len(w.items) == 0:
		b = append(b, ":\n\n"...)
	}
	if cap(b) <= 2*maxBatch {
		*text = b
	}
	if err := o.send(b); err != nil {
		return 0, err
	}
	return len(w.items), nil
}

func (o httpWriter) send(b []byte) error {
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}
