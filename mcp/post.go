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
	maxAnonymous = 8 << 10
)

const unauthorizedText = "a valid bearer token is needed: authorize, then send it in the Authorization header"

// ErrTooMany is what [HTTP.Authenticate] returns for a token that is good but
// whose holder has too much open already. The request is answered with 429.
var ErrTooMany = errors.New("too many connections of this client are open: close some, or use one for several calls")

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

	events *events // set once the reply is a stream of events

	method, tool string // for the log
}

// slowBody is how long a request may take to come in before its token is looked at
// again.
const slowBody = 100 * time.Millisecond

// post serves POST /mcp and its aliases.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	x := exchange{h: h, w: w, r: r, start: time.Now()}
	echoSession(w, r)
	status := x.serve()
	if held := x.body + x.reply; held > 0 {
		h.held.add(x.caller, -held)
	}
	x.log(status, x.method)
}

// serve answers the request and returns the status it answered with.
func (x *exchange) serve() int {
	if status, why := x.acceptable(); status != 0 {
		return x.refuse(status, &Error{CodeInvalidRequest, why})
	}
	// Who sends a token is asked for it before the body is read: what the
	// request holds counts as its caller's, and its connection as no stranger's.
	if len(x.r.Header["Authorization"]) > 0 && x.authenticate() == ErrTooMany {
		x.w.Header().Set("Connection", "close") // it is one too many
		return x.refuse(http.StatusTooManyRequests, &Error{CodeBusy, ErrTooMany.Error()})
	}
	msgs, status, refused := x.messages()
	if refused != nil {
		return x.refuse(status, refused)
	}
	// A body takes as long as its sender likes, and the token may have been
	// revoked meanwhile.
	if x.asked && x.denied == nil && time.Since(x.start) > slowBody {
		_, x.denied = x.h.Authenticate(x.r)
	}
	if !x.batch && x.h.Server.isListen(&msgs[0]) {
		return x.listen(&msgs[0])
	}
	out := borrow()
	defer out.release()
	out.b = appendReplies(out.b, msgs, x.batch, x.answer)
	status = x.status(len(out.b) == 0)
	if status == http.StatusUnauthorized && len(out.b) == 0 { // nothing but notifications
		out.b = appendError(out.b, nil, &Error{CodeUnauthorized, unauthorizedText})
	}
	if status == http.StatusOK && x.method == "initialize" {
		offerSession(x.w, x.r)
	}
	if x.events != nil {
		x.events.write(out.b)
		return http.StatusOK
	}
	x.respond(status, out.b)
	return status
}

// acceptable checks the headers and returns the status of a refusal, or 0.
func (x *exchange) acceptable() (status int, why string) {
	switch {
	case !accepts(x.r.Header["Accept"], "application", "json"):
		return http.StatusNotAcceptable, "POST answers with application/json, which the Accept header excludes"
	case !jsonBody(x.r.Header):
		return http.StatusUnsupportedMediaType, "the body must be application/json"
	case x.r.ContentLength > MaxBody:
		return http.StatusRequestEntityTooLarge, errTooLarge.Message
	}
	return 0, ""
}

// messages reads and decodes the body, or returns the status and the error that
// refuse it. A batch without a token is refused as a whole: twenty lists of
// tools for one small request would be a stranger's cheapest way to fill memory.
func (x *exchange) messages() (msgs []message, status int, refused *Error) {
	in := borrow()
	defer in.release()
	if status, refused = x.read(in); refused != nil {
		return nil, status, refused
	}
	msgs, x.batch, refused = decode(in.b)
	switch {
	case x.batch && x.authenticate() != nil:
		return nil, http.StatusUnauthorized, &Error{CodeUnauthorized, unauthorizedText}
	case refused != nil:
		return nil, http.StatusBadRequest, refused
	case !knownVersion(x.r.Header) && (x.batch || !msgs[0].modern()): // the newer era has an error of its own
		return nil, http.StatusBadRequest, &Error{CodeInvalidRequest, badVersion}
	}
	x.note(msgs)
	return msgs, 0, nil
}

var errTooLarge = &Error{CodeInvalidRequest, "the message is too large: a body holds at most " + strconv.Itoa(MaxBody) + " bytes"}

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
		case len(b.b) > MaxBody:
			return http.StatusRequestEntityTooLarge, errTooLarge
		case len(b.b) > maxAnonymous && x.authenticate() != nil:
			return http.StatusUnauthorized, &Error{CodeUnauthorized, unauthorizedText}
		case err == io.EOF:
			x.r.Body.Close() // or net/http would look for more of it when it writes the reply
			return 0, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return http.StatusRequestTimeout, &Error{CodeInvalidRequest, "the body did not arrive in time"}
		case err != nil:
			return http.StatusBadRequest, &Error{CodeInvalidRequest, "the body could not be read"}
		}
	}
}

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

// note remembers for the log what was asked.
func (x *exchange) note(msgs []message) {
	m := &msgs[0]
	switch {
	case x.batch:
		x.method = "batch of " + strconv.Itoa(len(msgs))
	case m.refused != nil:
		x.method = "invalid"
	case m.isResponse():
		x.method = "response"
	default:
		x.method = m.Method
	}
}

// authenticate asks once who the caller is. What the request holds by then goes
// from the strangers' account to the caller's.
func (x *exchange) authenticate() error {
	if x.asked {
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

// public reports whether a message may come without a token. A refused one
// may: its sender learns what is wrong with it and nothing else.
func public(m *message) bool {
	return m.refused != nil || m.Method == "initialize" || m.Method == "tools/list"
}

// answer appends the reply to one message, judged by itself.
func (x *exchange) answer(b []byte, m *message) []byte {
	if !public(m) && x.authenticate() != nil {
		x.outcomes[unauthorized]++
		if !m.wantsReply() {
			return b
		}
		return appendError(b, m.ID, &Error{CodeUnauthorized, unauthorizedText})
	}
	// A caller whose bodies and unread replies fill its share runs no further call.
	if status := x.h.held.fits(x.caller, 1); status != 0 && m.wantsReply() {
		x.outcomes[busyOutcome(status)]++
		return appendError(b, m.ID, busyError(status))
	}
	if refused := x.disagree(m); refused != nil {
		x.outcomes[invalid]++
		return appendError(b, m.ID, refused)
	}
	// Progress can be told only where the answer may become a stream of events, and a
	// batch is answered as one JSON array.
	if !x.batch && accepts(x.r.Header["Accept"], "text", "event-stream") {
		m.notify = x.notify
	}
	b, v := x.h.Server.reply(x.r.Context(), b, x.caller, m)
	x.outcomes[v.outcome]++
	switch v.outcome {
	case forbidden:
		x.scope = v.scope
	case cancelled:
		// A line may stay unanswered, a POST may not: its client would wait.
		b = appendError(b, m.ID, &Error{CodeCancelled, "the client cancelled the call; what it had done by then stays done"})
	}
	if v.name != "" {
		x.tool = v.name
		if x.batch {
			x.log(http.StatusOK, m.Method) // every call has a line, in a batch too
		}
	}
	// What the reply has grown by goes on the caller's account.
	if more := cap(b) - freeBytes - x.reply; more > 0 {
		x.h.held.add(x.caller, more)
		x.reply += more
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
	case n[crowded] > 0:
		return http.StatusTooManyRequests
	case n[busy] > 0:
		return http.StatusServiceUnavailable
	case n[unknown] > 0:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
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
