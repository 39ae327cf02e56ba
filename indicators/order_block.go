package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for falls; rises mirrored. A close below the last known swing low
// breaks the structure, once per swing. The move that broke it began at the
// highest high between the swing and the break; the last rising bar up to there
// is the order block, from its low to its high. A bar that comes back to the
// block touches it. A close above the block ends it: from then on it is a breaker
// block of the other direction, until a close below it.
//
// The words are those of traders who follow Michael Huddleston (ICT); the rule
// is ours, since published ones differ in which bar is the block.
var indOrderBlock = Indicator{
	Name: "order_block", Title: "Order block", Aliases: []string{"order_blocks"}, Also: []string{"ob", "smc_order_block"}, Category: Pattern, Overlay: true,
	Doc:     "Order blocks: the last bar against a move that broke the structure. The zones are those of the newest block on each side that no close has gone through. block_touch fires when price first comes back to a block. Nothing repaints.",
	Formula: "up: close > last swing high; block: the last bar with close < open up to the lowest low between that swing and the break; ends: close < its low",
	Params:  swingParams(5, 200),
	Signals: []string{shape.BlockUp, shape.BlockDown, shape.BlockTouch},
	Warmup:  structureWarmup(3),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			tone := [2]Tone{Down, Up}[side]
			label := [2]string{shape.BlockDown, shape.BlockUp}[side]
			edges := newZoneEdges(s.Len())
			// The newest block that counts is drawn at each bar; older ones still count
			// for touches.
			blocks := walkBlocks(s, a, func(i int, w *blockWalk) { edges.show(i, w.blocks) })
			r := edges.result([2]string{"Down", "Up"}[side], tone, side)
			r.Signals = blocks.signals(label, tone)
			return r
		})
	},
}

// The same walk as for order blocks, drawn for the ones that were broken; the
// direction is therefore reversed.
var indBreakerBlock = Indicator{
	Name: "breaker_block", Title: "Breaker", Aliases: []string{"breaker_blocks", "breaker"}, Category: Pattern, Overlay: true,
	Doc:     "Breaker blocks: order blocks that a close went through, which then act from the other side: a broken upward block is resistance, a broken downward one support. The zones are those of the newest breaker on each side, until a close goes back through it. Nothing repaints.",
	Formula: "as order_block; up: a downward block whose high a close exceeds; ends: close < its low",
	Params:  swingParams(5, 200),
	Signals: []string{shape.BreakerUp, shape.BreakerDown},
	Warmup:  structureWarmup(4),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			tone := [2]Tone{Up, Down}[side] // of a broken downward block first
			edges := newZoneEdges(s.Len())
			blocks := walkBlocks(s, a, func(i int, w *blockWalk) { edges.show(i, w.breakers) })
			r := edges.result([2]string{"Up", "Down"}[side], tone, side)
			for _, z := range blocks.broken {
				r.Signals = append(r.Signals, shape.Mark(z.known, z.high, [2]string{shape.BreakerUp, shape.BreakerDown}[side], tone))
			}
			return r
		})
	},
}

// blockWalk is the state of downward blocks while it goes over the bars. It knows one
// direction only: for upward blocks it walks over the bars upside down.
type blockWalk struct {
	s                *market.Series
	age              int
	blocks, breakers []priceZone // that count now, the newest last
	formed, broken   []priceZone // all there were; broken ones known since they broke
	touches          []Signal
}

// walkBlocks goes over the bars and calls show at each with what counts there.
func walkBlocks(s *market.Series, a Args, show func(i int, w *blockWalk)) *blockWalk {
	w := &blockWalk{s: s, age: a.Int("lookback")}
	lows := swingHighs(upsideDown(s), a.Int("left"), a.Int("right"))
	next := 0              // first swing low not known yet
	last := swing{bar: -1} // the last known one that is not broken
	for i := range s.Len() {
		// First this bar acts on the blocks there are, then it may break a swing and so
		// form a new one. A swing is broken once.
		w.step(i)
		for next < len(lows) && lows[next].known <= i {
			last = lows[next]
			next++
		}
		// Swing lows come from the bars turned upside down, so their prices are
		// negative.
		if last.bar >= 0 && i-last.bar <= w.age && kernel.Compare(s.Close[i], -last.price) < 0 {
			w.add(last.bar, i)
			last.bar = -1
		}
		show(i, w)
	}
	return w
}

// step takes in bar i: old zones go, closes beyond a block break it, and bars
// that come back touch it.
func (w *blockWalk) step(i int) {
	old := func(z priceZone) bool { return i-z.known > w.age }
	w.blocks, w.breakers = slices.DeleteFunc(w.blocks, old), slices.DeleteFunc(w.breakers, old)
	w.breakers = slices.DeleteFunc(w.breakers, func(z priceZone) bool { return kernel.Compare(w.s.Close[i], z.low) < 0 })
	w.blocks = slices.DeleteFunc(w.blocks, func(z priceZone) bool {
		if kernel.Compare(w.s.Close[i], z.high) <= 0 {
			return false
		}
		// A broken block is a breaker from this bar on, and its age is counted anew.
		z.known = i
		w.breakers, w.broken = append(w.breakers, z), append(w.broken, z)
		return true
	})
	// A block is touched once; its low is the edge that a rising price meets first.
	for k, z := range w.blocks {
		if !z.touched && kernel.Compare(w.s.High[i], z.low) >= 0 {
			w.blocks[k].touched = true
			w.touches = append(w.touches, shape.Mark(i, z.low, shape.BlockTouch, Muted))
		}
	}
}

// add finds the block of the break at bar i of the swing at the bar from.
func (w *blockWalk) add(from, i int) {
	// The move began at its highest high, the latest of equal ones.
	top := i
	for k := i; k >= from; k-- {
		if w.s.High[k] > w.s.High[top] {
			top = k
		}
	}
	for k := top; k >= from; k-- {
		// Only a rising bar can be a block of a fall.
		if w.s.Close[k] <= w.s.Open[k] {
			continue
		}
		// Two breaks may lead to the same bar; it is a block once. A close that has not
		// left the block yet would touch it at once, so it forms none.
		known := slices.ContainsFunc(w.blocks, func(z priceZone) bool { return z.bar == k })
		if !known && kernel.Compare(w.s.Close[i], w.s.Low[k]) < 0 {
			z := priceZone{low: w.s.Low[k], high: w.s.High[k], bar: k, known: i}
			w.blocks, w.formed = append(w.blocks, z), append(w.formed, z)
		}
		return
	}
}

// signals returns where blocks were formed, under the given label, and touched.
func (w *blockWalk) signals(label string, tone Tone) []Signal {
	signals := slices.Clone(w.touches)
	for _, z := range w.formed {
		signals = append(signals, shape.Mark(z.known, z.low, label, tone))
	}
	return shape.InOrder(signals)
}
