package oauth

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

// stretch is the number of PBKDF2 rounds with SHA-256, as OWASP advises: about
// a fifth of a second for us, and for whoever finds the hash in a core dump the
// same for every guess.
const stretch = 600_000

// guesses is how often a wrong passphrase may be tried, over all addresses: a
// bucket of five, one back a minute. Guessing a million takes two years.
var guesses = rate{burst: 5, every: time.Minute}

// passphrase knows the owner's passphrase when it sees it.
type passphrase struct {
	rounds int
	salt   [16]byte
	key    []byte

	mu    sync.Mutex
	wrong bucket // guarded by mu
}

func newPassphrase(text string, rounds int) *passphrase {
	p := &passphrase{rounds: rounds}
	rand.Read(p.salt[:]) // never fails
	p.key = p.derive(text)
	return p
}

func (p *passphrase) derive(text string) []byte {
	key, err := pbkdf2.Key(sha256.New, text, p.salt[:], p.rounds, sha256.Size)
	if err != nil {
		panic("oauth: " + err.Error()) // only for a key length or rounds out of bounds
	}
	return key
}

// check compares a guess. When too many were wrong lately it does not look at
// the guess at all and returns how long to wait. A guess is paid for before it
// is hashed, so that many at once cost no more CPU than the bucket holds, and a
// right one gets its payment back.
func (p *passphrase) check(guess string) (right bool, wait time.Duration) {
	p.mu.Lock()
	wait = p.wrong.take(time.Now(), guesses)
	p.mu.Unlock()
	if wait > 0 {
		return false, wait
	}
	if subtle.ConstantTimeCompare(p.derive(guess), p.key) == 0 {
		return false, 0
	}
	p.mu.Lock()
	p.wrong.giveBack()
	p.mu.Unlock()
	return true, 0
}
