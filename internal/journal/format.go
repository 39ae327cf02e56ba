package journal

import (
	"errors"
	"fmt"
)

// format is the version of what is on disk. A store of another one is refused: this program
// would read it wrongly. Formats 1 to 3 were those of versions before the first release; from
// this one on, every later version reads what an earlier one wrote.
const format = 4

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

// isFormat reports whether err is about another format.
func isFormat(err error) bool {
	var other *FormatError
	return errors.As(err, &other)
}
