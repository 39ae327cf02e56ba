package mcp

import (
	"net/http"
	"strings"
	"time"

	"wick/limit"
)

// Routes adds the endpoints to mux:
//
//   - POST /mcp, with the aliases POST / and POST /message, takes messages.
//   - GET /mcp, with the alias GET /sse, is the stream of notifications.
//   - GET / reports health. A client that accepts events and no JSON gets the stream.
//   - Whatever no pattern of mux serves gets a 404, or a 405 if the path is served for
//     another method.
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

// health answers GET /, and HEAD / without the body. A client that was given the
// address without /mcp posts to it and then asks for its stream there: so a GET that
// accepts events and no JSON gets the stream, as at /mcp. If it got JSON, it would ask
// again every second and never receive a notification.
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

// admit returns the caller whose stream a request may open and the status 200; or the
// status of a refusal, why it is refused, and the error of Authenticate, if any.
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
