package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"wick/limit"
)

// HTTP carries messages over Streamable HTTP. Serve its mux through
// [Policy.Wrap]: the routes alone check neither Host nor Origin. The http.Server
// needs a ReadTimeout, which is what ends a body that trickles in.
type HTTP struct {
	Server *Server

	// Authenticate returns who sent the request, or an error that says why its token is
	// not valid. The error [ErrTooMany] means that the token is valid, but its holder has
	// too many connections open. If there is an Authorization header, Authenticate is
	// called before the body is read. In a request that takes long it is called again with
	// each message, since the token may have been revoked meanwhile. Without the header
	// it is not called for methods that need no token.
	Authenticate func(r *http.Request) (Caller, error)

	// Challenge sets the WWW-Authenticate header of a 401, where err is what
	// Authenticate returned, and of a 403, where it is [ErrScope].
	Challenge func(w http.ResponseWriter, r *http.Request, err error)

	// Stream writes the whole response of a stream of notifications, headers included,
	// and returns when the stream ends. Its error goes to the log only: Stream itself has
	// told the client what it needs to know.
	Stream func(w http.ResponseWriter, r *http.Request, c Caller) error

	// Listen writes the lines of a listener to w as events, headers included, until ctx
	// ends; then it writes the lines that are left.
	Listen func(ctx context.Context, w http.ResponseWriter, l *Listener) error

	// Health returns what GET / answers, to be encoded as JSON.
	Health func() any

	// Address returns where a request came from, for the log; nil leaves it out.
	Address func(r *http.Request) string

	Log *slog.Logger // receives a line per request, and one when a stream ends; nil discards them

	held budget // the bytes that all requests hold
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

const unauthorizedText = "a valid bearer token is needed: authorize, then send it in the Authorization header"

// logLine is what the log says about a request.
type logLine struct {
	status       int
	method, tool string
	caller       Caller // zero without a valid token
	err          error
}

// log writes the line of one request: what was asked, by which client, from where.
// Method and tool are names that we chose. The client's name is a stranger's text: it is
// clipped and written as an attribute, which the log handler quotes.
func (h *HTTP) log(r *http.Request, start time.Time, l logLine) {
	if h.Log == nil || !h.Log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	// The record goes to the handler directly: a Logger would first find out
	// who called it, which costs as much as the line.
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("method", l.method),
		slog.Int("status", l.status),
		slog.Duration("took", line.Time.Sub(start)),
		slog.Bool("authorization", len(r.Header["Authorization"]) > 0))
	if l.tool != "" {
		line.AddAttrs(slog.String("tool", l.tool))
	}
	if l.caller.ID != "" {
		line.AddAttrs(slog.String("name", limit.Clip(l.caller.Name)), slog.String("id", l.caller.short()))
	}
	if h.Address != nil {
		line.AddAttrs(slog.String("from", h.Address(r)))
	}
	if l.err != nil {
		line.AddAttrs(slog.String("error", limit.Clip(l.err.Error())))
	}
	h.Log.Handler().Handle(r.Context(), line) // a line that cannot be written is lost
}
