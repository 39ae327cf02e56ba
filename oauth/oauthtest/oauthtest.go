// Package oauthtest has the tests that every [oauth.Ledger] passes.
package oauthtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"wick/oauth"
)

// Ledger tests an implementation. open returns an empty ledger, and a function reopen
// that opens the same ledger again: as a second process does, or, if the ledger is for one
// process, as the process does after a restart. reopen is called after each change that
// the second one must see.
func Ledger(t *testing.T, open func(t *testing.T) (l oauth.Ledger, reopen func() oauth.Ledger)) {
	for name, test := range map[string]func(t *testing.T, l oauth.Ledger, reopen func() oauth.Ledger){
		"TakeOnce":  takeOnce,
		"Parallel":  parallel,
		"Revoke":    revoke,
		"NextEpoch": nextEpoch,
		"Full":      full,
	} {
		t.Run(name, func(t *testing.T) {
			l, reopen := open(t)
			test(t, l, reopen)
		})
	}
}

// takes fails the test unless TakeOnce reports want.
func takes(t *testing.T, l oauth.Ledger, id string, until time.Time, want bool) {
	t.Helper()
	if first, err := l.TakeOnce(id, until); err != nil || first != want {
		t.Errorf("TakeOnce(%q) = %v, %v, want %v", id, first, err, want)
	}
}

// soon is when the ids of a test end.
func soon() time.Time { return time.Now().Add(5 * time.Minute) }

// An id is taken once, here and in the reopened ledger, and one id does not affect
// another.
func takeOnce(t *testing.T, l oauth.Ledger, reopen func() oauth.Ledger) {
	takes(t, l, "code-1", soon(), true)
	takes(t, l, "code-1", soon(), false)
	takes(t, l, "code-11", soon(), true)
	takes(t, l, "form-1", soon(), true)
	other := reopen()
	takes(t, other, "code-1", soon(), false)
	takes(t, other, "code-2", soon(), true)
	takes(t, reopen(), "code-2", soon(), false)
	if l.Revoked("code-1", l.Epoch()) {
		t.Error("what was taken counts as revoked")
	}
}

// Of many callers who take an id at once, exactly one gets it.
func parallel(t *testing.T, l oauth.Ledger, _ func() oauth.Ledger) {
	for i := range 10 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 16 {
			wg.Go(func() {
				first, err := l.TakeOnce(fmt.Sprint("code-", i), soon())
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if first {
					won++
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d callers took one id", won)
		}
	}
}

// What is revoked stays revoked until its time, in the reopened ledger too. Revoking it
// again, or for a shorter time, changes nothing.
func revoke(t *testing.T, l oauth.Ledger, reopen func() oauth.Ledger) {
	epoch := l.Epoch()
	if l.Revoked("a", epoch) {
		t.Error("revoked before anyone said so")
	}
	for _, until := range []time.Time{soon().Add(time.Hour), soon(), time.Now().Add(-time.Hour)} {
		if err := l.Revoke("a", until); err != nil {
			t.Fatal(err)
		}
	}
	for who, l := range map[string]oauth.Ledger{"here": l, "there": reopen()} {
		if !l.Revoked("a", epoch) || l.Revoked("b", epoch) || l.Revoked("aa", epoch) || l.Revoked("", epoch) || l.Epoch() != epoch {
			t.Errorf("%s: a %v, b %v, epoch %q, want a alone in %q", who, l.Revoked("a", epoch), l.Revoked("b", epoch), l.Epoch(), epoch)
		}
		takes(t, l, "a"+who, soon(), true)
	}
}

// The next epoch ends the one before, in the reopened ledger too, and never repeats an
// earlier one.
func nextEpoch(t *testing.T, l oauth.Ledger, reopen func() oauth.Ledger) {
	seen := make(map[string]bool)
	for range 5 {
		old := l.Epoch()
		if old == "" || len(old) > 32 || seen[old] || l.Revoked("a", old) {
			t.Fatalf("epoch %q, seen %v, revoked %v", old, seen[old], l.Revoked("a", old))
		}
		seen[old] = true
		if err := l.NextEpoch(); err != nil {
			t.Fatal(err)
		}
		other := reopen()
		if !l.Revoked("a", old) || !other.Revoked("a", old) || !other.Revoked("a", "") || other.Epoch() != l.Epoch() {
			t.Errorf("after %q: here %q, there %q", old, l.Epoch(), other.Epoch())
		}
	}
}

// A ledger that is asked to keep too much forgets nothing that it accepted: it refuses to
// take more ids, and ends the epoch rather than lose a revocation.
func full(t *testing.T, l oauth.Ledger, reopen func() oauth.Ledger) {
	const many = 600
	until := soon()
	taken := 0
	for i := range many {
		first, err := l.TakeOnce(fmt.Sprint("code-", i), until)
		if err != nil {
			break
		}
		if !first {
			t.Fatalf("id %d was never taken", i)
		}
		taken++
	}
	other := reopen()
	for i := range taken {
		if first, _ := other.TakeOnce(fmt.Sprint("code-", i), until); first {
			t.Fatalf("id %d of %d was forgotten", i, taken)
		}
	}
	epoch := l.Epoch()
	for i := range many {
		if err := l.Revoke(fmt.Sprint(i), until); err != nil {
			t.Fatal(err)
		}
	}
	other = reopen()
	for i := range many {
		if id := fmt.Sprint(i); !l.Revoked(id, epoch) || !other.Revoked(id, epoch) {
			t.Fatalf("the revocation of %d was forgotten", i)
		}
	}
}
