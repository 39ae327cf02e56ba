package indicators

import (
	"iter"
	"math"
	"regexp"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// The labels of signals, and in one line when each fires. An indicator's record names those it
// may emit, and an alert can wait for no other. A label says what happened on the bar, such as
// an edge that was crossed, and never a state that lasts. What crosses is beyond now and was
// not on the bar before, see [kernel.Crossings]. A signal is on the bar on which it became true,
// so it does not change when later bars arrive.
var (
	CrossUp, CrossDown                  = opposites("cross_up", "cross_down", "the line crosses its signal line, its average or the slow line from {below|above}")
	CrossUpOS, CrossDownOB              = opposites("cross_up_os", "cross_down_ob", "the line crosses its signal line from {below|above} and is in the {oversold|overbought} zone")
	CrossAbove, CrossBelow              = opposites("crosses_above", "crosses_below", "the line crosses the level that was asked for from {below|above}")
	PriceUp, PriceDown                  = opposites("price_cross_up", "price_cross_down", "the close crosses the line from {below|above}")
	ZeroUp, ZeroDown                    = opposites("zero_up", "zero_down", "the line crosses zero from {below|above}")
	Oversold, Overbought                = opposites("oversold", "overbought", "the line leaves the {oversold|overbought} zone {upwards|downwards}")
	EntersOversold, EntersOverbought    = opposites("enters_oversold", "enters_overbought", "the line {falls|rises} into the {oversold|overbought} zone")
	RSIOversold, RSIOverbought          = opposites("rsi_oversold", "rsi_overbought", "the RSI leaves the {oversold|overbought} zone {upwards|downwards}")
	StochOS, StochOB                    = opposites("stoch_oversold", "stoch_overbought", "%K crosses %D from {below|above} in the {oversold|overbought} zone")
	FlipUp, FlipDown                    = opposites("flip_up", "flip_down", "the stop or trend turns from {falling to rising|rising to falling}")
	TurnUp, TurnDown                    = opposites("turn_up", "turn_down", "the line stops {falling|rising} and {rises|falls}")
	BreakUp, BreakDown                  = opposites("breakout_up", "breakout_down", "the close crosses the {upper|lower} band or level from {below|above}")
	TouchUpper, TouchLower              = opposites("touch_upper", "touch_lower", "the {high|low} of the bar reaches the {upper|lower} band, which the bar before did not")
	LevelTouch                          = label("level_touch", "the bar reaches a level that was not touched before in its period")
	SqueezeOn                           = label("squeeze_on", "volatility falls so low that a squeeze begins")
	SqueezeOff                          = label("squeeze_off", "the squeeze ends")
	StackUp, StackDown                  = opposites("stack_up", "stack_down", "all averages come into {rising|falling} order, the {fastest|slowest} on top")
	CloudUp, CloudDown                  = opposites("cloud_break_up", "cloud_break_down", "the close crosses the {top|bottom} of the cloud from {below|above}")
	TwistUp, TwistDown                  = opposites("twist_up", "twist_down", "the cloud to come turns {bullish|bearish}: span A crosses span B from {below|above}")
	NewHigh, NewLow                     = opposites("new_high", "new_low", "a new {highest|lowest} value of the window")
	PivotHigh, PivotLow                 = opposites("pivot_high", "pivot_low", "a swing {high|low} is confirmed by the bars after it")
	Spike                               = label("spike", "the value rises far above its usual size")
	ModeTrend, ModeCycle                = opposites("mode_trend", "mode_cycle", "the market changes from a {cycle|trend} to a {trend|cycle}")
	Bulge                               = label("reversal_bulge", "the range has widened and narrows again, which announces a turn in either direction")
	ExtremeFear, ExtremeGreed           = opposites("extreme_fear", "extreme_greed", "sentiment enters its {lowest|highest} zone")
	ZoneUp, ZoneDown                    = opposites("zone_up", "zone_down", "the value enters the next {higher|lower} zone")
	SetupBuy, SetupSell                 = opposites("setup_buy", "setup_sell", "a count of {falling|rising} closes is complete: the {fall|rise} may be exhausted")
	CountdownBuy, CountdownSell         = opposites("countdown_buy", "countdown_sell", "the longer count after a {buy|sell} setup is complete")
	Buy, Sell                           = opposites("buy", "sell", "the fast line crosses the slow one from {below|above} in the {oversold|overbought} zone; in strict mode RSI and stochastic agree")
	BuySmall, SellSmall                 = opposites("buy_small", "sell_small", "the fast line crosses the slow one from {below|above} outside the zones; in strict mode the RSI agrees")
	BOSUp, BOSDown                      = opposites("bos_up", "bos_down", "break of structure: a close {above|below} the last swing {high|low} in a {rising|falling} market")
	ChochUp, ChochDown                  = opposites("choch_up", "choch_down", "change of character: a close {above|below} the last swing {high|low} turns a {falling|rising} market")
	GapUp, GapDown                      = opposites("gap_up", "gap_down", "{an upward|a downward} fair value gap has formed")
	GapFilled                           = label("gap_filled", "a bar has reached the far edge of a fair value gap")
	BlockUp, BlockDown                  = opposites("block_up", "block_down", "{an upward|a downward} order block has formed: the structure broke {upwards|downwards}")
	BlockTouch                          = label("block_touch", "price has come back to an order block for the first time")
	BreakerUp, BreakerDown              = opposites("breaker_up", "breaker_down", "a close {above a downward|below an upward} order block has made it {support|resistance}")
	SweepHigh, SweepLow                 = opposites("sweep_high", "sweep_low", "a bar trades {above|below} a swing {high|low} for the first time and closes back {below|above}")
	EqualHighs, EqualLows               = opposites("equal_highs", "equal_lows", "a swing {high|low} is confirmed at nearly the price of the one before")
	SupplyZone, DemandZone              = opposites("supply_zone", "demand_zone", "a large {falling|rising} bar has left a quiet range")
	ZoneTouch                           = label("zone_touch", "price has come back to a supply or demand zone for the first time")
	DoubleTop, DoubleBottom             = opposites("double_top", "double_bottom", "a close {below|above} the neckline completes a double {top|bottom}")
	HeadShoulders, InverseHeadShoulders = opposites("head_shoulders", "inverse_head_shoulders", "a close {below|above} the neckline completes {|inverse }head and shoulders")
	FlagUp, FlagDown                    = opposites("flag_up", "flag_down", "a close {above|below} the flag after a steep {rise|fall}")
	StrongBuy, StrongSell               = opposites("strong_buy", "strong_sell", "most of the votes say {buy|sell}")
	SessionOpen, SessionClose           = opposites("session_open", "session_close", "the first bar {of|after} a trading session")
	GoldBuy                             = label("gold_buy", "a strong bullish divergence out of a deeply oversold market")
	BuyOversold, SellOverbought         = opposites("buy_oversold", "sell_overbought", "the line {rises above|falls below} its signal line, and was in the {oversold|overbought} zone on the bar before")
	BullDiv, BearDiv                    = opposites("bull_div", "bear_div", "{bullish|bearish} divergence is confirmed: {lower low|higher high} of the price, {higher low|lower high} of the line")
	HiddenBullDiv, HiddenBearDiv        = opposites("hidden_bull_div", "hidden_bear_div", "hidden {bullish|bearish} divergence: {higher low|lower high} of the price, {lower low|higher high} of the line")
	WTBullDiv, WTBearDiv                = opposites("wt_bull_div", "wt_bear_div", "{bullish|bearish} divergence of price and WaveTrend is confirmed")
	RSIBullDiv, RSIBearDiv              = opposites("rsi_bull_div", "rsi_bear_div", "{bullish|bearish} divergence of price and RSI is confirmed")
	StochBullDiv, StochBearDiv          = opposites("stoch_bull_div", "stoch_bear_div", "{bullish|bearish} divergence of price and stochastic is confirmed")
	AnyBullDiv, AnyBearDiv              = opposites("any_bull_div", "any_bear_div", "a {bullish|bearish} divergence of any of the lines is confirmed")
	BecomesTrue                         = label("becomes_true", "the rule is true and was not true on the bar before")
	BecomesFalse                        = label("becomes_false", "the rule is true no longer")
	Enter, Exit                         = opposites("enter", "exit", "the backtest {enters|leaves} at the open of the bar")
	StopLoss, TakeProfit                = opposites("stop_loss", "take_profit", "the backtest leaves at its {stop|target}")
)

// meanings has what the labels mean, as opposites takes it, and mirrored of each label that is the
// second of two opposites the first.
var meanings, mirrored = make(map[string]string), make(map[string]string)

// meaningOf returns what a label means.
func meaningOf(label string) string {
	way := map[bool]string{false: "$1", true: "$2"}
	return twoWays.ReplaceAllString(meanings[label], way[mirrored[label] != ""])
}

// Mirrored returns the label whose meaning turned around is that of this one, or "" for none.
func Mirrored(label string) string { return mirrored[label] }

// label notes the meaning of a label; opposites that of two in opposite directions, of {this|that} the
// first says this and the second that.
func label(name, meaning string) string {
	meanings[name] = meaning
	return name
}
func opposites(this, that, meaning string) (string, string) {
	mirrored[that] = this
	return label(this, meaning), label(that, meaning)
}

var twoWays = regexp.MustCompile(`\{(.*?)\|(.*?)\}`)

// marked returns a signal for each bar for which way, which is asked about every bar in order,
// returns 1, with the label up, or -1, with the label down. An empty label leaves out that
// direction. Y is that of the column.
func marked(y []float64, up, down string, way func(i int) int) (signals []Signal) {
	return markAt(y, up, down, func(yield func(bar, way int) bool) {
		for i := range y {
			if w := way(i); w != 0 && !yield(i, w) {
				return
			}
		}
	})
}

// markAt is like marked, for the bars and ways that at yields.
func markAt(y []float64, up, down string, at iter.Seq2[int, int]) (signals []Signal) {
	for i, way := range at {
		label, tone := up, Up
		if way < 0 {
			label, tone = down, Down
		}
		if label == "" {
			continue
		}
		if signals == nil { // as many as most histories have: growing by doubling would take as long as finding them
			signals = make([]Signal, 0, 32)
		}
		signals = append(signals, Mark(i, y[i], label, tone))
	}
	return signals
}

// across yields the bars on which a crosses b, and which way, in the sense of
// [kernel.Crossings].
func across(a, b []float64) iter.Seq2[int, int] { return kernel.CrossingsOf(a, b).Crossed }

// crossings returns a signal wherever a crosses b, levelCrossings wherever it crosses a
// constant. Y is a's value.
func crossings(a, b []float64, up, down string) []Signal { return markAt(a, up, down, across(a, b)) }
func levelCrossings(a []float64, level float64, up, down string) []Signal {
	return crossings(a, []float64{level}, up, down)
}

// lastTouches returns a signal for each level that the newest bar reaches and the bar
// before did not. It is for levels that are computed from all bars, such as those of a
// profile. Earlier bars get no signals, since nobody knew these levels then.
func lastTouches(s *market.Series, levels []HLine) (signals []Signal) {
	reaches := func(i int, y float64) bool {
		return kernel.Difference(s.Low[i], y) <= 0 && kernel.Difference(y, s.High[i]) <= 0
	}
	i := s.Len() - 1
	for _, l := range levels {
		if i > 0 && reaches(i, l.Y) && !reaches(i-1, l.Y) {
			signals = append(signals, Mark(i, l.Y, LevelTouch, Muted))
		}
	}
	return signals
}

// zonedCrossings returns the crossings of a and b. A crossing upwards while b is below lo,
// and one downwards while b is above hi, has a label of its own. Y is b's value.
func zonedCrossings(a, b []float64, lo, hi float64) []Signal {
	signals := markAt(b, CrossUp, CrossDown, across(a, b))
	slack := kernel.Rounding * max(1, math.Abs(lo), math.Abs(hi)) // at least that of 1, since a level may be 0
	for i := range signals {
		switch sig := &signals[i]; {
		case sig.Label == CrossUp && sig.Y <= lo+slack:
			sig.Label = CrossUpOS
		case sig.Label == CrossDown && sig.Y >= hi-slack:
			sig.Label = CrossDownOB
		}
	}
	return signals
}

// breakouts returns a signal for each close that leaves the bands. Y is the close.
func breakouts(closes, upper, lower []float64) []Signal {
	return inOrder(append(crossings(closes, upper, BreakUp, ""), crossings(closes, lower, "", BreakDown)...))
}

// touches returns a signal for each bar whose high reaches the upper band, or whose low
// reaches the lower one, if that of the bar before did not. Y is the value of the band.
func touches(s *market.Series, upper, lower []float64) []Signal {
	// What is reached is a wall: price that comes up to it is marked Down.
	over := toned(Down, markAt(upper, TouchUpper, "", kernel.CrossingsOf(s.High, upper).Reached))
	return inOrder(append(over, toned(Up, markAt(lower, "", TouchLower, kernel.CrossingsOf(s.Low, lower).Reached))...))
}

// bends says on which bars a falling line begins to rise, or a rising line begins to fall.
// While the line does not change, its direction stays what it was. If the line is a difference
// of larger numbers, size returns how large they are at a bar, because the rounding error
// depends on that.
func bends(x []float64, size func(i int) float64) func(i int) int {
	direction := 0
	return func(i int) int {
		if i == 0 {
			return 0
		}
		before, of := direction, size(i)
		if now := kernel.Compare(of+x[i], of+x[i-1]); now != 0 {
			direction = now
		}
		if before == 0 || direction == before {
			return 0
		}
		return direction
	}
}
func noSize(int) float64 { return 0 }

// moves says on which bars x is above, or below, its value on the bar before.
func moves(x []float64) func(i int) int {
	return func(i int) int { return kernel.Compare(x[i], x[max(0, i-1)]) }
}

// later moves signals of a part of the bars to their places among all of them, and returns them.
func later(bars int, signals []Signal) []Signal {
	for i := range signals {
		signals[i].Bar += bars
	}
	return signals
}

// toned gives the signals a tone and returns them.
func toned(tone Tone, signals []Signal) []Signal {
	for i := range signals {
		signals[i].Tone = tone
	}
	return signals
}

// spikesOver returns a signal for each bar on which x rises above a limit.
func spikesOver(x, limit []float64) []Signal { return toned(Accent, crossings(x, limit, Spike, "")) }

// either returns 1 if up, -1 if down, else 0.
func either(up, down bool) int {
	switch {
	case up:
		return 1
	case down:
		return -1
	}
	return 0
}

// stacksOf says on which bars the columns, of which there are at least two, come into rising
// order, with the first on top, or into falling order.
func stacksOf(columns [][]float64) func(i int) int {
	before := 0
	return func(i int) int {
		// 0 if they are in neither order or some are equal or missing.
		side := kernel.Compare(columns[0][i], columns[1][i])
		for k := 2; k < len(columns) && side != 0; k++ {
			if kernel.Compare(columns[k-1][i], columns[k][i]) != side {
				side = 0
			}
		}
		was := before
		if before = side; side == was {
			return 0
		}
		return side
	}
}

// inOrder returns the signals sorted by bar. Signals on the same bar stay in their order. It
// merges two halves, which is quick where signals consist of a few runs that are in order.
func inOrder(signals []Signal) []Signal {
	if slices.IsSortedFunc(signals, func(a, b Signal) int { return a.Bar - b.Bar }) {
		return signals
	}
	half := len(signals) / 2
	first, rest, merged := inOrder(signals[:half]), inOrder(signals[half:]), make([]Signal, 0, len(signals))
	for _, s := range first {
		for len(rest) > 0 && rest[0].Bar < s.Bar {
			merged, rest = append(merged, rest[0]), rest[1:]
		}
		merged = append(merged, s)
	}
	return append(merged, rest...)
}
