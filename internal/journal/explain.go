package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// accessError reports a file or directory that exists but cannot be used. Its content
// may be good, so a recovery does not give it up.
type accessError struct {
	Path  string
	Err   error
	owner string // who owns the file and as which user we run, if that is the reason
}

func (e *accessError) Error() string {
	text := fmt.Sprintf("%s cannot be used: %s; ", e.Path, reason(e.Err))
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		return text + "that is not damage" + e.owner + ": start wick as the owner of the data directory, " +
			"or give that and all files in it to wick's user (chown -R) with modes 0700 and 0600 (chmod)"
	case errors.Is(e.Err, syscall.EIO):
		return text + "the disk fails there: copy the data directory to another disk with a tool that goes on after errors " +
			"(ddrescue, or dd conv=noerror,sync), and start or recover on the copy"
	case errors.Is(e.Err, syscall.ELOOP):
		return text + "it is a symbolic link, which is not followed here; put the file or directory itself in its place"
	case errors.Is(e.Err, errNotRegular):
		return text + "put the file itself in its place"
	case errors.Is(e.Err, syscall.EROFS):
		return text + advice(e.Err) + "; wick audit, export and recover work as it is"
	}
	return text + "nothing is known to be damaged"
}

func (e *accessError) Unwrap() error { return e.Err }

// Unreadable reports whether err says that a file could not be read at all. Such an
// error says nothing about what is in the file.
func Unreadable(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.Is(err, fs.ErrNotExist) && (errors.Is(err, fs.ErrPermission) || errors.Is(err, errNotRegular) || errors.As(err, &number))
}

// readError returns an error that explains why the file at path cannot be used, if err
// is one that the owner of the machine can do something about. It returns any other err
// as it is.
func readError(path string, err error) error {
	for _, known := range []error{fs.ErrPermission, syscall.EIO, syscall.ELOOP, syscall.EROFS, errNotRegular} {
		if errors.Is(err, known) {
			return &accessError{path, err, ownerOf(path)}
		}
	}
	return err
}

// reason returns the cause of an error in one line and without paths.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	text := strings.TrimPrefix(err.Error(), ErrUnknown.Error()+": ") // Commit says that itself, for the records it is true of
	return strings.ReplaceAll(text, "\n", "; ")
}

// advice returns what the owner can do about an error of the disk, or "".
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: make room"
	case errors.Is(err, syscall.EDQUOT):
		return "the quota of wick's user is used up: make room or raise it"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: look into the kernel's log, repair it and mount it for writing"
	}
	return ""
}
