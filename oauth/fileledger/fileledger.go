// Package fileledger keeps an [oauth.Ledger] in a directory that one process has to
// itself, so that a process that is started again refuses the codes that were used
// and the logins that were revoked before it.
//
// The whole book is one small file, which every change replaces at once: a crash
// leaves the old one or the new one. Changes are as rare as logins. The file holds
// random ids and times, and no key, code or token.
package fileledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"wick/internal/journal"
	"wick/oauth"
)

// name is the name of the file. Its first line is mark and the SHA-256 of all that
// follows that line.
const (
	name = "ledger.json"
	mark = "wick ledger 1 "
)

// maxFile is the size of the largest file that is read, in bytes. A full book needs less
// than a quarter of it.
const maxFile = 1 << 20

// Open returns the ledger in d. If there is none it makes one; everything that was sealed
// with the same key before has then ended. A damaged file is an error, because it does not
// tell what was revoked.
func Open(d journal.Disk) (*oauth.BookLedger, error) {
	save := func(b oauth.Book) error {
		// The directory may have been moved since it was opened.
		if err := d.Held("", nil); err != nil {
			return err
		}
		return journal.WriteAtomic(d, name, encode(b))
	}
	text, err := d.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		b := oauth.NewBook()
		return oauth.NewLedger(b, save), save(b)
	}
	if err != nil {
		return nil, err
	}
	b, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; put it back from a copy, or remove it, and everybody logs in again", d.Path(name), err)
	}
	return oauth.NewLedger(b, save), nil
}

// encode returns the content of a file with this book.
func encode(b oauth.Book) []byte {
	body, err := json.Marshal(b)
	if err != nil {
		panic("fileledger: " + err.Error()) // texts and numbers can always be encoded
	}
	sum := sha256.Sum256(body)
	return append([]byte(mark+hex.EncodeToString(sum[:])+"\n"), body...)
}

// decode reads what encode wrote, and returns an error for anything else.
func decode(text []byte) (b oauth.Book, err error) {
	if len(text) > maxFile {
		return b, fmt.Errorf("it has %d bytes, more than %d", len(text), maxFile)
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(head) != mark+hex.EncodeToString(sum[:]) {
		return b, errors.New("its first line is not the checksum of the rest")
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return b, err
	}
	return b, b.Check()
}
