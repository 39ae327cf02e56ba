package server

import (
	"context"
	"fmt"
	"io"
	"sync"
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
	out io.Writer

	mu      sync.Mutex
	writing time.Time // when the present write began; zero if there is none; guarded by mu, like shut
	shut    bool      // nothing more may be written
}

// Write writes p in pieces, and notes when each began. Once farewell has returned it
// writes nothing.
func (s *stdio) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if s.note(time.Now()) {
			return n, io.ErrClosedPipe
		}
		var taken int
		taken, err = s.out.Write(p[n:min(n+hostPiece, len(p))])
		n += taken
	}
	s.note(time.Time{})
	return n, err
}

// note sets when the present write began, zero for none, and reports whether nothing more
// may be written.
func (s *stdio) note(began time.Time) (shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = began
	return s.shut
}

// stuck reports whether a write has gone on for as long as patience.
func (s *stdio) stuck(patience time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.writing.IsZero() && time.Since(s.writing) >= patience
}

// farewell runs talk, the conversation with the host, and returns what talk returns. It
// does not always wait for talk: it returns an error if the host does not read. Once ctx has
// ended, it returns nil if the host does not read for frontFarewell, or if a call takes
// longer than shutdownTimeout: neither may hold up the end of the process. After farewell has
// returned, nothing more is written: the process is about to close what calls work with, and
// calls that fail only for that reason should not be reported.
func (s *stdio) farewell(ctx context.Context, talk func() error) error {
	defer func() {
		s.mu.Lock()
		s.shut = true
		s.mu.Unlock()
	}()
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
