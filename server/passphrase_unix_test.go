//go:build unix

package server

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPassphraseMode: a file of the own user that others may read is refused; a
// secret that another user, such as root, mounted is taken as it is.
func TestPassphraseMode(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o400, 0o640, 0o604, 0o644, 0o620, 0o700} {
		file := passphraseFile(t, "correct horse battery", mode)
		_, err := parseConfig([]string{"--serve", "--passphrase-file", file}, env("HOME", "/"), &bytes.Buffer{})
		if private := mode&0o077 == 0; (err == nil) != private || err != nil && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	file := passphraseFile(t, "correct horse battery", 0o644)
	if err := os.Chown(file, os.Geteuid()+1, -1); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		file = "/etc/hostname" // root's, and readable by all
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := checkPrivate(f); err != nil {
			t.Errorf("a file of root's: %v", err)
		}
		return
	}
	if _, err := parseConfig([]string{"--serve", "--passphrase-file", file}, env("HOME", "/"), &bytes.Buffer{}); err != nil {
		t.Errorf("a file of another user: %v", err)
	}
}
