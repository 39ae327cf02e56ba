package journal

import (
	"errors"
	"os"
	"syscall"
)

// noFollow is nothing here: making a symbolic link needs a privilege on Windows.
const noFollow = 0

// sharingViolation is the error of Windows for opening a file that another process has
// opened for itself alone.
const sharingViolation = syscall.Errno(32)

// takeLock opens the file called name, which it makes if there is none. Nobody else can
// open the file while it stays open here: that is the lock. If another process has it
// open, takeLock returns ErrHeld.
func takeLock(name string) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, ErrHeld
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// tryLock returns ErrHeld if a process has locked the file called name.
func tryLock(name string) error {
	f, err := takeLock(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// syncDir does nothing: Windows has no call that makes a directory durable, and
// its file systems log renames themselves.
func syncDir(*os.File) error { return nil }
