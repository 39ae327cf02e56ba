package server

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Bounds of a host over stdio that does not read.
const (
	// frontFarewell is how long whoever reads lines of ours, a front or a host over stdio, may
	// take for a piece of what is left once the process is to end.
	frontFarewell = 2 * time.Second

	// hostPatience is how long a host that sends no more may take for hostPiece of what is
	// left for it. One that is quicker gets all of it.
	hostPatience = 10 * time.Second

	// hostPiece is how much is written to a host at once, in bytes, and so what it has to
	// take within hostPatience. Pipes of Linux make room in such pieces.
	hostPiece = 4 << 10

	// maxAhead is how much of the input is read, in bytes, while its host does not read what
	// it asked for: enough to find its end behind the requests of any host.
	maxAhead = 1 << 20
)

// stdio is the standard input and output of this process, with a host at their other
// ends, or the connection to a front. While the host does not read, the conversation is stuck in a write and reads
// nothing either: stdio then reads on in its place, to learn whether the host has ended
// its side.
type stdio struct {
	in  io.Reader // nil for a front: its own process looks after the host
	out io.Writer

	reading sync.Mutex // held during a read
	ahead   []byte     // of in: read before anyone wanted it; guarded by reading, like err
	err     error      // what in ended with

	mu      sync.Mutex
	writing time.Time // when the write that goes on began, else zero; guarded by mu, like all below
	over    time.Time // since when nothing more is to be said but what is left; zero until then
	why     error     // what ended it, other than the input
	looking bool      // look runs
	shut    bool      // nothing more is written
}

// Read reads the input.
func (s *stdio) Read(p []byte) (n int, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if len(s.ahead) > 0 {
		n = copy(p, s.ahead)
		s.ahead = s.ahead[n:]
		return n, nil
	}
	return s.read(p)
}

// read reads the input and notes its end. The caller holds reading.
func (s *stdio) read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	if n, s.err = s.in.Read(p); s.err != nil {
		s.end(nil)
	}
	return n, s.err
}

// look reads a part of the input that nobody waits for yet.
func (s *stdio) look() {
	s.reading.Lock()
	if len(s.ahead) < maxAhead {
		part := make([]byte, 64<<10)
		n, _ := s.read(part) // the error is for whoever reads next
		s.ahead = append(s.ahead, part[:n]...)
	}
	s.reading.Unlock()
	s.mu.Lock()
	s.looking = false
	s.mu.Unlock()
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

// note sets when the write that goes on began, and reports whether nothing more is to be
// written.
func (s *stdio) note(began time.Time) (shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = began
	return s.shut
}

// end notes that nothing more is to be said but what is left, and why if that is an
// error. Only the first end counts.
func (s *stdio) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over.IsZero() {
		s.over, s.why = time.Now(), why
	}
}

// deaf returns an error if the host has not taken a piece within hostPatience since the end of
// the conversation. Before that it starts look if the host does not read.
func (s *stdio) deaf() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writing.IsZero() || s.in == nil:
		return nil
	case s.over.IsZero():
		if !s.looking {
			s.looking = true
			go s.look() // stays behind in a read, which nothing can wake
		}
		return nil
	case time.Since(s.over) < hostPatience || time.Since(s.writing) < hostPatience:
		return nil
	case s.why != nil:
		return s.why
	}
	return fmt.Errorf("the host sends no more and has taken less than %d bytes in %v: what was left for it is lost", hostPiece, hostPatience)
}

// farewell runs talk, the conversation with the host, and returns what it does. Once ctx
// has ended it returns nil when the host does not read for frontFarewell, or a call takes
// longer than shutdownTimeout: neither may hold up the end. It returns an error once the
// host is deaf. What talk would say after that is not written: the process is about to close what
// calls work with, and they would be told to have failed for that alone.
func (s *stdio) farewell(ctx context.Context, talk func() error) error {
	defer s.shutUp()
	done := make(chan error, 1)
	go func() { done <- talk() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if err := s.deaf(); err != nil {
				return err
			}
			continue
		case <-ctx.Done():
		}
		return s.finish(done)
	}
}

// finish waits for the end of a conversation once the process is to end.
func (s *stdio) finish(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-time.After(frontFarewell):
	}
	if s.stuck() {
		return nil
	}
	select {
	case err := <-done:
		return err
	case <-time.After(shutdownTimeout - frontFarewell):
		return nil
	}
}

// stuck reports whether a write has gone on for frontFarewell.
func (s *stdio) stuck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.writing.IsZero() && time.Since(s.writing) >= frontFarewell
}

// shutUp lets nothing more be written.
func (s *stdio) shutUp() {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
}
