package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"wick/internal/limit"
)

// HTTP carries messages over Streamable HTTP. Serve its mux through
// [Policy.Wrap]: the routes alone check neither Host nor Origin. The http.Server
// needs a ReadTimeout, which is what ends a body that trickles in.
type HTTP struct {
	Server *Server

	// Authenticate returns who sent the request, or an error that says why its token is
	// not valid. The error [ErrTooMany] means that the token is valid, but its holder has
	// too many connections open. It is called for every request, before the body is read.
	Authenticate func(r *http.Request) (Caller, error)

	// Challenge sets the WWW-Authenticate header of a 401, where err is what Authenticate
	// returned or [ErrRevoked], and of a 403, where it is [ErrScope].
	Challenge func(w http.ResponseWriter, r *http.Request, err error)

	// Stream writes the whole response of a stream of notifications, headers included,
	// and returns when the stream ends. Its error goes to the log only: Stream itself has
	// answered the client.
	Stream func(w http.ResponseWriter, r *http.Request, c Caller) error

	// Listen writes the lines of a stream to w as events, headers included, until ctx
	// ends; then it writes the lines that are left.
	Listen func(ctx context.Context, w http.ResponseWriter, s *Stream) error

	// Health returns what GET / answers, to be encoded as JSON.
	Health func() any

	// Address returns where a request came from, for the log; nil leaves it out.
	Address func(r *http.Request) string

	Log *slog.Logger // receives a line per request, and one when a stream ends; nil discards them

	holders, strangers Shares // of the bytes that requests hold, with a valid token and without
}

// ErrTooMany is what [HTTP.Authenticate] returns for a valid token whose holder
// already has too many connections open. The request is answered with 429.
var ErrTooMany = errors.New("too many connections of this client are open: close some, or use one for several calls")

// ErrScope says that the caller lacks a scope which the request needs.
var ErrScope = errors.New("the token does not hold the scope")

// ScopeError is the error of [Options.May] for a caller that lacks a scope which another
// login could give it. It says which.
type ScopeError string

func (e ScopeError) Error() string { return string(e) }

// Bounds of a POST, in bytes.
const (
	maxBody = 1 << 20

	// maxAnonymous is how many bytes of a body are read before its sender must have
	// shown a valid token. The requests that strangers may send are far shorter, so even
	// many strangers cannot make the server hold much.
	maxAnonymous = 8 << 10
)

// Bounds on the bytes that requests hold: bodies while they arrive and are
// processed, and replies until their clients have received them. A reply of a tool
// has at most about 1 MiB. Strangers have a share of their own, so nothing they do takes
// bytes from the holders of tokens. All strangers have one share together, since one of
// them can use as many addresses as he likes.
const (
	maxHeldToken     = 4 << 20
	maxHeldClient    = 8 << 20  // all tokens of one client
	maxHeld          = 16 << 20 // all tokens
	maxHeldAnonymous = 12 << 20 // all requests without a valid token

	// freeBytes is what a body or a reply may hold without being counted. It is
	// part of what a connection costs, and most requests need no more.
	freeBytes = 4 << 10
)

// How long a client may take to receive something.
const (
	writeTimeout = 60 * time.Second // a reply

	// anonymousWriteTimeout is for clients without a valid token. The longest
	// reply they get, the list of tools, has about 30 KiB: a telephone that
	// receives two kilobytes a second still gets it in time.
	anonymousWriteTimeout = 20 * time.Second

	eventTimeout = 10 * time.Second // a notification about its call, which waits meanwhile
)

// exchange is one request to an endpoint that asks for a token, and what was found out about it.
type exchange struct {
	h     *HTTP
	w     http.ResponseWriter
	r     *http.Request
	start time.Time

	ctx     context.Context // of the request, and of the caller's session once there is one
	session *Session        // of the caller; nil without a valid token
	caller  Caller
	denied  error // why the caller has no valid token, and in the end why a stream ended

	held, reply int // bytes counted against the caller's share, and how many of them are the reply's

	streaming bool // the reply has become a stream of events

	method, tool string // for the log
}

// handler returns the handler of an endpoint, whose work serve does. It returns the status
// that it answered with.
func (h *HTTP) handler(serve func(*exchange) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := exchange{h: h, w: w, r: r, ctx: r.Context(), start: time.Now()}
		echoSession(w, r)
		status := serve(&x)
		if x.held > 0 {
			x.shares().Add(x.caller, -x.held)
		}
		if x.session != nil {
			x.session.End()
		}
		x.log(status, x.method)
	}
}

// shares are those from which the bytes of the request are taken.
func (x *exchange) shares() *Shares {
	if x.caller.ID == "" {
		return &x.h.strangers
	}
	return &x.h.holders
}

// authenticate finds out who the caller is, before the body is read, so that the bytes of the
// request and its connection count as the caller's and not as a stranger's. It returns an error if
// the caller has too many connections.
func (x *exchange) authenticate() *Error {
	caller, err := x.h.Authenticate(x.r)
	if x.denied = err; err == ErrTooMany {
		x.w.Header().Set("Connection", "close")
		return &Error{Code: codeBusy, Message: err.Error(), Status: http.StatusTooManyRequests}
	}
	if err != nil {
		return nil
	}
	if x.session, x.denied = x.h.Server.Sessions.Begin(x.r.Context(), caller); x.denied != nil {
		return nil
	}
	x.ctx, x.caller = x.session.Context, caller
	return nil
}

// unauthorized returns why there is no valid token, which may have been revoked meanwhile,
// or nil.
func (x *exchange) unauthorized() error {
	if x.denied == nil && endedBy(x.ctx) == errUnauthorized {
		x.denied = ErrRevoked
	}
	return x.denied
}

// post serves POST /mcp and its aliases.
func (x *exchange) post() int {
	switch {
	case !accepts(x.r.Header["Accept"], "application/json"):
		return x.refuse(&Error{Code: codeInvalidRequest, Status: http.StatusNotAcceptable, Message: "POST answers with application/json, which the Accept header excludes"})
	case !jsonBody(x.r.Header):
		return x.refuse(&Error{Code: codeInvalidRequest, Status: http.StatusUnsupportedMediaType, Message: "the body must be application/json"})
	case x.r.ContentLength > maxBody:
		return x.refuse(errTooLarge)
	}
	if refused := x.authenticate(); refused != nil {
		return x.refuse(refused)
	}
	all, batch, refused := x.messages()
	if refused != nil {
		return x.refuse(refused)
	}
	out := replies.Get().(*output)
	defer func() {
		if out.Cap() <= maxPooled {
			out.Reset()
			out.tail = nil
			replies.Put(out)
		}
	}()
	var stream *Stream
	served, status := false, 0
	x.h.Server.writeAll(out, all, batch, func(r *request) Reply {
		x.hold(out)
		reply := x.answer(r, batch)
		stream = reply.stream
		if reply.err == nil || reply.err.Status == 0 {
			served = true
		} else if status == 0 {
			status = reply.err.Status
		}
		if !r.wantsReply() {
			return Reply{}
		}
		return reply
	})
	x.hold(out)
	// A refusal, the first one, decides the status only when no message was served: clients ignore
	// the body of a response with an error status, and the replies in it would be lost.
	switch {
	case stream != nil:
		defer stream.close()
		return x.follow(func() error { return x.h.Listen(stream.ctx, x.w, stream) })
	case served && out.Len() == 0:
		status = http.StatusAccepted
	case served:
		status = http.StatusOK
	case out.Len() == 0: // nothing but notifications
		return x.refuse(errUnauthorized)
	}
	// Some clients open their stream only if they have a session id. It is not stored.
	if status == http.StatusOK && x.method == "initialize" && len(x.r.Header["Mcp-Session-Id"]) == 0 {
		x.w.Header().Set("Mcp-Session-Id", rand.Text())
	}
	if x.streaming {
		x.event(writeTimeout, out.Bytes(), out.tail)
		return http.StatusOK
	}
	x.respond(status, out.Bytes(), out.tail)
	return status
}

// replies are buffers to write replies into: a new one for each would cost a small call a
// quarter of its time. One larger than maxPooled bytes is not used again: a stranger who
// reads slowly would hold memory that is not counted as his.
var replies = sync.Pool{New: func() any { return new(output) }}

const maxPooled = 16 << 10

// hold counts the bytes by which the reply has grown as the caller's. They are not refused:
// a call starts only while its caller has room left, and the work is done by then.
func (x *exchange) hold(out *output) {
	if more := out.Cap() - freeBytes - x.reply; more > 0 {
		x.shares().Add(x.caller, more)
		x.held, x.reply = x.held+more, x.reply+more
	}
}

// messages reads the body. A batch without a token is refused as a whole: with one small
// request for twenty lists of tools a stranger could fill memory cheaply.
func (x *exchange) messages() (all []request, batch bool, refused *Error) {
	body, refused := x.read()
	if refused != nil {
		return nil, false, refused
	}
	all, batch, refused = parse(body)
	switch {
	case batch && x.unauthorized() != nil:
		return nil, batch, errUnauthorized
	case refused == nil:
		refused = undated(x.r.Header, all, batch)
	}
	if refused != nil {
		return nil, batch, refused
	}
	// What was asked, for the log.
	switch r := &all[0]; {
	case batch:
		x.method = "batch of " + strconv.Itoa(len(all))
	case r.refused != nil:
		x.method = "invalid"
	case r.isResponse():
		x.method = "response"
	default:
		x.method = x.h.Server.logged(r.Method)
	}
	return all, batch, nil
}

var errTooLarge = &Error{Code: codeInvalidRequest, Status: http.StatusRequestEntityTooLarge,
	Message: "the message is too large: a body holds at most " + strconv.Itoa(maxBody) + " bytes"}

// read reads the body. The ReadTimeout of the http.Server bounds the wait; net/http lifts
// it when the body has been read, so it does not end a call that takes longer. The buffer
// grows with what has arrived, not with the length that the client announced: it doubles,
// but not beyond that length and the byte by which the last read sees the end.
func (x *exchange) read() ([]byte, *Error) {
	most := maxBody + 1
	if x.r.ContentLength >= 0 {
		most = int(x.r.ContentLength) + 1
	}
	b := make([]byte, 0, min(freeBytes, most))
	for {
		if len(b) == cap(b) {
			more := max(1, min(len(b), most-len(b)))
			if refused := x.shares().Take(x.caller, more); refused != nil {
				return nil, refused
			}
			x.held += more
			b = append(make([]byte, 0, len(b)+more), b...)
		}
		n, err := x.r.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > maxBody:
			return nil, errTooLarge
		case len(b) > maxAnonymous && x.unauthorized() != nil:
			return nil, errUnauthorized
		case err == io.EOF:
			x.r.Body.Close() // otherwise net/http tries to read more of it before it writes the reply
			return b, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, &Error{Code: codeInvalidRequest, Message: "the body did not arrive in time", Status: http.StatusRequestTimeout}
		case err != nil:
			return nil, invalid("the body could not be read")
		}
	}
}

// answer answers one message. In a batch each message is admitted or refused by itself. A
// message that is refused needs no token: its sender learns only what is wrong with it.
func (x *exchange) answer(r *request, batch bool) Reply {
	public := r.refused != nil || r.Method == "initialize" || r.Method == "tools/list"
	if !public && x.unauthorized() != nil {
		return refuse(errUnauthorized)
	}
	// A caller whose share is full of bodies and unread replies may not run another call.
	if r.wantsReply() {
		if refused := x.room(); refused != nil {
			return refuse(refused)
		}
	}
	if refused := r.disagree(x.r.Header); refused != nil {
		return refuse(refused)
	}
	// Only a response that may become a stream of events can hold more than the reply. The
	// response to a batch may not: it is one JSON array.
	if r.by = x; !batch {
		r.session, r.events = x.session, accepts(x.r.Header["Accept"], "text/event-stream")
	}
	reply := x.h.Server.reply(x.ctx, x.caller, r)
	if reply.err == errUnauthorized { // the token was revoked since the request came in
		x.denied = ErrRevoked
	}
	if reply.name != "" {
		x.tool = reply.name
		if batch {
			x.log(http.StatusOK, r.Method) // every call has a line, in a batch too
		}
	}
	return reply
}

// room returns an error if the caller's share is full of bodies and unread replies.
func (x *exchange) room() *Error { return x.shares().Fits(x.caller, 1) }

// stream serves GET /mcp and its aliases: the stream of notifications of one caller, which
// ends with the caller's token.
func (x *exchange) stream() int {
	x.method = "stream"
	switch {
	case !accepts(x.r.Header["Accept"], "text/event-stream"):
		return x.refuse(&Error{Code: codeInvalidRequest, Message: "GET answers with text/event-stream, which the Accept header excludes", Status: http.StatusNotAcceptable})
	case !knownVersion(x.r.Header):
		return x.refuse(badVersion)
	}
	if refused := x.authenticate(); refused != nil {
		return x.refuse(refused)
	}
	if x.denied != nil {
		return x.refuse(errUnauthorized)
	}
	return x.follow(func() error { return x.h.Stream(x.w, x.r.WithContext(x.ctx), x.caller) })
}

// follow writes a stream. The log has one line when it begins and, at the end of the
// exchange, one when it ends.
func (x *exchange) follow(stream func() error) int {
	x.log(http.StatusOK, x.method)
	x.method = "end of " + strings.TrimPrefix(x.method, "subscriptions/")
	x.denied = stream()
	return http.StatusOK
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
	x.event(eventTimeout, line)
}

// event writes one line, which may come in parts, as an event within the given time. Errors
// are ignored: when the client is gone, the request's context ends. The line is not copied,
// since a reply may be long and no share would count the copy.
func (x *exchange) event(within time.Duration, line ...[]byte) {
	control := http.NewResponseController(x.w)
	control.SetWriteDeadline(time.Now().Add(within))
	io.WriteString(x.w, "event: message\ndata: ")
	for _, part := range line {
		x.w.Write(part)
	}
	io.WriteString(x.w, "\n\n")
	control.Flush()
}

// refuse answers the whole request with an error and returns its status.
func (x *exchange) refuse(why *Error) int {
	x.respond(why.Status, refusal(&request{}, why))
	return why.Status
}

// respond writes the reply, with the headers that belong to a refusal. A caller with a
// token has more time to receive it, since strangers get only short replies.
func (x *exchange) respond(status int, body ...[]byte) {
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
	respond(x.w, status, within, body...)
}

// log writes a line about the request: what was asked, by which client, from where. Method
// and tool are names that we chose. The client's name is a stranger's text: it is clipped and
// written as an attribute, which the log handler quotes. That there is no token is no error
// where none is needed.
func (x *exchange) log(status int, method string) {
	log, ctx := x.h.Log, x.r.Context()
	if log == nil || !log.Enabled(ctx, slog.LevelInfo) { // before what would be formatted in vain
		return
	}
	authorized := len(x.r.Header["Authorization"]) > 0
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("method", method),
		slog.Int("status", status),
		slog.Duration("took", time.Since(x.start)),
		slog.Bool("authorization", authorized))
	if x.tool != "" {
		attrs = append(attrs, slog.String("tool", x.tool))
	}
	if x.caller.ID != "" {
		attrs = append(attrs, slog.String("name", limit.Clip(x.caller.Name)), slog.String("id", x.caller.short()))
	}
	if from := x.caller.Address; from != "" {
		attrs = append(attrs, slog.String("from", from))
	} else if x.h.Address != nil {
		attrs = append(attrs, slog.String("from", x.h.Address(x.r)))
	}
	if x.denied != nil && (authorized || status == http.StatusUnauthorized) {
		attrs = append(attrs, slog.String("error", limit.Clip(x.denied.Error())))
	}
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0) // LogAttrs would look up this line, which no handler of ours writes
	record.AddAttrs(attrs...)
	log.Handler().Handle(ctx, record)
}

// respond writes a whole reply; an empty body leaves only the headers. A short reply
// stays in net/http's buffer and is sent when the handler returns, in one write with the
// headers; only then does net/http clear the deadline.
func respond(w http.ResponseWriter, status int, within time.Duration, body ...[]byte) {
	length := 0
	for _, part := range body {
		length += len(part)
	}
	if length > 0 {
		w.Header()["Content-Type"] = contentJSON
		w.Header()["X-Content-Type-Options"] = nosniff
	}
	// Errors are ignored. They mean that the connection is gone or, in a test, that there
	// is none: the reply is lost either way, and there is nobody to tell.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(within))
	// Without the length a reply longer than net/http's buffer would be sent in chunks.
	w.Header()["Content-Length"] = []string{strconv.Itoa(length)}
	w.WriteHeader(status)
	for _, part := range body {
		w.Write(part)
	}
}

// turnAway answers a request that is refused before its body is read as a message. The
// body has the form of a JSON-RPC error, which clients of the protocol can show and
// people can read.
func turnAway(w http.ResponseWriter, why *Error) {
	respond(w, why.Status, anonymousWriteTimeout, refusal(&request{}, why))
}

// Routes adds the endpoints to mux:
//
//   - POST /mcp, with the aliases POST / and POST /message, takes messages.
//   - GET /mcp, with the alias GET /sse, is the stream of notifications.
//   - GET / reports health. A client that accepts events and no JSON gets the stream.
//   - Whatever no pattern of mux serves gets a 404, or a 405 if the path is served for
//     another method.
func (h *HTTP) Routes(mux *http.ServeMux) {
	h.holders = Shares{Token: maxHeldToken, Client: maxHeldClient, All: maxHeld}
	h.strangers = Shares{All: maxHeldAnonymous}
	for _, path := range []string{"/mcp", "/message", "/{$}"} {
		mux.HandleFunc("POST "+path, h.handler((*exchange).post))
	}
	none := func(w http.ResponseWriter, r *http.Request) { unserved(mux, w, r) }
	for _, path := range []string{"/mcp", "/sse"} {
		mux.HandleFunc("GET "+path, h.handler((*exchange).stream))
		// A GET pattern takes HEAD too, and would leave a stream running that
		// nobody can read.
		mux.HandleFunc("HEAD "+path, none)
	}
	mux.HandleFunc("GET /{$}", h.health)
	mux.HandleFunc("/", none)
}

var errNotFound = &Error{Code: codeInvalidRequest, Message: "there is nothing at this path: the endpoint is /mcp", Status: http.StatusNotFound}

// unserved answers a request that no endpoint serves. The pattern "/" matches every
// path, so ServeMux itself never answers 405; unserved tries the other methods to find
// out whether one of them is served.
func unserved(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		other := *r
		other.Method = method
		if _, pattern := mux.Handler(&other); pattern != "/" {
			allow = append(allow, method)
		}
	}
	if allow == nil {
		turnAway(w, errNotFound)
		return
	}
	w.Header().Set("Allow", strings.Join(append(allow, http.MethodOptions), ", "))
	why := limit.Clip(r.Method) + " is not served at this path"
	if r.Method == http.MethodPost {
		why += ": post to /mcp" // a person typed /sse, as older guides say
	}
	turnAway(w, &Error{Code: codeInvalidRequest, Message: why, Status: http.StatusMethodNotAllowed})
}

// health answers GET /, and HEAD / without the body. A client that was given the
// address without /mcp posts to it and then asks for its stream there: so a GET that
// accepts events and no JSON gets the stream, as at /mcp. If it got JSON, it would ask
// again every second and never receive a notification.
func (h *HTTP) health(w http.ResponseWriter, r *http.Request) {
	accept := r.Header["Accept"]
	if r.Method == http.MethodGet && accepts(accept, "text/event-stream") && !accepts(accept, "application/json") {
		h.handler((*exchange).stream)(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	respond(w, http.StatusOK, anonymousWriteTimeout, append(Encode(h.Health()), '\n'))
}

// Values of headers, shared by all replies; net/http only reads them.
var (
	contentJSON = []string{"application/json"}
	nosniff     = []string{"nosniff"} // a reply repeats a stranger's id and is nothing but JSON
)

// maxSession bounds an echoed session id, in bytes.
const maxSession = 256

// echoSession repeats the client's Mcp-Session-Id in the reply. We make no use of it.
// Anything but short visible ASCII is not repeated: a stranger must not write arbitrary
// text into our headers.
func echoSession(w http.ResponseWriter, r *http.Request) {
	values := r.Header["Mcp-Session-Id"]
	invisible := func(c rune) bool { return c <= ' ' || c > '~' }
	if len(values) == 1 && values[0] != "" && len(values[0]) <= maxSession && !strings.ContainsFunc(values[0], invisible) {
		w.Header()["Mcp-Session-Id"] = values
	}
}

// decodeHeader returns the text that the value of a header stands for. Text that a
// header cannot hold is sent as =?base64?…?=. A value that is not a correct encoding
// stands for itself.
func decodeHeader(v string) string {
	text, begins := strings.CutPrefix(v, "=?base64?")
	text, ends := strings.CutSuffix(text, "?=")
	decoded, err := base64.StdEncoding.DecodeString(text)
	if !begins || !ends || err != nil {
		return v
	}
	return string(decoded)
}

// jsonBody reports whether the Content-Type is JSON or absent. This refuses the three
// types that a web page may post to another site without a preflight: text/plain and
// the two of forms.
func jsonBody(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) == 0 || len(values) == 1 && values[0] == contentJSON[0] {
		return true
	}
	media, _, err := mime.ParseMediaType(values[0])
	return len(values) == 1 && (err == nil || err == mime.ErrInvalidMediaParameter) && media == contentJSON[0]
}

// usualAccept is the Accept header that MCP asks clients to send. It admits both types
// that we answer with, so it need not be parsed.
const usualAccept = "application/json, text/event-stream"

// accepts reports whether the Accept headers of a request admit a media type, one of our
// two. No header, or an empty one, admits everything. A range that names the type itself
// decides; else one such as */* admits it, unless its weight is zero.
func accepts(headers []string, media string) bool {
	if len(headers) == 1 && headers[0] == usualAccept {
		return true
	}
	main, _, _ := strings.Cut(media, "/")
	empty, admitted := true, false
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		empty = false
		name, params, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		excluded := zeroWeight.MatchString(params)
		if name == media {
			return !excluded
		}
		admitted = admitted || !excluded && (name == "*/*" || name == main+"/*")
	}
	return empty || admitted
}

// zeroWeight finds the weight q=0 among the parameters of a media range. One that cannot be
// read excludes nothing.
var zeroWeight = regexp.MustCompile(`(?i)(^|;)\s*q\s*=\s*0(\.0*)?\s*(;|$)`)
