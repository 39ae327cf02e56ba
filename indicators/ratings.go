package indicators

import (
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
	// Fourteen averages, each of which a close lies above or below, and the cloud.
	lines := [][]float64{kernel.HMA(s.Close, 9), volumeWeighted(s, s.Close, 20)}
	for _, n := range []int{10, 20, 30, 50, 100, 200} {
		lines = append(lines, kernel.SMA(s.Close, n), kernel.EMA(s.Close, n))
	}
	var votes []vote
	for _, line := range lines {
		votes = append(votes, vote{line, func(i int) int { return kernel.Compare(s.Close[i], line[i]) }})
	}
	// Ichimoku's lines with their usual lengths, and the cloud that was computed 26
	// bars ago.
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
	// Differences of prices may be close to zero, where only the size of the prices tells what is
	// rounding.
	compare := func(x, y float64, i int) int { return kernel.Compare(x+s.Close[i], y+s.Close[i]) }
	side := func(i int) int { return kernel.Compare(s.Close[i], trend[i]) } // of the average of 50 bars
	return []vote{
		// RSI, CCI and %R turn back while they are in a zone.
		turnsWithin(rsi, 30, 70), turnsWithin(cci, -100, 100), turnsWithin(wr, -80, -20),
		// Stochastic: both lines in a zone, %K on its way out of it.
		{d, func(i int) int { return zoneVote(k[i], d[i]) }},
		// Ultimate oscillator: beyond 70 it is a buy, since it stands for strength
		// here.
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
		// Bull and bear power: in a rise the bears are below zero and give way, in a
		// fall the bulls above it.
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
