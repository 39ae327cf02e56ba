package mcp

import (
	"net/http"
	"strconv"
	"time"
)

// How long a client may take to receive a reply.
const (
	writeTimeout = 60 * time.Second

	// anonymousWriteTimeout is for clients without a valid token. The longest
	// reply they get, the list of tools, has about 30 KiB: a telephone that
	// receives two kilobytes a second still gets it in time.
	anonymousWriteTimeout = 20 * time.Second
)

// respond writes a whole reply; an empty body leaves only the headers. A short reply
// stays in net/http's buffer and is sent when the handler returns, in one write with the
// headers; only then does net/http clear the deadline.
func respond(w http.ResponseWriter, status int, body []byte, within time.Duration) {
	if len(body) > 0 {
		w.Header()["Content-Type"] = contentJSON
		w.Header()["X-Content-Type-Options"] = nosniff
	}
	// Errors are ignored. They mean that the connection is gone or, in a test, that there
	// is none: the reply is lost either way, and there is nobody to tell.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(within))
	// Without the length a reply longer than net/http's buffer would be sent in chunks.
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body)
}

// refuse answers a request that is refused before its body is read as a message. The
// body has the form of a JSON-RPC error, which clients of the protocol can show and
// people can read.
func refuse(w http.ResponseWriter, status int, why string) {
	code := codeInvalidRequest
	switch status {
	case http.StatusUnauthorized:
		code = codeUnauthorized
	case http.StatusTooManyRequests:
		code = codeBusy
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // the caller has one connection too many
	}
	respond(w, status, appendError(nil, nil, &Error{code, why}), anonymousWriteTimeout)
}

// notFound answers a request for a path where nothing is served.
func notFound(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "there is nothing at this path: the endpoint is /mcp")
}
