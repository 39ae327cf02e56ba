package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
)

// maxLine is the longest message over stdio, in bytes without its line feed.
const maxLine = 4 << 20

// Bounds on the calls of one conversation that are under way: how many, of which
// maxWaitingToken work or wait for a slot, and how many bytes of lines they may have before
// one more begins.
const (
	maxUnderway      = 4096
	maxUnderwayBytes = 16 << 20
)

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
// When r or ctx ends, no further line is taken, as when a server over HTTP stops. ServeStdio
// waits for the calls that still run and writes their replies. Neither end is an error:
// ServeStdio returns only errors of reading and writing. A read that is blocked when ctx
// ends is left behind, since nothing can wake a read of standard input.
//
// push may be nil. Conversations that run at the same time must have callers with
// different keys.
func (s *Server) ServeStdio(ctx context.Context, r io.Reader, w io.Writer, caller Caller, push Pusher) error {
	stop := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	own, err := s.subscriber(ctx, caller)
	if err != nil {
		return err
	}
	c := &conversation{
		server: s,
		ctx:    ctx,
		caller: caller,
		own:    own,
		in:     lineReader{r: bufio.NewReaderSize(r, 64<<10)},
		out:    lineWriter{w: w},
		work:   make(chan func(), maxUnderway),
	}
	var pushing sync.WaitGroup
	pushing.Go(func() { c.follow(own) })
	if push != nil {
		pushing.Go(func() { // its error is one of c.out, which flush returns below
			push(ctx, func(line []byte) error {
				c.out.add(line)
				return c.out.flush()
			})
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- c.read(stop) }()
	select {
	case err = <-ended:
		if err != nil {
			cancel() // the client is gone, so nobody waits for replies
		}
	case <-stop.Done():
	}
	c.finish()
	cancel()
	c.listening.Wait()
	pushing.Wait()
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

	own *Stream // of what the conversation has subscribed to

	// work is what the goroutines that run calls do next. They stay for further calls, since the
	// stack of a new one would have to grow again, which takes a third of a small call.
	work chan func()

	mu        sync.Mutex
	over      bool           // no further call may begin; guarded by mu, like the next three
	underway  int            // lines with calls
	bytes     int            // of these lines
	workers   int            // goroutines that run calls
	calls     sync.WaitGroup // counts workers
	listening sync.WaitGroup // counts listeners, which end with ctx
}

// read answers lines until there are no more, or ctx ends. Replies are written when no further line
// waits to be read, so that a burst of messages costs one write; and when many bytes have
// been gathered, since the replies to a burst of tools/list are far longer than the burst.
func (c *conversation) read(ctx context.Context) error {
	for {
		if !c.in.waiting() || c.out.full() {
			if err := c.out.flush(); err != nil {
				return err
			}
		}
		line, err := c.in.next()
		switch {
		case err == io.EOF || ctx.Err() != nil:
			return nil
		// The id of the message is not known, so the error has none.
		case err == errLongLine:
			c.out.add(refusal(&request{}, invalid(errLongLine.Error())))
		case err != nil:
			return err
		case len(bytes.TrimSpace(line)) > 0:
			c.take(line)
		}
	}
}

// take answers one line: here if that takes no time, otherwise in a goroutine. It never
// waits, since the next line may be a ping, or cancel what runs.
func (c *conversation) take(line []byte) {
	all, batch, refused := parse(line)
	if refused != nil {
		c.out.add(refusal(&request{}, refused))
		return
	}
	var calls []*Session
	for i := range all {
		r := &all[i]
		if r.by, r.events = c, !batch; c.server.slow(r) {
			r.session = c.server.Sessions.begin(c.ctx, c.caller)
			r.session.cancellable(r.ID)
			calls = append(calls, r.session)
		}
	}
	if calls == nil {
		c.answer(all, batch)
		return
	}
	done := func() {
		for _, call := range calls {
			call.End()
		}
	}
	refused = c.begin(len(line), func() {
		c.answer(all, batch)
		done()
		c.out.flush() // an error shows at the reader's next flush
	})
	if refused == nil {
		return
	}
	done()
	for i := range all {
		if all[i].wantsReply() {
			c.out.add(refusal(&all[i], refused))
		}
	}
}

// begin has a worker run the calls of a line with so many bytes, or returns why they may not begin.
func (c *conversation) begin(line int, run func()) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return errBusy
	case c.underway >= maxUnderway || c.bytes > maxUnderwayBytes:
		return errCrowded
	}
	c.underway++
	c.bytes += line
	c.work <- func() { // there is room for all that are under way
		run()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.underway--
		c.bytes -= line
	}
	if c.workers < min(c.underway, maxWaitingToken) {
		c.workers++
		c.calls.Go(func() {
			for run := range c.work {
				run()
			}
		})
	}
	return nil
}

// finish lets no further call begin and waits for those that run.
func (c *conversation) finish() {
	c.mu.Lock()
	c.over = true
	close(c.work)
	c.mu.Unlock()
	c.calls.Wait()
}

// room returns nil, for there is always room: what the local client holds is not counted.
func (c *conversation) room() *Error { return nil }

// notify gathers a line about the progress of a call. The goroutine that tells of changes
// writes it, since a call must not keep its slot while its client does not read. If much
// output waits for the client already, the line is dropped.
func (c *conversation) notify(line []byte) {
	if !c.out.full() {
		c.out.add(line)
		c.own.wake()
	}
}

// follow writes a stream between the replies until it is cancelled or ends.
func (c *conversation) follow(s *Stream) {
	for over := false; !over; {
		select {
		case <-s.Bell():
		case <-s.ctx.Done():
			over = true
		}
		lines := s.Next()
		// Checked after Next, which returns the reply whatever ended the context. A
		// client that has cancelled wants no reply.
		if endedBy(s.ctx) == errCancelled {
			return
		}
		for _, line := range lines {
			c.out.add(line)
		}
		c.out.flush() // an error shows at the reader's next flush
		s.Wrote(len(lines))
	}
}

// answer adds the replies to the output.
func (c *conversation) answer(all []request, batch bool) {
	var b output
	c.server.writeAll(&b, all, batch, func(r *request) Reply {
		ctx, end := c.ctx, func() {}
		if r.Method == "subscriptions/listen" && r.wantsReply() { // it can be cancelled as long as it runs
			call := c.server.Sessions.begin(ctx, c.caller)
			ctx, end = call.cancellable(r.ID), call.End
		}
		switch reply := c.server.reply(ctx, c.caller, r); {
		case reply.stream != nil:
			c.listening.Go(func() {
				defer end()
				defer reply.stream.close()
				c.follow(reply.stream)
			})
			return Reply{}
		case reply.err == errCancelled:
			end()
			return Reply{}
		default:
			end()
			return reply
		}
	})
	c.out.add(b.Bytes(), b.tail)
}

// slow reports whether a message calls a tool or reads a resource that takes time.
func (s *Server) slow(r *request) bool {
	if r.isNotification() || r.refused != nil || r.wrong != nil {
		return false
	}
	switch r.Method {
	case "tools/call":
		tool, _, refused := s.lookup(r)
		return refused == nil && tool.Cost != Cheap
	case "resources/read":
		found, _ := s.find(r.Params.URI)
		return found != nil && found.Cost != Cheap
	}
	return false
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

// next returns the next line without its line feed. A line longer than maxLine is read to
// its end and dropped, and next returns errLongLine. The last line needs no line feed.
func (l *lineReader) next() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	line := slices.Clone(part)
	for err == bufio.ErrBufferFull {
		if part, err = l.r.ReadSlice('\n'); len(line) <= maxLine {
			line = append(line, part...)
		}
	}
	switch line = bytes.TrimSuffix(line, []byte("\n")); {
	case len(line) > maxLine:
		return nil, errLongLine
	case err == io.EOF && len(line) > 0:
		return line, nil
	}
	return line, err
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

// add gathers a line, which may come in parts; an empty one is ignored.
func (l *lineWriter) add(line ...[]byte) {
	if len(line[0]) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range line {
		l.pending = append(l.pending, part...)
	}
	l.pending = append(l.pending, '\n')
}

// full reports whether so much was gathered that it should be written.
func (l *lineWriter) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) >= maxGathered
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
