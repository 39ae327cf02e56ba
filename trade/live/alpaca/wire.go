package alpaca

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
	"wick/trade/live"
)

// number is a decimal as Alpaca writes it: a string, a JSON number or null, with any
// number of decimals. Those beyond our eight are cut off, and of a number that is too
// large for ours nothing is left.
type number struct {
	exact.Decimal
	given bool // there was a number that we can keep, if not all its decimals
	cut   bool // digits other than zero were cut off
}

// huge reports whether there was a number that is too large for ours.
func (n number) huge() bool { return n.cut && !n.given }

// UnmarshalJSON reads a number; null and "" are none.
func (n *number) UnmarshalJSON(text []byte) error {
	*n = number{}
	if bytes.Equal(text, []byte("null")) || bytes.Equal(text, []byte(`""`)) {
		return nil
	}
	s := strings.Trim(string(text), `"`)
	// Alpaca may send more decimals than our numbers have. Prices may be cut, but callers
	// refuse a quantity that was.
	const places = 8
	if whole, part, ok := strings.Cut(s, "."); ok && len(part) > places && !strings.ContainsAny(part, "eE") {
		n.cut = strings.Trim(part[places:], "0") != ""
		if strings.Trim(part[places:], "0123456789") != "" {
			return fmt.Errorf("bad number %q", limit.Clip(s))
		}
		s = whole + "." + part[:places]
	}
	d, err := exact.Parse([]byte(s))
	if size, bad := strconv.ParseFloat(s, 64); err != nil && bad == nil && math.Abs(size) > 92e9 && !math.IsInf(size, 0) {
		n.cut = true
		return nil
	}
	n.Decimal, n.given = d, err == nil
	return err
}

// text writes a number for Alpaca; zero is left out.
func text(d exact.Decimal) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// orderRequest is the body of POST /v2/orders. Numbers travel as text, exactly as our
// own book has them.
type orderRequest struct {
	Symbol        string `json:"symbol"`
	Qty           string `json:"qty"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	TimeInForce   string `json:"time_in_force"`
	LimitPrice    string `json:"limit_price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	TrailPrice    string `json:"trail_price,omitempty"`
	TrailPercent  string `json:"trail_percent,omitempty"`
	ClientOrderID string `json:"client_order_id"`
	OrderClass    string `json:"order_class,omitempty"`
	TakeProfit    *exit  `json:"take_profit,omitempty"`
	StopLoss      *exit  `json:"stop_loss,omitempty"`
}

// exit is the exit with a profit, a limit order, or with a loss, a stop order or with a
// limit a stop-limit order.
type exit struct {
	StopPrice  string `json:"stop_price,omitempty"`
	LimitPrice string `json:"limit_price,omitempty"`
}

// replaceRequest is the body of PATCH /v2/orders/{id}.
type replaceRequest struct {
	Qty           string `json:"qty,omitempty"`
	TimeInForce   string `json:"time_in_force,omitempty"`
	LimitPrice    string `json:"limit_price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	Trail         string `json:"trail,omitempty"`
	ClientOrderID string `json:"client_order_id"`
}

// order is an order in an answer of Alpaca, as far as we read it. Nothing in it may be
// used before state has checked it.
type order struct {
	ID             string    `json:"id"`
	ClientOrderID  string    `json:"client_order_id"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	Symbol         string    `json:"symbol"`
	OrderClass     string    `json:"order_class"`
	Type           string    `json:"type"`
	Side           string    `json:"side"`
	Status         string    `json:"status"`
	Qty            number    `json:"qty"`
	FilledQty      number    `json:"filled_qty"`
	FilledAvgPrice number    `json:"filled_avg_price"`
	LimitPrice     number    `json:"limit_price"`
	StopPrice      number    `json:"stop_price"`
	Legs           []order   `json:"legs"`
}

// maxLegs is how many legs an order may have. A bracket has two and a spread of options four,
// and those that somebody has replaced may stay among them.
const maxLegs = 100

// statuses has those of Alpaca's seventeen states that are final. All others, and any
// that are new to us, count as open: the book asks about an open order again.
var statuses = map[string]live.Status{
	"filled": live.Filled, "canceled": live.Cancelled, "expired": live.Cancelled, "replaced": live.Cancelled, "rejected": live.Rejected,
}

// state checks an order and returns it as a live.State.
func (o *order) state() (live.State, error) {
	s := live.State{
		ID: o.ID, ClientID: o.ClientOrderID, Symbol: limit.Clip(o.Symbol), Side: o.Side, Type: o.Type, Status: live.Open, Word: limit.Line(o.Status, maxWord),
		Quantity: o.Qty.Decimal, Filled: o.FilledQty.Decimal, Average: o.FilledAvgPrice.Decimal, Limit: o.LimitPrice.Decimal, Stop: o.StopPrice.Decimal,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if known, ok := statuses[o.Status]; ok {
		s.Status = known
	}
	if err := o.check(s); err != nil {
		return s, err
	}
	for i := range o.Legs {
		o.Legs[i].Legs = nil // legs have none of their own
		leg, err := o.Legs[i].state()
		if err != nil {
			return s, err
		}
		s.Legs = append(s.Legs, leg)
	}
	return s, nil
}

// check returns an error if an order cannot be right; s is the same order as a
// live.State.
func (o *order) check(s live.State) error {
	switch {
	case !isID(o.ID) || o.Status == "":
		return fmt.Errorf("alpaca: an order without an id or a status: %q", limit.Clip(o.ID))
	// A quantity that was filled must be exact, and no more than was ordered. Prices of
	// others' orders may be negative.
	case s.Filled < 0 || s.Quantity < 0 || s.Filled > s.Quantity && o.Qty.given:
		return fmt.Errorf("alpaca: order %s has filled %s of %s, which cannot be", s.ID, s.Filled, s.Quantity)
	case o.FilledQty.cut:
		return fmt.Errorf("alpaca: order %s: %w", s.ID, errForeign)
	case s.Status == live.Filled && s.Filled == 0:
		return fmt.Errorf("alpaca: order %s is filled and nothing of it was", s.ID)
	case len(o.Legs) > maxLegs:
		return fmt.Errorf("alpaca: order %s has %d legs", s.ID, len(o.Legs))
	}
	return nil
}

// errForeign reports what only others' orders in the account have. Lists and the stream pass
// such an order over. It has a quantity with more than our eight decimals: Alpaca trades in
// nine, so somebody may have bought for a round sum, and what is filled of our own orders in
// all has no more than eight. Or it is too large for our numbers.
var errForeign = errors.New("a quantity beyond 92 billion or with more than eight decimals")

// maxWord is how many bytes of a status word are kept.
const maxWord = 32

// isID reports whether a text can be an id of Alpaca. Ids become parts of paths, and a
// slash or a dot could make a request go to another path.
func isID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:") == ""
}

// update is one message of the stream. What its kind, price and quantity say is in the
// order's totals too.
type update struct {
	EventID string `json:"event_id"`
	Order   order  `json:"order"`
}

// event checks a message of the stream.
func (u *update) event() (e live.Event, err error) {
	if isID(u.EventID) { // without an id the next stream cannot resume here, and the account is read instead
		e.ID = u.EventID
	}
	e.State, err = u.Order.state()
	return e, err
}

// account is GET /v2/account.
type account struct {
	AccountNumber        string `json:"account_number"`
	Status               string `json:"status"`
	Currency             string `json:"currency"`
	BuyingPower          number `json:"buying_power"`
	Cash                 number `json:"cash"`
	Equity               number `json:"equity"`
	LastEquity           number `json:"last_equity"`
	TradingBlocked       bool   `json:"trading_blocked"`
	AccountBlocked       bool   `json:"account_blocked"`
	TradeSuspendedByUser bool   `json:"trade_suspended_by_user"`
}

// account checks an account and returns it, with the reason if it may not trade. That an
// account is blocked is no error: it can still be read.
func (a *account) account() (book.BrokerAccount, error) {
	if !isID(a.AccountNumber) {
		return book.BrokerAccount{}, fmt.Errorf("alpaca: an account without a number: %q", limit.Clip(a.AccountNumber))
	}
	for _, n := range []number{a.Cash, a.Equity, a.LastEquity, a.BuyingPower} {
		if n.huge() {
			return book.BrokerAccount{}, errors.New("alpaca: a number of the account is beyond 92 billion")
		}
	}
	out := book.BrokerAccount{
		ID: a.AccountNumber, Currency: limit.Clip(a.Currency), Cash: a.Cash.Decimal, Equity: a.Equity.Decimal, LastEquity: a.LastEquity.Decimal, BuyingPower: a.BuyingPower.Decimal,
	}
	switch {
	case a.Status != "ACTIVE":
		out.Blocked = "the account is " + limit.Line(a.Status, maxWord)
	case a.TradingBlocked || a.AccountBlocked:
		out.Blocked = "Alpaca has blocked the account"
	case a.TradeSuspendedByUser:
		out.Blocked = "trading is suspended in the account's settings at Alpaca"
	}
	return out, nil
}

// position is one entry of GET /v2/positions. It may include shares that were bought
// elsewhere, by hand for example; the book knows only its own.
type position struct {
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Qty           number `json:"qty"`
	AvgEntryPrice number `json:"avg_entry_price"`
	MarketValue   number `json:"market_value"`
	UnrealizedPL  number `json:"unrealized_pl"`
}

// most stands for a quantity that is too large for our numbers. It is more than any of ours.
const most exact.Decimal = 1 << 62

// position checks a position. Alpaca writes a minus for shorts; a positive quantity with
// the side "short" counts as negative.
func (p *position) position() (book.BrokerPosition, error) {
	out := book.BrokerPosition{Symbol: limit.Clip(p.Symbol), Quantity: p.Qty.Decimal, EntryPrice: p.AvgEntryPrice.Decimal, Value: p.MarketValue.Decimal, UnrealizedPnL: p.UnrealizedPL.Decimal}
	if p.Qty.huge() {
		out.Quantity = most
	}
	if p.Side == "short" && out.Quantity > 0 {
		out.Quantity = -out.Quantity
	}
	if p.Symbol == "" || out.Quantity == 0 && !p.Qty.given {
		return out, fmt.Errorf("alpaca: a position without a symbol or a quantity: %q", out.Symbol)
	}
	return out, nil
}

// asset is GET /v2/assets/{symbol}.
type asset struct {
	Symbol       string `json:"symbol"`
	Class        string `json:"class"`
	Status       string `json:"status"`
	Tradable     bool   `json:"tradable"`
	Shortable    bool   `json:"shortable"`
	EasyToBorrow bool   `json:"easy_to_borrow"`
	Fractionable bool   `json:"fractionable"`
}

// known is what Alpaca said about a symbol, and when. It is used for assetLife.
type known struct {
	asset
	at time.Time
}
