package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/mcp"
	"wick/permit"
	"wick/trade"
	"wick/trade/book"
)

// AskingAs returns a caller of the protocol as the gate knows it.
func AskingAs(c mcp.Caller) permit.Caller {
	return permit.Caller{Name: c.Name, Login: c.ID, Client: c.Client, Door: permit.Door(c.Door), Address: c.Address, Scopes: permit.ParseScopes(c.Scope)}
}

// mayRead reports whether a caller may know something of the account, as get_positions tells it.
func (h *handlers) mayRead(ctx context.Context, c mcp.Caller) bool {
	_, err := h.Gate.May(ctx, AskingAs(c), permit.Action{Name: "get_positions"}, nil)
	return h.Engine != nil && err == nil
}

// record writes a person's answer to the journal.
func (h *handlers) record(e permit.Evidence) error { return h.Engine.RecordAnswer(mcp.Encode(e)) }

// approvedDrift is how far the market may move against an order between the preview that a
// person approved and its placing: a twentieth of the price.
const approvedDrift = 20

// admit asks the gate whether an order may be placed now. The caller must settle the grant.
// If the order may not be placed, the error is a question to a person, or says where a
// person can answer. If a person approved the order, or if it closes a whole position,
// admit sets r.Held, and with a person's yes r.Approval.
func (h *handlers) admit(ctx context.Context, c mcp.Call, r *book.OrderRequest) (permit.Grant, error) {
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
	position, err := positionIn(h.Engine, preview.Symbol)
	if err != nil {
		return permit.Grant{}, err
	}
	held := signed(position)
	o := &permit.Order{
		Digest: orderDigest(c.Caller, *r, preview), Lines: describe(c.Caller, *r, preview, held, h.Engine), Gist: gistOf(preview, worth, known, h.Engine), Worth: worth, Unknown: !known,
		Real: h.Engine.Money() == book.RealMoney, Held: held, Limits: limitsOf(*r, preview), State: c.State, Reply: reply,
	}
	if r.All && !preview.Pending() {
		o.Held -= positionAfter(preview, held) // the account at a broker may have a part of it only
		r.Held = &o.Held
	}
	grant, err := h.Gate.May(ctx, AskingAs(c.Caller), permit.Action{Name: "place_order", Order: o}, h.record)
	if asked, ok := errors.AsType[*permit.Asked](err); ok {
		// The client asks its person: on the owner's page, or in a form where the owner lets that
		// count. The form has one box, which is not ticked at first.
		q := &mcp.InputRequired{Key: approveKey, Message: "Place this order?\n" + strings.Join(asked.Lines, "\n"), URL: asked.Address, State: asked.ID, Else: asked.Error()}
		if asked.InForm {
			q.Schema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Place this order","description":"Yes places exactly this order, once.","default":false}},"required":["approve"]}`)
		}
		return grant, q
	}
	r.Worth = grant.Worth
	if preview.Sizing != nil || o.Limits.AtOnce { // what was counted is for this quantity, which follows the market and the account
		r.Approval = &book.Approval{Quantity: o.Limits.Quantity, AtOnce: o.Limits.AtOnce}
	}
	if l := grant.Limits; grant.Question != "" { // the engine refuses the order if the position is not so any more
		r.Held, r.Approval = &o.Held, &book.Approval{Evidence: grant.Question, Quantity: l.Quantity, Price: l.Price, Until: l.Until, AtOnce: l.AtOnce}
	}
	if preview.Pending() { // it is for what is held then
		r.Held = nil
	}
	return grant, err
}

// limitsOf returns what a yes to an order covers, by its dry run: its quantity, and for one
// that fills at once at whatever price the market has, a price somewhat beyond that of now.
// A quantity that follows the price, the buying power or the equity may grow as much.
func limitsOf(r book.OrderRequest, o book.Order) (l permit.Limits) {
	if o.Pending() { // the worst case: what has no number is worked out then
		return permit.Limits{Quantity: cmp.Or(r.Quantity, math.MaxInt64), Price: o.When.Worst}
	}
	l.Quantity, l.AtOnce = o.Quantity, r.When != nil
	if r.Notional != 0 && (o.Type == book.Market || o.Type == book.TrailingStop) || o.Sizing != nil && o.Sizing.Of != "position" {
		l.Quantity += o.Quantity / approvedDrift
	}
	switch price := o.AveragePrice; {
	case price == nil || o.Price != nil:
	case o.Side == book.Buy:
		l.Price = *price + *price/approvedDrift
	default:
		l.Price = *price - *price/approvedDrift
	}
	return l
}

// admitAll is admit for orders that close every position, by their dry run. A person
// approves one order at a time, from its preview, so all of them together must need no yes.
func (h *handlers) admitAll(ctx context.Context, c mcp.Caller, r book.OrderRequest, previews []trade.Closed) (permit.Grant, error) {
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
	return permit.Grant{}, errors.New("closing every position needs a person's approval (--confirm-above), and a person approves one order at a time: name a symbol; nothing was placed")
}

const approveKey = "approve" // the key of the question, and the name of the box in its form

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

// worthOf returns what an order is worth, and whether that is known, at the highest of the
// prices at which it, or its OCO stop, waits or would be filled now. It is not known if
// there is no price, or one in a currency that is not added up, nor for a trailing stop,
// whose price follows the market. A sell limit that the market has passed counts at the
// price of the market, at which it may be filled. Of what waits for its rule is known the worth of a
// market order by value, and of a buy of a size and price that are known by now: what sells may come at
// any price. A size that is worked out anew when the order is placed counts as large as it may be then.
func worthOf(engine *trade.Engine, r book.OrderRequest, o book.Order) (exact.Money, bool) {
	byValue := o.Type == book.Market && r.Notional != 0
	switch {
	case o.Type == book.TrailingStop || !engine.Sums(o.Symbol), o.Pending() && !byValue && (o.Side == book.Sell || r.Breakeven || r.Quantity+r.Notional == 0):
		return exact.Money{}, false
	case o.Pending() && byValue:
		return r.Notional.Money(), true
	}
	price := max(r.OCO.StopPrice, r.OCO.Price, engine.Arrival(o))
	if o.Pending() {
		price = max(price, o.When.Worst)
	}
	for _, p := range []*exact.Decimal{o.Price, o.StopPrice, o.AveragePrice} {
		if p != nil {
			price = max(price, *p)
		}
	}
	quantity := o.Quantity
	if o.Sizing != nil && !o.Pending() {
		quantity = limitsOf(r, o).Quantity
	}
	return exact.Product(quantity, price), price > 0 && quantity > 0
}

// orderDigest returns a digest of a caller and an order. An approval is for the order
// with this digest only. The digest covers everything that the caller asked for, and when a
// day order ends, and a stop at breakeven, but not a size that follows from the current price, which
// would differ in the next call.
func orderDigest(c mcp.Caller, r book.OrderRequest, o book.Order) [sha256.Size]byte {
	even := o.StopPrice
	if !r.Breakeven || o.Pending() {
		even = nil
	}
	return sha256.Sum256(mcp.Encode([]any{c.Client, c.ID, o.Symbol, o.Side, o.Type, r.Quantity, r.Price, o.Price, r.Asked(), o.ClientOrderID, o.ExpiresAt, even}))
}

// describe returns the preview of an order, one fact a line: what a person has to know
// to say yes or no. Every argument that changes what is traded is among them, in plain
// words and in the unit in which it was given; what depends on the market says about, and
// sums name their currency where source or symbol tells it.
// Held is the position of now. The name of the client is a stranger's text, cleaned by
// the login.
func describe(c mcp.Caller, r book.OrderRequest, o book.Order, held exact.Decimal, engine *trade.Engine) []string {
	estimate := engine.Estimate(o)
	about, priced := "", o
	if limitsOf(r, o).Quantity != o.Quantity {
		about = "about "
	}
	if r.Breakeven && o.Pending() {
		priced.StopPrice = nil
	}
	lines := []string{
		heading(o, about),
		"price: " + priceOf(priced),
	}
	add := func(given bool, line string) {
		if given {
			lines = append(lines, line)
		}
	}
	add(r.Breakeven, "stop: breakeven, where what is held comes out even after fees and slippage")
	lines = append(lines, whenLines(o)...)
	add(o.Synthetic, "data: invented, from no real market") // the symbol may be that of a real one
	add(c.Name != "", "client: "+c.Name)                    // over stdio there is none
	place := o.Broker
	if o.Account != "" {
		place += ", account " + o.Account
	}
	if o.Account != "" && engine.Money() == book.RealMoney {
		place += ", REAL MONEY" // in capitals: a person must not miss it
	}
	add(true, "broker: "+place)
	currency := engine.Currency(o.Symbol)
	if currency != "" {
		currency = " " + currency
	}
	left := positionAfter(o, held)
	lines = append(lines, sizeLines(r, o, left, currency)...)
	lines = append(lines, worthLines(r, o, estimate, engine, currency)...)
	if o.StopLoss != nil {
		add(true, "stop loss: "+exitOf(*o.StopLoss, estimate.StopLoss))
	}
	if o.TakeProfit != nil {
		add(true, "take profit: "+exitOf(*o.TakeProfit, estimate.TakeProfit))
	}
	add(r.OCO.Price != 0, fmt.Sprintf("one cancels the other: stop %s, limit %s", r.OCO.StopPrice, r.OCO.Price))
	add(r.OCO.StopPrice != 0 && r.OCO.Price == 0, fmt.Sprintf("one cancels the other: stop %s", r.OCO.StopPrice))
	add(waitOf(o) != "", "waits: "+waitOf(o))
	add(o.PostOnly, "post only: refused if it would fill at once")
	add(o.ReduceOnly, "reduce only: it never opens or grows a position")
	add(r.MayOpen, "may open: it is no exit, and may turn the position around")
	if old, err := engine.Order(o.Replaces); o.Replaces != "" && err == nil {
		prices := ""
		if old.StopPrice != nil {
			prices += " from " + old.StopPrice.String()
		}
		if old.Price != nil {
			prices += " at " + old.Price.String()
		}
		add(true, fmt.Sprintf("replaces: %s, %s%s, which is cancelled", old.ID, heading(old, ""), prices))
	}
	add(o.ClientOrderID != "", "client_order_id: "+o.ClientOrderID)
	after := "position after: " + left.String() + " " + o.Symbol
	if o.FilledQuantity != o.Quantity {
		after += ", if it is filled whole"
	}
	return append(lines, after)
}

// worthLines returns what o is worth, if there is a price, and the fee that it pays.
func worthLines(r book.OrderRequest, o book.Order, estimate book.Estimate, engine *trade.Engine, currency string) (lines []string) {
	worth, fee := worthOfFill(estimate)+currency, feeOf(o, estimate, currency)
	if estimate.Quantity != o.Quantity { // an ioc or a fok that would end unfilled: by the time of the yes the market may have come
		whole := worthOfFill(book.Estimate{Price: estimate.Price, Quantity: o.Quantity})
		worth += fmt.Sprintf(" for %s of it, which would fill now; %s%s if it is filled whole", estimate.Quantity, whole, currency)
	}
	if best := engine.Arrival(o); o.Side == book.Sell && o.FilledQuantity != o.Quantity && best > estimate.Price { // the bid is below its limit, and the last trade above
		whole := worthOfFill(book.Estimate{Price: best, Quantity: o.Quantity})
		worth += fmt.Sprintf("; up to %s%s if it gets the price of the market", whole, currency)
	}
	if r.OCO != (book.OCO{}) { // two outcomes, of which one comes
		stop := engine.EstimateBeside(o, r.OCO)
		worth += " by the limit, " + worthOfFill(stop) + currency + " by the stop"
		if o.Account == "" {
			fee += " by the limit, " + stop.Fee.String() + currency + " by the stop"
		}
	}
	if o.Pending() {
		worth += " at the price of now"
	}
	if estimate.Price > 0 {
		lines = append(lines, "worth: about "+worth)
	}
	return append(lines, "fee: "+fee)
}

// whenLines returns what o says of the rule that it waits for.
func whenLines(o book.Order) (lines []string) {
	w := o.When
	switch {
	case w == nil:
		return nil
	case !o.Pending():
		lines = append(lines, fmt.Sprintf("when: %s, which is true now", w.Rule))
	case w.Now:
		lines = append(lines, fmt.Sprintf("when: %s becomes true on a closed bar of %s, or is true by then", w.Rule, w.Interval))
	default:
		lines = append(lines, fmt.Sprintf("when: %s becomes true on a closed bar of %s", w.Rule, w.Interval))
	}
	if w.Worst != 0 {
		lines = append(lines, "worst price: "+w.Worst.String())
	}
	if w.Skip {
		lines = append(lines, "late: cancelled if that happens while wick is not watching")
	}
	return lines
}

// sizeLines returns what o says of its size, if that is no plain quantity. Left is the position after it.
func sizeLines(r book.OrderRequest, o book.Order, left exact.Decimal, currency string) (lines []string) {
	if o.Pending() && r.Quantity == 0 {
		lines = append(lines, "size: worked out then")
	}
	switch {
	case r.All && o.Pending():
		lines = append(lines, "size: all that is held then")
	case r.Share != 0 && o.Pending():
		lines = append(lines, fmt.Sprintf("size: %s%% of the position if it closes one then, else of the buying power then", r.Share))
	case r.Risk.Percent != 0 && o.Pending():
		lines = append(lines, fmt.Sprintf("size: to lose %s of the equity then at most at the stop loss", r.Risk))
	case r.Risk.Amount != 0 && o.Pending():
		lines = append(lines, fmt.Sprintf("size: to lose %s%s at most at the stop loss", r.Risk, currency))
	case r.All && left == 0:
		lines = append(lines, "size: all that is held, which closes the position")
	case r.All:
		lines = append(lines, "size: all of the position that the account holds; the rest stays in wick's positions")
	}
	if r.Notional != 0 {
		lines = append(lines, fmt.Sprintf("size: for %s%s", r.Notional, cmp.Or(currency, " in the quote currency")))
	}
	s := o.Sizing
	if s == nil {
		return lines
	}
	of := fmt.Sprintf("%s%% of the %s, which is %s", s.Percent, strings.ReplaceAll(s.Of, "_", " "), s.Amount)
	switch {
	case s.Risk == 0:
		return append(lines, "size: "+of)
	case s.Of == "":
		return append(lines, fmt.Sprintf("size: to lose %s%s at most at the stop loss", s.Risk, currency))
	}
	return append(lines, fmt.Sprintf("size: to lose %s%s at most at the stop loss, %s", s.Risk, currency, of))
}

// gistOf returns what an order is worth, about, with its currency; empty if that is not known. One that
// waits for its rule is worth what it comes to then: at most worth, if a highest price is known.
func gistOf(o book.Order, worth exact.Money, known bool, engine *trade.Engine) string {
	estimate, currency := engine.Estimate(o), engine.Currency(o.Symbol)
	switch {
	case o.Pending() && known:
		return strings.TrimSpace("when its rule is true, at most " + worth.String() + " " + currency)
	case o.Pending():
		return "when its rule is true"
	case estimate.Price <= 0:
		return ""
	}
	return strings.TrimSpace("about " + worthOfFill(estimate) + " " + currency)
}

// worthOfFill returns what an order is worth, filled as its estimate says, to the
// nearest hundredth where it is one or more: a person needs no more digits.
func worthOfFill(x book.Estimate) string {
	worth, ok := x.Worth()
	if ok && worth >= exact.One {
		worth, ok = worth.Step(exact.One/100, exact.HalfEven)
	}
	if !ok {
		return exact.Product(x.Quantity, x.Price).String()
	}
	return worth.String()
}

// heading names an order: side, size, symbol and type. About is what stands before a size that may change.
func heading(o book.Order, about string) string {
	return fmt.Sprintf("%s %s%s %s, %s order", o.Side, about, o.Quantity, o.Symbol, strings.ReplaceAll(string(o.Type), "_", " "))
}

// priceOf says for a person at which price the order would be filled, and when. A stop
// has no price of its own: it takes that of the market when it comes to it.
func priceOf(o book.Order) string {
	switch {
	case o.AveragePrice != nil && o.Price != nil:
		return fmt.Sprintf("about %s, now; the limit is %s", o.AveragePrice, o.Price)
	case o.AveragePrice != nil:
		return fmt.Sprintf("about %s, now", o.AveragePrice)
	case o.Type.HasStop() && o.StopPrice == nil && o.Price != nil:
		return o.Price.String() + " or better, once the market has come to the stop, which is worked out when its rule is true"
	case o.Type.HasStop() && o.StopPrice == nil:
		return "that of the market, once it comes to the stop, which is worked out when its rule is true"
	case o.Type == book.TrailingStop:
		distance, side := o.TrailAmount.String(), "below its highest"
		if o.TrailPercent != 0 {
			distance = o.TrailPercent.String() + " %"
		}
		if o.Side == book.Buy {
			side = "above its lowest"
		}
		return fmt.Sprintf("that of the market, once it is %s %s since the order: about %s now", distance, side, o.StopPrice)
	case o.Price != nil && o.StopPrice != nil:
		return fmt.Sprintf("%s or better, once the market has come to %s", o.Price, o.StopPrice)
	case o.StopPrice != nil:
		return fmt.Sprintf("that of the market, once it comes to %s", o.StopPrice)
	case o.Price != nil && o.Status.Terminal():
		return fmt.Sprintf("%s or better; the market is not there, and it would end unfilled", o.Price)
	case o.Price != nil:
		return fmt.Sprintf("%s or better, once the market is there", o.Price)
	}
	return "that of the market"
}

// feeOf says what the fee would be. The currency, if it is known, follows a blank.
func feeOf(o book.Order, x book.Estimate, currency string) string {
	switch {
	case o.Account != "":
		return "what the broker takes"
	case x.Price == 0:
		return "that of the price then"
	}
	return "about " + x.Fee.String() + currency
}

// exitOf says where an exit stands, in the unit in which it was given, and to about
// which price that comes; zero is not known.
func exitOf(x book.Exit, about exact.Decimal) string {
	distance := x.Percent.String() + " %"
	switch {
	case x.Price != 0:
		return "at the price " + x.Price.String()
	case x.ATR == exact.One:
		distance = "1 average true range"
	case x.ATR != 0:
		distance = x.ATR.String() + " average true ranges"
	}
	if about == 0 {
		return distance + " from the entry"
	}
	return distance + " from the entry, about " + about.String()
}

// waitOf says how long an order may wait, empty for one that fills at once anyway. At a
// broker elsewhere nothing is known to, and it may not say when its day ends.
func waitOf(o book.Order) string {
	end := ""
	if o.ExpiresAt != nil {
		end = o.ExpiresAt.UTC().Format(time.DateTime) + " UTC"
	}
	switch {
	case o.TimeInForce == book.IOC:
		return "not at all; what does not fill at once is cancelled"
	case o.TimeInForce == book.FOK:
		return "not at all; it is filled whole at once or cancelled"
	case o.TimeInForce == book.Day && end == "":
		return "until the day or the session ends"
	case o.TimeInForce == book.Day:
		return "until " + end + ", when the day or the session ends"
	case end != "":
		return "until " + end
	case o.FilledQuantity == o.Quantity:
		return ""
	}
	return "until it is cancelled"
}

// positionAfter returns what would be held if the order were filled whole, less than zero
// for a short position, where so much is held now. Other open orders are not counted.
func positionAfter(o book.Order, held exact.Decimal) exact.Decimal {
	change := o.Quantity
	if o.Side == book.Sell {
		change = -change
	}
	after, _ := held.Add(change) // it fits: the preview was checked
	return after
}

// positionIn returns the position in a symbol. Its quantity is zero if there is none.
func positionIn(engine *trade.Engine, symbol string) (book.Position, error) {
	positions, err := engine.Positions(false)
	if at := slices.IndexFunc(positions, func(p book.Position) bool { return p.Symbol == symbol }); at >= 0 {
		return positions[at], err
	}
	return book.Position{}, err
}
