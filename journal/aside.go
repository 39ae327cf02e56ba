package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// setAside gives the files that a recovery could not use as a whole another name. Their
// good part, which is history, stays under the old name. It may be called again after a
// crash: what was done already stays as it is.
func (f *Files) setAside(files []asideFile) error {
	for _, a := range files {
		if generation(a.File, "snapshot-", ".json") == 0 && generation(a.File, "journal-", ".wal") == 0 {
			return fmt.Errorf("%.80q cannot be set aside: it is no file of the journal", a.File)
		}
		err := f.setOneAside(a)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a missing file was renamed before, or never existed
			return err
		}
	}
	return nil
}

// setOneAside is setAside for one file.
func (f *Files) setOneAside(a asideFile) error {
	if a.Good == 0 {
		return f.disk.Rename(a.File, a.File+damaged)
	}
	data, err := f.disk.Read(a.File)
	if err != nil {
		return err
	}
	if int64(len(data)) <= a.Good {
		return nil
	}
	if _, err := f.disk.Read(a.File + damaged); errors.Is(err, fs.ErrNotExist) {
		err = WriteAtomic(f.disk, a.File+damaged, data)
		if err != nil {
			return err
		}
	} else if frames, bad := scanFile(data); err == nil && bad == nil && frames[len(frames)-1].kind == kindEnd {
		return nil // it was cut before, and its end record was written since
	}
	return WriteAtomic(f.disk, a.File, data[:a.Good])
}

// damaged is the end of the names of files that were set aside.
const damaged = ".damaged"
