package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	rand "math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/indicators/rules/rulestest"
	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// stage is a source with two markets, AAA and ETH, in one interval and in longer ones that
// are made of it. It returns the bars that have begun by now; ETH lacks every seventh bar.
type stage map[string]*market.Series

func newStage(before, after int, iv market.Interval, seed uint64) stage {
	start := iv.Start(time.Now().Unix())
	for range before {
		start = iv.Start(start - 1)
	}
	p := stage{}
	for k, symbol := range []string{"AAA", "ETH"} {
		walk := randomWalk(before+after, iv, seed+100*uint64(k))
		s := &market.Series{Symbol: symbol, Interval: iv, Source: "stage", Synthetic: true}
		at := start
		for i := range walk.Len() {
			b := walk.Bar(i)
			b.Time = at
			if at = iv.Next(at); symbol == "AAA" || i%7 != 3 {
				s.Append(b)
			}
		}
		p[symbol] = s
	}
	return p
}

func (p stage) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	all := p[q.Symbol]
	if all == nil {
		return nil, fmt.Errorf("no market %q", q.Symbol)
	}
	now := time.Now()
	s := all.Slice(0, sort.Search(all.Len(), func(i int) bool { return all.Time[i] > now.Unix() }))
	last := s.Time[s.Len()-1]
	s.Forming, s.AsOf = all.Interval.Next(last) > now.Unix(), now.UnixMilli()
	if q.Interval != s.Interval {
		s = coarser(s, q.Interval)
	}
	return s.Tail(q.Limit), nil
}

// coarser returns the bars of s as bars of a longer interval. The last of them is forming
// if it had not ended when s was asked for.
func coarser(s *market.Series, to market.Interval) *market.Series {
	c := &market.Series{Symbol: s.Symbol, Interval: to, Source: s.Source, Synthetic: s.Synthetic, AsOf: s.AsOf}
	for i := range s.Len() {
		b := s.Bar(i)
		b.Time = to.Start(b.Time)
		last := c.Len() - 1
		if last < 0 || c.Time[last] != b.Time {
			c.Append(b)
			c.Forming = s.Forming || to.Next(b.Time) > s.AsOf/1000
			continue
		}
		c.High[last], c.Low[last] = max(c.High[last], b.High), min(c.Low[last], b.Low)
		c.Close[last] = b.Close
		c.Volume[last] += b.Volume
	}
	return c
}

// play lets n bars of AAA pass and then tells the engine of them, in one update.
func (p stage) play(e *Engine, n int) {
	all := p["AAA"]
	i := sort.Search(all.Len(), func(i int) bool { return all.Time[i] > time.Now().Unix() }) - 1
	u := market.Update{Symbol: "AAA", Synthetic: true}
	for k := i; k < i+n; k++ {
		u.Closed = append(u.Closed, market.ClosedBar{Interval: all.Interval, Bar: all.Bar(k)})
	}
	last := all.Bar(i + n - 1)
	time.Sleep(time.Until(time.Unix(all.Interval.Next(last.Time), 5e8)))
	u.Price, u.High, u.Low, u.At = last.Close, last.Close, last.Close, time.Now().UnixMilli()
	e.deliver(context.Background(), u)
}

// complete lets n bars of AAA pass except for the end of the last, of which it tells the
// engine that the session is over; play then tells that it has closed.
func (p stage) complete(e *Engine, n int) {
	all := p["AAA"]
	i := sort.Search(all.Len(), func(i int) bool { return all.Time[i] > time.Now().Unix() }) - 1
	last := all.Bar(i + n - 1)
	ended := last.Time + (all.Interval.Next(last.Time)-last.Time)*3/4
	u := market.Update{Symbol: "AAA", Synthetic: true, Complete: []market.CompleteBar{{ClosedBar: market.ClosedBar{Interval: all.Interval, Bar: last}, Ended: ended}}}
	for k := i; k < i+n-1; k++ {
		u.Closed = append(u.Closed, market.ClosedBar{Interval: all.Interval, Bar: all.Bar(k)})
	}
	time.Sleep(time.Until(time.Unix(ended, 5e8)))
	u.Price, u.High, u.Low, u.At = last.Close, last.Close, last.Close, time.Now().UnixMilli()
	e.deliver(context.Background(), u)
}

// TestRulesAreTheChart: alerts wait for some two hundred random rules to become true, on six
// series; the rules also read a longer interval and another market. Bars come one by one,
// or several after a crash. The alerts must fire exactly where one chart of all bars shows
// that a rule becomes true. An order that waits for the same rule comes by the bar of the first firing,
// and is late if that is, and a backtest first enters at the open after that bar.
func TestRulesAreTheChart(t *testing.T) {
	t.Parallel()
	const before = 2600
	rules, bars, fired, want := 34, 60, 0, 500
	if testing.Short() {
		rules, bars, want = 6, 30, 30
	}
	for k, c := range []struct{ iv, longer market.Interval }{
		{market.Minute1, "5m"}, {market.Minute5, "15m"}, {market.Hour1, "4h"}, {market.Hour4, "1d"}, {market.Day1, "1wk"}, {market.Week1, ""},
	} {
		t.Run(string(c.iv), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newStage(before, bars+1, c.iv, uint64(k))
				o := testOptions(t)
				o.Source, o.Intervals = p, []market.Interval{c.iv}
				disk := journaltest.NewDisk()
				e, err := openOn(o, disk)
				if err != nil {
					t.Fatal(err)
				}
				places := []string{":ETH", "[2]"}
				if c.longer != "" {
					places = append(places, "@"+string(c.longer), "@"+string(c.longer)+":ETH")
				}
				r := rand.New(rand.NewPCG(uint64(k), 200))
				texts := make(map[string]string)  // by alert
				orders := make(map[string]string) // that wait for the same rule, by alert
				for range rules {
					text := rulestest.Condition(r, 2, places...)
					raw, _ := json.Marshal(text)
					a := repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":`+string(raw)+`,"signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachTime})
					texts[a.ID] = text
					o, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: 1, When: &book.When{Rule: text}})
					if err != nil {
						t.Fatal(err)
					}
					orders[a.ID] = o.ID
				}
				crash := func() {
					e.journal.Close()
					if e, err = openOn(o, disk); err != nil {
						t.Fatal(err)
					}
					e.watchNeeded(t.Context())
				}
				for played := 0; played < bars; {
					n := 1
					if r.IntN(8) == 0 { // a crash, and some bars until the next start
						n = min(1+r.IntN(4), bars-played)
						crash()
					}
					played += n
					if r.IntN(4) == 0 { // a session ends before its bar closes
						p.complete(e, n)
						if n = 1; r.IntN(3) == 0 {
							crash()
						}
					}
					p.play(e, n)
				}
				notes, _, err := e.Notifications("", false, Page{Limit: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				got, came := make(map[string][]int64), make(map[string]string)
				for _, n := range notes {
					if n.AlertID == "" { // an order was rejected
						continue
					}
					if got[n.AlertID] = append(got[n.AlertID], n.BarTime.Unix()); len(got[n.AlertID]) == 1 {
						came[n.AlertID] = fmt.Sprint(n.BarTime, n.Late)
					}
					fired++
				}
				for id, text := range texts {
					o, err := e.Order(orders[id])
					if err != nil {
						t.Fatal(err)
					}
					if by := fmt.Sprint(o.When.Bar, o.When.Late); by != came[id] && (o.When.Bar != nil || came[id] != "") {
						t.Errorf("the order that waits for %s came by %s, and the alert fired first by %s", text, by, came[id])
					}
				}
				for id, text := range texts {
					want := p.shown(t, text, before, bars)
					if !slices.Equal(got[id], want) {
						t.Errorf("%s fired at %v, the chart shows %v", text, got[id], want)
					}
					if at := p.entered(t, text, before, bars); len(want) > 0 && (at == 0 || at != want[0]) || len(want) == 0 && at != 0 {
						t.Errorf("a backtest of %s decides to enter on %d, the chart shows %v", text, at, want)
					}
				}
				e.Close()
			})
		})
	}
	if fired < want {
		t.Errorf("only %d alerts fired, want at least %d", fired, want)
	}
}

// shown returns the starts of the bars on which a chart of everything shows that
// the rule becomes true.
func (p stage) shown(t *testing.T, text string, from, bars int) (starts []int64) {
	raw, _ := json.Marshal(text)
	r, err := indicators.New("rule", map[string]json.RawMessage{"when": raw})
	if err != nil {
		t.Fatal(err)
	}
	all := p["AAA"]
	list, err := r.Others(all.Interval)
	if err != nil {
		t.Fatal(err)
	}
	s, err := market.LoadOthers(t.Context(), p, all.Slice(0, from+bars), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range r.Compute(s).Signals {
		if sig.Bar >= from && sig.Label == indicators.BecomesTrue {
			starts = append(starts, all.Time[sig.Bar])
		}
	}
	return starts
}

// entered returns the start of the bar on which a backtest that begins with a bar first decides to enter: it does so at
// the open of the next.
func (p stage) entered(t *testing.T, text string, from, bars int) int64 {
	raw, _ := json.Marshal(text)
	all := p["AAA"]
	r, err := indicators.New("backtest", map[string]json.RawMessage{"enter": raw, "from": json.RawMessage(fmt.Sprint(all.Time[from]))})
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Others(all.Interval)
	if err != nil {
		t.Fatal(err)
	}
	s, err := market.LoadOthers(t.Context(), p, all.Slice(0, from+bars+1), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range r.Compute(s).Signals {
		if sig.Label == indicators.Enter {
			return all.Time[sig.Bar-1]
		}
	}
	return 0
}

// TestBacktestIsThePaperBroker: if market orders are placed when the alerts of a rule fire,
// and filled at the open of the next bar, they are the trades of the backtest: on the same
// bars, at the same prices and with the same profit.
func TestBacktestIsThePaperBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before, bars = 700, 300
		const enter, exit = "close > ema(8)", "close < ema(8)[1]"
		p := newStage(before, bars+2, market.Hour1, 77)
		o := testOptions(t)
		o.Source, o.FeeRate, o.Slippage = p, exact.One/1000, exact.One/2000
		o.Limits.OrderNotional, o.Limits.PositionNotional = 1<<60, 1<<60
		e, err := openOn(o, journaltest.NewDisk())
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		buy := repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"`+enter+`","signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachTime})
		repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"`+exit+`","signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachTime})
		all := p["AAA"]
		money, held, entry := 1.0, 0.0, 0.0
		var fills []string
		var prices []float64
		for i := before; i < before+bars; i++ {
			p.play(e, 1)
			next := all.Open[i+1]
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: next, High: next, Low: next, At: time.Now().UnixMilli() + 1, Synthetic: true})
			notes, _, err := e.Notifications("", false, Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			if len(notes) != 1 || (notes[0].AlertID == buy.ID) == (held > 0) {
				continue // nothing, both at once, or what is held already
			}
			side, label := book.Buy, "enter"
			if held > 0 {
				side, label = book.Sell, "exit"
			}
			order, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: side, Type: book.Market, Quantity: 1000 * exact.One})
			if err != nil {
				t.Fatal(err)
			}
			price, _ := strconv.ParseFloat(order.AveragePrice.String(), 64)
			if held == 0 {
				held, entry = money/price, money
				money -= held*price + entry*0.001
			} else {
				money += held * price * (1 - 0.001)
				held = 0
			}
			fills, prices = append(fills, fmt.Sprint(i+1, " ", label)), append(prices, price)
		}
		r, err := indicators.New("backtest", map[string]json.RawMessage{"enter": json.RawMessage(`"` + enter + `"`), "exit": json.RawMessage(`"` + exit + `"`)})
		if err != nil {
			t.Fatal(err)
		}
		test := r.Compute(all.Slice(0, before+bars+1)).Tail(before+bars+1, bars+1)
		var want []string
		for k, sig := range test.Signals {
			want = append(want, fmt.Sprint(before+sig.Bar, " ", sig.Label))
			price := all.Open[before+sig.Bar] * 1.0005
			if sig.Label == "exit" {
				price = all.Open[before+sig.Bar] * 0.9995
			}
			if k < len(prices) && math.Abs(prices[k]-price) > 2e-8 { // the broker rounds twice to a unit of 1e-8
				t.Errorf("fill %d at %v, the backtest's at %v", k, prices[k], price)
			}
		}
		if !slices.Equal(fills, want) || len(want) < 40 {
			t.Errorf("fills\n%v\nthe backtest has\n%v", fills, want)
		}
		profit := test.Lines[0].Values[bars]
		if got := 100 * (money + held*all.Close[before+bars] - 1); math.Abs(got-profit) > 1e-6 {
			t.Errorf("the broker made %v %%, the backtest %v %%", got, profit)
		}
	})
}
