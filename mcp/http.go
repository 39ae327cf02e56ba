package mcp

import (
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

	// Authenticate says who sent the request, or why its token is no good. It
	// is called at most once a request, and not at all for the methods that
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

	// Health returns what GET / answers, to be encoded as JSON.
	Health func() any

	Log *slog.Logger // receives a line per request, and one when a stream ends; nil discards them
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

func notFound(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "there is nothing at this path: the endpoint is /mcp")
}

// refuse answers a request that never became a message. The body has the form
// of a JSON-RPC error, which clients of the protocol can show and others read.
func refuse(w http.ResponseWriter, status int, why string) {
	code := CodeInvalidRequest
	if status == http.StatusUnauthorized {
		code = CodeUnauthorized
	}
	respond(w, status, appendError(nil, nil, &Error{code, why}))
}

// Values of headers, shared by all replies; net/http only reads them.
var (
	contentJSON = []string{"application/json"}
	nosniff     = []string{"nosniff"} // a reply repeats a stranger's id and is nothing but JSON
)

// writeTimeout is how long a client may take to receive a reply.
const writeTimeout = 60 * time.Second

// respond writes a whole reply, or none when body is empty. What is short stays
// in net/http's buffer and leaves when the handler returns, in one write with
// the head; only then does net/http clear the deadline.
func respond(w http.ResponseWriter, status int, body []byte) {
	if len(body) > 0 {
		w.Header()["Content-Type"] = contentJSON
		w.Header()["X-Content-Type-Options"] = nosniff
	}
	// Errors mean that the connection is gone or, in a test, that there is
	// none: the reply is lost either way and nobody is left to be told.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
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
	respond(w, http.StatusOK, append(encode(h.Health()), '\n'))
}

// stream serves GET /mcp and its aliases.
func (h *HTTP) stream(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	echoSession(w, r)
	caller, status, why, err := h.admit(r)
	h.log(r, start, status, "stream", "", err)
	switch status {
	case http.StatusOK:
		err := h.Stream(w, r, caller)
		h.log(r, start, status, "end of stream", "", err)
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
	if c, err = h.Authenticate(r); err != nil {
		return c, http.StatusUnauthorized, unauthorizedText, err
	}
	return c, http.StatusOK, "", nil
}

// log writes the line of one request. Method and tool are a stranger's text:
// they are clipped, and attributes, which the handler quotes. The record goes
// to the handler directly: a Logger would first find out who called it, which
// costs as much as the line.
func (h *HTTP) log(r *http.Request, start time.Time, status int, method, tool string, err error) {
	if h.Log == nil || !h.Log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	now := time.Now()
	line := slog.NewRecord(now, slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("method", limit.Clip(method)),
		slog.Int("status", status),
		slog.Duration("took", now.Sub(start)),
		slog.Bool("authorization", len(r.Header["Authorization"]) > 0))
	if tool != "" {
		line.AddAttrs(slog.String("tool", limit.Clip(tool)))
	}
	if err != nil {
		line.AddAttrs(slog.String("error", limit.Clip(err.Error())))
	}
	h.Log.Handler().Handle(r.Context(), line) // a line that cannot be written is lost
}
