package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Bounds of the HTTP servers. The one that strangers reach has all of them; those for
// metrics, the owner's socket and other replicas have some of them.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second // for head and body, even if a refusal leaves the body unread; calls and streams may last longer
	replyTimeout      = 30 * time.Second // from the head of a request to the end of its reply; replies to tokens and streams have deadlines of their own
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 20 << 10        // the first line included, and with it the query of /authorize
	headerSlack       = 4 << 10         // what net/http allows beyond MaxHeaderBytes
	shutdownTimeout   = 4 * time.Second // the whole stop takes less than five
)

// newHTTPServer returns the server that strangers reach, with its bounds. A reply
// that takes longer than replyTimeout must set a deadline of its own: streams do so
// with every write, and replies to requests with a token when they begin.
func newHTTPServer(handler http.Handler, conns *connections, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: conns.handler(handler), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: replyTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes - headerSlack,
		DisableGeneralOptionsHandler: true, // else OPTIONS * would be answered before the host is checked
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn), ConnState: conns.state, ConnContext: conns.context,
	}
}

// serveHTTP serves until ctx ends, then stops within shutdownTimeout. It returns an error
// only if serving ended by itself, and closes ln in either case.
func serveHTTP(ctx context.Context, srv *http.Server, ln net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Requests under way may finish; ctx, which has ended, would cut them off at once.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		srv.Close() // whoever has not finished by now is cut off
	}
	<-failed
	return nil
}

// strictTransport tells browsers to use https for a year, if the published
// address is https: a first request over plain http could be answered by
// somebody else. It does not include subdomains, which may belong to others.
func strictTransport(base string, next http.Handler) http.Handler {
	if !strings.HasPrefix(base, "https://") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}
