package market

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"
)

// watch is what the feed knows of one symbol. Feed.mu guards all of it.
type watch struct {
	symbol    string
	desk      *desk
	intervals []Interval
	due       time.Time
	busy      bool // a poll is under way
	fails     int
	resume    map[Interval]int64 // what Resume said
	seen
}

// seen is what was told of a symbol, and what the next answer goes on from. It changes only in
// [Feed.fold], and its maps never do: the next one has its own.
type seen struct {
	quote   Quote    // the last one taken; Price is zero before the first
	started bool     // last is set
	fine    Interval // the shortest that the source has, as far as is known
	last    Bar      // the newest bar of that interval when bars were last seen
	stopped bool     // nothing is traded: it had ended for more than a minute when bars were last asked for
	// at is the time, in unix milliseconds, up to which every trade was told: that of
	// the last price that came with bars, or of a later poll that found no trade since.
	at       int64
	doubt    float64                  // price outside the band that waits to be confirmed; 0 for none
	forming  map[Interval]FormingBar  // the forming bars when bars were last seen
	complete map[Interval]CompleteBar // the newest that are told as complete, or are no news
	told     map[Interval]int64       // start of the newest closed bar told
}

// state returns a copy of what was seen of w, also by an earlier feed. The caller holds f.mu.
func (w *watch) state() seen {
	was := w.seen
	was.fine = cmp.Or(was.fine, Minute1)
	was.complete = make(map[Interval]CompleteBar)
	maps.Copy(was.complete, w.complete)
	was.told = make(map[Interval]int64)
	maps.Copy(was.told, w.told)
	for iv, after := range w.resume {
		was.told[iv] = max(was.told[iv], after)
	}
	return was
}

// unknownPart is the bar of iv that holds t, of which nobody knows which part came before t: its
// high and low count as told.
func unknownPart(iv Interval, t int64) Bar {
	return Bar{Time: iv.Start(t), High: math.Inf(1), Low: math.Inf(-1)}
}

// result is what an answer says: what to tell, and what is seen once that was told.
type result struct {
	Update
	news  bool // there is something to tell
	wrong bool // the answer cannot be right
	next  seen
}

// resumed reports whether it goes on from a price of Resume, and no bars were seen yet. Only
// such a price has no source.
func (was *seen) resumed() bool { return was.started && was.quote.Source == "" }

// bars returns what the finest bars of a symbol say of its price.
func (f *Feed) bars(was seen, s *Series) (*result, error) {
	if was.started && was.fine != s.Interval {
		was.last = unknownPart(s.Interval, was.last.Time)
	}
	was.fine = s.Interval
	g := was.price(s)
	newest, end := s.Bar(s.Len()-1), s.Interval.Next(s.Time[s.Len()-1])*1000
	g.next.stopped = s.AsOf > end+minute*1000
	// The same price in the same bar: nothing was traded until s was asked for. After
	// [Feed.Resume] no bar is known. Then the same price is enough, and all trades in the last
	// bar of s count as told.
	resumed := math.IsInf(was.last.High, 1)
	still := was.started && g.At == was.quote.At && g.Price == was.quote.Price && (resumed || newest == was.last)
	err := f.judge(was, g)
	if still && !g.news {
		// A source may add trades to the bar after it ended. They happened before its end, so
		// the quiet time goes no further: else they would pass for newer ones.
		g.next.last, g.next.at = newest, max(min(s.AsOf, end), g.At, was.at)
	}
	return g, err
}

func (was seen) price(s *Series) *result {
	b := s.Bar(s.Len() - 1)
	g := &result{Update: Update{
		Source: s.Source, Synthetic: s.Synthetic, Rewritten: s.Rewritten, Price: b.Close, At: s.pricedAt(), Since: was.at,
		From: was.quote.Price, Step: was.fine, Forming: make(map[Interval]FormingBar),
	}, next: was}
	// If the source reports this price late (it is older than the last poll, which did not
	// see it), what the last poll found does not count.
	if was.quote.At < g.At && g.At < was.at {
		g.Since = was.quote.At
	}
	if !was.started { // of what came before nothing is known, or only a price of the ticker
		g.From, g.Since = cmp.Or(was.quote.Price, b.Close), cmp.Or(was.quote.At, g.At)
		g.Path = []Bar{{b.Time, g.From, max(g.From, b.Close), min(g.From, b.Close), b.Close, 0}}
	}
	for i := range s.Time {
		switch {
		case !was.started || s.Time[i] < was.last.Time: // told before
		case s.Time[i] == was.last.Time:
			g.Path = append(g.Path, was.rest(s.Bar(i)))
		default:
			g.Path = append(g.Path, s.Bar(i))
		}
	}
	if !was.started || b.Time >= was.last.Time { // else this answer is older than the one before
		g.next.last = b
	}
	g.next.started, g.next.at, g.next.doubt, g.next.forming = true, g.At, 0, g.Forming
	// If a price was told after bars were last seen, an extreme of the path may be older than
	// that price. Then only the last price and the new one count.
	g.High, g.Low = max(g.From, g.Price), min(g.From, g.Price)
	if was.quote.At <= was.at {
		for _, b := range g.Path {
			g.High, g.Low = max(g.High, b.High), min(g.Low, b.Low)
		}
	}
	return g
}

// rest returns the part of the bar b that was traded after the bar was last seen. That
// part opens at the last price that was taken. It has the high of b only if that is
// above the high seen then, and the low only if it is below: others may be older.
func (was *seen) rest(b Bar) Bar {
	r := Bar{b.Time, was.quote.Price, max(was.quote.Price, b.Close), min(was.quote.Price, b.Close), b.Close, max(0, b.Volume-was.last.Volume)}
	if b.High > was.last.High {
		r.High = b.High
	}
	if b.Low < was.last.Low {
		r.Low = b.Low
	}
	return r
}

// pricedAt returns when the last close was the price, in unix milliseconds. If the source does not
// say when its last trade was, the price is as new as the answer, or as the end of the last bar
// if that bar has closed.
func (s *Series) pricedAt() int64 {
	return max(cmp.Or(s.PriceAt, s.priceAt(s.AsOf)), s.ahead) // judge refuses such a price
}

// bar adds to g the bars of s, which are of one interval, that closed after those that were
// told, and one that is complete. It adds the forming bar only if s is current, that is, as
// new as the price.
func (g *result) bar(s *Series, current bool) {
	iv := s.Interval
	after, known := g.next.told[iv]
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
		if known && b.Bar.Time > max(after, g.next.complete[iv].Bar.Time) {
			g.Complete = append(g.Complete, b)
		}
		g.next.complete[iv] = b
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

// extends reports whether what s, the finest bars, says can be added to the forming bar of an
// interval as it was seen, which saves a request for it. It cannot if no forming bar is known, or if
// it may have closed, or be complete because the session is over. A bar that was told as complete
// stays as it is until it closes or something is traded.
func (was *seen) extends(iv Interval, s *Series) bool {
	now, newest := time.Now().Unix(), s.Time[s.Len()-1]
	if s.Time[0] > was.last.Time {
		return false
	}
	if c, ok := was.complete[iv]; ok && c.Bar.Time > was.told[iv] && now < c.closes() && s.pricedAt() <= was.quote.At {
		return true
	}
	b, ok := was.forming[iv]
	end := iv.Next(b.Time) + b.Delay.Offset
	if shut := s.Hours.Close; iv.Seconds() <= day && shut > b.Time {
		end = min(end, min(shut, end)+lastTold) // shut may be any number
	}
	return ok && newest < end && now < end
}

// extend adds the path of g to the forming bar of an interval, if one was seen.
func (g *result) extend(iv Interval, seen map[Interval]FormingBar) {
	b, ok := seen[iv]
	if !ok || !g.news { // without a new price it was told before
		return
	}
	for _, part := range g.Path {
		b.High, b.Low, b.Close = max(b.High, part.High), min(b.Low, part.Low), part.Close
		b.Volume += part.Volume
	}
	g.Forming[iv] = b
}

// refuse makes g an update without a new price: it puts the last one in its place and
// empties the path, and the poll has seen no bars. It returns err, which says what is wrong with
// the new price, or nil.
func (g *result) refuse(was seen, err error) error {
	last := was.quote
	g.Price, g.At, g.From, g.High, g.Low, g.Path, g.Since = last.Price, last.At, last.Price, last.Price, last.Price, nil, last.At
	g.next.started, g.next.last, g.next.at, g.next.forming = was.started, was.last, was.at, was.forming
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
	// From is the price of the update before, or the one given to Resume; on
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
func (f *Feed) judge(was seen, g *result) error {
	ahead := time.Now().Add(maxAhead * time.Second).UnixMilli()
	// No price is taken that is further ahead of our clock than this. If the last price
	// is, our clock was set back since it was taken. Its time is then forgotten:
	// otherwise no price would be newer until the clock has caught up.
	if was.quote.At > ahead {
		f.log.Warn("the clock was set back: taking prices by their new times", "symbol", was.quote.Symbol)
		was.quote.At, was.at, g.next.at = 0, 0, min(g.next.at, g.At)
	}
	span := g.High - g.Low
	switch {
	case !(g.Price > 0) || math.IsInf(g.Price, 0) || math.IsNaN(span) || math.IsInf(span, 0):
		return g.refuse(was, fmt.Errorf("price %v is not a positive number", g.Price))
	case g.At > ahead:
		return g.refuse(was, fmt.Errorf("the price is of %s, in the future", time.UnixMilli(g.At).UTC().Format(time.DateTime)))
	case g.At <= was.quote.At: // a market that is closed, or a replica that is behind
		return g.refuse(was, nil)
	}
	// High and low count too: one false trade within a bar would fire alerts. A price
	// near the one that the poll before doubted is taken: it confirms that one.
	if far := f.far(was.quote.Price, g); far != "" && was.quote.Price > 0 && !(was.doubt > 0 && f.near(was.doubt, g.Price)) {
		g.next.doubt = g.Price
		return g.refuse(was, errors.New(far+"; the next poll decides"))
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
