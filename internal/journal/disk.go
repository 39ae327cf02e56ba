package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

// Reader is the part of a [Disk] that changes nothing.
type Reader interface {
	// Path returns the full name of a file, for error texts.
	Path(name string) string
	List() ([]string, error)
	Read(name string) ([]byte, error)
	// ReadAt is [io.ReaderAt] for the file called name.
	ReadAt(name string, b []byte, at int64) (int, error)
}

// Disk is the state directory as a journal and its owner use it. The real one is [Dir];
// tests use one that fails, or that loses what was not synced.
type Disk interface {
	Reader
	// Create returns an empty file for writing, whose name is on disk.
	Create(name string) (File, error)
	// Open returns an existing file for appending.
	Open(name string) (File, error)
	// Rename is on disk when it returns: without the sync of the directory a
	// power cut may undo it.
	Rename(from, to string) error
	Remove(name string) error
	// Held returns an error that wraps ErrMoved if the directory is no longer the one
	// that this process has locked, or if the file called name is not f. If f is nil it
	// checks the directory alone.
	Held(name string, f File) error
}

// ErrMoved reports that the state directory, or the newest journal in it, was deleted, moved
// or replaced while the process was running. Nothing may be written to what is there now,
// and what is written to files that are still open is lost.
var ErrMoved = errors.New("the data directory, or the newest journal in it, was deleted, moved or replaced while wick was running: stop wick, put it back, and start again")

// ErrHeld reports that another process uses the directory.
var ErrHeld = errors.New("another wick is running on it")

// File is an open file that is written at its end.
type File interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// WriteAtomic replaces the file called name: a reader, and a start after a crash, sees
// the old content or the new, never a part. The content is synced before the rename:
// otherwise a power cut could leave an empty file under that name. An error that wraps
// ErrRetry says that nothing has changed; after any other error the file may have the
// old content or the new.
func WriteAtomic(d Disk, name string, data []byte) error {
	if err := create(d, name+unfinished, data); err != nil {
		return err
	}
	return d.Rename(name+unfinished, name)
}

// create makes a file, whose content is on disk when it returns. An error wraps ErrRetry: it
// has changed nothing that a start would read.
func create(d Disk, name string, data []byte) error {
	f, err := d.Create(name)
	if err == nil {
		if err = cmp.Or(WriteSynced(f, data), f.Close()); err != nil {
			d.Remove(name) // a full disk needs the room; if this fails, the next start removes the file
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRetry, err)
	}
	return nil
}

// WriteSynced writes all of data and waits until it is on disk.
func WriteSynced(f File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
