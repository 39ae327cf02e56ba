package indicators

import (
	"math"
	"slices"
)

// The registry of signal labels. An indicator's record names those it may
// emit, and an alert can wait for no other. Labels say what happened on the
// bar: an edge that was crossed, never a state that lasts.
const (
	CrossUp        = "cross_up"         // the fast line crosses above the slow one
	CrossDown      = "cross_down"       // … below
	CrossUpOS      = "cross_up_os"      // cross up in the oversold zone
	CrossDownOB    = "cross_down_ob"    // cross down in the overbought zone
	PriceUp        = "price_cross_up"   // the close crosses above the line
	PriceDown      = "price_cross_down" // … below
	GoldenCross    = "golden_cross"     // 50 crosses above 200
	DeathCross     = "death_cross"      // … below
	ZeroUp         = "zero_up"          // the line crosses above zero
	ZeroDown       = "zero_down"        // … below
	Oversold       = "oversold"         // leaves the oversold zone upwards
	Overbought     = "overbought"       // leaves the overbought zone downwards
	FlipUp         = "flip_up"          // a stop or trend turns up
	FlipDown       = "flip_down"        // … down
	TurnUp         = "turn_up"          // the line stops falling and rises
	TurnDown       = "turn_down"        // the line stops rising and falls
	BreakUp        = "breakout_up"      // the close leaves a band or level upwards
	BreakDown      = "breakout_down"    // … downwards
	TouchUpper     = "touch_upper"      // the high reaches the upper band
	TouchLower     = "touch_lower"      // the low reaches the lower band
	SqueezeOn      = "squeeze_on"       // volatility contracts into a squeeze
	SqueezeOff     = "squeeze_off"      // … is released
	StackUp        = "stack_up"         // averages come into rising order
	StackDown      = "stack_down"       // … into falling order
	CloudUp        = "cloud_break_up"   // the close leaves the cloud upwards
	CloudDown      = "cloud_break_down" // … downwards
	TwistUp        = "twist_up"         // the cloud turns bullish
	TwistDown      = "twist_down"       // … bearish
	NewHigh        = "new_high"         // a new extreme of the window
	NewLow         = "new_low"
	PivotHigh      = "pivot_high" // a swing high is confirmed
	PivotLow       = "pivot_low"  // … low
	Spike          = "spike"      // far above its usual size
	ModeTrend      = "mode_trend" // the market changes from cycle to trend
	ModeCycle      = "mode_cycle" // … from trend to cycle
	Bulge          = "reversal_bulge"
	LevelTouch     = "level_touch"   // price comes to a level not yet touched
	ExtremeFear    = "extreme_fear"  // sentiment enters its lowest zone
	ExtremeGreed   = "extreme_greed" // … its highest
	ZoneUp         = "zone_up"       // … the next higher zone
	ZoneDown       = "zone_down"     // … the next lower
	SetupBuy       = "setup_buy"     // a count of falling closes is complete
	SetupSell      = "setup_sell"
	CountdownBuy   = "countdown_buy" // … the longer count after it
	CountdownSell  = "countdown_sell"
	Buy            = "buy"
	Sell           = "sell"
	BuySmall       = "buy_small"
	SellSmall      = "sell_small"
	GoldBuy        = "gold_buy"
	BuyOversold    = "buy_oversold"
	SellOverbought = "sell_overbought"
	RSIOversold    = "rsi_oversold"
	RSIOverbought  = "rsi_overbought"
	StochOS        = "stoch_oversold"
	StochOB        = "stoch_overbought"
	BullDiv        = "bull_div" // regular bullish divergence is confirmed
	BearDiv        = "bear_div"
	HiddenBullDiv  = "hidden_bull_div"
	HiddenBearDiv  = "hidden_bear_div"
	WTBullDiv      = "wt_bull_div"
	WTBearDiv      = "wt_bear_div"
	RSIBullDiv     = "rsi_bull_div"
	RSIBearDiv     = "rsi_bear_div"
	StochBullDiv   = "stoch_bull_div"
	StochBearDiv   = "stoch_bear_div"
	AnyBullDiv     = "any_bull_div"
	AnyBearDiv     = "any_bear_div"
)

// crossings appends a signal wherever a crosses b: up when it was below on the
// bar before and is not now, down mirrored. Both must have values on both bars.
// Y is a's value. An empty label leaves that side out.
func crossings(dst []Signal, a, b []float64, up, down string) []Signal {
	old := len(dst)
	for start := 0; start < len(a); start += stretch {
		end := min(start+1+stretch, len(a))
		dst = crossingsFrom(dst, old, start, a, b[start:end], up, down)
	}
	return dst
}

// levelCrossings is crossings against a constant.
func levelCrossings(dst []Signal, a []float64, level float64, up, down string) []Signal {
	var flat [1 + stretch]float64
	for i := range flat {
		flat[i] = level
	}
	old := len(dst)
	for start := 0; start < len(a); start += stretch {
		dst = crossingsFrom(dst, old, start, a, flat[:min(len(flat), len(a)-start)], up, down)
	}
	return dst
}

// crossingsFrom is crossings over a stretch: b begins with bar start of a. The
// first old signals of dst are of other searches.
func crossingsFrom(dst []Signal, old, start int, a, b []float64, up, down string) []Signal {
	var s suspects
	x := a[start : start+len(b)]
	found := s.crossings(x, b)
	dst = room(dst, old, len(found), start+len(b), len(a))
	for _, k := range found {
		i := int(k)
		switch {
		case x[i-1] < b[i-1] && x[i] >= b[i] && up != "":
			dst = append(dst, Signal{start + i, x[i], up, Up})
		case x[i-1] > b[i-1] && x[i] <= b[i] && down != "":
			dst = append(dst, Signal{start + i, x[i], down, Down})
		}
	}
	return dst
}

// zoneExits appends a signal where a leaves the zone below lo upwards, and the
// zone above hi downwards.
func zoneExits(dst []Signal, a []float64, lo, hi float64, oversold, overbought string) []Signal {
	var s suspects
	old := len(dst)
	for start := 0; start < len(a); start += stretch {
		end := min(start+1+stretch, len(a))
		found := s.exits(a[start:end], lo, hi)
		dst = room(dst, old, len(found), end, len(a))
		for _, k := range found {
			i := start + int(k)
			switch {
			case a[i-1] < lo && a[i] >= lo:
				dst = append(dst, Signal{i, a[i], oversold, Up})
			case a[i-1] > hi && a[i] <= hi:
				dst = append(dst, Signal{i, a[i], overbought, Down})
			}
		}
	}
	return dst
}

// room returns dst with room for n more signals of a search that found all but
// the first old in dst, and has seen so many of all bars; and room for as many
// from the rest, because growing step by step would copy more.
func room(dst []Signal, old, n, seen, all int) []Signal {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	rest := (len(dst) - old + n) * (all - seen) / seen
	return slices.Grow(dst, n+rest+rest/8)
}

// suspects are bars of a stretch on which there may be a signal, counted from its
// first, which is there to be compared with. The search for them has no branch:
// every bar is noted, and written over by the next unless it counts. Signals
// cannot be foreseen, and a wrong guess of the processor costs more than all
// the rest. Whoever searches looks at the marked bars once more.
type suspects [stretch + 1]uint8

// stretch is how many bars are searched at a time, so that a byte can count them.
const stretch = 255

// crossings marks the bars on which a-b is not on the side of 0 where it was.
func (s *suspects) crossings(a, b []float64) []uint8 {
	var n uint8
	was := a[0] - b[0]
	b = b[:len(a)]
	for i := 1; i < len(a); i++ {
		now := a[i] - b[i]
		s[n] = uint8(i)
		n += notAbove(now * was)
		was = now
	}
	return s[:n]
}

// exits marks the bars on which a is no longer below lo, or no longer above hi.
func (s *suspects) exits(a []float64, lo, hi float64) []uint8 {
	var n uint8
	below, above := 1-notAbove(lo-a[0]), 1-notAbove(a[0]-hi)
	for i := 1; i < len(a); i++ {
		notBelow, notOver := notAbove(lo-a[i]), notAbove(a[i]-hi)
		s[n] = uint8(i)
		n += below&notBelow | above&notOver
		below, above = 1-notBelow, 1-notOver
	}
	return s[:n]
}

// outside marks the bars whose high is not below upper or whose low is not
// above lower.
func (s *suspects) outside(high, low, upper, lower []float64) []uint8 {
	var n uint8
	low, upper, lower = low[:len(high)], upper[:len(high)], lower[:len(high)]
	for i := 1; i < len(high); i++ {
		s[n] = uint8(i)
		n += notAbove(upper[i]-high[i]) | notAbove(low[i]-lower[i])
	}
	return s[:n]
}

// notAbove returns 0 if v is above 0, 1 if not, from its bits: those of numbers
// below 0 have the highest set, and those of 0 are 0, once adding 0 has made
// that of -0. For NaN it is either.
func notAbove(v float64) uint8 {
	return uint8((math.Float64bits(v+0) - 1) >> 63)
}

// inOrder sorts signals by bar, in place, keeping the order of those on one
// bar. They come as a few runs that are in order already, so it merges runs: on
// thousands of signals a general stable sort took most of a panel's time.
func inOrder(signals []Signal) []Signal {
	runs := []int{0} // where each run begins, then the end
	for i := 1; i < len(signals); i++ {
		if signals[i].Bar < signals[i-1].Bar {
			runs = append(runs, i)
		}
	}
	runs = append(runs, len(signals))
	var spare []Signal
	for len(runs) > 2 {
		merged := []int{0}
		for k := 2; k < len(runs); k += 2 {
			spare = mergeRuns(signals[runs[k-2]:runs[k]], runs[k-1]-runs[k-2], spare)
			merged = append(merged, runs[k])
		}
		if len(runs)%2 == 0 { // the last one had no partner
			merged = append(merged, len(signals))
		}
		runs = merged
	}
	return signals
}

// mergeRuns merges the first half signals, which are in order, with the rest,
// which are too. It returns the memory it used, for the next call.
func mergeRuns(signals []Signal, half int, spare []Signal) []Signal {
	first := append(spare[:0], signals[:half]...)
	b := half
	for i, a := 0, 0; a < len(first); i++ {
		if b < len(signals) && signals[b].Bar < first[a].Bar {
			signals[i] = signals[b]
			b++
		} else {
			signals[i] = first[a]
			a++
		}
	}
	return first
}

var nan = math.NaN()

// turnings appends a signal wherever a line that fell rises, or one that rose
// falls. Level stretches do not count as turns.
func turnings(dst []Signal, a []float64) []Signal {
	rising, known := false, false
	for i := 1; i < len(a); i++ {
		switch {
		case a[i] > a[i-1]:
			if known && !rising {
				dst = append(dst, Signal{i, a[i], TurnUp, Up})
			}
			rising, known = true, true
		case a[i] < a[i-1]:
			if known && rising {
				dst = append(dst, Signal{i, a[i], TurnDown, Down})
			}
			rising, known = false, true
		}
	}
	return dst
}
