package oauth

import (
	"cmp"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"wick/internal/limit"
)

// rounds is the number of PBKDF2 rounds with SHA-256, as OWASP advises. A check takes
// us about a fifth of a second, and each guess takes as long for somebody who finds the
// hash in a core dump.
const rounds = 600_000

// passphrase recognises the owner's passphrase and counts wrong guesses.
//
// Budgets are kept apart. With one for all, a stranger who guesses once a
// minute would keep the owner out for ever; with one per address, a botnet
// would guess without end. So strangers share one budget, this machine has its
// own, so does its socket, where a program may guess while the owner types on a page,
// and each place where the right passphrase came from has its own, which strangers cannot
// use up.
type passphrase struct {
	rounds int
	salt   [16]byte
	key    []byte

	local, socket, strangers budget

	known table[*place] // where the owner logged in, by the digest of the place
}

// budget counts wrong guesses. Guesses that share one are checked one after another, so that
// many at once cost no more CPU than the budget allows, and a right one costs nothing.
type budget struct {
	mu    sync.Mutex
	wrong limit.Bucket // guarded by mu
}

// place is an address or a network from which the right passphrase came.
type place struct {
	budget
	last atomic.Int64 // when it last came, in Unix nanoseconds
}

// A place is an [entry]: it ends only when newer ones push it out.
func (p *place) dies() time.Time { return time.Time{} }
func (p *place) used() int64     { return p.last.Load() }

// newPassphrase hashes text and forgets it. Few are the rounds of a test, zero elsewhere.
func newPassphrase(text []byte, few int) *passphrase {
	p := &passphrase{rounds: cmp.Or(few, rounds)}
	p.known.max = maxPlaces
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

// check reports whether the guess of v is right. If too many guesses were wrong lately, it
// does not look at the guess and returns how long to wait.
func (p *passphrase) check(guess string, v visitor) (right bool, wait time.Duration) {
	b := p.budget(v)
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait = b.wrong.Wait(time.Now(), guesses); wait > 0 {
		return false, wait
	}
	if subtle.ConstantTimeCompare(p.derive([]byte(guess)), p.key) == 1 {
		p.remember(v)
		return true, 0
	}
	b.wrong.Take(time.Now(), guesses)
	return false, 0
}

// budget returns the budget that v's guesses use.
func (p *passphrase) budget(v visitor) *budget {
	switch {
	case v.socket:
		return &p.socket
	case v.here:
		return &p.local
	}
	for _, where := range v.places() {
		if known, ok := p.known.get(digestOf(where.String())); ok && !v.shared {
			return &known.budget
		}
	}
	return &p.strangers
}

// remember notes that the owner logged in from where v is. An untrusted proxy is not
// remembered, since everybody behind it has the same address.
func (p *passphrase) remember(v visitor) {
	if v.here || v.shared || !v.addr.IsValid() {
		return
	}
	for _, where := range v.places() {
		key := digestOf(where.String())
		p.known.add(key, new(place)) // does nothing if it is there
		known, _ := p.known.get(key)
		known.last.Store(time.Now().UnixNano())
	}
}

// Proves returns nil if a text is the owner's passphrase, as somebody on this machine gives
// it who has no browser. Wrong guesses are slowed down.
func (s *Server) Proves(guess string) error { return s.owner.proves(guess) }

// Prover is [Server.Proves] for a process without a server. It keeps a slow hash of the
// passphrase; without one it returns nil.
func Prover(o Options) func(guess string) error {
	if len(o.Passphrase) == 0 {
		return nil
	}
	return newPassphrase(o.Passphrase, o.FewRounds).proves
}

// proves is check for a guess over the socket of this machine.
func (p *passphrase) proves(guess string) error {
	if p == nil {
		return errors.New("there is no passphrase here")
	}
	right, wait := p.check(guess, visitor{here: true, socket: true})
	switch {
	case wait > 0:
		return fmt.Errorf("too many wrong passphrases: try again in %d seconds", seconds(wait))
	case !right:
		return errors.New("that is not the passphrase")
	}
	return nil
}
