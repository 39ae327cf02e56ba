package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"

	"wick/exact"
	"wick/mcp"
	"wick/permit"
	"wick/trade"
)

// AskingAs returns a caller of the protocol as the gate knows it.
func AskingAs(c mcp.Caller) permit.Caller {
	return permit.Caller{Name: c.Name, Login: c.ID, Client: c.Client, Door: permit.Door(c.Door), Address: c.Address, Scopes: permit.ParseScopes(c.Scope)}
}

// mayRead reports whether a caller may know something of the account.
func mayRead(c mcp.Caller) bool { return permit.ParseScopes(c.Scope).Has(permit.Read) }

// record writes a person's answer to the journal.
func (h *handlers) record(e permit.Evidence) error { return h.Engine.RecordAnswer(mcp.Encode(e)) }

// approvedDrift is how far the market may move against an order between the preview that a
// person approved and its placing: a twentieth of the price.
const approvedDrift = 20

// admit asks the gate whether an order may be placed now. The caller must settle the grant.
// If the order may not be placed, the error is a question to a person, or says where a
// person can answer. If a person approved the order, or if it closes a whole position,
// admit sets r.Held, and with a person's yes r.Approval.
func (h *handlers) admit(ctx context.Context, c mcp.Call, r *trade.OrderRequest) (permit.Grant, error) {
	reply, err := replyOf(c)
	if err != nil || r.DryRun || !h.Gate.Asks() {
		return permit.Grant{}, err
	}
	// A dry run tells what the order would be and cost, and whether the engine would refuse
	// it anyway. The person approves what the dry run tells.
	dry := *r
	dry.DryRun = true
	preview, err := h.Engine.Place(ctx, dry)
	if err != nil || preview.ID != "" { // the engine refuses it, or an order with its client_order_id exists already
		return permit.Grant{}, err
	}
	worth, known := worthOf(h.Engine, *r, preview)
	held := heldOf(h.Engine, preview.Symbol)
	o := &permit.Order{
		Digest: orderDigest(c.Caller, *r, preview), Lines: describe(c.Caller, *r, preview, held, h.Engine), Worth: worth, Unknown: !known,
		Real: h.Engine.Money() == trade.RealMoney, Held: held, Limits: limitsOf(*r, preview), State: c.State, Reply: reply,
	}
	if r.All {
		o.Held -= positionAfter(preview, held) // the account at a broker may have a part of it only
		r.Held = &o.Held
	}
	grant, err := h.Gate.May(ctx, AskingAs(c.Caller), permit.Action{Name: "place_order", Order: o}, h.record)
	if asked := (*permit.Asked)(nil); errors.As(err, &asked) {
		return grant, questionOf(asked)
	}
	if grant.Question != "" { // the engine refuses the order if the position is not so any more
		r.Held, r.Approval = &o.Held, &trade.Approval{Evidence: grant.Question, Quantity: grant.Limits.Quantity, Price: grant.Limits.Price, Until: grant.Limits.Until}
	}
	return grant, err
}

// limitsOf returns what a yes to an order covers, by its dry run: its quantity, and for one
// that fills at once at whatever price the market has, a price somewhat beyond that of now.
// The quantity of an order by value follows the price.
func limitsOf(r trade.OrderRequest, o trade.Order) (l permit.Limits) {
	l.Quantity = o.Quantity
	if r.Notional != 0 {
		l.Quantity += o.Quantity / approvedDrift
	}
	switch price := o.AveragePrice; {
	case price == nil || o.Price != nil:
	case o.Side == trade.Buy:
		l.Price = *price + *price/approvedDrift
	default:
		l.Price = *price - *price/approvedDrift
	}
	return l
}

// admitAll is admit for orders that close every position, by their dry run. A person
// approves one order at a time, from its preview, so all of them together must need no yes.
func (h *handlers) admitAll(ctx context.Context, c mcp.Caller, r trade.OrderRequest, previews []trade.Closed) (permit.Grant, error) {
	o := permit.Order{Lines: []string{"close every position"}}
	for _, p := range previews {
		if p.Error == "" && p.ID == "" { // neither refused nor placed before under this id
			worth, known := worthOf(h.Engine, r, p.Order)
			total, fits := o.Worth.Add(worth)
			o.Worth, o.Unknown = total, o.Unknown || !known || !fits
		}
	}
	if !h.Gate.Needs(c.Client, o.Worth, !o.Unknown) {
		return h.Gate.May(ctx, AskingAs(c), permit.Action{Name: "place_order", Order: &o}, h.record)
	}
	return permit.Grant{}, errors.New("closing every position needs a person's yes (--confirm-above), and a person approves one order at a time: name a symbol; nothing was placed")
}

const approveKey = "approve" // the key of the question, and the name of the box in its form

// approveSchema is the form: one box, which is not ticked at first.
var approveSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Place this order","description":"Yes places exactly this order, once.","default":false}},"required":["approve"]}`)

// questionOf returns the error that has the client ask its person: on the owner's page, or
// in a form where the owner lets that count.
func questionOf(a *permit.Asked) error {
	q := &mcp.InputRequired{Key: approveKey, Message: "Place this order?\n" + strings.Join(a.Lines, "\n"), URL: a.Address, State: a.ID, Else: a.Error()}
	if a.InForm {
		q.Schema = approveSchema
	}
	return q
}

// errUnclear says that an answer is not one that the form can have.
var errUnclear = mcp.InvalidParams(`inputResponses.approve is no answer to the form: the action must be accept, decline or cancel, and with accept the content {"approve":true} or {"approve":false}; nothing was placed, and a question that was asked still waits`)

// replyOf returns the answer that came with a call. Only the box of the form, ticked, and
// nothing else is a yes; to accept a page's address is no answer. What is neither a yes nor
// a no is an error: a mistake of the client's program says nothing about the person. A map
// has names as they were written, where a struct would take Approve too.
func replyOf(c mcp.Call) (permit.Reply, error) {
	response, given := c.Responses[approveKey]
	switch {
	case !given:
		return permit.None, nil
	case response.Action == "decline" || response.Action == "cancel":
		return permit.No, nil
	case response.Action == "accept" && response.Content == nil:
		return permit.None, nil
	case response.Action == "accept" && c.Elicits:
		var content map[string]json.RawMessage
		if json.Unmarshal(response.Content, &content) != nil || len(content) != 1 {
			break
		}
		switch string(content[approveKey]) {
		case "true":
			return permit.Yes, nil
		case "false":
			return permit.No, nil
		}
	}
	return permit.None, errUnclear
}

// worthOf returns what an order is worth at the price that highest returns, and whether
// that is known. It is not if there is no price, nor for a trailing stop, whose price
// follows the market. A sell limit that the market has passed counts at the price of the
// market, at which it may be filled.
func worthOf(engine *trade.Engine, r trade.OrderRequest, o trade.Order) (exact.Money, bool) {
	if o.Type == trade.TrailingStop {
		return exact.Money{}, false
	}
	price := max(highest(r, o), engine.Arrival(o))
	return exact.Product(o.Quantity, price), price > 0
}

// highest returns the highest of the prices at which an order, or its OCO stop, waits or
// would be filled now; zero if none is known.
func highest(r trade.OrderRequest, o trade.Order) exact.Decimal {
	price := max(r.OCO.StopPrice, r.OCO.Price)
	for _, p := range []*exact.Decimal{o.Price, o.StopPrice, o.AveragePrice} {
		if p != nil {
			price = max(price, *p)
		}
	}
	return price
}

// orderDigest returns a digest of a caller and an order. An approval is for the order
// with this digest only. The digest covers everything that the caller asked for, and when a
// day order ends, but not a size that follows from the current price, which would differ in
// the next call.
func orderDigest(c mcp.Caller, r trade.OrderRequest, o trade.Order) [sha256.Size]byte {
	return sha256.Sum256(mcp.Encode([]any{c.Client, c.ID, o.Symbol, o.Side, o.Type, r.Quantity, o.Price, r.Asked(), o.ClientOrderID, o.ExpiresAt}))
}
