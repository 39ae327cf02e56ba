package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// ciphers has Cipher B, which joins several oscillators.
var ciphers = []Indicator{
	{Name: "cipher_b", Title: "Cipher B", Also: "cipher cb market_cipher_b vumanchu vumanchu_cipher_b", Category: Momentum, Traits: Beyond,
		Doc: "WaveTrend, RSI, stochastic RSI and money flow in one panel, after VuManChu's Cipher B, with Wilder's RSI. Buy and sell are crosses of WaveTrend in its zones, the small ones outside them; " +
			"in strict mode RSI and stochastic must agree. Divergences compare tops and bottoms of WT2 and are marked on the bar that confirms them, two bars after the turn; " +
			"gold_buy is a strong one out of deep oversold. rsi_oversold and rsi_overbought mark RSI leaving 30 upwards and 60 downwards.",
		Formula: "WT as in wavetrend with a signal of 3; money flow = SMA(150 * (close - open) / (high - low), 60) - 2.5; stochastic of RSI(ln close, 14) over 14, smoothed 3 and 3",
		Params: []Param{
			choice("dot_mode", "strict wants RSI and stochastic to agree with a cross, classic does not", "strict", "classic"),
			bars("wt_channel_length", 9, "WaveTrend: average of the price", "channel", "ch_len"),
			bars("wt_average_length", 12, "WaveTrend: average of the index", "average", "avg_len"),
			quiet(factor("wt_oversold", -53, -200, 0, "lower level of WaveTrend", "oversold")),
			quiet(factor("wt_overbought", 53, 0, 200, "upper level of WaveTrend", "overbought")),
			toggle("show_divergences", true, "draw the lines of strong divergences of WaveTrend"),
			toggle("show_hidden", false, "mark hidden divergences of WaveTrend too"),
			toggle("show_rsi_divergences", false, "mark divergences of RSI too"),
			toggle("show_stoch_divergences", false, "mark divergences of the stochastic too"),
		},
		Events: []Event{
			emits(Buy, Sell, BuySmall, SellSmall, GoldBuy, RSIOversold, RSIOverbought, WTBullDiv, WTBearDiv), emits(HiddenBullDiv, HiddenBearDiv).switched("show_hidden"),
			emits(RSIBullDiv, RSIBearDiv).switched("show_rsi_divergences"), emits(StochBullDiv, StochBearDiv).switched("show_stoch_divergences"),
			emits(AnyBullDiv, AnyBearDiv), enters("WT2", "wt_"),
		},
		// The slowest of the stochastic of the RSI, the money flow and WaveTrend; 100 bars
		// more hold the turn before, with which a divergence is compared.
		Memory: Memory{bars: func(a Args) int {
			return 100 + max(20*14+14+6, 60, 9*(2*a.Int("wt_channel_length")+a.Int("wt_average_length"))+3)
		}},
		Draw: func(in Input) *Result {
			c := newCipher(in)
			zero := make([]float64, in.Len())
			push := kernel.Ratio(kernel.Minus(in.Close, in.Open), kernel.Minus(in.High, in.Low), 150)
			// The script moves the line down by 2.5, so that rest lies a little below zero.
			flow := kernel.Each(kernel.SMA(push, 60), func(v float64) float64 { return v - 2.5 })
			r := &Result{
				YRange: &[2]float64{-105, 105},
				Lines: []Line{
					{Label: "WT1", Tone: Primary, Values: c.wt1}, {Label: "WT2", Tone: Second, Values: c.wt2},
					{Label: "RSI", Values: c.rsi}, {Label: "Stoch K", Values: c.k}, {Label: "Stoch D", Values: c.d},
				},
				Histogram: []Histogram{{Label: "Money flow", Values: flow}},
				Fills: []Fill{
					{Y1: c.wt1, Y2: c.wt2, Tone: Up, Below: Down}, {Y1: kernel.Minus(c.wt1, c.wt2), Y2: zero, Tone: Muted},
					{Y1: c.k, Y2: c.d, Tone: Up, Below: Down},
				},
				HLines: []HLine{{Y: in.Float("wt_overbought")}, {Y: 0}, {Y: in.Float("wt_oversold")}},
			}
			// Signals of three kinds; the order among those of one bar is the order here.
			c.crosses(r, in.Args)
			r.Signals = slices.Concat(r.Signals, levelCrossings(c.rsi, 30, RSIOversold, ""), levelCrossings(c.rsi, 60, "", RSIOverbought))
			c.divergences(r, in)
			return r
		}},
}

// cipher is the lines of the panel that decide about signals.
type cipher struct{ wt1, wt2, rsi, k, d []float64 }

// newCipher computes the lines. Closes that are not positive have no logarithm, so the
// stochastic has holes there and is computed for each run of closes by itself.
func newCipher(in Input) cipher {
	var c cipher
	c.wt1, c.wt2 = waveTrend(kernel.TypicalPrice(in.Series), in.Int("wt_channel_length"), in.Int("wt_average_length"), 3)
	c.rsi = kernel.RSI(in.Close, 14)
	logs := kernel.Each(in.Close, func(v float64) float64 {
		if v > 0 {
			return math.Log(v)
		}
		return nan
	})
	// %K and %D are smoothed alike, over three bars.
	smoothed := func(x []float64) []float64 { return kernel.SMA(x, 3) }
	c.k = kernel.InRuns(logs, func(x []float64) []float64 { return smoothed(kernel.HeldStochastic(kernel.RSI(x, 14), 14)) })
	c.d = kernel.InRuns(c.k, smoothed)
	return c
}

// crosses adds the crosses of WaveTrend. One in the zone that fails the strict
// test gives nothing: it does not become a small one.
func (c cipher) crosses(r *Result, a Args) {
	strict := a.Choice("dot_mode") == "strict"
	for _, sig := range zonedCrossings(c.wt1, c.wt2, a.Float("wt_oversold"), a.Float("wt_overbought")) {
		// In strict mode RSI and stochastic must agree: with the cross in a zone both,
		// with another the RSI alone, at a wider level.
		rsi, k := c.rsi[sig.Bar], c.k[sig.Bar]
		agrees := true
		switch sig.Label {
		case CrossUpOS:
			sig.Label, agrees = Buy, rsi < 30 && k < 20
		case CrossDownOB:
			sig.Label, agrees = Sell, rsi > 70 && k > 80
		case CrossUp:
			sig.Label, agrees = BuySmall, rsi < 40
		case CrossDown:
			sig.Label, agrees = SellSmall, rsi > 60
		}
		if agrees || !strict {
			r.Signals = append(r.Signals, sig)
		}
	}
}

// Divergences of WT2 count when the second turn lies beyond the faint limits;
// beyond the strong ones they are drawn too, and may be gold.
const (
	faintTop, faintBottom   = 15, -40
	strongTop, strongBottom = 45, -65
	goldBottom              = -75
)

// cipherTurn is how many bars on either side a turn exceeds: it is known so much later.
const cipherTurn = 2

// divergences adds those of WaveTrend, compared with the turn before however long ago it was,
// and regular ones of the others if they are asked for, whose second turn lies at or beyond top
// or bottom. Of one bar there is one signal for any bullish and any bearish one.
func (c cipher) divergences(r *Result, in Input) {
	marks := make(map[Signal]bool)
	add := func(d Divergence, osc []float64, labels [4]string) {
		r.Signals = append(r.Signals, d.Signal(osc, labels))
		// Gold is a signal of its own, beside that of the divergence.
		if labels[Bullish] == WTBullDiv && c.gold(d) {
			r.Signals = append(r.Signals, Mark(d.Known, c.wt2[d.Known], GoldBuy, Up))
		}
		any := Mark(d.Known, -95, AnyBullDiv, Up) // at the edge of the panel
		if d.Tone() == Down {
			any = Mark(d.Known, 95, AnyBearDiv, Down)
		}
		if !marks[any] {
			marks[any] = true
			r.Signals = append(r.Signals, any)
		}
	}
	for _, d := range Divergences(in.High, in.Low, c.wt2, cipherTurn, cipherTurn, in.Len()) {
		turn := c.wt2[d.To]
		// beyond reports whether the turn is extreme enough; a hidden divergence always
		// is.
		beyond := func(top, bottom float64) bool {
			return d.Hidden() || d.Tone() == Down && turn >= top || d.Tone() == Up && turn <= bottom
		}
		if !beyond(faintTop, faintBottom) || d.Hidden() && !in.Bool("show_hidden") {
			continue
		}
		if in.Bool("show_divergences") && beyond(strongTop, strongBottom) {
			r.DivLines = append(r.DivLines, d.Line(c.wt2))
		}
		add(d, c.wt2, [4]string{WTBullDiv, WTBearDiv, HiddenBullDiv, HiddenBearDiv})
	}
	for _, other := range []struct {
		toggle      string
		osc         []float64
		top, bottom float64
		labels      [4]string
	}{
		{"show_rsi_divergences", c.rsi, 60, 30, [4]string{RSIBullDiv, RSIBearDiv}},
		// These limits exclude nothing: the stochastic is never below 0 or above 100.
		{"show_stoch_divergences", c.k, 0, 100, [4]string{StochBullDiv, StochBearDiv}},
	} {
		if !in.Bool(other.toggle) {
			continue
		}
		for _, d := range Divergences(in.High, in.Low, other.osc, cipherTurn, cipherTurn, in.Len()) {
			if d.Kind == Bearish && other.osc[d.To] >= other.top || d.Kind == Bullish && other.osc[d.To] <= other.bottom {
				add(d, other.osc, other.labels)
			}
		}
	}
}

// gold reports a strong bullish divergence out of deep oversold: the bottom
// before was at least that deep, WT2 has since left the depth by 5, and RSI was
// oversold at the turn.
func (c cipher) gold(d Divergence) bool {
	before, now := c.wt2[d.From], c.wt2[d.Known]
	return d.Kind == Bullish && c.wt2[d.To] <= strongBottom &&
		before <= goldBottom && now > goldBottom && now-before >= 5 && c.rsi[d.To] < 30
}
