package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// The labels of signals, and in one line when each fires. An indicator's record names those it
// may emit, and an alert can wait for no other. A label says what happened on the bar, such as
// an edge that was crossed, and never a state that lasts. What crosses is beyond now and was
// not on the bar before, see [kernel.Crosser]. A signal is on the bar on which it became true,
// so it does not change when later bars arrive.
var (
	CrossUp              = label("cross_up", "the fast line crosses the slow one from below, or the line its signal line or average")
	CrossDown            = label("cross_down", "the fast line crosses the slow one from above, or the line its signal line or average")
	CrossUpOS            = label("cross_up_os", "the fast line crosses the slow one from below while that is in the oversold zone")
	CrossDownOB          = label("cross_down_ob", "the fast line crosses the slow one from above while that is in the overbought zone")
	CrossAbove           = label("crosses_above", "the line crosses the level that was asked for from below")
	CrossBelow           = label("crosses_below", "the line crosses the level that was asked for from above")
	PriceUp              = label("price_cross_up", "the close crosses the line from below")
	PriceDown            = label("price_cross_down", "the close crosses the line from above")
	ZeroUp               = label("zero_up", "the line crosses zero from below")
	ZeroDown             = label("zero_down", "the line crosses zero from above")
	Oversold             = label("oversold", "the line leaves the oversold zone upwards")
	Overbought           = label("overbought", "the line leaves the overbought zone downwards")
	EntersOversold       = label("enters_oversold", "the line falls into the oversold zone")
	EntersOverbought     = label("enters_overbought", "the line rises into the overbought zone")
	RSIOversold          = label("rsi_oversold", "the RSI leaves the oversold zone upwards")
	RSIOverbought        = label("rsi_overbought", "the RSI leaves the overbought zone downwards")
	StochOS              = label("stoch_oversold", "%K crosses %D from below in the oversold zone")
	StochOB              = label("stoch_overbought", "%K crosses %D from above in the overbought zone")
	FlipUp               = label("flip_up", "the stop or trend turns from falling to rising")
	FlipDown             = label("flip_down", "the stop or trend turns from rising to falling")
	TurnUp               = label("turn_up", "the line stops falling and rises")
	TurnDown             = label("turn_down", "the line stops rising and falls")
	BreakUp              = label("breakout_up", "the close crosses the upper band or level from below")
	BreakDown            = label("breakout_down", "the close crosses the lower band or level from above")
	TouchUpper           = label("touch_upper", "the high of the bar reaches the upper band, which the bar before did not")
	TouchLower           = label("touch_lower", "the low of the bar reaches the lower band, which the bar before did not")
	LevelTouch           = label("level_touch", "the bar reaches a level that was not touched before in its period")
	SqueezeOn            = label("squeeze_on", "volatility falls so low that a squeeze begins")
	SqueezeOff           = label("squeeze_off", "the squeeze ends")
	StackUp              = label("stack_up", "all averages come into rising order, the fastest on top")
	StackDown            = label("stack_down", "all averages come into falling order, the slowest on top")
	CloudUp              = label("cloud_break_up", "the close crosses the top of the cloud from below")
	CloudDown            = label("cloud_break_down", "the close crosses the bottom of the cloud from above")
	TwistUp              = label("twist_up", "the cloud to come turns bullish: span A crosses span B from below")
	TwistDown            = label("twist_down", "the cloud to come turns bearish: span A crosses span B from above")
	NewHigh              = label("new_high", "a new highest value of the window")
	NewLow               = label("new_low", "a new lowest value of the window")
	PivotHigh            = label("pivot_high", "a swing high is confirmed by the bars after it")
	PivotLow             = label("pivot_low", "a swing low is confirmed by the bars after it")
	Spike                = label("spike", "the value rises far above its usual size")
	ModeTrend            = label("mode_trend", "the market changes from a cycle to a trend")
	ModeCycle            = label("mode_cycle", "the market changes from a trend to a cycle")
	Bulge                = label("reversal_bulge", "the range has widened and narrows again, which announces a turn in either direction")
	ExtremeFear          = label("extreme_fear", "sentiment enters its lowest zone")
	ExtremeGreed         = label("extreme_greed", "sentiment enters its highest zone")
	ZoneUp               = label("zone_up", "the value enters the next higher zone")
	ZoneDown             = label("zone_down", "the value enters the next lower zone")
	SetupBuy             = label("setup_buy", "a count of falling closes is complete: the fall may be exhausted")
	SetupSell            = label("setup_sell", "a count of rising closes is complete: the rise may be exhausted")
	CountdownBuy         = label("countdown_buy", "the longer count after a buy setup is complete")
	CountdownSell        = label("countdown_sell", "the longer count after a sell setup is complete")
	Buy                  = label("buy", "the fast line crosses the slow one from below in the oversold zone; in strict mode RSI and stochastic agree")
	Sell                 = label("sell", "the fast line crosses the slow one from above in the overbought zone; in strict mode RSI and stochastic agree")
	BuySmall             = label("buy_small", "the fast line crosses the slow one from below outside the zones; in strict mode the RSI agrees")
	SellSmall            = label("sell_small", "the fast line crosses the slow one from above outside the zones; in strict mode the RSI agrees")
	BOSUp                = label("bos_up", "break of structure: a close above the last swing high in a rising market")
	BOSDown              = label("bos_down", "break of structure: a close below the last swing low in a falling market")
	ChochUp              = label("choch_up", "change of character: a close above the last swing high turns a falling market")
	ChochDown            = label("choch_down", "change of character: a close below the last swing low turns a rising market")
	GapUp                = label("gap_up", "an upward fair value gap has formed")
	GapDown              = label("gap_down", "a downward fair value gap has formed")
	GapFilled            = label("gap_filled", "a bar has reached the far edge of a fair value gap")
	BlockUp              = label("block_up", "an upward order block has formed: the structure broke upwards")
	BlockDown            = label("block_down", "a downward order block has formed: the structure broke downwards")
	BlockTouch           = label("block_touch", "price has come back to an order block for the first time")
	BreakerUp            = label("breaker_up", "a close above a downward order block has made it support")
	BreakerDown          = label("breaker_down", "a close below an upward order block has made it resistance")
	SweepHigh            = label("sweep_high", "a bar trades above a swing high for the first time and closes back below")
	SweepLow             = label("sweep_low", "a bar trades below a swing low for the first time and closes back above")
	EqualHighs           = label("equal_highs", "a swing high is confirmed at nearly the price of the one before")
	EqualLows            = label("equal_lows", "a swing low is confirmed at nearly the price of the one before")
	SupplyZone           = label("supply_zone", "a large falling bar has left a quiet range")
	DemandZone           = label("demand_zone", "a large rising bar has left a quiet range")
	ZoneTouch            = label("zone_touch", "price has come back to a supply or demand zone for the first time")
	DoubleTop            = label("double_top", "a close below the neckline completes a double top")
	DoubleBottom         = label("double_bottom", "a close above the neckline completes a double bottom")
	HeadShoulders        = label("head_shoulders", "a close below the neckline completes head and shoulders")
	InverseHeadShoulders = label("inverse_head_shoulders", "a close above the neckline completes inverse head and shoulders")
	FlagUp               = label("flag_up", "a close above the flag after a steep rise")
	FlagDown             = label("flag_down", "a close below the flag after a steep fall")
	StrongBuy            = label("strong_buy", "most of the votes say buy")
	StrongSell           = label("strong_sell", "most of the votes say sell")
	SessionOpen          = label("session_open", "the first bar of a trading session")
	SessionClose         = label("session_close", "the first bar after a trading session")
	GoldBuy              = label("gold_buy", "a strong bullish divergence out of a deeply oversold market")
	BuyOversold          = label("buy_oversold", "the line rises above its signal line, and was in the oversold zone on the bar before")
	SellOverbought       = label("sell_overbought", "the line falls below its signal line, and was in the overbought zone on the bar before")
	BullDiv              = label("bull_div", "regular bullish divergence is confirmed: lower low of the price, higher low of the line")
	BearDiv              = label("bear_div", "regular bearish divergence is confirmed: higher high of the price, lower high of the line")
	HiddenBullDiv        = label("hidden_bull_div", "hidden bullish divergence is confirmed: higher low of the price, lower low of the line")
	HiddenBearDiv        = label("hidden_bear_div", "hidden bearish divergence is confirmed: lower high of the price, higher high of the line")
	WTBullDiv            = label("wt_bull_div", "bullish divergence of price and WaveTrend is confirmed")
	WTBearDiv            = label("wt_bear_div", "bearish divergence of price and WaveTrend is confirmed")
	RSIBullDiv           = label("rsi_bull_div", "bullish divergence of price and RSI is confirmed")
	RSIBearDiv           = label("rsi_bear_div", "bearish divergence of price and RSI is confirmed")
	StochBullDiv         = label("stoch_bull_div", "bullish divergence of price and stochastic is confirmed")
	StochBearDiv         = label("stoch_bear_div", "bearish divergence of price and stochastic is confirmed")
	AnyBullDiv           = label("any_bull_div", "a bullish divergence of any of the lines is confirmed")
	AnyBearDiv           = label("any_bear_div", "a bearish divergence of any of the lines is confirmed")
	BecomesTrue          = label("becomes_true", "the rule is true and was not true on the bar before")
	BecomesFalse         = label("becomes_false", "the rule is true no longer")
	Enter                = label("enter", "the backtest enters at the open of the bar")
	Exit                 = label("exit", "the backtest leaves at the open of the bar")
	StopLoss             = label("stop_loss", "the backtest leaves at its stop")
	TakeProfit           = label("take_profit", "the backtest leaves at its target")
)

// meanings has what the labels mean.
var meanings = make(map[string]string)

// label notes the meaning of a label.
func label(name, meaning string) string {
	meanings[name] = meaning
	return name
}

// marked returns a signal for each bar for which way, which is asked about every bar in order,
// returns 1, with the label up, or -1, with the label down. An empty label leaves out that
// direction. Y is that of the column.
func marked(y []float64, up, down string, way func(i int) int) (signals []Signal) {
	for i, v := range y {
		label, tone := up, Up
		switch way(i) {
		case 0:
			continue
		case -1:
			label, tone = down, Down
		}
		if label == "" {
			continue
		}
		if signals == nil { // as many as most histories have: growing by doubling would take as long as finding them
			signals = make([]Signal, 0, 64)
		}
		signals = append(signals, Mark(i, v, label, tone))
	}
	return signals
}

// across returns which way a crosses b on each bar, in the sense of [kernel.Crosser];
// acrossLevel is against a constant.
func across(a, b []float64) func(i int) int {
	var c kernel.Crosser
	return func(i int) int { return c.Step(a[i], b[i]) }
}
func acrossLevel(a []float64, level float64) func(i int) int {
	var c kernel.Crosser
	return func(i int) int { return c.Step(a[i], level) }
}

// crossings returns a signal wherever a crosses b, levelCrossings wherever it crosses a
// constant. Y is a's value.
func crossings(a, b []float64, up, down string) []Signal { return marked(a, up, down, across(a, b)) }
func levelCrossings(a []float64, level float64, up, down string) []Signal {
	return marked(a, up, down, acrossLevel(a, level))
}

// zoneEntries returns a signal wherever x falls below lo, and where it rises above hi.
func zoneEntries(x []float64, lo, hi float64) []Signal {
	return append(levelCrossings(x, lo, "", EntersOversold), levelCrossings(x, hi, EntersOverbought, "")...)
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
	signals := marked(b, CrossUp, CrossDown, across(a, b))
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
	var over, under kernel.Crosser // what is reached is a wall: price that comes up to it is marked Down
	return inOrder(append(marked(upper, "", TouchUpper, func(i int) int { return -over.Reach(s.High[i], upper[i]) }),
		marked(lower, TouchLower, "", func(i int) int { return -under.Reach(s.Low[i], lower[i]) })...))
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
		for k := 2; k < len(columns); k++ {
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

// inOrder sorts signals by bar, in place, and returns them. Signals on the same bar stay in
// their order.
func inOrder(signals []Signal) []Signal {
	slices.SortStableFunc(signals, func(a, b Signal) int { return a.Bar - b.Bar })
	return signals
}
