//go:build unix

package server

import (
	"fmt"
	"os"
	"syscall"
)

// checkPrivate refuses a file of this process's own user that others may read or
// write: whoever reads it can log in. A file of another user, such as a secret
// that root mounted into a container, is as its owner wants it.
func checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s has mode %04o, so others can read it: run chmod 600 on it", f.Name(), info.Mode().Perm())
	}
	return nil
}
