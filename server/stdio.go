package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"wick/internal/journal"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/oauth"
	"wick/sse"
)

// serveStdio holds one conversation over standard input and output. There is no
// login: whoever starts the process is its owner. If another process holds the data
// directory, this one becomes a front of it. As the HTTP server does, it runs the engine, and
// the control socket for the owner and for further hosts. When the input ends, the
// conversation ends, and with it everything else.
func serveStdio(ctx context.Context, c *config, source market.Source, logs loggers, stdin io.Reader, stdout io.Writer) (err error) {
	// A server without --trade has no lock and no book to attach to, but its socket is the
	// one by which the owner would halt this process.
	if c.trade {
		if err := prepareDir(c); err != nil {
			return err
		}
	}
	log := logs.part("wick")
	host := &stdio{out: stdout}
	e, err := openApp(ctx, c, source, logs)
	switch {
	case errors.Is(err, journal.ErrHeld) && c.recover:
		return fmt.Errorf("--recover=yes needs the data directory to itself: %w", err)
	case errors.Is(err, journal.ErrHeld):
		log.Info("attaching to the wick that runs on this data directory", "directory", c.dataDir)
		return host.farewell(ctx, func() error { return attachTo(ctx, c, stdin, host) })
	case err != nil:
		return err
	}
	defer func() { err = e.close(err) }()
	e.newProtocol()
	defer newMemory(c.source == "sample").release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := []func(context.Context) error{func(ctx context.Context) error {
		defer cancel() // the conversation is over, and with it the process
		return host.farewell(ctx, func() error { return e.converse(ctx, stdin, host, tools.StdioCaller) })
	}}
	if c.trade {
		control, err := e.openControl(log)
		if err != nil {
			return err
		}
		e.proves = oauth.Prover(c.login)
		parts = append(parts, control)
	}
	return e.run(ctx, parts...)
}

// converse holds one conversation over stdio; there may be several at the same time. All
// of them are the same local client, whose alerts go to the newest conversation; changes
// of what a conversation watches go to that one alone. The caller of converse decides how long
// to wait for calls that are under way when ctx ends.
func (e *app) converse(ctx context.Context, r io.Reader, w io.Writer, caller mcp.Caller) error {
	caller.Conversation = strconv.FormatUint(e.conversations.Add(1), 10)
	return e.protocol.ServeStdio(ctx, r, w, caller, func(ctx context.Context, write func(line []byte) error) error {
		return e.hub.Push(ctx, caller.ID, func(event sse.Event) error { return write(event.Data) })
	})
}

// Bounds for a host over stdio that does not read its replies.
const (
	// hostPatience is how long a host may take to read hostPiece bytes. One that takes longer
	// counts as gone, so that it does not keep the data directory for ever; one that is
	// quicker gets all.
	hostPatience = 5 * time.Minute

	// hostPiece is how much is written to a host at once, in bytes. Pipes of Linux make room
	// in such pieces.
	hostPiece = 4 << 10

	// frontFarewell is how long a host may take to read a piece once this process is to end.
	frontFarewell = 2 * time.Second
)

// stdio is the standard output of this process, with a host at its other end, or the
// connection to a front.
type stdio struct {
	out   io.Writer
	began atomic.Int64 // when the present write began, in nanoseconds since 1970; zero if there is none
	shut  atomic.Bool  // nothing more may be written
}

// Write writes p in pieces, and notes when each began. Once farewell has returned it
// writes nothing.
func (s *stdio) Write(p []byte) (n int, err error) {
	defer s.began.Store(0)
	for piece := range slices.Chunk(p, hostPiece) {
		if s.began.Store(time.Now().UnixNano()); s.shut.Load() {
			return n, io.ErrClosedPipe
		}
		taken, err := s.out.Write(piece)
		if n += taken; err != nil {
			return n, err
		}
	}
	return n, nil
}

// stuck reports whether a write has gone on for as long as patience.
func (s *stdio) stuck(patience time.Duration) bool {
	began := s.began.Load()
	return began != 0 && time.Since(time.Unix(0, began)) >= patience
}

// farewell runs talk, the conversation with the host, and returns what talk returns. It
// does not always wait for talk: it returns an error if the host does not read. Once ctx has
// ended, it returns nil if the host does not read for frontFarewell, or if a call takes
// longer than shutdownTimeout: neither may hold up the end of the process. After farewell has
// returned, nothing more is written: the process is about to close what calls work with, and
// calls that fail only for that reason should not be reported.
func (s *stdio) farewell(ctx context.Context, talk func() error) error {
	defer s.shut.Store(true)
	done := make(chan error, 1)
	go func() { done <- talk() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	stop, patience := ctx.Done(), hostPatience
	var end <-chan time.Time // when all is over once ctx has ended
	for {
		select {
		case err := <-done:
			return err
		case <-end:
			return nil
		case <-stop:
			stop, patience, end = nil, frontFarewell, time.After(shutdownTimeout)
		case <-tick.C:
			switch {
			case !s.stuck(patience):
			case stop == nil:
				return nil
			default:
				return fmt.Errorf("the host has read less than %d bytes in %v: the rest of the replies is lost", hostPiece, hostPatience)
			}
		}
	}
}
