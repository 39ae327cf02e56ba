package trade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// busy is a source during whose next answer something else happens.
type busy struct {
	market.Source
	meanwhile func() // called once; nil for nothing
}

func (s *busy) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
	return s.Source.Bars(ctx, q)
}

// TestWindowGoneWhileLoading: while bars are loaded again after a gap, the symbol may be
// dropped, and watched again without that interval. The engine would panic if it took for
// granted that the window is still there.
func TestWindowGoneWhileLoading(t *testing.T) {
	for name, again := range map[string]bool{"dropped": false, "watched again": true} {
		t.Run(name, func(t *testing.T) {
			source := &busy{Source: flat(100)}
			inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
				if err := e.ensure(t.Context(), "AAA", watch.Need{Interval: market.Minute15}); err != nil {
					t.Fatal(err)
				}
				source.meanwhile = func() {
					e.forgetUnneeded(0) // no alert, order or position needs it
					if again {
						if err := e.ensure(t.Context(), "AAA"); err != nil {
							t.Error(err)
						}
					}
				}
				time.Sleep(time.Hour)
				start := market.Minute15.Start(time.Now().Unix()) - 900
				e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, At: time.Now().UnixMilli(),
					Closed: []market.ClosedBar{{Interval: market.Minute15, Bar: market.Bar{Time: start, Open: 100, High: 100, Low: 100, Close: 100}}}})
				if source.meanwhile != nil {
					t.Fatal("no bars were loaded for the gap")
				}
				if _, ok := e.watch.Window("AAA", market.Minute15); ok || e.watch.Has("AAA") != again {
					t.Errorf("the window is back: %t; the symbol is watched: %t", ok, e.watch.Has("AAA"))
				}
			})
		})
	}
}

// lacking is a source that fails where fault returns an error; nil is no fault.
type lacking struct {
	market.Source
	fault func(market.Query) error
}

func (s *lacking) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if s.fault != nil {
		if err := s.fault(q); err != nil {
			return nil, err
		}
	}
	return s.Source.Bars(ctx, q)
}

// fileOf returns the fault of a file with bars of an interval: it has no shorter ones.
func fileOf(iv market.Interval) func(market.Query) error {
	return func(q market.Query) error {
		if q.Interval.Seconds() < iv.Seconds() {
			return market.ErrTooFine
		}
		return nil
	}
}

// TestNoAlertWithoutBars: if the source cannot give what an alert is judged by, the alert is
// refused with the reason. Otherwise it would wait for ever.
func TestNoAlertWithoutBars(t *testing.T) {
	broken := errors.New("the source is broken")
	at := func(iv market.Interval) func(market.Query) error {
		return func(q market.Query) error {
			if q.Interval == iv {
				return broken
			}
			return fileOf(iv)(q)
		}
	}
	const price, rule = `{"price_above":110}`, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`
	for name, c := range map[string]struct {
		condition, interval string
		fault               func(market.Query) error
		want                string
	}{
		"of the price":             {price, "", at(market.Hour1), "no price of AAA: the source is broken"},
		"of the alert":             {rule, "15m", func(q market.Query) error { return map[market.Interval]error{market.Minute15: broken}[q.Interval] }, "no bars of AAA 15m: the source is broken"},
		"of a file's only bars":    {price, "", at(market.Day1), "no price of AAA: the source is broken"},
		"finer than a file's":      {rule, "15m", fileOf(market.Day1), "no bars of AAA 15m: no bars fine enough; give an interval that it has"},
		"of any interval":          {price, "", func(market.Query) error { return market.ErrTooFine }, "no price of AAA: no bars fine enough"},
		"of another market":        {strings.Replace(rule, "close", "close:BBB", 1), "", func(q market.Query) error { return map[string]error{"BBB": broken}[q.Symbol] }, "the source is broken"},
		"of a column":              {`{"indicator_signal":{"indicator":"funding","signal":"zero_up"}}`, "", func(q market.Query) error { return map[int]error{1: broken}[len(q.Extra)] }, "no data of AAA for funding: the source is broken"},
		"of a shorter interval":    {strings.Replace(rule, "close", "close@15m", 1), "", nil, "reads 15m bars, which are shorter than the 1h bars"},
		"of a condition of no use": {`{"indicator_signal":{"indicator":"rule","when":"close / 0 > 1","signal":"becomes_true"}}`, "", nil, "has no value on any of the"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(o *Options) {
				o.Source = &lacking{flat(100), c.fault}
			}, func(t *testing.T, e *Engine) {
				_, err := setAlert(t, e, c.condition, c.interval)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if n := len(must(e.Alerts(""))); n != 0 {
					t.Errorf("%d alerts wait, want none", n)
				}
			})
		})
	}
}

// TestAlertOnDailyFile: an alert on the only interval that a file has is judged on it.
func TestAlertOnDailyFile(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = &lacking{flat(100), fileOf(market.Day1)} }, func(t *testing.T, e *Engine) {
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, "1d"); err != nil {
			t.Fatal(err)
		}
		start := market.Day1.Start(time.Now().Unix())
		time.Sleep(24 * time.Hour)
		e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 120, High: 120, Low: 100, At: time.Now().UnixMilli(), Synthetic: true,
			Closed: []market.ClosedBar{{Interval: market.Day1, Bar: market.Bar{Time: start, Open: 100, High: 120, Low: 100, Close: 120}}}})
		if n := e.PendingNotifications(""); n != 1 {
			t.Errorf("%d fired, want 1", n)
		}
	})
}

// TestLastSymbolWhileLoading: two alerts load the bars of two symbols at once, and there is
// room for one. The one that comes last is refused.
func TestLastSymbolWhileLoading(t *testing.T) {
	source := &busy{Source: flat(100)}
	inBubble(t, func(o *Options) { o.Source, o.Limits.Symbols = source, 1 }, func(t *testing.T, e *Engine) {
		set := func(symbol string) error {
			_, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: symbol, Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "110")}})
			return err
		}
		source.meanwhile = func() {
			if err := set("BBB"); err != nil {
				t.Error(err)
			}
		}
		if err := set("AAA"); code(err) != "max_symbols" {
			t.Errorf("a second symbol: %v, want max_symbols", err)
		}
		if a := must(e.Alerts("")); len(a) != 1 || a[0].Symbol != "BBB" || e.watch.Has("AAA") {
			t.Errorf("alerts %+v, AAA watched %t; want one of BBB, and not AAA", a, e.watch.Has("AAA"))
		}
	})
}

// TestClientAlertIDWhileLoading: of two requests with one client_alert_id that load bars at
// once, one makes the alert and the other returns it, or is refused if it asks for another.
func TestClientAlertIDWhileLoading(t *testing.T) {
	for note, want := range map[string]string{"same": "", "other": "client_alert_id_reused"} {
		t.Run(note, func(t *testing.T) {
			source := &busy{Source: flat(100)}
			inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
				r := book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "110")}, ClientAlertID: "once", Note: "same"}
				var first book.Alert
				source.meanwhile = func() {
					var err error
					if first, err = e.SetAlert(t.Context(), r); err != nil {
						t.Error(err)
					}
				}
				second := r
				second.Note = note
				a, err := e.SetAlert(t.Context(), second)
				if code(err) != want || err == nil && a.ID != first.ID {
					t.Errorf("alert %q, %v; want %q, %q", a.ID, err, first.ID, want)
				}
				if n := len(must(e.Alerts(""))); n != 1 {
					t.Errorf("%d alerts wait, want 1", n)
				}
			})
		})
	}
}

// TestBarClosesWhileLoading: while a longer window is loaded, a bar closes that the answer
// lacks. The longer window has it and the forming bar after it, and no alert is judged on it
// twice or not at all.
func TestBarClosesWhileLoading(t *testing.T) {
	source := &busy{Source: flat(100)}
	inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
		rule := repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachBar})
		old, err := flat(100).Bars(t.Context(), market.Query{Symbol: "AAA", Interval: market.Hour1, Limit: 2001})
		if err != nil {
			t.Fatal(err)
		}
		source.meanwhile = func() {
			closeBars(e, 120)
			update(e, 125, 125, 125)
			source.Source = kept{old}
		}
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":900}}`, "1h"); err != nil {
			t.Fatal(err)
		}
		s, _ := e.watch.Window("AAA", market.Hour1)
		n := s.Len()
		if n != 1501 || s.Close[n-3] != 100 || s.Close[n-2] != 120 || s.Close[n-1] != 125 || s.Check() != nil {
			t.Errorf("%d bars end with %v, %v; want 100, 120, 125", n, s.Close[max(0, n-3):], s.Check())
		}
		closeBars(e, 130)
		// The close crossed the average on the bar before the second alert was set.
		if a := must(e.Alerts("")); len(a) != 2 || a[0].ID != rule.ID || a[0].Fired != 2 || e.PendingNotifications("") != 2 {
			t.Errorf("alerts %+v and %d notifications; want the rule fired on two bars, and nothing else", a, e.PendingNotifications(""))
		}
	})
}

// kept is a source that returns the same bars again and again.
type kept struct{ series *market.Series }

func (k kept) Bars(context.Context, market.Query) (*market.Series, error) { return k.series, nil }

// TestBadBarOfFeed: a bar that cannot be, and one of an interval that is not watched, fire
// nothing and do not enter the window.
func TestBadBarOfFeed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, "1h"); err != nil {
			t.Fatal(err)
		}
		start := market.Hour1.Start(time.Now().Unix())
		time.Sleep(time.Hour)
		for _, c := range []market.ClosedBar{
			{Interval: market.Hour1, Bar: market.Bar{Time: start, Open: 100, High: 100, Low: 100, Close: 120}}, // it closes above its high
			{Interval: market.Minute15, Bar: market.Bar{Time: start, Open: 120, High: 120, Low: 120, Close: 120}},
		} {
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, At: time.Now().UnixMilli(), Synthetic: true, Closed: []market.ClosedBar{c}})
		}
		if s, _ := e.watch.Window("AAA", market.Hour1); e.PendingNotifications("") != 0 || s.Closed().Time[s.Closed().Len()-1] >= start {
			t.Errorf("%d fired, and the window ends with %v; want none, and a bar before %d", e.PendingNotifications(""), s.Closed().Time[s.Closed().Len()-1], start)
		}
	})
}

// hasty is a feed that has an hour close as soon as it is told where the bars go on, and notes where
// the hours do.
type hasty struct {
	quiet
	close func()
	from  int64
}

func (h *hasty) Resume(_ string, last map[market.Interval]int64, _ float64, _ int64) {
	go h.close()
	h.from = last[market.Hour1]
}

// TestFeedGoesOnWhereWindowWasLoaded: an update may come as soon as the windows are there,
// before the feed has taken in where they end. It must not change what the feed is told.
func TestFeedGoesOnWhereWindowWasLoaded(t *testing.T) {
	feed := new(hasty)
	inBubble(t, func(o *Options) { o.Feed = feed }, func(t *testing.T, e *Engine) {
		start := market.Hour1.Start(time.Now().Unix())
		feed.close = func() {
			bar := market.Bar{Time: start, Open: 100, High: 100, Low: 100, Close: 100}
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, At: start * 1000, Closed: []market.ClosedBar{{Interval: market.Hour1, Bar: bar}}})
		}
		if err := e.ensure(t.Context(), "AAA", watch.Need{Interval: market.Minute15}); err != nil {
			t.Fatal(err)
		}
		if feed.from != start-3600 {
			t.Errorf("the feed goes on after the hour of %d, want %d", feed.from, start-3600)
		}
	})
}

// TestKeptForAnOrder: symbols that nobody needs are dropped now and then, but not one whose
// price an order has just asked for.
func TestKeptForAnOrder(t *testing.T) {
	var e *Engine
	feed := quoting{quote: func() (market.Quote, error) {
		e.forgetUnneeded(unusedAfter)
		return market.Quote{Symbol: "AAA", Price: 100, At: time.Now().UnixMilli(), Source: "test"}, nil
	}}
	inBubble(t, func(o *Options) { o.Feed = feed }, func(t *testing.T, opened *Engine) {
		e = opened
		place(t, e, book.Buy, book.Limit, "1", "90")
		if err := e.ensure(t.Context(), "BBB"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(unusedAfter)
		if e.forgetUnneeded(unusedAfter); !e.watch.Has("AAA") || e.watch.Has("BBB") {
			t.Errorf("watched are %q, want AAA, which an order waits for, alone", e.Symbols())
		}
	})
}
