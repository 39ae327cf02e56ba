package trade

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// still is a market whose newest price keeps its time until the next trade, like a
// file that is written anew with each. Its bars are minutes.
type still struct {
	mu   sync.Mutex
	bars []market.Bar
	at   time.Time // of the last trade
}

// trade extends the minute of now by extremes and ends it at a price.
func (s *still) trade(price, high, low float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Now()
	minute := market.Minute1.Start(s.at.Unix())
	if n := len(s.bars); n == 0 || s.bars[n-1].Time != minute {
		s.bars = append(s.bars, market.Bar{Time: minute, Open: price, High: price, Low: price, Volume: 1})
	}
	b := &s.bars[len(s.bars)-1]
	b.High, b.Low, b.Close = max(b.High, high), min(b.Low, low), price
}

func (s *still) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	out := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "test", AsOf: now.UnixMilli(), PriceAt: s.at.UnixMilli()}
	for _, b := range s.bars[max(0, len(s.bars)-q.Limit):] {
		out.Append(b)
	}
	end := q.Interval.Next(s.bars[len(s.bars)-1].Time)
	if out.Forming = now.Unix() < end; !out.Forming {
		out.PriceAt = end * 1000
	}
	return out, nil
}

// newStill starts a process on a market that is at a price since the start of a
// minute.
func newStill(t *testing.T, price float64) (*process, *still) {
	s, p := new(still), newProcess(t, time.Minute)
	s.trade(price, price, price)
	p.change = func(o *Options) {
		o.Source, o.Feed, o.Intervals = s, market.NewFeed(s, nil), []market.Interval{market.Minute1}
	}
	p.start()
	return p, s
}

// TestAlertOfStillMarket: nothing is traded when alerts are set, nor for a while
// after. Then the price goes up and down and comes back between two looks at the
// market, in the same minute. What it reached after the alerts were set fires them,
// and nothing of before.
func TestAlertOfStillMarket(t *testing.T) {
	const above, below = `{"price_above":103}`, `{"price_below":97}`
	for _, c := range []struct {
		name  string
		price float64 // at the start
		does  func(p *process, s *still)
		want  string
	}{
		{"reached after them", 100, func(p *process, s *still) {
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.2, 105, 95)
		}, "price_above 105 now false, price_below 95 now false"},
		{"reached before them", 100, func(p *process, s *still) {
			s.trade(100.2, 105, 95)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.3, 100.3, 100.2)
		}, ""},
		{"before a look and less far after it", 100, func(p *process, s *still) {
			s.trade(100.2, 105, 95)
			time.Sleep(2500 * time.Millisecond)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.3, 105, 95)
		}, ""},
		{"there already, and left", 105, func(p *process, s *still) {
			p.alert(above, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100, 105, 100)
		}, ""},
		{"there already, and further before it left", 105, func(p *process, s *still) {
			p.alert(above, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100, 106, 100)
		}, "price_above 106 now false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, c.price)
				c.does(p, s)
				time.Sleep(2500 * time.Millisecond)
				got := p.lines()
				slices.Sort(got)
				if strings.Join(got, ", ") != c.want {
					t.Errorf("told %q, want %q", got, c.want)
				}
				p.stop()
			})
		})
	}
}
