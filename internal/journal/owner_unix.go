//go:build unix

package journal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// ownerOf returns a text that says who owns a file and as which user we run, or "" if
// that cannot be found out.
func ownerOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil { // perhaps we may not look into the directory
		path = filepath.Dir(path)
		info, err = os.Lstat(path)
	}
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", but %s belongs to user %d with mode %04o, and wick runs as user %d", path, stat.Uid, info.Mode().Perm(), os.Geteuid())
}

// warnOfOwner logs a warning if a directory belongs to another user, who can read and
// replace what we write, or if others may look into it.
func warnOfOwner(name string, log *slog.Logger) {
	info, err := os.Stat(name)
	if err != nil {
		return // the next call that uses the directory reports the error
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		log.Warn("the data directory belongs to another user, who can change what is in it",
			"directory", name, "owner", stat.Uid, "user", os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		log.Warn("others on this machine may look into the data directory, though not into the files in it: chmod 700 closes it", "directory", name, "mode", fmt.Sprintf("%04o", mode))
	}
}
