package shape

// The labels of signals. An indicator's record names those it may emit, and an
// alert can wait for no other. A label says what happened on the bar, such as an
// edge that was crossed, and never a state that lasts.
const (
	CrossUp              = "cross_up"
	CrossDown            = "cross_down"
	CrossUpOS            = "cross_up_os"
	CrossDownOB          = "cross_down_ob"
	CrossAbove           = "crosses_above"
	CrossBelow           = "crosses_below"
	PriceUp              = "price_cross_up"
	PriceDown            = "price_cross_down"
	ZeroUp               = "zero_up"
	ZeroDown             = "zero_down"
	Oversold             = "oversold"
	Overbought           = "overbought"
	EntersOversold       = "enters_oversold"
	EntersOverbought     = "enters_overbought"
	RSIOversold          = "rsi_oversold"
	RSIOverbought        = "rsi_overbought"
	StochOS              = "stoch_oversold"
	StochOB              = "stoch_overbought"
	FlipUp               = "flip_up"
	FlipDown             = "flip_down"
	TurnUp               = "turn_up"
	TurnDown             = "turn_down"
	BreakUp              = "breakout_up"
	BreakDown            = "breakout_down"
	TouchUpper           = "touch_upper"
	TouchLower           = "touch_lower"
	LevelTouch           = "level_touch"
	SqueezeOn            = "squeeze_on"
	SqueezeOff           = "squeeze_off"
	StackUp              = "stack_up"
	StackDown            = "stack_down"
	CloudUp              = "cloud_break_up"
	CloudDown            = "cloud_break_down"
	TwistUp              = "twist_up"
	TwistDown            = "twist_down"
	NewHigh              = "new_high"
	NewLow               = "new_low"
	PivotHigh            = "pivot_high"
	PivotLow             = "pivot_low"
	Spike                = "spike"
	ModeTrend            = "mode_trend"
	ModeCycle            = "mode_cycle"
	Bulge                = "reversal_bulge"
	ExtremeFear          = "extreme_fear"
	ExtremeGreed         = "extreme_greed"
	ZoneUp               = "zone_up"
	ZoneDown             = "zone_down"
	SetupBuy             = "setup_buy"
	SetupSell            = "setup_sell"
	CountdownBuy         = "countdown_buy"
	CountdownSell        = "countdown_sell"
	Buy                  = "buy"
	Sell                 = "sell"
	BuySmall             = "buy_small"
	SellSmall            = "sell_small"
	BOSUp                = "bos_up"
	BOSDown              = "bos_down"
	ChochUp              = "choch_up"
	ChochDown            = "choch_down"
	GapUp                = "gap_up"
	GapDown              = "gap_down"
	GapFilled            = "gap_filled"
	BlockUp              = "block_up"
	BlockDown            = "block_down"
	BlockTouch           = "block_touch"
	BreakerUp            = "breaker_up"
	BreakerDown          = "breaker_down"
	SweepHigh            = "sweep_high"
	SweepLow             = "sweep_low"
	EqualHighs           = "equal_highs"
	EqualLows            = "equal_lows"
	SupplyZone           = "supply_zone"
	DemandZone           = "demand_zone"
	ZoneTouch            = "zone_touch"
	DoubleTop            = "double_top"
	DoubleBottom         = "double_bottom"
	HeadShoulders        = "head_shoulders"
	InverseHeadShoulders = "inverse_head_shoulders"
	FlagUp               = "flag_up"
	FlagDown             = "flag_down"
	StrongBuy            = "strong_buy"
	StrongSell           = "strong_sell"
	SessionOpen          = "session_open"
	SessionClose         = "session_close"
	GoldBuy              = "gold_buy"
	BuyOversold          = "buy_oversold"
	SellOverbought       = "sell_overbought"
	BullDiv              = "bull_div"
	BearDiv              = "bear_div"
	HiddenBullDiv        = "hidden_bull_div"
	HiddenBearDiv        = "hidden_bear_div"
	WTBullDiv            = "wt_bull_div"
	WTBearDiv            = "wt_bear_div"
	RSIBullDiv           = "rsi_bull_div"
	RSIBearDiv           = "rsi_bear_div"
	StochBullDiv         = "stoch_bull_div"
	StochBearDiv         = "stoch_bear_div"
	AnyBullDiv           = "any_bull_div"
	AnyBearDiv           = "any_bear_div"
	BecomesTrue          = "becomes_true"
	BecomesFalse         = "becomes_false"
	Enter                = "enter"
	Exit                 = "exit"
	StopLoss             = "stop_loss"
	TakeProfit           = "take_profit"
)

// meanings says of every label in one line when it fires. What crosses is
// beyond now and was not on the bar before, see [kernel.Crosser].
var meanings = map[string]string{
	CrossUp:              "the fast line crosses the slow one from below, or the line its signal line or average",
	CrossDown:            "the fast line crosses the slow one from above, or the line its signal line or average",
	CrossUpOS:            "the fast line crosses the slow one from below while that is in the oversold zone",
	CrossDownOB:          "the fast line crosses the slow one from above while that is in the overbought zone",
	CrossAbove:           "the line crosses the level that was asked for from below",
	CrossBelow:           "the line crosses the level that was asked for from above",
	PriceUp:              "the close crosses the line from below",
	PriceDown:            "the close crosses the line from above",
	ZeroUp:               "the line crosses zero from below",
	ZeroDown:             "the line crosses zero from above",
	Oversold:             "the line leaves the oversold zone upwards",
	Overbought:           "the line leaves the overbought zone downwards",
	EntersOversold:       "the line falls into the oversold zone",
	EntersOverbought:     "the line rises into the overbought zone",
	RSIOversold:          "the RSI leaves the oversold zone upwards",
	RSIOverbought:        "the RSI leaves the overbought zone downwards",
	StochOS:              "%K crosses %D from below in the oversold zone",
	StochOB:              "%K crosses %D from above in the overbought zone",
	FlipUp:               "the stop or trend turns from falling to rising",
	FlipDown:             "the stop or trend turns from rising to falling",
	TurnUp:               "the line stops falling and rises",
	TurnDown:             "the line stops rising and falls",
	BreakUp:              "the close crosses the upper band or level from below",
	BreakDown:            "the close crosses the lower band or level from above",
	TouchUpper:           "the high of the bar reaches the upper band, which the bar before did not",
	TouchLower:           "the low of the bar reaches the lower band, which the bar before did not",
	LevelTouch:           "the bar reaches a level that was not touched before in its period",
	SqueezeOn:            "volatility falls so low that a squeeze begins",
	SqueezeOff:           "the squeeze ends",
	StackUp:              "all averages come into rising order, the fastest on top",
	StackDown:            "all averages come into falling order, the slowest on top",
	CloudUp:              "the close crosses the top of the cloud from below",
	CloudDown:            "the close crosses the bottom of the cloud from above",
	TwistUp:              "the cloud to come turns bullish: span A crosses span B from below",
	TwistDown:            "the cloud to come turns bearish: span A crosses span B from above",
	NewHigh:              "a new highest value of the window",
	NewLow:               "a new lowest value of the window",
	PivotHigh:            "a swing high is confirmed by the bars after it",
	PivotLow:             "a swing low is confirmed by the bars after it",
	Spike:                "the value rises far above its usual size",
	ModeTrend:            "the market changes from a cycle to a trend",
	ModeCycle:            "the market changes from a trend to a cycle",
	Bulge:                "the range has widened and narrows again, which announces a turn in either direction",
	ExtremeFear:          "sentiment enters its lowest zone",
	ExtremeGreed:         "sentiment enters its highest zone",
	ZoneUp:               "the value enters the next higher zone",
	ZoneDown:             "the value enters the next lower zone",
	SetupBuy:             "a count of falling closes is complete: the fall may be exhausted",
	SetupSell:            "a count of rising closes is complete: the rise may be exhausted",
	CountdownBuy:         "the longer count after a buy setup is complete",
	CountdownSell:        "the longer count after a sell setup is complete",
	Buy:                  "the fast line crosses the slow one from below in the oversold zone; in strict mode RSI and stochastic agree",
	Sell:                 "the fast line crosses the slow one from above in the overbought zone; in strict mode RSI and stochastic agree",
	BuySmall:             "the fast line crosses the slow one from below outside the zones; in strict mode the RSI agrees",
	SellSmall:            "the fast line crosses the slow one from above outside the zones; in strict mode the RSI agrees",
	BOSUp:                "break of structure: a close above the last swing high in a rising market",
	BOSDown:              "break of structure: a close below the last swing low in a falling market",
	ChochUp:              "change of character: a close above the last swing high turns a falling market",
	ChochDown:            "change of character: a close below the last swing low turns a rising market",
	GapUp:                "an upward fair value gap has formed",
	GapDown:              "a downward fair value gap has formed",
	GapFilled:            "a bar has reached the far edge of a fair value gap",
	BlockUp:              "an upward order block has formed: the structure broke upwards",
	BlockDown:            "a downward order block has formed: the structure broke downwards",
	BlockTouch:           "price has come back to an order block for the first time",
	BreakerUp:            "a close above a downward order block has made it support",
	BreakerDown:          "a close below an upward order block has made it resistance",
	SweepHigh:            "a bar trades above a swing high for the first time and closes back below",
	SweepLow:             "a bar trades below a swing low for the first time and closes back above",
	EqualHighs:           "a swing high is confirmed at nearly the price of the one before",
	EqualLows:            "a swing low is confirmed at nearly the price of the one before",
	SupplyZone:           "a large falling bar has left a quiet range",
	DemandZone:           "a large rising bar has left a quiet range",
	ZoneTouch:            "price has come back to a supply or demand zone for the first time",
	DoubleTop:            "a close below the neckline completes a double top",
	DoubleBottom:         "a close above the neckline completes a double bottom",
	HeadShoulders:        "a close below the neckline completes head and shoulders",
	InverseHeadShoulders: "a close above the neckline completes inverse head and shoulders",
	FlagUp:               "a close above the flag after a steep rise",
	FlagDown:             "a close below the flag after a steep fall",
	StrongBuy:            "most of the votes say buy",
	StrongSell:           "most of the votes say sell",
	SessionOpen:          "the first bar of a trading session",
	SessionClose:         "the first bar after a trading session",
	GoldBuy:              "a strong bullish divergence out of a deeply oversold market",
	BuyOversold:          "the line rises above its signal line, and was in the oversold zone on the bar before",
	SellOverbought:       "the line falls below its signal line, and was in the overbought zone on the bar before",
	BullDiv:              "regular bullish divergence is confirmed: lower low of the price, higher low of the line",
	BearDiv:              "regular bearish divergence is confirmed: higher high of the price, lower high of the line",
	HiddenBullDiv:        "hidden bullish divergence is confirmed: higher low of the price, lower low of the line",
	HiddenBearDiv:        "hidden bearish divergence is confirmed: lower high of the price, higher high of the line",
	WTBullDiv:            "bullish divergence of price and WaveTrend is confirmed",
	WTBearDiv:            "bearish divergence of price and WaveTrend is confirmed",
	RSIBullDiv:           "bullish divergence of price and RSI is confirmed",
	RSIBearDiv:           "bearish divergence of price and RSI is confirmed",
	StochBullDiv:         "bullish divergence of price and stochastic is confirmed",
	StochBearDiv:         "bearish divergence of price and stochastic is confirmed",
	AnyBullDiv:           "a bullish divergence of any of the lines is confirmed",
	AnyBearDiv:           "a bearish divergence of any of the lines is confirmed",
	BecomesTrue:          "the rule is true and was not true on the bar before",
	BecomesFalse:         "the rule is true no longer",
	Enter:                "the backtest enters at the open of the bar",
	Exit:                 "the backtest leaves at the open of the bar",
	StopLoss:             "the backtest leaves at its stop",
	TakeProfit:           "the backtest leaves at its target",
}

// Meaning returns in one line when a signal with this label fires, or "" for a
// label that is not among the constants.
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
