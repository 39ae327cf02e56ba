package mcp

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Bounds of a POST.
const (
	// maxBody is the largest body, in bytes.
	maxBody = 1 << 20

	// maxAnonymous is how much of a body is read, in bytes, before its sender
	// must have shown a token. What is open to strangers is far shorter, so a
	// crowd of them can make the server hold little.
	maxAnonymous = 8 << 10
)

// eventTimeout is how long a client may take to accept a notification about its request,
// for which the call waits. The reply has as long as any other.
const eventTimeout = 10 * time.Second

// exchange is one POST: its request, and what was found out about it.
type exchange struct {
	h     *HTTP
	w     http.ResponseWriter
	r     *http.Request
	start time.Time

	asked  bool // Authenticate was called
	caller Caller
	denied error // what Authenticate returned

	body, reply int // bytes counted against the caller's budget

	batch    bool
	outcomes [cancelled + 1]int // how many messages came to each
	scope    string             // that a caller lacked, when there is one

	streaming bool // the reply has become a stream of events

	method, tool string // for the log
}

// slow is how old a request is before its token is looked at again.
const slow = 100 * time.Millisecond

// authenticate asks who the caller is. What the request holds by then goes
// from the strangers' account to the caller's. A body takes as long as its sender
// likes, and so does a batch: of a request that is slow the token is asked for again
// with each message, because it may have been revoked meanwhile.
func (x *exchange) authenticate() error {
	if x.asked {
		if x.denied == nil && time.Since(x.start) > slow {
			_, x.denied = x.h.Authenticate(x.r)
		}
		return x.denied
	}
	x.asked = true
	caller, err := x.h.Authenticate(x.r)
	if x.denied = err; err != nil {
		return err
	}
	if x.body > 0 {
		x.h.held.add(Caller{}, -x.body)
		x.h.held.add(caller, x.body)
	}
	x.caller = caller
	return nil
}

// read reads the body into b, or returns the status and the error to refuse it
// with. The server's ReadTimeout bounds the wait; net/http lifts it at the
// body's end, so it does not end a call that takes longer. The buffer grows with
// what has arrived, not with what was announced.
func (x *exchange) read(b *buffer) (status int, refused *Error) {
	for {
		if len(b.b) == cap(b.b) {
			if status := x.grow(b); status != 0 {
				return status, busyError(status)
			}
		}
		n, err := x.r.Body.Read(b.b[len(b.b):cap(b.b)])
		b.b = b.b[:len(b.b)+n]
		switch {
		case len(b.b) > maxBody:
			return http.StatusRequestEntityTooLarge, errTooLarge
		case len(b.b) > maxAnonymous && x.authenticate() != nil:
			return http.StatusUnauthorized, &Error{codeUnauthorized, unauthorizedText}
		case err == io.EOF:
			x.r.Body.Close() // or net/http would look for more of it when it writes the reply
			return 0, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return http.StatusRequestTimeout, &Error{codeInvalidRequest, "the body did not arrive in time"}
		case err != nil:
			return http.StatusBadRequest, &Error{codeInvalidRequest, "the body could not be read"}
		}
	}
}

var errTooLarge = &Error{codeInvalidRequest, "the message is too large: a body holds at most " + strconv.Itoa(maxBody) + " bytes"}

// grow doubles the buffer of a body, or gives it the room for what was announced
// if that is less, and one byte to see the end. It returns the status of a
// refusal, or 0.
func (x *exchange) grow(b *buffer) int {
	more := len(b.b)
	if left := int(x.r.ContentLength) + 1 - len(b.b); left > 0 {
		more = min(more, left)
	}
	if status := x.h.held.take(x.caller, more); status != 0 {
		return status
	}
	x.body += more
	b.b = append(make([]byte, 0, len(b.b)+more), b.b...)
	return 0
}

// notify writes a notification about the request. The first one makes the reply a
// stream of events: notifications, and last the reply itself. One goroutine at a time
// writes it: progress is told under a lock, and ends before the reply is written.
func (x *exchange) notify(line []byte) {
	if !x.streaming {
		x.streaming = true
		h := x.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // nginx would collect events
		x.w.WriteHeader(http.StatusOK)
	}
	x.event(line, eventTimeout)
}

// event writes one line as an event, within that time. A client that is gone is noticed
// by the request's context, so errors need no answer here. The line is not copied: a
// reply may be long, and the copy would be counted as nobody's.
func (x *exchange) event(line []byte, within time.Duration) {
	control := http.NewResponseController(x.w)
	control.SetWriteDeadline(time.Now().Add(within))
	io.WriteString(x.w, "event: message\ndata: ")
	x.w.Write(line)
	io.WriteString(x.w, "\n\n")
	control.Flush()
}

// refuse answers the whole request with an error and returns its status.
func (x *exchange) refuse(status int, why *Error) int {
	x.respond(status, appendError(nil, nil, why))
	return status
}

// respond writes the reply, with the headers that belong to a refusal. A caller
// with a token has longer to take it: strangers get nothing that is long.
func (x *exchange) respond(status int, body []byte) {
	switch status {
	case http.StatusUnauthorized:
		x.h.Challenge(x.w, x.r, x.denied)
	case http.StatusForbidden:
		x.h.Insufficient(x.w, x.r, x.scope)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		x.w.Header().Set("Retry-After", "1")
	}
	within := anonymousWriteTimeout
	if x.caller.ID != "" {
		within = writeTimeout
	}
	respond(x.w, status, body, within)
}

// log writes a line about this request.
func (x *exchange) log(status int, method string) {
	x.h.log(x.r, x.start, logLine{status: status, method: method, tool: x.tool, caller: x.caller, err: x.denied})
}
