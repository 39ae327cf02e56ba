package indicators

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"wick/indicators/kernel"
	"wick/market"
)

// backtests has the backtest of a rule.
var backtests = []Indicator{
	// The test trades as the paper broker fills orders: a decision is made at the close of a
	// bar and filled at the next open, so that no decision uses what was not known yet. It
	// begins with a capital of 1, at the first bar shown or at a date.
	{Name: "backtest", Title: "Backtest", Also: "back_test strategy strategy_tester", Category: Rules,
		Doc: "What trading a rule would have brought: enters when one condition becomes true and leaves when another does, each at the next bar's open, " +
			"with fees and slippage, on the bars that are asked for (bars, up to 5000). The panel shows the profit and the drawdown in percent; the summary has trades, hit rate, profit factor, expectancy with its interval, drawdown, Sharpe and buy and hold, and with trades each trade.",
		Formula: "a bar decides at its close, the next one's open fills; stop before target within a bar",
		Params: []Param{
			instead(condition("enter", "ema(10) > ema(30)", "when to enter, in the language that list_indicators names [rule] teaches", "entry", "when", "buy", "open"), "enter_at"),
			{Name: "exit", Aliases: []string{"leave", "close", "sell"}, Doc: "when to leave; omitted: when enter is no longer true or, with a target, a trailing stop or hold, only by those and the stop", Kind: Expression, Condition: true},
			choice("side", "which way", "long", "short"), inPercent(factor("stop_loss", 0, 0, 100, "percent of the entry price; 0 is none", "stop", "sl")),
			inPercent(factor("take_profit", 0, 0, 1000, "percent of the entry price; 0 is none", "target", "tp")),
			quiet(factor("stop_atr", 0, 0, 100, "in place of stop_loss: average true ranges (14) of the bar that decides; 0 is none")),
			quiet(factor("target_atr", 0, 0, 1000, "in place of take_profit: average true ranges (14); 0 is none")),
			inPercent(factor("trail", 0, 0, 100, "trailing stop, percent of the best price since the entry; 0 is none", "trailing")),
			quiet(factor("trail_atr", 0, 0, 100, "in place of trail: average true ranges (14); 0 is none")),
			quiet(factorInt("hold", 0, 0, MaxLength, "leaves at the open so many bars after the entry's; 0 is no limit")),
			inPercent(factor("size", 100, 1, 100, "percent of the capital in each trade")),
			inPercent(factor("fee", 0.1, 0, 5, "percent of each fill's value")),
			inPercent(factor("slippage", 0.05, 0, 5, "percent by which fills at the market are worse")),
			beginning("from", "when it begins", "the first bar shown", "start"),
			beginning("enter_at", "enters at the first open at or after this, in place of enter or beside it", "none"),
			quiet(factor("split", 0, 0, 0.95, "reports the part before this fraction of the bars and the rest apart; 0 is no split")),
			quiet(toggle("trades", false, "lists each trade with times, prices, reason and profit, the newest first, a hundred at a time")),
			quiet(factorInt("skip", 0, 0, market.MaxLimit, "with trades: how many of the newest to skip")),
		},
		Events: []Event{{labels: []string{Enter, Exit, StopLoss, TakeProfit}, unset: neverLeaves}},
		Check:  checkExits,
		Memory: Memory{
			seconds: func(a Args, iv market.Interval) int64 {
				if !termsOf(a).ranges() {
					return expressionHistory(a, iv)
				}
				return max(expressionHistory(a, iv), kernel.WilderMemory*rangeLength*iv.Seconds())
			},
			since: func(a Args) int64 { return int64(a.Float("from")) },
		},
		Draw: func(in Input) *Result {
			// The conditions are evaluated once over all bars; only the trading depends on where it begins.
			v := in.evaluator(in.Series)
			t := tester{s: in.Series, terms: termsOf(in.Args)}
			if enter := in.exprs["enter"]; enter != nil {
				t.enter, _ = turns(v.Values(enter[0]))
			}
			if t.terms.ranges() {
				t.ranges = kernel.ATR(in.Series, rangeLength)
			}
			if exit := in.exprs["exit"]; exit != nil {
				t.exit, _ = turns(v.Values(exit[0]))
			}
			r := t.from(0).result()
			// Tail calls this for the test that begins with the first bar that a chart shows.
			r.From = func(bar int) *Result {
				from := t.from(bar)
				r := from.result()
				r.Facts = from.facts()
				return r
			}
			return r
		}},
}

// neverLeaves says what keeps a test from leaving in one of the ways.
func neverLeaves(r Request, label string) string {
	t := termsOf(r.Args)
	switch {
	case label == StopLoss && !t.stop.given() && !t.trail.given():
		return "stop_loss to more than 0"
	case label == TakeProfit && !t.target.given():
		return "take_profit to more than 0"
	case label == Exit && r.Args.exprs["exit"] == nil && t.ends() && t.hold == 0:
		return "exit to a condition, or hold to a number of bars"
	}
	return ""
}

// rangeLength is the length of the average true range by which exits are measured, as those
// of orders are.
const rangeLength = 14

// terms are what a test trades under. Percentages are fractions here. They are fixed
// for a whole test. A distance of 0 is none.
type terms struct {
	way                        float64 // 1 long, -1 short
	size, fee, slippage, split float64
	stop, target, trail        distance
	begin, enterAt             int64 // unix seconds; 0 for the first bar shown, and for no entry at a date
	hold                       int   // bars; 0 for no limit
	list                       bool  // the trades, after so many of the newest
	skip                       int
}

// distance is how far from a price something lies: a part of it, or a number of the average true
// ranges of the bar that decides; none if both are 0.
type distance struct{ part, ranges float64 }

func (d distance) given() bool { return d != distance{} }

// termsOf reads the terms from the parameters, which give percentages.
func termsOf(a Args) terms {
	part := func(name string) float64 { return a.Float(name) / 100 }
	away := func(percent, ranges string) distance { return distance{part(percent), a.Float(ranges)} }
	t := terms{
		way: 1, size: part("size"), fee: part("fee"), slippage: part("slippage"), split: a.Float("split"),
		stop: away("stop_loss", "stop_atr"), target: away("take_profit", "target_atr"), trail: away("trail", "trail_atr"),
		begin: int64(a.Float("from")), enterAt: int64(a.Float("enter_at")), hold: a.Int("hold"), list: a.Bool("trades"), skip: a.Int("skip"),
	}
	if a.Choice("side") == "short" {
		t.way = -1
	}
	return t
}

// ranges reports whether a distance is measured in average true ranges.
func (t terms) ranges() bool { return t.stop.ranges+t.target.ranges+t.trail.ranges > 0 }

// ends reports whether a trade that goes well ends without the rule: by a target or a
// trailing stop.
func (t terms) ends() bool { return t.target.given() || t.trail.given() }

// deal is a trade that was entered and left.
type deal struct {
	in, out     int // bars
	entry, exit float64
	reason      string
	gain        float64 // in the money that the test has, which begins with 1, fees taken off
	profit      float64 // the gain as a part of the value at entry
}

// tester trades a rule on bars, as the paper broker would have filled its orders.
type tester struct {
	s           *market.Series
	terms       terms
	enter, exit []int8    // where the conditions turn; nil if none was given
	ranges      []float64 // average true ranges; nil if no distance is measured in them

	// The state of one run: from sets it up, step moves it on by a bar.
	first    int // the bar it begins with
	cash     float64
	held     float64 // quantity, negative when short
	entry    float64 // price
	entered  int     // bar
	atr      float64 // average true range when the entry was decided
	best     float64 // price since the entry, which a trailing stop follows
	paid     float64 // fee of the entry
	deals    []deal
	worth    []float64 // at the close of each bar; NaN before the first
	inMarket []bool    // bars that ended with a position
	marks    []Signal
}

// from returns t after it has traded from a bar on. A test with a date begins there,
// also before the bar. It works on a copy, so that several runs can share the bars
// and the conditions; a date after the last bar leaves nothing to trade.
func (t tester) from(bar int) *tester {
	if t.terms.begin > 0 {
		bar, _ = slices.BinarySearch(t.s.Time, t.terms.begin)
	}
	t.first, t.cash = bar, 1
	t.worth = slices.Repeat([]float64{nan}, t.s.Len())
	t.inMarket = make([]bool, t.s.Len())
	for i := bar; i < t.s.Len(); i++ {
		t.step(i)
	}
	return &t
}

// step trades bar i: first what the bar before decided, at the open, then stop
// and target within the bar. What bar i decides is done by the next.
func (t *tester) step(i int) {
	s := t.s
	if i > t.first {
		// What the close of the bar before decided. If both conditions became true on
		// that bar nothing is entered.
		exits := t.exit != nil && t.exit[i-1] == 1 || t.untilUntrue() && t.enter[i-1] == -1
		over := t.terms.hold > 0 && i-t.entered >= t.terms.hold
		switch {
		case t.held == 0 && t.enter != nil && t.enter[i-1] == 1 && !exits:
			t.open(i)
		case t.held != 0 && exits:
			t.leave(i, t.market(s.Open[i], -t.terms.way), Exit, "exit")
		case t.held != 0 && over:
			t.leave(i, t.market(s.Open[i], -t.terms.way), Exit, "hold")
		}
	}
	if t.held == 0 && i == t.dated() {
		t.open(i)
	}
	// A position that was entered at this open is guarded within the same bar.
	if t.held != 0 {
		t.guard(i)
	}
	// Short positions are negative: their value is a debt that the cash covers.
	t.worth[i] = t.cash + t.held*s.Close[i]
	t.inMarket[i] = t.held != 0
}

// untilUntrue reports whether a trade lasts as long as enter is true: nothing else
// was said. A target or a number of bars says it; a stop alone does not, because a
// trade that goes well would never end.
func (t *tester) untilUntrue() bool {
	return t.enter != nil && t.exit == nil && !t.terms.ends() && t.terms.hold == 0
}

// dated returns the first bar that begins at or after enter_at, -1 if there is none that
// is tested, also not if bars before it may be missing.
func (t *tester) dated() int {
	at := t.terms.enterAt
	i, exactly := slices.BinarySearch(t.s.Time, at)
	if at == 0 || i < t.first || i == t.s.Len() || i == 0 && !exactly {
		return -1
	}
	return i
}

// market returns the price of a fill at the market: worse than the price by the
// slippage, for who buys (way 1) or sells (way -1).
func (t *tester) market(price, way float64) float64 {
	return price * (1 + way*t.terms.slippage)
}

// open enters at the open of bar i with a part of the capital, if there is any
// left and the price is one that can be paid.
func (t *tester) open(i int) {
	price := t.market(t.s.Open[i], t.terms.way)
	if t.cash <= 0 || price <= 0 {
		return
	}
	if t.ranges != nil {
		if t.atr = t.ranges[max(0, i-1)]; math.IsNaN(t.atr) {
			return // where its exits would be is not known
		}
	}
	// The fee comes on top of the value, so at a size of 100 a long position leaves the
	// cash below zero by it until it is closed.
	value := t.cash * t.terms.size
	t.held, t.entry, t.best, t.entered = t.terms.way*value/price, price, price, i
	t.paid = value * t.terms.fee
	t.cash -= t.held*price + t.paid
	t.mark(i, Enter)
}

// leave ends the position at a price. Stop, target and exit all end here.
func (t *tester) leave(i int, price float64, label, reason string) {
	fee := math.Abs(t.held*price) * t.terms.fee
	gain := t.held*(price-t.entry) - fee - t.paid
	t.cash += t.held*price - fee
	t.deals = append(t.deals, deal{t.entered, i, t.entry, price, reason, gain, gain / math.Abs(t.held*t.entry)})
	t.held = 0
	t.mark(i, label)
}

// guard leaves where bar i reaches the stop or the target: at its open if that is beyond one
// of them, as the bar of the entry does if the slippage took the entry further from the open
// than the stop is from the entry. Within a bar nobody knows which of the two came first, so
// the stop did. The stop becomes an order at the market; the target is a limit, which the
// market meets without slippage. A trailing stop follows the best price of a bar after the bar
// was judged by where it stood, as the paper broker's does.
func (t *tester) guard(i int) {
	way, bar := t.terms.way, t.s.Bar(i)
	// away returns the price at a distance from one, seen from the side; an endless one without a distance.
	away := func(price, side float64, d distance) float64 {
		if !d.given() {
			return math.Inf(int(side))
		}
		return price*(1+side*d.part) + side*d.ranges*t.atr
	}
	target := away(t.entry, way, t.terms.target)
	market.OpenFirst(bar.Opening(), bar, func(b market.Bar) (left bool) {
		stop, reason := away(t.entry, -way, t.terms.stop), "stop_loss"
		if trailing := away(t.best, -way, t.terms.trail); way*(trailing-stop) > 0 {
			stop, reason = trailing, "trailing_stop"
		}
		// Seen from the position: a short loses at the high.
		worst, best, worse, better := b.Low, b.High, min(stop, b.Open), max(target, b.Open)
		if way < 0 {
			worst, best, worse, better = b.High, b.Low, max(stop, b.Open), min(target, b.Open)
		}
		switch {
		case way*(stop-worst) >= 0:
			t.leave(i, t.market(worse, -way), StopLoss, reason)
		case way*(best-target) >= 0:
			t.leave(i, better, TakeProfit, "take_profit")
		default:
			if way*(best-t.best) > 0 {
				t.best = best
			}
			return false
		}
		return true
	})
}

// mark notes a fill, to be drawn on the line of the profit.
func (t *tester) mark(i int, label string) {
	// A fill that buys has the tone Up: the entry of a long trade, the exit of a short one.
	tone := Down
	if (label == Enter) == (t.terms.way > 0) {
		tone = Up
	}
	t.marks = append(t.marks, Mark(i, 0, label, tone))
}

// result draws the profit and the drawdown in percent.
func (t *tester) result() *Result {
	profit, drawdown, zero := slices.Clone(t.worth), slices.Clone(t.worth), slices.Clone(t.worth)
	peak := 1.0
	for i := t.first; i < len(profit); i++ {
		peak = max(peak, t.worth[i])
		profit[i], drawdown[i], zero[i] = 100*(t.worth[i]-1), 100*(t.worth[i]/peak-1), 0
	}
	for i := range t.marks {
		t.marks[i].Y = profit[t.marks[i].Bar]
	}
	return &Result{
		Lines:   []Line{{Label: "Profit %", Tone: Primary, Values: profit}, {Label: "Drawdown %", Tone: Down, Values: drawdown}},
		Fills:   []Fill{{Y1: zero, Y2: drawdown, Tone: Down}},
		Signals: t.marks, Told: true,
	}
}

const (
	// fewTrades are needed for a conclusion. With fewer, a worthless rule often looks good by luck.
	fewTrades = 30

	// resamples is how many samples are drawn for the interval of the expectancy.
	resamples = 1000
)

// BacktestFigures says what each figure of a backtest means. It is the one place that does:
// replies and docs/charts.md show it.
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
	return AppendValue(nil, math.Round(float64(f)*1e4)/1e4), nil
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
	if t.terms.enterAt > 0 && t.dated() < 0 {
		facts = append(facts, Fact{Name: "note", Value: fact(fmt.Sprintf("enter_at: no bar that was tested begins at %s or next after it", date(t.terms.enterAt)))})
	}
	if t.terms.list {
		facts = append(facts, Fact{Name: Trades, Value: fact(t.trades())})
	}
	if t.held != 0 {
		// The fee of the exit is not known yet.
		open := t.held*(t.s.Close[n-1]-t.entry) - t.paid
		facts = append(facts, Fact{Name: "open_since", Value: fact(t.date(t.entered))},
			Fact{Name: "open_profit_pct", Value: fact(figure(100 * open / math.Abs(t.held*t.entry)))})
	}
	// Both parts are stretches of one run, not runs of their own: a trade may be open at the split.
	switch cut := t.first + int(t.terms.split*float64(n-t.first)); {
	case cut > t.first:
		facts = append(facts, Fact{Name: "parts", Value: fact([]report{t.report(t.first, cut), t.report(cut, n)})})
	case t.terms.split > 0:
		facts = append(facts, Fact{Name: "note", Value: fact(fmt.Sprintf("no parts: the first would have less than one bar (split %s, bars %d)", number(t.terms.split), n-t.first))})
	}
	return facts
}

// Trades is the name of the fact that lists the trades of a backtest, and tradesPage is how
// many it lists at once.
const (
	Trades     = "trades"
	tradesPage = 100
)

// tradeList is a page of the trades, the newest first. A row has its cells in the order of
// the columns.
type tradeList struct {
	Columns []string `json:"columns"`
	Rows    [][6]any `json:"rows"`
	More    int      `json:"more,omitempty"` // older ones, which skip leads to
	Next    string   `json:"next,omitempty"`
}

// trades returns the page that was asked for.
func (t *tester) trades() tradeList {
	list := tradeList{Columns: []string{"entered", "left", "entry", "exit", "reason", "profit_pct"}, Rows: [][6]any{}}
	price := func(p float64) json.RawMessage { return AppendValue(nil, p) }
	left := max(0, len(t.deals)-t.terms.skip)
	for ; left > 0 && len(list.Rows) < tradesPage; left-- {
		d := t.deals[left-1]
		list.Rows = append(list.Rows, [6]any{t.date(d.in), t.date(d.out), price(d.entry), price(d.exit), d.reason, figure(100 * d.profit)})
	}
	if list.More = left; left > 0 {
		list.Next = fmt.Sprintf("skip %d", t.terms.skip+len(list.Rows))
	}
	return list
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
	if hold := t.terms.hold; hold > 0 {
		by = append(by, fmt.Sprintf("after %d bar%s", hold, strings.Repeat("s", min(1, hold-1))))
	}
	for _, way := range []struct {
		distance
		words string
	}{{t.terms.stop, "at the stop"}, {t.terms.trail, "at the trailing stop"}, {t.terms.target, "at the target"}} {
		if way.given() {
			by = append(by, way.words)
		}
	}
	return strings.Join(by, ", ")
}

// report returns the figures of the bars from from up to, but not including, until. Of
// the trades it counts those that were entered and left in the stretch: the result of one
// that was left later was not known at its end, and that of one that was entered earlier
// is partly the result of the bars before.
func (t *tester) report(from, until int) report {
	r := report{From: t.date(from), To: t.date(until - 1)}
	r.trades(slices.DeleteFunc(slices.Clone(t.deals), func(d deal) bool { return d.in < from || d.out >= until }))
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
		// The bars of the market in a year: those of the stretch divided by the time that they
		// take, including nights and weekends.
		const year = 365.25 * 24 * 60 * 60
		seconds := t.s.Interval.Next(t.s.Time[until-1]) - t.s.Time[from]
		r.ratios(t.worth[from:until], before, year*float64(until-from)/float64(seconds))
	}
	// Buying and holding is a trade with the whole capital that is still open: it has paid
	// the slippage of its entry and, on top of its value, one fee.
	buy := t.market(t.s.Open[from], 1)
	r.Hold = figure(100 * (t.s.Close[until-1]/buy - 1 - t.terms.fee))
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

// date writes when bar i began.
func (t *tester) date(i int) string { return date(t.s.Time[i]) }

// checkExits returns an error if the target of a short trade lies at zero or below, and if
// a distance is given in percent and in true ranges.
func checkExits(a Args) error {
	for _, pair := range [][2]string{{"stop_loss", "stop_atr"}, {"take_profit", "target_atr"}, {"trail", "trail_atr"}} {
		if a.Float(pair[0]) > 0 && a.Float(pair[1]) > 0 {
			return fmt.Errorf("%s and %s of backtest: give one of them", pair[0], pair[1])
		}
	}
	if target := a.Float("take_profit"); a.Choice("side") == "short" && target >= 100 {
		return fmt.Errorf("take_profit of backtest is %s and side is short: no price falls by 100 percent, give less than 100", number(target))
	}
	return nil
}
