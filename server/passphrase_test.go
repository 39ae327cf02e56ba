package server

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// passphraseFile writes a file with the mode that it is to have.
func passphraseFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPassphraseBound: the longest passphrase is taken whole, one byte more is
// refused.
func TestPassphraseBound(t *testing.T) {
	for size, want := range map[int]string{maxPassphrase: "", maxPassphrase + 1: "1 to 4096"} {
		file := passphraseFile(t, strings.Repeat("pq", size)[:size], 0o600)
		c, err := parseConfig([]string{"--serve", "--passphrase-file", file}, env("HOME", "/"), &bytes.Buffer{})
		switch {
		case want == "" && (err != nil || len(c.passphrase) != size):
			t.Errorf("%d bytes: %v", size, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%d bytes: %v, want an error with %q", size, err, want)
		}
	}
}

// TestPassphraseFile: the trailing newline that editors write is not part of
// the passphrase, blanks are.
func TestPassphraseFile(t *testing.T) {
	name := passphraseFile(t, " correct horse \r\n", 0o600)
	if c := parse(t, env("HOME", "/"), "--passphrase-file", name); string(c.passphrase) != " correct horse " || c.passphraseFrom != "--passphrase-file" {
		t.Errorf("passphrase %q from %q", c.passphrase, c.passphraseFrom)
	}
}

// TestWeakPassphrase: what could be guessed is refused at the start, with a
// better one that is new each time; the refused one is not repeated.
func TestWeakPassphrase(t *testing.T) {
	suggestion := regexp.MustCompile(`such as ([A-Z2-7]{26})$`)
	seen := make(map[string]bool)
	for _, word := range []string{"a", "eleven char", strings.Repeat("x", 100), strings.Repeat("é", 20), "ééééé ééééé", "   short      "} { // minPassphrase is 12 characters
		for _, way := range []string{"file", "environment"} {
			args, environment := []string{"--serve"}, env("HOME", "/", "WICK_PASSPHRASE", word)
			if way == "file" {
				args, environment = append(args, "--passphrase-file", passphraseFile(t, word, 0o600)), env("HOME", "/")
			}
			_, err := parseConfig(args, environment, &bytes.Buffer{})
			if err == nil || strings.Contains(err.Error(), "\n") || len(word) > 1 && strings.Contains(err.Error(), word) {
				t.Errorf("%q in the %s: %v, want one line without it", word, way, err)
				continue
			}
			m := suggestion.FindStringSubmatch(err.Error())
			if m == nil || seen[m[1]] {
				t.Errorf("%q in the %s: %v, want a new suggestion", word, way, err)
				continue
			}
			seen[m[1]] = true
		}
	}
	for _, word := range []string{"twelve chars", "éèêëéèêëéèêë", "aaaaaaaaaaab"} {
		parse(t, env("HOME", "/", "WICK_PASSPHRASE", word), "--serve")
	}
}

// TestPassphrasePipe: what is no file is refused at once; reading a pipe would
// wait for its writer, and no signal would end that.
func TestPassphrasePipe(t *testing.T) {
	_, err := parseConfig([]string{"--serve", "--passphrase-file", t.TempDir()}, env("HOME", "/"), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}
