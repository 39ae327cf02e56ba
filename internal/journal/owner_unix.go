//go:build unix

package journal

import (
	"fmt"
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
