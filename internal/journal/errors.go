package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// DamageError reports a state directory that cannot be trusted. Nothing was
// changed in it.
type DamageError struct {
	File   string
	Offset int    // of the first bad byte; -1 if the file as a whole is bad
	Seq    uint64 // last good sequence
	Err    error

	advice string // what to do; if empty, Error says what to do after a refused start
}

func (e *DamageError) Error() string {
	return e.what() + "; " + cmp.Or(e.advice, "restore the directory from a copy, or let wick --recover show what can be kept")
}

// what says what is wrong, without advice.
func (e *DamageError) what() string {
	switch {
	case errors.Is(e.Err, ErrMissing):
		return fmt.Sprintf("%s, which goes on after record %d, %v", e.File, e.Seq, e.Err)
	case e.Offset < 0:
		return fmt.Sprintf("%s is damaged: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s at byte %d is damaged after record %d: %v", e.File, e.Offset, e.Seq, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// ErrMissing reports a file that must have been there.
var ErrMissing = errors.New("is missing")

// damage returns a DamageError for a file, or err itself if it shows no damage, because a later
// version wrote the file or it could not be read at all.
func damage(d Reader, name string, at int, seq uint64, err error) error {
	switch {
	case Unreadable(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		at, err = -1, ErrMissing
	}
	return &DamageError{File: d.Path(name), Offset: at, Seq: seq, Err: err}
}

// format is the version of what is on disk. A store of another one is refused: this program
// would read it wrongly. Formats 1 to 5 were those of versions before the first release; from
// this one on, every later version reads what an earlier one wrote.
const format = 6

// FormatError reports a file that another version of wick wrote. The file is not damaged,
// but this version would read it wrongly.
type FormatError struct {
	File   string
	Format int
}

func (e *FormatError) Error() string {
	who, advice := "a later wick", "start that one, or restore the copy from before it was installed"
	if e.Format < format {
		who, advice = "a wick from before the first release", "write what you want to keep with that wick (wick --export orders, fills or equity, and --audit), and choose another --data-dir"
	}
	return fmt.Sprintf("%s is not damaged: %s wrote it (format %d, this one reads %d); %s", e.File, who, e.Format, format, advice)
}

// Unreadable reports whether err says that a file could not be read at all, or not by this
// version. Such an error says nothing about what is in the file.
func Unreadable(err error) bool {
	var number syscall.Errno
	var other *FormatError
	return err != nil && !errors.Is(err, fs.ErrNotExist) &&
		(errors.As(err, &other) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errNotRegular) || errors.As(err, &number))
}

// errNotRegular reports a pipe, a device or a directory in place of a file.
var errNotRegular = errors.New("not a regular file")

// readError returns an error that explains why the file at path cannot be used, if err is
// one that the owner of the machine can do something about. It returns any other err as it
// is. What is in the file may be good, so a recovery does not give it up.
func readError(path string, err error) error {
	for _, known := range []struct {
		err    error
		advice string
	}{
		{fs.ErrPermission, "that is not damage: start wick as the owner of the data directory, or give that and all files in it to wick's user (chown -R) with modes 0700 and 0600 (chmod)"},
		{syscall.EIO, "the disk fails there: copy the data directory to another disk with a tool that goes on after errors (ddrescue, or dd conv=noerror,sync), and start or recover on the copy"},
		{syscall.ELOOP, "it is a symbolic link, which is not followed here; put the file or directory itself in its place"},
		{errNotRegular, "put the file itself in its place"},
		{syscall.EROFS, advice(syscall.EROFS) + "; wick audit, export and recover work as it is"},
	} {
		if errors.Is(err, known.err) {
			return &worded{fmt.Sprintf("%s cannot be used: %s; %s", path, reason(err), known.advice), []error{err}}
		}
	}
	return err
}

// worded is an error with a text of its own for who reads it.
type worded struct {
	text   string
	causes []error
}

func (e *worded) Error() string   { return e.text }
func (e *worded) Unwrap() []error { return e.causes }

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
