package market

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Feed watches symbols by asking a source again and again, and tells one
// listener what is new: the price, the extremes since it last spoke, and each
// closed bar exactly once and in order. What has been told is remembered as the
// start of the newest bar told, per symbol and interval, and bars are judged
// by their own times, so neither a lost connection nor a jump of the clock makes
// it repeat or skip one. After a restart [Feed.Resume] gives it that memory back.
type Feed struct {
	source Source
	log    *slog.Logger

	mu      sync.Mutex
	watched map[string]*watch             // guarded by mu, like every field below
	resume  map[string]map[Interval]int64 // what Resume said, until the first look
	next    time.Time                     // no look at a service before: spreads them evenly
}

const (
	feedPeriod  = 2 * time.Second // between two looks at a symbol of a service
	freePeriod  = time.Second     // of a source without a budget
	feedTick    = 100 * time.Millisecond
	feedRest    = time.Minute      // longest pause after failures
	feedQuiet   = 10 * time.Minute // without a trade: the exchange is closed
	feedSlow    = 15 * time.Second // between looks then
	feedWorkers = 16               // looks at a time, so that a slow symbol holds up few others
	catchUp     = 5000             // closed bars fetched after a long silence
)

// watch is what the feed knows of one symbol. The goroutine that looks at the
// symbol owns the second half; busy says that there is one.
type watch struct {
	symbol    string
	intervals []Interval
	due       time.Time
	busy      bool
	fails     int

	fine    Interval           // the bars that prices are taken from
	last    Bar                // the newest of them at the last look
	started bool               // there was a last look
	told    map[Interval]int64 // start of the newest closed bar told
}

// NewFeed returns a feed over source. Log receives a line when a symbol begins
// to fail and when it is well again; nil discards them.
func NewFeed(source Source, log *slog.Logger) *Feed {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Feed{source: source, log: log, watched: make(map[string]*watch), resume: make(map[string]map[Interval]int64)}
}

// Watch adds a symbol, or intervals to one. Bars that close from then on are
// told; older ones only after Resume.
func (f *Feed) Watch(symbol string, intervals ...Interval) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watched[symbol]
	if w == nil {
		w = &watch{symbol: symbol, fine: Minute1, told: make(map[Interval]int64)}
		f.watched[symbol] = w
	}
	for _, iv := range intervals {
		if iv.Valid() && !slices.Contains(w.intervals, iv) {
			w.intervals = append(slices.Clone(w.intervals), iv) // a look may be reading the old list
		}
	}
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

// Run looks at the watched symbols until ctx ends, and then returns nil once
// all looks have ended. It calls deliver from one goroutine at a time; what
// deliver has returned from is told and never comes again.
func (f *Feed) Run(ctx context.Context, deliver func(Update)) error {
	var looks sync.WaitGroup
	defer looks.Wait()
	var telling sync.Mutex
	slots := make(chan struct{}, feedWorkers)
	tick := time.NewTicker(feedTick)
	defer tick.Stop()
	for {
		for w, intervals := range f.takeDue(cap(slots) - len(slots)) {
			slots <- struct{}{}
			looks.Go(func() {
				defer func() { <-slots }()
				g, err := f.look(ctx, w, intervals)
				if g != nil && ctx.Err() == nil {
					telling.Lock()
					deliver(g.Update)
					telling.Unlock()
					w.accept(g)
				}
				f.done(ctx, w, g, err)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
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
		if !w.busy && !w.due.After(now) {
			due = append(due, w)
		}
	}
	slices.SortFunc(due, func(a, b *watch) int { return a.due.Compare(b.due) })
	taken := make(map[*watch][]Interval)
	for _, w := range due {
		if len(taken) == n || f.next.After(now) {
			break
		}
		if pace := paceOf(f.source, w.symbol); pace > 0 {
			if idle := now.Add(-feedTick); f.next.Before(idle) {
				f.next = idle // time that nobody used is gone
			}
			f.next = f.next.Add(pace)
		}
		w.busy = true
		for iv, after := range f.resume[w.symbol] {
			w.told[iv] = max(w.told[iv], after)
		}
		delete(f.resume, w.symbol)
		taken[w] = w.intervals
	}
	return taken
}

// done sets when w is looked at again: after its share of the budget, or later
// if there was no price or an old one.
func (f *Feed) done(ctx context.Context, w *watch, g *glance, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.busy = false
	pause := freePeriod
	var budget time.Duration
	for symbol := range f.watched {
		budget += paceOf(f.source, symbol)
	}
	if budget > 0 {
		pause = max(feedPeriod, budget)
	}
	if g != nil {
		if budget > 0 && time.Since(time.UnixMilli(g.At)) > feedQuiet {
			pause = max(pause, feedSlow)
		}
	}
	switch {
	case err == nil:
		if w.fails > 0 {
			f.log.Info("feed is well again", "symbol", w.symbol)
		}
		w.fails = 0
	case ctx.Err() == nil:
		if w.fails == 0 {
			f.log.Warn("feed fails", "symbol", w.symbol, "err", err)
		}
		w.fails++
		if g == nil {
			pause = max(pause, min(pause<<min(w.fails, 10), feedRest))
		}
	}
	w.due = time.Now().Add(pause)
}

// glance is one look's find: what to tell, and what to remember once told.
type glance struct {
	Update
	last Bar
	told map[Interval]int64
}

// look asks for what is new. It changes nothing but w.fine: only when the
// update was delivered does accept move on. An interval that fails holds up
// neither the price nor the others; its error comes with the update.
func (f *Feed) look(ctx context.Context, w *watch, intervals []Interval) (*glance, error) {
	s, err := f.ask(ctx, w.symbol, w.fine, w.last.Time)
	if errors.Is(err, ErrTooFine) && len(intervals) > 0 {
		w.fine = slices.MinFunc(intervals, func(a, b Interval) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
		s, err = f.ask(ctx, w.symbol, w.fine, w.last.Time)
	}
	if err != nil {
		return nil, err
	}
	g := w.price(s)
	for _, iv := range intervals {
		after, known := w.told[iv]
		s, e := f.ask(ctx, w.symbol, iv, after)
		if e != nil {
			err = e
			continue
		}
		closed := s.Len()
		if s.Forming {
			closed--
		}
		g.told[iv] = after
		if !known { // the first look: what closed before it is old news
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
	return g, err
}

// ask returns bars that reach back to the one that starts at after, if the
// source has them: it asks for more until they do. It counts no time, so a
// clock that jumped cannot make it ask for too few.
func (f *Feed) ask(ctx context.Context, symbol string, iv Interval, after int64) (*Series, error) {
	for limit := 4; ; limit = min(limit*16, catchUp) {
		s, err := f.source.Bars(ctx, Query{Symbol: symbol, Interval: iv, Limit: limit})
		if err != nil || after == 0 || s.Len() < limit || s.Time[0] <= after || limit == catchUp {
			return s, err
		}
	}
}

// price reads the newest price and the extremes since the last look: all of a
// bar that is new, and of the one that was newest then what exceeds what was
// known of it.
func (w *watch) price(s *Series) *glance {
	b := s.Bar(s.Len() - 1)
	u := Update{Symbol: w.symbol, Price: b.Close, At: s.AsOf, High: b.Close, Low: b.Close}
	if end := s.Interval.Next(b.Time) * 1000; !s.Forming && end < u.At {
		u.At = end // no trade since
	}
	for i := s.Len() - 1; w.started && i >= 0 && s.Time[i] >= w.last.Time; i-- {
		if s.Time[i] > w.last.Time || s.High[i] > w.last.High {
			u.High = max(u.High, s.High[i])
		}
		if s.Time[i] > w.last.Time || s.Low[i] < w.last.Low {
			u.Low = min(u.Low, s.Low[i])
		}
	}
	if w.started && b.Time < w.last.Time {
		b = w.last // an older answer than before: what was told stays told
	}
	return &glance{Update: u, last: b, told: make(map[Interval]int64)}
}

// accept remembers what was told.
func (w *watch) accept(g *glance) {
	w.last, w.started = g.last, true
	maps.Copy(w.told, g.told)
}
