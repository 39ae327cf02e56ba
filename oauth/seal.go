package oauth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// What a sealed text is for. A text sealed for one purpose does not open for
// another, so a client cannot pass its id off as a consent form.
const (
	forClient = "client id"
	forSecret = "client secret"
	forForm   = "consent form"
	forAnswer = "owner's answer"
	forCode   = "code"
	forToken  = "token"
)

// sealKey is a root from which the keys of sealed texts are derived. Without a key file
// there is one, which is made when the server starts and never leaves the process, so
// that a restart ends all that was sealed.
type sealKey [32]byte

// Lengths, in bytes, of the parts of a sealed text before it is encoded in base64: the
// salt, from which its key is derived, the nonce of AES-GCM, and, after the encrypted
// text, the tag of AES-GCM.
const (
	saltLen  = 12
	nonceLen = 12
	tagLen   = 16
)

// derive returns 32 bytes that depend on the root key, the purpose and the
// message, and from which none of them can be found.
func (k *sealKey) derive(purpose string, message []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write(pack(purpose)) // with its length, so that purpose and message cannot run into each other
	mac.Write(message)
	return mac.Sum(nil)
}

// aead returns the cipher for one sealed text. Every text has a key of its own,
// chosen by a random salt: with one key for all, the 96 bits of a random nonce
// would repeat after some billions of registrations, and a repeated nonce breaks
// AES-GCM.
func (k *sealKey) aead(purpose string, salt []byte) cipher.AEAD {
	block, err := aes.NewCipher(k.derive(purpose, salt))
	if err != nil {
		panic("oauth: " + err.Error()) // only for a wrong key length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("oauth: " + err.Error()) // only for a wrong block size
	}
	return aead
}

// seal encrypts plain and returns it as text that nobody can read, change or
// make up, and that only [sealKey.open] with the same purpose takes.
func (k *sealKey) seal(purpose string, plain []byte) string {
	head := make([]byte, saltLen+nonceLen, saltLen+nonceLen+len(plain)+tagLen)
	rand.Read(head) // never fails
	sealed := k.aead(purpose, head[:saltLen]).Seal(head, head[saltLen:], plain, nil)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// open returns what was sealed, or false for a text that is not exactly one
// that seal returned. It refuses line breaks itself, because the base64 decoder skips
// them, and one registration would have many ids.
func (k *sealKey) open(purpose, text string) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < saltLen+nonceLen+tagLen || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	salt, nonce, rest := sealed[:saltLen], sealed[saltLen:saltLen+nonceLen], sealed[saltLen+nonceLen:]
	plain, err = k.aead(purpose, salt).Open(nil, nonce, rest, nil)
	return plain, err == nil
}

// pack writes texts one after the other, each with its length before it. They
// may hold any bytes, as the state that a client sends does.
func pack(texts ...string) []byte {
	var b []byte
	for _, text := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return b
}

// unpack returns the texts that pack wrote, or none if pack cannot have written b.
func unpack(b []byte) (texts []string) {
	for len(b) > 0 {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nil
		}
		b = b[used:]
		texts, b = append(texts, string(b[:n])), b[n:]
	}
	return texts
}

// packTime returns a time as text that can be packed: nanoseconds since 1970.
func packTime(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// unpackTime returns the time that packTime wrote, or false for any other text.
func unpackTime(text string) (time.Time, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(0, n), err == nil
}
