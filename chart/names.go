package chart

import "strings"

// signalWords are the parts of signal labels that a picture writes otherwise:
// abbreviations in full, and what is said too shortly to be understood. Pages get the
// same table, see Look.
var signalWords = map[string]string{
	"os": "oversold", "ob": "overbought", "oversold": "leaves oversold", "overbought": "leaves overbought",
	"bull": "bullish", "bear": "bearish", "div": "divergence", "rsi": "RSI", "stoch": "Stoch", "wt": "WT",
	"cross": "crosses", "touch": "touches", "breakout": "breaks out", "flip": "turns", "turn": "turns", "twist": "cloud turns",

	// Whole labels, which come before their parts.
	"stack_up": "rising order", "stack_down": "falling order", "zero_up": "rises above 0", "zero_down": "falls below 0",
	"level_touch": "touches level", "buy_oversold": "buy, oversold", "sell_overbought": "sell, overbought",
}

// SignalName returns the label of a signal in words: "rsi_overbought" is "RSI
// leaves overbought". Payloads and alerts keep the label.
func SignalName(label string) string {
	if name, ok := signalWords[label]; ok {
		return name
	}
	words := strings.Split(label, "_")
	for i, w := range words {
		if full, ok := signalWords[w]; ok {
			words[i] = full
		}
	}
	return printable(strings.Join(words, " "), 32)
}
