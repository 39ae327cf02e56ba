//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSole: a file that somebody has linked to from elsewhere is not given away.
func TestSole(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !sole(f) {
		t.Error("a new file has another name")
	}
	if err := os.Link(f.Name(), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if sole(f) {
		t.Error("a link to it is not seen")
	}
	self, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	if sole(self) {
		t.Error("a directory counts as a file")
	}
}
