package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// TestMoved moves the directory away while the journal runs; nothing is acknowledged any
// more: what is written to the open files would be lost, and a new directory would be
// another store.
func TestMoved(t *testing.T) {
	for name, move := range map[string]func(dir string) error{
		"deleted": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+"-away") },
		"replaced by a copy": func(dir string) error {
			if err := os.CopyFS(dir+"-copy", os.DirFS(dir)); err != nil {
				return err
			}
			return errors.Join(os.Rename(dir, dir+"-away"), os.Rename(dir+"-copy", dir))
		},
		"lock deleted": func(dir string) error { return os.Remove(filepath.Join(dir, "lock")) },
	} {
		for _, look := range []bool{true, false} { // by the look of each second, or by the next commit
			t.Run(fmt.Sprint(name, look), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testMoved(t, move, look) })
			})
		}
	}
}

// TestJournalDeleted deletes the newest journal file while the journal runs, or puts
// another file in its place; from then on nothing is acknowledged, and nothing that was
// refused is in the file, should somebody put it back.
func TestJournalDeleted(t *testing.T) {
	for name, move := range map[string]func(file string) error{
		"deleted": func(file string) error { return os.Rename(file, file+".gone") },
		"replaced": func(file string) error {
			data, err := os.ReadFile(file)
			return errors.Join(err, os.Rename(file, file+".gone"), os.WriteFile(file, data, 0o600))
		},
	} {
		for _, look := range []bool{true, false} { // by the look of each second, or by the next commit
			t.Run(fmt.Sprint(name, look), func(t *testing.T) { testJournalDeleted(t, move, look) })
		}
	}
}

func testJournalDeleted(t *testing.T, move func(string) error, look bool) {
	d := openDir(t, filepath.Join(t.TempDir(), "state"))
	j, _, err := open(d, journal.FileOptions{})
	if err == nil {
		err = write(j, 1, "one")
	}
	file := d.Path("journal-1.wal")
	if err == nil {
		err = move(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if look {
		if j.Check(); !errors.Is(j.Broken(), journal.ErrMoved) {
			t.Errorf("after a look: %v", j.Broken())
		}
	}
	if err := write(j, 2, "two"); !errors.Is(err, journal.ErrMoved) || errors.Is(err, journal.ErrUnknown) || !strings.Contains(err.Error(), "the newest journal in it, was deleted") {
		t.Errorf("a record: %v", err)
	}
	if err := j.Close(); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("Close: %v", err)
	}
	if err := os.Rename(file+".gone", file); err != nil {
		t.Fatal(err)
	}
	if s, err := load(d, false); err != nil || len(s.texts) != 1 {
		t.Errorf("with the file in its place: %v, %v", s, err)
	}
}

func testMoved(t *testing.T, move func(dir string) error, look bool) {
	dir := filepath.Join(t.TempDir(), "state")
	j, _, err := open(openDir(t, dir), journal.FileOptions{})
	if err == nil {
		err = write(j, 1, "one")
	}
	if j.Check(); err != nil || j.Broken() != nil {
		t.Fatal(err, j.Broken())
	}
	if err := move(dir); err != nil {
		t.Fatal(err)
	}
	before := files(dir)
	if look {
		if j.Check(); !errors.Is(j.Broken(), journal.ErrMoved) {
			t.Errorf("after a look: %v", j.Broken())
		}
	}
	if err := write(j, 2, "two"); !errors.Is(err, journal.ErrMoved) || !errors.Is(err, journal.ErrStorage) || strings.Contains(err.Error(), dir) {
		t.Errorf("a record: %v", err)
	}
	if err := j.Close(); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("Close: %v", err)
	}
	if after := files(dir); after != before {
		t.Errorf("something was written to what is not ours:\n%s\nbefore\n%s", after, before)
	}
}

// files returns the names and contents of a directory.
func files(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", d.Name(), text)
		}
		return nil
	})
	return b.String()
}

// failingFile fails where it is told to, with errors as the system gives them.
type failingFile struct {
	journal.File
	write, sync, truncate error
	part                  int // bytes of a failing write that reach the file
}

func (f *failingFile) Write(b []byte) (int, error) {
	if f.write != nil {
		n, err := f.File.Write(b[:min(f.part, len(b))])
		return n, errors.Join(f.write, err)
	}
	return f.File.Write(b)
}

func (f *failingFile) Sync() error { return errors.Join(f.sync, f.File.Sync()) }

func (f *failingFile) Truncate(n int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.File.Truncate(n)
}

// failingDisk gives out files that can be told to fail.
type failingDisk struct {
	*journaltest.Disk
	file *failingFile // made or opened last: the present journal, if no snapshot was tried since
	next error        // what the files made from now on fail with
}

func (d *failingDisk) Create(name string) (journal.File, error) {
	f, err := d.Disk.Create(name)
	return d.newest(f, d.next), err
}

func (d *failingDisk) Open(name string) (journal.File, error) {
	f, err := d.Disk.Open(name)
	return d.newest(f, nil), err
}

// newest makes f the file that can be told to fail.
func (d *failingDisk) newest(f journal.File, fails error) *failingFile {
	d.file = &failingFile{File: f, write: fails}
	return d.file
}

// pathError is an error of the system that names a file of the owner's.
func pathError(op string, err error) error {
	return &fs.PathError{Op: op, Path: "/home/ada/.wick/journal-1.wal", Err: err}
}

// TestUnknown: after a failed sync nobody knows whether the record is on disk; the error
// of its writer says so, in one line and without the owner's paths. Later writers are
// only refused.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name                  string
		write, sync, truncate error
		unknown               bool
	}{
		{"write", pathError("write", syscall.EIO), nil, nil, false},
		{"write and truncate", pathError("write", syscall.EIO), nil, pathError("truncate", syscall.EIO), true},
		{"write, and the sync of the cut", pathError("write", syscall.EIO), pathError("sync", syscall.EIO), nil, true},
		{"sync", nil, pathError("sync", syscall.EIO), nil, true},
		{"sync and truncate", nil, pathError("sync", syscall.EIO), pathError("truncate", syscall.EIO), true},
	} {
		d := &failingDisk{Disk: journaltest.NewDisk()}
		j, _, err := open(d, journal.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d.file.write, d.file.sync, d.file.truncate = c.write, c.sync, c.truncate
		err = write(j, 1, "one")
		if !errors.Is(err, journal.ErrStorage) || errors.Is(err, journal.ErrUnknown) != c.unknown || strings.HasPrefix(err.Error(), "outcome unknown: storage failed: input/output error") != c.unknown {
			t.Errorf("%s: %v; want it unknown: %t", c.name, err, c.unknown)
		}
		later := write(j, 2, "two")
		if !errors.Is(later, journal.ErrStorage) || strings.Contains(later.Error(), "unknown") {
			t.Errorf("%s, and then: %v", c.name, later)
		}
		if both := err.Error() + later.Error(); strings.Contains(both, "\n") || strings.Contains(both, "ada") {
			t.Errorf("%s: a client reads %q", c.name, both)
		}
	}
}

// TestRefusedStaysRefused: the write of two records fails when a part of it is in
// the file. Both are refused, so the next start must find neither, although the
// first of them may be there whole. What was good before stays.
func TestRefusedStaysRefused(t *testing.T) {
	frame, _ := journal.AppendRecords(nil, 2, journal.Hash{}, []journal.Record{newNote(t, "refused")})
	size := len(frame)
	for what, part := range map[string]int{
		"half a record":        size / 2,
		"one record":           size,
		"one record and a bit": size + 20,
		"both records":         2 * size,
	} {
		d := &failingDisk{Disk: journaltest.NewDisk()}
		j, _, err := open(d, journal.FileOptions{})
		if err == nil {
			err = write(j, 1, "done")
		}
		if err != nil {
			t.Fatal(err)
		}
		d.file.write, d.file.part = syscall.EIO, part
		for seq := uint64(2); seq <= 3; seq++ {
			if err := j.Append(seq, newNote(t, "refused")); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Commit(3); !errors.Is(err, journal.ErrStorage) || errors.Is(err, journal.ErrUnknown) {
			t.Errorf("%s: %v; want it refused", what, err)
		}
		if s, err := load(d.Disk, false); err != nil || s.String() != "done" {
			t.Errorf("%s was written: the next start finds %q, %v", what, s, err)
		}
	}
}

// TestAdvice: the refusal of a record, and for a snapshot the log, say what the owner can
// do. A snapshot that could not be written changes nothing: records are still written,
// and the snapshot is tried again.
func TestAdvice(t *testing.T) {
	for errno, says := range map[syscall.Errno]string{
		syscall.ENOSPC: "make room", syscall.EDQUOT: "quota", syscall.EROFS: "read-only",
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			d := &failingDisk{Disk: journaltest.NewDisk()}
			s := new(notes)
			out := slog.New(slog.NewTextHandler(&log, nil))
			j, err := journal.Open(journal.NewFiles(d, journal.FileOptions{MaxRecords: 2}, out), s, out)
			if err != nil {
				t.Fatal(err)
			}
			d.next = pathError("write", errno)
			for seq := uint64(1); seq <= 3; seq++ {
				if err := write(j, seq, "text"); err != nil {
					t.Fatalf("record %d beside a snapshot that fails: %v", seq, err)
				}
			}
			if !strings.Contains(log.String(), says) || d.Files["snapshot-2.state"] != nil || d.Files["snapshot-2.state.tmp"] != nil {
				t.Errorf("%v: the log says\n%s", errno, log.String())
			}
			d.next = nil
			time.Sleep(time.Second)
			if err := write(j, 4, "text"); err != nil || d.Files["snapshot-2.state"] == nil {
				t.Errorf("%v is over, and there is no snapshot: %v", errno, err)
			}
			d.file.write = pathError("write", errno)
			if err := write(j, 5, "text"); !errors.Is(err, errno) || !strings.Contains(err.Error(), says) {
				t.Errorf("record: %v, want %q", err, says)
			}
			if s, err := load(d.Disk, false); err != nil || s.seq != 4 {
				t.Errorf("start after it: %v, %v", s, err)
			}
		})
	}
}

// panicky panics at a certain note.
type panicky struct{ notes }

func (s *panicky) Apply(seq uint64, kind byte, event any) error {
	if event.(*note).Text == "panic" {
		panic("a fault")
	}
	return s.notes.Apply(seq, kind, event)
}

// TestPanicInCommit: a panic in the owner's code while a group is committed does not end
// the process. All callers that wait get an error, and the journal accepts nothing more.
// Without that, all later writers would wait for ever.
func TestPanicInCommit(t *testing.T) {
	j, err := journal.Open(journal.NewFiles(journaltest.NewDisk(), journal.FileOptions{}, discard), new(panicky), discard)
	if err != nil {
		t.Fatal(err)
	}
	for seq, text := range []string{"one", "panic", "three"} {
		r, err := journal.NewRecord(kindNote, &note{text})
		if err == nil {
			err = j.Append(uint64(seq)+1, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var writers sync.WaitGroup
	for seq := range uint64(3) {
		writers.Go(func() {
			if err := j.Commit(seq + 1); !errors.Is(err, journal.ErrUnknown) || strings.Contains(err.Error(), "\n") {
				t.Errorf("commit of record %d: %v", seq+1, err)
			}
		})
	}
	writers.Wait()
	if err := j.Broken(); !errors.Is(err, journal.ErrStorage) || !strings.Contains(err.Error(), "a fault") {
		t.Errorf("the journal says %v", err)
	}
}

// TestNewDirectory: a directory is made with those above it, and names its files.
func TestNewDirectory(t *testing.T) {
	d := openDir(t, filepath.Join(t.TempDir(), "a", "b", "c"))
	if err := d.Probe(); err != nil {
		t.Error(err)
	}
	if names, err := d.List(); err != nil || len(names) != 1 || names[0] != "lock" {
		t.Errorf("%q, %v; want the lock alone", names, err)
	}
}
