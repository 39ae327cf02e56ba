package indicators

import (
	"slices"

	"wick/market"
)

var indRankCorrelation = Indicator{
	Name: "rank_correlation", Title: "RCI", Aliases: []string{"rci", "rank_correlation_index"}, Category: Momentum,
	Doc:     "Rank correlation index: Spearman's correlation of price and time in percent, 100 when every bar closed higher. Equal prices share the mean of their ranks.",
	Formula: "RCI = 100 * (1 - 6 Σd² / (n (n² - 1))), d = rank of the price - rank of the bar",
	Params:  slices.Concat([]Param{lengthFrom(2, 10)}, zone(-80, 80, -100, 100), []Param{source()}),
	Signals: []string{Oversold, Overbought},
	Warmup:  func(a Args) int { return a.Int("length") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		r := zoned("RCI", rankCorrelation(column(s, a), a.Int("length")), a, Oversold, Overbought)
		r.YRange = &[2]float64{-100, 100}
		return r
	},
}

// rankCorrelation returns Spearman's correlation of the last n values with
// their order, times 100. All sums are whole numbers, so nothing drifts.
//
// It keeps twice the sum of rank times bar. A value that comes or goes moves
// the rank of each larger one by 1 and of each equal one by a half.
func rankCorrelation(x []float64, n int) []float64 { return inPieces(x, n, rankCorrelations) }

func rankCorrelations(x []float64, n int) []float64 {
	out := unknown(len(x), n-1)
	r := newRanks(x)
	size := 0                    // values in the window
	var product, ties, all int   // Σ 2*rank*bar; Σ (g³-g) over groups of equals; Σ bars
	step := func(i, times int) { // puts bar i in or takes it out
		if times < 0 {
			r.add(i, -1)
			size--
			all -= i
		}
		less, lessBars := r.upTo(r.place[i] - 1)
		upTo, upToBars := r.upTo(r.place[i])
		equal, equalBars := upTo-less, upToBars-lessBars
		rank2 := 2*less + equal + 2
		product += times * (2*(all-upToBars) + equalBars + rank2*i)
		ties += times * 3 * equal * (equal + 1)
		if times > 0 {
			r.add(i, 1)
			size++
			all += i
		}
	}
	for i := range x {
		if size == n {
			step(i-n, -1)
		}
		step(i, 1)
		if size == n {
			out[i] = spearman(product, ties, n, i)
		}
	}
	return out
}

// spearman turns the sums of rankCorrelation over n bars up to last into the
// coefficient. Bars are counted from the start of the data: product loses what
// that adds, which is the number of the bar before the window for every rank.
func spearman(product, ties, n, last int) float64 {
	m := float64(n)
	squares := m * (m + 1) * (2*m + 1) / 6
	ranked := float64(product)/2 - float64(last-n)*m*(m+1)/2
	distance := squares - float64(ties)/12 + squares - 2*ranked
	return 100 * (1 - 6*distance/(m*(m*m-1)))
}
