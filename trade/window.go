package trade

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/exact"
	"wick/market"
)

// windowBars is how many closed bars a window keeps.
const windowBars = 500

// instrument is what the engine knows of one watched symbol.
type instrument struct {
	quote
	windows map[market.Interval]*window
}

// quote is the newest price. Fed is when the feed last spoke, in unix
// milliseconds, zero before it has: what an update says of highs and lows
// reaches back to there.
type quote struct {
	price     exact.Decimal
	at        int64 // unix milliseconds
	fed       int64
	synthetic bool
}

// window is a run of closed bars and the one that is forming.
type window struct {
	closed  market.Series
	forming market.Bar // Time is zero when nothing is known of it
}

// newWindow takes over what a source answered.
func newWindow(s *market.Series) *window {
	w := &window{closed: *s}
	n := s.Len()
	if s.Forming && n > 0 {
		n--
		w.forming = s.Bar(n)
	}
	w.closed = *s.Slice(0, n)
	w.closed.Forming, w.closed.Extra = false, nil
	w.closed.Grow(2 * windowBars) // our own memory: the source's must not be written
	w.trim()
	return w
}

func (w *window) lastClosed() int64 {
	if n := w.closed.Len(); n > 0 {
		return w.closed.Time[n-1]
	}
	return 0
}

// trim lets the oldest bars go. It moves the rest only when the room is used
// up, so that a bar costs the same whenever it comes.
func (w *window) trim() {
	if w.closed.Len() >= 2*windowBars {
		tail := w.closed.Tail(windowBars)
		w.closed = *tail
		w.closed.Grow(windowBars)
	}
}

// add appends a bar that closed, unless it is old. It reports whether the bar
// is new, and whether bars are missing before it.
func (w *window) add(b market.Bar) (isNew, gap bool) {
	last := w.lastClosed()
	if b.Time <= last {
		return false, false
	}
	w.closed.Append(b)
	w.trim()
	if w.forming.Time <= b.Time {
		w.forming = market.Bar{}
	}
	return true, last != 0 && b.Time != w.closed.Interval.Next(last)
}

// touch lets the forming bar see a price.
func (w *window) touch(price, high, low float64, at int64) {
	// A price at the border is the last of the bar before: when a market closes
	// there, no bar begins.
	start := w.closed.Interval.Start((at - 1) / 1000)
	if start <= w.lastClosed() {
		return // the bar is closed; the price is late
	}
	if w.forming.Time != start {
		w.forming = market.Bar{Time: start, Open: price, High: price, Low: price}
	} else {
		w.forming.High, w.forming.Low = max(w.forming.High, high), min(w.forming.Low, low)
	}
	w.forming.Close = price
}

// closedBars returns a copy of the last closed bars.
func (w *window) closedBars() *market.Series {
	s := *w.closed.Tail(windowBars)
	s.Grow(1)
	return &s
}

// Window returns a copy of the bars the engine keeps, the forming one last and
// marked, and false if it does not watch that series.
func (e *Engine) Window(symbol string, iv market.Interval) (*market.Series, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.instruments[symbol]
	if in == nil || in.windows[iv] == nil {
		return nil, false
	}
	w := in.windows[iv]
	s := w.closedBars()
	s.AsOf = in.at
	if w.forming.Time != 0 {
		s.Append(w.forming)
		s.Forming = true
	}
	return s, s.Len() > 0
}

// ensure makes symbol watched in the engine's intervals and those given, and
// loads what is missing of their history.
func (e *Engine) ensure(ctx context.Context, symbol string, ivs ...market.Interval) error {
	want := slices.Clone(e.options.Intervals)
	for _, iv := range ivs {
		if iv != "" && !slices.Contains(want, iv) {
			want = append(want, iv)
		}
	}
	missing, err := e.missing(symbol, want)
	if err != nil || len(missing) == 0 {
		return err
	}
	loaded := make([]*market.Series, len(missing))
	for i, iv := range missing {
		q := market.Query{Symbol: symbol, Interval: iv, Limit: windowBars + 1}
		if loaded[i], err = e.options.Source.Bars(ctx, q); err != nil {
			return fmt.Errorf("no bars of %s %s: %w", symbol, iv, err)
		}
	}
	e.mu.Lock()
	err = e.checkRoom(symbol) // others may have come while we asked
	for i := 0; err == nil && i < len(loaded); i++ {
		e.install(symbol, loaded[i])
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	for i, iv := range missing { // bars that close between our look and the feed's first must not be lost
		e.options.Feed.Resume(symbol, iv, lastClosed(loaded[i]))
	}
	e.options.Feed.Watch(symbol, want...)
	return nil
}

// lastClosed returns the start of the newest closed bar of s.
func lastClosed(s *market.Series) int64 {
	w := window{closed: *s}
	if s.Forming && s.Len() > 0 {
		w.closed = *s.Slice(0, s.Len()-1)
	}
	return w.lastClosed()
}

// missing returns the intervals of symbol that have no window yet, and refuses
// a symbol too many.
func (e *Engine) missing(symbol string, want []market.Interval) ([]market.Interval, error) {
	e.mu.Lock()
	full := e.checkRoom(symbol) != nil
	e.mu.Unlock()
	if full {
		e.forgetUnneeded()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.instruments[symbol]
	if in == nil {
		return want, e.checkRoom(symbol)
	}
	var missing []market.Interval
	for _, iv := range want {
		if in.windows[iv] == nil {
			missing = append(missing, iv)
		}
	}
	return missing, nil
}

// checkRoom refuses a symbol that would be one too many. Called with mu held.
func (e *Engine) checkRoom(symbol string) error {
	if limit := e.limits.Symbols; e.instruments[symbol] == nil && len(e.instruments) >= limit {
		return refuse("max_symbols", later, "%d symbols are watched, which is the limit; %s would be one more: "+
			"cancel alerts or orders, or close a position, of another", limit, symbol)
	}
	return nil
}

// install puts loaded bars into the watch list. Called with mu held.
func (e *Engine) install(symbol string, s *market.Series) {
	in := e.instruments[symbol]
	if in == nil {
		in = &instrument{windows: make(map[market.Interval]*window)}
		e.instruments[symbol] = in
	}
	w := newWindow(s)
	in.windows[s.Interval] = w
	in.synthetic = s.Synthetic
	last, at := s.Bar(s.Len()-1), s.AsOf
	if !s.Forming {
		at = s.Interval.Next(last.Time) * 1000
	}
	if price, ok := exact.FromFloat(last.Close); ok && in.fed == 0 && at > in.at {
		in.price, in.at = price, at
	}
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for.
func (e *Engine) forgetUnneeded() {
	e.mu.Lock()
	needed := e.needed()
	var gone []string
	for symbol := range e.instruments {
		if _, ok := needed[symbol]; !ok {
			gone = append(gone, symbol)
			delete(e.instruments, symbol)
		}
	}
	e.mu.Unlock()
	for _, symbol := range gone {
		e.options.Feed.Unwatch(symbol)
	}
}

// needed returns the symbols that must be watched, and in which further
// intervals. Called with mu held.
func (e *Engine) needed() map[string][]market.Interval {
	needed := make(map[string][]market.Interval)
	need := func(symbol string, iv market.Interval) {
		if ivs, ok := needed[symbol]; !ok || (iv != "" && !slices.Contains(ivs, iv)) {
			needed[symbol] = append(ivs, iv)
		}
	}
	for _, symbol := range e.options.Symbols {
		need(symbol, "")
	}
	for _, a := range e.ahead.alerts {
		need(a.Symbol, a.Interval)
	}
	for symbol := range e.ahead.open {
		need(symbol, "")
	}
	for symbol, h := range e.ahead.holdings {
		if h.Quantity != 0 {
			need(symbol, "")
		}
	}
	return needed
}

// watchNeeded loads what the watch list lacks. What fails is logged and tried
// again by the next call.
func (e *Engine) watchNeeded(ctx context.Context) {
	e.mu.Lock()
	needed := e.needed()
	e.mu.Unlock()
	var loads errgroup.Group
	loads.SetLimit(8) // a slow source must not hold up the others for minutes
	for _, symbol := range sorted(needed) {
		loads.Go(func() error {
			if err := e.ensure(ctx, symbol, needed[symbol]...); err != nil && ctx.Err() == nil {
				e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
			}
			return nil
		})
	}
	loads.Wait()
}

// staleAfter is how many bars of the shortest interval a price may be old.
const staleAfter = 3

// freshQuote returns the newest price of symbol, or refuses. Called with mu
// held.
func (e *Engine) freshQuote(symbol string, at Time) (quote, error) {
	in := e.instruments[symbol]
	if in == nil || in.price == 0 {
		return quote{}, refuse("no_price", later, "no price of %s is known yet", symbol)
	}
	shortest := time.Duration(1<<63 - 1)
	for iv := range in.windows {
		shortest = min(shortest, iv.Duration())
	}
	if age := at.Sub(time.UnixMilli(in.at)); !in.synthetic && age/staleAfter > shortest {
		return quote{}, refuse("stale_price", later, "the newest price of %s is %s old: the market is closed or the source is silent",
			symbol, age.Round(time.Second))
	}
	return in.quote, nil
}

// mark returns the newest price of symbol, or zero. Called with mu held.
func (e *Engine) mark(symbol string) exact.Decimal {
	if in := e.instruments[symbol]; in != nil {
		return in.price
	}
	return 0
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
