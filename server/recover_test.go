package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/trade"
)

// TestShowRecovery: --recover alone shows what can be kept, changes no file and
// ends well; =yes needs --trade, because it goes on to serve.
func TestShowRecovery(t *testing.T) {
	dir := t.TempDir()
	e, err := trade.Open(trade.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "snapshot-2.state")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[30] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append(args, "--data-dir", dir), env, strings.NewReader(""), &out, io.Discard)
		return out.String(), err
	}
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := run("--recover")
		if err != nil || !strings.Contains(out, "kept: 0 orders") || !strings.Contains(out, "damaged: snapshot-2.state") || !strings.Contains(out, "given up: nothing, the journals hold all") || !strings.Contains(out, "nothing was changed") {
			t.Errorf("--recover: %v\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
		t.Error("--recover made a file: it would fail in a directory that is only read")
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the damaged file was touched: %v", err)
	}
	if _, err := run("--recover=yes"); err == nil || !strings.Contains(err.Error(), "add --trade") {
		t.Errorf("--recover=yes without --trade: %v", err)
	}
	if _, err := run("--recover=perhaps"); err == nil || !strings.Contains(err.Error(), "--recover=yes") {
		t.Errorf("--recover=perhaps: %v", err)
	}
	dir = filepath.Join(dir, "none")
	if _, err := run("--recover"); err == nil {
		t.Error("a directory that does not exist is recovered")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("--recover made a directory")
	}
}

// TestRecoverBesideRunning: while another wick has the directory, --recover is refused,
// and --recover=yes too: attaching to the other process would recover nothing.
func TestRecoverBesideRunning(t *testing.T) {
	dir := t.TempDir()
	e, err := trade.Open(trade.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, args := range [][]string{{"--recover"}, {"--mcp", "--trade", "--source", "sample", "--recover=yes"}} {
		err := Run(t.Context(), append(args, "--data-dir", dir), func(string) string { return "" }, strings.NewReader(""), io.Discard, io.Discard)
		if !errors.Is(err, journal.ErrHeld) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
