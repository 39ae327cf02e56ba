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

// notify writes a notification about the request. The first one makes the reply a
// stream of events.
func (x *exchange) notify(line []byte) {
	if x.events == nil {
		x.events = &events{w: x.w}
		h := x.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // nginx would collect events
		x.w.WriteHeader(http.StatusOK)
	}
	x.events.write(line)
}

// write writes one line as an event. A client that is gone is noticed by the
// request's context, so errors need no answer here.
func (e *events) write(line []byte) {
	control := http.NewResponseController(e.w)
	control.SetWriteDeadline(time.Now().Add(eventTimeout))
	e.w.Write(append(append([]byte("event: message\ndata: "), line...), "\n\n"...))
	control.Flush()
}

// disagree returns how the headers of a message of the newer era disagree with
// its body, or nil.
func (x *exchange) disagree(m *message) *Error {
	if m.refused != nil || !m.wantsReply() || !m.modern() {
		return nil
	}
	return headerMismatch(x.r.Header, m)
}

// listen answers a subscriptions/listen and returns the status.
func (x *exchange) listen(m *message) int {
	refuse := func(status int, why *Error, data []byte) int {
		x.respond(status, appendErrorData(nil, m.ID, why, data))
		return status
	}
	if x.authenticate() != nil {
		return refuse(http.StatusUnauthorized, &Error{CodeUnauthorized, unauthorizedText}, nil)
	}
	// Headers that disagree with the body are reported before a wrong version.
	why, data := m.checkEra()
	if mismatch := x.disagree(m); mismatch != nil {
		why, data = mismatch, nil
	}
	if why != nil {
		return refuse(http.StatusBadRequest, why, data)
	}
	if !accepts(x.r.Header["Accept"], "text", "event-stream") {
		return refuse(http.StatusNotAcceptable, &Error{CodeInvalidRequest, "subscriptions/listen answers with text/event-stream, which the Accept header excludes"}, nil)
	}
	l, why := x.h.Server.listen(x.r.Context(), x.caller, m)
	if why != nil {
		return refuse(http.StatusServiceUnavailable, why, nil)
	}
	defer l.close()
	// Whoever revoked the token in this moment could not yet end the listener.
	if _, err := x.h.Authenticate(x.r); err != nil {
		return refuse(http.StatusUnauthorized, &Error{CodeUnauthorized, unauthorizedText}, nil)
	}
	// One line in the log when the stream begins and, after Listen has returned, one
	// when it ends.
	x.log(http.StatusOK, m.Method)
	x.method = "end of listen"
	x.denied = x.h.Listen(l.ctx, x.w, l)
	return http.StatusOK
}
