package journal

import (
	"errors"
	"fmt"
)

// format is the version of what is on disk. A store of another one is refused: this program
// would read it wrongly. Formats 1 and 2 were those of versions before the first release.
const format = 3

// FormatError reports a file that another version of wick wrote. The file is not damaged,
// but this version would read it wrongly.
type FormatError struct {
	File   string
	Format int
}

func (e *FormatError) Error() string {
	who, advice := "a later wick", "start that one, or restore the copy from before it was installed"
	if e.Format < format {
		who, advice = "a wick from before the first release", "choose another --data-dir"
	}
	return fmt.Sprintf("%s is not damaged: %s wrote it (format %d, this one reads %d); %s", e.File, who, e.Format, format, advice)
}

// isFormat reports whether err is about another format.
func isFormat(err error) bool {
	var other *FormatError
	return errors.As(err, &other)
}
