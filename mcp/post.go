package mcp

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"time"
)

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
		return x.refuse(status, &Error{codeInvalidRequest, why})
	}
	// A token is checked before the body is read, so that the bytes of the request and
	// its connection are counted as the caller's and not as a stranger's.
	if len(x.r.Header["Authorization"]) > 0 && x.authenticate() == ErrTooMany {
		x.w.Header().Set("Connection", "close") // the caller has one connection too many
		return x.refuse(http.StatusTooManyRequests, &Error{codeBusy, ErrTooMany.Error()})
	}
	msgs, status, refused := x.messages()
	if refused != nil {
		return x.refuse(status, refused)
	}
	if !x.batch && x.h.Server.isListen(&msgs[0]) {
		return x.listen(&msgs[0])
	}
	out := borrow()
	defer out.release()
	out.b = appendReplies(out.b, msgs, x.batch, x.answer)
	status = x.status(len(out.b) == 0)
	if status == http.StatusUnauthorized && len(out.b) == 0 { // nothing but notifications
		out.b = appendError(out.b, nil, &Error{codeUnauthorized, unauthorizedText})
	}
	// Some clients open their stream only if they have a session id. It is not stored.
	if status == http.StatusOK && x.method == "initialize" && len(x.r.Header["Mcp-Session-Id"]) == 0 {
		x.w.Header().Set("Mcp-Session-Id", rand.Text())
	}
	if x.streaming {
		x.event(out.b, writeTimeout)
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
	case x.r.ContentLength > maxBody:
		return http.StatusRequestEntityTooLarge, errTooLarge.Message
	}
	return 0, ""
}

// messages reads and decodes the body, or returns the status and the error of a refusal.
// A batch without a token is refused as a whole: with one small request for twenty lists
// of tools a stranger could fill memory cheaply.
func (x *exchange) messages() (msgs []message, status int, refused *Error) {
	in := borrow()
	defer in.release()
	if status, refused = x.read(in); refused != nil {
		return nil, status, refused
	}
	msgs, x.batch, refused = decode(in.b)
	switch {
	case x.batch && x.authenticate() != nil:
		return nil, http.StatusUnauthorized, &Error{codeUnauthorized, unauthorizedText}
	case refused != nil:
		return nil, http.StatusBadRequest, refused
	case !knownVersion(x.r.Header) && (x.batch || !msgs[0].modern()): // the newer era has an error of its own
		return nil, http.StatusBadRequest, &Error{codeInvalidRequest, badVersion}
	}
	x.note(msgs)
	return msgs, 0, nil
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
		x.method = x.h.Server.logged(m.Method)
	}
}

// listen answers a subscriptions/listen and returns the status.
func (x *exchange) listen(m *message) int {
	refuse := func(status int, why *Error, data []byte) int {
		x.respond(status, appendErrorData(nil, m.ID, why, data))
		return status
	}
	if x.authenticate() != nil {
		return refuse(http.StatusUnauthorized, &Error{codeUnauthorized, unauthorizedText}, nil)
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
		return refuse(http.StatusNotAcceptable, &Error{codeInvalidRequest, "subscriptions/listen answers with text/event-stream, which the Accept header excludes"}, nil)
	}
	l, why := x.h.Server.listen(x.r.Context(), x.caller, m)
	if why != nil {
		return refuse(http.StatusServiceUnavailable, why, nil)
	}
	defer x.h.Server.watch.leave(l)
	// If the token was revoked since the check above, the revocation may have come before
	// the listener existed and not ended it. So the token is checked again.
	if _, x.denied = x.h.Authenticate(x.r); x.denied != nil {
		return refuse(http.StatusUnauthorized, &Error{codeUnauthorized, unauthorizedText}, nil)
	}
	// One line in the log when the stream begins and, after Listen has returned, one
	// when it ends.
	x.log(http.StatusOK, m.Method)
	x.method = "end of listen"
	x.denied = x.h.Listen(l.ctx, x.w, l)
	return http.StatusOK
}

// public reports whether a message needs no token. A message that is refused needs none:
// its sender learns only what is wrong with it.
func public(m *message) bool {
	return m.refused != nil || m.Method == "initialize" || m.Method == "tools/list"
}

// answer appends the reply to one message. In a batch each message is admitted or refused
// by itself.
func (x *exchange) answer(b []byte, m *message) []byte {
	if !public(m) && x.authenticate() != nil {
		x.outcomes[unauthorized]++
		if !m.wantsReply() {
			return b
		}
		return appendError(b, m.ID, &Error{codeUnauthorized, unauthorizedText})
	}
	// A caller whose share is full of bodies and unread replies may not run another call.
	if status := x.h.held.fits(x.caller, 1); status != 0 && m.wantsReply() {
		x.outcomes[busyOutcome(status)]++
		return appendError(b, m.ID, busyError(status))
	}
	if refused := x.disagree(m); refused != nil {
		x.outcomes[invalid]++
		return appendError(b, m.ID, refused)
	}
	// Progress can be reported only if the response may become a stream of events. The
	// response to a batch may not: it is one JSON array.
	if !x.batch && accepts(x.r.Header["Accept"], "text", "event-stream") {
		m.notify = x.notify
	}
	m.held = &x.h.held
	b, v := x.h.Server.reply(x.r.Context(), b, x.caller, m)
	x.outcomes[v.outcome]++
	switch v.outcome {
	case unauthorized: // the token was revoked since the request came in
		_, x.denied = x.h.Authenticate(x.r)
	case cancelled:
		// Over stdio a cancelled call gets no reply, but a POST needs one: its client waits.
		b = appendError(b, m.ID, &Error{codeCancelled, "the client cancelled the call; what it had done by then stays done"})
	}
	if v.name != "" {
		x.tool = v.name
		if x.batch {
			x.log(http.StatusOK, m.Method) // every call has a line, in a batch too
		}
	}
	// The bytes by which the reply has grown are counted as the caller's.
	if more := cap(b) - freeBytes - x.reply; more > 0 {
		x.h.held.add(x.caller, more)
		x.reply += more
	}
	return b
}

// disagree returns an error if the headers of a message disagree with its body, else nil.
// Requests of the older era need neither Mcp-Method nor Mcp-Name, but if one is there it
// must agree: a proxy may route or filter by it.
func (x *exchange) disagree(m *message) *Error {
	if m.refused != nil || !m.wantsReply() {
		return nil
	}
	h := x.r.Header
	if m.modern() {
		return headerMismatch(h, m)
	}
	if len(h["Mcp-Method"]) > 0 && !slices.Equal(h["Mcp-Method"], []string{m.Method}) {
		return mismatch("Mcp-Method")
	}
	if name, named := m.names(); named && len(h["Mcp-Name"]) > 0 && !saysName(h, name) {
		return mismatch("Mcp-Name")
	}
	return nil
}

// status returns the HTTP status of the response, which is empty if there is no reply to
// write. A refusal decides the status only when no message was served: clients ignore the
// body of a response with an error status, and the replies in it would be lost.
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
