package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// receiver is a destination of messages that outlives the process. It drops
// repeats by their id, and notes what must not be: an id with another text, or an
// order that is not that of the firings.
type receiver struct {
	name  string
	fault func(n int) int // what is done to the nth request: 0 nothing, 1 refused with 503, 2 taken and then cut off

	mu       sync.Mutex
	requests int
	texts    map[string]string // by id
	notes    map[string]bool   // of the alerts that came
	last     uint64            // sequence of the newest id
	repeats  int
	wrong    error // the first thing that must not be
}

// noteShape finds the note of an alert in the text of its message: each alert of
// the run has another.
var noteShape = regexp.MustCompile(`"(r\d+-\d+)"$`)

// ServeHTTP takes a message, as a webhook or as an event of Matrix.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var body struct {
		Body string // of Matrix
		Data struct{ Text string }
	}
	text, err := io.ReadAll(request.Body)
	if err != nil {
		return // the process was killed while it wrote
	}
	if err := json.Unmarshal(text, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := request.Header.Get("webhook-id")
	if id == "" {
		id = filepath.Base(request.URL.Path)
	}
	r.mu.Lock()
	r.requests++
	fate := r.fault(r.requests)
	if fate != 1 {
		r.take(id, body.Data.Text+body.Body)
	}
	r.mu.Unlock()
	switch fate {
	case 1:
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case 2:
		panic(http.ErrAbortHandler)
	}
	io.WriteString(w, "{}")
}

// take notes a message. mu is held.
func (r *receiver) take(id, text string) {
	seq, err := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	note := noteShape.FindStringSubmatch(text)
	before, known := r.texts[id]
	switch {
	case err != nil || note == nil:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("%s got %q with the id %q", r.name, text, id))
	case known && before != text:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("%s got %q and %q with the id %q", r.name, before, text, id))
	case known:
		r.repeats++
	case seq < r.last:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("%s got %d after %d", r.name, seq, r.last))
	case r.notes[note[1]]:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("%s got %s under two ids", r.name, note[1]))
	default:
		r.texts[id], r.notes[note[1]], r.last = text, true, seq
	}
}

// lacks returns how many of the alerts have not come.
func (r *receiver) lacks(alerts map[string]bool) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for note := range alerts {
		if !r.notes[note] {
			n++
		}
	}
	return n, r.wrong
}

// firings is how many alerts a life sets.
const firings = 1000

// tortureNotify kills the process in the middle of a thousand firings to four
// destinations, again and again. Every alert that was acknowledged must reach each
// of them at least once, under one id, in the order of the firings.
func tortureNotify(wick, dir string, kills int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	receivers := []*receiver{
		{name: "fine", fault: func(int) int { return 0 }},
		{name: "busy", fault: func(n int) int { return map[bool]int{true: 1}[n%311 == 0] }},
		{name: "cut", fault: func(n int) int { return map[bool]int{true: 2}[n%173 == 0] }},
		{name: "room", fault: func(int) int { return 0 }},
	}
	var lines strings.Builder
	for i, r := range receivers {
		r.texts, r.notes = make(map[string]string), make(map[string]bool)
		server := httptest.NewServer(r)
		defer server.Close()
		kind, keys := "webhook", ""
		if i == 3 {
			kind, keys = "matrix", " token=t room=!r:example.com"
		}
		fmt.Fprintf(&lines, "%s %s %s%s allow-private kinds=alert rate=100000\n", r.name, kind, server.URL, keys)
	}
	file := filepath.Join(dir, "destinations")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		return err
	}
	began, acked := time.Now(), make(map[string]bool)
	for round := range kills + 1 {
		p, err := start(wick, dir, "--notify-file", file)
		if err != nil {
			return fmt.Errorf("start %d: %w", round, err)
		}
		err = arrived(receivers, acked)
		if err == nil && round < kills {
			err = fireUntilKilled(p, round, time.Duration(50+rng.IntN(3000))*time.Millisecond, acked)
		}
		p.kill()
		if err != nil {
			return fmt.Errorf("after kill %d: %w", round, err)
		}
	}
	for _, r := range receivers {
		fmt.Printf("%s: %d requests, %d messages, %d repeats\n", r.name, r.requests, len(r.texts), r.repeats)
	}
	fmt.Printf("%d kills in %s: each of %d acknowledged alerts reached every destination, in order and under one id\n", kills, time.Since(began).Round(time.Second), len(acked))
	return nil
}

// arrived waits until every destination has every alert.
func arrived(receivers []*receiver, acked map[string]bool) error {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		missing := 0
		for _, r := range receivers {
			n, err := r.lacks(acked)
			if err != nil {
				return err
			}
			missing += n
		}
		if missing == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d messages never came", missing)
		}
	}
}

// fireUntilKilled sets alerts that are true already and kills the process after a
// while. It adds the notes of those that were acknowledged.
func fireUntilKilled(p *process, round int, after time.Duration, acked map[string]bool) error {
	var mu sync.Mutex
	var setting sync.WaitGroup
	const clients = 4
	for c := range clients {
		client, err := login(p.base, fmt.Sprint("setter", c))
		if err != nil {
			return err
		}
		setting.Go(func() {
			for i := c; i < firings; i += clients {
				note := fmt.Sprintf("r%d-%d", round, i)
				var alert struct{}
				err := client.call("set_alert", map[string]any{"symbol": "BTCUSDT", "condition": map[string]any{"price_above": 0.5}, "note": note}, &alert)
				if err != nil && !errors.Is(err, errTool) {
					return // the process is gone
				}
				if err == nil {
					mu.Lock()
					acked[note] = true
					mu.Unlock()
				}
			}
		})
	}
	time.Sleep(after)
	p.kill()
	setting.Wait()
	return nil
}
