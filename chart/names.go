package chart

import "strings"

// signalNames says in words what the labels of signals mean, for the picture.
// Payloads and alerts keep the labels. A label that is not listed is written
// with spaces for its underscores.
var signalNames = map[string]string{
	"cross_up":         "crosses up",
	"cross_down":       "crosses down",
	"cross_up_os":      "crosses up, oversold",
	"cross_down_ob":    "crosses down, overbought",
	"price_cross_up":   "price crosses above",
	"price_cross_down": "price crosses below",
	"zero_up":          "rises above 0",
	"zero_down":        "falls below 0",
	"oversold":         "leaves oversold",
	"overbought":       "leaves overbought",
	"flip_up":          "turns up",
	"flip_down":        "turns down",
	"turn_up":          "turns up",
	"turn_down":        "turns down",
	"breakout_up":      "breaks out up",
	"breakout_down":    "breaks out down",
	"touch_upper":      "touches upper band",
	"touch_lower":      "touches lower band",
	"squeeze_on":       "squeeze begins",
	"squeeze_off":      "squeeze ends",
	"stack_up":         "rising order",
	"stack_down":       "falling order",
	"cloud_break_up":   "breaks above cloud",
	"cloud_break_down": "breaks below cloud",
	"twist_up":         "cloud turns up",
	"twist_down":       "cloud turns down",
	"pivot_high":       "swing high",
	"pivot_low":        "swing low",
	"mode_trend":       "trend begins",
	"mode_cycle":       "cycle begins",
	"level_touch":      "touches level",
	"zone_up":          "next zone up",
	"zone_down":        "next zone down",
	"setup_buy":        "buy setup",
	"setup_sell":       "sell setup",
	"countdown_buy":    "buy countdown",
	"countdown_sell":   "sell countdown",
	"buy_small":        "small buy",
	"sell_small":       "small sell",
	"buy_oversold":     "buy, oversold",
	"sell_overbought":  "sell, overbought",
	"rsi_oversold":     "RSI leaves oversold",
	"rsi_overbought":   "RSI leaves overbought",
	"stoch_oversold":   "Stoch leaves oversold",
	"stoch_overbought": "Stoch leaves overbought",
	"bull_div":         "bullish divergence",
	"bear_div":         "bearish divergence",
	"hidden_bull_div":  "hidden bullish divergence",
	"hidden_bear_div":  "hidden bearish divergence",
	"wt_bull_div":      "WT bullish divergence",
	"wt_bear_div":      "WT bearish divergence",
	"rsi_bull_div":     "RSI bullish divergence",
	"rsi_bear_div":     "RSI bearish divergence",
	"stoch_bull_div":   "Stoch bullish divergence",
	"stoch_bear_div":   "Stoch bearish divergence",
	"any_bull_div":     "bullish divergence",
	"any_bear_div":     "bearish divergence",
}

// signalName returns the label of a signal in words.
func signalName(label string) string {
	if name, ok := signalNames[label]; ok {
		return name
	}
	return printable(strings.ReplaceAll(label, "_", " "), 28)
}
