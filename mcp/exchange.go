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

	// maxAnonymous is how many bytes of a body are read before its sender must have
	// shown a valid token. The requests that strangers may send are far shorter, so even
	// many strangers cannot make the server hold much.
	maxAnonymous = 8 << 10
)

// eventTimeout is how long a client may take to receive a notification about its call.
// The call waits meanwhile. For the reply itself writeTimeout holds.
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
	outcomes [cancelled + 1]int // how many messages had each outcome

	streaming bool // the reply has become a stream of events

	method, tool string // for the log
}

// slow is the age of a request from which on its token is checked again.
const slow = 100 * time.Millisecond

// authenticate finds out who the caller is and returns why its token is not valid, or
// nil. The bytes that the request holds by then are moved from the strangers' account to
// the caller's. Called again, authenticate repeats its first answer; but in a request
// older than slow it checks the token again, which may have been revoked while the body
// arrived or earlier messages of the batch were answered.
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

// read reads the body into b. It returns the status and the error of a refusal, or 0
// and nil. The ReadTimeout of the http.Server bounds the wait; net/http lifts it when the
// body has been read, so it does not end a call that takes longer. The buffer grows with
// what has arrived, not with the length that the client announced.
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
			x.r.Body.Close() // otherwise net/http tries to read more of it before it writes the reply
			return 0, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return http.StatusRequestTimeout, &Error{codeInvalidRequest, "the body did not arrive in time"}
		case err != nil:
			return http.StatusBadRequest, &Error{codeInvalidRequest, "the body could not be read"}
		}
	}
}

var errTooLarge = &Error{codeInvalidRequest, "the message is too large: a body holds at most " + strconv.Itoa(maxBody) + " bytes"}

// grow doubles the buffer of a body, or makes it as long as the announced length if that
// is less, plus one byte so that the last read can see the end. It returns the status of
// a refusal, or 0.
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

// notify writes a notification about the request. The first one turns the response into
// a stream of events: the notifications, and last the reply itself. Only one goroutine
// writes at a time: progress is reported under a lock, and ends before the reply is
// written.
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

// event writes one line as an event, within the given time. Errors are ignored: when the
// client is gone, the request's context ends. The line is not copied, since a reply may
// be long and no budget would count the copy.
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

// respond writes the reply, with the headers that belong to a refusal. A caller with a
// token has more time to receive it, since strangers get only short replies.
func (x *exchange) respond(status int, body []byte) {
	switch status {
	case http.StatusUnauthorized:
		x.h.Challenge(x.w, x.r, x.denied)
	case http.StatusForbidden:
		x.h.Challenge(x.w, x.r, ErrScope)
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
