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
	// frontFarewell is how long a front or a host over stdio may take to read a piece of
	// what is left, once this process is to end.
	frontFarewell = 2 * time.Second

	// hostPatience is how long a host that sends no more may take to read hostPiece bytes of
	// what is left for it. A host that is quicker gets all of it.
	hostPatience = 10 * time.Second

	// hostPiece is how much is written to a host at once, in bytes, and so what it has to
	// read within hostPatience. Pipes of Linux make room in such pieces.
	hostPiece = 4 << 10

	// maxAhead is how much of the input is read ahead, in bytes, while the host does not read
	// its replies: enough to find the end of the input behind the requests of any host.
	maxAhead = 1 << 20
)

// stdio is the standard input and output of this process, with a host at their other
// ends, or the connection to a front. While the host does not read, the conversation is
// stuck in a write and reads nothing either. stdio then reads ahead, to learn whether the
// host has ended its side.
type stdio struct {
	in  io.Reader // nil for a front: the front's process watches its host
	out io.Writer

	reading sync.Mutex // held during a read
	ahead   []byte     // what was read ahead of in; guarded by reading, like err
	err     error      // the error that in ended with

	mu      sync.Mutex
	writing time.Time // when the present write began; zero if there is none; guarded by mu, like all below
	over    time.Time // when the conversation ended, after which only what is left is written; zero until then
	why     error     // what ended the conversation; nil if the end of the input did
	looking bool      // look is running
	shut    bool      // nothing more may be written
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

// look reads a part of the input ahead, for a later Read.
func (s *stdio) look() {
	s.reading.Lock()
	if len(s.ahead) < maxAhead {
		part := make([]byte, 64<<10)
		n, _ := s.read(part) // the next Read returns the error
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

// note sets when the present write began, zero for none, and reports whether nothing more
// may be written.
func (s *stdio) note(began time.Time) (shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = began
	return s.shut
}

// end notes that the conversation has ended: only what is left is still written. why is
// the error that ended it, nil for the end of the input. Only the first call counts.
func (s *stdio) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over.IsZero() {
		s.over, s.why = time.Now(), why
	}
}

// deaf returns an error if the conversation has ended and the host has then not read a
// piece within hostPatience. Before the end it starts look if a write is going on.
func (s *stdio) deaf() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writing.IsZero() || s.in == nil:
		return nil
	case s.over.IsZero():
		if !s.looking {
			s.looking = true
			go s.look() // may stay behind in a read, which nothing can wake
		}
		return nil
	case time.Since(s.over) < hostPatience || time.Since(s.writing) < hostPatience:
		return nil
	case s.why != nil:
		return s.why
	}
	return fmt.Errorf("the host sends no more and has taken less than %d bytes in %v: what was left for it is lost", hostPiece, hostPatience)
}

// farewell runs talk, the conversation with the host, and returns what talk returns. It
// does not always wait for talk. Once ctx has ended, it returns nil if the host does not
// read for frontFarewell, or if a call takes longer than shutdownTimeout: neither may hold
// up the end of the process. And it returns an error if the host is deaf. After farewell
// has returned, nothing more is written: the process is about to close what calls work
// with, and calls that fail only for that reason should not be reported.
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
	for _, more := range []time.Duration{frontFarewell, shutdownTimeout - frontFarewell} {
		select {
		case err := <-done:
			return err
		case <-time.After(more):
		}
		if s.stuck() {
			break
		}
	}
	return nil
}

// stuck reports whether a write has gone on for frontFarewell.
func (s *stdio) stuck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.writing.IsZero() && time.Since(s.writing) >= frontFarewell
}

// shutUp makes Write refuse everything from now on.
func (s *stdio) shutUp() {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
}
