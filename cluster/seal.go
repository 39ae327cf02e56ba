package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
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
	seen   map[string]bool // passes since began, by nonce; guarded by mu, like all below
	before map[string]bool // passes of the minute or more before began
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

// pass returns what announces a sealed question: when it is sent, how long it is and its
// digest, sealed.
func (s *sealer) pass(question []byte, at time.Time) string {
	sum := sha256.Sum256(question)
	text := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))
	text = binary.BigEndian.AppendUint64(text, uint64(len(question)))
	return base64.StdEncoding.EncodeToString(s.seal(append(text, sum[:]...), aboutPass))
}

// admit opens a pass and returns the length and the digest of the question that it
// announces. It reports false if the sender does not have the secret, made the pass more
// than maxSkew ago by our clock, or has sent it before.
func (s *sealer) admit(pass string) (size int64, sum [sha256.Size]byte, ok bool) {
	sealed, bad := base64.StdEncoding.DecodeString(pass)
	text, nonce, err := s.open(sealed, aboutPass)
	if bad != nil || err != nil || len(text) != 16+len(sum) {
		return 0, sum, false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(text)))
	size = int64(binary.BigEndian.Uint64(text[8:]))
	copy(sum[:], text[16:])
	return size, sum, size >= 0 && s.fresh(nonce, at)
}

// fresh reports whether a pass was made at most maxSkew ago and did not come before.
func (s *sealer) fresh(nonce string, at time.Time) bool {
	now := time.Now()
	if now.Sub(at).Abs() > maxSkew {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.began) > 2*maxSkew { // no pass is accepted for longer than that
		s.seen, s.before, s.began = make(map[string]bool), s.seen, now
	}
	again := s.seen[nonce] || s.before[nonce]
	s.seen[nonce] = true
	return !again
}

// What the messages are bound to, so that none passes for one of another kind, and an
// answer fits only its question.
const (
	passHeader = "Wick-Pass" // see sealer.pass

	aboutAsk  = "wick ask"
	aboutPass = "wick pass"
)

// aboutAnswer returns what an answer is bound to: the nonce of its question.
func aboutAnswer(nonce string) string { return "wick answer " + nonce }
