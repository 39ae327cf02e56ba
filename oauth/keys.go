package oauth

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
)

// keyMark begins the line of a key in a key file. The number is the format's.
const keyMark = "wick-key-1:"

// maxKeys is how many keys a file may hold: the one in use, and earlier ones whose
// logins have not ended. The number is small because each key is tried on what a
// stranger sends.
const maxKeys = 8

// Key is a root key that several processes share, and one process with its
// successor after a restart. Whoever has it can make any login. It prints as
// "[key]" with every verb, so that no log line and no error can show it.
type Key struct{ root sealKey }

// Format writes the same text for every key.
func (Key) Format(f fmt.State, _ rune) { io.WriteString(f, "[key]") }

// NewKey returns a key file with one new key. The caller writes it where only the
// owner can read it, and overwrites these bytes.
func NewKey() []byte {
	var root sealKey
	rand.Read(root[:]) // never fails
	text := []byte("# Seals the logins of wick: whoever has this file can log in as anyone. Mode 0600; docs/keys.md tells how to change it.\n" + keyMark)
	text = base64.RawURLEncoding.AppendEncode(text, root[:])
	clear(root[:])
	return append(text, '\n')
}

// ParseKeys reads a key file, with one key per line: the first key seals, all keys open.
// Blank lines and lines that begin with # are ignored. Errors name a line by its number
// and never quote it, since it may hold a key.
func ParseKeys(text []byte) ([]Key, error) {
	var keys []Key
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, ok := parseKey(line)
		same := slices.Index(keys, key)
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d is not a key: expected %s and 43 characters, as wick key writes them", n, keyMark)
		case len(keys) == maxKeys:
			return nil, fmt.Errorf("line %d is one key too many: at most %d are taken, so remove the oldest", n, maxKeys)
		case same >= 0:
			return nil, fmt.Errorf("line %d repeats key %d: remove one of the two", n, same+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it: wick key FILE makes one")
	}
	return keys, nil
}

// parseKey reads a line. It refuses a key of one repeated byte: somebody typed that, and
// it is not random.
func parseKey(line []byte) (key Key, ok bool) {
	text, ok := bytes.CutPrefix(line, []byte(keyMark))
	if !ok || base64.RawURLEncoding.DecodedLen(len(text)) != len(key.root) {
		return key, false
	}
	n, err := base64.RawURLEncoding.Strict().Decode(key.root[:], text)
	return key, err == nil && n == len(key.root) && bytes.Count(key.root[:], key.root[:1]) < n
}
