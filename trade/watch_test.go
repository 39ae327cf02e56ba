package trade

import (
	"context"
	"testing"
	"time"

	"wick/market"
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
// dropped and watched again without that interval. The engine would panic if it took for
// granted that the window is still there.
func TestWindowGoneWhileLoading(t *testing.T) {
	source := &busy{Source: flat(100)}
	inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
		if err := e.ensure(t.Context(), "AAA", need{interval: market.Minute15}); err != nil {
			t.Fatal(err)
		}
		source.meanwhile = func() {
			e.forgetUnneeded() // no alert, order or position needs it
			if err := e.ensure(t.Context(), "AAA"); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Hour)
		start := market.Minute15.Start(time.Now().Unix()) - 900
		e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, At: time.Now().UnixMilli(),
			Closed: []market.ClosedBar{{Interval: market.Minute15, Bar: market.Bar{Time: start, Open: 100, High: 100, Low: 100, Close: 100}}}})
		if source.meanwhile != nil {
			t.Fatal("no bars were loaded for the gap")
		}
		if _, ok := e.watch.window(seriesKey{"AAA", market.Minute15}); ok {
			t.Error("a window that nobody asked for is back")
		}
	})
}
