package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wick/trade"
)

// TestVerify: a head that was written down is found in the history as it grows,
// and no longer once the last records were cut off cleanly; what is damaged ends
// in an error that names the file.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append([]string{"--data-dir", dir, "--audit"}, args...), func(string) string { return "" }, strings.NewReader(""), &out, io.Discard)
		return out.String(), err
	}
	if _, err := run("--verify"); err == nil || !strings.Contains(err.Error(), "there is no journal") {
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
	head, err := run("--head")
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{64}\n$`).MatchString(head) {
		t.Fatalf("head %q, %v", head, err)
	}
	head = strings.TrimSpace(head)
	live()
	for _, args := range [][]string{{"--verify", head}, {"--verify=" + head}, {"--verify", head, "--data-dir", dir}} {
		out, err := run(args...)
		if err != nil || !strings.Contains(out, "sound: records 1 to 2 in 3 journal files") || !strings.Contains(out, "found: "+head+" stands after record 1 in journal-2.wal") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	later, err := run("--head")
	if err != nil {
		t.Fatal(err)
	}
	cutLast(t, dir)
	if out, err := run("--verify"); err != nil {
		t.Errorf("after a clean cut: %v\n%s", err, out)
	}
	if _, err := run("--verify", strings.TrimSpace(later)); !errors.Is(err, errNotFound) {
		t.Errorf("a head that was cut off: %v", err)
	}
	if _, err := run("--verify", strings.Repeat("0", 64)); !errors.Is(err, errNotFound) {
		t.Errorf("a hash of zeros: %v", err)
	}
	for _, args := range [][]string{{"--verify", "abc"}, {"--verify", head, "more"}} {
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
	for _, args := range [][]string{nil, {"--verify"}, {"--head"}} {
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
	out, err := run("--audit", "--verify")
	if err == nil || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), "and 1 more") || !strings.Contains(out, third+" at byte ") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	out, err = run("--recover")
	if err != nil || !strings.Contains(out, "history: "+first) || !strings.Contains(out, "history: "+third) || !strings.Contains(out, "given up: no order") {
		t.Errorf("--recover: %v\n%s", err, out)
	}
	e, err := trade.Open(trade.Options{Dir: dir, Recover: func(trade.Recovery) error { return nil }})
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err = run("--audit", "--verify")
	if err != nil || !strings.Contains(out, "incomplete: 2 journals") || !strings.Contains(out, "sound: ") {
		t.Errorf("verify after the recovery: %v\n%s", err, out)
	}
}

// cutLast removes the newest generation, and the record of the one before it
// that says so: what is left is sound.
func cutLast(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"journal-3.wal", "snapshot-3.json"} {
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

// TestAuditFlags: without --audit, the error says that --head and --verify belong to it.
func TestAuditFlags(t *testing.T) {
	for _, flag := range []string{"--head", "--verify"} {
		if err := Run(t.Context(), []string{flag}, func(string) string { return "" }, nil, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "belong to --audit") {
			t.Errorf("%s alone: %v", flag, err)
		}
	}
}
