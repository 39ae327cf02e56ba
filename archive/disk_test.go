package archive

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
)

// errFault is what a call fails with that the test chose.
var errFault = errors.New("injected fault")

// memory is a Disk in memory that fails at one call, and that can lose what was
// not synced, as a power cut does.
type memory struct {
	files  map[string]*content
	calls  int
	failAt int // the call that fails; 0 means none
}

type content struct {
	data   []byte
	synced int // bytes of data that a power cut leaves
}

func newMemory() *memory { return &memory{files: make(map[string]*content)} }

// step counts a call and fails the chosen one and all after it: the process is
// gone then.
func (m *memory) step() error {
	m.calls++
	if m.failAt > 0 && m.calls >= m.failAt {
		return errFault
	}
	return nil
}

// cut returns the disk as a power cut leaves it, with keep bytes at most of
// what each file had beyond its last sync.
func (m *memory) cut(keep int) *memory {
	n := newMemory()
	for name, c := range m.files {
		end := min(len(c.data), c.synced+keep)
		n.files[name] = &content{slices.Clone(c.data[:end]), end}
	}
	return n
}

func (m *memory) clone() *memory { return m.cut(1 << 30) }

func (m *memory) List() ([]string, error) { return slices.Sorted(maps.Keys(m.files)), m.step() }

func (m *memory) Create(name string) (File, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	m.files[name] = &content{}
	return &handle{m, m.files[name]}, nil
}

func (m *memory) Open(name string) (File, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	c := m.files[name]
	if c == nil {
		return nil, fs.ErrNotExist
	}
	return &handle{m, c}, nil
}

func (m *memory) Rename(from, to string) error {
	if err := m.step(); err != nil {
		return err
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memory) Remove(name string) error {
	delete(m.files, name)
	return m.step()
}

// handle is an open file of a memory.
type handle struct {
	m *memory
	c *content
}

func (h *handle) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(h.c.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.c.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Write keeps half of the data when it fails.
func (h *handle) Write(b []byte) (int, error) {
	if err := h.m.step(); err != nil {
		h.c.data = append(h.c.data, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	h.c.data = append(h.c.data, b...)
	return len(b), nil
}

func (h *handle) Sync() error {
	if err := h.m.step(); err != nil {
		return err
	}
	h.c.synced = len(h.c.data)
	return nil
}

func (h *handle) Truncate(size int64) error {
	if err := h.m.step(); err != nil {
		return err
	}
	h.c.data = h.c.data[:size]
	h.c.synced = min(h.c.synced, len(h.c.data))
	return nil
}

func (h *handle) Size() (int64, error) { return int64(len(h.c.data)), nil }
func (h *handle) Close() error         { return nil }
