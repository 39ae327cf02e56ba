package book

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"wick/internal/exact"
)

// Tally sums closed trades up, by the month in which they ended, by symbol or by tag. It is given
// them one by one, the last first, and keeps the sums alone.
type Tally struct {
	by     string
	zone   *time.Location
	days   []DayMark // of the account, if the report is of all its trades
	groups map[[2]string]*Group
	sums   map[string]*Group // by currency
}

// ReportBy lists what a report can be by.
var ReportBy = []string{"month", "symbol", "tag"}

// Group is one line of a report. Sums are in the currency. What is not defined is null, and Why says
// why; beside each average stands of how many trades it is.
type Group struct {
	Group    string `json:"group"` // such as 2026-11, a symbol or a tag; empty for trades without a tag, and for all
	Currency string `json:"currency"`
	Trades   int    `json:"trades"`
	Wins     int    `json:"wins"`
	Losses   int    `json:"losses"`             // what made exactly nothing is neither
	LeftOut  int    `json:"left_out,omitempty"` // trades whose profit is not known

	Profit       exact.Money    `json:"profit"` // less fees
	Fees         *exact.Money   `json:"fees"`
	WinRate      *exact.Decimal `json:"win_rate"`
	AverageWin   *exact.Decimal `json:"average_win"`
	AverageLoss  *exact.Decimal `json:"average_loss"`
	ProfitFactor *exact.Decimal `json:"profit_factor"`
	Expectancy   *exact.Decimal `json:"expectancy"`
	R            Average        `json:"r"`
	Drawdown     struct {
		Closed exact.Money  `json:"closed"` // of what closed trades have made, one after the other
		Marked *exact.Money `json:"marked"` // of the account as it was first valued on each day
	} `json:"drawdown"`

	// In money, of those trades whose prices were seen.
	Heat      Average `json:"heat_of_winners"` // how far winners were behind
	Favour    Average `json:"favor_of_losers"` // how far losers were ahead
	GivenBack Average `json:"given_back"`

	Why map[string]string `json:"why,omitempty"`

	won, lost exact.Money
	lowest    exact.Money // of what the trades so far make, one after the other, at most zero
	unknown   bool        // the fees of a trade are not known
}

// Average is a mean over trades.
type Average struct {
	Trades  int            `json:"trades"`
	Average *exact.Decimal `json:"average"`        // null without trades
	Most    *exact.Decimal `json:"most,omitempty"` // the largest of them

	sum, most exact.Money
}

// add takes one more number.
func (a *Average) add(x exact.Money) {
	if a.Trades == 0 || Minus(x, a.most).Sign() > 0 {
		a.most = x
	}
	a.Trades++
	a.sum = plus(a.sum, x)
}

// finish works the mean out.
func (a *Average) finish() {
	if a.Trades > 0 {
		a.Average, a.Most = mean(a.sum, a.Trades), mean(a.most, 1)
	}
}

// mean returns a sum divided by a number of trades, rounded half to even.
func mean(sum exact.Money, trades int) *exact.Decimal {
	if trades == 0 {
		return nil
	}
	d, ok := sum.Per(exact.Decimal(trades) * exact.One)
	if !ok {
		return nil
	}
	return &d
}

// NewTally returns an empty report. Days are the marks of the account, oldest first; nil if it is
// not about all its trades.
func NewTally(by string, zone *time.Location, days []DayMark) *Tally {
	return &Tally{by: by, zone: zone, days: days, groups: make(map[[2]string]*Group), sums: make(map[string]*Group)}
}

// Add takes a closed trade that ended before all those that were added.
func (r *Tally) Add(t *Trade, currency string) {
	name := t.Symbol
	switch r.by {
	case "month":
		name = t.ClosedAt.In(r.zone).Format("2006-01")
	case "tag":
		name = t.Tag
	}
	key := [2]string{name, currency}
	if r.groups[key] == nil {
		r.groups[key] = &Group{Group: name, Currency: currency}
	}
	if r.sums[currency] == nil {
		r.sums[currency] = &Group{Currency: currency}
	}
	r.groups[key].add(t)
	r.sums[currency].add(t)
}

// add takes a trade into the sums.
func (g *Group) add(t *Trade) {
	if t.Gone != 0 {
		g.LeftOut++
		return
	}
	g.Trades++
	g.Profit, g.unknown = plus(g.Profit, t.Profit), g.unknown || t.Account != ""
	fees := t.Fees
	if g.Fees != nil {
		fees = plus(*g.Fees, fees)
	}
	g.Fees = &fees
	// The lowest that the trades from this one on come to, beside where it begins.
	if g.lowest = plus(g.lowest, t.Profit); g.lowest.Sign() > 0 {
		g.lowest = exact.Money{}
	}
	if plus(g.Drawdown.Closed, g.lowest).Sign() < 0 {
		g.Drawdown.Closed = g.lowest.Neg()
	}
	if x, _ := t.multiple(); x != nil {
		g.R.add(x.Money())
	}
	back, seen := Minus(t.Best, t.Profit), !t.Range.Unseen
	if seen {
		g.GivenBack.add(back)
	}
	switch t.Profit.Sign() {
	case 1:
		g.Wins++
		g.won = plus(g.won, t.Profit)
		if seen {
			g.Heat.add(t.Worst.Neg())
		}
	case -1:
		g.Losses++
		g.lost = Minus(g.lost, t.Profit)
		if seen {
			g.Favour.add(t.Best)
		}
	}
}

// Done returns the lines of the report, months with the newest first, and one for all trades of each
// currency.
func (r *Tally) Done() (groups, all []*Group) {
	groups, all = slices.Collect(maps.Values(r.groups)), slices.Collect(maps.Values(r.sums))
	slices.SortFunc(groups, func(a, b *Group) int {
		if r.by == "month" {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Currency, b.Currency))
	})
	slices.SortFunc(all, func(a, b *Group) int { return cmp.Compare(a.Currency, b.Currency) })
	for _, g := range groups {
		g.finish()
		if r.by != "month" {
			g.Why["drawdown.marked"] = "the account is valued as a whole, not by " + r.by
		} else {
			g.mark(r.days, g.Group)
		}
	}
	for _, g := range all {
		g.finish()
		g.mark(r.days, "")
	}
	return groups, all
}

// finish works out what follows from the sums.
func (g *Group) finish() {
	g.Why = make(map[string]string)
	g.WinRate, g.Expectancy = mean((exact.Decimal(g.Wins)*exact.One).Money(), g.Trades), mean(g.Profit, g.Trades)
	g.AverageWin, g.AverageLoss = mean(g.won, g.Wins), mean(g.lost, g.Losses)
	if lost := mean(g.lost, 1); lost != nil && *lost != 0 {
		if factor, ok := g.won.Per(*lost); ok {
			g.ProfitFactor = &factor
		}
	}
	if g.unknown {
		g.Fees = nil
	}
	for _, a := range []*Average{&g.R, &g.Heat, &g.Favour, &g.GivenBack} {
		a.finish()
	}
	const none, unseen = "no trade has a profit that is known", "there is no such trade whose prices were seen"
	for _, why := range []struct {
		name    string
		missing bool
		says    string
	}{
		{"win_rate", g.WinRate == nil, none}, {"expectancy", g.Expectancy == nil, none}, {"fees", g.Fees == nil, none}, {"fees", g.unknown, whyNoFees},
		{"average_win", g.AverageWin == nil, "no trade has won"}, {"average_loss", g.AverageLoss == nil, "no trade has lost"},
		{"profit_factor", g.ProfitFactor == nil, "no trade has lost, so there is nothing to divide by"},
		{"r.average", g.R.Average == nil, "no trade has a first risk"}, {"heat_of_winners.average", g.Heat.Average == nil, unseen},
		{"favor_of_losers.average", g.Favour.Average == nil, unseen}, {"given_back.average", g.GivenBack.Average == nil, unseen},
	} {
		if why.missing {
			g.Why[why.name] = why.says
		}
	}
}

// mark works out by how much the account fell from one day's first look to a later one's, within a
// month in UTC, or in all.
func (g *Group) mark(days []DayMark, month string) {
	n, peak, most := 0, exact.Money{}, exact.Money{}
	for _, d := range days {
		if d.Date[:min(len(d.Date), len(month))] != month {
			continue
		}
		d = d.With(days[len(days)-1].Cash)
		if n++; n == 1 || Minus(d.Equity, peak).Sign() > 0 {
			peak = d.Equity
		}
		if fell := Minus(peak, d.Equity); Minus(fell, most).Sign() > 0 {
			most = fell
		}
	}
	if n > 1 {
		g.Drawdown.Marked = &most
	} else {
		g.Why["drawdown.marked"] = "it needs a paper account that was valued on two days, and a report of all its trades"
	}
}
