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

// Keys are the keys of an account. They are written nowhere: not even the error for a bad
// key file quotes anything from it. The zero value means that there are no keys.
type Keys struct{ pair *pair } // a pointer, so that %+v of a struct that has Keys shows only an address

// pair is an account's key id and its secret.
type pair struct{ id, secret string }

// String returns a fixed text, so that keys are in no text that they are formatted into.
func (Keys) String() string { return "(keys)" }

// GoString does the same for %#v.
func (Keys) GoString() string { return "(keys)" }

// ParseKeys reads the lines APCA_API_KEY_ID=... and APCA_API_SECRET_KEY=... of a
// key file. Empty lines and those that begin with # are left out. A line may be written as for
// a shell, with export and quotes.
func ParseKeys(text string) (Keys, error) {
	var k pair
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(name) {
		case keyName:
			k.id = value
		case secretName:
			k.secret = value
		default:
			if line != "" && line[0] != '#' { // it is not quoted, because it may have the secret
				return Keys{}, fmt.Errorf("a line begins neither with %s= nor with %s=", keyName, secretName)
			}
		}
	}
	// A key with a control character must not get into a header.
	bad := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	for _, half := range []string{k.id, k.secret} {
		if half == "" || len(half) > 256 || strings.ContainsFunc(half, bad) {
			return Keys{}, fmt.Errorf("the file holds no pair of keys: it needs two lines, which begin with %s= and %s=", keyName, secretName)
		}
	}
	return Keys{&k}, nil
}
