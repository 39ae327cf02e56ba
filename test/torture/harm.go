//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// harms counts what was done to the binary besides the plain kills.
type harms struct {
	starts, recoveries, rotations, full, restores int
}

func (h harms) String() string {
	return fmt.Sprintf("kills during a start %d, during a recovery %d, at a rotation %d; full disks %d, backups restored %d",
		h.starts, h.recoveries, h.rotations, h.full, h.restores)
}

// run is one run of the torture.
type run struct {
	wick, dir, backup string
	small             bool // the file system of dir is small enough to be filled
	rng               *rand.Rand
	oracle, saved     *oracle // saved is the oracle as it was when the backup was taken; nil if there is none
	harms             harms
	logins            *logins
}

// between does to the directory of the dead process what can happen on an owner's bad day:
// a start or a recovery that is killed, a full disk, a backup that is restored.
func (r *run) between() error {
	switch n := r.rng.IntN(20); {
	case n < 4:
		r.harms.starts++
		return r.cutShort()
	case n < 7:
		r.harms.recoveries++
		return r.cutShort("--recover=yes")
	case n < 9 && r.small:
		r.harms.full++
		return r.startFull()
	case n == 9 && r.saved == nil:
		r.saved = r.oracle.clone()
		return copyDir(r.dir, r.backup)
	case n == 10 && r.saved != nil:
		r.harms.restores++
		return r.restore()
	}
	return nil
}

// cutShort starts the binary and kills it up to 80 ms later, whatever it is doing
// then, several times in a row.
func (r *run) cutShort(flags ...string) error {
	for range 1 + r.rng.IntN(3) {
		p, err := spawn(r.wick, r.dir, nil, append(flags, r.logins.flags...)...)
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(r.rng.IntN(80_000)) * time.Microsecond)
		p.Kill()
	}
	return nil
}

// restore restores the backup, and the oracle as it was then. Ids that were given out since
// are remembered: none may be given out again. The backup has no ledger of logins, so all
// of them end.
func (r *run) restore() error {
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	if err := copyDir(r.backup, r.dir); err != nil {
		return err
	}
	r.oracle.goBack(r.saved)
	clear(r.logins.clients)
	r.saved = nil
	return os.RemoveAll(r.backup)
}

// copyDir copies the regular files of a directory.
func copyDir(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	for _, entry := range entries {
		if err == nil && entry.Type().IsRegular() {
			var data []byte
			if data, err = os.ReadFile(filepath.Join(from, entry.Name())); err == nil {
				err = os.WriteFile(filepath.Join(to, entry.Name()), data, 0o600)
			}
		}
	}
	return err
}

// fill takes all room of the file system but a few kilobytes, and returns a
// function that gives it back.
func (r *run) fill() (free func() error, err error) {
	name := r.dir + "-filler"
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = io.Copy(f, zeros{})
	if !errors.Is(err, syscall.ENOSPC) {
		os.Remove(name)
		return nil, fmt.Errorf("fill the disk: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(max(0, info.Size()-int64(r.rng.IntN(256<<10))))
	}
	return func() error { return os.Remove(name) }, err
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// startFull starts the binary on a full disk, where it may fail but must not
// lose anything, and gives the room back.
func (r *run) startFull() error {
	free, err := r.fill()
	if err != nil {
		return err
	}
	if p, err := start(r.wick, r.dir, r.logins.flags...); err == nil {
		p.Kill()
	}
	return free()
}

// load waits while the clients trade, until the moment to kill the process:
// at random, when a new generation begins, or some time after the
// disk has become full.
func (r *run) load() error {
	pause := time.Duration(100+r.rng.IntN(1500)) * time.Millisecond
	switch n := r.rng.IntN(10); {
	case n < 3:
		r.harms.rotations++
		r.awaitRotation()
		time.Sleep(time.Duration(r.rng.IntN(20_000)) * time.Microsecond)
	case n == 3 && r.small:
		r.harms.full++
		time.Sleep(pause)
		free, err := r.fill()
		if err != nil {
			return err
		}
		time.Sleep(pause / 2)
		return free()
	default:
		time.Sleep(pause)
	}
	return nil
}

// awaitRotation returns when a journal, a snapshot or an index appears, at the latest after
// some seconds.
func (r *run) awaitRotation() {
	before := r.files()
	for deadline := time.Now().Add(6 * time.Second); r.files() == before && time.Now().Before(deadline); {
		time.Sleep(200 * time.Microsecond)
	}
}

// files returns the names in the directory.
func (r *run) files() string {
	var b strings.Builder
	entries, _ := os.ReadDir(r.dir) // the result is only compared, so an error may look like a change
	for _, entry := range entries {
		fmt.Fprintln(&b, entry.Name())
	}
	return b.String()
}
