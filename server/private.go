package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"wick/internal/journal"
)

// errShared is the error of a file, directory or socket that others may change or read. This
// user and root are trusted, nobody else. On Windows, where owner and mode say nothing,
// everything is taken.
var errShared = errors.New("not this user's alone")

// private refuses what belongs to a stranger, or has one of some bits of mode. Why says what
// these bits let others do.
func private(name string, info fs.FileInfo, bits fs.FileMode, why string) error {
	owner, known := ownerOf(info)
	switch {
	case !known:
		return nil
	case owner != os.Geteuid() && owner != 0:
		return fmt.Errorf("%s is %w: it belongs to user %d, and wick runs as user %d", name, errShared, owner, os.Geteuid())
	case info.Mode().Perm()&bits != 0:
		return fmt.Errorf("%s is %w: it has mode %04o, so others can %s", name, errShared, info.Mode().Perm(), why)
	}
	return nil
}

// privateDir refuses a directory into which others can put something: the socket in it may
// be theirs, and what it asks for is the passphrase.
func privateDir(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return private(name, info, 0o022, "put files and sockets into it; run chmod 700 on it, or name a new --data-dir, which wick makes")
}

// prepareDir makes the data directory, for this user alone, if there is none. It refuses one
// that is somebody else's. Without another use of it than the socket, a directory that
// cannot be made is no error: openControl says what will not work.
func prepareDir(c *config) error {
	err := journal.Prepare(c.dataDir)
	if err == nil {
		err = privateDir(c.dataDir)
	}
	if c.trade || len(c.keys) > 0 || errors.Is(err, journal.ErrForeign) || errors.Is(err, errShared) {
		return err
	}
	return nil
}

// privateSocket refuses a socket that a stranger has made or could have.
func privateSocket(name string) error {
	if err := privateDir(filepath.Dir(name)); err != nil {
		return err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	return private(name, info, 0o022, "open it; start the wick behind it again")
}

// readSecret reads a file with a secret in it. One of this user must be closed to everybody
// else. One of root may be open to its group: so systemd, Kubernetes and install -g hand a
// secret to a service.
func readSecret(name string, most int) ([]byte, error) {
	return readFile(name, most, func(info fs.FileInfo) error {
		if owner, _ := ownerOf(info); owner == 0 && os.Geteuid() != 0 {
			return private(name, info, 0o027, "read or change it; run chmod 640 on it")
		}
		return private(name, info, 0o077, "read it; run chmod 600 on it")
	})
}

// readOpen reads a file that everybody may read. It may belong to anyone, as in a container,
// but if everybody can change it, it is refused.
func readOpen(name string, most int) ([]byte, error) {
	return readFile(name, most, func(info fs.FileInfo) error {
		if _, known := ownerOf(info); known && info.Mode().Perm()&0o002 != 0 {
			return fmt.Errorf("%s has mode %04o, so everybody can change it; run chmod o-w on it", name, info.Mode().Perm())
		}
		return nil
	})
}

// readFile reads a regular file into one buffer, so that of a secret there is one copy to
// overwrite. It refuses a file that check refuses, and one of more than most bytes. What it
// does not return it overwrites.
func readFile(name string, most int, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := journal.OpenRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // of the open file: by now the name may lead to another
	if err != nil {
		return nil, err
	}
	if err := check(info); err != nil {
		return nil, err
	}
	// The buffer is one byte larger, to tell a file that is too long from one that just
	// fits.
	buffer := make([]byte, most+1)
	n, err := io.ReadFull(f, buffer)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return buffer[:n], nil
	case err == nil:
		err = fmt.Errorf("%s is longer than %d bytes: expected 1 to %d", name, most, most)
	}
	clear(buffer)
	return nil, err
}
