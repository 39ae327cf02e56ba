package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"wick/limit"
)

// HTTP carries messages over Streamable HTTP. Serve its mux through
// [Policy.Wrap]: the routes alone check neither Host nor Origin. The http.Server
// needs a ReadTimeout, which is what ends a body that trickles in.
type HTTP struct {
	Server *Server

	// Authenticate says who sent the request, or why its token is no good;
	// [ErrTooMany] says that it is good and its holder has too much open. It is
	// called at most once a request, before the body is read if there is an
	// Authorization header. Without one it is not called for the methods that
	// need no token.
	Authenticate func(r *http.Request) (Caller, error)

	// Challenge sets the WWW-Authenticate header of a 401; err is what
	// Authenticate returned.
	Challenge func(w http.ResponseWriter, r *http.Request, err error)

	// Insufficient sets the WWW-Authenticate header of a 403 to a caller who
	// lacks scope.
	Insufficient func(w http.ResponseWriter, r *http.Request, scope string)

	// Stream serves a stream of notifications until it ends, head included. An
	// error is for the log: what the client is to know, Stream has told it.
	Stream func(w http.ResponseWriter, r *http.Request, c Caller) error

	// Listen writes a listener's lines to w as events, head included, until its
	// context ends, and then what it has left.
	Listen func(ctx context.Context, w http.ResponseWriter, l *Listener) error

	// Health returns what GET / answers, to be encoded as JSON.
	Health func() any

	// Address returns where a request came from, for the log; nil leaves it out.
	Address func(r *http.Request) string

	Log *slog.Logger // receives a line per request, and one when a stream ends; nil discards them

	held budget // what all requests hold
}

// Routes adds the endpoints to mux: POST /mcp and its aliases POST / and POST
// /message, GET /mcp and its alias GET /sse, GET / for health or, to those who
// take nothing but events, the stream, and for all that no pattern of mux
// serves, a 404 or, where another method would do, a 405.
func (h *HTTP) Routes(mux *http.ServeMux) {
	for _, path := range []string{"/mcp", "/message", "/{$}"} {
		mux.HandleFunc("POST "+path, h.post)
	}
	none := func(w http.ResponseWriter, r *http.Request) { unserved(mux, w, r) }
	for _, path := range []string{"/mcp", "/sse"} {
		mux.HandleFunc("GET "+path, h.stream)
		// A GET pattern takes HEAD too, and would leave a stream running that
		// nobody can read.
		mux.HandleFunc("HEAD "+path, none)
	}
	mux.HandleFunc("GET /{$}", h.health)
	mux.HandleFunc("/", none)
}

// unserved answers what no endpoint serves. ServeMux gives 405 by
// itself only where nothing at all matches, so the other methods are tried.
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
		notFound(w)
		return
	}
	w.Header().Set("Allow", strings.Join(append(allow, http.MethodOptions), ", "))
	why := limit.Clip(r.Method) + " is not served at this path"
	if r.Method == http.MethodPost {
		why += ": post to /mcp" // a person typed /sse, as older guides say
	}
	refuse(w, http.StatusMethodNotAllowed, why)
}

// notFound answers a request for a path where nothing is served.
func notFound(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "there is nothing at this path: the endpoint is /mcp")
}

// refuse answers a request that never became a message. The body has the form
// of a JSON-RPC error, which clients of the protocol can show and others read.
func refuse(w http.ResponseWriter, status int, why string) {
	code := CodeInvalidRequest
	switch status {
	case http.StatusUnauthorized:
		code = CodeUnauthorized
	case http.StatusTooManyRequests:
		code = CodeBusy
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // it is one too many
	}
	respond(w, status, appendError(nil, nil, &Error{code, why}), anonymousWriteTimeout)
}

// Values of headers, shared by all replies; net/http only reads them.
var (
	contentJSON = []string{"application/json"}
	nosniff     = []string{"nosniff"} // a reply repeats a stranger's id and is nothing but JSON
)

// How long a client may take to receive a reply.
const (
	writeTimeout = 60 * time.Second

	// anonymousWriteTimeout is for clients without a valid token. The longest
	// reply they get, the list of tools, has about 12 KiB: a telephone that
	// receives a kilobyte a second still has it in time.
	anonymousWriteTimeout = 20 * time.Second
)

// respond writes a whole reply, or none when body is empty. What is short stays
// in net/http's buffer and leaves when the handler returns, in one write with
// the head; only then does net/http clear the deadline.
func respond(w http.ResponseWriter, status int, body []byte, within time.Duration) {
	if len(body) > 0 {
		w.Header()["Content-Type"] = contentJSON
		w.Header()["X-Content-Type-Options"] = nosniff
	}
	// Errors mean that the connection is gone or, in a test, that there is
	// none: the reply is lost either way and nobody is left to be told.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(within))
	setLength(w.Header(), len(body))
	w.WriteHeader(status)
	w.Write(body)
}

// health answers GET /, and HEAD / without the body. A client that was given the
// bare address posts to it and then looks there for its stream: a GET that
// takes events, and no JSON, is served as at /mcp. With JSON for an answer,
// clients ask again every second and never get a push.
func (h *HTTP) health(w http.ResponseWriter, r *http.Request) {
	accept := r.Header["Accept"]
	if r.Method == http.MethodGet && accepts(accept, "text", "event-stream") && !accepts(accept, "application", "json") {
		h.stream(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	respond(w, http.StatusOK, append(Encode(h.Health()), '\n'), anonymousWriteTimeout)
}

// stream serves GET /mcp and its aliases: the stream of notifications of one caller. It
// logs one line when the stream begins and one when it ends.
func (h *HTTP) stream(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	echoSession(w, r)
	caller, status, why, err := h.admit(r)
	h.log(r, start, logLine{status: status, method: "stream", caller: caller, err: err})
	switch status {
	case http.StatusOK:
		err := h.Stream(w, r, caller)
		h.log(r, start, logLine{status: status, method: "end of stream", caller: caller, err: err})
	case http.StatusUnauthorized:
		h.Challenge(w, r, err)
		fallthrough
	default:
		refuse(w, status, why)
	}
}

// admit says whose stream a request may open, or why it may not.
func (h *HTTP) admit(r *http.Request) (c Caller, status int, why string, err error) {
	switch {
	case !accepts(r.Header["Accept"], "text", "event-stream"):
		return c, http.StatusNotAcceptable, "GET answers with text/event-stream, which the Accept header excludes", nil
	case !knownVersion(r.Header):
		return c, http.StatusBadRequest, badVersion, nil
	}
	switch c, err = h.Authenticate(r); err {
	case nil:
		return c, http.StatusOK, "", nil
	case ErrTooMany:
		return Caller{}, http.StatusTooManyRequests, ErrTooMany.Error(), err
	}
	return Caller{}, http.StatusUnauthorized, unauthorizedText, err
}

// logLine is what the log says about a request.
type logLine struct {
	status       int
	method, tool string
	caller       Caller // zero without a valid token
	err          error
}

// log writes the line of one request: what was asked, by which client, from
// where. Method, tool and the client's name are a stranger's text: they are
// clipped, and attributes, which the handler quotes.
func (h *HTTP) log(r *http.Request, start time.Time, l logLine) {
	if h.Log == nil || !h.Log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	// The record goes to the handler directly: a Logger would first find out
	// who called it, which costs as much as the line.
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("method", limit.Clip(l.method)),
		slog.Int("status", l.status),
		slog.Duration("took", line.Time.Sub(start)),
		slog.Bool("authorization", len(r.Header["Authorization"]) > 0))
	if l.tool != "" {
		line.AddAttrs(slog.String("tool", limit.Clip(l.tool)))
	}
	if l.caller.ID != "" {
		line.AddAttrs(slog.String("name", limit.Clip(l.caller.Name)), slog.String("id", l.caller.Short()))
	}
	if h.Address != nil {
		line.AddAttrs(slog.String("from", h.Address(r)))
	}
	if l.err != nil {
		line.AddAttrs(slog.String("error", limit.Clip(l.err.Error())))
	}
	h.Log.Handler().Handle(r.Context(), line) // a line that cannot be written is lost
}
