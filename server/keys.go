package server

import (
	"errors"
	"fmt"
	"io"
	"os"

	"wick/internal/journal"
	"wick/oauth"
	"wick/oauth/fileledger"
)

// maxKeyFile is how long a key file may be, in bytes: eight keys with a comment each.
const maxKeyFile = 4096

// readKeys returns the keys in a file, or none if file is empty. It overwrites the text
// that it read, so that only the keys stay in memory. Errors quote nothing of the file.
func readKeys(file string) ([]oauth.Key, error) {
	if file == "" {
		return nil, nil
	}
	content, err := readSecret(file, maxKeyFile)
	if err != nil {
		return nil, err
	}
	defer clear(content)
	keys, err := oauth.ParseKeys(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

// writeKey makes a key file that only this user can read. It does not replace an existing
// file: the logins that were sealed with the keys in it would end.
func writeKey(file string, out io.Writer) error {
	// O_EXCL refuses an existing file and does not follow a link.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("key: %s is there already and is left as it is: name a new file; docs/keys.md tells how to go from one key to the next", file)
	}
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	text := oauth.NewKey()
	defer clear(text)
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(file) // half a key is useless
		return fmt.Errorf("key: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %s: start wick with --key-file %s, and keep it as secret as the passphrase\n", file, file)
	return err
}

// loginsName is the name of the directory, within the data directory, for what the login
// must not forget. It has a lock of its own, because without --trade the data directory
// has none.
const loginsName = "logins"

// openLogins opens the ledger of logins in the data directory, which the caller closes. It
// fails if another process has the ledger open: two processes with the same key, each with a
// copy of the ledger, would both accept the same code.
func openLogins(dataDir string) (oauth.Ledger, *journal.Dir, error) {
	dir, err := journal.OpenWithin(dataDir, loginsName)
	if err != nil {
		return nil, nil, err
	}
	book, err := fileledger.Open(dir)
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return book, dir, nil
}
