package trade

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"time"

	"wick/exact"
	"wick/limit"
	"wick/market"
)

// Limits are the rails of trading. They are the operator's; no request can
// change them. A zero field means its default.
type Limits struct {
	OrderNotional    exact.Decimal // largest quantity times price of one order; 100,000
	PositionNotional exact.Decimal // largest position of one symbol; ten times OrderNotional
	OpenPerSymbol    int           // open orders of one symbol; 200
	Open             int           // open orders in all; 1,000
	OrdersPerSecond  int           // accepted orders, with a burst of twice as many; 10
	Alerts           int           // active alerts; 1,000
	Symbols          int           // watched symbols; 50
	AllowDuplicates  bool          // take equal orders within five seconds without a client_order_id
}

func (l Limits) withDefaults() Limits {
	zero := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	if l.OrderNotional == 0 {
		l.OrderNotional = 100_000 * exact.One
	}
	if l.PositionNotional == 0 {
		l.PositionNotional = 10 * l.OrderNotional
	}
	zero(&l.OpenPerSymbol, 200)
	zero(&l.Open, 1000)
	zero(&l.OrdersPerSecond, 10)
	zero(&l.Alerts, 1000)
	zero(&l.Symbols, 50)
	return l
}

// TradingState says which orders are taken. Cancels always are.
type TradingState string

// The trading states.
const (
	Active   TradingState = "active"   // all
	Reducing TradingState = "reducing" // only those that shrink a position
	Halted   TradingState = "halted"   // none
)

// Retry says whether asking again can help.
type Retry string

const (
	fixIt Retry = "fix the request" // the same request will be refused again
	later Retry = "retry later"     // the same request may pass later
	never Retry = "do not retry"    // nothing will change the answer
)

// Refusal is why a request was not carried out. Nothing was changed.
type Refusal struct {
	Code  string // stable, for programs: "max_order_notional"
	Text  string // for people and models: the limit and what would be right
	Retry Retry
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s (%s)", r.Code, r.Text, r.Retry) }

func refuse(code string, retry Retry, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...), Retry: retry}
}

var clientIDShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,48}$`)

// normalize checks what can be checked without the engine's state and settles
// the spelling of the request.
func (r *OrderRequest) normalize() error {
	symbol, err := market.ParseSymbol(r.Symbol)
	if err != nil {
		return refuse("bad_symbol", fixIt, "%v", err)
	}
	r.Symbol = symbol
	r.Side = Side(strings.ToLower(strings.TrimSpace(string(r.Side))))
	r.Type = OrderType(strings.ToLower(strings.TrimSpace(string(r.Type))))
	switch {
	case r.Side != Buy && r.Side != Sell:
		return refuse("bad_side", fixIt, "side %q: write buy or sell", limit.Clip(string(r.Side)))
	case r.Type != Market && r.Type != Limit:
		return refuse("bad_type", fixIt, "type %q: write market or limit", limit.Clip(string(r.Type)))
	case r.Quantity <= 0:
		return refuse("bad_quantity", fixIt, "quantity %s: it must be above zero", r.Quantity)
	case r.Price < 0:
		return refuse("bad_price", fixIt, "price %s: it must be above zero", r.Price)
	case r.Type == Limit && r.Price == 0:
		return refuse("price_required", fixIt, "a limit order needs a price")
	case r.Type == Market && r.Price != 0:
		return refuse("price_not_allowed", fixIt, "a market order takes no price: leave it out, or send type limit")
	case r.ClientOrderID != "" && !clientIDShape.MatchString(r.ClientOrderID):
		return refuse("bad_client_order_id", fixIt, "client_order_id %q: 1 to 48 of A-Z a-z 0-9 . _ : -", limit.Clip(r.ClientOrderID))
	}
	return nil
}

// duplicateWindow is how long an order without a client_order_id keeps an
// equal one from being taken for a second wish: models retry within seconds.
const duplicateWindow = 5 * time.Second

// collarPatient is how many times away from the price a limit may wait. On the
// other side, through the market, it may stand by half the price.
const collarPatient = 5

// check is every rail of an order in one place, in the order in which they are
// judged. fill says what the order would do at once. Called with mu held; it
// changes nothing.
func (e *Engine) check(r OrderRequest, q quote, fill execution, at Time) error {
	l, s := e.limits, e.ahead
	shrinks := r.shrinks(s.holdings[r.Symbol].Quantity)
	price := max(r.Price, fill.price)
	notional, fits := r.Quantity.Times(price, exact.Up)
	switch {
	case s.trading == Halted:
		return refuse("trading_halted", later, "the owner has halted trading (file HALT in the data directory); cancels still pass")
	case s.trading == Reducing && !shrinks:
		return refuse("trading_reducing", later, "only orders that shrink a position are taken now; this one opens or grows one")
	case !fits || notional > l.OrderNotional:
		return refuse("max_order_notional", fixIt, "the order is worth %s, over the limit of %s per order; lower the quantity to at most %s",
			worth(r.Quantity, price), l.OrderNotional, atMost(l.OrderNotional, price))
	case !fill.now && len(s.open[r.Symbol]) >= l.OpenPerSymbol:
		return refuse("max_open_orders_symbol", later, "%d orders of %s are open, which is the limit; cancel one first", l.OpenPerSymbol, r.Symbol)
	case !fill.now && s.openCount >= l.Open:
		return refuse("max_open_orders", later, "%d orders are open, which is the limit; cancel one first", l.Open)
	}
	if err := checkCollar(r, q.price); err != nil {
		return err
	}
	if err := e.checkPosition(r, price, shrinks); err != nil {
		return err
	}
	if !l.AllowDuplicates && r.ClientOrderID == "" && e.recent.has(r, at) {
		return refuse("duplicate_order", later, "an equal order was accepted less than %d seconds ago; if a second one is meant, "+
			"send it with a client_order_id of its own", int(duplicateWindow.Seconds()))
	}
	if !e.rate.allows(at) {
		return refuse("order_rate", later, "more than %d orders a second; wait a second", l.OrdersPerSecond)
	}
	return nil
}

// checkCollar refuses a limit that can only be a slip of the pen.
func checkCollar(r OrderRequest, price exact.Decimal) error {
	if r.Type != Limit {
		return nil
	}
	low, high := price/collarPatient, min(price, math.MaxInt64-price/2)+price/2
	if r.Side == Sell {
		low, high = price-price/2, min(price, math.MaxInt64/collarPatient)*collarPatient
	}
	if r.Price < low || r.Price > high {
		return refuse("price_collar", fixIt, "a %s limit of %s is too far from the price %s; %s to %s is allowed", r.Side, r.Price, price, low, high)
	}
	return nil
}

// checkPosition bounds what the position would be if this order and all open
// ones on its side were filled.
func (e *Engine) checkPosition(r OrderRequest, price exact.Decimal, shrinks bool) error {
	if shrinks {
		return nil
	}
	after, ok := e.ahead.holdings[r.Symbol].Quantity.Add(r.signed())
	for _, id := range e.ahead.open[r.Symbol] {
		if o := e.ahead.order(id); o.Side == r.Side && ok {
			after, ok = after.Add(o.remaining())
		}
	}
	if notional, fits := after.Abs().Times(price, exact.Up); !ok || !fits || notional > e.limits.PositionNotional {
		return refuse("max_position_notional", fixIt, "the position in %s, open orders included, would be worth %s, over the limit of %s; lower the quantity",
			r.Symbol, worth(after.Abs(), price), e.limits.PositionNotional)
	}
	return nil
}

func worth(quantity, price exact.Decimal) exact.Money { return exact.Product(quantity, price) }

// atMost returns the largest quantity that stays within notional at price.
func atMost(notional, price exact.Decimal) exact.Decimal {
	quantity, _ := notional.Over(price, exact.Down)
	return quantity
}

// bucket bounds a rate: it holds at most burst tokens and gains rate a second.
type bucket struct {
	rate, burst float64
	tokens      float64
	at          Time // of tokens
}

func newBucket(perSecond int, at Time) bucket {
	return bucket{float64(perSecond), 2 * float64(perSecond), 2 * float64(perSecond), at}
}

func (b *bucket) level(at Time) float64 {
	return min(b.burst, b.tokens+b.rate*b.at.age(at).Seconds())
}

func (b *bucket) allows(at Time) bool { return b.level(at) >= 1 }

func (b *bucket) take(at Time) { b.tokens, b.at = b.level(at)-1, at }

// recent remembers the orders of the last seconds that came without an id.
type recent struct {
	last map[OrderRequest]Time
}

func (d *recent) has(r OrderRequest, at Time) bool {
	r.DryRun = false
	seen, ok := d.last[r]
	return ok && seen.age(at) < duplicateWindow
}

// add remembers r and forgets what is too old to matter.
func (d *recent) add(r OrderRequest, at Time) {
	maps.DeleteFunc(d.last, func(_ OrderRequest, seen Time) bool { return seen.age(at) >= duplicateWindow })
	d.last[r] = at
}
