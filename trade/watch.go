package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"wick/market"
	"wick/trade/book"
)

// watchlist has the symbols that the engine follows, each with its newest price
// and its windows. It asks the source for history and tells the feed what to
// follow. Its lock is taken within the engine's, never the other way round.
type watchlist struct {
	source    market.Source
	feed      Feed
	intervals []market.Interval // kept for every symbol
	most      int               // symbols that may be watched

	mu          sync.Mutex
	instruments map[string]*instrument  // by symbol; guarded by mu
	closings    map[seriesKey][]closing // that wait to be judged, the oldest first, which is being judged; guarded by mu
}

// instrument is what is known of one symbol.
type instrument struct {
	book.Quote            // the newest; its price is zero before there is any
	fed        int64      // time of the feed's last update, zero before the first: highs and lows of the next update reach back to there
	last       book.Quote // the newest price that the feed has told; before its first update, the one to go on from
	resumed    int64      // the time of the price that an earlier process saw last, zero if there was none
	hours      market.Hours
	currency   string    // of its prices, as the source says; may be empty
	grid       book.Grid // the rules of its exchange, as far as they are known
	halted     string    // the exchange's word for a market in which nothing is traded now; or empty
	gridDue    time.Time // when the source is asked for both again
	windows    map[market.Interval]*window
	barsAt     int64     // time of the last update of the windows, zero before the feed's first
	asked      time.Time // when ensure was last called
}

// symbols returns the watched symbols.
func (w *watchlist) symbols() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sorted(w.instruments)
}

// sorted returns the keys of m in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ensure has symbol watched in the list's intervals and in those of needs, and loads what
// is missing of their history. From is how far an earlier process has judged the symbol,
// or nil. Several callers may load the same symbol at once: the windows of the later one
// take over from those of the earlier; see window.follow.
func (w *watchlist) ensure(ctx context.Context, symbol string, from *book.Seen, needs ...need) error {
	// How many bars are wanted of each interval: the list's own, and more where an
	// indicator needs them.
	want, asked := make(map[market.Interval]int), make(map[market.Interval]bool)
	for _, iv := range w.intervals {
		want[iv] = windowBars
	}
	for _, n := range needs {
		if n.interval != "" {
			want[n.interval], asked[n.interval] = max(want[n.interval], n.bars, windowBars), true
		}
	}
	missing, err := w.missing(symbol, want)
	if err != nil || len(missing) == 0 {
		return err
	}
	// Everything is loaded without the lock and then installed in one go, so that a
	// source that fails leaves nothing half done.
	series, err := w.loadAll(ctx, symbol, from, want, missing, asked)
	if err != nil || len(series) == 0 {
		return err
	}
	judged, err := w.install(symbol, from, series, want)
	if err != nil {
		return err
	}
	for i, s := range series { // bars that close between this load and the feed's first poll must not be lost
		w.feed.Resume(symbol, s.Interval, judged[i])
	}
	// The price that an earlier process saw counts only if both are real or both invented.
	if from.Of(series[0]) && from.Price != 0 {
		price, _ := strconv.ParseFloat(from.Price.String(), 64)
		w.feed.ResumePrice(symbol, price, from.At)
	}
	w.feed.Watch(symbol, slices.Sorted(maps.Keys(want))...)
	return nil
}

// loadAll loads the missing intervals of symbol, as many bars of each as want says. If
// the source has no bars fine enough for one of the list's own intervals, and nobody
// asked for it, that interval is left out and removed from want. If none of the list's
// intervals is left, as with a file of daily bars, a new symbol is watched by the finest
// bars that the source has.
func (w *watchlist) loadAll(ctx context.Context, symbol string, from *book.Seen, want map[market.Interval]int, missing []market.Interval, asked map[market.Interval]bool) (series []*market.Series, err error) {
	for _, iv := range missing {
		s, err := w.load(ctx, seriesKey{symbol, iv}, want[iv]+from.Missed(iv, now()))
		switch tooFine := errors.Is(err, market.ErrTooFine); {
		case err == nil:
			series = append(series, s)
		case tooFine && !asked[iv]:
			delete(want, iv)
		case tooFine:
			return nil, fmt.Errorf("no bars of %s %s: %w; give an interval that it has", symbol, iv, err)
		case asked[iv]:
			return nil, fmt.Errorf("no bars of %s %s: %w", symbol, iv, err)
		default:
			return nil, fmt.Errorf("no price of %s: %w", symbol, err)
		}
	}
	followed := slices.ContainsFunc(w.intervals, func(iv market.Interval) bool { return want[iv] != 0 })
	if followed || w.has(symbol) {
		return series, nil
	}
	finest, err := w.loadFinest(ctx, symbol, from, want)
	if finest != nil {
		series = append(series, finest)
	}
	return series, err
}

// loadFinest loads the finest bars of symbol that the source has, and adds them to want.
// It returns nil if want has them already.
func (w *watchlist) loadFinest(ctx context.Context, symbol string, from *book.Seen, want map[market.Interval]int) (*market.Series, error) {
	for _, iv := range market.Intervals() { // the shortest first
		if want[iv] != 0 {
			return nil, nil
		}
		s, err := w.load(ctx, seriesKey{symbol, iv}, windowBars+from.Missed(iv, now()))
		if errors.Is(err, market.ErrTooFine) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("no price of %s: %w", symbol, err)
		}
		want[iv] = windowBars
		return s, nil
	}
	return nil, fmt.Errorf("no price of %s: %w", symbol, market.ErrTooFine) // what is not watched could never fire
}

// has reports whether symbol is watched.
func (w *watchlist) has(symbol string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.instruments[symbol] != nil
}

// load asks the source for so many closed bars, and the forming one.
func (w *watchlist) load(ctx context.Context, key seriesKey, bars int, extra ...string) (*market.Series, error) {
	limit := min(bars+1, market.MaxLimit)
	return w.source.Bars(ctx, market.Query{Symbol: key.symbol, Interval: key.interval, Limit: limit, Extra: extra})
}

// missing returns the intervals of symbol that have no window yet or one that
// keeps too few bars, the shortest first. It refuses a symbol that would be one too many.
func (w *watchlist) missing(symbol string, want map[market.Interval]int) (missing []market.Interval, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for iv, bars := range want {
		if win := w.windowOf(seriesKey{symbol, iv}); win == nil || win.keep < bars {
			missing = append(missing, iv)
		}
	}
	slices.SortFunc(missing, func(a, b market.Interval) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
	if in := w.instruments[symbol]; in != nil {
		in.asked = time.Now()
	}
	return missing, w.checkRoom(symbol)
}

// full reports whether symbol would be one too many.
func (w *watchlist) full(symbol string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkRoom(symbol) != nil
}

// checkRoom refuses a symbol that would be one too many. Called with mu held.
func (w *watchlist) checkRoom(symbol string) error {
	if w.instruments[symbol] == nil && len(w.instruments) >= w.most {
		return book.Refuse("max_symbols", "%d symbols are watched, which is the limit; %s would be one more: "+
			"cancel alerts or orders, or close a position, of another", w.most, symbol)
	}
	return nil
}

// install puts windows with the loaded bars into the list, and what else is known from
// these. A new symbol goes on from the price in from. It returns for each window the bar
// that it was judged on last: once the lock is free, the next update changes that.
func (w *watchlist) install(symbol string, from *book.Seen, loaded []*market.Series, want map[market.Interval]int) (judged []int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkRoom(symbol); err != nil { // others may have come while we asked
		return nil, err
	}
	in := w.instruments[symbol]
	if in == nil {
		in = &instrument{windows: make(map[market.Interval]*window), asked: time.Now()}
		if from.Of(loaded[0]) {
			in.last, in.resumed = book.Quote{Price: from.Price, At: from.At, Synthetic: from.Synthetic}, from.At
		}
		w.instruments[symbol] = in
	}
	for _, s := range loaded {
		win := newWindow(s, want[s.Interval])
		if from.Of(s) {
			win.resume(from.Bars[s.Interval])
		}
		// A longer window replaces a shorter one and takes over how far that was judged.
		// The newest price of the history counts until the feed's first update.
		win.follow(in.windows[s.Interval])
		in.windows[s.Interval] = win
		judged = append(judged, win.judged)
		in.Synthetic, in.hours, in.currency = s.Synthetic, s.Hours, s.Currency
		if q := book.LastQuote(s); in.fed == 0 && q.At > in.Until() {
			in.Quote = q
		}
	}
	if in.fed == 0 && in.resumed == 0 {
		in.last = in.Quote
	}
	return judged, nil
}

// keepOnly drops the symbols that are not needed, and that ensure was not called for in
// so long, and returns them. The caller must tell the feed.
func (w *watchlist) keepOnly(needed map[string][]need, unused time.Duration) (gone []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for symbol, in := range w.instruments {
		if _, ok := needed[symbol]; !ok && time.Since(in.asked) >= unused {
			gone = append(gone, symbol)
			delete(w.instruments, symbol)
		}
	}
	return gone
}

// of returns a copy of what is known of a symbol, which is empty if the symbol is not
// watched. Its windows are shared with the list and must not be used.
func (w *watchlist) of(symbol string) (in instrument) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.instruments[symbol]; known != nil {
		in = *known
	}
	return in
}

// change calls f with what is known of a symbol, if the symbol is watched.
func (w *watchlist) change(symbol string, f func(*instrument)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		f(in)
	}
}

// window returns a copy of the bars of a series, the forming one last and marked,
// and whether they are what the source has: false if the series is not watched,
// or if the forming bar is known by prices alone.
func (w *watchlist) window(key seriesKey) (s *market.Series, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[key.symbol]
	if in == nil || in.windows[key.interval] == nil {
		return nil, false
	}
	win := in.windows[key.interval]
	s = win.closedBars(win.keep)
	if s.AsOf = in.barsAt; in.barsAt == 0 {
		s.AsOf = in.At
	}
	if win.forming.Time != 0 {
		s.Append(win.forming.Bar)
		if d := win.forming.Delay; d != (market.Delay{}) {
			s.Delayed = append(s.Delayed, d)
		}
		s.Forming = true
	}
	return s, s.Len() > 0 && !(s.Forming && win.partial)
}

// closing is a window that got new closed bars.
type closing struct {
	key            seriesKey
	bars           *market.Series // a copy of the closed ones; nil if no alert looks at them
	after, through int64          // the new bars start later than after, and not later than through, in unix seconds
	gap            bool           // bars before the new ones are missing
	short          bool           // the source has fewer bars than alerts could use
	late           int64          // bars that start here or earlier closed before this process watched
	// A bar is complete when the session of its exchange is over, and closes when the next
	// one opens. Alerts that read no other bars are judged on it when it is complete; those
	// that read bars which may close until then, when it has closed.
	complete bool
	ended    int64 // when the session of the complete bar was over, in unix seconds
	early    int64 // bars that start here or earlier were judged when they were complete
}

// observe brings the windows of a symbol up to date with an update. Windows in which bars
// closed or are complete wait to be judged from then on, if they are wanted or have a gap:
// observe returns those that did not wait before, the shortest interval first. It copies
// the bars only of wanted intervals. It reports false for a symbol that is no longer
// watched.
func (w *watchlist) observe(t book.Tick, wanted map[market.Interval]bool) ([]seriesKey, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[t.Symbol]
	if in == nil {
		return nil, false
	}
	for _, win := range in.windows {
		win.trim()
	}
	list := append(in.addClosed(t.Update), in.addComplete(t.Update)...)
	for _, win := range in.windows {
		win.touch(t.Update)
	}
	in.barsAt = t.At
	var idle []seriesKey
	for _, c := range list {
		// A copy, because indicators are computed on it without the lock.
		if win := in.windows[c.key.interval]; wanted[c.key.interval] {
			c.bars = win.closedBars(win.closed.Len())
		}
		if c.bars == nil && !c.gap {
			continue
		}
		if len(w.closings[c.key]) == 0 {
			idle = append(idle, c.key)
		}
		w.closings[c.key] = c.follow(w.closings[c.key])
	}
	slices.SortStableFunc(idle, func(a, b seriesKey) int { return cmp.Compare(a.interval.Seconds(), b.interval.Seconds()) })
	return idle, true
}

// follow returns a queue with c at its end. If bars close faster than they are judged, c
// takes the place of the last one that is not being judged, with the bars of both.
func (c closing) follow(queue []closing) []closing {
	if n := len(queue); n > 1 && !c.complete && !queue[n-1].complete && c.bars != nil {
		c.after, c.gap = queue[n-1].after, c.gap || queue[n-1].gap
		queue = queue[:n-1]
	}
	return append(queue, c)
}

// closing returns the oldest closing of a series that waits to be judged.
func (w *watchlist) closing(key seriesKey) closing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closings[key][0]
}

// judged removes the oldest closing of a series, c, once all that follows from it was handed
// to the journal. It returns the next one, and false if there is none.
func (w *watchlist) judged(c closing) (next closing, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if win := w.windowOf(c.key); win != nil && !c.complete {
		win.settled = max(win.settled, c.through)
	}
	w.closings[c.key][0] = closing{} // its bars are not needed any more
	queue := w.closings[c.key][1:]
	if len(queue) == 0 {
		delete(w.closings, c.key)
		return closing{}, false
	}
	w.closings[c.key] = queue
	return queue[0], true
}

// addClosed adds the bars of u that closed to their windows, and returns the windows in which
// bars are to be judged. After a pause several bars of one interval may close with one
// update. They make one closing.
func (in *instrument) addClosed(u market.Update) []closing {
	closed := make(map[market.Interval]closing)
	for _, c := range u.Closed {
		win := in.windows[c.Interval]
		if win == nil || c.Bar.Check() != nil {
			continue
		}
		if isNew, gap := win.add(c); isNew {
			k, again := closed[c.Interval]
			if !again { // alerts have not been judged on the bars that start after win.judged
				k = closing{key: seriesKey{u.Symbol, c.Interval}, after: win.judged, short: win.short, late: win.late, early: win.early}
			}
			k.through, k.gap = c.Bar.Time, k.gap || gap
			closed[c.Interval], win.judged = k, c.Bar.Time
		}
	}
	return slices.Collect(maps.Values(closed))
}

// addComplete does the same for the bars of u that are complete. They count as judged only
// once they have closed.
func (in *instrument) addComplete(u market.Update) (list []closing) {
	for _, c := range u.Complete {
		win := in.windows[c.Interval]
		if win == nil || c.Bar.Check() != nil {
			continue
		}
		if isNew, gap := win.add(c.ClosedBar); isNew {
			list = append(list, closing{key: seriesKey{u.Symbol, c.Interval}, after: win.judged, through: c.Bar.Time, gap: gap, short: win.short, late: win.late, complete: true, ended: c.Ended})
			win.early = c.Bar.Time
		}
	}
	return list
}

// refill loads a window again after bars were missed. It returns the closing with the
// loaded bars if the new bars are among them, and otherwise as it was: a signal from the
// bars that there are is better than none. It asks the source without holding the lock.
func (w *watchlist) refill(ctx context.Context, c closing) (closing, error) {
	w.mu.Lock()
	keep := windowBars
	if old := w.windowOf(c.key); old != nil {
		keep = old.keep
	}
	w.mu.Unlock()
	s, err := w.load(ctx, c.key, keep)
	if err != nil {
		return c, fmt.Errorf("%s %s: %w", c.key.symbol, c.key.interval, err)
	}
	fresh := newWindow(s, keep)
	w.mu.Lock()
	defer w.mu.Unlock()
	// Meanwhile the window may have been dropped, or the feed may have told more bars than
	// the source had.
	old := w.windowOf(c.key)
	if old == nil || fresh.lastClosed() < old.lastClosed() {
		return c, nil
	}
	fresh.follow(old)
	w.instruments[c.key.symbol].windows[c.key.interval] = fresh
	if c.bars != nil && fresh.lastClosed() >= c.through {
		c.bars = fresh.closedBars(fresh.closed.Len())
	}
	return c, nil
}

// windowOf returns the window of a series, or nil if the series is not watched. Called
// with mu held.
func (w *watchlist) windowOf(key seriesKey) *window {
	if in := w.instruments[key.symbol]; in != nil {
		return in.windows[key.interval]
	}
	return nil
}

// setPrice takes over the price of an update, once alerts have been judged on its bars.
// It returns the time of the update before, zero if there was none, and the price before
// this one. It reports false for a symbol that is not watched.
func (w *watchlist) setPrice(t book.Tick) (since int64, from book.Quote, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[t.Symbol]
	if in == nil {
		return 0, book.Quote{}, false
	}
	since, from = in.fed, in.last
	// Without a new price the update repeats the last one, which a file may no longer tell.
	repeated := t.Exact == from.Price && t.At == from.At
	in.last = book.NewQuote(market.Quote{Price: t.Price, At: t.At, Source: t.Source, Synthetic: t.Synthetic})
	// An older price than the known one is not taken over: an order has asked for that
	// one. But if it is even older than the last update, the clock was set back.
	switch newest := !repeated && (t.At >= in.Until() || t.At < since); {
	case newest && t.Exact != 0:
		in.Quote = in.last
	case newest: // positions stay valued at the last price that fits, and orders are refused because of this one
		in.Inexact = true
	}
	// A first update with the time of the price before the start has no new price, only
	// bars that closed: the next update counts as the first.
	if since != 0 || t.At != in.resumed {
		in.fed = t.At
	}
	for iv, win := range in.windows {
		if len(w.closings[seriesKey{t.Symbol, iv}]) == 0 {
			win.settled = win.judged
		}
	}
	return since, from, true
}
