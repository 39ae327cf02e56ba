package server

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxPassphrase = 4096 // bytes of the file with the passphrase
	minPassphrase = 12   // characters: what strangers may guess at should not be a word
	maxTyped      = 1000 // characters of a passphrase, as the field of the login page counts them
)

// passphrase returns the owner's passphrase from the file or the environment,
// and which of the two it was; nothing if neither is set. It is a slice of bytes,
// because that can be overwritten and a string cannot. (The environment cannot be
// overwritten either, so the file is the better place.)
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
	if cannot := untypable(secret); cannot != "" {
		clear(secret)
		return nil, "", fmt.Errorf("the passphrase in %s %s: nobody could log in with it", from, cannot)
	}
	return secret, from, nil
}

// readPassphrase reads the passphrase of a file. The line end that editors write is
// not part of it. An empty file is a mistake, not a server without a passphrase.
func readPassphrase(name string) ([]byte, error) {
	content, err := readSecret(name, maxPassphrase)
	if err != nil {
		return nil, err
	}
	secret := bytes.TrimRight(content, "\r\n")
	if len(secret) == 0 {
		return nil, fmt.Errorf("%s holds %d bytes: expected a passphrase of %d to %d characters", name, len(content), minPassphrase, maxTyped)
	}
	return secret, nil
}

// weakness says what makes a passphrase easy to guess, or returns "". It quotes nothing
// of the passphrase, because what it returns becomes part of an error.
func weakness(secret []byte) string {
	if n := utf8.RuneCount(bytes.TrimSpace(secret)); n < minPassphrase {
		return fmt.Sprintf("has %d characters, fewer than %d", n, minPassphrase)
	}
	// If the occurrences of the first character are as long as the whole passphrase, it has
	// no other character.
	_, size := utf8.DecodeRune(secret)
	if bytes.Count(secret, secret[:size])*size == len(secret) {
		return "repeats one character"
	}
	return ""
}

// untypable says why the field of the login page cannot hold a passphrase, or returns "".
// It quotes nothing of the passphrase either. A tab can be pasted, so it is not refused.
func untypable(secret []byte) string {
	if !utf8.Valid(secret) {
		return "is not text in UTF-8, as browsers send it"
	}
	if bytes.HasPrefix(secret, []byte("\ufeff")) {
		return "begins with a byte order mark, which nobody types: save it as UTF-8 without one"
	}
	units := 0 // of UTF-16, in which browsers count
	for i := 0; i < len(secret); {
		r, size := utf8.DecodeRune(secret[i:])
		switch {
		case r == '\n' || r == '\r':
			return "has a line break, and the field of the login page has one line"
		case unicode.IsControl(r) && r != '\t':
			return "has a control character, which no keyboard types"
		}
		i, units = i+size, units+utf16.RuneLen(r)
	}
	if units > maxTyped {
		return fmt.Sprintf("is longer than the %d characters that the login page takes, where an emoji counts as two", maxTyped)
	}
	return ""
}
