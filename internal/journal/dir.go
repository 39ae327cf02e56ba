package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"wick/internal/limit"
)

// Dir is a directory of the operating system that this process alone uses. It opens no
// file through a symbolic link: the file behind it may belong to somebody else, and must
// not be emptied or written. Nor does it open what is no file: see [OpenRegular].
type Dir struct {
	ReadOnly
	self *os.File // the directory, kept open so that a sync of it needs no descriptor
	lock *os.File // the lock file, locked until Close
}

// Files of the directory that are not the journal's.
const (
	lockName  = "lock"
	probeName = "probe.tmp"
)

// Prepare makes the directory, for its owner alone, if it does not exist. A directory that
// is there is used as it is, its mode included, if it is empty or an earlier wick's: any
// other is refused, so that a mistyped name does not mix a store into somebody's files.
func Prepare(name string) error {
	err := makeDir(name)
	if err == nil {
		err = refuseForeign(name)
	}
	if err != nil {
		return fmt.Errorf("state directory: %w", readError(name, err))
	}
	return nil
}

// ErrForeign is the error of a directory with files in it that are not of wick.
var ErrForeign = errors.New("the directory has files that are not of wick")

// refuseForeign returns an error if a directory has files and none of them is wick's. It ignores
// lost+found, which a new file system has, and HALT, which the owner may put there before the
// first start. A file called lock that has content belongs to another program. An empty one
// proves nothing, since many programs have one; but beside it the few files count as wick's that
// are left by a wick which ended early, or which keeps no journal here.
func refuseForeign(name string) error {
	names, err := ReadOnly(name).List()
	lock, none := os.Lstat(filepath.Join(name, lockName))
	locked, foreign := none == nil && (lock.Size() == 0 || !lock.Mode().IsRegular()), "" // one that is no file is refused when it is locked
	for _, n := range names {
		bare := strings.TrimSuffix(n, unfinished)
		switch {
		case n == "wick.sock" || strings.HasPrefix(n, "journal-") || strings.HasPrefix(n, "snapshot-"):
			return nil
		case n == "lost+found" || n == "HALT" || n == lockName && locked:
		case locked && (n == probeName || bare == "subscriptions.json" || bare == "ledger.json"):
		case n == "logins" && refuseForeign(filepath.Join(name, n)) == nil:
			if _, err := os.Lstat(filepath.Join(name, n, "ledger.json")); err == nil {
				return nil
			}
		default:
			foreign = n
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: %s has %s; choose a new or an empty one", ErrForeign, name, limit.Clip(foreign))
	}
	return err
}

// OpenWithin is OpenDir for a directory within one of ours. It does not follow a symbolic
// link in its place: the directory behind that may belong to somebody else.
func OpenWithin(dir, name string) (*Dir, error) {
	path := filepath.Join(dir, name)
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, fmt.Errorf("state directory: %w", readError(path, syscall.ELOOP))
	}
	return OpenDir(path)
}

// OpenDir prepares the directory, see [Prepare], and takes its lock.
// The kernel frees the lock when the process ends, however it ends. The lock file itself is
// never removed: otherwise two processes could hold locks on two files of the same name.
func OpenDir(name string) (*Dir, error) {
	if err := Prepare(name); err != nil {
		return nil, err
	}
	self, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", readError(name, err))
	}
	lock, err := takeLock(filepath.Join(name, lockName))
	if err != nil {
		self.Close()
		if errors.Is(err, ErrHeld) {
			return nil, fmt.Errorf("state directory %s: %w; stop that one or choose another directory", name, ErrHeld)
		}
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	return &Dir{ReadOnly(name), self, lock}, nil
}

// Free returns an error that wraps ErrHeld if another process uses a directory. It
// changes nothing, so it also works on a read-only file system.
func Free(name string) error {
	if errors.Is(tryLock(filepath.Join(name, lockName)), ErrHeld) {
		return fmt.Errorf("state directory %s: %w; stop that one first", name, ErrHeld)
	}
	return nil // what else is wrong with the directory shows when it is read
}

// makeDir makes a directory and those above it, and syncs the names of all that were
// missing: otherwise a power cut could undo a new directory with the store in it.
func makeDir(name string) error {
	var above []string
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	for _, dir := range above {
		f, err := os.Open(dir)
		if err == nil {
			err = errors.Join(syncDir(f), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Held returns an error if the lock file that this process has locked is no longer the
// one under its name, or if f is no longer the file called name.
func (d *Dir) Held(name string, f File) error {
	if same, err := d.same(lockName, d.lock); !same || err != nil {
		return cmp.Or(err, ErrMoved)
	}
	if f, ok := f.(*os.File); ok {
		if same, err := d.same(name, f); !same || err != nil {
			return cmp.Or(err, ErrMoved)
		}
	}
	return nil
}

// same reports whether the file under a name is f.
func (d *Dir) same(name string, f *os.File) (bool, error) {
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(d.Path(name))
	return err == nil && os.SameFile(ours, there), nil
}

// probeSize is how many bytes must be free before a start is tried: enough for a first
// journal and the snapshot of a small store.
const probeSize = 512 << 10

// Probe writes some bytes and removes them again, to find out whether a start could
// write to the disk.
func (d *Dir) Probe() error {
	if err := d.Held("", nil); err != nil {
		return err
	}
	f, err := d.Create(probeName)
	if err != nil {
		return err
	}
	return errors.Join(WriteSynced(f, make([]byte, probeSize)), f.Close(), d.Remove(probeName))
}

// Close frees the lock, and with it the directory.
func (d *Dir) Close() error { return errors.Join(d.self.Close(), d.lock.Close()) }

// Create returns an empty file whose name is on disk.
func (d *Dir) Create(name string) (File, error) {
	f, err := openFile(d.Path(name), os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	if err := syncDir(d.self); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open returns an existing file for appending.
func (d *Dir) Open(name string) (File, error) {
	f, err := openFile(d.Path(name), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename gives a file another name; the change is on disk when it returns.
func (d *Dir) Rename(from, to string) error {
	if err := os.Rename(d.Path(from), d.Path(to)); err != nil {
		return err
	}
	return syncDir(d.self)
}

// Remove deletes a file; it refuses to delete anything else.
func (d *Dir) Remove(name string) error {
	info, err := os.Lstat(d.Path(name))
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file and is left alone", d.Path(name))
	}
	return os.Remove(d.Path(name))
}

// OpenRegular opens a file as [os.OpenFile] does, and refuses what is no regular file
// before it is opened: to open a pipe waits for its other end, and no signal ends that. A
// file that it makes is for this user alone.
func OpenRegular(name string, flags int) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return os.OpenFile(name, flags, 0o600)
}

// ReadOnly is a directory that is read without taking its lock, possibly while another
// process uses it.
type ReadOnly string

// Path returns the full name of a file.
func (d ReadOnly) Path(name string) string { return filepath.Join(string(d), name) }

// List returns the names of all files and folders.
func (d ReadOnly) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, readError(string(d), err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// ReadAt reads a part of a file.
func (d ReadOnly) ReadAt(name string, b []byte, at int64) (int, error) {
	f, err := openFile(d.Path(name), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(b, at)
}

// openFile opens what is a regular file and no symbolic link.
func openFile(path string, flags int) (*os.File, error) {
	f, err := OpenRegular(path, flags|noFollow)
	return f, readError(path, err)
}

// Read returns the content of a file.
func (d ReadOnly) Read(name string) ([]byte, error) {
	path := d.Path(name)
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxReplay {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", path, info.Size(), maxReplay)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) { // the file became shorter meanwhile
		err = nil
	}
	return data[:n], readError(path, err)
}

// maxReplay is how many bytes of one file a start reads.
const maxReplay = 1 << 30
