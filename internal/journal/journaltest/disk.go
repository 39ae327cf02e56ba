// Package journaltest has a directory in memory for tests of the journal and of
// its owners: it fails on demand, and knows what a power cut would leave of it.
package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"wick/internal/journal"
)

// Disk is a [journal.Disk] in memory. Its fields may be set between calls.
type Disk struct {
	Files map[string]*File

	Calls   int  // so far: writes, syncs and changes of names; reading is not counted
	FailAt  int  // the call that fails, counted from 1; 0 means none
	Forever bool // and all after it
	After   bool // the failing call has its effect all the same

	Written func(name string, data []byte) // told of every write; may be nil
	Moved   bool                           // somebody took the directory away

	mu      sync.Mutex
	before  func()           // called under mu before the effect of every call; may be nil
	removed map[string]*File // removed, but the directory was not synced since
}

// File is the content of a file.
type File struct {
	Data   []byte // what the process sees
	synced []byte // what a power cut leaves
}

// ErrDisk is what a call that fails returns.
var ErrDisk = errors.New("disk failure")

// NewDisk returns an empty directory.
func NewDisk() *Disk { return &Disk{Files: map[string]*File{}, removed: map[string]*File{}} }

// Path returns the name itself.
func (d *Disk) Path(name string) string { return name }

// Held returns an error if somebody took the directory away, or the file.
func (d *Disk) Held(name string, f journal.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h, ok := f.(*handle); d.Moved || ok && d.Files[name] != h.file {
		return journal.ErrMoved
	}
	return nil
}

// do counts a call and runs its effect unless it fails.
func (d *Disk) do(effect func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Calls++
	if d.before != nil {
		d.before()
	}
	if d.FailAt > 0 && (d.Calls == d.FailAt || (d.Forever && d.Calls > d.FailAt)) {
		if d.After && d.Calls == d.FailAt {
			effect()
		}
		return ErrDisk
	}
	return effect()
}

// List returns the names of the files.
func (d *Disk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.Files)), nil
}

// Read returns a copy of a file.
func (d *Disk) Read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.Files[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return slices.Clone(f.Data), nil
}

// ReadAt reads a part of a file.
func (d *Disk) ReadAt(name string, b []byte, at int64) (int, error) {
	data, err := d.Read(name)
	if err != nil {
		return 0, err
	}
	return bytes.NewReader(data).ReadAt(b, at)
}

// Create makes a file, or empties it.
func (d *Disk) Create(name string) (journal.File, error) {
	err := d.do(func() error {
		d.Files[name] = &File{}
		clear(d.removed)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &handle{d, name, d.Files[name]}, nil
}

// Open returns a file to append to.
func (d *Disk) Open(name string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.Files[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return &handle{d, name, f}, nil
}

// Rename gives a file another name, durably.
func (d *Disk) Rename(from, to string) error {
	return d.do(func() error {
		if d.Files[from] == nil {
			return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
		}
		d.Files[to] = d.Files[from]
		delete(d.Files, from)
		clear(d.removed)
		return nil
	})
}

// Remove deletes a file; a power cut may bring it back.
func (d *Disk) Remove(name string) error {
	return d.do(func() error {
		if d.Files[name] == nil {
			return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		d.removed[name] = d.Files[name]
		delete(d.Files, name)
		return nil
	})
}

type handle struct {
	disk *Disk
	name string
	file *File
}

func (h *handle) Write(b []byte) (int, error) {
	err := h.disk.do(func() error {
		h.file.Data = append(h.file.Data, b...)
		if h.disk.Written != nil {
			h.disk.Written(h.name, b)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

func (h *handle) Sync() error {
	return h.disk.do(func() error {
		h.file.synced = h.file.Data // shared: appending changes nothing before the end
		return nil
	})
}

func (h *handle) Truncate(size int64) error {
	return h.disk.do(func() error {
		h.file.Data = slices.Clone(h.file.Data[:min(int(size), len(h.file.Data))])
		return nil
	})
}

func (h *handle) Close() error { return nil }

// Sector is what a disk writes whole or not at all.
const Sector = 512

// Fate says what a power cut does to bytes that were written and not synced. A
// number above zero cuts them at that many sectors after what was synced.
type Fate int

// The other fates.
const (
	Kept    Fate = -1
	Dropped Fate = 0
)

// Cut returns the directory after a power cut now.
func (d *Disk) Cut(unsynced Fate) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.left(unsynced))
}

// copied returns a directory with a copy of files, all of it synced.
func copied(files map[string][]byte) *Disk {
	d := NewDisk()
	for name, data := range files {
		data = slices.Clone(data)
		d.Files[name] = &File{data, data}
	}
	return d
}

// left returns the contents of the files after a power cut now, by name. They are
// still the directory's own.
func (d *Disk) left(unsynced Fate) map[string][]byte {
	files := make(map[string][]byte, len(d.Files))
	for name, f := range d.Files {
		data := f.Data
		if unsynced != Kept {
			data = f.synced
			if border := len(f.synced)/Sector*Sector + int(unsynced)*Sector; unsynced > 0 && border > len(f.synced) && border < len(f.Data) {
				data = f.Data[:border]
			}
		}
		files[name] = data
	}
	if unsynced == Dropped {
		for name, f := range d.removed {
			files[name] = f.synced
		}
	}
	return files
}

// String returns all there is, to compare two disks.
func (d *Disk) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		fmt.Fprintf(&b, "%s\n%s\n", name, d.Files[name].Data)
	}
	return b.String()
}
