package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
)

// maxLine is the longest message over stdio, in bytes without its line feed.
const maxLine = 4 << 20

// maxGathered is how many bytes of replies are gathered before they are written.
const maxGathered = 256 << 10

// Pusher writes notifications that are not about a request. ServeStdio runs it beside
// the conversation, and ends ctx when the conversation ends; then the Pusher must return.
// write puts one line, which must not contain a line feed, between the replies.
type Pusher func(ctx context.Context, write func(line []byte) error) error

// ServeStdio holds one conversation with the local client, one message a line, until r
// or ctx ends. Calls that take time run at the same time; everything else is answered at
// once, in order. The line after a call can already cancel it.
//
// When r ends, ServeStdio waits for the calls that still run and writes their replies.
// When ctx ends, those calls are cancelled, and answered too. Neither end is an error:
// ServeStdio returns only errors of reading and writing. A read that is blocked when ctx
// ends is left behind, since nothing can wake a read of standard input.
//
// push may be nil. Conversations that run at the same time must have callers with
// different keys.
func (s *Server) ServeStdio(ctx context.Context, r io.Reader, w io.Writer, caller Caller, push Pusher) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &conversation{
		server: s,
		ctx:    ctx,
		caller: caller,
		in:     lineReader{r: bufio.NewReaderSize(r, 64<<10)},
		out:    lineWriter{w: w},
		slots:  make(chan struct{}, maxWaitingToken),
		news:   make(chan struct{}, 1),
	}
	var pushing sync.WaitGroup
	pushing.Go(c.tell)
	if push != nil {
		pushing.Go(func() { push(ctx, c.out.push) }) // its error is one of c.out, which flush returns below
	}
	ended := make(chan error, 1)
	go func() { ended <- c.read() }()
	var err error
	select {
	case err = <-ended:
		if err != nil {
			cancel() // the client is gone, so nobody waits for replies
		}
	case <-ctx.Done():
	}
	c.finish()
	cancel()
	c.listening.Wait()
	pushing.Wait()
	s.Forget(caller.Key()) // the resources that it watched
	if lost := c.out.flush(); err == nil {
		err = lost
	}
	return err
}

// conversation is what one call of ServeStdio works with.
type conversation struct {
	server *Server
	ctx    context.Context
	caller Caller

	in  lineReader // owned by read
	out lineWriter

	slots chan struct{} // one element per call that runs in its own goroutine
	news  chan struct{} // has room for one element, which says that there is progress to be written

	mu        sync.Mutex
	over      bool // guarded by mu: no further call may begin
	calls     sync.WaitGroup
	listening sync.WaitGroup // counts listeners, which end with ctx
}

// read answers lines until there are no more. Replies are written when no further line
// waits to be read, so that a burst of messages costs one write; and when many bytes have
// been gathered, since the replies to a burst of tools/list are far longer than the burst.
func (c *conversation) read() error {
	for c.ctx.Err() == nil {
		if !c.in.waiting() || c.out.full() {
			if err := c.out.flush(); err != nil {
				return err
			}
		}
		line, err := c.in.next()
		switch {
		case err == io.EOF:
			return nil
		// The id of the message is not known, so the error has none.
		case err == errLongLine:
			c.out.add(appendError(nil, nil, &Error{codeInvalidRequest, errLongLine.Error()}))
		case err != nil:
			return err
		case len(bytes.TrimSpace(line)) > 0:
			c.take(line)
		}
	}
	return nil
}

// take answers one line: here if that takes no time, otherwise in a goroutine.
func (c *conversation) take(line []byte) {
	msgs, batch, refused := decode(line)
	if refused != nil {
		c.out.add(appendError(nil, nil, refused))
		return
	}
	if !batch {
		msgs[0].notify = c.progress
		if c.server.isListen(&msgs[0]) {
			c.listen(&msgs[0])
			return
		}
	}
	slow := false
	for i := range msgs {
		slow = slow || c.server.slow(&msgs[i])
	}
	if !slow {
		c.answer(msgs, batch)
		return
	}
	c.out.flush() // the replies gathered so far must not wait for a slot
	c.slots <- struct{}{}
	if !c.begin() {
		return
	}
	// The call is registered before the next line is read, which may cancel it.
	end := c.server.register(c.ctx, c.caller, msgs)
	go func() {
		defer c.calls.Done()
		defer end()
		c.answer(msgs, batch)
		c.out.flush() // an error shows at the reader's next flush
		<-c.slots
	}()
}

// progress gathers a line about the progress of a call. The goroutine of tell writes it,
// since a call must not keep its slot while its client does not read. If much output
// waits for the client already, the line is dropped.
func (c *conversation) progress(line []byte) {
	if c.out.full() {
		return
	}
	c.out.add(line)
	select {
	case c.news <- struct{}{}:
	default: // tell has yet to take the last element, and will write this line too
	}
}

// tell writes the progress of calls until the conversation ends.
func (c *conversation) tell() {
	for {
		select {
		case <-c.news:
			c.out.flush() // an error shows at the reader's next flush
		case <-c.ctx.Done():
			return
		}
	}
}

// listen opens a listener, which writes between the replies until it is cancelled
// or the conversation ends.
func (c *conversation) listen(m *message) {
	ctx, end := c.server.inflight.begin(c.ctx, c.caller.Key(), m.ID)
	refused, data := m.checkEra()
	var l *Listener
	if refused == nil {
		l, refused = c.server.listen(ctx, c.caller, m)
	}
	if refused != nil {
		end()
		c.out.add(appendErrorData(nil, m.ID, refused, data))
		return
	}
	c.listening.Go(func() {
		defer end()
		defer c.server.watch.leave(l)
		for {
			done := l.ctx.Err() != nil
			lines := l.Next()
			// Checked after Next, which returns the reply whatever ended the context. A
			// client that has cancelled wants no reply.
			if context.Cause(ctx) == errCancelled {
				return
			}
			for _, line := range lines {
				c.out.push(line)
			}
			if l.Wrote(len(lines)); done {
				return
			}
			select {
			case <-l.Bell():
			case <-l.ctx.Done():
			}
		}
	})
}

// answer adds the replies to the output.
func (c *conversation) answer(msgs []message, batch bool) {
	b := borrow()
	defer b.release()
	b.b = appendReplies(b.b, msgs, batch, func(b []byte, m *message) []byte {
		b, _ = c.server.reply(c.ctx, b, c.caller, m)
		return b
	})
	c.out.add(b.b)
}

// slow reports whether a message calls a tool or reads a resource that takes time.
func (s *Server) slow(m *message) bool {
	if m.isNotification() || m.refused != nil {
		return false
	}
	switch m.Method {
	case "tools/call":
		tool, _, refused := s.lookup(m)
		return refused == nil && tool.Cost != Cheap
	case "resources/read":
		r, _ := s.find(m.Params.URI)
		return r != nil && r.Cost != Cheap
	}
	return false
}

// register puts the slow calls among msgs into inflight, so that they can be cancelled
// before they begin. It returns the function that takes them out again.
func (s *Server) register(ctx context.Context, c Caller, msgs []message) (end func()) {
	var ends []func()
	for i := range msgs {
		if m := &msgs[i]; s.slow(m) {
			var end func()
			m.registered, end = s.inflight.begin(ctx, c.Key(), m.ID)
			ends = append(ends, end)
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// begin counts a call and returns true, unless the conversation is over.
func (c *conversation) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.calls.Add(1)
	}
	return !c.over
}

// finish lets no further call begin and waits for those that run.
func (c *conversation) finish() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.calls.Wait()
}

var errLongLine = errors.New("the message is too large: a line holds at most " + strconv.Itoa(maxLine) + " bytes")

// lineReader reads lines and refuses those that are longer than maxLine.
type lineReader struct{ r *bufio.Reader }

// waiting reports whether a whole line is in the buffer, so that next cannot block. Half
// a line does not count: its sender may be waiting for a reply before it sends the rest.
func (l *lineReader) waiting() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}

// next returns the next line without its line feed; it is valid until next is called
// again. A line longer than maxLine is read to its end and dropped, and next returns
// errLongLine. The last line needs no line feed.
func (l *lineReader) next() ([]byte, error) {
	var long []byte
	tooLong := false
	for {
		// A line that fits into the reader's buffer is returned without a copy. A longer one
		// is put together in long, and one that is too long is skipped.
		part, err := l.r.ReadSlice('\n')
		if len(long)+len(bytes.TrimSuffix(part, []byte("\n"))) > maxLine {
			tooLong, long = true, nil
		}
		switch {
		case err == bufio.ErrBufferFull && !tooLong:
			long = append(long, part...)
			continue
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && (err != io.EOF || len(part)+len(long) == 0 && !tooLong):
			return nil, err
		case tooLong:
			return nil, errLongLine
		case len(long) == 0:
			return bytes.TrimSuffix(part, []byte("\n")), nil
		}
		return bytes.TrimSuffix(append(long, part...), []byte("\n")), nil
	}
}

// lineWriter gathers lines and writes them together. A flush writes all that was
// gathered before it; lines that are added meanwhile are left to the next flush.
type lineWriter struct {
	writing sync.Mutex // held during a write; taken before mu
	w       io.Writer  // guarded by writing
	err     error      // the error of the first write that failed; guarded by writing

	mu      sync.Mutex
	pending []byte // guarded by mu
}

// add gathers a line; an empty one is ignored.
func (l *lineWriter) add(line []byte) {
	if len(line) == 0 {
		return
	}
	l.mu.Lock()
	l.pending = append(append(l.pending, line...), '\n')
	l.mu.Unlock()
}

// full reports whether so much was gathered that it should be written.
func (l *lineWriter) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= maxGathered
}

// push adds a line and writes it.
func (l *lineWriter) push(line []byte) error {
	l.add(line)
	return l.flush()
}

// flush writes what was gathered and returns the error of the first write that failed,
// also if that was an earlier one. Lines can be added while it writes.
func (l *lineWriter) flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	out := l.pending
	l.pending = nil
	l.mu.Unlock()
	if len(out) > 0 && l.err == nil {
		_, l.err = l.w.Write(out)
	}
	return l.err
}
