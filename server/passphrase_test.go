package server

import (
	"bytes"
	"fmt"
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

// TestPassphraseBound: a file with as many bytes as it may have is read, one byte more is
// refused.
func TestPassphraseBound(t *testing.T) {
	const secret = "correct horse battery"
	for size, want := range map[int]string{maxPassphrase: "", maxPassphrase + 1: "1 to 4096"} {
		file := passphraseFile(t, secret+strings.Repeat("\n", size-len(secret)), 0o600)
		c, err := parseConfig([]string{"--serve", "--passphrase-file", file}, env("HOME", "/"), &bytes.Buffer{})
		switch {
		case want == "" && (err != nil || string(c.login.Passphrase) != secret):
			t.Errorf("%d bytes: %v", size, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%d bytes: %v, want an error with %q", size, err, want)
		}
	}
}

// TestPassphraseCanBeTyped: what the field of the login page cannot hold is refused at the
// start, with the reason and without the passphrase. The field counts its characters as
// JavaScript does, in units of UTF-16.
func TestPassphraseCanBeTyped(t *testing.T) {
	page, err := os.ReadFile("../oauth/page.html")
	if err != nil || !bytes.Contains(page, fmt.Appendf(nil, `id="passphrase" name="passphrase" autocomplete="current-password" maxlength="%d"`, maxTyped)) {
		t.Errorf("the field of the login page does not hold %d characters: %v", maxTyped, err)
	}
	for secret, want := range map[string]string{
		strings.Repeat("pq", 1000):                    "1000 characters that the login page takes",
		strings.Repeat("pq", maxTyped/2) + "p":        "1000 characters that the login page takes",
		strings.Repeat("é", maxTyped) + "x":           "1000 characters that the login page takes",
		strings.Repeat("😀", maxTyped/2) + "x":         "1000 characters that the login page takes",
		"first correct line\nsecond correct line":     "line break",
		"first correct line\r\nsecond correct line\n": "line break",
		"\nsecond correct line":                       "line break",
		"correct horse \x1b[A battery":                "control character",
		"correct horse\u0085battery":                  "control character",
		"correct horse \xff battery":                  "UTF-8",
		"\ufeffcorrect horse battery":                 "byte order mark",
		"\xff\xfec\x00o\x00r\x00r\x00e\x00c\x00t":     "UTF-8", // as Windows writes it
	} {
		for way, args := range map[string][]string{
			"file":        {"--serve", "--passphrase-file", passphraseFile(t, secret, 0o600)},
			"environment": {"--serve"},
		} {
			environment := env("HOME", "/")
			if way == "environment" {
				environment = env("HOME", "/", "WICK_PASSPHRASE", secret)
			}
			_, err := parseConfig(args, environment, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "correct") || strings.Contains(err.Error(), "pqpq") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%.30q in the %s: %v, want one line with %q and nothing of it", secret, way, err, want)
			}
		}
	}
	for _, secret := range []string{strings.Repeat("pq", maxTyped/2), strings.Repeat("éè", maxTyped/2), strings.Repeat("😀😁", maxTyped/4), "with a\ttab inside", " correct horse "} {
		for _, end := range []string{"", "\n", "\r\n"} {
			if c := parse(t, env("HOME", "/"), "--serve", "--passphrase-file", passphraseFile(t, secret+end, 0o600)); string(c.login.Passphrase) != secret {
				t.Errorf("%.30q with the end %q became %.30q", secret, end, c.login.Passphrase)
			}
		}
		parse(t, env("HOME", "/", "WICK_PASSPHRASE", secret), "--serve")
	}
	if _, err := parseConfig([]string{"--serve"}, env("HOME", "/", "WICK_PASSPHRASE", "correct horse battery\n"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a line end in the environment, where none is taken off: %v", err)
	}
}

// TestNoPassphraseFile: a flag with nothing after it, as a shell makes of a variable that
// is not set, is no server without a passphrase.
func TestNoPassphraseFile(t *testing.T) {
	if _, err := parseConfig([]string{"--serve", "--passphrase-file="}, env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "--passphrase-file") {
		t.Errorf("--passphrase-file= was taken: %v", err)
	}
}

// TestPassphraseFile: the trailing newline that editors write is not part of
// the passphrase, blanks are.
func TestPassphraseFile(t *testing.T) {
	name := passphraseFile(t, " correct horse \r\n", 0o600)
	if c := parse(t, env("HOME", "/"), "--passphrase-file", name); string(c.login.Passphrase) != " correct horse " || c.login.PassphraseFrom != "--passphrase-file" {
		t.Errorf("passphrase %q from %q", c.login.Passphrase, c.login.PassphraseFrom)
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
