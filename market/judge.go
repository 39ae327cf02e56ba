package market

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

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
		// High and low count too: one false trade within a bar would fire alerts. A price
		// near the one that the poll before doubted is taken: it confirms that one.
		doubted := g.Price
		err := g.refuse(last, f.doubts(last.Price, g))
		g.doubt = doubted
		return err
	}
	g.news = true
	return nil
}

// doubts returns an error that names what of g is outside of the band around the last
// price: the new one or, if that is within it, the high or the low on the way there.
func (f *Feed) doubts(last float64, g *result) error {
	switch {
	case !f.near(last, g.Price):
		return fmt.Errorf("price %v is too far from the last one, %v; the next poll decides", g.Price, last)
	case !f.near(last, g.High):
		return fmt.Errorf("a high of %v is too far from the last price, %v; the next poll decides", g.High, last)
	}
	return fmt.Errorf("a low of %v is too far from the last price, %v; the next poll decides", g.Low, last)
}

// near reports whether a price is within the band around another.
func (f *Feed) near(last, price float64) bool {
	band := cmp.Or(f.Band, DefaultBand)
	return price >= last/band && price <= last*band
}
