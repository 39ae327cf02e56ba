package fileledger

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/oauth"
	"wick/oauth/oauthtest"
)

// reopen opens the ledger in d as a new start does.
func reopen(t testing.TB, d journal.Disk) *oauth.BookLedger {
	t.Helper()
	l, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLedger: the ledger in a directory keeps the contract over restarts.
func TestLedger(t *testing.T) {
	oauthtest.Ledger(t, func(t *testing.T) (oauth.Ledger, func() oauth.Ledger) {
		d := journaltest.NewDisk()
		return reopen(t, d), func() oauth.Ledger { return reopen(t, d) }
	})
}

// TestRealDirectory: the same in a directory of the operating system, with a lock:
// two processes on one ledger would not see each other's changes.
func TestRealDirectory(t *testing.T) {
	dir := t.TempDir()
	d, err := journal.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(d)
	if err != nil {
		t.Fatalf("an empty directory: %v", err)
	}
	epoch := l.Epoch()
	if first, err := l.TakeOnce("code-1", time.Now().Add(time.Hour)); !first || err != nil {
		t.Fatal(first, err)
	}
	if err := l.Revoke("a", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.OpenDir(dir); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("a second process on the ledger: %v, want %v", err, journal.ErrHeld)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = journal.OpenDir(dir); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err = Open(d)
	if err != nil || l.Epoch() != epoch || !l.Revoked("a", epoch) {
		t.Errorf("after a restart: epoch %q, want %q, a revoked %v, %v", l.Epoch(), epoch, l.Revoked("a", epoch), err)
	}
	if first, err := l.TakeOnce("code-1", time.Now().Add(time.Hour)); first || err != nil {
		t.Errorf("a code that was used before the restart: %v, %v", first, err)
	}
}

// TestEveryFailure lets each call to the disk fail in turn, with and without effect;
// what was acknowledged is there after a restart from what a power cut leaves. A
// revocation that could not be written holds until the restart, and is written with the
// next change.
func TestEveryFailure(t *testing.T) {
	until := time.Now().Add(time.Hour)
	for at := 1; at < 40; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(at, after), func(t *testing.T) {
				d := journaltest.NewDisk()
				l := reopen(t, d)
				epoch := l.Epoch()
				d.FailAt, d.After = d.Calls+at, after
				first, taking := l.TakeOnce("code-1", until)
				revoking := l.Revoke("a", until)
				if !l.Revoked("a", epoch) {
					t.Error("a revocation does not hold in the process that was asked for it")
				}
				if err := l.Revoke("b", until); err != nil && revoking != nil {
					t.Fatalf("two failures of one disk error: %v, %v", err, revoking)
				} else if err != nil {
					revoking = err
				}
				if err := l.Revoke("b", until); err != nil { // again, now that the disk works: writes what failed
					t.Fatal(err)
				}
				l = reopen(t, d.Cut(journaltest.Dropped))
				if again, err := l.TakeOnce("code-1", until); err != nil || taking == nil && first && again {
					t.Errorf("a code was taken twice: %v, %v", again, err)
				}
				if !l.Revoked("a", epoch) || !l.Revoked("b", epoch) || l.Epoch() != epoch {
					t.Errorf("forgotten: a %v, b %v, epoch %q of %q", l.Revoked("a", epoch), l.Revoked("b", epoch), l.Epoch(), epoch)
				}
			})
		}
	}
}

// TestMoved: a ledger whose directory was taken away takes no code.
func TestMoved(t *testing.T) {
	d := journaltest.NewDisk()
	l := reopen(t, d)
	d.Moved = true
	if first, err := l.TakeOnce("code-1", time.Now().Add(time.Hour)); first || !errors.Is(err, journal.ErrMoved) {
		t.Errorf("TakeOnce = %v, %v, want an error", first, err)
	}
}

// TestDamage: a file with one wrong byte anywhere, or a piece missing, is refused, and the
// error names it; a ledger read wrongly could have lost a revocation.
func TestDamage(t *testing.T) {
	d := journaltest.NewDisk()
	if err := reopen(t, d).Revoke("a", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	good := bytes.Clone(d.Files[name].Data)
	for i := range good {
		for _, bad := range [][]byte{good[:i], append(append(bytes.Clone(good[:i]), good[i]^1), good[i+1:]...)} {
			d.Files[name].Data = bad
			if _, err := Open(d); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "everybody logs in again") {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	d.Files[name].Data = make([]byte, maxFile+1)
	if _, err := Open(d); err == nil || !strings.Contains(err.Error(), "more than 1048576") {
		t.Errorf("a file past its bound: %v", err)
	}
}

// FuzzDecode: what is read as a book is written again as the same book.
func FuzzDecode(f *testing.F) {
	f.Add(encode(oauth.NewBook()))
	f.Add([]byte(mark))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := decode(text)
		if err != nil {
			return
		}
		again, err := decode(encode(b))
		if err != nil || again.Epoch != b.Epoch || !maps.Equal(again.Taken, b.Taken) || !maps.Equal(again.Revoked, b.Revoked) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
