//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes opening a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW

// takeLock opens the file called name, which it makes if there is none, and locks it
// for as long as it stays open. It does not wait: if another process has the lock, it
// returns ErrHeld.
func takeLock(name string) (*os.File, error) {
	f, err := OpenRegular(name, os.O_CREATE|os.O_RDWR|noFollow)
	if err != nil {
		return nil, readError(name, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrHeld
		}
		return nil, err
	}
	return f, nil
}

// tryLock returns ErrHeld if a process has locked the file called name.
func tryLock(name string) error {
	f, err := OpenRegular(name, os.O_RDONLY|noFollow)
	if err != nil {
		return err
	}
	defer f.Close()
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir *os.File) error { return dir.Sync() }
