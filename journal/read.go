package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Read brings s to the state that the directory holds and makes the log ready to
// be appended to. In an empty directory it makes a new store.
func (f *Files) Read(s State) (uint64, error) {
	names, err := f.disk.List()
	if err != nil {
		return 0, fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	f.old = g.snapshots
	if f.options.Recover != nil {
		err = f.recover(s, g)
	} else {
		err = f.load(s, g)
	}
	if err == nil && !f.options.Look {
		f.dropUnfinished(names)
	}
	return f.seq, err
}

// dropUnfinished removes temporary files that a crash left behind, and copies of torn
// ends that are at least three generations old (each clean stop begins a generation). It
// removes only files with names that this package gives: a file called thesis.tmp in the
// directory belongs to the owner.
func (f *Files) dropUnfinished(names []string) {
	for _, name := range names {
		unfinished := generation(name, "snapshot-", ".json.tmp") > 0 || name == probeName
		if n := generation(name, "journal-", ".torn"); n > 0 && n <= f.n-tornKept {
			unfinished = true
		}
		for _, suffix := range []string{".torn", ".wal", ".wal" + damaged} {
			unfinished = unfinished || generation(name, "journal-", suffix+".tmp") > 0
		}
		if unfinished {
			if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.out.Warn("unfinished file stays", "file", f.disk.Path(name), "error", err)
			}
		}
	}
}

// tornKept is after how many generations the copy of a torn end is removed.
const tornKept = 3
