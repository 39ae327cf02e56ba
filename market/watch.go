package market

import (
	"math"
	"time"
)

// watch is what the feed knows of one symbol. Feed.mu guards the fields before the
// empty line. Those after it belong to the goroutine that polls the symbol while busy
// is set; accept writes them with the lock held, because others may read them.
type watch struct {
	symbol    string
	intervals []Interval
	due       time.Time
	busy      bool
	fails     int
	quote     Quote // the last one taken; Price is zero before the first

	fine    Interval           // the bars that prices are taken from
	last    Bar                // the newest of them when bars were last seen
	seenAt  int64              // up to when nothing else was traded, in unix milliseconds: the time of the price then, or of a later look that found the same
	started bool               // there is a last bar
	forming map[Interval]Bar   // the forming bars when bars were last seen
	doubt   float64            // price outside the band that waits to be confirmed; 0 for none
	told    map[Interval]int64 // start of the newest closed bar told
}

// result is the result of one poll: what to tell, and what to remember of it.
type result struct {
	Update
	news  bool // there is something to tell
	wrong bool // the answer cannot be right
	bars  bool // last was seen, not only a price
	last  Bar
	still int64 // nothing was traded since the price up to this time, in unix milliseconds; zero if that is not known
	doubt float64
	told  map[Interval]int64
}

// price reads the newest price, and the path to it since bars were last seen.
func (w *watch) price(s *Series) *result {
	b := s.Bar(s.Len() - 1)
	g := &result{Update: Update{
		Symbol: w.symbol, Source: s.Source, Synthetic: s.Synthetic, Price: b.Close, At: s.PriceAt, Since: w.seenAt,
		From: w.quote.Price, Step: w.fine, Forming: make(map[Interval]Bar),
	}, bars: true, last: b, told: make(map[Interval]int64)}
	if s.PriceAt == 0 { // a source that does not say
		if g.At = s.AsOf; !s.Forming {
			g.At = s.priceAt(s.AsOf)
		}
	}
	// A price from before the last look, which did not find it, was told late: then what
	// that look found does not count.
	if w.quote.At < g.At && g.At < w.seenAt {
		g.Since = w.quote.At
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

// rest returns the part of the bar b that was traded after the bar was last seen. It
// opens at the last price that was taken. An extreme of b belongs to it only if it is
// beyond the one that was seen.
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

// compare notes in g, which was read from s, whether nothing was traded until s was
// asked for, at a time in unix milliseconds: it has the last price and the last bar
// again. After [Feed.ResumePrice] no bar is known, and the price and its time decide.
// What the bar of s has counts as told then.
func (w *watch) compare(g *result, s *Series, asked int64) {
	if !w.started || g.At != w.quote.At || g.Price != w.quote.Price {
		return
	}
	resumed := math.IsInf(w.last.High, 1)
	if resumed {
		g.last = s.Bar(s.Len() - 1)
	}
	// What a source still adds to the bar was traded before the bar ended.
	if resumed || g.last == w.last {
		g.still = max(min(asked, w.fine.Next(g.last.Time)*1000), g.At)
	}
}

// span sets the extremes of g. If a price was told after bars were last seen, an
// extreme of the path may be older than that price; then the extremes are only those
// of the last price and the new one.
func (g *result) span(w *watch) {
	g.High, g.Low = max(g.From, g.Price), min(g.From, g.Price)
	if w.quote.At > w.seenAt {
		return
	}
	for _, b := range g.Path {
		g.High, g.Low = max(g.High, b.High), min(g.Low, b.Low)
	}
}

// tick returns the result of a poll that gave a price and no bars. Its path is one
// step from the last price; the next bars show what was traded in between.
func (w *watch) tick(q Quote) *result {
	from := w.quote.Price
	high, low := max(from, q.Price), min(from, q.Price)
	return &result{Update: Update{
		Symbol: w.symbol, Source: q.Source, Price: q.Price, At: q.At, From: from, Since: w.quote.At, High: high, Low: low,
		Path: []Bar{{w.fine.Start(q.At / 1000), from, high, low, q.Price, 0}}, Step: w.fine,
	}}
}

// coarsen takes prices from bars of a longer interval from now on. The extremes of the
// bar that holds the last price count as told, as those of the minute do in
// [Feed.ResumePrice]; its close does not.
func (w *watch) coarsen(to Interval) {
	w.fine = to
	if w.started {
		w.last = Bar{Time: to.Start(w.last.Time), High: math.Inf(1), Low: math.Inf(-1)}
	}
}

// bar adds the bars of an interval that closed since those in told, and the one that
// is forming if s is known to be as new as the price.
func (g *result) bar(iv Interval, s *Series, told map[Interval]int64, current bool) {
	after, known := told[iv]
	closed := s.Len()
	if s.Forming {
		closed--
		if current {
			g.Forming[iv] = s.Bar(closed)
		}
	}
	// g.told moves on with every closed bar. It becomes w.told once the update was
	// delivered.
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
	if g.news { // else b is what was told before
		g.Forming[iv] = b
	}
	return true
}

// refuse makes g an update without a price, with the last quote, and returns err.
func (g *result) refuse(last Quote, err error) error {
	g.Price, g.At, g.From, g.High, g.Low, g.Path, g.Since = last.Price, last.At, last.Price, last.Price, last.Price, nil, last.At
	g.bars, g.wrong = false, err != nil
	return err
}
