package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// ratings join the votes of many entries.
var ratings = []Indicator{
	{Name: "technical_rating", Title: "Rating", Also: "technical_ratings", Category: Momentum,
		Doc: "Technical rating as TradingView defines it: the mean of what 15 averages and 11 oscillators say, each -1, 0 or 1. Above 0.1 it reads buy, above 0.5 strong buy, mirrored below. " +
			"Averages: SMA and EMA of 10, 20, 30, 50, 100 and 200, HMA 9, VWMA 20, Ichimoku. Oscillators: RSI, stochastic, CCI, ADX, awesome, momentum, MACD, stochastic RSI, %R, bull and bear power, ultimate.",
		Formula: "rating = (mean of the averages' votes + mean of the oscillators' votes) / 2",
		Events: []Event{
			crossesAt("Rating", 0.1, Buy, "").meaning("the rating rises above 0.1"), crossesAt("Rating", -0.1, "", Sell).meaning("the rating falls below -0.1"),
			crossesAt("Rating", 0.5, StrongBuy, "").meaning("the rating rises above 0.5"), crossesAt("Rating", -0.5, "", StrongSell).meaning("the rating falls below -0.5"),
		},
		// The slowest vote is the exponential average of 200.
		Memory: fixed(kernel.EMAMemory * 200),
		Draw: func(in Input) *Result {
			averages, oscillators := meanVote(in.Len(), averageVotes(in.Series)), meanVote(in.Len(), oscillatorVotes(in.Series))
			rating := kernel.Midway(averages, oscillators)
			return &Result{
				YRange: &[2]float64{-1, 1},
				Lines: []Line{
					{Label: "Rating", Tone: Primary, Values: rating}, {Label: "Averages", Tone: Second, Values: averages},
					{Label: "Oscillators", Tone: Muted, Values: oscillators},
				},
				HLines: []HLine{{Y: 0.5, Label: "strong buy"}, {Y: 0.1, Label: "buy"}, {Y: -0.1, Label: "sell"}, {Y: -0.5, Label: "strong sell"}},
			}
		}},
}

// vote is what one indicator says at bar i: 1 buy, -1 sell, 0 neither. It counts
// where known has a value; it is not asked about the first two bars.
type vote struct {
	known []float64
	at    func(i int) int
}

// meanVote returns the mean of the votes that count at each bar, NaN if none does.
// Votes that are not known yet are left out of the count too, so a short history is
// not pulled towards 0.
func meanVote(n int, votes []vote) []float64 {
	out := kernel.NaNs(n)
	for i := 2; i < n; i++ {
		sum, count := 0, 0
		for _, v := range votes {
			if !isNaN(v.known[i]) {
				sum += v.at(i)
				count++
			}
		}
		if count > 0 {
			out[i] = float64(sum) / float64(count)
		}
	}
	return out
}

// averageVotes are those of lines over the price: buy while the close is above.
func averageVotes(s *market.Series) []vote {
	lines := [][]float64{kernel.HMA(s.Close, 9), volumeWeighted(s, s.Close, 20)}
	for _, n := range []int{10, 20, 30, 50, 100, 200} {
		lines = append(lines, kernel.SMA(s.Close, n), kernel.EMA(s.Close, n))
	}
	var votes []vote
	for _, line := range lines {
		votes = append(votes, vote{line, func(i int) int { return kernel.Compare(s.Close[i], line[i]) }})
	}
	conversion, base := kernel.MidRange(s, 9), kernel.MidRange(s, 26)
	spanB := kernel.MidRange(s, 52)
	a, b := kernel.Shift(kernel.Midway(conversion, base), 26), kernel.Shift(spanB, 26) // the cloud under this bar
	return append(votes, vote{spanB, func(i int) int {
		// All four steps must go the same way; a NaN compares as equal.
		up := kernel.Compare(a[i], b[i])
		if up != kernel.Compare(base[i], a[i]) || up != kernel.Compare(conversion[i], base[i]) || up != kernel.Compare(s.Close[i], conversion[i]) {
			return 0
		}
		return up
	}})
}

// oscillatorVotes are those of the eleven oscillators. Each vote has a line whose values
// say when it counts, the slowest that it needs.
func oscillatorVotes(s *market.Series) []vote {
	rsi, cci, wr, uo := kernel.RSI(s.Close, 14), kernel.CCI(s.Close, 20), williamsR(s, 14), ultimate(s, 7, 14, 28)
	k := kernel.SMA(kernel.Stochastic(s.Close, s.High, s.Low, 14), 3)
	d := kernel.SMA(k, 3)
	rsiK := kernel.SMA(kernel.Stochastic(rsi, rsi, rsi, 14), 3)
	rsiD := kernel.SMA(rsiK, 3)
	plus, minus, adx := kernel.Directional(s, 14, 14, "pine")
	hl2 := kernel.MedianPrice(s)
	ao, momentum := kernel.Minus(kernel.SMA(hl2, 5), kernel.SMA(hl2, 34)), kernel.Change(s.Close, 10)
	macd := kernel.Minus(kernel.EMA(s.Close, 12), kernel.EMA(s.Close, 26))
	signal, trend, mean := kernel.EMA(macd, 9), kernel.EMA(s.Close, 50), kernel.EMA(s.Close, 13)
	bulls, bears := kernel.Minus(s.High, mean), kernel.Minus(s.Low, mean)
	// Differences of prices may be near zero: only the size of the prices tells what is rounding.
	compare := func(x, y float64, i int) int { return kernel.Compare(x+s.Close[i], y+s.Close[i]) }
	side := func(i int) int { return kernel.Compare(s.Close[i], trend[i]) } // of the average of 50 bars
	return []vote{
		// RSI, CCI and %R turn back while they are in a zone.
		turnsWithin(rsi, 30, 70), turnsWithin(cci, -100, 100), turnsWithin(wr, -80, -20),
		// Stochastic: both lines in a zone, %K on its way out of it.
		{d, func(i int) int { return zoneVote(k[i], d[i]) }},
		// Ultimate oscillator: beyond 70 it is a buy, since it stands for strength here.
		{uo, func(i int) int { return either(kernel.Compare(uo[i], 70) > 0, kernel.Compare(uo[i], 30) < 0) }},
		// ADX: a trend that is strong and grows stronger, in its direction.
		{adx, func(i int) int {
			if kernel.Compare(adx[i], 20) <= 0 || kernel.Compare(adx[i], adx[i-1]) <= 0 {
				return 0
			}
			return kernel.Compare(plus[i], minus[i])
		}},
		// Awesome oscillator: a crossing of zero, or a saucer.
		{kernel.Shift(ao, 1), func(i int) int {
			now, before, change, changeBefore := compare(ao[i], 0, i), compare(ao[i-1], 0, i), compare(ao[i], ao[i-1], i), compare(ao[i-1], ao[i-2], i)
			return either(now > 0 && (before <= 0 || change > 0 && changeBefore < 0), now < 0 && (before >= 0 || change < 0 && changeBefore > 0))
		}},
		// Momentum: its direction. MACD: the side of its signal line.
		{kernel.Shift(momentum, 1), func(i int) int { return compare(momentum[i], momentum[i-1], i) }},
		{signal, func(i int) int { return compare(macd[i], signal[i], i) }},
		// Stochastic RSI: a buy counts below the average, a sell above it.
		{trend, func(i int) int {
			if v := zoneVote(rsiK[i], rsiD[i]); v == -side(i) {
				return v
			}
			return 0
		}},
		// Bull and bear power: in a rise the bears are below zero and give way; mirrored in a fall.
		{trend, func(i int) int {
			return either(side(i) > 0 && compare(bears[i], 0, i) < 0 && compare(bears[i], bears[i-1], i) > 0,
				side(i) < 0 && compare(bulls[i], 0, i) > 0 && compare(bulls[i], bulls[i-1], i) < 0)
		}},
	}
}

// percent compares values that range to 100 or so: near zero their rounding is
// that of larger numbers.
func percent(x, y float64) int { return kernel.Compare(x+1000, y+1000) }

// turnsWithin votes for a line that rises below lo or falls above hi.
func turnsWithin(x []float64, lo, hi float64) vote {
	return vote{kernel.Shift(x, 1), func(i int) int {
		return either(kernel.Compare(x[i], lo) < 0 && percent(x[i], x[i-1]) > 0, kernel.Compare(x[i], hi) > 0 && percent(x[i], x[i-1]) < 0)
	}}
}

// zoneVote votes for two lines that lie in a zone, the quicker nearer the middle.
func zoneVote(k, d float64) int {
	return either(kernel.Compare(k, 20) < 0 && kernel.Compare(d, 20) < 0 && percent(k, d) > 0,
		kernel.Compare(k, 80) > 0 && kernel.Compare(d, 80) > 0 && percent(k, d) < 0)
}

// ciphers has Cipher B, which joins several oscillators.
var ciphers = []Indicator{
	{Name: "cipher_b", Title: "Cipher B", Also: "cipher cb market_cipher_b vumanchu vumanchu_cipher_b", Category: Momentum, Traits: Beyond,
		Doc: "WaveTrend, RSI, stochastic RSI and money flow in one panel, after VuManChu's Cipher B, with Wilder's RSI. Buy and sell are crosses of WaveTrend in its zones, the small ones outside them; " +
			"in strict mode RSI and stochastic must agree. Divergences compare tops and bottoms of WT2 and are marked on the bar that confirms them, two bars after the turn; " +
			"gold_buy is a strong one out of deep oversold. rsi_oversold and rsi_overbought mark RSI leaving 30 upwards and 60 downwards.",
		Formula: "WT as in wavetrend with a signal of 3; money flow = SMA(150 * (close - open) / (high - low), 60) - 2.5; stochastic of RSI(ln close, 14) over 14, smoothed 3 and 3",
		Params: []Param{
			choice("dot_mode", "strict wants RSI and stochastic to agree with a cross, classic does not", "strict", "classic"),
			bars("wt_channel_length", 9, "WaveTrend: average of the price", "channel"), bars("wt_average_length", 12, "WaveTrend: average of the index", "average"),
			quiet(factor("wt_oversold", -53, -200, 0, "lower level of WaveTrend", "oversold")), quiet(factor("wt_overbought", 53, 0, 200, "upper level of WaveTrend", "overbought")),
			toggle("show_divergences", true, "draw the lines of strong divergences of WaveTrend"), toggle("show_hidden", false, "mark hidden divergences of WaveTrend too"),
			toggle("show_rsi_divergences", false, "mark divergences of RSI too"), toggle("show_stoch_divergences", false, "mark divergences of the stochastic too"),
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
		// beyond reports whether the turn is extreme enough; a hidden divergence always is.
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
