package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// talk runs a conversation whose input is known beforehand and returns the
// lines of its output.
func talk(t *testing.T, s *Server, input string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(input), &out, Caller{ID: "stdio"}, nil); err != nil {
		t.Errorf("error %v", err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Lines end at line feeds, blank ones are nothing, CR is white space, and the
// last one needs no end.
func TestStdioFraming(t *testing.T) {
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, tt := range []struct {
		name, input string
		want        int
	}{
		{"nothing", "", 0},
		{"blank lines", "\n\r\n  \n", 0},
		{"one", ping + "\n", 1},
		{"without an end", ping, 1},
		{"with CR", ping + "\r\n" + ping + "\r\n", 2},
		{"blank lines between", "\n" + ping + "\n\n\n" + ping, 2},
		{"longer than the reader's buffer", ping + strings.Repeat(" ", 200<<10) + "\n" + ping + "\n", 2},
	} {
		lines := talk(t, testServer(), tt.input)
		if len(lines) != tt.want {
			t.Errorf("%s: %q, want %d lines", tt.name, lines, tt.want)
		}
		for _, line := range lines {
			if line != pong {
				t.Errorf("%s: %q", tt.name, line)
			}
		}
	}
}

// A line over the bound is answered with an error and skipped; the line before
// and the one after are not touched. One at the bound passes.
func TestStdioLongLine(t *testing.T) {
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}`
	refusal := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is too large: a line holds at most 4194304 bytes"}}`
	pad := func(n int) string { return ping + strings.Repeat(" ", n-len(ping)) }
	for _, tt := range []struct {
		name, input string
		want        []string
	}{
		{"at the bound", pad(maxLine) + "\n" + ping, []string{pong, pong}},
		{"a byte over", ping + "\n" + pad(maxLine+1) + "\n" + ping, []string{pong, refusal, pong}},
		{"twice over", pad(2*maxLine) + "\n" + ping, []string{refusal, pong}},
		{"at the end", ping + "\n" + pad(maxLine+1), []string{pong, refusal}},
		{"the first buffer over", pad(maxLine) + strings.Repeat("x", 1<<16) + "\n" + ping, []string{refusal, pong}},
	} {
		got := talk(t, testServer(), tt.input)
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A long line is not held: skipping one of 64 MiB allocates less than that.
func TestStdioLongLineIsNotKept(t *testing.T) {
	l := lineReader{r: bufio.NewReaderSize(io.LimitReader(endless{}, 64<<20), 64<<10)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := l.next(); err != errLongLine {
		t.Fatalf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// dialogue is a running conversation in a bubble.
type dialogue struct {
	t       *testing.T
	in      *io.PipeWriter
	replies chan string
	done    chan error
}

// begin starts ServeStdio; replies are read as they come.
func begin(ctx context.Context, t *testing.T, s *Server, push Pusher) *dialogue {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	d := &dialogue{t, send, make(chan string, 1000), make(chan error, 1)}
	go func() {
		d.done <- s.ServeStdio(ctx, in, out, Caller{ID: "stdio"}, push)
		out.Close()
	}()
	go func() {
		for lines := bufio.NewScanner(receive); lines.Scan(); {
			d.replies <- lines.Text()
		}
		close(d.replies)
	}()
	return d
}

func (d *dialogue) send(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

// want compares the replies that have come so far, in order.
func (d *dialogue) want(replies ...string) {
	d.t.Helper()
	synctest.Wait()
	for _, want := range replies {
		select {
		case got := <-d.replies:
			if got != want {
				d.t.Errorf("got %s, want %s", got, want)
			}
		default:
			d.t.Errorf("no reply, want %s", want)
		}
	}
	if n := len(d.replies); n > 0 {
		d.t.Errorf("%d further replies, the first %s", n, <-d.replies)
	}
}

func waitCall(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"wait"}}`
}

// While calls run, others are answered; a cancelled one gets no reply.
func TestStdioInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t.Context(), t, testServer(), nil)
		d.send(waitCall("1"))
		d.send(waitCall(`"two"`))
		d.send(ping)
		d.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
		d.want()
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two"}}`)
		d.want()
		d.in.Close()
		if err := <-d.done; err != nil {
			t.Errorf("error %v", err)
		}
		d.want()
	})
}

// A cancellation that comes in the same write as its call is not lost: the call ends at
// once or does not run at all, and gets no reply. In a batch it ends the call that it
// names, even before the turn of that call.
func TestStdioCancelledAtOnce(t *testing.T) {
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	modern := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	read := `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x://wait"}}`
	batch := `[` + waitCall("6") + `,` + waitCall("7") + `,` + waitCall("8") + `]`
	for _, call := range []string{waitCall("7"), modern, read, batch} {
		synctest.Test(t, func(t *testing.T) {
			tools, ran := testTools(), 0
			wait := tools[len(tools)-1].Handle
			tools[len(tools)-1].Handle = func(ctx context.Context, c Call) (*Result, error) {
				if ran++; ctx.Err() != nil {
					t.Errorf("%s: runs although it was cancelled before", call)
				}
				return wait(ctx, c)
			}
			resource := Resource{URI: "x://wait", Read: func(ctx context.Context, _ Reading) ([]Content, error) {
				_, err := wait(ctx, Call{})
				return nil, err
			}}
			d := begin(t.Context(), t, NewServer(Options{Tools: tools, Resources: []Resource{resource}}), nil)
			d.send(call + "\n" + cancel)
			if call == batch {
				d.send(strings.Replace(cancel, "7", "6", 1))
				d.send(strings.Replace(cancel, "7", "8", 1))
				if ran != 2 {
					t.Errorf("%d calls of the batch ran, want all but the one that was cancelled before its turn", ran)
				}
			}
			d.want()
			d.in.Close()
			if err := <-d.done; err != nil {
				t.Error(err)
			}
			d.want()
		})
	}
}

// At the end of input the calls still running are answered before the end.
func TestStdioEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tools := []Tool{{Name: "slow", Schema: json.RawMessage(`{}`), Handle: func(ctx context.Context, _ Call) (*Result, error) {
			select {
			case <-release:
				return Text("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}}
		d := begin(t.Context(), t, NewServer(Options{Tools: tools}), nil)
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		d.in.Close()
		synctest.Wait()
		if len(d.done) != 0 {
			t.Fatal("ended before the call was answered")
		}
		close(release)
		if err := <-d.done; err != nil {
			t.Errorf("error %v", err)
		}
		d.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
	})
}

// When the program is to end, running calls are finished and answered, no further line is
// taken, and a read that is blocked keeps nobody.
func TestStdioContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		tools := []Tool{{Name: "slow", Schema: json.RawMessage(`{}`), Handle: func(ctx context.Context, _ Call) (*Result, error) {
			<-release
			return Text("done"), ctx.Err()
		}}}
		d := begin(ctx, t, NewServer(Options{Tools: tools}), nil)
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
		cancel()
		d.send(ping)
		if len(d.done) != 0 {
			t.Fatal("ended before the call was answered")
		}
		close(release)
		if err := <-d.done; err != nil {
			t.Errorf("error %v", err)
		}
		d.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
		d.in.Close() // lets the blocked read go, so that the bubble can end
	})
}

// Notifications are lines between replies, and end with the conversation.
func TestStdioPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frames := make(chan string)
		ended := false
		push := func(ctx context.Context, write func([]byte) error) error {
			defer func() { ended = true }()
			for {
				select {
				case f := <-frames:
					if err := write([]byte(f)); err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		d := begin(t.Context(), t, testServer(), push)
		d.send(ping)
		frames <- `{"pushed":1}`
		d.want(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"pushed":1}`)
		d.in.Close()
		if err := <-d.done; err != nil || !ended {
			t.Errorf("error %v, push ended %v", err, ended)
		}
	})
}

// More calls than may run at once wait for their turn: over stdio none is
// refused.
func TestStdioManyCalls(t *testing.T) {
	const calls = 1000
	var input strings.Builder
	for i := range calls {
		input.WriteString(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"tools/call","params":{"name":"fail"}}` + "\n")
	}
	seen := make(map[int]bool)
	for _, line := range talk(t, testServer(), input.String()) {
		var reply struct {
			ID     int
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil || !reply.Result.IsError || seen[reply.ID] {
			t.Fatalf("%s: %v", line, err)
		}
		seen[reply.ID] = true
	}
	if len(seen) != calls {
		t.Errorf("%d replies, want %d", len(seen), calls)
	}
}

// TestStdioHears: however many calls are under way, pings are answered and calls that wait
// can be cancelled.
func TestStdioHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t.Context(), t, testServer(), nil)
		const calls = 2 * maxWaitingToken
		for i := range calls {
			d.send(waitCall(strconv.Itoa(i)))
		}
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + strconv.Itoa(calls-1) + `}}`)
		d.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		d.want(`{"jsonrpc":"2.0","id":"p","result":{}}`)
		for i := range calls - 1 {
			d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + strconv.Itoa(i) + `}}`)
		}
		d.send(`{"jsonrpc":"2.0","id":"q","method":"ping"}`)
		d.want(`{"jsonrpc":"2.0","id":"q","result":{}}`)
		d.in.Close()
		<-d.done
	})
}

// TestStdioUnderway: calls beyond so many, and after so many bytes, are refused at once, while
// pings are answered and cancellations read.
func TestStdioUnderway(t *testing.T) {
	long := `"` + strings.Repeat("x", maxLine/2) + `"`
	for calls, args := range map[int]string{maxUnderway: "{}", maxUnderwayBytes/len(long) + 1: `{"a":` + long + `}`} {
		synctest.Test(t, func(t *testing.T) {
			d := begin(t.Context(), t, testServer(), nil)
			for i := range calls + 1 {
				if _, err := fmt.Fprintf(d.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":%s}}`+"\n", i, args); err != nil {
					t.Fatal(err)
				}
			}
			d.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":%q}}`, calls, errCrowded.Message))
			d.send(ping)
			d.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			for i := range calls {
				fmt.Fprintf(d.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", i)
			}
			d.in.Close()
			<-d.done
		})
	}
}

// Replies to a burst of lines leave in one write.
func TestStdioFlushesWhenIdle(t *testing.T) {
	var out countingWriter
	input := strings.Repeat(ping+"\n", 100)
	if err := testServer().ServeStdio(t.Context(), strings.NewReader(input), &out, Caller{}, nil); err != nil {
		t.Fatal(err)
	}
	if out.writes != 1 || out.bytes != 100*len(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n") {
		t.Errorf("%d writes of %d bytes", out.writes, out.bytes)
	}
}

// A reply does not wait for the rest of a line that follows its request.
func TestStdioHalfLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := begin(t.Context(), t, testServer(), nil)
		io.WriteString(d.in, ping+"\n"+ping[:10])
		d.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		d.send(ping[10:])
		d.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		d.in.Close()
		<-d.done
	})
}

// A burst of lines with long replies is written while it is read.
func TestStdioOutputIsBounded(t *testing.T) {
	var out countingWriter
	input := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n", 1000) // one buffer of input
	if err := testServer().ServeStdio(t.Context(), strings.NewReader(input), &out, Caller{}, nil); err != nil {
		t.Fatal(err)
	}
	if most := maxGathered + 8<<10; out.longest > most {
		t.Errorf("a write of %d bytes, want at most %d", out.longest, most)
	}
}

type countingWriter struct{ writes, bytes, longest int }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	w.bytes += len(p)
	w.longest = max(w.longest, len(p))
	return len(p), nil
}

var errGone = errors.New("gone")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errGone }

// Broken streams end the conversation with their error; running calls are
// cancelled, since nobody is left to be answered.
func TestStdioErrors(t *testing.T) {
	err := testServer().ServeStdio(t.Context(), iotest.ErrReader(errGone), io.Discard, Caller{}, nil)
	if !errors.Is(err, errGone) {
		t.Errorf("reading: %v", err)
	}
	in := io.MultiReader(strings.NewReader(waitCall("1")+"\n"+ping+"\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	err = testServer().ServeStdio(t.Context(), in, brokenWriter{}, Caller{ID: "stdio"}, nil)
	if !errors.Is(err, errGone) {
		t.Errorf("writing: %v", err)
	}
}

// Two conversations of the local client at the same time cancel only their own calls, may
// each watch up to the bound, and leave nothing behind.
func TestConversationsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := counted(new(atomic.Int64), func(string) {})
		one, two := Caller{ID: "stdio", Conversation: "1"}, Caller{ID: "stdio", Conversation: "2"}
		var lines strings.Builder
		for i := range maxWatchedToken {
			if got := subscribeTo(s, one, fmt.Sprint("x://of/", i)); !strings.Contains(got, `"result":{}`) {
				t.Fatalf("subscription %d: %s", i, got)
			}
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"x://of/%[1]d"}}`+"\n", i)
		}
		call := s.Sessions.begin(t.Context(), one)
		call.cancellable(json.RawMessage("1"))
		defer call.End()
		lines.WriteString(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), strings.NewReader(lines.String()), &out, two, nil); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), `"result":{}`); n != maxWatchedToken {
			t.Errorf("the other conversation watches %d resources: %s", n, out.String())
		}
		if call.Context.Err() != nil {
			t.Error("one conversation cancelled a call of the other")
		}
		synctest.Wait()
		if s.watch.count != maxWatchedToken || len(s.watch.own) != 1 {
			t.Errorf("%d resources are watched after one of the two has ended, want %d", s.watch.count, maxWatchedToken)
		}
		s.Sessions.Revoke("stdio")
		synctest.Wait()
	})
}
