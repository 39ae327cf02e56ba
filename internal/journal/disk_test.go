package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// fullDisk is a directory that has no room left for the next write.
type fullDisk struct {
	*journaltest.Disk
	full bool
}

type fullFile struct {
	journal.File
	disk *fullDisk
}

func (d *fullDisk) Create(name string) (journal.File, error) {
	f, err := d.Disk.Create(name)
	return &fullFile{f, d}, err
}

func (d *fullDisk) Open(name string) (journal.File, error) {
	f, err := d.Disk.Open(name)
	return &fullFile{f, d}, err
}

func (f *fullFile) Write(b []byte) (int, error) {
	if f.disk.full {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	return f.File.Write(b)
}

// TestDiskFull: nothing is acknowledged that is not on disk, and after room was
// made a start has all that was.
func TestDiskFull(t *testing.T) {
	d := &fullDisk{Disk: journaltest.NewDisk()}
	j, _, err := open(d, journal.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(j, 1, "one"); err != nil {
		t.Fatal(err)
	}
	d.full = true
	for range 2 {
		if err := write(j, 2, "two"); !errors.Is(err, journal.ErrStorage) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room") {
			t.Errorf("record on a full disk: %v", err)
		}
		d.full = false // room does not bring it back: the file's end is in doubt
	}
	if err := j.Broken(); !errors.Is(err, journal.ErrStorage) {
		t.Errorf("the journal is not broken: %v", err)
	}
	if err := j.Close(); !errors.Is(err, journal.ErrStorage) {
		t.Errorf("Close after the failure: %v", err)
	}
	if s, err := load(d, false); err != nil || s.String() != "one" {
		t.Errorf("start after the failure: %v, %v", s, err)
	}
}

// readOnlyDisk refuses all writes, as a read-only file system does.
type readOnlyDisk struct{ *journaltest.Disk }

func (readOnlyDisk) Create(string) (journal.File, error) {
	return nil, fmt.Errorf("create: %w", syscall.EROFS)
}

func (readOnlyDisk) Open(string) (journal.File, error) {
	return nil, fmt.Errorf("open: %w", syscall.EROFS)
}

func TestReadOnly(t *testing.T) {
	stored, want := smallStore(t)
	for _, d := range []*journaltest.Disk{journaltest.NewDisk(), stored} {
		if _, _, err := open(readOnlyDisk{d}, journal.FileOptions{}); !errors.Is(err, syscall.EROFS) {
			t.Errorf("start on a read-only directory: %v", err)
		}
	}
	if s, err := load(stored, false); err != nil || s.String() != want {
		t.Errorf("start after it became writable: %v", err)
	}
}

// openDir opens a directory of the operating system for the length of the test.
func openDir(t *testing.T, name string) *journal.Dir {
	t.Helper()
	d, err := journal.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestOthersFilesStay: the directory is the owner's; a start removes the
// unfinished files of a crash and nothing else, whatever it is called.
func TestOthersFilesStay(t *testing.T) {
	dir := t.TempDir()
	stay := []string{"thesis.tmp", "subscriptions.json.tmp", "snapshot-01.state.tmp", "snapshot-x.state.tmp", "journal-x.wal.tmp"}
	for _, name := range append(stay, "snapshot-3.state.tmp", "journal-7.idx.tmp", "journal-2.wal.tmp") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{"folder.tmp", "snapshot-4.state.tmp"}
	for _, name := range folders {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	j, _, err := open(openDir(t, dir), journal.FileOptions{MaxRecords: 1})
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(5) { // five rotations
		if err := write(j, seq+1, "text"); err != nil && seq != 2 {
			break // a folder stands where a snapshot should be written: an error, no harm
		}
	}
	for _, name := range append(stay, folders...) {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	for _, name := range []string{"snapshot-3.state.tmp", "journal-7.idx.tmp", "journal-2.wal.tmp"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s, which a crash left, is still there", name)
		}
	}
}

// TestNoSymlinks: somebody who can put a link into the directory must not be able to make
// us empty, write or read the file behind it.
func TestNoSymlinks(t *testing.T) {
	for _, name := range []string{"lock", journal1, journal1 + ".tmp", snapshot1 + ".tmp"} {
		t.Run(name, func(t *testing.T) {
			dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
			if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(precious, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			d, err := journal.OpenDir(dir)
			if err == nil {
				defer d.Close()
				_, _, err = open(d, journal.FileOptions{})
			}
			if err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("a link in place of %s: %v", name, err)
			}
			if text, err := os.ReadFile(precious); err != nil || string(text) != "precious" {
				t.Errorf("the file behind the link has %q, %v", text, err)
			}
		})
	}
}
