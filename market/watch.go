package market

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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
	resume    map[Interval]int64 // what Resume said, until the first poll

	seen
	fine    Interval // interval of the bars that prices are taken from
	stopped bool     // nothing is traded: the newest bar had ended for more than a minute when bars were last asked for
}

// seen is what was told of a symbol, and what the next poll goes on from.
type seen struct {
	quote   Quote // the last one taken; Price is zero before the first
	started bool  // last is set
	last    Bar   // the newest of the finest bars when bars were last seen
	// at is the time, in unix milliseconds, up to which every trade was told: that of
	// the last price that came with bars, or of a later poll that found no trade since.
	at       int64
	doubt    float64                  // price outside the band that waits to be confirmed; 0 for none
	forming  map[Interval]FormingBar  // the forming bars when bars were last seen
	complete map[Interval]CompleteBar // the newest that are told as complete, or are no news
	told     map[Interval]int64       // start of the newest closed bar told
}

// result is the result of one poll: what to tell, and what is seen once that was told.
type result struct {
	Update
	news  bool // there is something to tell
	wrong bool // the answer cannot be right
	next  seen
}

// resumed reports whether w goes on from a price of ResumePrice, and was not polled yet. Only
// such a price has no source.
func (w *watch) resumed() bool { return w.started && w.quote.Source == "" }

func (w *watch) price(s *Series) *result {
	b := s.Bar(s.Len() - 1)
	g := &result{Update: Update{
		Symbol: w.symbol, Source: s.Source, Synthetic: s.Synthetic, Rewritten: s.Rewritten, Price: b.Close, At: s.PriceAt, Since: w.at,
		From: w.quote.Price, Step: w.fine, Forming: make(map[Interval]FormingBar),
	}, next: w.seen}
	// The source does not say when its last trade was. The price is then as new as the
	// answer, or as the end of the last bar if that bar has closed.
	if s.PriceAt == 0 {
		if g.At = s.AsOf; !s.Forming {
			g.At = s.priceAt(s.AsOf)
		}
	}
	g.At = max(g.At, s.ahead) // judge refuses such a price
	// If the source reports this price late (it is older than the last poll, which did not
	// see it), what the last poll found does not count.
	if w.quote.At < g.At && g.At < w.at {
		g.Since = w.quote.At
	}
	if !w.started { // of what came before nothing is known, or only a price of the ticker
		g.From, g.Since = cmp.Or(w.quote.Price, b.Close), cmp.Or(w.quote.At, g.At)
		g.Path = []Bar{{b.Time, g.From, max(g.From, b.Close), min(g.From, b.Close), b.Close, 0}}
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
	if !w.started || b.Time >= w.last.Time { // else this answer is older than the one before
		g.next.last = b
	}
	g.next.started, g.next.at, g.next.doubt, g.next.forming = true, g.At, 0, g.Forming
	g.next.told, g.next.complete = maps.Clone(w.told), maps.Clone(w.complete)
	// If a price was told after bars were last seen, an extreme of the path may be older than
	// that price. Then only the last price and the new one count.
	g.High, g.Low = max(g.From, g.Price), min(g.From, g.Price)
	if w.quote.At <= w.at {
		for _, b := range g.Path {
			g.High, g.Low = max(g.High, b.High), min(g.Low, b.Low)
		}
	}
	return g
}

// rest returns the part of the bar b that was traded after the bar was last seen. That
// part opens at the last price that was taken. It has the high of b only if that is
// above the high seen then, and the low only if it is below: others may be older.
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

// quiet returns until when, in unix milliseconds, nothing was traded after the last price, and
// the last bar then. It is not zero if s, which g was read from, has the same price and the
// same last bar as the poll before: then nothing was traded until s was asked for.
// After [Feed.ResumePrice] no bar is known. Then the same price is
// enough, and all trades in the last bar of s count as told.
func (w *watch) quiet(g *result, s *Series, asked int64) (until int64, last Bar) {
	if !w.started || g.At != w.quote.At || g.Price != w.quote.Price {
		return 0, last
	}
	last = g.next.last
	resumed := math.IsInf(w.last.High, 1)
	if resumed {
		last = s.Bar(s.Len() - 1)
	}
	// A source may add trades to the bar after it ended. They happened before its end, so
	// the quiet time goes no further: else they would pass for newer ones.
	if resumed || last == w.last {
		until = max(min(asked, w.fine.Next(last.Time)*1000), g.At)
	}
	return until, last
}

// tick returns the result of a poll that gave a price and no bars. Its path is one
// step from the last price to this one; the next bars show what was traded between them.
func (w *watch) tick(q Quote) *result {
	from, since := cmp.Or(w.quote.Price, q.Price), cmp.Or(w.quote.At, q.At)
	high, low := max(from, q.Price), min(from, q.Price)
	next := w.seen
	next.doubt = 0
	return &result{next: next, Update: Update{
		Symbol: w.symbol, Source: q.Source, Price: q.Price, At: q.At, From: from, Since: since, High: high, Low: low,
		Path: []Bar{{w.fine.Start(q.At / 1000), from, high, low, q.Price, 0}}, Step: w.fine,
	}}
}

// bar adds to g the bars of s, which are of one interval, that closed after those that w has
// told, and one that is complete. It adds the forming bar only if s is current, that is, as
// new as the price.
func (g *result) bar(w *watch, s *Series, current bool) {
	iv := s.Interval
	after, known := w.told[iv]
	closed := s.Len()
	if s.Forming {
		closed--
		if current {
			g.Forming[iv] = FormingBar{s.Bar(closed), s.Delay(closed)}
		}
	} else if now := time.Now().Unix(); closed > 0 && s.ClosedAt(closed-1) > now {
		closed--
		b := CompleteBar{ClosedBar{iv, s.Bar(closed), s.Delay(closed)}, s.ClosedAt(closed)}
		// The hours may be those of the next session already: this one ended a day before. They
		// are a stranger's numbers: those of another week say nothing.
		if shut := s.Hours.Close; shut > now-7*day && shut < now+7*day {
			for b.Ended = shut + lastTold; b.Ended > now; {
				b.Ended -= day
			}
		}
		g.next.complete[iv] = b
		if known && b.Bar.Time > max(after, w.complete[iv].Bar.Time) {
			g.Complete = append(g.Complete, b)
		}
	}
	told := after // moves on with every closed bar
	if !known {   // the first poll: what closed before it is not news
		after, told = math.MaxInt64, s.Time[0]-1
	}
	for i := range closed {
		if s.Time[i] > after {
			g.Closed = append(g.Closed, ClosedBar{iv, s.Bar(i), s.Delay(i)})
		}
		told = max(told, s.Time[i])
	}
	g.next.told[iv] = told
}

// extend brings the forming bar of an interval up to date with the path of g, which
// saves a request for it. It returns false if no forming bar is known or if it may have
// closed, or be complete because the session is over, of which shut is the end in unix
// seconds, zero if it has none. A bar that was told as complete stays as it is until it
// closes or something is traded.
func (w *watch) extend(iv Interval, g *result, shut int64) bool {
	now := time.Now().Unix()
	if c, ok := w.complete[iv]; ok && c.Bar.Time > w.told[iv] && now < c.closes() && !g.news {
		return true
	}
	b, ok := w.forming[iv]
	end := iv.Next(b.Time) + b.Delay.Offset
	if iv.Seconds() <= day && shut > b.Time {
		end = min(end, min(shut, end)+lastTold) // shut may be any number
	}
	if !ok || g.next.last.Time >= end || now >= end {
		return false
	}
	for _, part := range g.Path {
		b.High, b.Low, b.Close = max(b.High, part.High), min(b.Low, part.Low), part.Close
		b.Volume += part.Volume
	}
	if g.news { // without a new price b was told before
		g.Forming[iv] = b
	}
	return true
}

// refuse makes g an update without a new price: it puts the last one in its place and
// empties the path, and the poll has seen no bars. It returns err, which says what is wrong with
// the new price, or nil.
func (g *result) refuse(w *watch, last Quote, err error) error {
	g.Price, g.At, g.From, g.High, g.Low, g.Path, g.Since = last.Price, last.At, last.Price, last.Price, last.Price, nil, last.At
	g.next.started, g.next.last, g.next.at, g.next.forming = w.started, w.last, w.at, w.forming
	g.wrong = err != nil
	return err
}

// Update is what a feed learned about one symbol since the update before.
type Update struct {
	Symbol    string
	Source    string // where the price comes from: "binance", "csv" …
	Synthetic bool   // the price is invented
	Rewritten bool   // it is of a file, whose owner may change what is long past

	Price float64 // newest price
	At    int64   // unix milliseconds at which it was the price
	// From is the price of the update before, or the one given to ResumePrice; on
	// the first update it equals Price.
	From float64
	// High and Low are the highest and lowest price since the update before, with From
	// and Price. One that may be older than that update is left out.
	High, Low float64
	// Path is what was traded since Since (unix milliseconds), as bars of a minute,
	// or of the shortest interval that the source has. The first is the rest of the
	// minute that was forming at Since, and opens at From. Path is empty if there is
	// no new price; then Price and At are those of the update before.
	//
	// Since is when bars were last seen. If the update before had a price but no bars,
	// Since is earlier than that update, and Path may go beyond High and Low. If a later
	// poll found that nothing was traded, Since is the time of that poll.
	Path  []Bar
	Since int64
	Step  Interval // of the bars of Path
	// Forming has the forming bar of each watched interval as the source has it,
	// with its volume. It is empty where only a price was asked for.
	Forming map[Interval]FormingBar
	// Complete lists bars that will not change any more, since the session of their exchange
	// is over and all of it was told, though they have not closed: see [Series.ClosedAt]. Each is told once, and
	// again in Closed.
	Complete []CompleteBar
	// Closed lists the bars that closed since the update before, each once, in
	// order of time within an interval.
	Closed []ClosedBar
}

// FormingBar is a bar that will change.
type FormingBar struct {
	Bar
	Delay Delay // as in Series.Delayed; zero if it is not there
}

// CompleteBar is a bar whose session is over.
type CompleteBar struct {
	ClosedBar
	Ended int64 // since when it is complete, in unix seconds; when it closes if the hours of the exchange are not known
}

// ClosedBar is a finished bar of one interval.
type ClosedBar struct {
	Interval Interval
	Bar      Bar
	Delay    Delay // as in Series.Delayed; zero if it is not there
}

// closes returns when the bar closes, as [Series.ClosedAt] does.
func (b ClosedBar) closes() int64 {
	return b.Interval.Next(b.Bar.Time) + b.Delay.Offset + b.Delay.Missing
}

// DefaultBand allows a new price between half and twice the last one.
const DefaultBand = 2

// judge decides whether the price of g is taken. If so, it sets g.news. If not, it puts
// the last price into g instead, and returns an error if the new one cannot be right, or
// nil if it is merely not newer.
func (f *Feed) judge(w *watch, g *result) error {
	last := w.quote
	ahead := time.Now().Add(maxAhead * time.Second).UnixMilli()
	// No price is taken that is further ahead of our clock than this. If the last price
	// is, our clock was set back since it was taken. Its time is then forgotten:
	// otherwise no price would be newer until the clock has caught up.
	if last.At > ahead {
		f.log.Warn("the clock was set back: taking prices by their new times", "symbol", w.symbol)
		last.At, w.at, g.next.at = 0, 0, min(g.next.at, g.At)
	}
	span := g.High - g.Low
	switch {
	case !(g.Price > 0) || math.IsInf(g.Price, 0) || math.IsNaN(span) || math.IsInf(span, 0):
		return g.refuse(w, last, fmt.Errorf("price %v is not a positive number", g.Price))
	case g.At > ahead:
		return g.refuse(w, last, fmt.Errorf("the price is of %s, in the future", time.UnixMilli(g.At).UTC().Format(time.DateTime)))
	case g.At <= last.At: // a market that is closed, or a replica that is behind
		return g.refuse(w, last, nil)
	}
	// High and low count too: one false trade within a bar would fire alerts. A price
	// near the one that the poll before doubted is taken: it confirms that one.
	if far := f.far(last.Price, g); far != "" && last.Price > 0 && !(w.doubt > 0 && f.near(w.doubt, g.Price)) {
		g.next.doubt = g.Price
		return g.refuse(w, last, errors.New(far+"; the next poll decides"))
	}
	g.news = true
	return nil
}

// far says which price of g is outside of the band around the last price: the new one or, if that
// is within it, the high or the low on the way there; "" if none is.
func (f *Feed) far(last float64, g *result) string {
	switch {
	case !f.near(last, g.Price):
		return fmt.Sprintf("price %v is too far from the last one, %v", g.Price, last)
	case !f.near(last, g.High):
		return fmt.Sprintf("a high of %v is too far from the last price, %v", g.High, last)
	case !f.near(last, g.Low):
		return fmt.Sprintf("a low of %v is too far from the last price, %v", g.Low, last)
	}
	return ""
}

func (f *Feed) near(last, price float64) bool {
	band := cmp.Or(f.Band, DefaultBand)
	return price >= last/band && price <= last*band
}
