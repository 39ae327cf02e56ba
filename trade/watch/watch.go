// Package watch keeps what is known of the markets that an engine follows: of each symbol the
// newest price, the rules of its exchange, and windows of its bars, which are runs of closed
// bars and the one that is forming. It loads history from the source, tells the feed what to
// follow, and takes in what the feed tells.
//
// A [List] also knows how far each symbol was judged, which is one value, [List.Seen]: the price
// that was judged last and, of each window, the start of the newest bar that was. A price is
// judged when [List.Take] takes it in. Bars wait until [List.Judge] has handed them out and the
// alerts on them have fired, which may take a while. The journal keeps that value, and a list
// that is given it by [List.Ensure] goes on from there.
//
// The methods of a List may be called from many goroutines. None holds its lock while the
// source or the feed is asked.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// Feed tells the engine what the market does. market.Feed is one.
type Feed interface {
	// Watch adds a symbol, or intervals to one.
	Watch(symbol string, intervals ...market.Interval)
	// Await says which symbols are to be watched as soon as their history can be loaded.
	Await(symbols []string)
	// Unwatch removes a symbol.
	Unwatch(symbol string)
	// Resume, called before Watch, gives of each interval the start of the last closed bar that the
	// engine knows, in unix seconds, and the last price that it knows, if any, with its time in unix
	// milliseconds. The feed is to deliver the bars after those; the first update begins at the price.
	Resume(symbol string, last map[market.Interval]int64, price float64, at int64)
	// Period returns how much time passes between two prices of a symbol.
	Period(symbol string) time.Duration
	// Ages returns how long ago each source that is to be watched last answered.
	Ages() map[string]time.Duration
	// Run calls deliver, from one goroutine at a time, until ctx ends.
	Run(ctx context.Context, deliver func(market.Update)) error
}

// Ruler is a [Feed] that can be asked for the rules of an exchange. market.Feed is one.
type Ruler interface {
	Grid(ctx context.Context, symbol string) (market.Grid, error)
}

// Key names the window of a symbol and an interval.
type Key struct {
	Symbol   string
	Interval market.Interval
}

// Need asks for a window: bars of an interval, and how many at least.
type Need struct {
	Interval market.Interval
	Bars     int // closed bars; less than WindowBars means WindowBars
}

// List has the symbols that an engine follows.
type List struct {
	source    market.Source
	feed      Feed
	intervals []market.Interval // kept for every symbol
	most      int               // symbols that may be watched
	log       *slog.Logger

	mu          sync.Mutex
	instruments map[string]*instrument // by symbol; guarded by mu
}

// instrument is what is known of one symbol.
type instrument struct {
	book.Listing           // its price is the newest, told by the feed or by the source that an order had asked
	judged       book.Seen // up to which price; of the bars the windows know it
	fed          int64     // time of the feed's last update, zero before the first: highs and lows of the next update reach back to there
	rulesDue     time.Time // when the source is asked for the rules of the exchange again
	windows      map[market.Interval]*window
	asked        time.Time // when Ensure was last called
}

// New returns an empty list of at most so many symbols. Each gets a window of every interval.
func New(source market.Source, feed Feed, intervals []market.Interval, most int, log *slog.Logger) *List {
	return &List{source: source, feed: feed, intervals: intervals, most: most, log: log, instruments: make(map[string]*instrument)}
}

// Symbols returns the watched symbols in order.
func (l *List) Symbols() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.instruments))
}

// Has reports whether a symbol is watched.
func (l *List) Has(symbol string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.instruments[symbol] != nil
}

// Full reports whether symbol would be one too many.
func (l *List) Full(symbol string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkRoom(symbol) != nil
}

// checkRoom refuses a symbol that would be one too many. Called with mu held.
func (l *List) checkRoom(symbol string) error {
	if l.instruments[symbol] == nil && len(l.instruments) >= l.most {
		return book.Refuse("max_symbols", "%d symbols are watched, which is the limit; %s would be one more: "+
			"cancel alerts or orders, or close a position, of another", l.most, symbol)
	}
	return nil
}

// Of returns what is known of a market; nothing if it is not watched.
func (l *List) Of(symbol string) (known book.Listing) {
	l.change(symbol, func(in *instrument) { known = in.Listing })
	return known
}

// change calls f with what is known of a symbol, if the symbol is watched.
func (l *List) change(symbol string, f func(*instrument)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.instruments[symbol]; in != nil {
		f(in)
	}
}

// Seen returns how far a symbol was judged, nil if it has no price yet.
func (l *List) Seen(symbol string) (s *book.Seen) {
	l.change(symbol, func(in *instrument) {
		if in.judged.At == 0 {
			return
		}
		s = &book.Seen{Price: in.judged.Price, At: in.judged.At, Synthetic: in.judged.Synthetic, Bars: make(map[market.Interval]int64)}
		for iv, w := range in.windows {
			if w.After > 0 {
				s.Bars[iv] = w.After
			}
		}
	})
	return s
}

// Window returns a copy of the bars of a series, the forming one last and marked, and whether
// they are what the source has: false if the series is not watched, or if the forming bar is
// known by prices alone.
func (l *List) Window(symbol string, iv market.Interval) (s *market.Series, whole bool) {
	l.change(symbol, func(in *instrument) {
		w := in.windows[iv]
		if w == nil {
			return
		}
		s = w.copy(w.keep)
		if s.AsOf = in.judged.At; in.fed == 0 {
			s.AsOf = in.At
		}
		if w.forming.Time != 0 {
			s.Append(w.forming.Bar)
			if d := w.forming.Delay; d != (market.Delay{}) {
				s.Delayed = append(s.Delayed, d)
			}
			s.Forming = true
		}
		whole = s.Len() > 0 && !(s.Forming && w.partial)
	})
	return s, whole
}

// ATR returns the average true range of a symbol on the closed bars of the first interval,
// and false if it is not known.
func (l *List) ATR(symbol string) (exact.Decimal, bool) {
	s, _ := l.Window(symbol, l.intervals[0])
	request, err := indicators.New("atr", nil)
	if s == nil || err != nil || s.Closed().Len() == 0 {
		return 0, false
	}
	values := request.Compute(s.Closed()).Lines[0].Values
	return exact.FromFloat(values[len(values)-1]) // false for NaN
}

// Ensure has symbol watched in the list's intervals and in those of needs, and loads what
// is missing of their history. From is how far an earlier process has judged the symbol,
// or nil. Several callers may load the same symbol at once: the windows of the later one
// take over from those of the earlier; see window.follow.
func (l *List) Ensure(ctx context.Context, symbol string, from *book.Seen, needs ...Need) error {
	// How many bars are wanted of each interval: the list's own, and more where an
	// indicator needs them.
	want, asked := make(map[market.Interval]int), make(map[market.Interval]bool)
	for _, iv := range l.intervals {
		want[iv] = WindowBars
	}
	for _, n := range needs {
		if n.Interval != "" {
			want[n.Interval], asked[n.Interval] = max(want[n.Interval], n.Bars, WindowBars), true
		}
	}
	missing, err := l.missing(symbol, want)
	if err != nil || len(missing) == 0 {
		return err
	}
	// Everything is loaded without the lock and then installed in one go, so that a
	// source that fails leaves nothing half done.
	var loaded []*market.Series
	load := func(iv market.Interval) error {
		s, err := l.Load(ctx, Key{symbol, iv}, want[iv]+from.Missed(iv, book.Time{Time: time.Now()}))
		switch {
		case err == nil:
			loaded = append(loaded, s)
		case errors.Is(err, market.ErrTooFine) && !asked[iv]: // it is left out
			delete(want, iv)
		case errors.Is(err, market.ErrTooFine):
			return fmt.Errorf("no bars of %s %s: %w; give an interval that it has", symbol, iv, err)
		case asked[iv]:
			return fmt.Errorf("no bars of %s %s: %w", symbol, iv, err)
		default:
			return fmt.Errorf("no price of %s: %w", symbol, err)
		}
		return nil
	}
	for _, iv := range missing {
		if err := load(iv); err != nil {
			return err
		}
	}
	// If the source is too coarse for all of the list's intervals, as a file of daily bars is,
	// a new symbol is watched by the finest bars that the source has.
	followed := slices.ContainsFunc(l.intervals, func(iv market.Interval) bool { return want[iv] != 0 }) || l.Has(symbol)
	for _, iv := range market.Intervals() { // the shortest first
		if followed || want[iv] != 0 {
			followed = true
			break
		}
		want[iv] = WindowBars
		if err := load(iv); err != nil {
			return err
		}
		followed = want[iv] != 0
	}
	switch {
	case !followed:
		return fmt.Errorf("no price of %s: %w", symbol, market.ErrTooFine) // what is not watched could never fire
	case len(loaded) == 0:
		return nil
	}
	judged, err := l.install(symbol, from, loaded, want)
	if err != nil {
		return err
	}
	// The price that an earlier process saw counts only if both are real or both invented.
	var price float64
	var at int64
	if from.Of(loaded[0]) && from.Price != 0 {
		price, _ = strconv.ParseFloat(from.Price.String(), 64)
		at = from.At
	}
	// Bars that close between this load and the feed's first poll must not be lost.
	l.feed.Resume(symbol, judged, price, at)
	l.feed.Watch(symbol, slices.Sorted(maps.Keys(want))...)
	return nil
}

// missing returns the intervals of symbol that have no window yet or one that keeps too few
// bars, the shortest first. It refuses a symbol that would be one too many.
func (l *List) missing(symbol string, want map[market.Interval]int) (missing []market.Interval, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for iv, bars := range want {
		if w := l.windowOf(Key{symbol, iv}); w == nil || w.keep < bars {
			missing = append(missing, iv)
		}
	}
	slices.SortFunc(missing, func(a, b market.Interval) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
	if in := l.instruments[symbol]; in != nil {
		in.asked = time.Now()
	}
	return missing, l.checkRoom(symbol)
}

// windowOf returns the window of a series, or nil if the series is not watched. Called
// with mu held.
func (l *List) windowOf(key Key) *window {
	if in := l.instruments[key.Symbol]; in != nil {
		return in.windows[key.Interval]
	}
	return nil
}

// Load asks the source for so many closed bars, and the forming one.
func (l *List) Load(ctx context.Context, key Key, bars int, extra ...string) (*market.Series, error) {
	limit := min(bars+1, market.MaxLimit)
	return l.source.Bars(ctx, market.Query{Symbol: key.Symbol, Interval: key.Interval, Limit: limit, Extra: extra})
}

// install puts windows with the loaded bars into the list, and what else is known from
// these. A new symbol goes on from the price in from. It returns for each window the bar
// that it was judged on last: once the lock is free, the next update changes that.
func (l *List) install(symbol string, from *book.Seen, loaded []*market.Series, want map[market.Interval]int) (judged map[market.Interval]int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.checkRoom(symbol); err != nil { // others may have come while we asked
		return nil, err
	}
	in := l.instruments[symbol]
	if in == nil {
		in = &instrument{windows: make(map[market.Interval]*window), asked: time.Now()}
		if from.Of(loaded[0]) {
			in.judged = *from
		}
		l.instruments[symbol] = in
	}
	judged = make(map[market.Interval]int64)
	for _, s := range loaded {
		w := newWindow(s, want[s.Interval])
		if from.Of(s) {
			w.resume(from.Bars[s.Interval])
		}
		// A longer window replaces a shorter one and takes over how far that was judged.
		// The newest price of the history counts until the feed's first update.
		w.follow(in.windows[s.Interval])
		in.windows[s.Interval] = w
		judged[s.Interval] = w.After
		in.Synthetic, in.Hours, in.Currency = s.Synthetic, s.Hours, s.Currency
		if q := book.LastQuote(s); in.fed == 0 && q.At > in.Until() {
			in.Quote = q
		}
	}
	if in.judged.At == 0 {
		in.judged = book.Seen{Price: in.Price, At: in.At, Synthetic: in.Synthetic}
	}
	return judged, nil
}

// Keep drops the symbols that are not needed, and that Ensure was not called for in so long.
func (l *List) Keep(needed []string, unused time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for symbol, in := range l.instruments {
		if !slices.Contains(needed, symbol) && time.Since(in.asked) >= unused {
			delete(l.instruments, symbol)
			l.feed.Unwatch(symbol)
		}
	}
}

// Take takes in an update of the feed: the windows are brought up to date, and the price
// counts as judged. It begins t where the update before ended; see [book.Tick.Begin]. It
// returns the time of that update, zero if there was none, and the series whose bars are now
// to be judged, for which the caller calls Judge: those in which bars closed or are complete,
// if they are wanted or bars are missing. It reports false for a symbol that is not watched.
func (l *List) Take(t *book.Tick, began book.Time, wanted func(Key) bool) (since int64, waiting []Key, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.instruments[t.Symbol]
	if in == nil {
		return 0, nil, false
	}
	since = in.fed
	in.takePrice(t, began)
	for _, w := range in.windows {
		w.trim()
	}
	for _, c := range t.Closed {
		if w := in.windows[c.Interval]; w != nil && c.Bar.Check() == nil {
			w.add(c)
			w.Through = max(w.Through, c.Bar.Time)
		}
	}
	for _, c := range t.Complete {
		if w := in.windows[c.Interval]; w != nil && c.Bar.Check() == nil {
			w.add(c.ClosedBar)
			w.Complete, w.Ended = c.Bar.Time, c.Ended
		}
	}
	for iv, w := range in.windows {
		w.touch(t.Update)
		key := Key{t.Symbol, iv}
		switch {
		case w.judging || !w.waits():
		case w.gap || wanted(key):
			w.judging = true
			waiting = append(waiting, key)
		default:
			w.After, w.Early = max(w.After, w.Through), w.Complete
		}
	}
	slices.SortFunc(waiting, func(a, b Key) int { return cmp.Compare(a.Interval.Seconds(), b.Interval.Seconds()) })
	return since, waiting, true
}

// takePrice takes over the price of an update.
func (in *instrument) takePrice(t *book.Tick, began book.Time) {
	since, from := in.fed, in.judged
	t.Begin(since, book.Quote{Price: from.Price, At: from.At}, began)
	in.judged = book.Seen{Price: t.Exact, At: t.At, Synthetic: t.Synthetic}
	// Without a new price the update repeats the last one, which a file may no longer tell. And
	// an older price than the known one is not taken over: an order has asked for that one. But
	// if it is even older than the last update, the clock was set back.
	repeated := t.Exact == from.Price && t.At == from.At
	switch newest := !repeated && (t.At >= in.Until() || t.At < since); {
	case newest && t.Exact != 0:
		in.Quote = book.NewQuote(market.Quote{Price: t.Price, At: t.At, Source: t.Source, Synthetic: t.Synthetic, Rewritten: t.Rewritten})
	case newest: // positions stay valued at the last price that fits, and orders are refused because of this one
		in.Inexact = true
	}
	// A first update with the time of the price before has no new price, only bars that
	// closed: the next update counts as the first.
	if since != 0 || t.At != from.At {
		in.fed = t.At
	}
}

// Round is the bars of a series that are judged at once, one after the other.
type Round struct {
	Key
	Bars *market.Series // a copy of the closed ones, and of the complete one
	Progress
}

// Judge calls judge for the bars of a series that wait, until none wait any more. If ctx ends,
// the bars that were handed out last are left to the next start: they may have been judged
// without data that could not be loaded. One call at a time is for a series that Take returned.
func (l *List) Judge(ctx context.Context, key Key, judge func(Round)) {
	for done := (Round{}); ; {
		if err := l.refill(ctx, key); err != nil {
			l.log.Warn("bars could not be loaded again", "symbol", key.Symbol, "interval", key.Interval, "error", err)
		}
		r, more := l.next(key, done)
		if !more {
			return
		}
		if judge(r); ctx.Err() != nil {
			return
		}
		done = r
	}
}

// refill loads a window again after bars were missed, or if the source had too few, which may
// drop its oldest ones with time: the chart then begins later, and an alert must see the same.
// A signal from the bars that there are is better than none, so nothing is changed if the source
// fails, or has fewer new bars than the feed has told meanwhile.
func (l *List) refill(ctx context.Context, key Key) error {
	l.mu.Lock()
	keep := 0
	if w := l.windowOf(key); w != nil && w.waits() && (w.gap || w.short) {
		keep = w.keep
	}
	l.mu.Unlock()
	if keep == 0 {
		return nil
	}
	s, err := l.Load(ctx, key, keep)
	if err != nil {
		return err
	}
	fresh := newWindow(s, keep)
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.windowOf(key); old != nil && fresh.last() >= old.last() {
		fresh.follow(old)
		l.instruments[key.Symbol].windows[key.Interval] = fresh
	}
	return nil
}

// next notes that a round was judged and returns the next one, or false if nothing waits.
func (l *List) next(key Key, done Round) (r Round, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.windowOf(key)
	if w == nil {
		return r, false
	}
	w.After = max(w.After, done.Through)
	if w.judging = w.waits(); !w.judging {
		return r, false
	}
	r = Round{key, w.copy(w.closed.Len()), w.Progress}
	w.Early = max(w.Early, w.Complete) // add takes that back if the bar is corrected
	return r, true
}

// quoteTimeout bounds how long an order waits for a fresh price.
const quoteTimeout = 5 * time.Second

// Ask asks the feed for the price of a watched symbol at this moment and takes it over, unless
// a newer one is known. A feed that runs has told it as an update by then, so that what the market
// reached on the way there is judged already. The price of a file is taken over even if it is older, since rows may have been taken
// out or corrected, unless the feed has told another meanwhile; if it contradicts what the feed
// told last, the time of that is in the answer's Gone.
func (l *List) Ask(ctx context.Context, symbol string) (a book.Inquiry) {
	feed, ok := l.feed.(book.Quoter)
	if !ok {
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	var told book.Seen
	l.change(symbol, func(in *instrument) { told = in.judged })
	q, err := feed.Quote(ctx, symbol)
	if a.Failed = err; err != nil {
		return a
	}
	a.Answered, a.Late = true, q.Late
	l.change(symbol, func(in *instrument) {
		asked := book.NewQuote(q)
		in.Hours = q.Hours
		file := q.Rewritten && in.judged.At == told.At && in.judged.Price == told.Price
		if asked.Until() >= in.Until() || file {
			in.Quote = asked
		}
		if file && (q.At < told.At || q.At == told.At && asked.Price != told.Price) {
			a.Gone = told.At
		}
	})
	return a
}

// How long the rules of a market are used before they are asked for again, and how long
// after a failure or while the market is halted. An exchange changes steps days after it
// has said so, but halts a market without notice.
const (
	rulesAge   = 10 * time.Minute
	rulesRetry = time.Minute
)

// LearnRules asks the feed for the rules of a watched market, and whether it is halted, if
// it is time to. Rules that the operator has set come before them, but no setting opens a
// market. If it fails, the rules that were known before stay in use, or none: an order is
// not refused for lack of them.
func (l *List) LearnRules(ctx context.Context, symbol string) {
	feed, ok := l.feed.(Ruler)
	due := false
	l.change(symbol, func(in *instrument) { due = !time.Now().Before(in.rulesDue) })
	if !ok || !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	told, err := feed.Grid(ctx, symbol)
	if err != nil {
		l.log.Warn("the rules of the exchange are not known: orders are counted in eight decimals, or as before", "symbol", symbol, "error", err)
	}
	l.change(symbol, func(in *instrument) {
		in.rulesDue = time.Now().Add(rulesRetry)
		if err == nil {
			in.Grid, in.Halted = book.NewGrid(told), told.Halted
			if told.Halted == "" {
				in.rulesDue = time.Now().Add(rulesAge)
			}
		}
	})
}
