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
	// MaxBody is the largest body, in bytes.
	MaxBody = 1 << 20

	// maxAnonymous is how much of a body is read, in bytes, before its sender
	// must have shown a token. What is open to strangers is far shorter, so a
	// crowd of them can make the server hold little.
	maxAnonymous = 16 << 10
)

const unauthorizedText = "a valid bearer token is needed: authorize, then send it in the Authorization header"

// exchange is one POST: its request, and what was found out about it.
type exchange struct {
	h *HTTP
	w http.ResponseWriter
	r *http.Request

	asked  bool // Authenticate was called
	caller Caller
	denied error // what Authenticate returned

	outcomes [cancelled + 1]int // how many messages came to each
	scope    string             // that a caller lacked, when there is one

	method, tool string // for the log
}

// post serves POST /mcp and its aliases.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := exchange{h: h, w: w, r: r}
	echoSession(w, r)
	status := x.serve()
	h.log(r, start, status, x.method, x.tool, x.denied)
}

// serve answers the request and returns the status it answered with.
func (x *exchange) serve() int {
	if status, why := x.acceptable(); status != 0 {
		refuse(x.w, status, why)
		return status
	}
	in := borrow()
	defer in.release()
	if status, err := x.read(in); err != nil {
		if status == http.StatusUnauthorized {
			x.h.Challenge(x.w, x.r, x.denied)
		}
		refuse(x.w, status, err.Error())
		return status
	}
	msgs, batch, refused := decode(in.b, &in.single)
	if refused != nil {
		respond(x.w, http.StatusBadRequest, appendError(nil, nil, refused))
		return http.StatusBadRequest
	}
	x.note(msgs, batch)

	out := borrow()
	defer out.release()
	out.b = appendReplies(out.b, msgs, batch, x.reply)
	status := x.status(len(out.b) == 0)
	x.explain(status)
	if status == http.StatusUnauthorized && len(out.b) == 0 { // nothing but notifications
		out.b = appendError(out.b, nil, &Error{CodeUnauthorized, unauthorizedText})
	}
	respond(x.w, status, out.b)
	return status
}

// acceptable checks the headers and returns the status of a refusal, or 0.
func (x *exchange) acceptable() (status int, why string) {
	switch {
	case !accepts(x.r.Header["Accept"], "application", "json"):
		return http.StatusNotAcceptable, "POST answers with application/json, which the Accept header excludes"
	case !knownVersion(x.r.Header):
		return http.StatusBadRequest, badVersion
	case !jsonBody(x.r.Header):
		return http.StatusUnsupportedMediaType, "the body must be application/json"
	case x.r.ContentLength > MaxBody:
		return http.StatusRequestEntityTooLarge, errTooLarge.Error()
	}
	return 0, ""
}

var errTooLarge = errors.New("the message is too large: a body holds at most " + strconv.Itoa(MaxBody) + " bytes")

// read reads the body into b, or returns the status to refuse it with. The
// server's ReadTimeout bounds the wait; net/http lifts it at the body's end, so
// it does not end a call that takes longer.
func (x *exchange) read(b *buffer) (status int, err error) {
	for {
		if len(b.b) == cap(b.b) {
			b.b = append(b.b, 0)[:len(b.b)]
		}
		n, err := x.r.Body.Read(b.b[len(b.b):cap(b.b)])
		b.b = b.b[:len(b.b)+n]
		switch {
		case len(b.b) > MaxBody:
			return http.StatusRequestEntityTooLarge, errTooLarge
		case len(b.b) > maxAnonymous && x.authenticate() != nil:
			return http.StatusUnauthorized, errors.New(unauthorizedText)
		case err == io.EOF:
			x.r.Body.Close() // or net/http would look for more of it when it writes the reply
			return 0, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return http.StatusRequestTimeout, errors.New("the body did not arrive in time")
		case err != nil:
			return http.StatusBadRequest, errors.New("the body could not be read")
		}
	}
}

// note remembers for the log what was asked.
func (x *exchange) note(msgs []message, batch bool) {
	m := &msgs[0]
	switch {
	case batch:
		x.method = "batch of " + strconv.Itoa(len(msgs))
	case m.refused != nil:
		x.method = "invalid"
	case m.isResponse():
		x.method = "response"
	default:
		x.method = m.Method
	}
}

// authenticate asks once who the caller is.
func (x *exchange) authenticate() error {
	if !x.asked {
		x.asked = true
		x.caller, x.denied = x.h.Authenticate(x.r)
	}
	return x.denied
}

// public reports whether a message may come without a token. A refused one
// may: its sender learns what is wrong with it and nothing else.
func public(m *message) bool {
	return m.refused != nil || m.Method == "initialize" || m.Method == "tools/list"
}

// reply appends the reply to one message, judged by itself.
func (x *exchange) reply(b []byte, m *message) []byte {
	if !public(m) && x.authenticate() != nil {
		x.outcomes[unauthorized]++
		if m.isNotification() || m.isResponse() {
			return b
		}
		return appendError(b, m.ID, &Error{CodeUnauthorized, unauthorizedText})
	}
	b, v := x.h.Server.reply(x.r.Context(), b, x.caller, m)
	x.outcomes[v.outcome]++
	if v.tool != nil {
		x.tool = v.tool.Name
	}
	switch v.outcome {
	case forbidden:
		x.scope = v.tool.Scope
	case cancelled:
		// A line may stay unanswered, a POST may not: its client would wait.
		b = appendError(b, m.ID, &Error{CodeCancelled, "the client cancelled the call; what it had done by then stays done"})
	}
	return b
}

// status returns the status of the whole. A refusal decides it only when no
// message was served: the replies to the others must reach their sender, and
// clients drop the body of an error.
func (x *exchange) status(empty bool) int {
	n := &x.outcomes
	switch {
	case n[answered]+n[cancelled]+n[silent] > 0 && empty:
		return http.StatusAccepted
	case n[answered]+n[cancelled]+n[silent] > 0:
		return http.StatusOK
	case n[unauthorized] > 0:
		return http.StatusUnauthorized
	case n[forbidden] > 0:
		return http.StatusForbidden
	case n[busy] > 0:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// explain sets the headers that belong to a refusal.
func (x *exchange) explain(status int) {
	switch status {
	case http.StatusUnauthorized:
		x.h.Challenge(x.w, x.r, x.denied)
	case http.StatusForbidden:
		x.h.Insufficient(x.w, x.r, x.scope)
	case http.StatusServiceUnavailable:
		x.w.Header().Set("Retry-After", "1")
	}
}
