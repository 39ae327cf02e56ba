//go:build unix

package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivateDirectory: a directory that wick makes is for its user alone. One that is there
// keeps its mode, and the log says what that means: who owns it and that others may look into
// it. Its socket and files are private all the same. Only root can make a directory of
// another user.
func TestPrivateDirectory(t *testing.T) {
	file, _ := newKeyFile(t)
	for _, args := range [][]string{{"--serve"}, {"--serve", "--key-file", file}, {"--serve", "--trade", "--key-file", file}} {
		dir := t.TempDir()
		if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
			t.Fatal(err)
		}
		foreign := os.Chown(dir, 12345, -1) == nil
		h := start(t, append(args, "--data-dir", dir)...)
		if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
			t.Errorf("%s: the mode of the directory became %v, %v", args, info.Mode(), err)
		}
		if info, err := os.Stat(filepath.Join(dir, controlName)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the socket has the mode %v, %v", args, info.Mode(), err)
		}
		for warning, want := range map[string]bool{"the data directory belongs to another user": foreign, "others on this machine may look into the data directory": true} {
			if got := strings.Contains(h.log.String(), warning); got != want {
				t.Errorf("%s: %q in the log: %v, want %v", args, warning, got, want)
			}
		}
		made := filepath.Join(t.TempDir(), "made")
		start(t, append(args, "--data-dir", made)...)
		if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: a new directory has mode %v, %v, want 0700", args, info.Mode(), err)
		}
	}
}

// TestForeignDirectory: a directory with other people's files is refused and keeps its mode.
// A new file system, a HALT file and what an earlier wick has left are no such files.
func TestForeignDirectory(t *testing.T) {
	file, _ := newKeyFile(t)
	for _, args := range [][]string{{"--serve"}, {"--serve", "--key-file", file}, {"--serve", "--trade"}} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644), os.Chmod(dir, os.ModeSticky|0o777)); err != nil {
			t.Fatal(err)
		}
		if err := serveOn(t, dir, args...); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
			t.Errorf("%s on a foreign directory: %v", args, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
			t.Errorf("%s: the mode of the directory became %v, %v", args, info.Mode(), err)
		}
	}
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "lost+found"), 0o700), os.WriteFile(filepath.Join(dir, "HALT"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	start(t, "--serve", "--trade", "--data-dir", dir).stop()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "--serve", "--trade", "--data-dir", dir) // the owner's notes beside an earlier store
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
