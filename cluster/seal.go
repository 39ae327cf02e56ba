package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	maxSkew   = 30 * time.Second // how far apart the clocks of two replicas may be
	minSecret = 32               // bytes of the secret, at least
)

// sealer seals and opens messages.
type sealer struct {
	aead cipher.AEAD

	mu     sync.Mutex
	seen   map[string]bool // questions since began, by nonce; guarded by mu, like all below
	before map[string]bool // questions of the minute or more before began
	began  time.Time
}

// newSealer returns a sealer whose key is derived from the secret that the replicas
// share.
func newSealer(secret []byte) (*sealer, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the secret of the replicas has %d bytes: at least %d, such as openssl rand -hex 32 prints", len(secret), minSecret)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "wick replicas", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead, seen: make(map[string]bool), began: time.Now()}, err
}

// seal returns a new nonce, followed by text sealed with it. About is bound to the text:
// open succeeds only with the same about.
func (s *sealer) seal(text []byte, about string) []byte {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(text)+s.aead.Overhead())
	rand.Read(nonce) // never fails
	return s.aead.Seal(nonce, nonce, text, []byte(about))
}

// open is the inverse of seal; it also returns the nonce.
func (s *sealer) open(sealed []byte, about string) (text []byte, nonce string, err error) {
	size := s.aead.NonceSize()
	if len(sealed) < size {
		return nil, "", errors.New("too short to be sealed")
	}
	text, err = s.aead.Open(nil, sealed[:size], sealed[size:], []byte(about))
	return text, string(sealed[:size]), err
}

// fresh reports whether a question was made at most maxSkew ago and did not come before.
func (s *sealer) fresh(nonce string, at time.Time) bool {
	now := time.Now()
	if now.Sub(at).Abs() > maxSkew {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.began) > 2*maxSkew { // no question is accepted for longer than that
		s.seen, s.before, s.began = make(map[string]bool), s.seen, now
	}
	again := s.seen[nonce] || s.before[nonce]
	s.seen[nonce] = true
	return !again
}

// knows reports whether the sender of a knock, the value of knockHeader, has the secret
// and a clock at most maxSkew from ours.
func (s *sealer) knows(knock string) bool {
	sealed, bad := base64.StdEncoding.DecodeString(knock)
	text, _, err := s.open(sealed, aboutKnock)
	at, late := time.Parse(time.RFC3339Nano, string(text))
	return errors.Join(bad, err, late) == nil && time.Since(at).Abs() <= maxSkew
}

// What the messages are bound to, so that none passes for one of another kind, and an
// answer fits only its question.
const (
	knockHeader = "Wick-Knock" // the time, sealed

	aboutAsk   = "wick ask"
	aboutKnock = "wick knock"
)

// aboutAnswer returns what an answer is bound to: the nonce of its question.
func aboutAnswer(nonce string) string { return "wick answer " + nonce }
