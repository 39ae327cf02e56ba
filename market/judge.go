package market

import (
	"fmt"
	"math"
	"time"
)

// DefaultBand takes a price between half and twice the last one.
const DefaultBand = 2

// judge decides whether the price of g is taken. If it is, judge sets g.news. If not,
// it gives g the last price in its place; it returns an error if the price cannot be
// right, and nil if it is only not newer.
func (f *Feed) judge(w *watch, g *result) error {
	last := w.quote
	ahead := time.Now().Add(maxAhead * time.Second).UnixMilli()
	// No price is taken that is further ahead of our clock than this. If the last one
	// is, our clock was set back since; to wait until it has caught up would stop all
	// prices for that long.
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
		return g.refuse(last, nil)
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

// near reports whether a price is within the band around another.
func (f *Feed) near(last, price float64) bool {
	band := f.Band
	if band == 0 {
		band = DefaultBand
	}
	return price >= last/band && price <= last*band
}
