package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Disk is the state directory as a journal and its owner use it. The real one is
// [Dir]; the tests put one in its place that fails, or loses what was not synced.
type Disk interface {
	// Path returns the full name of a file, for error texts.
	Path(name string) string
	List() ([]string, error)
	Read(name string) ([]byte, error)
	// Create returns an empty file for writing, whose name is on disk.
	Create(name string) (File, error)
	// Open returns an existing file for reading and appending.
	Open(name string) (File, error)
	// Rename is on disk when it returns: without the sync of the directory a
	// power cut may undo it.
	Rename(from, to string) error
	Remove(name string) error
	// Held returns an error that wraps ErrMoved if the directory under its name
	// is not, or no longer, the one that this process has to itself, or if the
	// file under name is not f. A nil f is not looked at.
	Held(name string, f File) error
}

// ErrMoved reports that the state directory was taken away under a running
// process. Whatever is there now must not be written to, and what is written to
// the files still open is lost.
var ErrMoved = errors.New("the data directory was deleted, moved or replaced while wick was running: stop wick, put the directory back, and start again")

// errFileMoved is ErrMoved for one file.
var errFileMoved error = &movedError{"the newest journal was deleted, moved or replaced while wick was running: look into wick's log for its name, " +
	"and where a copy is; stop wick, put it back, and start again"}

// movedError is an ErrMoved with another text.
type movedError struct{ text string }

func (e *movedError) Error() string { return e.text }
func (e *movedError) Unwrap() error { return ErrMoved }

// File is an open file: read anywhere, written at its end.
type File interface {
	io.ReaderAt
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// osFile is a File of the operating system.
type osFile struct{ *os.File }

// Size returns how many bytes the file has.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// WriteAtomic replaces the file called name: a reader, and a start after a
// crash, sees the old content or the new, never a part. The content is synced
// before the rename: the other way round a power cut could leave the new name
// on an empty file. An error that wraps ErrRetry says that nothing has changed;
// after any other, nobody knows which content the file has.
func WriteAtomic(d Disk, name string, data []byte) error {
	f, err := d.Create(name + ".tmp")
	if err != nil {
		return retryable(err)
	}
	if err = cmp.Or(WriteSynced(f, data), f.Close()); err != nil {
		d.Remove(name + ".tmp") // on a full disk the room is needed; else the next start removes it
		return retryable(err)
	}
	return d.Rename(name+".tmp", name)
}

// retryable marks the error of a step that has changed nothing that counts.
func retryable(err error) error { return fmt.Errorf("%w: %w", ErrRetry, err) }

// WriteSynced writes data whole and waits until it is on disk.
func WriteSynced(f File, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// maxReplay is how many bytes of one file a start reads.
const maxReplay = 1 << 30

// errLocked reports that another process holds a lock.
var errLocked = errors.New("locked by another process")

// Dir is a directory of the operating system that this process alone uses. It
// follows no symbolic link in place of a file of its own: what stands behind one
// belongs to somebody else and must not be emptied or written.
type Dir struct {
	name string
	self *os.File // the directory, kept open so that a sync of it needs no descriptor
	lock *os.File // held for life

	mu    sync.Mutex
	spare []*os.File // descriptors to give up when the process has no others left
}

// spares is how many descriptors are kept: a rotation has two files open beside
// the present journal.
const spares = 2

// ErrHeld is the error of a directory that another process has.
var ErrHeld = errors.New("another wick is running on it")

// OpenDir makes the directory if need be and takes its lock, which the kernel
// gives back when the process ends, however it ends. The lock file itself is
// never removed: two processes could then hold locks on two files of one name.
func OpenDir(name string, log *slog.Logger) (*Dir, error) {
	err := makeDir(name)
	if err == nil {
		warnOfOwner(name, log)
		err = os.Chmod(name, 0o700)
	}
	var self *os.File
	if err == nil {
		self, err = os.Open(name)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", readError(name, err))
	}
	lock, err := takeLock(filepath.Join(name, lockName))
	if err == nil {
		keepOwner(lock, self)
	} else {
		self.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("state directory %s: %w; stop that one or choose another directory", name, ErrHeld)
		}
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	if lock.Truncate(0) == nil {
		fmt.Fprintf(lock, "%d\n", os.Getpid()) // for people; the lock is what counts
	}
	d := &Dir{name: name, self: self, lock: lock}
	d.fill()
	return d, nil
}

// Free returns an error that wraps ErrHeld if another process has a directory. It
// changes nothing, so it also works where nothing can be written.
func Free(name string) error {
	if errors.Is(tryLock(filepath.Join(name, lockName)), errLocked) {
		return fmt.Errorf("state directory %s: %w; stop that one first", name, ErrHeld)
	}
	return nil // what else is wrong with the directory shows when it is read
}

// makeDir makes a directory and those above it, and syncs the names of all that
// were missing: a power cut must not take a store away with its directory.
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

// Held compares the lock that this process holds with the one under its name.
// Likewise it compares f with the file called name.
func (d *Dir) Held(name string, f File) error {
	if same, err := d.same(lockName, d.lock); !same || err != nil {
		return cmp.Or(err, ErrMoved)
	}
	if f, ok := f.(osFile); ok {
		if same, err := d.same(name, f.File); !same || err != nil {
			return cmp.Or(err, errFileMoved)
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

// probeSize is how many bytes must have room for a start to be worth a try: those of a
// first journal and the snapshot of a small store.
const probeSize = 512 << 10

// Probe writes some bytes and removes them again, to see whether a start would
// find a disk that takes what it writes.
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

// Files of the directory that are not the journal's.
const (
	lockName  = "lock"
	probeName = "probe.tmp"
)

// Close gives the directory back.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.spare {
		f.Close()
	}
	d.spare = nil
	return errors.Join(d.self.Close(), d.lock.Close())
}

// Path returns the full name of a file.
func (d *Dir) Path(name string) string { return filepath.Join(d.name, name) }

// List returns the names of all files and folders.
func (d *Dir) List() ([]string, error) { return list(d.name) }

func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, readError(dir, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// Read returns the content of a file.
func (d *Dir) Read(name string) ([]byte, error) { return ReadFile(d.Path(name)) }

// ReadFile returns the content of a file, which must not be a symbolic link. It
// needs no lock.
func ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, readError(path, err)
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
	if errors.Is(err, io.ErrUnexpectedEOF) { // it became shorter since
		err = nil
	}
	return data[:n], readError(path, err)
}

// Create returns an empty file whose name is on disk.
func (d *Dir) Create(name string) (File, error) {
	f, err := d.open(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	keepOwner(f, d.self)
	if err := syncDir(d.self); err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// Open returns an existing file for reading and appending.
func (d *Dir) Open(name string) (File, error) {
	f, err := d.open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// open opens a file, if need be on one of the descriptors kept for it: clients
// can use up all others, and a journal that cannot go on is worse than a client
// turned away. A client may still come first between the two calls; then the
// caller gets the error and tries again later.
func (d *Dir) open(name string, flags int) (*os.File, error) {
	d.fill()
	for {
		f, err := os.OpenFile(d.Path(name), flags|noFollow, 0o600)
		if outOfDescriptors(err) && d.giveUp() {
			continue
		}
		return f, readError(d.Path(name), err)
	}
}

// outOfDescriptors reports whether err says that the process, or the machine,
// has as many files open as it may.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// fill brings the spare descriptors up to their number, as far as it can.
func (d *Dir) fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.spare) < spares {
		f, err := os.Open(d.name)
		if err != nil {
			return
		}
		d.spare = append(d.spare, f)
	}
}

// giveUp closes a spare descriptor and reports whether there was one.
func (d *Dir) giveUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.spare)
	if n == 0 {
		return false
	}
	d.spare[n-1].Close()
	d.spare = d.spare[:n-1]
	return true
}

// ReadError reports a file or directory that is there and cannot be used. It may
// well be whole: nothing is given up because of it.
type ReadError struct {
	Path  string
	Err   error
	owner string // whose it is and who we are, if that is why
}

func (e *ReadError) Error() string {
	text := fmt.Sprintf("%s cannot be used: %s; ", e.Path, reason(e.Err))
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		return text + "that is not damage" + e.owner + ": start wick as the owner of the data directory, " +
			"or give that and all files in it to wick's user (chown -R) with modes 0700 and 0600 (chmod)"
	case errors.Is(e.Err, syscall.EIO):
		return text + "the disk fails there: copy the data directory to another disk with a tool that goes on after errors " +
			"(ddrescue, or dd conv=noerror,sync), and start or recover on the copy"
	case errors.Is(e.Err, syscall.ELOOP):
		return text + "it is a symbolic link, which is not followed here; put the file itself in its place"
	case errors.Is(e.Err, syscall.EROFS):
		return text + advice(e.Err) + "; --audit, --export and --recover work as it is"
	}
	return text + "nothing is known to be damaged"
}

func (e *ReadError) Unwrap() error { return e.Err }

// Unreadable reports whether err says that a file could not be looked at, and so
// nothing about what is in it.
func Unreadable(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.Is(err, fs.ErrNotExist) && (errors.Is(err, fs.ErrPermission) || errors.As(err, &number))
}

// readError explains why the file at path cannot be used, where the owner of the
// machine can do something about it. Other errors stay as they are.
func readError(path string, err error) error {
	for _, known := range []error{fs.ErrPermission, syscall.EIO, syscall.ELOOP, syscall.EROFS} {
		if errors.Is(err, known) {
			return &ReadError{path, err, ownerOf(path)}
		}
	}
	return err
}

// Rename gives a file another name; the change is on disk when it returns.
func (d *Dir) Rename(from, to string) error {
	defer d.fill() // the file renamed was closed just before
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

// ReadOnly is a directory that is looked at without its lock, beside the process
// that owns it. Every call that would change something fails.
type ReadOnly string

// errReadOnly is what a change of a ReadOnly gives.
var errReadOnly = errors.New("the directory is only read")

// Path returns the full name of a file.
func (d ReadOnly) Path(name string) string { return filepath.Join(string(d), name) }

// List returns the names of all files and folders.
func (d ReadOnly) List() ([]string, error) { return list(string(d)) }

// Read returns the content of a file.
func (d ReadOnly) Read(name string) ([]byte, error) { return ReadFile(d.Path(name)) }

// Open returns a file whose writes fail.
func (d ReadOnly) Open(name string) (File, error) {
	f, err := os.OpenFile(d.Path(name), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, readError(d.Path(name), err)
	}
	return osFile{f}, nil
}

// Held returns nil: nothing is written, so it does not matter.
func (d ReadOnly) Held(string, File) error { return nil }

// Create fails.
func (d ReadOnly) Create(string) (File, error) { return nil, errReadOnly }

// Rename fails.
func (d ReadOnly) Rename(string, string) error { return errReadOnly }

// Remove fails.
func (d ReadOnly) Remove(string) error { return errReadOnly }
