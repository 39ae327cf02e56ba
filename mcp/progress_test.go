package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowTool works through ten steps, each of which takes the given time.
func slowTool(step time.Duration) Tool {
	return Tool{Name: "slow", Schema: json.RawMessage(`{"type":"object"}`), Handle: func(_ context.Context, c Call) (*Result, error) {
		for i := range 10 {
			time.Sleep(step)
			c.Report(i+1, 10)
		}
		return Text("done"), nil
	}}
}

const slowCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}`

// A call of more than a second tells its progress; one that is shorter, or whose
// client did not ask, does not.
func TestProgressStdio(t *testing.T) {
	for _, c := range []struct {
		step    time.Duration
		message string
		told    []int
	}{
		{400 * time.Millisecond, slowCall, []int{3, 4, 5, 6, 7, 8, 9, 10}}, // after 1 s, and none sooner than 250 ms after another
		{150 * time.Millisecond, slowCall, []int{7, 9, 10}},
		{90 * time.Millisecond, slowCall, nil},
		{400 * time.Millisecond, strings.Replace(slowCall, `"p"`, `{}`, 1), nil},
		{400 * time.Millisecond, strings.Replace(slowCall, `"progressToken":"p"`, ``, 1), nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := NewServer(Options{Tools: []Tool{slowTool(c.step)}})
			receive, out := io.Pipe()
			go func() {
				s.ServeStdio(t.Context(), strings.NewReader(c.message), out, Caller{ID: "stdio"}, nil)
				out.Close()
			}()
			var got []string
			for lines := bufio.NewScanner(receive); lines.Scan(); {
				got = append(got, lines.Text())
			}
			var want []string
			for _, n := range c.told {
				want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%d,"total":10}}`, n))
			}
			want = append(want, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("steps of %v\ngot  %s\nwant %s", c.step, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Over HTTP the reply of a call that tells its progress is a stream of events, if the client
// takes one; else, and for a quick call, it is JSON as ever.
func TestProgressHTTP(t *testing.T) {
	for _, c := range []struct {
		step         time.Duration
		accept, kind string
		events       int
	}{
		{400 * time.Millisecond, "application/json, text/event-stream", "text/event-stream", 9},
		{400 * time.Millisecond, "application/json", "application/json", 0},
		{90 * time.Millisecond, "application/json, text/event-stream", "application/json", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			site := testSite(t, testHTTP(NewServer(Options{Tools: []Tool{slowTool(c.step)}})))
			r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(slowCall))
			r.Header.Set("Authorization", testToken)
			r.Header.Set("Accept", c.accept)
			w := httptest.NewRecorder()
			site.ServeHTTP(w, r)
			text := w.Body.String()
			if w.Code != 200 || w.Header().Get("Content-Type") != c.kind || strings.Count(text, "data: ") != c.events {
				t.Errorf("%v, %s: %d %s %s", c.step, c.accept, w.Code, w.Header().Get("Content-Type"), text)
			}
			if last := strings.LastIndex(text, `{"jsonrpc":"2.0","id":1,"result"`); last < 0 || c.events > 0 && !strings.HasSuffix(text, "\n\n") {
				t.Errorf("no reply at the end: %s", text)
			}
		})
	}
}

// The reply after the progress may be taken as slowly as any other.
func TestProgressSlowReader(t *testing.T) {
	for pause, want := range map[time.Duration]bool{writeTimeout - time.Second: true, writeTimeout + time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			_, dial := crowdSite(t, slowTool(200*time.Millisecond))
			c := dial()
			send(c, "a@one", slowCall)
			time.Sleep(time.Second)
			lines := bufio.NewScanner(c)
			for lines.Scan() && !strings.Contains(lines.Text(), `"progress":10`) {
			}
			lines.Scan() // the end of that event
			time.Sleep(pause)
			got := false
			for lines.Scan() {
				got = got || strings.Contains(lines.Text(), `"result"`)
				if lines.Text() == "0" { // the last chunk
					break
				}
			}
			if got != want {
				t.Errorf("a reply that is read after %v comes: %v, want %v", pause, got, want)
			}
		})
	}
}

// A host that does not read the progress of its calls does not keep their slots: other
// callers are still served.
func TestProgressDeafHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := slowTool(0)
		quick.Name = "quick"
		s := NewServer(Options{Tools: []Tool{slowTool(400 * time.Millisecond), quick}})
		s.gates[Normal] = newGate(1)
		deaf, out := io.Pipe()
		go s.ServeStdio(t.Context(), strings.NewReader(slowCall), out, Caller{ID: "stdio", Conversation: "1"}, nil)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if reply := string(s.handle(ctx, Caller{ID: "other"}, []byte(callOf("quick")))); !strings.Contains(reply, "done") {
			t.Errorf("the call of another: %s", reply)
		}
		// Once it reads, it gets what was waiting, in order.
		last := 0
		for lines := bufio.NewScanner(deaf); lines.Scan(); {
			if strings.Contains(lines.Text(), `"result"`) {
				break
			}
			var m struct{ Params struct{ Progress int } }
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Params.Progress <= last {
				t.Errorf("after %d: %s", last, lines.Text())
			}
			last = m.Params.Progress
		}
		if last == 0 {
			t.Error("no progress was told")
		}
	})
}
