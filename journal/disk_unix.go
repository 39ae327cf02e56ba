//go:build unix

package journal

import (
	"errors"
	"log/slog"
	"os"
	"syscall"
)

// noFollow makes an open fail where a symbolic link stands.
const noFollow = syscall.O_NOFOLLOW

// takeLock opens the file called name, made if need be, and locks it for as
// long as it stays open. It does not wait: a held lock is errLocked.
func takeLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return nil, linkError(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir *os.File) error { return dir.Sync() }

// warnOfOwner logs a directory that belongs to another user: he can read and
// replace what we write.
func warnOfOwner(name string, log *slog.Logger) {
	info, err := os.Stat(name)
	if err != nil {
		return // whatever it is, the next call says so
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		log.Warn("the data directory belongs to another user, who can change what is in it",
			"directory", name, "owner", stat.Uid, "user", os.Geteuid())
	}
}
