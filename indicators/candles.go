package indicators

import (
	"slices"
	"strings"

	"wick/indicators/shape"
	"wick/market"
)

// Candle patterns, by TA-Lib's rules: 61 of them, each a short function over
// the last few candles in one of the tables candles_*.go.

var indCandles = Indicator{
	Name: "candles", Title: "Candles", Aliases: []string{"candle_patterns", "candlestick_patterns", "cdl", "cdl_pattern", "patterns"},
	Category: Pattern, Overlay: true,
	Doc: "Candle patterns: the 61 of TA-Lib, by its rules to the last bit. What counts as long, short, near or equal is measured by the five or ten candles before. " +
		"A pattern that comes both ways has two labels, such as engulfing_bull and engulfing_bear; one that comes one way, or says nothing about direction (doji), has its plain name.",
	Formula: "each pattern is a rule over the last 1 to 5 candles; averages over the 5 or 10 candles before",
	Params: []Param{
		patternParam(),
		{Name: "newest", Aliases: []string{"n", "last"}, Doc: "newest signals to return; 0 returns all, which are one or two a bar", Kind: Int, Min: 0, Max: market.MaxLimit, Quiet: true},
		{Name: "penetration", Doc: "how far into the first body the last candle must reach, as a fraction of it; 0 takes TA-Lib's own, 0.3, and 0.5 for darkcloudcover and mathold",
			Min: 0, Max: 1, Quiet: true},
	},
	Signals: patternLabels(), Meanings: patternMeanings(),
	Silent: func(a Args, label string) string {
		for _, p := range chosenPatterns(a.Chosen("pattern")) {
			if labels := p.labels(); slices.Contains(labels[:], label) {
				return ""
			}
		}
		return "pattern to all"
	},
	Warmup: func(Args) int { return candleMemory },
	Compute: func(s *market.Series, a Args) *Result {
		signals := candleSignals(s, chosenPatterns(a.Chosen("pattern")), a.Float("penetration"))
		// Signals are in order of bar, so the newest are at the end.
		if n := a.Int("newest"); n > 0 && n < len(signals) {
			signals = signals[len(signals)-n:]
		}
		return &Result{Signals: signals}
	},
}

// patternParam returns the parameter "pattern".
func patternParam() Param {
	p := manyOf("pattern", "which patterns to look for, one or more; multi leaves out those of a single candle, which come every few bars",
		append([]string{"all", "multi"}, patternNames()...)...)
	p.Aliases = []string{"patterns"}
	return p
}

// chosenPatterns returns the patterns that names stand for. The order is that of the
// list, whatever the order of the names.
func chosenPatterns(names []string) []candlePattern {
	var chosen []candlePattern
	for k, p := range candlePatterns {
		// The patterns of one candle come first in the list, which is how multi leaves
		// them out.
		if slices.Contains(names, "all") || slices.Contains(names, p.name) || slices.Contains(names, "multi") && k >= len(oneCandle) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// candleMemory is the number of bars that can have a say in a result: the last
// seven candles and the ten before the first of them.
const candleMemory = 7 + 10

// candlePatterns are all patterns, by number of candles.
var candlePatterns = slices.Concat(oneCandle, twoCandles, threeCandles, moreCandles)

// patternNames returns the names of all patterns in their order.
func patternNames() []string {
	var names []string
	for _, p := range candlePatterns {
		names = append(names, p.name)
	}
	return names
}

// patternLabels returns every label a pattern can emit.
func patternLabels() []string {
	var labels []string
	for _, p := range candlePatterns {
		for _, l := range p.labels() {
			if l != "" && !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	}
	return labels
}

// patternMeanings says of every label which pattern is complete.
func patternMeanings() map[string]string {
	out := make(map[string]string)
	for _, p := range candlePatterns {
		// The words stand in the order of labels; a pattern that comes one way needs
		// none.
		kinds := [4]string{"bullish ", "bearish ", "confirmed bullish ", "confirmed bearish "}
		if p.way != Auto {
			kinds = [4]string{}
		}
		for k, l := range p.labels() {
			if l != "" {
				out[l] = "a " + kinds[k] + "pattern " + p.name + " is complete on this bar (TA-Lib's CDL" + strings.ToUpper(p.name) + ")"
			}
		}
	}
	return out
}

// candleSignals returns a signal for every hit of the patterns: bullish ones at the
// low of their last candle, the others at its high. On one bar the patterns come in
// the order of the list.
func candleSignals(s *market.Series, patterns []candlePattern, p float64) []Signal {
	labels := make([][4]string, len(patterns)) // written once, not once a hit
	for k := range patterns {
		labels[k] = patterns[k].labels()
	}
	var signals []Signal
	var candles []candle
	for from := 0; from < s.Len(); from += candleBlock {
		// Each block is measured together with the bars before it that its rules look
		// at.
		first := max(0, from-candleMemory)
		candles = measureCandles(candles, s.Slice(first, min(s.Len(), from+candleBlock)))
		for i := from; i < first+len(candles); i++ {
			signals = appendHits(signals, s, i, candles[:i-first+1], patterns, labels, p)
		}
	}
	return signals
}

// candleBlock is how many bars are measured at a time, so that they stay in
// the processor's cache while 61 rules look at them.
const candleBlock = 256

// appendHits appends the signals of bar i, whose candle is the last of those
// given.
func appendHits(dst []Signal, s *market.Series, i int, candles []candle, patterns []candlePattern, labels [][4]string, p float64) []Signal {
	for k := range patterns {
		verdict := patterns[k].at(candles, i, p)
		if verdict == 0 {
			continue
		}
		// A pattern with a fixed way has that tone; one that comes both ways takes the
		// sign of its verdict. Bullish ones are drawn below the bar.
		found := shape.Mark(i, s.High[i], label(&labels[k], verdict), patterns[k].way)
		if found.Tone == Auto && verdict > 0 {
			found.Tone = Up
		} else if found.Tone == Auto {
			found.Tone = Down
		}
		if found.Tone == Up {
			found.Y = s.Low[i]
		}
		found.Strength = max(verdict, -verdict)
		dst = append(dst, found)
	}
	return dst
}
