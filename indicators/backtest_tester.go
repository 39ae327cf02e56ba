package indicators

import (
	"math"
	"slices"

	"wick/indicators/shape"
	"wick/market"
)

// terms are what a test trades under. Percentages are fractions here. They are fixed
// for a whole test.
type terms struct {
	way                 float64 // 1 long, -1 short
	size, fee, slippage float64
	stop, target, split float64
	begin               int64 // unix seconds; 0 for the first bar shown
	hold                int   // bars; 0 for no limit
}

// termsOf reads the terms from the parameters, which give percentages.
func termsOf(a Args) terms {
	part := func(name string) float64 { return a.Float(name) / 100 }
	t := terms{1, part("size"), part("fee"), part("slippage"), part("stop_loss"), part("take_profit"), a.Float("split"), int64(a.Float("from")), a.Int("hold")}
	if a.Choice("side") == "short" {
		t.way = -1
	}
	return t
}

// deal is a trade that was entered and left.
type deal struct {
	in     int     // bar of the entry
	out    int     // bar of the exit
	gain   float64 // in the money that the test has, which begins with 1, fees taken off
	profit float64 // the gain as a part of the value at entry
}

// tester trades a rule on bars, as the paper broker would have filled its orders.
type tester struct {
	s           *market.Series
	terms       terms
	enter, exit []int8 // where the conditions turn; exit is nil if none was given

	// The state of one run: from sets it up, step moves it on by a bar.
	first    int // the bar it begins with
	cash     float64
	held     float64 // quantity, negative when short
	entry    float64 // price
	entered  int     // bar
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
		// The first bar at or after the date.
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
		case t.held == 0 && t.enter[i-1] == 1 && !exits:
			t.open(i)
		case t.held != 0 && (exits || over):
			t.leave(i, t.market(s.Open[i], -t.terms.way), shape.Exit)
		}
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
	return t.exit == nil && t.terms.target == 0 && t.terms.hold == 0
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
	// The fee comes on top of the value, so at a size of 100 a long position leaves the
	// cash below zero by it until it is closed.
	value := t.cash * t.terms.size
	t.held, t.entry, t.entered = t.terms.way*value/price, price, i
	t.paid = value * t.terms.fee
	// A short sale holds a negative quantity, so its proceeds are added here.
	t.cash -= t.held*price + t.paid
	t.mark(i, shape.Enter)
}

// leave ends the position at a price. Stop, target and exit all end here.
func (t *tester) leave(i int, price float64, label string) {
	fee := math.Abs(t.held*price) * t.terms.fee
	gain := t.held*(price-t.entry) - fee - t.paid
	t.cash += t.held*price - fee
	t.deals = append(t.deals, deal{t.entered, i, gain, gain / math.Abs(t.held*t.entry)})
	t.held = 0
	t.mark(i, label)
}

// guard leaves where bar i reaches the stop or the target. A bar that opens
// beyond one of them fills at its open; the bar of the entry does so if the slippage took
// the entry further from the open than the stop is from the entry. Within a bar nobody knows which of the
// two came first, so the stop did. The stop becomes an order at the market; the
// target is a limit, which the market meets without slippage.
func (t *tester) guard(i int) {
	way, b := t.terms.way, t.s.Bar(i)
	// Seen from the position: a short loses at the high.
	worst, best := b.Low, b.High
	if way < 0 {
		worst, best = b.High, b.Low
	}
	// beyond reports whether price lies at level or past it, in the direction of
	// profit.
	beyond := func(price, level float64) bool { return way*(price-level) >= 0 }
	stop, target := t.entry*(1-way*t.terms.stop), t.entry*(1+way*t.terms.target)
	hasStop, hasTarget := t.terms.stop > 0, t.terms.target > 0
	switch {
	case hasStop && beyond(stop, b.Open):
		t.leave(i, t.market(b.Open, -way), shape.StopLoss)
	case hasTarget && beyond(b.Open, target):
		t.leave(i, b.Open, shape.TakeProfit)
	case hasStop && beyond(stop, worst):
		t.leave(i, t.market(stop, -way), shape.StopLoss)
	case hasTarget && beyond(best, target):
		t.leave(i, target, shape.TakeProfit)
	}
}

// mark notes a fill, to be drawn on the line of the profit.
func (t *tester) mark(i int, label string) {
	// A fill that buys has the tone Up: the entry of a long trade, the exit of a short
	// one.
	tone := Down
	if (label == shape.Enter) == (t.terms.way > 0) {
		tone = Up
	}
	t.marks = append(t.marks, shape.Mark(i, 0, label, tone))
}

// result draws the profit and the drawdown in percent.
func (t *tester) result() *Result {
	// All three are clones of worth, so that they have NaN before the first bar.
	profit, drawdown, zero := slices.Clone(t.worth), slices.Clone(t.worth), slices.Clone(t.worth)
	// The drawdown is measured from the highest worth so far, which is 1 before the
	// first trade.
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
		Signals: t.marks,
	}
}
