package trade

import (
	"cmp"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

// Account is what an account comes to, as a client sees it. Sums are in its
// currency. Those that need a price which is not known are nil.
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

// noteDay proposes a mark of the account when it is valued for the first time on a day.
// Called with mu held.
func (d *desk) noteDay(at book.Time) error {
	date := at.UTC().Format(time.DateOnly)
	if n := len(d.ahead.Days); d.options.Account.Cash == 0 || n > 0 && d.ahead.Days[n-1].Date >= date {
		return nil
	}
	l := d.ledger(d.ahead)
	if !l.whole {
		return nil // a price is missing: tidy tries again
	}
	return d.propose(book.KindDay, &book.Event{At: at, Day: &book.DayMark{Date: date, Equity: l.equity, Realized: l.realized, Fees: l.fees, Cash: d.options.Account.Cash, Synthetic: l.synthetic}})
}

// Account returns what the account comes to, nil if there is none. All numbers are of the
// same moment: the state and the prices are read under mu.
func (e *Engine) Account() (a *Account, err error) {
	if e.options.Account.Cash != 0 {
		err = e.View(func(s *book.State) { a = e.account(s) })
	}
	return a, err
}

// account returns what the account comes to in s. Called with mu held.
func (d *desk) account(s *book.State) *Account {
	options := d.options.Account
	l := d.ledger(s)
	reserved, missing := d.reservedBut(s, "")
	left, ok := d.power(l)
	a := &Account{
		Currency: options.Currency, Cash: l.cash, Realized: l.realized, Fees: l.fees, BySymbol: []SymbolResult{}, Excluded: l.excluded,
		Complete: ok && len(missing) == 0, Synthetic: l.synthetic, Note: options.note(l.without(missing)),
	}
	if len(missing) == 0 {
		a.Reserved = &reserved
	}
	if a.Complete {
		left = max(left-reserved, 0)
		a.BuyingPower = &left
	}
	var risk, unprotected exact.Money
	for _, symbol := range sorted(s.Holdings) {
		if options.counts(d.currency(symbol)) {
			lost, open := d.addSymbol(a, symbol)
			risk, unprotected = book.Plus(risk, lost), book.Plus(unprotected, open)
		}
	}
	a.addDays(s.Days, l, options.Cash, now())
	if !l.whole {
		return a
	}
	// The total profit is the equity less what was paid in. The part of it that is not
	// realized is unrealized.
	total := book.Minus(l.equity, options.Cash.Money())
	unrealized := book.Minus(total, l.realized)
	a.Equity, a.Exposure, a.Total, a.Unrealized = &l.equity, &l.exposure, &total, &unrealized
	a.Risk, a.Unprotected = &risk, &unprotected
	return a
}

// addSymbol adds the profit of one symbol. It returns what would be lost if its stops were
// filled, and what the rest of the position is worth: both are zero for a position without
// a price. Called with mu held.
func (d *desk) addSymbol(a *Account, symbol string) (risk, unprotected exact.Money) {
	h, mark := d.ahead.Holdings[symbol], d.watch.price(symbol)
	r := SymbolResult{Symbol: symbol, Realized: h.Realized, Fees: h.Fees}
	if mark > 0 || h.Quantity == 0 {
		unrealized := book.Minus(exact.Product(h.Quantity, mark), h.Cost)
		r.Unrealized = &unrealized
	}
	a.BySymbol = append(a.BySymbol, r)
	// Stops close the position one after the other, but for those that the trading state
	// holds or whose time is over, and of a group only the first, with which the others end.
	// What is left after all of them is unprotected. A stop that the market is beyond, as after
	// a halt, gets the price of the market: nothing more is lost. A stop_limit counts only if its
	// limit lets it be filled where it is set off.
	left, ended := h.Quantity, make(map[string]bool)
	for _, o := range d.stops(symbol) {
		size := o.Side.Sign(o.Closes(left))
		if size == 0 || mark == 0 || ended[o.Group] || d.held(d.ahead, o, left) || o.Expired(now().UnixMilli()) {
			continue
		}
		setOff, _ := stopPrice(o.Side, d.stop(o), span{start: mark})
		if offered := d.paper.offered(o, book.Quote{Price: setOff}); o.Type == book.StopLimit && o.Within(offered) != offered {
			continue
		}
		if o.Role != "" {
			ended[o.Group] = true
		}
		left += size
		if lost := exact.Product(-size, mark-setOff); lost.Sign() > 0 {
			risk = book.Plus(risk, lost)
		}
	}
	return risk, exact.Product(left.Abs(), mark)
}

// stops returns the waiting stops of a symbol, both those that sell and those that buy,
// each in the order in which a market that moves against the position reaches them.
// Called with mu held.
func (d *desk) stops(symbol string) (stops []*book.Order) {
	for _, id := range d.ahead.Open[symbol] {
		if o := d.ahead.Order(id); o.Waits() {
			stops = append(stops, o)
		}
	}
	slices.SortStableFunc(stops, func(a, b *book.Order) int {
		if a.Side == book.Buy && b.Side == book.Buy { // for a short position the lowest comes first
			a, b = b, a
		}
		return cmp.Compare(d.stop(b), d.stop(a))
	})
	return stops
}

// addDays adds the profit of each day, which is the difference of two marks; the last day
// goes on until now, and what it made is not known while the account cannot be valued. Cash
// is the amount paid in as it is set now.
func (a *Account) addDays(days []book.DayMark, l ledger, cash exact.Decimal, at book.Time) {
	// From now backwards: the end of a day is the mark of the next one.
	end, peak := book.DayMark{Date: "", Equity: l.equity, Realized: l.realized, Fees: l.fees, Cash: cash, Synthetic: l.synthetic}, cash.Money()
	a.ByDay = []DayResult{}
	for i := len(days) - 1; i >= 0; i-- {
		d := days[i].With(cash)
		if len(a.ByDay) < book.ShownDays {
			profit, equity := book.Minus(end.Equity, d.Equity), end.Equity
			a.ByDay = append(a.ByDay, DayResult{d.Date, &profit, book.Minus(end.Realized, d.Realized), book.Minus(end.Fees, d.Fees), &equity})
		}
		if book.Minus(d.Equity, peak).Sign() > 0 {
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
	if below := book.Minus(peak, l.equity); below.Sign() > 0 {
		*a.Drawdown = below
	}
}
