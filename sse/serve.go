package sse

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Serve answers r with a stream of name until its context ends, the stream
// expires (zero: never), the hub is closed or the client is gone. With
// Last-Event-ID the client says which event it saw last; without, the stream
// begins with what waits. A stream that cannot be opened is answered with 503,
// and the error says why.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, name string, expires time.Time) error {
	control := http.NewResponseController(w)
	s := &stream{
		expires:  expires,
		deadline: func(t time.Time) { control.SetWriteDeadline(t) },
	}
	gap, err := h.attach(name, r.Header.Get("Last-Event-ID"), s)
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return err
	}
	defer h.detach(s)
	out := httpWriter{w: w, control: control}
	if r.ProtoAtLeast(1, 1) { // what is older knows no chunks
		if conn, _, err := control.Hijack(); err == nil {
			defer conn.Close()
			s.own(conn)
			out.conn = conn
		}
	}
	if err := out.head(gap); err != nil {
		return err
	}
	return h.run(r.Context(), s, out.write)
}

// own makes the connection the stream's: its deadline is set there, and its end
// is noticed here. What the client sends is thrown away; it has nothing to say,
// and one that says more than maxSaid is taken for gone.
func (s *stream) own(conn net.Conn) {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.deadline = func(t time.Time) { conn.SetWriteDeadline(t) }
	s.limit(s.until) // giving up the connection, net/http has cleared it
	go func() {
		defer s.leave()
		dust := make([]byte, 64)
		for said := 0; said <= maxSaid; {
			n, err := conn.Read(dust)
			if err != nil {
				return
			}
			said += n
		}
	}()
}

// maxSaid bounds what is read of a client on its stream: the body of a GET may
// come, and a line break, but none may keep the server reading.
const maxSaid = 64 << 10

// httpWriter writes the events of one stream. Where it can it has the
// connection itself and does the framing of HTTP/1.1, which is one line: through
// net/http's two buffers a delivery costs a fifth more, and an idle stream 5 KiB.
type httpWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	conn    net.Conn // nil if w is to be used
}

// Values of the head, shared by all streams, of which there may be many.
var (
	headEventStream = []string{"text/event-stream"}
	headNoStore     = []string{"no-store"}
	headNo          = []string{"no"}    // buffering: nginx would gather events
	headClose       = []string{"close"} // the connection serves nothing more
)

// head begins the response, with a comment, so that it goes out at once: the
// client waits for its 200.
func (o httpWriter) head(gap bool) error {
	header := o.w.Header()
	header["Content-Type"] = headEventStream
	header["Cache-Control"] = headNoStore
	header["X-Accel-Buffering"] = headNo
	header["Connection"] = headClose
	opening := ": open\n\n"
	if gap {
		opening += ": resumed-from earliest\n\n"
	}
	if o.conn == nil {
		o.w.WriteHeader(http.StatusOK)
		return o.flush([]byte(opening))
	}
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	header.Write(&b) // into memory: it does not fail
	fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(opening), opening)
	_, err := o.conn.Write(b.Bytes())
	return err
}

func (o httpWriter) flush(b []byte) error {
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}

// write writes all of w at once, so the items count as written together.
func (o httpWriter) write(w *work) (int, error) {
	b := append(w.text, chunkRoom...)
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
	w.text = b
	var err error
	if o.conn == nil {
		err = o.flush(b[len(chunkRoom):])
	} else {
		w.text, err = o.chunk(b, w.end)
	}
	if err != nil {
		return 0, err
	}
	return len(w.items), nil
}

// chunkRoom is the place for the head of a chunk, whose length comes first.
const chunkRoom = "ffffffff\r\n"

// chunk writes what follows the room as a chunk, and the last one after it if
// it is to be the end. It returns b as it has grown.
func (o httpWriter) chunk(b []byte, end bool) ([]byte, error) {
	start := len(chunkRoom) - len("\r\n")
	for n := len(b) - len(chunkRoom); n > 0; n >>= 4 {
		start--
		b[start] = "0123456789abcdef"[n&15]
	}
	b = append(b, "\r\n"...)
	if end {
		b = append(b, "0\r\n\r\n"...)
	}
	_, err := o.conn.Write(b[start:])
	return b, err
}
