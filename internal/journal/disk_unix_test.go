//go:build unix

package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal"
)

// useUp opens files until the process may open no more, and returns them.
func useUp(t *testing.T) (files []*os.File) {
	t.Helper()
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return files
		}
		files = append(files, f)
	}
}

// lowLimit lets the process open few files for the length of the test.
func lowLimit(t *testing.T) {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) })
}

// TestNoDescriptors: clients can use up all file descriptors. Rotation is put off until
// there are some again, and records go on into the present journal: a crowd does not stop
// trading.
func TestNoDescriptors(t *testing.T) { synctest.Test(t, testNoDescriptors) }

func testNoDescriptors(t *testing.T) {
	lowLimit(t)
	d := openDir(t, t.TempDir())
	j, _, err := open(d, journal.FileOptions{MaxRecords: 3})
	if err != nil {
		t.Fatal(err)
	}
	generation := func() int {
		for n := 9; ; n-- {
			if _, err := os.Lstat(d.Path(fmt.Sprintf("snapshot-%d.state", n))); err == nil {
				return n
			}
		}
	}
	crowd := useUp(t)
	for seq := uint64(1); seq <= 12; seq++ {
		if err := write(j, seq, "text"); err != nil {
			t.Fatalf("record %d: %v", seq, err)
		}
	}
	for _, f := range crowd {
		f.Close()
	}
	time.Sleep(time.Second) // then comes the next try
	before := generation()
	if err := write(j, 13, "text"); err != nil {
		t.Fatal(err)
	}
	if n := generation(); n <= before {
		t.Errorf("generation %d after the crowd has gone, as before", n)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if s, err := load(d, false); err != nil || s.seq != 13 {
		t.Errorf("start: %d records, %v", s.seq, err)
	}
}

// TestNoPipes: to open a pipe waits for its other end, and no signal would end that; in
// place of a file it is refused, and it is not called damage: nothing is known of what the
// file held.
func TestNoPipes(t *testing.T) {
	for _, name := range []string{"lock", journal1, snapshot1, "journal-2.wal", "snapshot-2.state.tmp"} {
		dir := t.TempDir()
		d, err := journal.OpenDir(dir)
		if err == nil {
			_, _, err = open(d, journal.FileOptions{})
		}
		if err = errors.Join(err, d.Close()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		os.Remove(path) // some are there
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error) {
			var damage *journal.DamageError
			if err == nil || !strings.Contains(err.Error(), path+" cannot be used: not a regular file") || errors.As(err, &damage) {
				t.Errorf("a pipe in place of %s: %s gives %v", name, what, err)
			}
		}
		if err := journal.Free(dir); err != nil {
			t.Errorf("a pipe in place of %s: the directory is not free: %v", name, err)
		}
		if _, err := journal.ReadOnly(dir).Read(name); !journal.Unreadable(err) {
			t.Errorf("a pipe in place of %s: Read gives %v", name, err)
		}
		if _, err := journal.ReadOnly(dir).ReadAt(name, nil, 0); !journal.Unreadable(err) {
			t.Errorf("a pipe in place of %s: Open gives %v", name, err)
		}
		if name != "lock" && name != "snapshot-2.state.tmp" { // these are not read
			_, _, err := walk(journal.ReadOnly(dir))
			refused("Walk", err)
		}
		if d, err = journal.OpenDir(dir); err == nil {
			var j *journal.Journal
			if j, _, err = open(d, journal.FileOptions{}); err == nil {
				err = j.Close() // begins the next generation
			}
			d.Close()
		}
		if name == "snapshot-2.state.tmp" && err == nil {
			continue // the snapshot is put off, which loses nothing
		}
		refused("a start and a stop", err)
	}
}
