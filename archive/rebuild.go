package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"wick/journal"
)

// Endings of names: of the new files while an archive is made anew, and of the old files
// afterwards.
const (
	fresh   = ".new"
	damaged = ".damaged"
)

// Rebuild makes the archive of a store anew from every whole record in its files,
// wherever it is in them, and returns how many there are. Once the new segments are
// complete, the old ones get names that end in .damaged. A crash at any moment loses
// nothing: the old files are there under one name or the other, and Rebuild, which reads
// both, can be called again.
func Rebuild(d journal.Disk, store string) (kept uint64, err error) {
	names, err := d.List()
	if err != nil {
		return 0, err
	}
	slices.Sort(names)
	for _, name := range names {
		// These files are from an interrupted Rebuild. The old files have all their records.
		if isArchive(name) && strings.HasSuffix(name, fresh) {
			if err := d.Remove(name); err != nil {
				return 0, err
			}
		}
	}
	a, err := Open(beside{d}, store, Head{})
	if err != nil {
		return 0, err
	}
	var batch []Record
	err = Salvage(d, func(r Record, _ uint64) error {
		// A copy, because Salvage uses the memory of the record again.
		r.Body = slices.Clone(r.Body)
		if batch = append(batch, r); len(batch) < 4096 {
			return nil
		}
		defer func() { batch = batch[:0] }()
		return a.takeBatch(batch)
	})
	if err == nil {
		err = a.takeBatch(batch)
	}
	kept = a.Head().Records
	if err = errors.Join(err, a.Close()); err != nil {
		return 0, err
	}
	return kept, exchange(d, names)
}

// isArchive reports whether a file is a segment or an index, with or without one of the
// endings above.
func isArchive(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "archive-%08d.", &n)
	return err == nil && n > 0 && (strings.HasPrefix(name, segmentName(n)) || strings.HasPrefix(name, indexName(n)))
}

// exchange puts the old files of an archive aside and the new ones in place.
func exchange(d journal.Disk, old []string) error {
	for _, name := range old {
		var err error
		switch {
		case !isArchive(name):
		case strings.HasSuffix(name, ".idx"):
			err = d.Remove(name)
		case strings.HasSuffix(name, ".seg"):
			// An earlier Rebuild may have left a file of that name, which must stay.
			aside := name + damaged
			for i := 2; slices.Contains(old, aside); i++ {
				aside = fmt.Sprint(name, damaged, i)
			}
			err = d.Rename(name, aside)
		}
		if err != nil {
			return err
		}
	}
	names, err := d.List()
	for _, name := range names {
		if text, ok := strings.CutSuffix(name, fresh); ok && isArchive(name) && err == nil {
			err = d.Rename(name, text)
		}
	}
	return err
}

// Salvage calls visit for every whole record in the files of an archive, also in those
// that were put aside, with the number that the record has there. A record may come
// several times. Its memory is used again after visit returns. Salvage only reads.
func Salvage(d journal.Disk, visit func(r Record, number uint64) error) error {
	names, err := d.List()
	slices.Sort(names)
	for _, name := range names {
		if strings.Contains(name, ".seg") && isArchive(name) && !strings.HasSuffix(name, fresh) && err == nil {
			err = salvage(d, name, visit)
		}
	}
	return err
}

// salvage is Salvage for one file. It also visits the records behind damage.
func salvage(d journal.Disk, name string, visit func(r Record, number uint64) error) error {
	f, err := d.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	head := make([]byte, headSize)
	if n, _ := f.ReadAt(head, 0); n == headSize && later(head) {
		return fmt.Errorf("%s: %w", name, ErrLater)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<20)
	for {
		b, err := in.Peek(frameHead + maxFrame)
		if len(b) == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r, err := decode(b)
		if err != nil {
			// No record begins here: try the next byte, since nobody knows how long the
			// damage is. The checksum tells a record from anything else.
			in.Discard(1)
			continue
		}
		if err := visit(r.record, r.after.Records); err != nil {
			return err
		}
		in.Discard(r.size)
	}
}

// takeBatch appends records. If two records with the same first key differ, somebody has
// changed one of them, and takeBatch keeps the first.
func (a *Archive) takeBatch(batch []Record) error {
	err := a.Append(batch)
	if !errors.Is(err, ErrExists) {
		return err
	}
	for _, r := range batch {
		if err := a.Append([]Record{r}); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}

// beside is a directory in which the names of all files have the ending fresh. Its
// callers use the names without it.
type beside struct{ journal.Disk }

// List returns the archive's files without the ending.
func (d beside) List() (names []string, err error) {
	all, err := d.Disk.List()
	for _, name := range all {
		if text, ok := strings.CutSuffix(name, fresh); ok && isArchive(name) {
			names = append(names, text)
		}
	}
	return names, err
}

func (d beside) Path(name string) string { return d.Disk.Path(name + fresh) }

func (d beside) Read(name string) ([]byte, error) { return d.Disk.Read(name + fresh) }

func (d beside) Create(name string) (journal.File, error) { return d.Disk.Create(name + fresh) }

func (d beside) Open(name string) (journal.File, error) { return d.Disk.Open(name + fresh) }

func (d beside) Rename(from, to string) error { return d.Disk.Rename(from+fresh, to+fresh) }

func (d beside) Remove(name string) error { return d.Disk.Remove(name + fresh) }
