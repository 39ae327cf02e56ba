package trade

import (
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestDuplicateAfterRestart: a client that repeats an order after a restart,
// with another login, is the same client. Another client is not.
func TestDuplicateAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		for i, c := range []struct {
			who  book.Who
			wait time.Duration
			want string
		}{
			{book.Who{Client: "a", ID: "1"}, 0, ""},
			{book.Who{Client: "a", ID: "2"}, 0, "duplicate_order"},
			{book.Who{Client: "b", ID: "2"}, 0, ""},
			{book.Who{ID: "2"}, 0, ""},
			{book.Who{Client: "a", ID: "3"}, 5 * time.Second, ""},
		} {
			e, err := openOn(testOptions(t), d)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.wait)
			if _, err := e.Place(t.Context(), book.OrderRequest{Who: c.who, Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); code(err) != c.want {
				t.Errorf("order %d: %v, want %q", i+1, err, c.want)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
