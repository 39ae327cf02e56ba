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
	if !fit(secret) {
		clear(secret)
		return nil, "", fmt.Errorf("the passphrase in %s cannot be used: it must have %d characters or more, of which not all are the same, and at most the %d characters that the login page takes, where an emoji counts as two; "+
			"in UTF-8, without a line break, another control character or a byte order mark, such as %s", from, minPassphrase, maxTyped, rand.Text())
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

// fit reports whether a passphrase is hard enough to guess and can be typed or pasted, as
// a tab can, into the one line of the login page.
func fit(secret []byte) bool {
	units, varied := 0, false // of UTF-16, in which browsers count
	first, _ := utf8.DecodeRune(secret)
	for i := 0; i < len(secret); {
		r, size := utf8.DecodeRune(secret[i:])
		if unicode.IsControl(r) && r != '\t' {
			return false
		}
		i, units, varied = i+size, units+utf16.RuneLen(r), varied || r != first
	}
	return varied && units <= maxTyped && utf8.Valid(secret) && first != '\ufeff' &&
		utf8.RuneCount(bytes.TrimSpace(secret)) >= minPassphrase
}
