package book

import (
	"cmp"
	"slices"
	"time"

	"wick/internal/exact"
)

// Account is what a paper account comes to, as a client sees it; there is one if
// [AccountRules] has Cash. Of an account at a broker elsewhere [Remote] has what the broker
// says. Sums are in its currency. Those that need a price which is not known are nil.
type Account struct {
	Currency    string         `json:"currency"`
	Cash        exact.Money    `json:"cash"`
	Equity      *exact.Money   `json:"equity"` // cash and what positions are worth
	BuyingPower *exact.Decimal `json:"buying_power"`
	Reserved    *exact.Decimal `json:"reserved"` // by open orders
	Exposure    *exact.Money   `json:"exposure"` // what positions are worth, longs and shorts added up

	Realized   exact.Money  `json:"realized_pnl"` // fees taken off
	Unrealized *exact.Money `json:"unrealized_pnl"`
	Fees       exact.Money  `json:"fees"`
	Total      *exact.Money `json:"total_pnl"`
	Day        *exact.Money `json:"day_pnl"`  // since the account was first valued today, in UTC
	Drawdown   *exact.Money `json:"drawdown"` // how far equity is below its highest value at the beginning of a day, or below what was paid in

	// Every stop that waits against a position counts, whoever placed it, for what the nearer
	// ones leave it to close, see [Order.Closes]; of a group one. A stop that a halt of paper holds,
	// whose time is over, or whose limit would keep it from being filled, does not; nor one that a
	// broker may not have, or the exit of an entry of which the broker has not filled all.
	Risk        *exact.Money `json:"risk_to_stops"` // the loss from the newest prices on if every stop is filled at its price
	Unprotected *exact.Money `json:"unprotected"`   // what the parts of positions are worth that no stop closes

	BySymbol []SymbolResult `json:"by_symbol"`
	ByDay    []DayResult    `json:"by_day"`             // the newest first
	Excluded []string       `json:"excluded,omitempty"` // symbols in other currencies, which are not in the sums
	Complete bool           `json:"complete"`           // false if a position, or an order that reserves by the price, has none, or a sum is out of range; Note names the symbols
	// Synthetic says that a position is valued at an invented price, or that one was bought
	// or sold at such a price.
	Synthetic bool   `json:"synthetic,omitempty"`
	Note      string `json:"note"`
}

// SymbolResult is what one symbol has made.
type SymbolResult struct {
	Symbol     string       `json:"symbol"`
	Realized   exact.Money  `json:"realized_pnl"`
	Unrealized *exact.Money `json:"unrealized_pnl"` // nil if the position has no price
	Fees       exact.Money  `json:"fees"`
}

// DayResult is what one day, in UTC, has made. Of the last one Profit and Equity are nil
// while the account cannot be valued.
type DayResult struct {
	Date     string       `json:"date"`
	Profit   *exact.Money `json:"pnl"` // what the equity changed by
	Realized exact.Money  `json:"realized_pnl"`
	Fees     exact.Money  `json:"fees"`
	Equity   *exact.Money `json:"equity"` // at its end, or now
}

// DayMark is the account as it was first valued on a day, in UTC.
type DayMark struct {
	Date     string      `json:"date"`
	Equity   exact.Money `json:"equity"`
	Realized exact.Money `json:"realized"`
	Fees     exact.Money `json:"fees"`
	// Cash is what was paid in by then.
	Cash exact.Decimal `json:"cash,omitempty"`
	// Synthetic says that an invented price is in the sums.
	Synthetic bool `json:"synthetic,omitempty"`
}

// With returns d as it would have been had cash been paid in then. Another amount
// of --cash is no profit and no loss, so days are compared as if all of them had
// begun with the same.
func (d DayMark) With(cash exact.Decimal) DayMark {
	if d.Cash != 0 {
		d.Equity, d.Cash = plus(d.Equity, Minus(cash.Money(), d.Cash.Money())), cash
	}
	return d
}

// plus and Minus are sums and differences of amounts whose parts were added up before without
// leaving the range.
func plus(x, y exact.Money) exact.Money { z, _ := x.Add(y); return z }

func Minus(x, y exact.Money) exact.Money { z, _ := x.Sub(y); return z }

const (
	maxDays   = 400 // day marks that are kept: a little more than a year
	shownDays = 31  // days that an account lists
)

// NoteDay proposes a mark of the account when it is valued for the first time on a day.
func (b *Book) NoteDay(at Time) error {
	date := at.UTC().Format(time.DateOnly)
	if n := len(b.Days); b.Rules.Account.Cash == 0 || n > 0 && b.Days[n-1].Date >= date {
		return nil
	}
	l := b.ledger()
	if !l.whole {
		return nil // a price is missing: tidy tries again
	}
	l.Date = date
	return b.Propose(KindDay, &Event{At: at, Day: &l.DayMark})
}

// Statement returns what the account comes to; nil if there is none.
func (b *Book) Statement(at Time) *Account {
	options := b.Rules.Account
	if options.Cash == 0 {
		return nil
	}
	l := b.ledger()
	reserved, missing := b.reservedBut("")
	left, ok := b.power(l)
	a := &Account{
		Currency: options.Currency, Cash: l.cash, Realized: l.Realized, Fees: l.Fees, BySymbol: []SymbolResult{}, Excluded: l.excluded,
		Complete: ok && len(missing) == 0, Synthetic: l.Synthetic, Note: options.note(l.without(missing)),
	}
	if len(missing) == 0 {
		a.Reserved = &reserved
	}
	if a.Complete {
		left = max(left-reserved, 0)
		a.BuyingPower = &left
	}
	var risk, unprotected exact.Money
	for _, symbol := range sorted(b.Holdings) {
		if !options.counts(b.Currency(symbol)) {
			continue
		}
		h, mark := b.Holdings[symbol], b.price(symbol)
		r := SymbolResult{Symbol: symbol, Realized: h.Realized, Fees: h.Fees}
		if mark > 0 || h.Quantity == 0 {
			unrealized := Minus(exact.Product(h.Quantity, mark), h.Cost)
			r.Unrealized = &unrealized
		}
		a.BySymbol = append(a.BySymbol, r)
		lost, open := b.atRisk(symbol, h.Quantity, mark, at)
		risk, unprotected = plus(risk, lost), plus(unprotected, open)
	}
	a.addDays(b.Days, l, at)
	if !l.whole {
		return a
	}
	// The total profit is the equity less what was paid in. The part of it that is not
	// realized is unrealized.
	total := Minus(l.Equity, options.Cash.Money())
	unrealized := Minus(total, l.Realized)
	a.Equity, a.Exposure, a.Total, a.Unrealized = &l.Equity, &l.exposure, &total, &unrealized
	a.Risk, a.Unprotected = &risk, &unprotected
	return a
}

// atRisk returns what would be lost if the stops of a symbol, of which so much is held and mark is the
// price, were filled, and what the part that none of them closes is worth: both are zero without a price.
func (b *Book) atRisk(symbol string, held, mark exact.Decimal, at Time) (risk, unprotected exact.Money) {
	if mark == 0 {
		return risk, unprotected
	}
	// A stop that the market is beyond, as after a halt, gets the price of the market: nothing more is lost.
	left := b.stopsOut(slices.Clone(b.Open[symbol]), held, func(o *Order, left exact.Decimal) exact.Decimal {
		if !b.guards(o, left, at) {
			return 0
		}
		setOff, _ := stopPrice(o.Side, b.stop(o), span{start: mark})
		return setOff
	}, func(o *Order, closes, setOff exact.Decimal) {
		if lost := exact.Product(-o.Side.Sign(closes), mark-setOff); lost.Sign() > 0 {
			risk = plus(risk, lost)
		}
	})
	return risk, exact.Product(left.Abs(), mark)
}

// guards reports whether o, an open stop, would be set off now if its price came, with so much of the
// position left: the trading state does not hold it, its time is not over, and a broker elsewhere is
// known to have it, has activated it and has not suspended it.
func (b *Book) guards(o *Order, left exact.Decimal, at Time) bool {
	return !b.held(o, left) && !o.Expired(at.UnixMilli()) && !o.Unknown() && !o.Has(Suspended) && !b.inactive(o)
}

// inactive reports whether o is an exit at a broker elsewhere, which activates it once all of its entry
// is filled. The broker's word for it does not tell: at Alpaca the stop beside a limit stays held.
func (b *Book) inactive(o *Order) bool {
	entry := b.Order(o.Group)
	return o.Account != "" && o.exits() && entry != nil && entry.Status != StatusFilled
}

// stopsOut calls each for those of orders whose stops close some of a position, in the order in which
// a market that moves against it reaches them, with how much each closes and where it is set off;
// price returns that, or zero if the order does not count. Of a group only the first counts, with
// which the others end, and a stop_limit only if its limit lets it be filled there. It returns what
// is left of the position, and uses the memory of orders.
func (b *Book) stopsOut(orders []*Order, left exact.Decimal, price func(o *Order, left exact.Decimal) exact.Decimal, each func(o *Order, closes, at exact.Decimal)) exact.Decimal {
	stops := slices.DeleteFunc(orders, func(o *Order) bool { return !o.Waits() || o.Closes(left) == 0 })
	slices.SortStableFunc(stops, func(x, y *Order) int {
		first := cmp.Compare(b.stop(y), b.stop(x))
		if left < 0 { // for a short position the lowest comes first
			first = -first
		}
		return cmp.Or(first, cmp.Compare(x.Turn, y.Turn))
	})
	ended := make(map[string]bool)
	for _, o := range stops {
		closes, at := o.Closes(left), price(o, left)
		if closes == 0 || at == 0 || ended[o.Group] || o.Type == StopLimit && !b.offers(o, Quote{Price: at}) {
			continue
		}
		if o.Role != "" {
			ended[o.Group] = true
		}
		each(o, closes, at)
		left += o.Side.Sign(closes)
	}
	return left
}

// addDays adds the profit of each day, which is the difference of two marks; the last day
// goes on until now, and what it made is not known while the account cannot be valued.
func (a *Account) addDays(days []DayMark, l ledger, at Time) {
	// From now backwards: the end of a day is the mark of the next one.
	end, cash, peak := l.DayMark, l.Cash, l.Cash.Money()
	a.ByDay = []DayResult{}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i].With(cash)
		if len(a.ByDay) < shownDays {
			profit, equity := Minus(end.Equity, d.Equity), end.Equity
			a.ByDay = append(a.ByDay, DayResult{d.Date, &profit, Minus(end.Realized, d.Realized), Minus(end.Fees, d.Fees), &equity})
		}
		if Minus(d.Equity, peak).Sign() > 0 {
			peak = d.Equity // at the beginning of the day
		}
		end = d
	}
	if !l.whole {
		if len(a.ByDay) > 0 {
			a.ByDay[0].Profit, a.ByDay[0].Equity = nil, nil
		}
		return
	}
	a.Day, a.Drawdown = new(exact.Money), new(exact.Money)
	if len(a.ByDay) > 0 && a.ByDay[0].Date == at.UTC().Format(time.DateOnly) {
		a.Day = a.ByDay[0].Profit
	}
	if below := Minus(peak, l.Equity); below.Sign() > 0 {
		*a.Drawdown = below
	}
}

// Restrict makes ev, the trading state that the owner asks for, what it is with the daily loss and
// with what is known of the broker: the hardest restriction that applies wins. Once the account
// has reached the limit of the daily loss, trading stays reducing for the rest of the day, in UTC,
// whatever the prices do, also after a restart. Something else that restricts trading keeps that
// day, perhaps noted only now: once that is over, the loss counts. A halt keeps the day of an
// earlier loss as well, which means nothing any more, so that midnight is no change that the owner
// is told of.
func (b *Book) Restrict(ev *Event) {
	lost, today, most := "", ev.At.UTC().Format(time.DateOnly), b.Rules.Limits.DailyLoss
	if most != 0 {
		if loss, known := b.loss(today); b.Tripped == today || known && Minus(loss, most.Money()).Sign() >= 0 {
			lost = today
		}
	}
	byLoss := &Who{Name: "--max-daily-loss"}
	if ev.Trading == Active && lost != "" {
		ev.Trading, ev.Tripped, ev.By = Reducing, lost, byLoss
	}
	by := ""
	switch r := &b.Remote; {
	case ev.Trading == Halted || r.Name == "":
	case !r.Judged:
		// Every start is like this for a moment, in which no order passes. The state that
		// was written down last stays, so that the owner is told only of real changes.
		ev.Trading, ev.Tripped = b.Trading, b.Tripped
	case r.Closed != "":
		ev.Trading, by = Halted, "the broker is not reconciled"
	case len(r.Differs()) > 0:
		ev.Trading, by = Reducing, "the broker's positions differ"
	case len(r.Late) > 0:
		ev.Trading, by = Reducing, "the broker has an order that this book had given up"
	}
	if by != "" {
		ev.Tripped, ev.By = "", &Who{Name: by}
	}
	if ev.Tripped != "" || ev.Trading == Active {
		return
	}
	switch ev.Tripped = lost; {
	case lost == "" && ev.Trading == Halted:
		ev.Tripped = b.Tripped
	case lost != b.Tripped && ev.Trading == b.Trading:
		ev.By = byLoss // the loss is all that is new
	}
}

// Trip takes the step by which the daily loss restricts trading, if the account has reached its
// limit by now and nothing restricts trading yet. It is called for every order that the loss may
// stand against, at the price that this one is judged by, so that none comes before the look that
// is taken every second.
func (b *Book) Trip(at Time) error {
	if b.Rules.Limits.DailyLoss == 0 || b.Trading != Active {
		return nil
	}
	ev := &Event{At: at, Trading: Active}
	if b.Restrict(ev); ev.Tripped == "" {
		return nil
	}
	return b.Propose(KindTrading, ev)
}

// loss returns what the account has lost since the first look at it on a day, or what the
// broker says if that is more, and false if neither is known: there was no look, or a price is
// missing.
func (b *Book) loss(date string) (loss exact.Money, known bool) {
	if n := len(b.Days); n > 0 && b.Days[n-1].Date == date {
		l := b.ledger()
		loss, known = Minus(b.Days[n-1].With(b.Rules.Account.Cash).Equity, l.Equity), l.whole
	}
	if there, also := b.Remote.lost(); also && (!known || Minus(there.Money(), loss).Sign() > 0) {
		return there.Money(), true
	}
	return loss, known
}

// Profit is what a position, a day or the account has made.
type Profit struct {
	exact.Decimal
	Synthetic bool // an invented price is in it
}

// Has reports whether a profit meets a profit condition.
func (c Condition) Has(p Profit) bool {
	if c.Type == ProfitAbove {
		return p.Decimal >= c.Threshold
	}
	return p.Decimal <= c.Threshold
}

// CanProfit refuses a profit that this account will never know.
func (b *Book) CanProfit(of Scope) error {
	if of == OfDay && b.Rules.Account.Cash == 0 && b.Remote.Name == "" {
		return Refuse("no_account", "what a day has made is known only of an account with cash: the operator gives one with --cash")
	}
	return nil
}

// Profit returns what there is of a scope, as get_positions says it, and false if it is not known
// now: nothing is held, a price is missing, or the day was not looked at yet.
func (b *Book) Profit(of Scope, symbol string, at Time) (p Profit, known bool) {
	var made exact.Money
	switch of {
	case OfPosition:
		h, mark := b.Holdings[symbol], b.price(symbol)
		known = h.Quantity != 0 && mark > 0
		made, p.Synthetic = Minus(exact.Product(h.Quantity, mark), h.Cost), b.Markets.Of(symbol).Synthetic
	case OfDay:
		var lost exact.Money
		lost, known = b.loss(at.UTC().Format(time.DateOnly))
		made, p.Synthetic = lost.Neg(), b.ledger().Synthetic
	default:
		l := b.ledger()
		made, known, p.Synthetic = Minus(l.Equity, l.Cash.Money()), l.whole, l.Synthetic
	}
	var fits bool
	p.Decimal, fits = made.Per(exact.One)
	return p, known && fits
}

// lossNow says what the account has lost by now on a day.
func (b *Book) lossNow(date string) string {
	switch loss, known := b.loss(date); {
	case !known:
		return "what it has lost by now is not known"
	case loss.Sign() <= 0:
		return "has made up for it since"
	default:
		return "has lost " + loss.String() + " by now"
	}
}
