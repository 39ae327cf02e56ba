package oauth

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// What a sealed text is for. A text sealed for one purpose does not open for
// another, so a client cannot pass its id off as a consent form.
const (
	forClient = "client id"
	forSecret = "client secret"
	forForm   = "form"
	forCode   = "code"
	forToken  = "token"
)

// Key is a root from which the keys of sealed texts are derived. Several processes may share
// it, and one process with its successor after a restart. Whoever has it can make any login.
// It prints as "[key]" with every verb, so that no log line and no error can show it.
type Key [32]byte

// Format writes the same text for every key.
func (Key) Format(f fmt.State, _ rune) { io.WriteString(f, "[key]") }

// randomKey returns a new key.
func randomKey() (k Key) {
	rand.Read(k[:]) // never fails
	return k
}

// saltLen is the length, in bytes, of the salt that a sealed text begins with, from which its
// key is derived. The nonce of AES-GCM and the encrypted text follow it.
const saltLen = 12

// derive returns 32 bytes that depend on the root key, the purpose and the
// message, and from which none of them can be found.
func (k *Key) derive(purpose string, message []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	io.WriteString(mac, purpose+"\x00") // no purpose has a zero byte, so that it cannot run into the message
	mac.Write(message)
	return mac.Sum(nil)
}

// aead returns the cipher for one sealed text. Every text has a key of its own,
// chosen by a random salt: with one key for all, the 96 bits of a random nonce
// would repeat after some billions of registrations, and a repeated nonce breaks
// AES-GCM.
func (k *Key) aead(purpose string, salt []byte) cipher.AEAD {
	block, err := aes.NewCipher(k.derive(purpose, salt))
	if err != nil {
		panic("oauth: " + err.Error()) // only for a wrong key length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("oauth: " + err.Error()) // only for a wrong block size
	}
	return aead
}

// seal encrypts plain and returns it as text that nobody can read, change or
// make up, and that only [Key.open] with the same purpose takes.
func (k *Key) seal(purpose string, plain []byte) string {
	salt := make([]byte, saltLen)
	rand.Read(salt) // never fails
	return base64.RawURLEncoding.EncodeToString(k.aead(purpose, salt).Seal(salt, nil, plain, nil))
}

// open returns what was sealed, or false for a text that is not exactly one
// that seal returned. It refuses line breaks itself, because the base64 decoder skips
// them, and one registration would have many ids.
func (k *Key) open(purpose, text string) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < saltLen || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	plain, err = k.aead(purpose, sealed[:saltLen]).Open(nil, nil, sealed[saltLen:], nil)
	return plain, err == nil
}

// seal seals v, as JSON, with the first key. The base URL is part of the purpose: two
// services that share a key by mistake do not take each other's logins.
func (s *Server) seal(purpose string, v any) string {
	return s.keys[0].seal(purpose+" of "+s.base, encodeJSON(v))
}

// open reads into v what seal sealed with any of the keys, and returns that key. For any
// other text it returns nil.
func (s *Server) open(purpose, text string, v any) (by *Key) {
	for i := range s.keys {
		if plain, ok := s.keys[i].open(purpose+" of "+s.base, text); ok && json.Unmarshal(plain, v) == nil {
			return &s.keys[i]
		}
	}
	return nil
}

// encodeJSON returns v as a line of JSON without HTML escaping: URLs keep their ampersands.
// Types given here are ours and always encode.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("oauth: " + err.Error())
	}
	return b.Bytes()
}

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

// String returns the digest as hex.
func (d digest) String() string { return hex.EncodeToString(d[:]) }

// short returns the first characters of a digest, for the log: enough to follow a client
// through it, too few to be used as the digest.
func (d digest) short() string { return hex.EncodeToString(d[:4]) }

// newSecret returns 256 random bits as text: a token, a code, a client secret.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// keyMark begins the line of a key in a key file. The number is the format's.
const keyMark = "wick-key-1:"

// maxKeys is how many keys a file may hold: the one in use, and earlier ones whose
// logins have not ended. The number is small because each key is tried on what a
// stranger sends.
const maxKeys = 8

// NewKey returns a key file with one new key. The caller writes it where only the
// owner can read it, and overwrites these bytes.
func NewKey() []byte {
	root := randomKey()
	text := []byte("# Seals the logins of wick: whoever has this file can log in as anyone. Mode 0600; docs/keys.md tells how to change it.\n" + keyMark)
	text = base64.RawURLEncoding.AppendEncode(text, root[:])
	clear(root[:])
	return append(text, '\n')
}

// ParseKeys reads a key file, with one key per line: the first key seals, all keys open.
// Blank lines and lines that begin with # are ignored. Errors name a line by its number
// and never quote it, since it may hold a key. A key of one repeated byte is refused: somebody
// typed that, and it is not random.
func ParseKeys(text []byte) ([]Key, error) {
	var keys []Key
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var key Key
		text, marked := bytes.CutPrefix(line, []byte(keyMark))
		root, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
		copy(key[:], root)
		same := slices.Index(keys, key)
		switch {
		case !marked || err != nil || len(root) != len(key) || bytes.Count(root, root[:1]) == len(root):
			return nil, fmt.Errorf("line %d is not a key: expected %s and 43 characters, as wick key writes them", n, keyMark)
		case len(keys) == maxKeys:
			return nil, fmt.Errorf("line %d is one key too many: at most %d are taken, so remove the oldest", n, maxKeys)
		case same >= 0:
			return nil, fmt.Errorf("line %d repeats key %d: remove one of the two", n, same+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it: wick key FILE makes one")
	}
	return keys, nil
}
