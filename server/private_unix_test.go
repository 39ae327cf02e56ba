//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivateDirectory: without --trade the data directory is closed to others too, and a
// foreign owner is warned of once: the socket and the logins lie in it. Only root can make a
// directory of another user; our own gives no warning.
func TestPrivateDirectory(t *testing.T) {
	file, _ := newKeyFile(t)
	for _, args := range [][]string{{"--serve"}, {"--serve", "--key-file", file}, {"--serve", "--trade", "--key-file", file}} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		warnings := 0
		if os.Chown(dir, 12345, -1) == nil {
			warnings = 1
		}
		h := start(t, append(args, "--data-dir", dir)...)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v, want 0700", args, info.Mode(), err)
		}
		if n := strings.Count(h.log.String(), "the data directory belongs to another user"); n != warnings {
			t.Errorf("%s: %d warnings of the owner, want %d:\n%s", args, n, warnings, h.log)
		}
	}
}

// TestNoLinkedLogins: a symbolic link in place of the directory for logins is not followed.
// The directory behind it keeps its mode, and nothing is written there.
func TestNoLinkedLogins(t *testing.T) {
	file, _ := newKeyFile(t)
	dir, foreign := t.TempDir(), t.TempDir()
	if err := os.Chmod(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(foreign, filepath.Join(dir, loginsName)); err != nil {
		t.Fatal(err)
	}
	err := serveOn(t, dir, "--serve", "--key-file", file)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, loginsName)) || !strings.Contains(err.Error(), "symbolic link") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a link in place of the logins: %v, want one line that it is not followed", err)
	}
	info, err := os.Stat(foreign)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the directory behind the link has mode %v, %v, want 0755", info.Mode(), err)
	}
	if files, err := os.ReadDir(foreign); err != nil || len(files) > 0 {
		t.Errorf("in the directory behind the link: %v, %v", files, err)
	}
}
