package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// digest is the SHA-256 of a text. It stands for a secret wherever one is stored or
// named, and to look one up by it leaks no time: whoever guesses does not know what
// the digest of his guess begins with.
type digest [sha256.Size]byte

// digestOf returns the SHA-256 of a secret. Tables are kept by it, so that memory holds
// no secret.
func digestOf(secret string) digest {
	var room [64]byte // a token fits, and every request brings one
	return sha256.Sum256(append(room[:0], secret...))
}

// short names a digest in a log line: enough to follow a client through it, too
// little to be taken for the thing itself.
func (d digest) short() string { return hex.EncodeToString(d[:4]) }

// newSecret returns 256 random bits as text: a token, a code, a client secret.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
