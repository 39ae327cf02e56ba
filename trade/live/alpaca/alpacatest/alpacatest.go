// Package alpacatest is a venue that speaks Alpaca's protocol, for tests. It keeps
// orders, fills, positions and the stream of events in memory. Its faults are what goes
// wrong between a program and a broker: answers that are lost after the order was
// taken, requests that arrive after the sender gave up, answers that lag behind,
// streams with gaps.
package alpacatest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/internal/exact"
)

// Fault is what happens to one request.
type Fault struct {
	Lost   bool          // it never arrives
	Unread bool          // it is carried out and its answer is lost
	Late   time.Duration // the sender sees a broken connection at once, and it is carried out this much later
	Status int           // answered with this status in place of being carried out
	HTML   bool          // answered with a page and status 200 in place of being carried out
	Done   func()        // called after it was carried out and before it is answered
}

// Venue is the fake. Its fields are set before the first request, or by Set; its
// methods may be called from many goroutines.
type Venue struct {
	Number string                      // of the account
	Keys   [2]string                   // what requests must carry
	Faults func(r *http.Request) Fault // asked for every request; nil for none
	Lag    time.Duration               // what is asked for is as old as this
	Hold   bool                        // market orders wait for Fill
	Part   exact.Decimal               // how much of a market order is filled as it arrives, the rest waits for Fill; zero means all
	Reuse  bool                        // a client_order_id may come again, as at venues where it is unique among open orders only
	Closed bool                        // the exchange is
	Opens  time.Time                   // when it opens next; zero means in an hour
	Closes time.Time                   // when it closes next; zero means in an hour
	Deaf   bool                        // since_id is ignored: nothing is replayed
	Stuck  bool                        // no order can be cancelled
	Status string                      // of the account; empty means ACTIVE
	Minute int                         // how many requests are taken within a minute; zero means Alpaca's 200

	mu        sync.Mutex
	orders    []*order // all fields below are guarded by mu
	price     map[string]exact.Decimal
	fills     []fill
	adjust    map[string]exact.Decimal // what positions are beyond the fills
	events    []update
	listeners map[chan struct{}]bool
	cut       int         // how often the streams were cut
	drop      int         // events that the stream will leave out
	asked     []time.Time // requests within the last minute
	busiest   int
	accounts  func() (equity, last exact.Decimal)
}

// order is an order with all the versions of it there were.
type order struct {
	wire
	versions []version
	legs     []*order
	parent   *order
}

type version struct {
	at time.Time
	wire
}

type fill struct {
	at time.Time
	activity
	key    string
	signed exact.Decimal
}

// New returns a venue with an account.
func New() *Venue {
	return &Venue{
		Number: "PA3TESTWICK1", Keys: [2]string{"PKTESTKEY", "secretsecret"},
		price: map[string]exact.Decimal{}, adjust: map[string]exact.Decimal{}, listeners: map[chan struct{}]bool{},
	}
}

// Price sets the price of a symbol; without one it is 100.
func (v *Venue) Price(symbol string, p exact.Decimal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.price[symbol] = p
}

func (v *Venue) priceOf(symbol string) exact.Decimal {
	if p := v.price[symbol]; p != 0 {
		return p
	}
	return 100 * exact.One
}

// place makes an order of a request, with mu held. The text is why not.
func (v *Venue) place(r request) (*order, int, string) {
	quantity, err := exact.Parse([]byte(r.Qty))
	price := v.priceOf(r.Symbol)
	switch {
	case err != nil || quantity <= 0:
		return nil, 422, "qty must be greater than 0"
	case v.byClient(r.ClientOrderID) != nil && !v.Reuse:
		return nil, 422, "client_order_id must be unique"
	case r.Type == "" || r.TimeInForce == "":
		return nil, 422, "type and time_in_force are required"
	case quantity%exact.One != 0 && (r.Type != "market" || r.TimeInForce != "day"):
		return nil, 422, "fractional orders must be DAY orders"
	case quantity > 1_000*exact.One:
		return nil, 403, "insufficient buying power"
	}
	o := v.add(r, quantity)
	switch {
	case r.OrderClass == "oco":
		o.LimitPrice = &r.TakeProfit.LimitPrice
		kind, limit := "stop", given(r.StopLoss.LimitPrice)
		if limit != nil {
			kind = "stop_limit"
		}
		o.legs = []*order{v.leg(o, kind, "held", limit, &r.StopLoss.StopPrice, o.Side)}
	case r.OrderClass == "bracket" || r.OrderClass == "oto":
		if r.TakeProfit != nil {
			o.legs = append(o.legs, v.leg(o, "limit", "held", &r.TakeProfit.LimitPrice, nil, other(o.Side)))
		}
		if r.StopLoss != nil {
			o.legs = append(o.legs, v.leg(o, "stop", "held", nil, &r.StopLoss.StopPrice, other(o.Side)))
		}
	}
	v.tell(o, "new", nil)
	if r.Type == "market" && !v.Hold {
		v.fill(o, cmp.Or(v.Part, quantity), price)
	}
	return o, 200, ""
}

// add makes an order without telling anybody.
func (v *Venue) add(r request, quantity exact.Decimal) *order {
	now := time.Now().UTC()
	o := &order{wire: wire{
		ID: newID(), ClientOrderID: r.ClientOrderID, CreatedAt: now, UpdatedAt: now, SubmittedAt: now, Symbol: r.Symbol, AssetClass: "us_equity",
		OrderClass: r.OrderClass, Type: r.Type, Side: r.Side, TimeInForce: r.TimeInForce, Status: "new", Qty: quantity.String(), FilledQty: "0",
		LimitPrice: given(r.LimitPrice), StopPrice: given(r.StopPrice), TrailPrice: given(r.TrailPrice), TrailPercent: given(r.TrailPercent),
	}}
	if o.ClientOrderID == "" {
		o.ClientOrderID = newID()
	}
	v.orders = append(v.orders, o)
	v.keep(o)
	return o
}

// leg makes an order that belongs to another.
func (v *Venue) leg(o *order, kind, status string, limit, stop *string, side string) *order {
	quantity, _ := exact.Parse([]byte(o.Qty)) // it was parsed before
	l := v.add(request{Symbol: o.Symbol, Side: side, Type: kind, TimeInForce: o.TimeInForce, OrderClass: o.OrderClass}, quantity)
	l.LimitPrice, l.StopPrice, l.Status, l.parent = limit, stop, status, o
	v.keep(l)
	return l
}

// keep adds a version of an order.
func (v *Venue) keep(o *order) {
	o.UpdatedAt = time.Now().UTC()
	o.versions = append(o.versions, version{time.Now(), o.wire})
}

// tell changes nothing but what the stream says.
func (v *Venue) tell(o *order, event string, f *fill) {
	v.keep(o)
	now := time.Now().UTC()
	u := update{At: now, Event: event, EventID: fmt.Sprintf("01J%023d", len(v.events)+1), ExecutionID: newID(), Order: o.wire, Timestamp: now}
	if f != nil {
		u.ExecutionID, u.Price, u.Qty = strings.SplitN(f.ID, "::", 2)[1], &f.Price, &f.Qty
	}
	v.events = append(v.events, u)
	for l := range v.listeners {
		select {
		case l <- struct{}{}:
		default:
		}
	}
}

// fill executes a part of an order.
func (v *Venue) fill(o *order, quantity, price exact.Decimal) {
	total, whole := v.filled(o), v.quantity(o)
	quantity = min(quantity, whole-total)
	if quantity <= 0 || final(o.Status) || o.Status == "held" && o.OrderClass != "oco" && o.parent.Status != "filled" {
		return
	}
	total += quantity
	average := price.String()
	o.FilledQty, o.FilledAvgPrice, o.Status = total.String(), &average, "partially_filled"
	event := "partial_fill"
	if total == whole {
		o.Status, event = "filled", "fill"
	}
	now, signed := time.Now().UTC(), quantity
	if o.Side == "sell" {
		signed = -quantity
	}
	f := fill{at: time.Now(), key: o.Symbol, signed: signed, activity: activity{
		ID: now.Format("20060102150405000") + "::" + newID(), ActivityType: "FILL", TransactionTime: now, Type: event, Price: price.String(), Qty: quantity.String(),
		Side: o.Side, Symbol: o.Symbol, LeavesQty: (whole - total).String(), CumQty: total.String(), OrderID: o.ID, OrderStatus: o.Status,
	}}
	v.fills = append(v.fills, f)
	v.average(o)
	v.tell(o, event, &f)
	v.follow(o)
}

// average sets the average price of an order by its fills.
func (v *Venue) average(o *order) {
	var sum exact.Money
	var n exact.Decimal
	for _, f := range v.fills {
		if f.OrderID == o.ID {
			q, _ := exact.Parse([]byte(f.Qty))
			p, _ := exact.Parse([]byte(f.Price))
			sum, _ = sum.Add(exact.Product(q, p))
			n += q
		}
	}
	o.FilledAvgPrice = nil
	if average, ok := sum.Per(n); ok && n > 0 {
		text := average.String()
		o.FilledAvgPrice = &text
	}
}

// follow does what the end of one order does to those that hang on it. A stop beside a limit
// stays held, as at Alpaca, although it is watched.
func (v *Venue) follow(o *order) {
	for i, l := range o.legs {
		switch {
		case i == 0 && l.Status == "held" && o.Status == "filled" && o.OrderClass != "oco":
			l.Status = "new"
			v.tell(l, "new", nil)
		case o.OrderClass == "oco" && final(o.Status), final(o.Status) && o.Status != "filled":
			v.end(l, "canceled")
		}
	}
	if o.parent == nil || !final(o.Status) {
		return
	}
	for _, l := range o.parent.legs {
		if l != o {
			v.end(l, "canceled")
		}
	}
	if o.parent.OrderClass == "oco" {
		v.end(o.parent, "canceled")
	}
}

// end gives an order a final status, unless it has one.
func (v *Venue) end(o *order, status string) {
	if final(o.Status) {
		return
	}
	o.Status = status
	v.tell(o, status, nil)
	v.follow(o)
}

func final(status string) bool {
	return slices.Contains([]string{"filled", "canceled", "expired", "replaced", "rejected"}, status)
}

func other(side string) string {
	if side == "buy" {
		return "sell"
	}
	return "buy"
}

func (v *Venue) quantity(o *order) exact.Decimal {
	d, _ := exact.Parse([]byte(o.Qty)) // ours
	return d
}

func (v *Venue) filled(o *order) exact.Decimal {
	d, _ := exact.Parse([]byte(o.FilledQty)) // ours
	return d
}

func (v *Venue) byClient(id string) *order {
	for _, o := range v.orders {
		if o.ClientOrderID == id && id != "" {
			return o
		}
	}
	return nil
}

func (v *Venue) byID(id string) *order {
	for _, o := range v.orders {
		if o.ID == id {
			return o
		}
	}
	return nil
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	s := hex.EncodeToString(b[:])
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}
