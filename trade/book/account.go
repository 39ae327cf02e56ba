package book

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"wick/internal/exact"
)

// AccountRules describe the account that orders are paid from. Without Cash
// there is none, and orders are bounded by the other limits alone.
type AccountRules struct {
	Cash     exact.Decimal // what it was opened with
	Currency string        // of the cash, as sources write it: GBp, pence, is not GBP; empty means USD
	Short    bool          // positions below zero are allowed
	Leverage exact.Decimal // positions may be worth this many times the equity; zero means 1
	// Stablecoins says that USDT and USDC are counted as USD.
	Stablecoins bool
}

// WithDefaults fills in what was left out.
func (a AccountRules) WithDefaults() AccountRules {
	a.Currency = cmp.Or(a.Currency, "USD")
	a.Leverage = cmp.Or(a.Leverage, exact.One)
	return a
}

// counts reports whether money in a currency is added to the account's sums. So is that
// of an empty currency, which neither the source nor the symbol names. Nothing is
// converted: what is priced in another currency is left out of all sums.
func (a AccountRules) counts(currency string) bool {
	stable := a.Stablecoins && a.Currency == "USD" && (currency == "USDT" || currency == "USDC")
	return currency == "" || currency == a.Currency || stable
}

// note returns the remark of a reply that says which currencies were added up, and which
// positions have no price.
func (a AccountRules) note(unpriced []string) string {
	note := fmt.Sprintf("only what is priced in %s is counted", a.Currency)
	if a.Stablecoins && a.Currency == "USD" {
		note = "USDT and USDC are counted as USD"
	}
	if len(unpriced) > 0 {
		note += fmt.Sprintf("; %s: no price is known now, and what depends on one is null until it is", strings.Join(unpriced, ", "))
	}
	return note
}

// ledger holds the sums over all positions of an account.
type ledger struct {
	DayMark              // as it would be now, without a date
	cash     exact.Money // what was paid in, less what was paid for positions, fees included
	exposure exact.Money // what all positions are worth, longs and shorts added up
	whole    bool        // every position has a price, and no sum has left the range
	excluded []string    // symbols in other currencies
	unpriced []string    // symbols of positions without a price
}

// ledger adds up the positions of s at the newest prices.
func (b *Book) ledger() ledger {
	account := b.Rules.Account
	l := ledger{DayMark: DayMark{Cash: account.Cash}, cash: account.Cash.Money(), whole: true}
	add := func(to *exact.Money, x exact.Money) {
		sum, ok := to.Add(x)
		*to, l.whole = sum, l.whole && ok
	}
	var worth exact.Money
	for _, symbol := range sorted(b.Holdings) {
		h := b.Holdings[symbol]
		if !account.counts(b.Currency(symbol)) {
			l.excluded = append(l.excluded, symbol)
			continue
		}
		// Cash changes by what was realized, and by what the open position cost.
		add(&l.cash, h.Realized)
		add(&l.cash, h.Cost.Neg())
		add(&l.Realized, h.Realized)
		add(&l.Fees, h.Fees)
		// An open position without a price has no known worth, so the sums are not
		// whole.
		mark := b.price(symbol)
		if mark <= 0 && h.Quantity != 0 {
			l.whole, l.unpriced = false, append(l.unpriced, symbol)
		}
		l.Synthetic = l.Synthetic || h.Synthetic || h.Quantity != 0 && b.Markets.Of(symbol).Synthetic
		add(&worth, exact.Product(h.Quantity, mark))
		add(&l.exposure, exact.Product(h.Quantity.Abs(), mark))
	}
	l.Equity = l.cash
	add(&l.Equity, worth)
	return l
}

// power returns the buying power that is left: equity times leverage, less the
// exposure. An equity below zero counts as zero. It reports false if the buying power
// is not known: a price is missing, or a sum is out of range.
func (b *Book) power(l ledger) (exact.Decimal, bool) {
	equity, ok1 := l.Equity.Per(exact.One)
	exposure, ok2 := l.exposure.Per(exact.One)
	most, fits := max(equity, 0).Times(b.Rules.Account.Leverage, exact.Down)
	if !fits { // as much as exposure can be counted
		most = math.MaxInt64
	}
	left, ok3 := most.Add(-exposure)
	return left, ok1 && ok2 && ok3 && l.whole
}

// without returns the symbols of positions without a price, and those that are missing
// one for another reason.
func (l ledger) without(missing []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.unpriced, missing))))
}

// unknown says why the account cannot be valued; missing is as in without.
func (l ledger) unknown(missing ...string) string {
	if names := l.without(missing); len(names) > 0 {
		return "no price of " + strings.Join(names, ", ")
	}
	return "a sum out of range"
}

// reservedBut returns what the open orders of all symbols except one would add to the
// exposure if all buys or all sells of a symbol were filled, whichever adds more: fills of the
// other side would reduce what these open. Missing are the symbols for which that is not known
// because their price is missing, and their orders would turn a position around, or one that
// follows the price would open or add to one. Symbols in other currencies do not count.
func (b *Book) reservedBut(but string) (sum exact.Decimal, missing []string) {
	for symbol := range b.Open {
		if symbol == but || !b.Rules.Account.counts(b.Currency(symbol)) {
			continue
		}
		most, byPrice := b.reserves(symbol, nil)
		sum = together(sum, most)
		if byPrice && b.price(symbol) <= 0 {
			missing = append(missing, symbol)
		}
	}
	return sum, missing
}

// reserves returns what the open orders of a symbol add, and whether that depends on its price.
// Beside is as in counted.
func (b *Book) reserves(symbol string, beside *Order) (most exact.Decimal, byPrice bool) {
	held := b.Holdings[symbol].Quantity
	for _, side := range []Side{Buy, Sell} {
		size, value, follows := b.openValue(symbol, side, beside)
		most = max(most, b.grows(symbol, size, value))
		byPrice = byPrice || !Shrinks(held, size) && (follows || Reducible(held, size) != 0)
	}
	return most, byPrice
}

// tooMuch is more than any account has, and stands for sums that leave the range.
const tooMuch exact.Decimal = 1 << 62

// sum is what openValue has added up beside no other order, as long as it follows no price.
type sum struct {
	known       bool
	size, value exact.Decimal
}

// openValue returns the signed quantity of the open orders of one side, and their value, each at
// the highest price that it is likely to be filled at, and whether one of them follows the price
// of now. Only orders that count beside another one, which may be nil, are added up. A value that
// leaves the range stays at tooMuch, which no account can pay.
//
// A new order asks for the sums of all symbols, so they are kept until an order of the symbol changes.
func (b *Book) openValue(symbol string, side Side, beside *Order) (size, value exact.Decimal, follows bool) {
	key := sideOf{symbol, side}
	if kept := b.sums[key]; kept.known && beside == nil {
		return kept.size, kept.value, false
	}
	keep := beside == nil
	for _, o := range b.counted(symbol, side, beside) {
		highest := b.likely(o.Order)
		if o.mate != nil {
			highest = max(highest, b.likely(o.mate))
			keep = keep && !o.mate.follows()
		}
		sum, fits := size.Add(o.Remaining())
		if size = sum; !fits {
			size = side.Sign(math.MaxInt64) // nothing fits beside that
		}
		value = together(value, worth(o.Remaining(), highest))
		follows = follows || o.follows()
	}
	if keep && !follows {
		b.sums[key] = sum{true, size, value}
	}
	return size, value, follows
}

// follows reports whether the price that o is likely to be filled at is that of the market.
func (o *Order) follows() bool { return o.Type == Market || o.Type == TrailingStop }

// likely returns the highest price that an open order is likely to be filled at: that of its
// limit or stop, and for a trailing stop, which follows the market, at least the price of now.
func (b *Book) likely(o *Order) exact.Decimal {
	switch o.Type {
	case TrailingStop:
		return max(b.stop(o), b.price(o.Symbol))
	case Market:
		return b.slip(o, Quote{Price: b.price(o.Symbol)})
	}
	return o.Worst()
}

// worth returns what a signed quantity is worth at a price, rounded up; tooMuch if
// that is out of range.
func worth(size, price exact.Decimal) exact.Decimal {
	value, ok := size.Abs().Times(price, exact.Up)
	if !ok {
		return tooMuch
	}
	return min(value, tooMuch)
}

// together returns x + y, at most tooMuch.
func together(x, y exact.Decimal) exact.Decimal {
	if z, ok := x.Add(y); ok {
		return min(z, tooMuch)
	}
	return tooMuch
}

// grows returns how much buying power fills of the signed size and the value need,
// fees included. Fills that only reduce the position of the symbol need none; fills that
// add to it need their value; fills that turn it around need what the new position is
// worth beyond the old one, which they close.
func (b *Book) grows(symbol string, size, value exact.Decimal) exact.Decimal {
	held := b.Holdings[symbol].Quantity
	if size == 0 || Shrinks(held, size) {
		return 0
	}
	need, freed := value, exact.Decimal(0)
	if held != 0 && (held > 0) != (size > 0) {
		// What the rest of the fills is worth once the old position is closed, and what
		// closing it frees.
		need, _ = exact.Product(value, size.Abs()-held.Abs()).PerUp(size.Abs()) // a part of value, so in range
		freed, _ = held.Abs().Times(max(b.price(symbol), 0), exact.Down)
	}
	if need <= freed {
		return 0
	}
	fee, _ := value.Times(b.Rules.FeeRate, exact.Up) // the rate is below one, so it is in range
	return together(need-freed, fee)
}

// spending is what an account is to pay for: a quantity of an order at a price, beside the
// open orders of its side, of which beside is the signed quantity and worth the value.
type spending struct{ quantity, price, beside, worth exact.Decimal }

// needs returns how much buying power is needed for x, of which quantity is for o.
func (b *Book) needs(o *Order, x spending) exact.Decimal {
	return b.grows(o.Symbol, x.beside+o.Side.Sign(x.quantity), together(worth(x.quantity, x.price), x.worth))
}

// affords returns the largest quantity of o, in whole lots, for which x needs no more buying
// power than there is.
func (b *Book) affords(o *Order, x spending, power, lot exact.Decimal) exact.Decimal {
	lot = max(lot, 1)
	// The first number of lots that needs too much: more quantity never needs less.
	over := sort.Search(int(x.quantity/lot), func(lots int) bool {
		x.quantity = exact.Decimal(lots+1) * lot
		return b.needs(o, x) > power
	})
	return exact.Decimal(over) * lot
}

// checkAccount refuses o if the account cannot pay for x. Reserved is what the open orders of
// other symbols need, and missing names those for which that is not known.
func (b *Book) checkAccount(o *Order, x spending, reserved exact.Decimal, missing ...string) error {
	account := b.Rules.Account
	if account.Cash == 0 {
		return nil
	}
	held, size := b.Holdings[o.Symbol].Quantity, x.beside+o.Side.Sign(x.quantity)
	if currency := b.Currency(o.Symbol); !account.counts(currency) {
		if Shrinks(held, size) { // a position that is older than the account can be closed
			return nil
		}
		return Refuse("currency", "the account is in %s, and %s is priced in %s: only a position that is held can be closed", account.Currency, o.Symbol, currency)
	}
	lot := b.Grid(o.Symbol).Lot
	if after, _ := held.Add(size); after < 0 && size < 0 && !account.Short {
		others, counted, advice := min(0, x.beside), "", "nothing can be sold"
		left, _ := held.Add(others)
		left, _ = max(left, 0).Step(lot, exact.Down)
		if others != 0 {
			counted, advice = fmt.Sprintf(", of which open orders sell %s", others.Abs()), "cancel or replace one of them"
		}
		if left > 0 {
			advice = AtMost(left)
		}
		return Refuse("no_short", "the account holds %s of %s%s, and may not sell more than it has (short in --paper-file): %s", held, o.Symbol, counted, advice)
	}
	// What needs no buying power passes even if the account cannot be valued.
	need := b.needs(o, x)
	l := b.ledger()
	left, ok := b.power(l)
	left -= reserved
	switch {
	case need == 0:
		return nil
	case !ok || len(missing) > 0:
		return Refuse("no_price", "what the account is worth is not known: %s", l.unknown(missing...))
	case need > left:
		needs := need.String()
		if need == tooMuch {
			needs = "more than " + needs
		}
		return Refuse("buying_power", "the order, with the open ones of its side and fees, needs %s and %s %s can be spent; %s", needs, max(left, 0), account.Currency, AtMost(b.affords(o, x, left, lot)))
	}
	return nil
}
