package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// PKCE (RFC 7636) is done with S256 only: "plain" would hand the verifier to
// whoever reads the authorization request.

// challengeLen is the length of a SHA-256 in base64url without padding, the
// only length an S256 challenge can have.
const challengeLen = 43

// validChallenge reports whether s may be the SHA-256 of a verifier, in base64url.
func validChallenge(s string) bool { return len(s) == challengeLen && unreserved(s) }

// validVerifier reports whether s has the length and the characters of RFC 7636.
func validVerifier(s string) bool { return len(s) >= 43 && len(s) <= 128 && unreserved(s) }

// unreserved reports whether s is made of the characters that RFC 7636 allows
// in a verifier.
func unreserved(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-._~", c))
	}) < 0
}

// verifies reports whether verifier is the one that challenge was made from. An
// empty challenge fits nothing, so a code without one could not be exchanged.
func verifies(challenge, verifier string) bool {
	if challenge == "" || !validVerifier(verifier) {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	want := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(want), []byte(challenge)) == 1
}
