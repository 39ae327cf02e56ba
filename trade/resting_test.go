package trade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// minute returns a bar that starts n minutes after the last whole one.
func minute(n int, open, high, low, close float64) market.Bar {
	return market.Bar{Time: time.Now().Truncate(time.Minute).Unix() + int64(60*n), Open: open, High: high, Low: low, Close: close}
}

// walk hands the engine an update whose path has these bars, a minute later
// than the one before.
func walk(e *Engine, from float64, path ...market.Bar) {
	since := time.Now().UnixMilli()
	time.Sleep(time.Duration(len(path)) * time.Minute)
	last := path[len(path)-1]
	u := market.Update{Symbol: "AAA", Source: "test", Price: last.Close, High: max(from, last.Close), Low: min(from, last.Close),
		From: from, Path: path, Since: since, At: time.Now().UnixMilli()}
	for _, b := range path {
		u.High, u.Low = max(u.High, b.High), min(u.Low, b.Low)
	}
	e.deliver(context.Background(), u)
}

// TestRestingPath: a buy limit of 95 rests at a price of 100, and the market moves in
// different ways from there; if it passes the limit on its way from the last price, the
// order is filled at the limit; only a bar that opened beyond the limit fills at its open.
func TestRestingPath(t *testing.T) {
	for _, c := range []struct {
		name string
		path func() []market.Bar
		want string
	}{
		{"a jump between two prices", func() []market.Bar { return []market.Bar{minute(0, 100, 100, 90, 90)} }, "95"},
		{"touched and back", func() []market.Bar { return []market.Bar{minute(0, 100, 100, 95, 99)} }, "95"},
		{"not reached", func() []market.Bar { return []market.Bar{minute(0, 100, 101, 95.01, 99)} }, "null"},
		{"the next minute opened beyond", func() []market.Bar {
			return []market.Bar{minute(0, 100, 100, 99, 99), minute(1, 90, 92, 88, 91)}
		}, "90"},
		{"reached before a minute that opened beyond", func() []market.Bar {
			return []market.Bar{minute(0, 100, 100, 94, 96), minute(1, 90, 92, 88, 91)}
		}, "95"},
		{"a dip minutes ago", func() []market.Bar {
			return []market.Bar{minute(0, 100, 100, 99, 99), minute(1, 99, 99, 80, 99), minute(2, 99, 101, 99, 100)}
		}, "95"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				place(t, e, book.Buy, book.Limit, "1", "95")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				walk(e, 100, c.path()...)
				if got := show(must(e.Orders(false))[0].AveragePrice); got != c.want {
					t.Errorf("filled at %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestRestingSeesOnlyLaterBars: if a path begins before the order, only the close counts
// of a minute that began before it.
func TestRestingSeesOnlyLaterBars(t *testing.T) {
	for _, c := range []struct {
		name string
		path func() []market.Bar
		want string
	}{
		{"low of before", func() []market.Bar { return []market.Bar{minute(0, 100, 100, 80, 100), minute(1, 100, 100, 99, 100)} }, "null"},
		{"close after it", func() []market.Bar { return []market.Bar{minute(0, 100, 100, 80, 90)} }, "95"},
		{"low of a minute after it", func() []market.Bar { return []market.Bar{minute(0, 100, 100, 80, 100), minute(1, 100, 100, 94, 100)} }, "95"},
	} {
		t.Run(c.name, func(t *testing.T) {
			feed := quoting{quote: func() (market.Quote, error) {
				return market.Quote{Symbol: "AAA", Price: 100, At: time.Now().UnixMilli(), Source: "test"}, nil
			}}
			inBubble(t, func(o *Options) { o.Feed = feed }, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				path := c.path()
				since := time.Now().UnixMilli()
				time.Sleep(30 * time.Second)
				place(t, e, book.Buy, book.Limit, "1", "95")
				time.Sleep(time.Duration(len(path))*time.Minute - 30*time.Second)
				last := path[len(path)-1]
				e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: last.Close, From: 100, High: 100, Low: 80, Since: since, Path: path, At: time.Now().UnixMilli()})
				if got := show(must(e.Orders(false))[0].AveragePrice); got != c.want {
					t.Errorf("filled at %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestMakerFee: a limit that rested pays the maker's fee. A stop, and an order that fills
// on arrival, pay the other.
func TestMakerFee(t *testing.T) {
	maker := exact.One / 1000
	inBubble(t, func(o *Options) { o.FeeRate, o.MakerFeeRate = exact.One/100, &maker }, func(t *testing.T, e *Engine) {
		taken := place(t, e, book.Buy, book.Market, "1", "").ID
		rested := place(t, e, book.Buy, book.Limit, "1", "90").ID
		stopped := ask(t, e, stopping(book.Sell, 95)).ID
		walk(e, 100, minute(0, 100, 100, 89, 89))
		for id, want := range map[string]string{taken: "1", rested: "0.09", stopped: "0.95"} {
			if o, err := e.Order(id); err != nil || o.Fee.String() != want {
				t.Errorf("%+v, %v; want a fee of %s", o, err, want)
			}
		}
	})
}

// TestDowntime: the price is 100 when the process ends and 80 when it runs again; the
// market has passed a buy limit of 95 meanwhile: with the first new price it fills at 95.
func TestDowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		place(t, e, book.Buy, book.Limit, "1", "95")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		e.Close()
		time.Sleep(time.Hour)
		if e, err = openOn(testOptions(t), d); err != nil {
			t.Fatal(err)
		}
		e.watchNeeded(t.Context())
		walk(e, 80, minute(0, 80, 80, 80, 80)) // a feed's first update knows nothing of before
		if got := show(must(e.Orders(false))[0].AveragePrice); got != "95" {
			t.Errorf("filled at %s, want 95", got)
		}
		e.Close()
	})
}

// TestSetAfterClockSetBack: the clock was an hour ahead and is set back. Then an alert and
// an order come. The next update has a high from earlier in its minute, which does not
// count for them. It does count for an alert that was set before that minute.
func TestSetAfterClockSetBack(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		minute := time.Now().Add(time.Minute)
		alert := func(note string) {
			t.Helper()
			if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 103 * exact.One}, Note: note}); err != nil {
				t.Fatal(err)
			}
		}
		ahead := time.Now().Add(time.Hour).UnixMilli()
		e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, From: 100, High: 100, Low: 100, At: ahead, Since: ahead - 1,
			Path: []market.Bar{{Time: ahead / 1000, Open: 100, High: 100, Low: 100, Close: 100}}})
		alert("before the minute")
		time.Sleep(90 * time.Second)
		alert("in it")
		place(t, e, book.Sell, book.Limit, "1", "103")
		time.Sleep(time.Second)
		e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, From: 100, High: 105, Low: 100, At: time.Now().UnixMilli(), Since: ahead,
			Path: []market.Bar{{Time: minute.Unix(), Open: 100, High: 105, Low: 100, Close: 100}}})
		if left := must(e.Alerts("")); len(left) != 1 || left[0].Note != "in it" {
			t.Errorf("alerts that wait still: %+v, want the one in the minute", left)
		}
		if o := must(e.Orders(false))[0]; o.Status != book.StatusOpen {
			t.Errorf("the order is %s because of a price from before it, want open", o.Status)
		}
	})
}

// TestClockSetBack: an order is accepted while our clock is an hour ahead of the
// market's, or the market's time itself goes back by an hour; neither keeps the
// order from being filled by the prices that follow.
func TestClockSetBack(t *testing.T) {
	for name, offsets := range map[string][3]time.Duration{
		"ours is ahead":        {-time.Hour, -time.Hour, -time.Hour},
		"the feed's was ahead": {time.Hour, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				step := func(p float64, offset time.Duration) {
					time.Sleep(time.Second)
					at := time.Now().Add(offset)
					e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: p, From: p, High: p, Low: p, At: at.UnixMilli(), Since: at.UnixMilli() - 1,
						Path: []market.Bar{{Time: at.Unix(), Open: p, High: p, Low: p, Close: p}}})
				}
				step(100, offsets[0])
				place(t, e, book.Buy, book.Limit, "1", "95")
				step(100, offsets[1])
				step(90, offsets[2])
				if got := show(must(e.Orders(false))[0].AveragePrice); got != "95" {
					t.Errorf("filled at %s, want 95", got)
				}
			})
		})
	}
}
