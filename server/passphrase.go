package server

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

const (
	maxPassphrase = 4096 // bytes of the file with the passphrase
	minPassphrase = 12   // characters: what strangers may guess at should not be a word
)

// passphrase returns the owner's passphrase from the file or the environment,
// and which of them; nothing when neither is set. It stays a slice of bytes on
// its way, because those can be overwritten and a string cannot. (The
// environment cannot be either, so the file is the better place.)
func passphrase(file string, env func(string) string) (secret []byte, from string, err error) {
	if file == "" {
		secret, from = []byte(env("WICK_PASSPHRASE")), "WICK_PASSPHRASE"
		if len(secret) == 0 {
			return nil, "", nil
		}
	} else {
		from = "--passphrase-file"
		if secret, err = readPassphrase(file); err != nil {
			return nil, "", fmt.Errorf("--passphrase-file: %w", err)
		}
	}
	if weak := weakness(secret); weak != "" {
		clear(secret)
		return nil, "", fmt.Errorf("the passphrase in %s %s: choose a longer one, such as %s", from, weak, rand.Text())
	}
	return secret, from, nil
}

// readPassphrase reads the passphrase of a file. The line end that editors write is
// not part of it. An empty file is a mistake, not a server without a passphrase.
func readPassphrase(name string) ([]byte, error) {
	content, err := readPrivate(name, maxPassphrase)
	if err != nil {
		return nil, err
	}
	secret := bytes.TrimRight(content, "\r\n")
	if len(secret) == 0 {
		return nil, fmt.Errorf("%s holds %d bytes: expected a passphrase of 1 to %d", name, len(content), maxPassphrase)
	}
	return secret, nil
}

// readPrivate reads a file that holds a secret into one buffer, so that there is one
// copy to overwrite. It refuses a file that others may read, and one of more than most
// bytes.
func readPrivate(name string, most int) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Checked on the open file: by now the name may lead to another.
	if err := checkPrivate(f); err != nil {
		return nil, err
	}
	return readMost(f, most)
}

// readMost reads a file to its end, and refuses one of more than most bytes. What it does
// not return it overwrites.
func readMost(f *os.File, most int) ([]byte, error) {
	// Room for one byte more tells a file that is too long from one that just fits.
	buffer := make([]byte, most+1)
	n, err := io.ReadFull(f, buffer)
	switch {
	case err == nil:
		clear(buffer)
		return nil, fmt.Errorf("%s is longer than %d bytes: expected 1 to %d", f.Name(), most, most)
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		clear(buffer)
		return nil, err
	}
	return buffer[:n], nil
}

// weakness says what makes a passphrase easy to guess, or nothing. It quotes nothing of
// it, since its words go into an error.
func weakness(secret []byte) string {
	if n := utf8.RuneCount(bytes.TrimSpace(secret)); n < minPassphrase {
		return fmt.Sprintf("has %d characters, fewer than %d", n, minPassphrase)
	}
	// If the first character, counted over the whole, makes up all of it, there is no
	// other.
	_, size := utf8.DecodeRune(secret)
	if bytes.Count(secret, secret[:size])*size == len(secret) {
		return "repeats one character"
	}
	return ""
}
