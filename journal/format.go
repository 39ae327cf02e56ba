package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// format is the version of what is on disk. A store of a later version is
// refused: this program would read it wrongly. The first format has no hashes;
// its files are read, and the next generation is written in this one.
const format = 2

// chained is the first format whose records hold the hash of the one before.
const chained = 2

// linkSize returns how many bytes of each record in a file of a format are the
// hash of the record before.
func linkSize(format int) int {
	if format < chained {
		return 0
	}
	return sha256.Size
}

// FormatError reports a file that a later version of wick wrote. The file is not
// damaged, but this version would read it wrongly.
type FormatError struct {
	File   string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s is not damaged: a later wick wrote it (format %d, this one knows up to %d); "+
		"start that one, or restore the copy from before it was installed", e.File, e.Format, format)
}

// isFormat reports whether err is about a later format.
func isFormat(err error) bool {
	var later *FormatError
	return errors.As(err, &later)
}
