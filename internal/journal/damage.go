package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
)

// DamageError reports a state directory that cannot be trusted. Nothing was
// changed in it.
type DamageError struct {
	File   string
	Offset int64  // of the first bad byte; -1 if the file as a whole is bad
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

// damageOf returns the damage that err shows in the file at path. It returns nil if err
// shows none, because a later version wrote the file or it could not be read at all.
func damageOf(path string, at int64, seq uint64, err error) *DamageError {
	switch {
	case isFormat(err) || Unreadable(err):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = ErrMissing
	}
	return &DamageError{File: path, Offset: at, Seq: seq, Err: err}
}

// ErrMissing reports a file that must have been there.
var ErrMissing = errors.New("is missing")
