package shape

// The labels of signals, and in one line when each fires. An indicator's record names those it
// may emit, and an alert can wait for no other. A label says what happened on the bar, such as
// an edge that was crossed, and never a state that lasts. What crosses is beyond now and was
// not on the bar before, see [kernel.Crosser].
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

// Meaning returns in one line when a signal with this label fires, or "" for a
// label that is not among these.
func Meaning(label string) string { return meanings[label] }

// CrossMeanings returns the meanings of [CrossUp] and [CrossDown] for an indicator in
// which it is not a fast line that crosses a slow one.
func CrossMeanings(line, other string) map[string]string {
	crosses := line + " crosses " + other
	return map[string]string{CrossUp: crosses + " from below", CrossDown: crosses + " from above"}
}

// BreakMeanings returns the meanings of [BreakUp] and [BreakDown] for an indicator in
// which it is not the close that breaks out.
func BreakMeanings(line, upper, lower string) map[string]string {
	crosses := line + " crosses "
	return map[string]string{BreakUp: crosses + upper + " from below", BreakDown: crosses + lower + " from above"}
}
