//go:build !core

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/market"
	"wick/notify"
	"wick/trade"
)

// TestVerify: a head that was written down is found in the history as it grows,
// and no longer once the last records were cut off cleanly; what is damaged ends
// in an error that names the file.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append([]string{"--data-dir", dir, "audit"}, args...), func(string) string { return "" }, strings.NewReader(""), &out, io.Discard)
		return out.String(), err
	}
	if _, err := run("verify"); err == nil || !strings.Contains(err.Error(), "there is no journal") {
		t.Errorf("an empty directory: %v", err)
	}
	live := func() {
		e, err := trade.Open(trade.Options{Dir: dir})
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	live()
	head, err := run("head")
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{64}\n$`).MatchString(head) {
		t.Fatalf("head %q, %v", head, err)
	}
	head = strings.TrimSpace(head)
	live()
	for _, args := range [][]string{{"verify", head}, {"verify", head, "--data-dir", dir}} {
		out, err := run(args...)
		if err != nil || !strings.Contains(out, "sound: records 1 to 2 in 3 journal files") || !strings.Contains(out, "found: "+head+" stands after record 1 in journal-2.wal") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	later, err := run("head")
	if err != nil {
		t.Fatal(err)
	}
	cutLast(t, dir)
	if out, err := run("verify"); err != nil {
		t.Errorf("after a clean cut: %v\n%s", err, out)
	}
	if _, err := run("verify", strings.TrimSpace(later)); err == nil || !strings.Contains(err.Error(), "is not in this history") {
		t.Errorf("a head that was cut off: %v", err)
	}
	if _, err := run("verify", strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "is not in this history") {
		t.Errorf("a hash of zeros: %v", err)
	}
	for _, args := range [][]string{{"verify", "abc"}, {"verify", head, "more"}} {
		if _, err := run(args...); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	name := filepath.Join(dir, "journal-1.wal")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"verify"}, {"head"}} {
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), name+" at byte ") {
			t.Errorf("%q of a damaged file: %v", args, err)
		}
	}
}

// TestVerifyTellsAll: everything that is wrong is told, not only the first. After a
// recovery the history is sound, and says that it is incomplete.
func TestVerifyTellsAll(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		e, err := trade.Open(trade.Options{Dir: dir})
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append(args, "--data-dir", dir), func(string) string { return "" }, strings.NewReader(""), &out, io.Discard)
		return out.String(), err
	}
	first, third := filepath.Join(dir, "journal-1.wal"), filepath.Join(dir, "journal-3.wal")
	text, err := os.ReadFile(third)
	if err == nil {
		text[len(text)/2] ^= 1
		err = errors.Join(os.Remove(first), os.WriteFile(third, text, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := run("audit", "verify")
	if err == nil || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), "and 1 more") || !strings.Contains(out, third+" at byte ") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	out, err = run("--recover")
	if err != nil || !strings.Contains(out, "history: "+first) || !strings.Contains(out, "history: "+third) || !strings.Contains(out, "given up: no open order") {
		t.Errorf("--recover: %v\n%s", err, out)
	}
	e, err := trade.Open(trade.Options{Dir: dir, Recover: func(trade.Recovery) error { return nil }})
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err = run("audit", "verify")
	if err != nil || !strings.Contains(out, "incomplete: records are missing in 2 places") || !strings.Contains(out, "sound: ") {
		t.Errorf("verify after the recovery: %v\n%s", err, out)
	}
}

// cutLast removes the newest generation, and the record of the one before it
// that says so: what is left is sound.
func cutLast(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"journal-3.wal", "snapshot-3.state"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "journal-2.wal")
	text, err := os.ReadFile(name)
	if err == nil {
		at := bytes.LastIndex(text, []byte(`{"next":3}`))
		err = os.WriteFile(name, text[:at-8-9-32], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestHashToOwner: the owner gets the newest hash of the journal when a store begins, and at
// each planned stop one of all that was written. After the journal is cut at half a start
// only warns and a check alone finds nothing; with the hash of the message it does.
func TestHashToOwner(t *testing.T) {
	t.Parallel()
	receiver := newHook(t)
	dir := t.TempDir()
	args := []string{"--trade", "--data-dir", dir, "--notify-file", destinations(t, "hook webhook "+receiver.URL+" allow-private")}
	verify := func(more ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append([]string{"--data-dir", dir, "audit", "verify"}, more...), env(), nil, &out, io.Discard)
		return out.String(), err
	}
	// hashes returns those of all messages so far.
	hashes := func() (all []string) {
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for _, got := range receiver.got {
			var detail struct {
				Record uint64
				Hash   string
			}
			if got.Type != "journal" {
				continue
			}
			if err := json.Unmarshal(got.Data.Detail, &detail); err != nil || !strings.HasPrefix(got.Data.Text, fmt.Sprintf("%s is the hash of the journal after record %d", detail.Hash, detail.Record)) {
				t.Errorf("%+v %s: %v", got, got.Data.Detail, err)
			}
			all = append(all, detail.Hash)
		}
		return all
	}
	h := start(t, args...)
	token := h.login(t)
	receiver.await("journal")
	for n := range 3 {
		h.call(t, token, "place_order", fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.0%d"}`, n+1))
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	told := hashes()
	if len(told) != 2 {
		t.Fatalf("%d messages with a hash, want one at the start and one at the stop: %q", len(told), told)
	}
	last := told[1]
	if !strings.Contains(h.log.String(), "hash="+last) {
		t.Errorf("the log of the stop has no %s:\n%s", last, h.log)
	}
	if out, err := verify(); err != nil || !strings.Contains(out, ", hash "+last) {
		t.Errorf("the hash of the stop is not the newest, %v:\n%s", err, out)
	}
	for _, hash := range told {
		if out, err := verify(hash); err != nil || !strings.Contains(out, "found: "+hash) {
			t.Errorf("%v\n%s", err, out)
		}
	}
	// A stop begins a new generation. Without it, the journal before is the newest.
	first := filepath.Join(dir, "journal-1.wal")
	info, err := os.Stat(first)
	if err == nil {
		err = errors.Join(os.Remove(filepath.Join(dir, "journal-2.wal")), os.RemoveAll(filepath.Join(dir, "journal-1.idx")), os.Remove(filepath.Join(dir, "snapshot-2.state")), os.Truncate(first, info.Size()/2))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verify(); err != nil {
		t.Errorf("a check without the hash: %v\n%s", err, out)
	}
	if out, err := verify(last); err == nil || !strings.Contains(err.Error(), "is not in this history") {
		t.Errorf("with it: %v\n%s", err, out)
	}
	h = start(t, args...)
	if err := h.stop(); err != nil || !strings.Contains(h.log.String(), "journal ends in an unfinished write") {
		t.Errorf("a start: %v\n%s", err, h.log)
	}
	if out, err := verify(last); err == nil || !strings.Contains(err.Error(), "is not in this history") {
		t.Errorf("after a start: %v\n%s", err, out)
	}
}

// TestHashOnceADay: the hash is told once a day, over restarts too.
func TestHashOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		destinations, err := notify.Parse([]byte("hook webhook https://example.com kinds=fill")) // nothing is sent: what was told is in the journal
		if err != nil {
			t.Fatal(err)
		}
		c := &config{trade: true, dataDir: t.TempDir(), source: "sample", engine: trade.Options{Symbols: []string{"BTCUSDT"}, Intervals: []market.Interval{market.Hour1}}, messageConfig: messageConfig{destinations}}
		start := time.Now()
		for range 7 {
			logs := newLoggers(io.Discard, "text")
			e, err := openApp(t.Context(), c, market.Sample{}, logs)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Hour)
			var g errgroup.Group
			g.Go(func() error { return e.messages.Run(ctx) })
			g.Go(func() error { return e.messages.watchHealth(ctx) })
			if err := e.close(g.Wait()); err != nil {
				t.Fatal(err)
			}
			cancel()
			logs.flush()
		}
		var out bytes.Buffer
		if err := trade.Audit(c.dataDir, &out); err != nil {
			t.Fatal(err)
		}
		var days []int
		for _, told := range regexp.MustCompile(`"at":"([^"]+)","kind":"journal"`).FindAllStringSubmatch(out.String(), -1) {
			at, err := time.Parse(time.RFC3339, told[1])
			if err != nil {
				t.Error(err)
			}
			days = append(days, int(at.Sub(start).Round(time.Minute).Hours()))
		}
		if !slices.Equal(days, []int{0, 24, 48}) {
			t.Errorf("within 49 hours it was told after %d hours", days)
		}
	})
}

// TestAuditWords: what wick audit does not know is refused.
func TestAuditWords(t *testing.T) {
	for _, args := range []string{"audit heads", "audit head abc", "audit verify a b", "head"} {
		if err := Run(t.Context(), strings.Fields(args), env("HOME", t.TempDir()), nil, io.Discard, io.Discard); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line", args, err)
		}
	}
}
