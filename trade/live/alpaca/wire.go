package alpaca

import (
	"fmt"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
	"wick/trade/live"
)

// number is a decimal as Alpaca writes it: a string, a JSON number or null, with any
// number of decimals. Alpaca trades in nine; those beyond our eight are cut off. What is filled
// of our own orders in all has no more than eight.
type number struct {
	exact.Decimal
	given bool
}

// UnmarshalJSON reads a number; null and "" are none.
func (n *number) UnmarshalJSON(text []byte) (err error) {
	*n = number{}
	s := strings.Trim(string(text), `"`)
	if s == "null" || s == "" {
		return nil
	}
	const places = 8
	if whole, part, ok := strings.Cut(s, "."); ok && len(part) > places && strings.Trim(part, "0123456789") == "" {
		s = whole + "." + part[:places]
	}
	n.Decimal, err = exact.Parse([]byte(s))
	n.given = err == nil
	return err
}

// text writes a number for Alpaca; zero is left out.
func text(d exact.Decimal) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// orderRequest is the body of POST /v2/orders, or with fewer fields of PATCH /v2/orders/{id}.
// Numbers travel as text, exactly as our own book has them.
type orderRequest struct {
	Symbol        string `json:"symbol,omitempty"`
	Qty           string `json:"qty"`
	Side          string `json:"side,omitempty"`
	Type          string `json:"type,omitempty"`
	TimeInForce   string `json:"time_in_force"`
	LimitPrice    string `json:"limit_price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	Trail         string `json:"trail,omitempty"` // of a replacement, an amount or a percentage
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

// statuses has those of Alpaca's seventeen states that are final. All others, and any
// that are new to us, count as open: the book asks about an open order again.
var statuses = map[string]live.Status{
	"filled": live.Filled, "canceled": live.Cancelled, "expired": live.Cancelled, "replaced": live.Cancelled, "rejected": live.Rejected,
}

// state checks an order and returns it as a live.State.
func (o *order) state() (live.State, error) {
	s := live.State{
		ID: o.ID, ClientID: o.ClientOrderID, Symbol: limit.Clip(o.Symbol), Side: o.Side, Type: o.Type, Status: live.Open, Word: limit.Line(o.Status, maxWord), Suspended: o.Status == "suspended",
		Quantity: o.Qty.Decimal, Filled: o.FilledQty.Decimal, Average: o.FilledAvgPrice.Decimal, Limit: o.LimitPrice.Decimal, Stop: o.StopPrice.Decimal,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if known, ok := statuses[o.Status]; ok {
		s.Status = known
	}
	switch {
	case !isID(o.ID) || o.Status == "":
		return s, fmt.Errorf("alpaca: an order without an id or a status: %q", limit.Clip(o.ID))
	// Prices of others' orders may be negative, and those for a sum have no quantity.
	case s.Filled < 0 || s.Quantity < 0 || s.Filled > s.Quantity && o.Qty.given:
		return s, fmt.Errorf("alpaca: order %s has filled %s of %s, which cannot be", s.ID, s.Filled, s.Quantity)
	case s.Status == live.Filled && s.Filled == 0:
		return s, fmt.Errorf("alpaca: order %s is filled and nothing of it was", s.ID)
	}
	for _, leg := range o.Legs {
		l, err := leg.state()
		if err != nil {
			return s, err
		}
		s.Legs = append(s.Legs, l)
	}
	return s, nil
}

// maxWord is how many bytes of a status word are kept.
const maxWord = 32

// isID reports whether a text can be an id of Alpaca. Ids become parts of paths, and a
// slash or a dot could make a request go to another path.
func isID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:") == ""
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

// position checks a position. Alpaca writes a minus for shorts; a positive quantity with
// the side "short" counts as negative.
func (p *position) position() (book.BrokerPosition, error) {
	out := book.BrokerPosition{Symbol: limit.Clip(p.Symbol), Quantity: p.Qty.Decimal, EntryPrice: p.AvgEntryPrice.Decimal, Value: p.MarketValue.Decimal, UnrealizedPnL: p.UnrealizedPL.Decimal}
	if p.Side == "short" && out.Quantity > 0 {
		out.Quantity = -out.Quantity
	}
	if p.Symbol == "" || !p.Qty.given {
		return out, fmt.Errorf("alpaca: a position without a symbol or a quantity: %q", out.Symbol)
	}
	return out, nil
}
