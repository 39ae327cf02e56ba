//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal"
	"wick/market"
	"wick/sse"
	"wick/trade"
)

// noRoom lets no file of the process grow beyond 256 KiB, until the function that
// it returns is called. The test's own log is shorter.
func noRoom(t *testing.T) (room func()) {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Fatal(err)
	}
	room = func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }
	t.Cleanup(room)
	return room
}

// TestExitWhenBroken: with the flag the process ends once the journal is broken
// and a new start would help. As long as the disk takes nothing, or if the
// directory is gone, it stays: a start would fail, or begin with an empty book.
func TestExitWhenBroken(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit then fails, and is no end
	defer signal.Reset(syscall.SIGXFSZ)
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string) (mend func())
		ends bool
	}{
		"no room":        {func(t *testing.T, _ string) func() { return noRoom(t) }, true},
		"directory gone": {func(t *testing.T, dir string) func() { os.RemoveAll(dir); return func() {} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "state")
				engine, err := trade.Open(trade.Options{Dir: dir, Source: market.Sample{}})
				if err != nil {
					t.Fatal(err)
				}
				defer engine.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- (&app{trade: engine}).endWhenBroken(ctx) }()
				time.Sleep(10 * time.Second)
				mend := c.harm(t, dir)
				var long trade.Filter // so that few steps fill the journal
				for i := range 100 {
					long.Symbols = append(long.Symbols, fmt.Sprintf("BTC%03dUSDT", i))
				}
				for i := 0; err == nil && i < 5000; i++ { // until the journal is too long
					_, err = engine.Subscribe(sse.Caller{ID: "caller", Client: "client"}, long)
				}
				if !errors.Is(err, journal.ErrStorage) {
					t.Errorf("a step on a broken disk: %v", err)
				}
				time.Sleep(10 * time.Second)
				if len(ended) > 0 {
					t.Error("it ended although a new start would not help")
				}
				mend()
				err = <-ended // at the latest when the minute is over
				if c.ends && (err == nil || !strings.Contains(err.Error(), "--exit-when-broken")) || !c.ends && err != nil {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// TestExitWhenBrokenDefault: under systemd the flag is on unless it is set.
func TestExitWhenBrokenDefault(t *testing.T) {
	for _, c := range []struct {
		env  []string
		args []string
		want bool
	}{
		{nil, nil, false},
		{[]string{"INVOCATION_ID", "8f3c"}, nil, true},
		{[]string{"NOTIFY_SOCKET", "/run/systemd/notify"}, nil, true},
		{[]string{"INVOCATION_ID", "8f3c"}, []string{"--exit-when-broken=false"}, false},
		{[]string{"INVOCATION_ID", "8f3c", "WICK_EXIT_WHEN_BROKEN", "false"}, nil, false},
		{[]string{"WICK_EXIT_WHEN_BROKEN", "true"}, nil, true},
	} {
		if got := parse(t, env(append(c.env, "HOME", "/home/ada")...), c.args...).exitWhenBroken; got != c.want {
			t.Errorf("%q %q: %t, want %t", c.env, c.args, got, c.want)
		}
	}
}
