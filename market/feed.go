package market

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Feed watches symbols by polling a source and tells one listener what is new:
// the price, what was traded since the update before, and each closed bar
// exactly once and in order. For each symbol and interval it remembers when the
// newest bar that it told began. It compares that with the times of the bars, not
// with the clock, so neither a lost connection nor a jump of the clock makes it repeat
// or skip a bar. After a restart [Feed.Resume] gives it that
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
	fresh  *Venue // source, without a cache
	log    *slog.Logger
	quotes memo[Quote] // answers of the method Quote
	grids  memo[Grid]  // answers of the method Grid

	// telling holds what tells the listener of Run, unless its context has ended; nil while Run does
	// not run. Whoever has taken it reads an answer in fold.
	telling chan func(Update) bool

	mu      sync.Mutex
	watched map[string]*watch // guarded by mu, like every field below it
	awaited []string          // what Await said last
	desks   []*desk           // where symbols are polled
}

// desk is a venue that a feed polls. Feed.mu guards what changes of it.
type desk struct {
	*Venue
	next   time.Time // no bars are polled before this: it spreads polls evenly
	alive  time.Time // last successful poll; before that, when a first symbol was watched or awaited
	single time.Time // symbols are polled one by one until then
	silent bool      // that was reported
}

// How often symbols are polled. A service with a ticker has its own period for
// prices; then these are for its bars.
const (
	feedPeriod = 2 * time.Second // between two polls of a symbol of a service
	freePeriod = time.Second     // the same for a source without a budget
	feedTick   = 100 * time.Millisecond
	feedRest   = time.Minute // longest pause after failures
	catchUp    = 5000        // closed bars fetched after a long silence
)

// NewFeed returns a feed over source. Log receives a line when a symbol begins
// to fail and when it works again; nil discards them.
func NewFeed(source Source, log *slog.Logger) *Feed {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	v := venueOf(source)
	f := &Feed{source: v, fresh: cmp.Or(v.under, v), log: log, watched: make(map[string]*watch), telling: make(chan func(Update) bool, 1)}
	f.telling <- nil
	parts := v.parts
	if len(parts) == 0 {
		parts = []*Venue{v}
	}
	for _, part := range parts {
		f.desks = append(f.desks, &desk{Venue: part})
	}
	return f
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
	w.due = time.Now()
}

// Await says which symbols are to be watched as soon as the source gives their history,
// and takes back what was said before. So a source that has never answered has an age.
func (f *Feed) Await(symbols []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited = slices.Clone(symbols)
	for _, symbol := range symbols {
		f.desk(symbol)
	}
}

// desk returns where a symbol is polled, which has an age from the first time on. The caller
// holds f.mu.
func (f *Feed) desk(symbol string) *desk {
	v := f.source.of(symbol)
	d := f.desks[slices.IndexFunc(f.desks, func(d *desk) bool { return d.Venue == v })]
	if d.alive.IsZero() {
		d.alive = time.Now()
	}
	return d
}

// watch returns the watch of a symbol, a new one if there is none. The caller
// holds f.mu.
func (f *Feed) watch(symbol string) *watch {
	w := f.watched[symbol]
	if w == nil {
		w = &watch{symbol: symbol, desk: f.desk(symbol), resume: make(map[Interval]int64)}
		f.watched[symbol] = w
	}
	return w
}

// Unwatch removes a symbol, also one that is awaited. An update that is on its way may
// still be told.
func (f *Feed) Unwatch(symbol string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited = slices.DeleteFunc(f.awaited, func(other string) bool { return other == symbol })
	delete(f.watched, symbol)
}

// Resume says what an earlier feed has told of a symbol: the bars of each interval up to the one
// that started at told, in unix seconds, and a price, taken last at that time in unix milliseconds.
// The bars after those are told then. The first update begins at the price: its From is that
// price, its Path has the minutes since, and its price must be within Band of that one. It
// must be called before Watch is called with the intervals; a time of 0 and a price that is not
// positive are ignored.
func (f *Feed) Resume(symbol string, told map[Interval]int64, price float64, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watch(symbol)
	for iv, after := range told {
		if after > 0 {
			w.resume[iv] = after
		}
	}
	if !(price > 0) || at <= 0 || w.started {
		return
	}
	// Nobody knows which part of that minute came before the price, so the high and low
	// of the minute count as told. Of a minute that begins at that instant none did.
	w.last = unknownPart(Minute1, (at-1)/1000)
	w.fine = Minute1
	w.quote = Quote{Symbol: symbol, Price: price, At: at}
	w.at, w.started = at, true
}

// Ages returns for each source of a watched or awaited symbol how long ago it last
// answered a poll. For a source that has never answered, the time counts from when its
// first symbol was watched or awaited.
func (f *Feed) Ages() map[string]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	ages := make(map[string]time.Duration)
	for _, symbol := range slices.AppendSeq(slices.Clone(f.awaited), maps.Keys(f.watched)) {
		d := f.desk(symbol)
		ages[d.name] = time.Since(d.alive)
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
	for _, d := range f.desks {
		age, polled := ages[d.name]
		switch silent := age > Silent; {
		case !polled || silent == d.silent:
			continue
		case silent:
			f.log.Warn("source is silent", "source", d.name, "seconds", int(age.Seconds()))
		default:
			f.log.Info("source answers again", "source", d.name)
		}
		d.silent = !d.silent
	}
}

// Period returns how much time passes between two prices of a symbol, as long as
// the source answers.
func (f *Feed) Period(symbol string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.desk(symbol)
	if d.batched() {
		return d.every * time.Duration((len(f.at(d))+d.batch-1)/d.batch)
	}
	return f.period(d)
}

// period is the time between two polls of one symbol of d when each symbol is polled by
// itself. The caller holds f.mu.
func (f *Feed) period(d *desk) time.Duration {
	if d.pace == 0 {
		return freePeriod
	}
	return max(feedPeriod, d.pace*time.Duration(len(f.at(d))))
}

// batched reports whether the prices of d come many at once.
func (d *desk) batched() bool { return d.prices != nil && !time.Now().Before(d.single) }

// at returns the watched symbols of d, sorted. The caller holds f.mu.
func (f *Feed) at(d *desk) (list []*watch) {
	for _, symbol := range slices.Sorted(maps.Keys(f.watched)) {
		if w := f.watched[symbol]; w.desk == d {
			list = append(list, w)
		}
	}
	return list
}

// fold has read say what an answer tells of w beyond what was seen of it, tells that to the
// listener of Run, and then counts it as seen. It reads one answer at a time, so answers may come
// in any order; what was not delivered comes again with the next one.
func (f *Feed) fold(w *watch, read func(was seen) (*result, error)) (*result, error) {
	deliver := <-f.telling
	defer func() { f.telling <- deliver }()
	f.mu.Lock()
	was := w.state()
	f.mu.Unlock()
	g, err := read(was)
	if g == nil || deliver == nil {
		return g, err
	}
	if g.Symbol = w.symbol; !g.news || deliver(g.Update) {
		f.accept(w, g)
	}
	return g, err
}

// accept remembers what was told and what the answer showed.
func (f *Feed) accept(w *watch, g *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !g.wrong {
		w.desk.alive = time.Now()
	}
	w.seen = g.next
	if g.At > 0 && g.Price > 0 {
		w.quote = Quote{Symbol: w.symbol, Price: g.Price, At: g.At, Source: g.Source, Synthetic: g.Synthetic, Rewritten: g.Rewritten}
	}
}

// Run polls the watched symbols until ctx ends, and then returns nil once all
// polls have ended. It calls deliver from one goroutine at a time. An update counts
// as told once deliver has returned, and is never repeated.
func (f *Feed) Run(ctx context.Context, deliver func(Update)) error {
	var polls sync.WaitGroup
	defer polls.Wait()
	<-f.telling
	f.telling <- func(u Update) bool {
		if ctx.Err() != nil {
			return false
		}
		deliver(u)
		return true
	}
	defer func() {
		<-f.telling
		f.telling <- nil
	}()
	// Services with a ticker have a loop each, for prices. The loop below polls
	// bars, of all symbols.
	for _, d := range f.desks {
		if d.prices != nil {
			polls.Go(func() { f.pollPrices(ctx, d) })
		}
	}
	f.pollBars(ctx, &polls)
	return nil
}

// pollBars polls the bars of the symbols that are due, in goroutines of polls,
// until ctx ends. A symbol has at most one, so that one that hangs holds up no other.
func (f *Feed) pollBars(ctx context.Context, polls *sync.WaitGroup) {
	tick, silence := time.Tick(feedTick), time.Tick(time.Second)
	for {
		for _, w := range f.takeDue() {
			polls.Go(func() {
				g, err := f.poll(ctx, w)
				f.done(ctx, w, g, err)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		case <-silence:
			f.noteSilence() // it goes through every symbol: too slow for every tick
		}
	}
}

// takeDue marks symbols whose time has come as busy, those that waited longest first and
// as many as the pace of their services allows, and returns them.
func (f *Feed) takeDue() (taken []*watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	var due []*watch
	for _, w := range f.watched {
		if !w.busy && !w.due.IsZero() && !w.due.After(now) {
			due = append(due, w)
		}
	}
	// The order of the map is random: a symbol could wait for long.
	slices.SortFunc(due, func(a, b *watch) int { return a.due.Compare(b.due) })
	for _, w := range due {
		d := w.desk
		if d.next.After(now) || f.yields(w, now) {
			continue
		}
		if idle := now.Add(-feedTick); d.next.Before(idle) {
			d.next = idle // unused time does not allow a burst of polls later
		}
		d.next = d.next.Add(d.pace)
		w.busy = true
		taken = append(taken, w)
	}
	return taken
}

// feedYield is how long the bars of a symbol whose prices come from a ticker are not asked
// for while other requests to its service wait, such as the first ones for other symbols.
// After that they are asked for one symbol at a time: the ticker leaves out a symbol whose
// poll waits.
const feedYield = 30 * time.Second

// yields reports whether the poll of w lets other requests pass. The caller holds f.mu.
func (f *Feed) yields(w *watch, now time.Time) bool {
	if !w.desk.batched() || w.resumed() || !w.desk.crowded() {
		return false
	}
	polled := slices.ContainsFunc(f.at(w.desk), func(w *watch) bool { return w.busy })
	return polled || now.Sub(w.due) < feedYield
}

// done marks w as not busy and sets when it is polled again after a poll with the result g,
// which is nil if there was no answer. It logs when polls begin to fail and when they work
// again.
func (f *Feed) done(ctx context.Context, w *watch, g *result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.busy = false
	// Its share of the budget; without an answer it is that alone.
	pause := f.period(w.desk)
	switch {
	case g == nil:
	case w.doubt != 0: // the next poll confirms the price or not: as soon as possible
	case w.desk.batched():
		// Prices come from the ticker. Bars are needed only when a minute has closed: for
		// the highs and lows between two prices, and for the bars that closed with it.
		minute := time.Now().Truncate(time.Minute).Add(time.Minute + settle)
		pause = max(pause, time.Until(minute))
	}
	switch {
	case err == nil:
		if w.fails > 0 {
			f.log.Info("feed works again", "symbol", w.symbol)
		}
		w.fails = 0
	case errors.Is(err, ErrBusy): // no fault of the source, and the symbol is the next one
		pause = 0
	case ctx.Err() == nil:
		if w.fails == 0 {
			f.log.Warn("feed fails", "symbol", w.symbol, "error", err)
		}
		w.fails++
		// Without any answer the pause doubles with every failure, up to feedRest. A source
		// without a budget, such as a file, costs nothing and may be right at any moment.
		if g == nil && w.desk.pace > 0 {
			pause = max(pause, min(pause<<min(w.fails, 10), feedRest))
		}
	}
	w.due = time.Now().Add(pause)
}

// poll asks for the bars of w and tells what is new. If the bars of one interval cannot be had,
// it tells the price and the others, and returns the error too. The result is nil if there was
// no answer.
func (f *Feed) poll(ctx context.Context, w *watch) (*result, error) {
	f.mu.Lock()
	was, intervals, sparing := w.state(), w.intervals, w.desk.batched()
	f.mu.Unlock()
	if was.resumed() { // a stop may have been reached since
		ctx = forPrice(ctx)
	}
	s, err := look(ctx, f.source, w.symbol, was)
	if err != nil {
		return nil, err
	}
	longer := make(map[Interval]*Series) // nil where s says enough
	for _, iv := range intervals {
		// A request per interval and minute would use up a small budget.
		if sparing && was.extends(iv, s) {
			longer[iv] = nil
		} else if bars, e := since(ctx, f.source, w.symbol, iv, was.told[iv]); e != nil {
			err = e
		} else {
			longer[iv] = bars
		}
	}
	g, wrong := f.fold(w, func(was seen) (*result, error) {
		g, err := f.bars(was, s)
		if err != nil { // a wrong price is a sign of wrong bars
			return g, err
		}
		for _, iv := range intervals {
			if bars, ok := longer[iv]; bars != nil {
				// A forming bar from a cache may lack the trades right before the price.
				g.bar(bars, g.news && bars.AsOf >= s.AsOf)
			} else if ok {
				g.extend(iv, was.forming)
			}
		}
		g.news = g.news || len(g.Complete) > 0 || len(g.Closed) > 0
		return g, nil
	})
	return g, cmp.Or(err, wrong)
}

// look asks for the finest bars that a source has, from the last one seen on. Only files have no
// minutes. Their finest interval is found by trying.
func look(ctx context.Context, v *Venue, symbol string, was seen) (s *Series, err error) {
	for _, iv := range intervals[slices.Index(intervals, was.fine):] {
		if s, err = since(ctx, v, symbol, iv, was.last.Time); !errors.Is(err, ErrTooFine) {
			break
		}
	}
	return s, err
}

// since returns bars that reach back to the one that starts at after, if the source
// has them. It asks for more and more bars until they reach it. It does not compute
// the number from the time, so a clock that jumped cannot make it ask for too few.
func since(ctx context.Context, v *Venue, symbol string, iv Interval, after int64) (*Series, error) {
	// From one poll to the next four bars are enough. After a long silence it takes two
	// or three requests more.
	for limit := 4; ; limit = min(limit*16, catchUp) {
		s, err := v.bars(ctx, Query{Symbol: symbol, Interval: iv, Limit: limit})
		if err != nil || after == 0 || s.Len() < limit || s.Time[0] <= after || limit == catchUp {
			return s, err
		}
	}
}
