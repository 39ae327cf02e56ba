package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Feed watches symbols by polling a source and tells one listener what is new:
// the price, what was traded since the update before, and each closed bar
// exactly once and in order. What has been told is remembered as the start of the
// newest bar told, per symbol and interval, and bars are judged by their own
// times, so neither a lost connection nor a jump of the clock makes it repeat or
// skip one. After a restart [Feed.Resume] and [Feed.ResumePrice] give it that
// memory back.
//
// A price is taken only if it is newer than the last one taken, at most two
// minutes ahead of our clock, positive, and within Band of the last. One outside
// of the band is believed when the next poll confirms it.
type Feed struct {
	// Band is how many times the last price a new one may be, or which part of it.
	// Zero means DefaultBand. It must be set before Run.
	Band float64

	source Source
	log    *slog.Logger
	quotes memo[Quote] // of Quote
	grids  memo[Grid]  // of Grid

	mu      sync.Mutex
	watched map[string]*watch             // guarded by mu, like every field below
	resume  map[string]map[Interval]int64 // what Resume said, until the first poll
	next    time.Time                     // no poll of a service before this: spreads them evenly
	alive   map[string]time.Time          // last successful poll, by the name of the source
	single  map[string]time.Time          // services whose symbols are polled one by one until then
	silent  map[string]bool               // sources that were reported as silent
}

// DefaultBand takes a price between half and twice the last one.
const DefaultBand = 2

// How often symbols are polled. A service with a ticker has its own period for
// prices; then these are for its bars.
const (
	feedPeriod  = 2 * time.Second // between two polls of a symbol of a service
	freePeriod  = time.Second     // the same for a source without a budget
	feedTick    = 100 * time.Millisecond
	feedRest    = time.Minute      // longest pause after failures
	feedQuiet   = 10 * time.Minute // without a trade: the exchange is closed
	feedSlow    = 15 * time.Second // between polls then
	feedWorkers = 16               // polls at a time, so that a slow symbol holds up few others
	catchUp     = 5000             // closed bars fetched after a long silence
)

// watch is what the feed knows of one symbol. Feed.mu guards the first half. The
// second half belongs to the goroutine that polls the symbol, if busy says that
// there is one; accept changes it with the lock held, for those who ask.
type watch struct {
	symbol    string
	intervals []Interval
	due       time.Time
	busy      bool
	fails     int
	quote     Quote // the last one taken; Price is zero before the first

	fine    Interval           // the bars that prices are taken from
	last    Bar                // the newest of them when bars were last seen
	seenAt  int64              // the time of the price then, in unix milliseconds
	started bool               // there is a last bar
	forming map[Interval]Bar   // the forming bars when bars were last seen
	doubt   float64            // price outside the band that waits to be confirmed; 0 for none
	told    map[Interval]int64 // start of the newest closed bar told
}

// NewFeed returns a feed over source. Log receives a line when a symbol begins
// to fail and when it works again; nil discards them.
func NewFeed(source Source, log *slog.Logger) *Feed {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Feed{
		source: source, log: log, watched: make(map[string]*watch), resume: make(map[string]map[Interval]int64),
		alive: make(map[string]time.Time), single: make(map[string]time.Time), silent: make(map[string]bool),
	}
}

// Watch adds a symbol, which must be canonical, or intervals to one. Bars that
// close from then on are told; older ones only after Resume.
func (f *Feed) Watch(symbol string, intervals ...Interval) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watch(symbol)
	for _, iv := range intervals {
		if iv.Valid() && !slices.Contains(w.intervals, iv) {
			w.intervals = append(slices.Clone(w.intervals), iv) // a poll may be reading the old list
		}
	}
	if name := sourceName(f.source, symbol); f.alive[name].IsZero() {
		f.alive[name] = time.Now() // its age counts from here
	}
	w.due = time.Now()
}

// watch returns the watch of a symbol, a new one if there is none. The caller
// holds f.mu.
func (f *Feed) watch(symbol string) *watch {
	w := f.watched[symbol]
	if w == nil {
		w = &watch{symbol: symbol, fine: Minute1, told: make(map[Interval]int64)}
		f.watched[symbol] = w
	}
	return w
}

// Unwatch removes a symbol. An update that is on its way may still be told.
func (f *Feed) Unwatch(symbol string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watched, symbol)
	delete(f.resume, symbol)
}

// Resume says that bars of the interval were told up to the one that started
// at after, in unix seconds, by an earlier feed. It must come before Watch; an
// after of 0 says nothing.
func (f *Feed) Resume(symbol string, iv Interval, after int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after <= 0 {
		return
	}
	if f.resume[symbol] == nil {
		f.resume[symbol] = make(map[Interval]int64)
	}
	f.resume[symbol][iv] = after
}

// ResumePrice says that an earlier feed took this price last, at that time in
// unix milliseconds. The first update then begins there: its From is that price,
// its Path has the minutes since, and the price is judged by it. It must come
// before Watch; a price that is not positive says nothing.
func (f *Feed) ResumePrice(symbol string, price float64, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !(price > 0) || at <= 0 {
		return
	}
	w := f.watch(symbol)
	if w.started {
		return
	}
	// Which part of its minute came before the price is not known, so the minute's
	// extremes count as seen.
	w.last = Bar{Time: w.fine.Start(at / 1000), High: math.Inf(1), Low: math.Inf(-1)}
	w.quote = Quote{Symbol: symbol, Price: price, At: at}
	w.seenAt, w.started = at, true
}

// Ages returns for each source of a watched symbol how long ago it last answered
// a poll. A source that never has counts from when its first symbol was watched.
func (f *Feed) Ages() map[string]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	ages := make(map[string]time.Duration)
	for symbol := range f.watched {
		name := sourceName(f.source, symbol)
		ages[name] = time.Since(f.alive[name])
	}
	return ages
}

// Silent is how long a source may give no answer before that is reported.
const Silent = 30 * time.Second

// noteSilence logs which sources have given no answer for longer than Silent, and
// which do again, each once.
func (f *Feed) noteSilence() {
	ages := f.Ages()
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, age := range ages {
		silent := age > Silent
		switch {
		case silent && !f.silent[name]:
			f.log.Warn("source is silent", "source", name, "seconds", int(age.Seconds()))
		case !silent && f.silent[name]:
			f.log.Info("source answers again", "source", name)
		}
		f.silent[name] = silent
	}
}

// Period returns how much time passes between two prices of a symbol, as long as
// the source answers and its market is open.
func (f *Feed) Period(symbol string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := serviceOf(f.source, symbol); f.batched(s) {
		return s.every * time.Duration((len(f.symbolsOf(s))+s.batch-1)/s.batch)
	}
	return f.period()
}

// period is the time between two polls of a symbol by itself. The caller holds
// f.mu.
func (f *Feed) period() time.Duration {
	var budget time.Duration
	for symbol := range f.watched {
		budget += paceOf(f.source, symbol)
	}
	if budget == 0 {
		return freePeriod
	}
	return max(feedPeriod, budget)
}

// Run polls the watched symbols until ctx ends, and then returns nil once all
// polls have ended. It calls deliver from one goroutine at a time; what deliver
// has returned from is told and never comes again.
func (f *Feed) Run(ctx context.Context, deliver func(Update)) error {
	var polls sync.WaitGroup
	defer polls.Wait()
	var telling sync.Mutex
	tell := func(w *watch, g *result) {
		if g != nil && g.news && ctx.Err() == nil {
			telling.Lock()
			deliver(g.Update)
			telling.Unlock()
		}
		f.accept(w, g) // after deliver: an update that was not delivered comes again
	}
	// Services with a ticker have a loop each, for prices. The loop below polls
	// bars, of all symbols.
	for _, s := range servicesOf(f.source) {
		if s.ticker != nil {
			polls.Go(func() { f.pollPrices(ctx, s, tell) })
		}
	}
	f.pollBars(ctx, &polls, tell)
	return nil
}

// pollBars polls the bars of the symbols that are due, in goroutines of polls,
// until ctx ends.
func (f *Feed) pollBars(ctx context.Context, polls *sync.WaitGroup, tell func(*watch, *result)) {
	slots := make(chan struct{}, feedWorkers)
	tick, silence := time.NewTicker(feedTick), time.NewTicker(time.Second)
	defer tick.Stop()
	defer silence.Stop()
	for {
		// No more are taken than there are free workers: a symbol that waits in a queue
		// would be polled late.
		for w, intervals := range f.takeDue(cap(slots) - len(slots)) {
			slots <- struct{}{}
			polls.Go(func() {
				defer func() { <-slots }()
				g, err := f.poll(ctx, w, intervals)
				if ctx.Err() == nil {
					tell(w, g)
				}
				f.done(ctx, w, g, err)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-silence.C:
			f.noteSilence() // asks every symbol, so not at every tick
		}
	}
}

// takeDue marks up to n symbols whose time has come as busy, those that waited
// longest first, and returns them with their intervals.
func (f *Feed) takeDue(n int) map[*watch][]Interval {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	var due []*watch
	for _, w := range f.watched {
		if !w.busy && !w.due.IsZero() && !w.due.After(now) {
			due = append(due, w)
		}
	}
	if len(due) == 0 {
		return nil
	}
	// Without an order a map's would decide, and a symbol could wait for long.
	slices.SortFunc(due, func(a, b *watch) int { return a.due.Compare(b.due) })
	taken := make(map[*watch][]Interval)
	for _, w := range due {
		if len(taken) == n || f.next.After(now) {
			break
		}
		if pace := paceOf(f.source, w.symbol); pace > 0 {
			if idle := now.Add(-feedTick); f.next.Before(idle) {
				f.next = idle // time that was not used is not saved up
			}
			f.next = f.next.Add(pace)
		}
		w.busy = true
		// Resume may have come after Watch, while nothing was polled yet.
		for iv, after := range f.resume[w.symbol] {
			w.told[iv] = max(w.told[iv], after)
		}
		delete(f.resume, w.symbol)
		taken[w] = w.intervals
	}
	return taken
}

// done sets when w is polled again: after its share of the budget, at the next
// minute if its prices come by themselves, or later if there was no price or an
// old one.
func (f *Feed) done(ctx context.Context, w *watch, g *result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.busy = false
	pause := f.pause(w, g)
	switch {
	case err == nil:
		if w.fails > 0 {
			f.log.Info("feed works again", "symbol", w.symbol)
		}
		w.fails = 0
	case ctx.Err() == nil:
		if w.fails == 0 {
			f.log.Warn("feed fails", "symbol", w.symbol, "error", err)
		}
		w.fails++
		// Without any answer the pause doubles with every failure, up to feedRest.
		if g == nil {
			pause = max(pause, min(pause<<min(w.fails, 10), feedRest))
		}
	}
	w.due = time.Now().Add(pause)
}

// pause returns how long to wait after a poll that did not fail. The caller holds
// f.mu.
func (f *Feed) pause(w *watch, g *result) time.Duration {
	pause := f.period()
	limited := paceOf(f.source, w.symbol) > 0
	switch {
	case g == nil:
	case w.doubt != 0: // to be confirmed or not as soon as possible
	case limited && !f.batched(serviceOf(f.source, w.symbol)) && time.Since(time.UnixMilli(g.At)) > feedQuiet:
		pause = max(pause, feedSlow)
	case f.batched(serviceOf(f.source, w.symbol)):
		// Prices come from the ticker. Bars are needed when a minute has closed, for
		// the extremes between two prices and for what closed with it.
		minute := time.Now().Truncate(time.Minute).Add(time.Minute + settle)
		pause = max(pause, time.Until(minute))
	}
	return pause
}

// result is the result of one poll: what to tell, and what to remember of it.
type result struct {
	Update
	news  bool // there is something to tell
	wrong bool // the answer cannot be right
	bars  bool // last was seen, not only a price
	last  Bar
	doubt float64
	told  map[Interval]int64
}

// poll asks for the bars of w. It changes nothing but which bars prices are taken from:
// accept does when the update was delivered. An interval that fails holds up neither
// the price nor the others; its error comes with the update.
func (f *Feed) poll(ctx context.Context, w *watch, intervals []Interval) (*result, error) {
	// Prices come from the finest bars. A file may have no minutes; then the shortest
	// interval that is watched serves.
	s, err := f.ask(ctx, w.symbol, w.fine, w.last.Time)
	if errors.Is(err, ErrTooFine) && len(intervals) > 0 {
		w.coarsen(slices.MinFunc(intervals, func(a, b Interval) int { return cmp.Compare(a.Seconds(), b.Seconds()) }))
		s, err = f.ask(ctx, w.symbol, w.fine, w.last.Time)
	}
	if err != nil {
		return nil, err
	}
	g := w.price(s)
	if err := f.judge(w, g); err != nil {
		return g, err
	}
	f.mu.Lock()
	sparing := f.batched(serviceOf(f.source, w.symbol))
	f.mu.Unlock()
	for _, iv := range intervals {
		// A request per interval and minute would use up a small budget.
		if sparing && s.Time[0] <= w.last.Time && w.extend(iv, g) {
			continue
		}
		s, e := f.ask(ctx, w.symbol, iv, w.told[iv])
		if e != nil {
			err = e
			continue
		}
		g.bar(iv, s, w.told)
	}
	g.news = g.news || len(g.Closed) > 0
	return g, err
}

// coarsen takes prices from bars of a longer interval from now on. Of the one that
// the last price fell into, as of the minute in [Feed.ResumePrice], the extremes
// count as seen; its close does not.
func (w *watch) coarsen(to Interval) {
	w.fine = to
	if w.started {
		w.last = Bar{Time: to.Start(w.last.Time), High: math.Inf(1), Low: math.Inf(-1)}
	}
}

// bar adds the bars of an interval that closed since those in told, and the one
// that is forming.
func (g *result) bar(iv Interval, s *Series, told map[Interval]int64) {
	after, known := told[iv]
	closed := s.Len()
	if s.Forming {
		closed--
		if g.news { // an answer without a newer price may be older than the last
			g.Forming[iv] = s.Bar(closed)
		}
	}
	// Told moves on with every bar that is seen closed. It is kept apart from
	// w.told until the update was delivered.
	g.told[iv] = after
	if !known { // the first poll: what closed before it is not news
		after = math.MaxInt64
		g.told[iv] = s.Time[0] - 1
	}
	for i := range closed {
		if s.Time[i] > after {
			g.Closed = append(g.Closed, ClosedBar{iv, s.Bar(i)})
		}
		g.told[iv] = max(g.told[iv], s.Time[i])
	}
}

// extend brings the forming bar of an interval up to date with the path of g, in
// place of a request for it. It reports false if there was none or if it may
// have closed.
func (w *watch) extend(iv Interval, g *result) bool {
	b, ok := w.forming[iv]
	end := iv.Next(b.Time)
	if !ok || g.last.Time >= end || time.Now().Unix() >= end {
		return false
	}
	for _, part := range g.Path {
		b.High, b.Low, b.Close = max(b.High, part.High), min(b.Low, part.Low), part.Close
		b.Volume += part.Volume
	}
	g.Forming[iv] = b
	return true
}

// ask returns bars that reach back to the one that starts at after, if the
// source has them: it asks for more until they do. It does not compute how many
// there should be, so a clock that jumped cannot make it ask for too few.
func (f *Feed) ask(ctx context.Context, symbol string, iv Interval, after int64) (*Series, error) {
	// Four bars are enough from poll to poll. After a silence there are two or
	// three requests more.
	for limit := 4; ; limit = min(limit*16, catchUp) {
		s, err := f.source.Bars(ctx, Query{Symbol: symbol, Interval: iv, Limit: limit})
		if err != nil || after == 0 || s.Len() < limit || s.Time[0] <= after || limit == catchUp {
			return s, err
		}
	}
}

// price reads the newest price, and the path to it since bars were last seen.
func (w *watch) price(s *Series) *result {
	b := s.Bar(s.Len() - 1)
	g := &result{Update: Update{
		Symbol: w.symbol, Source: s.Source, Synthetic: s.Synthetic, Price: b.Close, At: s.PriceAt, Since: w.seenAt,
		From: w.quote.Price, Forming: make(map[Interval]Bar),
	}, bars: true, last: b, told: make(map[Interval]int64)}
	if s.PriceAt == 0 { // a source that does not say
		if g.At = s.AsOf; !s.Forming {
			g.At = s.priceAt(s.AsOf)
		}
	}
	if !w.started { // nothing is known of what came before this price
		g.From, g.Since = b.Close, g.At
		g.Path = []Bar{{b.Time, b.Close, b.Close, b.Close, b.Close, 0}}
	}
	for i := range s.Time {
		switch {
		case !w.started || s.Time[i] < w.last.Time: // told before
		case s.Time[i] == w.last.Time:
			g.Path = append(g.Path, w.rest(s.Bar(i)))
		default:
			g.Path = append(g.Path, s.Bar(i))
		}
	}
	if w.started && b.Time < w.last.Time {
		g.last = w.last // an older answer than before
	}
	g.span(w)
	return g
}

// rest returns the part of a bar that was traded after it was last seen: it
// opens at the price of then, and an extreme belongs to it if it exceeds what
// was known of the bar.
func (w *watch) rest(b Bar) Bar {
	r := Bar{b.Time, w.quote.Price, max(w.quote.Price, b.Close), min(w.quote.Price, b.Close), b.Close, max(0, b.Volume-w.last.Volume)}
	if b.High > w.last.High {
		r.High = b.High
	}
	if b.Low < w.last.Low {
		r.Low = b.Low
	}
	return r
}

// span sets the extremes of g. If prices were told after the bars were last
// seen, an extreme of the path may be from before those; then only the way from
// the last price to the new one counts.
func (g *result) span(w *watch) {
	g.High, g.Low = max(g.From, g.Price), min(g.From, g.Price)
	if w.quote.At > w.seenAt {
		return
	}
	for _, b := range g.Path {
		g.High, g.Low = max(g.High, b.High), min(g.Low, b.Low)
	}
}

// judge decides whether the price of g is taken. It sets g.news, or leaves the
// update as it was before: one that is not newer is no error, and one that
// cannot be right is.
func (f *Feed) judge(w *watch, g *result) error {
	last := w.quote
	ahead := time.Now().Add(maxAhead * time.Second).UnixMilli()
	// No price was taken that was ahead of our clock by more than that. If one is
	// now, our clock was set back since. Waiting until it has caught up would stop
	// all prices for that long.
	if last.At > ahead {
		f.log.Warn("the clock was set back: taking prices by their new times", "symbol", w.symbol)
		last.At, w.seenAt = 0, 0
	}
	span := g.High - g.Low
	switch {
	case !(g.Price > 0) || math.IsInf(g.Price, 0) || math.IsNaN(span) || math.IsInf(span, 0):
		return g.refuse(last, fmt.Errorf("price %v is not a positive number", g.Price))
	case g.At > ahead:
		return g.refuse(last, fmt.Errorf("the price is of %s, in the future", time.UnixMilli(g.At).UTC().Format(time.DateTime)))
	case g.At <= last.At: // a market that is closed, or a replica that is behind
		g.refuse(last, nil)
		return nil
	case last.Price > 0 && !(f.near(last.Price, g.High) && f.near(last.Price, g.Low)) && !(w.doubt > 0 && f.near(w.doubt, g.Price)):
		// The extremes count too: one false trade within a bar would fire alerts. If
		// the poll before saw such a price, this one confirms it.
		doubted := g.Price
		err := g.refuse(last, fmt.Errorf("price %v is too far from the last one, %v; the next poll decides", g.Price, last.Price))
		g.doubt = doubted
		return err
	}
	g.news = true
	return nil
}

// refuse makes g an update without a price, with the last quote, and returns err.
func (g *result) refuse(last Quote, err error) error {
	g.Price, g.At, g.From, g.High, g.Low, g.Path, g.Since = last.Price, last.At, last.Price, last.Price, last.Price, nil, last.At
	g.bars, g.wrong = false, err != nil
	return err
}

// near reports whether a price is within the band around another.
func (f *Feed) near(last, price float64) bool {
	band := f.Band
	if band == 0 {
		band = DefaultBand
	}
	return price >= last/band && price <= last*band
}

// accept remembers what was told, and what the poll saw. Refused results change
// nothing but the doubt, so that the next poll starts from the same state.
func (f *Feed) accept(w *watch, g *result) {
	if g == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !g.wrong {
		f.alive[sourceName(f.source, w.symbol)] = time.Now()
	}
	w.doubt = g.doubt
	maps.Copy(w.told, g.told)
	if g.bars {
		w.last, w.seenAt, w.started, w.forming = g.last, g.At, true, g.Forming
	}
	if g.At > 0 && g.Price > 0 {
		w.quote = Quote{Symbol: w.symbol, Price: g.Price, At: g.At, Source: g.Source, Synthetic: g.Synthetic}
	}
}
