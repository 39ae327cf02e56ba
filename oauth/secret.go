package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// digest is the SHA-256 of a text. Secrets are stored, looked up and named by their
// digests. How long a lookup takes may tell a guesser something about a stored digest,
// but no secret can be found from its digest.
type digest [sha256.Size]byte

// digestOf returns the SHA-256 of a secret. It is the key of tables, so that memory holds
// no secret.
func digestOf(secret string) digest {
	var room [maxSealed]byte // a token fits: the check of a request allocates nothing
	return sha256.Sum256(append(room[:0], secret...))
}

// short returns the first characters of a digest, for the log: enough to follow a client
// through it, too few to be used as the digest.
func (d digest) short() string { return hex.EncodeToString(d[:4]) }

// newSecret returns 256 random bits as text: a token, a code, a client secret.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
