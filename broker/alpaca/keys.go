package alpaca

import (
	"fmt"
	"strings"
)

// The names under which Alpaca's own tools keep the two halves of a key.
const (
	keyName    = "APCA_API_KEY_ID"
	secretName = "APCA_API_SECRET_KEY"
)

// Keys are what an account is reached with. They are written nowhere: not even an
// error that quotes a bad file shows more than the name of a line. Zero means no keys.
type Keys struct{ pair *pair } // behind a pointer: %+v of a struct that holds them shows an address

// pair is an account's key id and its secret.
type pair struct{ id, secret string }

// String keeps keys out of every text that somebody formats them into.
func (Keys) String() string { return "(keys)" }

// GoString does the same for %#v.
func (Keys) GoString() string { return "(keys)" }

// ParseKeys reads the lines APCA_API_KEY_ID=... and APCA_API_SECRET_KEY=... of a
// key file. Empty lines and those that begin with # are left out.
func ParseKeys(text string) (Keys, error) {
	var k pair
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		// As in a file that a shell reads, with quotes or without. The line is not
		// quoted in an error: it may be the secret.
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(name) {
		case keyName:
			k.id = value
		case secretName:
			k.secret = value
		default:
			return Keys{}, fmt.Errorf("a line begins neither with %s= nor with %s=", keyName, secretName)
		}
	}
	// Checked here, at the start: a key with a line break would end the header it
	// stands in.
	if !plain(k.id) || !plain(k.secret) {
		return Keys{}, fmt.Errorf("the file holds no pair of keys: it needs two lines, which begin with %s= and %s=", keyName, secretName)
	}
	return Keys{&k}, nil
}

// plain reports whether a key can stand in a header.
func plain(key string) bool {
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return key != "" && len(key) <= 256
}
