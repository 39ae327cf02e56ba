package trade

import (
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
)

// TestDuplicateAfterRestart: a client that repeats an order after a restart,
// with another login, is the same client. Another client is not.
func TestDuplicateAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		for i, c := range []struct {
			who  Who
			wait time.Duration
			want string
		}{
			{Who{Client: "a", ID: "1"}, 0, ""},
			{Who{Client: "a", ID: "2"}, 0, "duplicate_order"},
			{Who{Client: "b", ID: "2"}, 0, ""},
			{Who{ID: "2"}, 0, ""},
			{Who{Client: "a", ID: "3"}, duplicateWindow, ""},
		} {
			e, err := openOn(testOptions(t), d)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.wait)
			if _, err := e.Place(t.Context(), OrderRequest{Who: c.who, Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One}); code(err) != c.want {
				t.Errorf("order %d: %v, want %q", i+1, err, c.want)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
