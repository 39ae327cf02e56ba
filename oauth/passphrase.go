package oauth

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"sync"
	"time"

	"wick/limit"
)

// stretch is the number of PBKDF2 rounds with SHA-256, as OWASP advises: about
// a fifth of a second for us, and for whoever finds the hash in a core dump the
// same for every guess.
const stretch = 600_000

// guesses is how often a wrong passphrase may be tried: five times, and once
// more a minute. Guessing a million takes two years.
var guesses = limit.Rate{Burst: 5, Every: time.Minute}

// maxPlaces bounds the places from which the owner is known to have logged in.
const maxPlaces = 64

// passphrase recognises the owner's passphrase and counts wrong guesses.
//
// Three budgets are kept apart. With one for all, a stranger who guesses once a
// minute would keep the owner out for ever; with one per address, a botnet
// would guess without end. So strangers share one budget, this machine has its
// own, and each place where the right passphrase came from has its own, which
// strangers cannot use up.
type passphrase struct {
	rounds int
	salt   [16]byte
	key    []byte

	mu               sync.Mutex
	local, strangers limit.Bucket            // guarded by mu, like the next
	known            map[netip.Prefix]*place // where the owner logged in, at most maxPlaces
}

// place is somewhere the right passphrase came from.
type place struct {
	wrong limit.Bucket
	last  time.Time // when it last came
}

// newPassphrase hashes text and forgets it.
func newPassphrase(text []byte, rounds int) *passphrase {
	p := &passphrase{rounds: rounds, known: make(map[netip.Prefix]*place)}
	rand.Read(p.salt[:]) // never fails
	p.key = p.derive(text)
	return p
}

// derive returns the slow hash of text. PBKDF2 gets its SHA-256 in place of the
// text: the standard library wants a string, and a string cannot be wiped.
func (p *passphrase) derive(text []byte) []byte {
	sum := sha256.Sum256(text)
	key, err := pbkdf2.Key(sha256.New, string(sum[:]), p.salt[:], p.rounds, sha256.Size)
	if err != nil {
		panic("oauth: " + err.Error()) // only for a key length or rounds out of bounds
	}
	return key
}

// check compares a guess of v. When too many were wrong lately it does not look
// at the guess at all and returns how long to wait. A guess is paid for before
// it is hashed, so that many at once cost no more CPU than the budget holds, and
// a right one gets its payment back.
func (p *passphrase) check(guess string, v visitor) (right bool, wait time.Duration) {
	p.mu.Lock()
	budget := p.budget(v)
	wait = budget.Take(time.Now(), guesses)
	p.mu.Unlock()
	if wait > 0 {
		return false, wait
	}
	if subtle.ConstantTimeCompare(p.derive([]byte(guess)), p.key) == 0 {
		return false, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	budget.GiveBack()
	p.remember(v)
	return true, 0
}

// budget returns the bucket that v's guesses draw on. The caller holds mu, here
// and below.
func (p *passphrase) budget(v visitor) *limit.Bucket {
	if v.local {
		return &p.local
	}
	if known := p.known[v.place()]; known != nil && !v.shared {
		return &known.wrong
	}
	return &p.strangers
}

// remember notes that the owner is where v is. Behind a proxy that is not
// trusted everybody is in that place, so it is not one to remember.
func (p *passphrase) remember(v visitor) {
	at := v.place()
	if v.local || v.shared || !at.IsValid() {
		return
	}
	if p.known[at] == nil {
		if len(p.known) >= maxPlaces {
			delete(p.known, p.stalest())
		}
		p.known[at] = new(place)
	}
	p.known[at].last = time.Now()
}

// stalest returns the place that the owner has not come from for longest.
func (p *passphrase) stalest() (at netip.Prefix) {
	for prefix, known := range p.known {
		if !at.IsValid() || known.last.Before(p.known[at].last) {
			at = prefix
		}
	}
	return at
}
