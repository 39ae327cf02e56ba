package server

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"wick/internal/journal"
	"wick/oauth"
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
	if secret, from = []byte(env("WICK_PASSPHRASE")), "WICK_PASSPHRASE"; file != "" {
		from = "--passphrase-file"
		if secret, err = readPassphrase(file); err != nil {
			return nil, "", fmt.Errorf("%s: %w", from, err)
		}
	}
	switch {
	case len(secret) == 0:
		return nil, "", nil
	case !fit(secret):
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

// writeKey makes a key file that only this user can read. It does not replace an existing
// file: the logins that were sealed with the keys in it would end.
func writeKey(file string, out io.Writer) error {
	// O_EXCL refuses an existing file and does not follow a link.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("key: %s is there already and is left as it is: name a new file; docs/keys.md says how to change the key", file)
	}
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	text := oauth.NewKey()
	defer clear(text)
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(file) // half a key is useless
		return fmt.Errorf("key: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %s: start wick with --key-file %s, and keep it as secret as the passphrase\n", file, file)
	return err
}

// loginsName is the name of the directory, within the data directory, for what the login
// must not forget. It has a lock of its own, because without --trade the data directory
// has none.
const loginsName = "logins"

// errShared is the error of a file, directory or socket that others may change or read. This
// user and root are trusted, nobody else. On Windows owner and mode have no such meaning, and
// nothing is refused.
var errShared = errors.New("not this user's alone")

// private refuses a file that belongs to another user, or whose mode has one of the given bits.
// The text why says what these bits let others do.
func private(name string, info fs.FileInfo, bits fs.FileMode, why string) error {
	owner, known := ownerOf(info)
	switch {
	case !known:
		return nil
	case owner != os.Geteuid() && owner != 0:
		return fmt.Errorf("%s is %w: it belongs to user %d, and wick runs as user %d", name, errShared, owner, os.Geteuid())
	case info.Mode().Perm()&bits != 0:
		return fmt.Errorf("%s is %w: it has mode %04o, so others can %s", name, errShared, info.Mode().Perm(), why)
	}
	return nil
}

// privateDir refuses a directory into which others can put something: the socket in it may
// be theirs, and what it asks for is the passphrase.
func privateDir(name string) error {
	info, err := os.Stat(name)
	if err == nil {
		err = private(name, info, 0o022, "put files and sockets into it; run chmod 700 on it, or name a new --data-dir, which wick makes")
	}
	return err
}

// privatePrices refuses a CSV file, or a directory of them, that others can change: what an
// order is worth, and so whether a person is asked, is judged by its prices.
func privatePrices(name string, info fs.FileInfo) error {
	return private(name, info, 0o022, "change the prices by which real orders are judged; run chmod go-w on it")
}

// prepareDir makes the data directory, for this user alone, if there is none. It is called before
// anything is opened for writing, and refuses a directory that is somebody else's or in use by
// another wick. It finds a wick that trades by its lock, and any server by its socket. Over stdio
// the lock is no reason to refuse, since this process then attaches to the other one. A wick that
// starts at the same moment may be missed here; opening the socket finds it. If the directory is
// needed for the socket alone, it is no error that it cannot be made: openControl logs what
// will not work.
func prepareDir(c *config) error {
	err := journal.Prepare(c.dataDir)
	if err == nil {
		err = privateDir(c.dataDir)
	}
	if err != nil && (c.trade || len(c.login.Keys) > 0 || errors.Is(err, journal.ErrForeign) || errors.Is(err, errShared)) {
		return err
	}
	switch locked := errors.Is(journal.Free(c.dataDir), journal.ErrHeld); {
	case !locked:
		return checkSilent(c.dataDir)
	case c.mcp:
		return nil
	}
	return held(c.dataDir)
}

// readSecret reads a file with a secret in it. One of this user must be closed to everybody
// else. One of root may be open to its group: so systemd, Kubernetes and install -g hand a
// secret to a service.
func readSecret(name string, most int) ([]byte, error) { return readFile(name, most, true) }

// readOpen reads a file that everybody may read. It may belong to anyone, as in a container,
// but if everybody can change it, it is refused.
func readOpen(name string, most int) ([]byte, error) { return readFile(name, most, false) }

// readFile reads a regular file of at most so many bytes into one buffer, so that of a secret
// there is one copy to overwrite. What it does not return it overwrites.
func readFile(name string, most int, secret bool) ([]byte, error) {
	f, err := journal.OpenRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // of the open file: by now the name may lead to another
	if err != nil {
		return nil, err
	}
	switch owner, known := ownerOf(info); {
	case secret && owner == 0 && os.Geteuid() != 0:
		err = private(name, info, 0o027, "read or change it; run chmod 640 on it")
	case secret:
		err = private(name, info, 0o077, "read it; run chmod 600 on it")
	case known && info.Mode().Perm()&0o002 != 0:
		err = fmt.Errorf("%s has mode %04o, so everybody can change it; run chmod o-w on it", name, info.Mode().Perm())
	}
	if err != nil {
		return nil, err
	}
	// The buffer is one byte larger, to tell a file that is too long from one that just
	// fits.
	buffer := make([]byte, most+1)
	n, err := io.ReadFull(f, buffer)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return buffer[:n], nil
	case err == nil:
		err = fmt.Errorf("%s is longer than %d bytes: expected 1 to %d", name, most, most)
	}
	clear(buffer)
	return nil, err
}
