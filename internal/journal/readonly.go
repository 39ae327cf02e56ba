package journal

import (
	"errors"
	"os"
	"path/filepath"
)

// ReadOnly is a directory that is read without taking its lock, possibly while another
// process uses it. Every call that would change something fails.
type ReadOnly string

// errReadOnly is the error of a call that would change something.
var errReadOnly = errors.New("the directory is only read")

// Path returns the full name of a file.
func (d ReadOnly) Path(name string) string { return filepath.Join(string(d), name) }

// List returns the names of all files and folders.
func (d ReadOnly) List() ([]string, error) { return list(string(d)) }

// Read returns the content of a file.
func (d ReadOnly) Read(name string) ([]byte, error) { return readFile(d.Path(name)) }

// Open returns a file whose writes fail.
func (d ReadOnly) Open(name string) (File, error) {
	f, err := OpenRegular(d.Path(name), os.O_RDONLY|noFollow)
	if err != nil {
		return nil, readError(d.Path(name), err)
	}
	return osFile{f}, nil
}

// Held returns nil: nothing is written, so it does not matter.
func (d ReadOnly) Held(string, File) error { return nil }

// Create fails.
func (d ReadOnly) Create(string) (File, error) { return nil, errReadOnly }

// Rename fails.
func (d ReadOnly) Rename(string, string) error { return errReadOnly }

// Remove fails.
func (d ReadOnly) Remove(string) error { return errReadOnly }
