package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate: the files in docs are what the code says now.
func TestUpToDate(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v: run go run ./cmd/docs", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("docs/%s is out of date: run go run ./cmd/docs", name)
		}
		if filepath.Dir(name) == "indicators" && len(want) > maxPortrait {
			t.Errorf("%s has %d bytes, at most %d are wanted", name, len(want), maxPortrait)
		}
	}
	pictures, err := filepath.Glob(filepath.Join("..", "..", "docs", "indicators", "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, picture := range pictures {
		if files["indicators/"+filepath.Base(picture)] == nil {
			t.Errorf("%s shows an indicator that is gone", picture)
		}
	}
}
