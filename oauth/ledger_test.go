package oauth_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"wick/oauth"
	"wick/oauth/oauthtest"
)

// TestLedger: the ledger in memory keeps the contract.
func TestLedger(t *testing.T) {
	oauthtest.Ledger(t, func(t *testing.T) (oauth.Ledger, func() oauth.Ledger) {
		l := oauth.NewLedger(oauth.NewBook(), func(oauth.Book) error { return nil })
		return l, func() oauth.Ledger { return l }
	})
}

// TestLedgerBounds: a ledger full of used codes takes no more until one of them has ended, forgets
// the one that ended first and no other, and saves what it holds and no more; a revocation that
// has no room changes the epoch, which ends all logins.
func TestLedgerBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saved oauth.Book
		l := oauth.NewLedger(oauth.NewBook(), func(b oauth.Book) error { saved = b; return nil })
		take := func(id string, life time.Duration) (bool, error) { return l.TakeOnce(id, time.Now().Add(life)) }
		for i := range 500 {
			if first, err := take(fmt.Sprint(i), time.Minute+time.Duration(i)*time.Second); !first || err != nil {
				t.Fatal(i, first, err)
			}
		}
		if first, err := take("one more", time.Minute); first || err == nil {
			t.Errorf("id 501: %v, %v, want an error", first, err)
		}
		time.Sleep(time.Minute)
		if first, err := take("one more", time.Minute); !first || err != nil {
			t.Errorf("after the first one has ended: %v, %v", first, err)
		}
		if first, err := take("499", time.Minute); first || err != nil {
			t.Errorf("one that has not ended: %v, %v", first, err)
		}
		time.Sleep(time.Hour) // all have ended: each one more takes the place of one
		if first, err := take("another", time.Minute); !first || err != nil || len(saved.Taken) != 500 {
			t.Errorf("after all have ended: %v, %v, %d ids saved", first, err, len(saved.Taken))
		}
		if first, err := take("499", time.Minute); first || err != nil {
			t.Errorf("the one that ended last: %v, %v", first, err)
		}
		epoch := l.Epoch()
		for i := range 5000 {
			if err := l.Revoke(fmt.Sprint(i), time.Now().Add(time.Minute)); err != nil || len(saved.Revoked) != i+1 || saved.Epoch != epoch {
				t.Fatalf("revocation %d: %v, %d are saved", i, err, len(saved.Revoked))
			}
		}
		if saved.Check() != nil {
			t.Errorf("saved %+v", saved)
		}
		if err := l.Revoke("one more", time.Now().Add(time.Minute)); err != nil || len(saved.Revoked) != 0 || saved.Epoch == epoch || l.Epoch() != saved.Epoch {
			t.Errorf("revocation 5001: %v, %d are saved, the epoch has changed: %v", err, len(saved.Revoked), saved.Epoch != epoch)
		}
	})
}

// TestLedgerAfterClockAhead: what a clock that ran ahead has ended does not work again once
// it is set back: a used code stays used, and a revoked login revoked.
func TestLedgerAfterClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := oauth.NewLedger(oauth.NewBook(), func(oauth.Book) error { return nil })
		l.TakeOnce("code", time.Now().Add(time.Minute))
		l.Revoke("login", time.Now().Add(oauth.TokenLife))
		time.Sleep(2 * oauth.TokenLife) // the clock is ahead, and others log in and out
		for i := range 10 {
			l.TakeOnce(fmt.Sprint(i), time.Now().Add(time.Minute))
			l.Revoke(fmt.Sprint(i), time.Now().Add(oauth.TokenLife))
		}
		if first, err := l.TakeOnce("code", time.Now().Add(time.Minute)); first || err != nil {
			t.Errorf("the code works again: %v, %v", first, err)
		}
		if !l.Revoked("login", l.Epoch()) {
			t.Error("the revoked login works again")
		}
	})
}
