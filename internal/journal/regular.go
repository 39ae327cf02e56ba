package journal

import (
	"errors"
	"io/fs"
	"os"
)

// errNotRegular reports a pipe, a device or a directory in place of a file.
var errNotRegular = errors.New("not a regular file")

// OpenRegular opens a file as [os.OpenFile] does, and refuses what is no regular file
// before it is opened: to open a pipe waits for its other end, and no signal ends that. A
// file that it makes is for this user alone.
func OpenRegular(name string, flags int) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return os.OpenFile(name, flags, 0o600)
}
