package market

import (
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Feed watches symbols by polling a source and tells one listener what is new:
// the price, what was traded since the update before, and each closed bar
// exactly once and in order. For each symbol and interval it remembers when the
// newest bar that it told began. It compares that with the times of the bars, not
// with the clock, so neither a lost connection nor a jump of the clock makes it repeat
// or skip a bar. After a restart [Feed.Resume] and [Feed.ResumePrice] give it that
// memory back.
//
// A price is taken only if it is newer than the last one taken, at most two
// minutes ahead of our clock, positive, and within Band of the last. A price outside
// of the band is believed when the next poll confirms it.
type Feed struct {
	// Band bounds how far a new price may be from the last one: with 2 it may be from
	// half to twice as much. Zero means DefaultBand. It must be set before Run.
	Band float64

	source *Venue
	log    *slog.Logger
	quotes memo[Quote] // answers of the method Quote
	grids  memo[Grid]  // answers of the method Grid

	mu      sync.Mutex
	watched map[string]*watch             // guarded by mu, like every field below
	awaited map[string]bool               // what Await said last
	resume  map[string]map[Interval]int64 // what Resume said, until the first poll
	next    time.Time                     // no service is polled before this: it spreads polls evenly
	alive   map[string]time.Time          // last successful poll, by the name of the source
	single  map[string]time.Time          // services whose symbols are polled one by one until then
	silent  map[string]bool               // sources that were reported as silent
	tell    func(*watch, *result)         // tells the listener of Run what was found, and accepts it; nil while Run does not run
}

// How often symbols are polled. A service with a ticker has its own period for
// prices; then these are for its bars.
const (
	feedPeriod = 2 * time.Second // between two polls of a symbol of a service
	freePeriod = time.Second     // the same for a source without a budget
	feedTick   = 100 * time.Millisecond
	feedRest   = time.Minute      // longest pause after failures
	feedQuiet  = 10 * time.Minute // with no trade for so long the exchange counts as closed
	feedSlow   = 15 * time.Second // between two polls while it counts as closed
	catchUp    = 5000             // closed bars fetched after a long silence
)

// NewFeed returns a feed over source. Log receives a line when a symbol begins
// to fail and when it works again; nil discards them.
func NewFeed(source Source, log *slog.Logger) *Feed {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Feed{
		source: venueOf(source), log: log, watched: make(map[string]*watch), resume: make(map[string]map[Interval]int64),
		alive: make(map[string]time.Time), single: make(map[string]time.Time), silent: make(map[string]bool),
	}
}

// Watch begins to watch a symbol, which must be canonical, or adds intervals to a
// watched one. Bars that close from then on are told; older ones only after Resume.
func (f *Feed) Watch(symbol string, intervals ...Interval) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watch(symbol)
	for _, iv := range intervals {
		if iv.Valid() && !slices.Contains(w.intervals, iv) {
			w.intervals = append(slices.Clone(w.intervals), iv) // a poll may be reading the old list
		}
	}
	f.countAge(symbol)
	w.due = time.Now()
}

// Await says which symbols are to be watched as soon as the source gives their history,
// and takes back what was said before. So a source that has never answered has an age.
func (f *Feed) Await(symbols []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited = make(map[string]bool)
	for _, symbol := range symbols {
		f.awaited[symbol] = true
		f.countAge(symbol)
	}
}

// countAge counts the age of a symbol's source from now on, unless it has one. The caller
// holds f.mu.
func (f *Feed) countAge(symbol string) {
	if name := f.source.of(symbol).name; f.alive[name].IsZero() {
		f.alive[name] = time.Now()
	}
}

// watch returns the watch of a symbol, a new one if there is none. The caller
// holds f.mu.
func (f *Feed) watch(symbol string) *watch {
	w := f.watched[symbol]
	if w == nil {
		w = &watch{symbol: symbol, fine: Minute1, told: make(map[Interval]int64), closed: make(map[Interval]Bar), complete: make(map[Interval]CompleteBar)}
		f.watched[symbol] = w
	}
	return w
}

// Unwatch removes a symbol, also one that is awaited. An update that is on its way may
// still be told.
func (f *Feed) Unwatch(symbol string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.awaited, symbol)
	delete(f.watched, symbol)
	delete(f.resume, symbol)
}

// Resume says that an earlier feed has told the bars of the interval up to the one
// that started at after, in unix seconds. It must be called before Watch is called with
// that interval; an after of 0 is ignored.
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
// its Path has the minutes since, and its price must be within Band of that one. It
// must be called before Watch; a price that is not positive is ignored.
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
	// Nobody knows which part of that minute came before the price, so the high and low
	// of the minute count as told. Of a minute that begins at that instant none did.
	w.last = Bar{Time: w.fine.Start((at - 1) / 1000), High: math.Inf(1), Low: math.Inf(-1)}
	w.quote = Quote{Symbol: symbol, Price: price, At: at}
	w.seenAt, w.started = at, true
}

// Ages returns for each source of a watched or awaited symbol how long ago it last
// answered a poll. For a source that has never answered, the time counts from when its
// first symbol was watched or awaited.
func (f *Feed) Ages() map[string]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	ages := make(map[string]time.Duration)
	age := func(symbol string) {
		name := f.source.of(symbol).name
		ages[name] = time.Since(f.alive[name])
	}
	for symbol := range f.watched {
		age(symbol)
	}
	for symbol := range f.awaited {
		age(symbol)
	}
	return ages
}

// Silent is how long a source may give no answer before that is reported.
const Silent = 30 * time.Second

// noteSilence logs once when a source has given no answer for longer than Silent, and
// once when it answers again.
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
	if v := f.source.of(symbol); f.batched(v) {
		return v.every * time.Duration((len(f.symbolsOf(v))+v.batch-1)/v.batch)
	}
	return f.period()
}

// period is the time between two polls of one symbol when each symbol is polled by
// itself. The caller holds f.mu.
func (f *Feed) period() time.Duration {
	var budget time.Duration
	for symbol := range f.watched {
		budget += f.source.of(symbol).pace
	}
	if budget == 0 {
		return freePeriod
	}
	return max(feedPeriod, budget)
}

// batched reports whether the prices of v come many at once. The caller holds
// f.mu.
func (f *Feed) batched(v *Venue) bool {
	return v.prices != nil && !time.Now().Before(f.single[v.name])
}

// symbolsOf returns the watched symbols that v answers for, sorted. The caller holds
// f.mu.
func (f *Feed) symbolsOf(v *Venue) []string {
	var list []string
	for _, symbol := range slices.Sorted(maps.Keys(f.watched)) {
		if f.source.of(symbol) == v {
			list = append(list, symbol)
		}
	}
	return list
}

// accept remembers what was told and what the poll saw. A result whose price cannot be
// right changes only the doubt, so that the next poll starts from the same state.
func (f *Feed) accept(w *watch, g *result) {
	if g == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !g.wrong {
		f.alive[f.source.of(w.symbol).name] = time.Now()
	}
	w.doubt = g.doubt
	maps.Copy(w.told, g.told)
	maps.Copy(w.complete, g.complete)
	switch {
	case g.bars:
		w.last, w.seenAt, w.started, w.forming = g.last, g.At, true, g.Forming
	case g.quietUntil != 0:
		w.last, w.seenAt = g.last, g.quietUntil
	}
	if g.At > 0 && g.Price > 0 {
		w.quote = Quote{Symbol: w.symbol, Price: g.Price, At: g.At, Source: g.Source, Synthetic: g.Synthetic}
	}
}
