package book

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
)

// OrderRequest asks for an order.
type OrderRequest struct {
	Who      Who           `json:",omitzero"` // who asks; an equal order of the same client within seconds is refused
	Symbol   string        `json:",omitzero"`
	Side     Side          `json:",omitzero"`
	Type     OrderType     `json:",omitzero"`
	Quantity exact.Decimal `json:",omitzero"` // zero if one of the next four says how much
	Notional exact.Decimal `json:",omitzero"` // the value of the order in quote units
	All      bool          `json:",omitzero"` // the quantity that closes the position
	Share    exact.Decimal `json:",omitzero"` // in percent: of the position that the order closes, or of the buying power
	Risk     Stake         `json:",omitzero"` // what is lost if the StopLoss is filled
	Price    exact.Decimal `json:",omitzero"` // of limit and stop_limit orders; zero means none

	StopPrice    exact.Decimal `json:",omitzero"` // of stop and stop_limit orders
	Breakeven    bool          `json:",omitzero"` // the StopPrice is where the position comes out even
	TrailAmount  exact.Decimal `json:",omitzero"` // of trailing stops: the distance to the price of the market,
	TrailPercent exact.Decimal `json:",omitzero"` // or that distance in percent of the price
	TimeInForce  TimeInForce   `json:",omitzero"` // empty means GTC
	ExpiresAt    time.Time     `json:",omitzero"` // of GTD
	PostOnly     bool          `json:",omitzero"` // refuse it rather than fill it on arrival
	ReduceOnly   bool          `json:",omitzero"` // never open or grow a position
	MayOpen      bool          `json:",omitzero"` // it is no exit, though it is against a held position

	StopLoss, TakeProfit Exit `json:",omitzero"` // of an entry; zero means none
	OCO                  OCO  `json:",omitzero"` // a stop beside a limit; when one is filled the other ends; zero means none

	// Replaces is the order_id of an open order that is cancelled in the same step. What the request
	// leaves out stays as it is there.
	Replaces string `json:",omitzero"`

	When *When `json:",omitzero"` // the rule that the order waits for before it comes; nil for none

	// Held is the position that the person who approved the order was shown, negative for
	// a short one; if All, the part of it that the order was shown to close. If it has
	// changed since, the order is refused. Nil means that any position will do.
	Held *exact.Decimal `json:",omitzero"`

	// Approval is what a person has approved, nil if nobody had to. The order is refused if
	// it lies outside of that.
	Approval *Approval `json:",omitzero"`

	Worth exact.Money `json:",omitzero"` // what the order counts against what its client may place within an hour

	ClientOrderID string `json:",omitzero"` // may be empty
	Label                // what the trader calls it
	DryRun        bool   `json:",omitzero"` // check and say what would happen, but do nothing

	Searched int `json:",omitzero"` // the first so many generations of the index do not have the ClientOrderID

	sent string // what Asked was before the request was completed
	acts *Order // see Acts
}

// Stake is what may be lost if a stop_loss is filled, fees and slippage included: an amount, or
// percent of the equity. One field is set.
type Stake struct{ Amount, Percent exact.Decimal }

// ParseRisk reads an amount such as 250, or a percentage of the equity such as 1%.
func ParseRisk(text string) (r Stake, err error) {
	s, to := strings.ReplaceAll(text, " ", ""), &r.Amount
	if number, ok := strings.CutSuffix(s, "%"); ok {
		s, to = number, &r.Percent
	}
	if *to, err = exact.Parse([]byte(s)); err != nil || *to <= 0 || r.Percent > 100*exact.One {
		return Stake{}, Refuse("bad_risk", "%q is no risk: write an amount of money such as 250, or a percentage of the equity such as 1%%, above 0 and at most 100%%", limit.Clip(text))
	}
	return r, nil
}

// String returns r as a client writes it.
func (r Stake) String() string {
	if r.Percent != 0 {
		return r.Percent.String() + "%"
	}
	return r.Amount.String()
}

// ClientIDShape is what a client_order_id looks like. It appears in error texts and
// logs, so it has no characters that mean something there.
var ClientIDShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,48}$`)

// Normalize brings the request, except for its symbol, into one spelling, and refuses
// what would be wrong in any state of the book. It reads no state, so it can be called
// before anything else. One that replaces an order is judged when that has completed it.
func (r *OrderRequest) Normalize() error {
	r.Side = Side(strings.ToLower(strings.TrimSpace(string(r.Side))))
	r.Type = OrderType(strings.ToLower(strings.TrimSpace(string(r.Type))))
	r.TimeInForce = TimeInForce(strings.ToLower(strings.TrimSpace(string(r.TimeInForce))))
	if r.ClientOrderID != "" && !ClientIDShape.MatchString(r.ClientOrderID) {
		return Refuse("bad_client_order_id", "client_order_id %q: 1 to 48 of A-Z a-z 0-9 . _ : -", limit.Clip(r.ClientOrderID))
	}
	if err := r.normalizeWhen(); err != nil || r.Replaces != "" {
		return err
	}
	err := r.check()
	if r.When != nil { // the interval may be left out
		r.sent = r.Asked()
	}
	return err
}

// sizes returns in how many ways the request says how much.
func (r *OrderRequest) sizes() (n int) {
	for _, given := range []bool{r.Quantity != 0, r.Notional != 0, r.All, r.Share != 0, r.Risk != Stake{}} {
		if given {
			n++
		}
	}
	return n
}

// check refuses a request that lacks nothing and would be wrong in any state of the book. A price
// that the type does not take is refused and not ignored: the type may be the mistake.
func (r *OrderRequest) check() error {
	// The default has one spelling, so that two equal requests compare equal.
	if r.TimeInForce == GTC {
		r.TimeInForce = ""
	}
	sizes, tif := r.sizes(), r.TimeInForce
	stops, trails := r.Type == Stop || r.Type == StopLimit, r.TrailAmount != 0 || r.TrailPercent != 0
	atOnce, exits := tif == IOC || tif == FOK, r.StopLoss != Exit{} || r.TakeProfit != Exit{}
	switch {
	case r.Side != Buy && r.Side != Sell:
		return Refuse("bad_side", "side %q: write buy or sell", limit.Clip(string(r.Side)))
	case !slices.Contains(OrderTypes, r.Type):
		return Refuse("bad_type", "type %q: write one of %s", limit.Clip(string(r.Type)), joined(OrderTypes))

	case r.Label.Normalize() != nil:
		return r.Label.Normalize()
	case r.Quantity < 0 || r.Notional < 0 || sizes == 0:
		return Refuse("bad_quantity", "quantity %s: it must be above zero", r.Quantity)
	case sizes > 1:
		return Refuse("bad_quantity", "quantity, notional and risk: give one of them")
	case r.Share < 0 || r.Share > 100*exact.One:
		return Refuse("bad_quantity", "quantity %s%%: above 0 and at most 100, of the position that the order closes or of the buying power", r.Share)
	case r.Risk != Stake{} && r.StopLoss == Exit{}:
		return Refuse("bad_risk", "risk %s is what is lost at the stop_loss: give a stop_loss, too", r.Risk)
	case r.MayOpen && (r.All || r.ReduceOnly || r.Share != 0):
		return Refuse("bad_may_open", "an order that only reduces a position (reduce_only, quantity all) opens none, and one for a percentage never turns one around: leave out may_open")

	case r.Price < 0 || r.StopPrice < 0 || r.TrailAmount < 0:
		return Refuse("bad_price", "price %s: it must be above zero", min(r.Price, r.StopPrice, r.TrailAmount))
	case r.Type == Limit && r.Price == 0 && r.StopPrice != 0:
		return Refuse("price_required", "a limit order needs a price and takes no stop_price: %s", whichPrice)
	case r.Type.HasLimit() && r.Price == 0:
		return Refuse("price_required", "a %s order needs a price", r.Type)
	case !r.Type.HasLimit() && r.Price != 0:
		return Refuse("price_not_allowed", "a %s order takes no price: %s", r.Type, whichPrice)
	case stops && r.StopPrice == 0 && !r.Breakeven:
		return Refuse("stop_price_required", "a %s order needs a stop_price", r.Type)
	case !stops && (r.StopPrice != 0 || r.Breakeven):
		return Refuse("stop_price_not_allowed", "a %s order takes no stop_price: %s", r.Type, whichPrice)
	case trails && r.Type != TrailingStop:
		return Refuse("bad_trail", "a %s order takes neither trail_amount nor trail_percent: they are of type trailing_stop, "+
			"which for a position is an order of its own, on the other side", r.Type)
	case !trails && r.Type == TrailingStop:
		return Refuse("bad_trail", "a trailing_stop order needs its distance to the market, as trail_amount or trail_percent")
	case r.TrailAmount != 0 && r.TrailPercent != 0:
		return Refuse("bad_trail", "trail_amount and trail_percent: give one of them")
	case r.TrailPercent < 0 || r.TrailPercent >= 100*exact.One:
		return Refuse("bad_trail", "trail_percent %s: above 0 and below 100", r.TrailPercent)
	case r.PostOnly && r.Type != Limit:
		return Refuse("bad_post_only", "post_only is for type limit alone, not for %s", r.Type)

	case tif != "" && !slices.Contains(TimesInForce, tif):
		return Refuse("bad_time_in_force", "time_in_force %q: write one of %s", limit.Clip(string(tif)), joined(TimesInForce))
	case (tif == GTD) != !r.ExpiresAt.IsZero():
		return Refuse("bad_expires_at", "expires_at and time_in_force gtd go together")
	case atOnce && (r.PostOnly || r.Type.HasStop()):
		return Refuse("bad_time_in_force", "%s is for orders that fill at once, and a stop or a post_only order waits: leave time_in_force out, or send day or gtd", tif)

	case exits && (r.ReduceOnly || r.All || r.OCO != OCO{}):
		return Refuse("bad_exit", "stop_loss and take_profit belong to an order that opens a position, not to reduce_only, quantity all or oco; "+
			"to protect a position place a stop, or a limit with oco, that is reduce_only")
	case r.OCO != OCO{} && (r.Type != Limit || r.OCO.StopPrice <= 0 || r.OCO.Price < 0):
		return Refuse("bad_oco", `oco is the stop beside an order of type limit, such as {"stop_price":95}; an entry is protected by stop_loss and take_profit`)
	case r.OCO != OCO{} && atOnce:
		return Refuse("bad_oco", "oco and %s exclude each other: both orders wait, so leave time_in_force out", tif)
	}
	return nil
}

// whichPrice ends the refusal of a price that the type of an order does not take. A refusal is
// followed to the letter, so it says what each price does: a sell stop whose stop_price was
// written as price sells at once if it is sent again as a limit.
const whichPrice = "price is the limit of a limit or stop_limit order, which fills at once where the market has reached it; " +
	"stop_price is where the market triggers a stop or stop_limit order; trail_amount or trail_percent is the distance of a trailing_stop"

// CheckExpiry refuses an order whose time is over at an instant.
func (r *OrderRequest) CheckExpiry(at Time) error {
	if !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(at.Time) {
		return Refuse("bad_expires_at", "expires_at %s is over", r.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// Asked returns what r has beyond symbol, side, type, quantity and price, in one
// spelling, or "" if there is nothing else. It is stored with the order, and compared
// when the same client_order_id comes again. Of a request that replaces an order quantity and price
// are in it as they were sent, or left out: what is stored is what that came to.
func (r *OrderRequest) Asked() string {
	if r.sent != "" {
		return r.sent
	}
	a := *r
	a.ExpiresAt = a.ExpiresAt.UTC()
	a.Who, a.Symbol, a.Side, a.Type, a.ClientOrderID = Who{}, "", "", "", ""
	a.Held, a.Approval, a.Worth, a.DryRun, a.Searched = nil, nil, exact.Money{}, false, 0
	if r.Replaces == "" {
		a.Quantity, a.Price = 0, 0
	}
	text, _ := encode(a) // it can always be encoded
	return strings.TrimSuffix(string(text), "{}")
}

// joined returns words as a list for a message.
func joined[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// Role says what an order of a group is for.
type Role string

// The roles.
const (
	RoleStopLoss   Role = "stop_loss"
	RoleTakeProfit Role = "take_profit"
	RoleOCO        Role = "oco" // the limit or the stop of an oco
)

// Exit says where a stop_loss or a take_profit stands: at a price, or at a distance from
// the price of the entry. One of the first three fields is set; with ATR, Distance is
// what that came to when the order was accepted.
type Exit struct {
	Price    exact.Decimal `json:"price,omitempty"`
	Percent  exact.Decimal `json:"percent,omitempty"`
	ATR      exact.Decimal `json:"atr,omitempty"` // how many times the average true range
	Distance exact.Decimal `json:"distance,omitempty"`
	Tick     exact.Decimal `json:"tick,omitempty"` // of the market when the order was accepted
}

// OCO is the stop beside a limit order: "one cancels the other". With a Price it is
// a stop_limit.
type OCO struct{ StopPrice, Price exact.Decimal }

// ParseExit reads a price such as 94.5, or a distance from the entry: a percentage of its
// price such as 3%, below 100%, or a multiple of the average true range such as 2atr.
func ParseExit(text string) (x Exit, err error) {
	// The suffix says what the number is; without one it is a price.
	s, to := strings.ToLower(strings.ReplaceAll(text, " ", "")), &x.Price
	if number, ok := strings.CutSuffix(s, "%"); ok {
		s, to = number, &x.Percent
	} else if number, ok := strings.CutSuffix(s, "atr"); ok {
		s, to = number, &x.ATR
	}
	if *to, err = exact.Parse([]byte(s)); err != nil || *to <= 0 || x.Percent >= 100*exact.One {
		return Exit{}, Refuse("bad_exit", "%q is no place for an exit: write a price such as 94.5, or a distance from the entry, "+
			"in percent such as 3%% (above 0 and below 100) or in average true ranges such as 2atr; further away a take_profit is written as a price, and a stop_loss in average true ranges", limit.Clip(text))
	}
	return x, nil
}

// Approval is what an order may be: what a person's yes covers, with the evidence of it in the
// journal, or what was counted of the sum that needs no yes, without any.
type Approval struct {
	Evidence string
	Quantity exact.Decimal // at most
	Price    exact.Decimal // a buy may be filled on arrival at this or less, a sell at this or more; zero for any
	Until    time.Time     // zero for ever
	AtOnce   bool          // its rule was true: it does not wait until that becomes true again
}

// covers returns a refusal if o, which would be filled at fill on arrival, is not what was
// approved: the market has moved on since the person looked.
func (a *Approval) covers(o *Order, fill exact.Decimal, at Time) error {
	switch {
	case a.AtOnce && o.Pending():
		return Refuse("not_approved", "its rule is no longer true: it was let through as an order that comes at once, and would wait; nothing was placed: call again")
	case o.Quantity > a.Quantity && a.Evidence == "":
		return Refuse("not_approved", "without a person's approval a quantity of %s was let through, and it would be %s now; nothing was placed: call again", a.Quantity, o.Quantity)
	case o.Quantity > a.Quantity:
		return Refuse("not_approved", "a person approved a quantity of %s, and it would be %s now; nothing was placed: call again, and they are asked anew", a.Quantity, o.Quantity)
	case fill != 0 && a.Price != 0 && (o.Side == Buy && fill > a.Price || o.Side == Sell && fill < a.Price):
		return Refuse("not_approved", "a person approved a price as far as %s, and the market is at %s now; nothing was placed: call again, and they are asked anew", a.Price, fill)
	case !a.Until.IsZero() && at.After(a.Until):
		return Refuse("not_approved", "the approval has ended; nothing was placed: call again, and they are asked anew")
	}
	return nil
}
