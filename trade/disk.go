package trade

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// disk is the state directory as the journal uses it. The real one is [dir];
// the tests put one in its place that fails, or loses what was not synced.
type disk interface {
	list() ([]string, error)
	read(name string) ([]byte, error)
	// create returns an empty file whose name is on disk.
	create(name string) (file, error)
	// open returns an existing file for appending.
	open(name string) (file, error)
	// rename is on disk when it returns: without the sync of the directory a
	// power cut may undo it.
	rename(from, to string) error
	remove(name string) error
}

// file is an open file that is written at its end.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// errLocked reports that another process holds a lock.
var errLocked = errors.New("locked by another process")

// dir is a directory of the operating system.
type dir string

// openDir makes the directory if need be and takes its lock, which the kernel
// gives back when the process ends, however it ends. The lock file itself is
// never removed: two processes could then hold locks on two files of one name.
func openDir(name string) (dir, *os.File, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return "", nil, fmt.Errorf("state directory: %w", err)
	}
	if err := os.Chmod(name, 0o700); err != nil {
		return "", nil, fmt.Errorf("state directory: %w", err)
	}
	lock, err := takeLock(filepath.Join(name, "lock"))
	switch {
	case errors.Is(err, errLocked):
		return "", nil, fmt.Errorf("state directory %s: another wick is running on it; stop that one or choose another directory", name)
	case err != nil:
		return "", nil, fmt.Errorf("lock state directory %s: %w", name, err)
	}
	if lock.Truncate(0) == nil {
		fmt.Fprintf(lock, "%d\n", os.Getpid()) // for people; the lock is what counts
	}
	return dir(name), lock, nil
}

func (d dir) path(name string) string { return filepath.Join(string(d), name) }

func (d dir) list() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

func (d dir) read(name string) ([]byte, error) {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return nil, err
	}
	if info.Size() > maxReplay {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", d.path(name), info.Size(), maxReplay)
	}
	return os.ReadFile(d.path(name))
}

func (d dir) create(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.sync(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d dir) open(name string) (file, error) {
	return os.OpenFile(d.path(name), os.O_WRONLY|os.O_APPEND, 0o600)
}

func (d dir) rename(from, to string) error {
	if err := os.Rename(d.path(from), d.path(to)); err != nil {
		return err
	}
	return d.sync()
}

func (d dir) remove(name string) error { return os.Remove(d.path(name)) }

// sync makes the names in the directory durable.
func (d dir) sync() error { return syncDir(string(d)) }

// writeAtomic replaces the file called name: a reader, and a start after a
// crash, sees the old content or the new, never a part.
func writeAtomic(d disk, name string, data []byte) error {
	f, err := d.create(name + ".tmp")
	if err != nil {
		return err
	}
	if err := writeSynced(f, data); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return d.rename(name+".tmp", name)
}

// writeSynced writes data whole and waits until it is on disk.
func writeSynced(f file, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}
