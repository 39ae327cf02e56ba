//go:build unix && !core

package server

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wick/internal/journal"
)

// The directories that tests make are closed to others, whatever the mask of who runs them.
func init() { syscall.Umask(0o022) }

// TestPrivateDirectory: a directory that wick makes is for its user alone. One that is there
// keeps its mode; into one that belongs to somebody else, or that others can write to, wick
// puts neither a book nor a socket, whatever it is started for. Only root can make a directory
// of another user.
func TestPrivateDirectory(t *testing.T) {
	file, _ := newKeyFile(t)
	_, real := atAlpaca(t)
	real[1] = "alpaca"
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	starts := [][]string{{"--serve"}, {"--serve", "--key-file", file}, {"--serve", "--trade"}, append(real, "--serve", "--trade"), append(real, "--mcp", "--trade")}
	for _, args := range starts {
		for _, mode := range []os.FileMode{os.ModeSticky | 0o777, 0o777, 0o775, 0o722} {
			dir := t.TempDir()
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := serveOn(t, dir, args...); err == nil || !strings.Contains(err.Error(), "chmod 700") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s in a directory with mode %v: %v", args, mode, err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s in a directory with mode %v left %v, %v", args, mode, left, err)
			}
		}
		foreign := t.TempDir()
		if os.Chown(foreign, 12345, -1) == nil {
			if err := serveOn(t, foreign, args...); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
				t.Errorf("%s in a directory of another user: %v", args, err)
			}
		}
	}
	for _, args := range starts[:3] {
		dir, made := t.TempDir(), filepath.Join(t.TempDir(), "made")
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{dir: 0o755, made: 0o700} {
			start(t, append(args, "--data-dir", name)...)
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: the directory has mode %v, %v, want %v", args, info.Mode(), err, want)
			}
			if info, err := os.Stat(filepath.Join(name, controlName)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: the socket has mode %v, %v", args, info.Mode(), err)
			}
		}
	}
}

// TestSocketOfStranger: to a socket that another user has made, or could have, nothing is
// sent: no command, no passphrase, no line of a host. Only root can make a socket of another
// user.
func TestSocketOfStranger(t *testing.T) {
	for name, open := range map[string]func(dir, socket string) error{
		"everybody's directory":      func(dir, _ string) error { return os.Chmod(dir, os.ModeSticky|0o777) },
		"a group's directory":        func(dir, _ string) error { return os.Chmod(dir, 0o770) },
		"another user's directory":   func(dir, _ string) error { return chownIfRoot(dir) },
		"everybody's socket":         func(_, socket string) error { return os.Chmod(socket, 0o666) },
		"another user's socket":      func(_, socket string) error { return chownIfRoot(socket) },
		"a link to another's socket": func(_, socket string) error { return relink(t, socket) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			held, err := journal.OpenDir(dir) // or a host would not attach
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			ln, err := listenControl(dir)
			if err != nil {
				t.Fatal(err)
			}
			ln.(*net.UnixListener).SetUnlinkOnClose(false) // relink removes it
			var heard syncBuffer
			var answers sync.WaitGroup
			answers.Go(func() {
				for {
					conn, err := ln.Accept()
					if err != nil {
						return
					}
					answers.Go(func() {
						conn.SetDeadline(time.Now().Add(time.Second))
						io.Copy(&heard, conn)
						conn.Close()
					})
				}
			})
			if err := open(dir, filepath.Join(dir, controlName)); err != nil {
				t.Fatal(err)
			}
			phrase := passphraseFile(t, testPhrase, 0o600)
			for _, args := range [][]string{
				{"approve", "SOMEID", "--passphrase-file", phrase}, {"clients"}, {"revoke", "all"}, {"halt", "on"}, {"accept-positions"}, {"--mcp", "--trade"},
			} {
				err := Run(t.Context(), append(args, "--data-dir", dir), env("HOME", "/"), strings.NewReader("yes\n"), io.Discard, io.Discard)
				if !errors.Is(err, errShared) {
					t.Errorf("%s: %v", args, err)
				}
			}
			ln.Close()
			answers.Wait()
			if said := heard.String(); said != "" {
				t.Errorf("the stranger heard %q", said)
			}
		})
	}
}

// chownIfRoot gives a file to another user. Who is not root opens it to a group instead.
func chownIfRoot(name string) error {
	if os.Geteuid() != 0 {
		return os.Chmod(name, 0o770)
	}
	return os.Chown(name, 12345, -1)
}

// relink puts a link to a socket that everybody may use in place of a socket.
func relink(t *testing.T, socket string) error {
	elsewhere := filepath.Join(t.TempDir(), "s")
	return errors.Join(os.Rename(socket, elsewhere), os.Chmod(elsewhere, 0o666), os.Symlink(elsewhere, socket))
}

// TestForeignDirectory: a directory with other people's files is refused and keeps its mode.
// A new file system, a HALT file and what an earlier wick has left are no such files.
func TestForeignDirectory(t *testing.T) {
	file, _ := newKeyFile(t)
	for _, args := range [][]string{{"--serve"}, {"--serve", "--key-file", file}, {"--serve", "--trade"}} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644), os.Chmod(dir, 0o750)); err != nil {
			t.Fatal(err)
		}
		if err := serveOn(t, dir, args...); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
			t.Errorf("%s on a foreign directory: %v", args, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode() != os.ModeDir|0o750 {
			t.Errorf("%s: the mode of the directory became %v, %v", args, info.Mode(), err)
		}
	}
	// A file called lock is many programs', and stays as it is, with what is beside it.
	for _, other := range []string{"thesis.tex", "subscriptions.json", ""} {
		dir, names := t.TempDir(), []string{"lock"}
		if other != "" {
			names = append(names, other)
		}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("4711\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := serveOn(t, dir, "--serve", "--trade"); !errors.Is(err, journal.ErrForeign) {
			t.Errorf("on a directory with a lock of somebody else and %q: %v", other, err)
		}
		for _, name := range names {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "4711\n" {
				t.Errorf("%s of somebody else holds %q, %v", name, text, err)
			}
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
