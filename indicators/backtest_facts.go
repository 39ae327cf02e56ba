package indicators

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"wick/indicators/shape"
)

const (
	// fewTrades is how many trades are needed for a conclusion. With fewer, a worthless
	// rule often looks good by luck.
	fewTrades = 30

	// resamples is how many samples of the trades are drawn for the interval of the
	// expectancy.
	resamples = 1000
)

// BacktestFigures says what each figure of a backtest means. It is the one place that does:
// replies and docs/rules.md show it.
var BacktestFigures = map[string]string{
	"trades":             "trades that were entered and left",
	"hit_rate_pct":       "share of the trades that brought a profit, fees and slippage taken off",
	"profit_factor":      "all profits of the trades divided by all their losses, in money; null without a loss",
	"expectancy_pct":     "mean profit of a trade, in percent of its value at entry",
	"expectancy_95_pct":  "where the mean lies in 95 of 100 samples drawn from the trades",
	"profit_pct":         "change of the capital; a trade that is still open counts at the last close",
	"buy_and_hold_pct":   "change of the capital had it bought at the first open and held",
	"max_drawdown_pct":   "deepest fall of the capital from its highest close before, in percent of that",
	"time_in_market_pct": "exposure: share of the bars that ended with a position",
	"sharpe":             "mean profit of a bar divided by the deviation of all bars, times the root of the bars in a year, without interest; null once all is lost",
	"sortino":            "as sharpe, divided by the root of the mean square of the losses, to which bars without a loss count as 0",
}

// report holds the figures of a stretch of a backtest. Profit and drawdown are in percent
// of the worth at the beginning of the stretch, the figures of trades in percent of the
// value at entry. A figure that does not exist, such as a hit rate without trades, is null.
type report struct {
	From         string    `json:"from"` // start of the first bar
	To           string    `json:"to"`   // start of the last
	Verdict      string    `json:"verdict,omitempty"`
	Trades       int       `json:"trades"` // that ended
	HitRate      figure    `json:"hit_rate_pct"`
	ProfitFactor figure    `json:"profit_factor"`     // all profits by all losses in money, null without a loss
	Expectancy   figure    `json:"expectancy_pct"`    // mean profit of a trade
	Interval     [2]figure `json:"expectancy_95_pct"` // where that lies in 95 of 100 samples of the trades
	Profit       figure    `json:"profit_pct"`
	Hold         figure    `json:"buy_and_hold_pct"`
	Drawdown     figure    `json:"max_drawdown_pct"`
	Peak         string    `json:"max_drawdown_from,omitempty"`
	Trough       string    `json:"max_drawdown_to,omitempty"`
	InMarket     figure    `json:"time_in_market_pct"`
	Sharpe       figure    `json:"sharpe"`
	Sortino      figure    `json:"sortino"`
}

// figure is a number that is written with four decimals, and as null if it is not finite.
type figure float64

// MarshalJSON writes four decimals at most.
func (f figure) MarshalJSON() ([]byte, error) {
	return shape.AppendValue(nil, math.Round(float64(f)*1e4)/1e4), nil
}

// facts returns the facts of the whole test and, with a split, of its two parts. Where there
// is nothing to tell of, the fact "note" says why.
func (t *tester) facts() []Fact {
	n := len(t.worth)
	if n == 0 {
		return nil
	}
	if t.first >= n {
		return []Fact{{Name: "note", Value: fact(fmt.Sprintf("nothing was tested: from is %s, and the newest bar began at %s", date(t.terms.begin), t.date(n-1)))}}
	}
	facts := []Fact{
		{Name: "result", Value: fact(t.report(t.first, n))},
		{Name: "fee_pct", Value: fact(figure(100 * t.terms.fee))},
		{Name: "slippage_pct", Value: fact(figure(100 * t.terms.slippage))},
		{Name: "leaves", Value: fact(t.leaves())},
		{Name: "how", Value: fact(t.how())},
	}
	if t.held != 0 {
		// The fee of the exit is not known yet.
		open := t.held*(t.s.Close[n-1]-t.entry) - t.paid
		facts = append(facts, Fact{Name: "open_since", Value: fact(t.date(t.entered))},
			Fact{Name: "open_profit_pct", Value: fact(figure(100 * open / math.Abs(t.held*t.entry)))})
	}
	// Both parts are stretches of one run, not runs of their own: a trade may be open at the
	// split.
	switch cut := t.first + int(t.terms.split*float64(n-t.first)); {
	case cut > t.first:
		facts = append(facts, Fact{Name: "parts", Value: fact([]report{t.report(t.first, cut), t.report(cut, n)})})
	case t.terms.split > 0:
		facts = append(facts, Fact{Name: "note", Value: fact(fmt.Sprintf("no parts: the first would have less than one bar (split %s, bars %d)", number(t.terms.split), n-t.first))})
	}
	return facts
}

// how returns in words how trades were filled and figures computed.
func (t *tester) how() string {
	text := "decided at a bar's close, filled at the next open, fees and slippage taken off; "
	if t.exit != nil {
		text += "where enter and exit become true on one bar, nothing is entered; "
	}
	if t.terms.split > 0 {
		text += "a trade that is open at the split counts among the trades of neither part; "
	}
	return text + "list_indicators names [backtest] says what each figure means"
}

// leaves returns what ends a trade, in words: the exit, the number of bars, the stop,
// the target. A reader of the summary should not have to know the defaults.
func (t *tester) leaves() string {
	var by []string
	if t.exit != nil {
		by = append(by, "when exit becomes true")
	} else if t.untilUntrue() {
		by = append(by, "when enter is no longer true")
	}
	switch hold := t.terms.hold; {
	case hold == 1:
		by = append(by, "after 1 bar")
	case hold > 1:
		by = append(by, fmt.Sprintf("after %d bars", hold))
	}
	if t.terms.stop > 0 {
		by = append(by, "at the stop")
	}
	if t.terms.target > 0 {
		by = append(by, "at the target")
	}
	return strings.Join(by, ", ")
}

// report returns the figures of the bars from from up to, but not including, until. Of
// the trades it counts those that were entered and left in the stretch: the result of one
// that was left later was not known at its end, and that of one that was entered earlier
// is partly the result of the bars before.
func (t *tester) report(from, until int) report {
	r := report{From: t.date(from), To: t.date(until - 1)}
	var deals []deal
	for _, d := range t.deals {
		if d.in >= from && d.out < until {
			deals = append(deals, d)
		}
	}
	r.trades(deals)
	before := 1.0 // worth when the stretch began
	if from > t.first {
		before = t.worth[from-1]
	}
	// In proportion to nothing, or to less, nothing can be told.
	r.Profit, r.Drawdown, r.Sharpe, r.Sortino = figure(nan), figure(nan), figure(nan), figure(nan)
	if before > 0 {
		// An open trade counts here at the last close, though not among the trades.
		r.Profit = figure(100 * (t.worth[until-1]/before - 1))
		t.drawdown(&r, before, from, until)
		r.ratios(t.worth[from:until], before, t.barsPerYear(from, until))
	}
	// Buying and holding is a trade with the whole capital that is still open: it has paid
	// the slippage of its entry and, on top of its value, one fee.
	buy := t.market(t.s.Open[from], 1)
	r.Hold = figure(100 * (t.s.Close[until-1]/buy - 1 - t.terms.fee))
	// The share of bars that ended with a position.
	held := 0
	for _, in := range t.inMarket[from:until] {
		if in {
			held++
		}
	}
	r.InMarket = figure(100 * float64(held) / float64(until-from))
	return r
}

// trades fills in what the trades say. The profit factor is of money, as usual, so that it
// is above 1 exactly if they brought something; the other figures count every trade alike,
// whatever the capital was then.
func (r *report) trades(deals []deal) {
	r.Trades = len(deals)
	if r.Trades < fewTrades {
		r.Verdict = fmt.Sprintf("%d trades: too few to conclude", r.Trades)
	}
	var won, gains, losses, sum float64
	profits := make([]float64, 0, len(deals))
	for _, d := range deals {
		if d.gain > 0 {
			won++
			gains += d.gain
		} else {
			losses -= d.gain
		}
		sum += d.profit
		profits = append(profits, d.profit)
	}
	// Without trades these are 0/0, which is NaN and written as null. Without a loss the
	// factor is infinite, and null too.
	n := float64(len(deals))
	r.HitRate, r.Expectancy = figure(100*won/n), figure(100*sum/n)
	r.ProfitFactor = figure(gains / losses)
	r.Interval = bootstrap(profits)
}

// bootstrap returns the interval that contains the mean of 95 of 100 samples. A sample has
// as many trades as there are, drawn from them with repetition. The generator always starts
// from the same state, so the same trades give the same interval.
func bootstrap(profits []float64) [2]figure {
	n := len(profits)
	if n == 0 {
		return [2]figure{figure(nan), figure(nan)}
	}
	// SplitMix64: a draw costs a nanosecond, and there may be a million of them.
	state := uint64(n)
	draw := func() uint64 {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		// The upper half of the product is a number below n, as even as 64 bits allow,
		// without a division.
		i, _ := bits.Mul64(z^z>>31, uint64(n))
		return i
	}
	means := make([]float64, resamples)
	for i := range means {
		// One sample: as many trades as there were, each drawn from all of them.
		sum := 0.0
		for range n {
			sum += profits[draw()]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	// The 26th and the 975th of 1,000 sorted means leave 25 on either side.
	return [2]figure{figure(100 * means[resamples*25/1000]), figure(100 * means[resamples*975/1000-1])}
}

// drawdown fills in the deepest fall from a peak, and when it began and ended.
func (t *tester) drawdown(r *report, before float64, from, until int) {
	peak, since := before, from
	deepest := 0.0
	for i := from; i < until; i++ {
		// A peak before the stretch does not count, except the worth it began with.
		if t.worth[i] > peak {
			peak, since = t.worth[i], i
		}
		if fall := t.worth[i]/peak - 1; fall < deepest {
			deepest = fall
			r.Peak, r.Trough = t.date(since), t.date(i)
		}
	}
	r.Drawdown = figure(100 * deepest)
}

// ratios fills in the mean profit of a bar by its deviation, and by that of the
// losses alone, both for a year of bars. It leaves them as they are if all was lost, on the
// last bar too: what the bars after that bring is in proportion to nothing or less.
func (r *report) ratios(worth []float64, before, perYear float64) {
	profits := make([]float64, 0, len(worth)) // of each bar in proportion to the worth before it
	var sum, squares, falls float64
	for _, w := range worth {
		if w <= 0 {
			return
		}
		p := w/before - 1
		before = w
		profits = append(profits, p)
		sum += p
		falls += min(p, 0) * min(p, 0)
	}
	n := float64(len(worth))
	mean := sum / n
	for _, p := range profits {
		squares += (p - mean) * (p - mean)
	}
	deviation := math.Sqrt(squares / n)
	// Over a year a mean grows with the number of bars and a deviation with its root. If
	// nothing varies, the quotients are not finite, and written as null.
	r.Sharpe = figure(mean / deviation * math.Sqrt(perYear))
	r.Sortino = figure(mean / math.Sqrt(falls/n) * math.Sqrt(perYear))
}

// barsPerYear returns how many bars of the market a year has: those of the stretch divided
// by the time that they take, including nights and weekends.
func (t *tester) barsPerYear(from, until int) float64 {
	const year = 365.25 * 24 * 60 * 60
	seconds := t.s.Interval.Next(t.s.Time[until-1]) - t.s.Time[from]
	return year * float64(until-from) / float64(seconds)
}

// date writes when bar i began.
func (t *tester) date(i int) string { return date(t.s.Time[i]) }
