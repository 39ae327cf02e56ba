//go:build unix && !core

package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesOfTheOwner: a file that a flag names, or that such a file names, is refused at
// once if it is a pipe, which would wait for a writer, or a device, which may have no end.
// Of one that is too long no more is read than its bound.
func TestFilesOfTheOwner(t *testing.T) {
	dir := t.TempDir()
	pipe, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 1<<40); err != nil { // more than fits into memory
		t.Fatal(err)
	}
	for file, want := range map[string]string{pipe: "not a regular file", "/dev/zero": "not a regular file", huge: "is longer than"} {
		readers := map[string]func() error{
			"ca":   func() error { _, err := readTLS(dir, file, "", ""); return err },
			"cert": func() error { _, err := readTLS(dir, "", file, "x"); return err },
		}
		for _, s := range Settings() {
			if s.Value == "file" && s.File == "" {
				readers[s.Name] = func() error {
					_, err := parseConfig([]string{"--trade", "--" + s.Name, file}, env("HOME", "/"), &bytes.Buffer{})
					return err
				}
			}
		}
		for name, read := range readers {
			if err := read(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", name, file, err, want)
			}
		}
	}
}
