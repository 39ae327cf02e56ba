package server

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

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
	stop := ctx.Done()
	var end time.Time // by when all is over once ctx has ended
	for {
		select {
		case err := <-done:
			return err
		case <-stop:
			stop, end = nil, time.Now().Add(shutdownTimeout)
			tick.Reset(frontFarewell)
		case <-tick.C:
			switch {
			case stop == nil && (s.stuck(frontFarewell) || !time.Now().Before(end)):
				return nil
			case s.stuck(hostPatience):
				return fmt.Errorf("the host has taken less than %d bytes in %v: what was left for it is lost", hostPiece, hostPatience)
			}
		}
	}
}
