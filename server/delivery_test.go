package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// reader reads the events of a stream.
type reader struct {
	lines  *bufio.Scanner
	events []string // ids of those read so far
}

// listen opens a stream, after an event if one is named.
func (h *running) listen(t *testing.T, token, lastEventID string) *reader {
	t.Helper()
	request, err := http.NewRequest("GET", h.base+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "text/event-stream")
	if lastEventID != "" {
		request.Header.Set("Last-Event-ID", lastEventID)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	return &reader{lines: bufio.NewScanner(r.Body)}
}

// read reads n events and returns the alerts they tell of.
func (r *reader) read(t *testing.T, n int) (alerts []string) {
	t.Helper()
	for len(alerts) < n {
		if !r.lines.Scan() {
			t.Fatalf("the stream ended after %q: %v", alerts, r.lines.Err())
		}
		if id, ok := strings.CutPrefix(r.lines.Text(), "id: "); ok {
			r.events = append(r.events, id)
		}
		if data, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok {
			var event struct {
				Params struct {
					ID string `json:"alert_id"`
				}
			}
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatal(err)
			}
			alerts = append(alerts, event.Params.ID)
		}
	}
	return alerts
}

// fire sets n alerts that are true already and waits until they have fired.
func (h *running) fire(t *testing.T, token string, n int) (alerts []string) {
	t.Helper()
	for range n {
		var alert struct {
			ID string `json:"alert_id"`
		}
		text := h.call(t, token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":0.5}}`)
		if err := json.Unmarshal([]byte(text), &alert); err != nil {
			t.Fatal(err)
		}
		alerts = append(alerts, alert.ID)
	}
	for h.call(t, token, "list_alerts", `{}`) != "[]" {
		time.Sleep(20 * time.Millisecond)
	}
	return alerts
}

// awaitMark waits until the journal says that an event is delivered.
func awaitMark(t *testing.T, dir, event string) {
	t.Helper()
	part := strings.Split(event, "-") // s-EPOCH-SEQUENCE-EPOCH-SEQUENCE: the subscription, then the event
	mark := fmt.Appendf(nil, `"marks":{"%s":%s}`, strings.Join(part[:3], "-"), part[4])
	for {
		names, err := filepath.Glob(filepath.Join(dir, "journal-*.wal"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, mark) {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stopBy ends a process cleanly or by kill -9.
func (p *process) stopBy(t *testing.T, how string) {
	t.Helper()
	if how == "clean" {
		p.terminate(t)
		return
	}
	p.cmd.Process.Kill()
	p.wait()
}

// TestPushesOverStop: what a client received live is not pushed again after a
// stop, clean or not, to a client that names no event; one that names an event
// gets exactly what came after it.
func TestPushesOverStop(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"clean", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := startProcess(t, dir)
			token := p.login(t)
			p.call(t, token, "subscribe_notifications", `{}`)
			stream := p.listen(t, token, "")
			alerts := p.fire(t, token, 3)
			if got := stream.read(t, 3); !slices.Equal(got, alerts) {
				t.Fatalf("live: %v, want %v", got, alerts)
			}
			awaitMark(t, dir, stream.events[2])
			p.stopBy(t, how)

			p = startProcess(t, dir)
			token = p.login(t) // another token of the same client
			again := p.listen(t, token, "")
			later := p.fire(t, token, 1)
			if got := again.read(t, 1); !slices.Equal(got, later) {
				t.Errorf("after the stop, without Last-Event-ID: %v, want %v", got, later)
			}
			resumed := p.listen(t, token, stream.events[0]) // not what the other stream got, which is open
			want := append(slices.Clone(alerts[1:]), p.fire(t, token, 1)...)
			if got := resumed.read(t, 3); !slices.Equal(got, want) || !slices.Equal(resumed.events[:2], stream.events[1:]) {
				t.Errorf("after %s: %v as %v, want %v under their old ids %v", stream.events[0], got, resumed.events, want, stream.events[1:])
			}
			p.terminate(t)
		})
	}
}

// TestSleepingClient: a client stops reading with its socket open, as a machine
// that sleeps does; what was written to the socket counts as delivered, but
// after the stop of the server, whatever its kind, the client gets all of it by
// naming the last event it saw.
func TestSleepingClient(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"clean", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := startProcess(t, dir)
			token := p.login(t)
			p.call(t, token, "subscribe_notifications", `{}`)
			stream := p.listen(t, token, "")
			p.fire(t, token, 1)
			stream.read(t, 1)
			missed := p.fire(t, token, 5) // nobody reads them
			for !strings.Contains(p.call(t, token, "list_subscriptions", `{}`), `"offline_queue_size":0`) {
				time.Sleep(20 * time.Millisecond)
			}
			p.stopBy(t, how)

			p = startProcess(t, dir)
			token = p.login(t)
			if got := p.listen(t, token, stream.events[0]).read(t, 5); !slices.Equal(got, missed) {
				t.Errorf("after waking up: %v, want %v", got, missed)
			}
			p.terminate(t)
		})
	}
}
