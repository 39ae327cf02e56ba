//go:build unix

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wick/test/harness"

	"golang.org/x/sync/errgroup"
)

// receiver is a destination of messages that goes on running when the process is killed.
// It drops repeated messages by their id, and notes what must not happen: an id with
// another text, or messages in another order than the alerts fired.
type receiver struct {
	name  string
	fault func(n int) int // what is done to the nth request: 0 nothing, 1 refused with 503, 2 taken and then cut off

	mu       sync.Mutex
	requests int
	texts    map[string]string // by id
	notes    map[string]bool   // of the alerts that came
	came     map[int]int       // how many of each life's
	last     uint64            // sequence of the newest id
	repeats  int
	wrong    error // the first thing that must not happen
}

// noteShape finds the note of an alert in the text of its message. Every alert of the run
// has a different note.
var noteShape = regexp.MustCompile(`"(r(\d+)-\d+)"$`)

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
		round, _ := strconv.Atoi(note[2]) // digits, by the expression
		r.came[round]++
	}
}

// lacks returns how many of a life's alerts have not come.
func (r *receiver) lacks(round int) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return firings - r.came[round], r.wrong
}

// firings is how many alerts are set in each life. All of them are acknowledged before the
// price moves that fires them.
const firings = 1000

// tortureNotify kills the process in the middle of a thousand firings to four
// destinations, again and again. Every alert must reach each of them at least
// once, under one id, in the order of the firings.
func tortureNotify(wick, dir string, kills int, seed uint64) error {
	t := &notifyRun{dir: dir, rng: rand.New(rand.NewPCG(seed, 7)), receivers: []*receiver{
		{name: "fine", fault: func(int) int { return 0 }},
		{name: "busy", fault: func(n int) int { return map[bool]int{true: 1}[n%311 == 0] }},
		{name: "cut", fault: func(n int) int { return map[bool]int{true: 2}[n%173 == 0] }},
		{name: "room", fault: func(int) int { return 0 }},
	}}
	var lines strings.Builder
	for i, r := range t.receivers {
		r.texts, r.notes, r.came = make(map[string]string), make(map[string]bool), make(map[int]int)
		server := httptest.NewServer(r)
		defer server.Close()
		kind, keys := "webhook", ""
		if i == 3 {
			kind, keys = "matrix", " token=t room=!r:example.com"
		}
		fmt.Fprintf(&lines, "%s %s %s%s allow-private kinds=alert rate=100000\n", r.name, kind, server.URL, keys)
	}
	file := filepath.Join(dir, "destinations")
	if err := errors.Join(os.WriteFile(file, []byte(lines.String()), 0o600), t.price(low)); err != nil {
		return err
	}
	began := time.Now()
	for round := range kills + 1 {
		p, err := start(wick, filepath.Join(dir, "state"), "--notify-file", file, "--source", "csv:"+dir, "--symbols", "BTCUSDT", "--intervals", "1m")
		if err != nil {
			return fmt.Errorf("start %d: %w", round, err)
		}
		if round > 0 {
			err = t.arrived(round - 1)
		}
		if err == nil && round < kills {
			err = t.fireAndKill(p, round)
		}
		p.Kill()
		if err != nil {
			return fmt.Errorf("after kill %d: %w", round, err)
		}
	}
	for _, r := range t.receivers {
		fmt.Printf("%s: %d requests, %d messages, %d repeats, %d missing\n", r.name, r.requests, len(r.texts), r.repeats, kills*firings-len(r.notes))
	}
	fmt.Printf("%d kills in %s, each in the middle of %d firings (%d to %d of their %d messages had come): each of %d alerts reached every destination, in order and under one id\n",
		kills, time.Since(began).Round(time.Second), firings, slices.Min(t.before), slices.Max(t.before), firings*len(t.receivers), kills*firings)
	return nil
}

// notifyRun is what the lives of the process have in common.
type notifyRun struct {
	dir       string // also of the file that the price is read from
	rng       *rand.Rand
	receivers []*receiver
	before    []int // messages of a life that had come when it was killed
}

// The price is either low or high; alerts wait for a price between the two.
const low, between, high = 100, 100.5, 101

// price writes the file of bars, whose last bar is forming and is at p. The file is
// replaced in one step, because wick may read it at any moment. It reads bars of a minute
// every second.
func (t *notifyRun) price(p int) error {
	minute := time.Now().Truncate(time.Minute).Unix()
	text := fmt.Sprintf("time,open,high,low,close\n%d,%d,%[2]d,%[2]d,%[2]d\n%d,%d,%[4]d,%[4]d,%[4]d\n", minute-60, low+high-p, minute, p)
	next := filepath.Join(t.dir, "next")
	return errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Rename(next, filepath.Join(t.dir, "BTCUSDT-1m.csv")))
}

// arrived waits until every destination has every alert of a life.
func (t *notifyRun) arrived(round int) error {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		missing := 0
		for _, r := range t.receivers {
			n, err := r.lacks(round)
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

// fireAndKill sets a thousand alerts, moves the price past all of them, and kills
// the process in the middle of what follows.
func (t *notifyRun) fireAndKill(p *harness.Process, round int) error {
	condition, to := map[string]any{"price_above": between}, high
	if round%2 == 1 {
		condition, to = map[string]any{"price_below": between}, low
	}
	var setting errgroup.Group
	const clients = 4
	for c := range clients {
		client, err := login(p.Base, fmt.Sprint("setter", c))
		if err != nil {
			return err
		}
		setting.Go(func() error {
			for i := c; i < firings; i += clients {
				var alert struct{}
				err := client.call("set_alert", map[string]any{"symbol": "BTCUSDT", "condition": condition, "note": fmt.Sprintf("r%d-%d", round, i)}, &alert)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := errors.Join(setting.Wait(), t.price(to)); err != nil {
		return err
	}
	err := t.wait(round)
	p.Kill()
	t.before = append(t.before, t.messages(round))
	return err
}

// wait returns while the messages of a life arrive: at every fifth call when the first has
// arrived, otherwise at a random moment.
func (t *notifyRun) wait(round int) error {
	part := 1
	if round%5 != 0 {
		part += t.rng.IntN(firings * len(t.receivers) * 9 / 10)
	}
	for deadline := time.Now().Add(5 * time.Minute); t.messages(round) < part; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d messages came, and no more", t.messages(round))
		}
	}
	return nil
}

// messages returns how many of a life's messages have come, at all destinations.
func (t *notifyRun) messages(round int) (n int) {
	for _, r := range t.receivers {
		r.mu.Lock()
		n += r.came[round]
		r.mu.Unlock()
	}
	return n
}
