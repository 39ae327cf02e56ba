package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate: the sheet in docs was made from the golden pictures of now.
func TestUpToDate(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob(goldens)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pictures match %s (%v)", len(files), goldens, err)
	}
	mark, err := origin(files)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(sheet)); err != nil {
		t.Errorf("%s: %v", made, err)
	}
	if !bytes.Contains(sheet, mark) {
		t.Errorf("%s was made from other pictures than %s: run make docs", made, goldens)
	}
}
