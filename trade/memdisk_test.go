package trade

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// memDisk is a directory in memory that fails on demand and knows what a power
// cut would leave of it.
type memDisk struct {
	mu      sync.Mutex
	files   map[string]*memFile
	removed map[string]*memFile // removed, but the directory was not synced since

	calls   int
	failAt  int  // the call that fails, counted from 1; 0 means none
	forever bool // and all after it
	after   bool // the failing call has its effect all the same
	written func(name string, data []byte)
}

type memFile struct {
	data   []byte // what the process sees
	synced []byte // what a power cut leaves
}

var errDisk = errors.New("disk failure")

func newMemDisk() *memDisk {
	return &memDisk{files: map[string]*memFile{}, removed: map[string]*memFile{}}
}

// do counts a call and runs its effect unless it fails.
func (d *memDisk) do(effect func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.failAt > 0 && (d.calls == d.failAt || (d.forever && d.calls > d.failAt)) {
		if d.after && d.calls == d.failAt {
			effect()
		}
		return errDisk
	}
	return effect()
}

func (d *memDisk) list() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.files)), nil
}

func (d *memDisk) read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return slices.Clone(f.data), nil
}

func (d *memDisk) create(name string) (file, error) {
	err := d.do(func() error {
		d.files[name] = &memFile{}
		clear(d.removed)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &memHandle{d, name, d.files[name]}, nil
}

func (d *memDisk) open(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return &memHandle{d, name, f}, nil
}

func (d *memDisk) rename(from, to string) error {
	return d.do(func() error {
		if d.files[from] == nil {
			return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
		}
		d.files[to] = d.files[from]
		delete(d.files, from)
		clear(d.removed)
		return nil
	})
}

func (d *memDisk) remove(name string) error {
	return d.do(func() error {
		d.removed[name] = d.files[name]
		delete(d.files, name)
		return nil
	})
}

type memHandle struct {
	disk *memDisk
	name string
	file *memFile
}

func (h *memHandle) Write(b []byte) (int, error) {
	err := h.disk.do(func() error {
		h.file.data = append(h.file.data, b...)
		if h.disk.written != nil {
			h.disk.written(h.name, b)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

func (h *memHandle) Sync() error {
	return h.disk.do(func() error {
		h.file.synced = h.file.data // shared: appending changes nothing before the end
		return nil
	})
}

func (h *memHandle) Truncate(size int64) error {
	return h.disk.do(func() error {
		h.file.data = slices.Clone(h.file.data[:min(int(size), len(h.file.data))])
		return nil
	})
}

func (h *memHandle) Close() error { return nil }

// fate says what becomes of bytes that were written and not synced.
type fate int

const (
	kept    fate = -1
	dropped fate = 0 // above: cut at that many sectors after what was synced
)

// cut returns the directory after a power cut now.
func (d *memDisk) cut(unsynced fate) *memDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := newMemDisk()
	for name, f := range d.files {
		data := f.data
		if unsynced != kept {
			data = f.synced
			if border := len(f.synced)/sector*sector + int(unsynced)*sector; unsynced > 0 && border > len(f.synced) && border < len(f.data) {
				data = f.data[:border]
			}
		}
		c.files[name] = &memFile{slices.Clone(data), slices.Clone(data)}
	}
	if unsynced == dropped {
		for name, f := range d.removed {
			c.files[name] = &memFile{slices.Clone(f.synced), slices.Clone(f.synced)}
		}
	}
	return c
}

// String returns all there is, to compare two disks.
func (d *memDisk) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		fmt.Fprintf(&b, "%s\n%s\n", name, d.files[name].data)
	}
	return b.String()
}
