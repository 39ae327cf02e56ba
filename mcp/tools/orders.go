package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
	"wick/mcp"
	"wick/permit"
	"wick/trade"
	"wick/trade/book"
)

// orderRequest is the request of place_order. The descriptions of its arguments say what
// the specification leaves open and a model would guess wrong: what a limit on the wrong
// side does, in which unit the quantity is, what happens to two exits.
type orderRequest struct {
	book.OrderRequest
	when   book.When
	late   string
	labels string // the order that gets a tag or a note, and nothing else happens
}

// args declares the arguments of place_order: what to trade, how the order is executed,
// what protects the position, how long it waits, and what makes a retry safe. The engine
// checks which of them go together, since it knows the market.
func (r *orderRequest) args() []arg {
	percent := decimal(&r.TrailPercent, "trail_percent", "The same in percent, 3 for 3 %.")
	number := percent.set
	percent.set = func(v json.RawMessage) error { return number(bytes.Replace(v, []byte(`%"`), []byte(`"`), 1)) }
	replaces := text(&r.Replaces, "replaces", "The order_id of an open order to change, in one step and under a new id. Give only what changes, such as price.", maxID)
	read := replaces.set
	replaces.empty, replaces.set = true, func(v json.RawMessage) error { // with "" for absent, this would be a second order
		if err := read(v); err != nil || r.Replaces != "" {
			return err
		}
		return errors.New("replaces is empty: name an open order by its order_id, or leave it out")
	}
	when := text(&r.when.Rule, "when", "Wait until a bar closes on which this rule becomes true, such as rsi(14) crosses above 30; it is checked and placed then.", maxRule)
	when.empty = true // with "" for absent, the order would not wait
	return []arg{
		symbol(&r.Symbol, "Such as BTCUSDT. all, with type market and quantity all, closes every position."),
		word(&r.Side, "side", "Selling more than is held goes short where the account allows it. Ignored with symbol all.", "", book.Buy, book.Sell),
		word(&r.Type, "type", "stop fills at the market once the price comes to stop_price, stop_limit is a limit from then on, trailing_stop follows the market at a distance.", "",
			book.OrderTypes...),
		quantity(&r.OrderRequest),
		risk(&r.Risk),
		decimal(&r.Notional, "notional", "In place of quantity: the value in the quote currency, 500 for $500."),
		decimal(&r.Price, "price", "For limit and stop_limit, at most 8 decimals; for market with when: the worst price. A limit on the wrong side (a buy above the market, a sell below it) fills at once at the market's price."),
		stopPrice(&r.OrderRequest),
		decimal(&r.TrailAmount, "trail_amount", "For trailing_stop: the distance to the best price since, in the quote currency."),
		percent,
		exit(&r.StopLoss, "stop_loss", "On an entry: where to get out with a loss: a price (a number is a price, at most half of the entry away), or a distance from the entry in percent (\"3%\") or average true ranges (\"2atr\", of bars of the server's first interval). "+
			"It is a stop order once the entry is filled."),
		exit(&r.TakeProfit, "take_profit", "The same for the profit, as a limit order, from a tenth to ten times the entry. When one of the two fills, the other ends."),
		oco(&r.OCO),
		word(&r.TimeInForce, "time_in_force", "How long it may wait: gtc until cancelled, day to the end of the day or session, ioc for what fills at once, fok all at once or nothing, gtd until expires_at.", book.GTC, book.TimesInForce...),
		moment(&r.ExpiresAt, "expires_at", "For gtd: when it ends"+deadline, true),
		boolean(&r.PostOnly, "post_only", "For limit: refuse it if it would fill at once."),
		boolean(&r.ReduceOnly, "reduce_only", "Only ever close: what would open or grow a position is refused, or cut when it fills. An order against your position for no more than is held is reduce_only anyway, unless may_open."),
		boolean(&r.MayOpen, "may_open", "An order against your position may turn it around, and stays when the position is gone."),
		replaces,
		when,
		interval(&r.when.Interval, "For when: its bars. Default: the engine's first.", ""),
		boolean(&r.when.Now, "now", "For when: if the rule is true already, at once."),
		word(&r.late, "late", "For when: cancel it if the rule becomes true while wick is down; else it is placed when the next bar closes.", "", "skip"),
		text(&r.ClientOrderID, "client_order_id", ownID, 48),
		text(&r.Tag, "tag", "Your name for the kind of trade, in one word: breakout or gap-fill.", 4*32),
		text(&r.Note, "note", "Why you trade; it stays with the trade.", book.MaxNote),
		text(&r.labels, "order_id", "With tag or note alone: gives them to this order, however old, and to the trade that it is part of.", maxID),
		boolean(&r.DryRun, "dry_run", "Check everything, say what would happen, place nothing."),
	}
}

// check refuses an order that lacks something, unless it replaces one that has it, and a label with
// anything else.
func (r *orderRequest) check(sent sent) (err error) {
	if sent["order_id"] != nil {
		for name := range sent {
			if name != "order_id" && name != "tag" && name != "note" {
				err = errors.New("order_id goes with tag and note alone, which change nothing else; another order takes the place of one by replaces")
			}
		}
		if sent["tag"] == nil && sent["note"] == nil {
			err = errors.New("order_id goes with tag or note: say what the order is to be called")
		}
		return err
	}
	switch given := sent["interval"] != nil || sent["late"] != nil || r.when.Now; {
	case sent["when"] == nil && given:
		return errors.New("interval, now and late go with when")
	case sent["when"] != nil && r.Symbol == everything:
		return errors.New("when is for one symbol")
	case sent["when"] != nil:
		r.when.Skip = r.late != ""
		r.When = &r.when
	}
	if sent["replaces"] != nil {
		if sent["time_in_force"] == nil {
			r.TimeInForce = "" // as it is, and not the default
		}
		return nil
	}
	for _, need := range []struct{ name, is string }{{"symbol", "such as BTCUSDT"}, {"side", "buy or sell"}, {"type", "one of market, limit, stop, stop_limit, trailing_stop"}} {
		if sent[need.name] == nil {
			err = errors.Join(err, fmt.Errorf("%s is required, %s", need.name, need.is))
		}
	}
	if sent["quantity"] == nil && sent["notional"] == nil && sent["risk"] == nil {
		err = errors.Join(err, errors.New("quantity is required, in units of the base, above 0, or all; notional or risk may be given in its place"))
	}
	return err
}

// placeOrder defines place_order: one order, or with symbol all an order for each open
// position. It refuses arguments that it does not know: an order without the stop_loss
// that somebody misspelled is another order.
func (h *handlers) placeOrder() tool {
	return define(mcp.Tool{
		Name:  "place_order",
		Cost:  mcp.Waiting,
		Title: "Place an order",
		Description: h.whereOrdersGo() + "symbol, side, type and quantity (or notional, or risk) are needed; with replaces only what changes. " +
			"To sell, close or protect what is held, an order against it is enough; stop_loss and take_profit go with an entry. " +
			"With client_order_id a retry is safe: the same id and arguments return the first order. " +
			"Unknown arguments are refused.",
		Annotations: mcp.Annotations{Destructive: true},
	}, refuses, (*orderRequest).args, (*orderRequest).check, func(ctx context.Context, c mcp.Call, r *orderRequest) (*mcp.Result, error) {
		r.Who = who(c)
		if r.labels != "" {
			o, err := h.Engine.Label(ctx, r.Who, r.labels, r.Label)
			if err != nil {
				return nil, err
			}
			return mcp.JSON(o), nil
		}
		if r.Symbol == everything {
			return h.closeAll(ctx, c.Caller, r)
		}
		grant, err := h.admit(ctx, c, &r.OrderRequest)
		if err != nil {
			return nil, h.orSimilar(ctx, r.Symbol, err)
		}
		placed, err := h.Engine.PlaceOrder(ctx, r.OrderRequest)
		grant.Settle(err == nil)
		if err != nil {
			return nil, h.orSimilar(ctx, r.Symbol, err)
		}
		// Nothing is read anew for the reply: a failure now would look as if the order was not placed.
		o, reply := placed.Order, replyTo(r, placed)
		reply.Exits = placed.Beside
		if worth, known := worthOf(h.Engine, r.OrderRequest, o); o.ID == "" && h.Gate.Needs(c.Caller.Client, worth, known) {
			reply.Note = "a person has to approve this order before it is placed (--confirm-above): the call without dry_run asks"
		}
		return mcp.JSON(reply), nil
	})
}

// closeAll closes every position and lists what happened to each. If one cannot be
// closed, the others are closed all the same, and the result is marked as an error so that
// nobody takes the work for done.
func (h *handlers) closeAll(ctx context.Context, c mcp.Caller, r *orderRequest) (*mcp.Result, error) {
	var previews []trade.Closed
	var grant permit.Grant
	note := ""
	if h.Gate.Asks() {
		dry := r.OrderRequest
		dry.DryRun = true
		var err error
		if previews, err = h.Engine.CloseAll(ctx, dry, nil); err != nil {
			return nil, err
		}
		switch grant, err = h.admitAll(ctx, c, r.OrderRequest, previews); {
		case err == nil:
		case r.DryRun:
			note = "without dry_run this is refused: " + err.Error()
		default:
			return nil, err
		}
	}
	r.Worth = grant.Worth // of all together: after a restart each counts as much, which is too much and never too little
	closed, err := h.Engine.CloseAll(ctx, r.OrderRequest, previews)
	grant.Settle(!r.DryRun && slices.ContainsFunc(closed, func(c trade.Closed) bool { return c.Error == "" }))
	if err != nil {
		return nil, err
	}
	orders := make([]any, len(closed))
	for i, one := range closed {
		if orders[i] = replyTo(r, one.Placed); one.Error != "" {
			orders[i] = one
		}
	}
	result := mcp.JSON(struct {
		Orders []any  `json:"orders"`
		Note   string `json:"note,omitempty"`
	}{orders, note})
	result.IsError = slices.ContainsFunc(closed, func(c trade.Closed) bool { return c.Error != "" })
	return result, nil
}

// who returns the caller's names for the journal, in which every change says who made it.
// They also tell which orders are a client's own.
func who(c mcp.Call) book.Who {
	return book.Who{Name: c.Caller.Name, Client: c.Caller.Client, ID: c.Caller.ID}
}

// orderReply is the reply of place_order: the order, and whether it was a dry run. The
// members of the order are at the top level, as in every other reply with an order.
type orderReply struct {
	book.Placed
	DryRun bool   `json:"dry_run,omitempty"`
	Exists bool   `json:"exists,omitempty"` // a dry run found the order that its client_order_id names
	Note   string `json:"note,omitempty"`

	Exits []book.Order `json:"exits,omitempty"` // the orders that protect the position, or the one beside a limit
}

// replyTo returns the reply of place_order. If an order with the client_order_id of a dry
// run exists already, o is that order, and a note says so: otherwise it would look like a
// new one.
func replyTo(r *orderRequest, o book.Placed) orderReply {
	reply := orderReply{Placed: o, DryRun: r.DryRun}
	if len(o.Left) > 0 {
		reply.Note = fmt.Sprintf("the position is closed, and these orders of %s stay open without it: %s; cancel_order ends them", o.Symbol, atMostTen(o.Left))
	}
	if r.DryRun && o.ID != "" {
		reply.Exists = true
		reply.Note = fmt.Sprintf("client_order_id %q exists: placing this order would return %s as it stands and place nothing new", o.ClientOrderID, o.ID)
	}
	return reply
}

// maxRule bounds the rule that an order waits for, in characters, as the language of rules does.
const maxRule = 400

// maxID bounds the ids that clients send, in characters; the ids that we make are shorter.
const maxID = 64

// chosen is the request of a tool that cancels one order or alert, several, those of a symbol, or all.
type chosen struct {
	id, symbol string
	ids        []string
	all        bool
}

// check refuses a request that chooses nothing, or in two ways. The argument id names one, as the
// tool made returned it; others are the other ways but all.
func (r *chosen) check(id, made, others string) error {
	if r.symbol == everything { // as in place_order
		r.symbol, r.all = "", true
	}
	given := 0
	for _, is := range []bool{r.id != "", len(r.ids) > 0, r.symbol != "", r.all} {
		if is {
			given++
		}
	}
	switch given {
	case 0:
		return fmt.Errorf("%s is required, as %s returned it; or %s, or all=true", id, made, others)
	case 1:
		return nil
	}
	return fmt.Errorf("%s, %s and all exclude each other: send one of them", id, others) // it could mean either
}

// cancelOrder defines cancel_order: one order, those of a symbol, or all of them.
func (h *handlers) cancelOrder() tool {
	return define(mcp.Tool{
		Name:  "cancel_order",
		Cost:  mcp.Waiting,
		Title: "Cancel an order",
		Description: "Cancel an open order by its order_id, those of a symbol, or all. " +
			"Of two that exclude each other, such as stop_loss and take_profit, both are cancelled. " +
			"Only the owner can stop all trading, with wick halt on.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
	}, refuses, func(r *chosen) []arg {
		return []arg{
			text(&r.id, "order_id", "As place_order returned it.", maxID),
			symbol(&r.symbol, "In place of order_id: all open orders of it."),
			boolean(&r.all, "all", "In place of order_id: every open order."),
		}
	}, func(r *chosen, _ sent) error { return r.check("order_id", "place_order", "symbol") }, func(_ context.Context, c mcp.Call, r *chosen) (*mcp.Result, error) {
		if r.id == "" {
			cancelled, err := h.Engine.CancelOrders(who(c), r.symbol)
			if err != nil {
				return nil, err
			}
			// Only the ids, since there may be a thousand. It is no error if there are none: a
			// client that cancels all orders wants none to be open.
			ids := []string{}
			for _, o := range cancelled {
				ids = append(ids, o.ID)
			}
			return mcp.JSON(struct {
				OK        bool     `json:"ok"`
				Cancelled int      `json:"cancelled"`
				Orders    []string `json:"order_ids"`
			}{true, len(ids), ids}), nil
		}
		o, err := h.Engine.CancelOrder(who(c), r.id)
		if err != nil {
			return nil, err
		}
		return mcp.JSON(struct {
			OK bool `json:"ok"`
			trade.Cancelled
		}{true, o}), nil
	})
}

// ordersRequest is what get_orders was asked for.
type ordersRequest struct {
	filter, id   string
	symbol       string
	since, until time.Time
	mine         bool
	view, tag    string
	by, zone     string
	page
}

func (r *ordersRequest) args() []arg {
	return append([]arg{
		// Models also call the filter status, because that is its name in an order.
		word(&r.filter, "filter", "open: can still fill; filled: at least in part.", "all", "open", "all", "filled", "cancelled", "rejected").also("status"),
		word(&r.view, "view", "trades: from flat to flat, open ones first, with profit, R, the most each was ahead and behind, tags. report: closed trades summed up. since and until then mean their end.", "orders", "orders", "trades", "report"),
		word(&r.by, "by", "With report: a line for each.", book.ReportBy[0], book.ReportBy...),
		text(&r.zone, "timezone", "With report: of the months, such as America/New_York.", 64).also("tz"),
		text(&r.tag, "tag", "With trades and report: only this tag.", 4*32),
		text(&r.id, "order_id", "This order alone, also by client_order_id, however old: with the price now, what it waits for and how far that is, or what ended it.", maxID).also("client_order_id"),
		symbol(&r.symbol, "Only this symbol."),
		// since is inclusive and until is not, so that no order is in two periods that follow
		// each other.
		moment(&r.since, "since", "Changed at this time or later: a date, a time in UTC (2026-01-31 14:30), RFC 3339 or unix seconds.", false).also("from"),
		moment(&r.until, "until", "Changed before this time.", false).also("to"),
		boolean(&r.mine, "mine", "Only those that this client placed.").also("client"),
	}, r.page.args()...)
}

func (r *ordersRequest) check(sent sent) error {
	switch {
	case r.view == "orders" && sent["tag"] != nil:
		return errors.New("tag goes with view=trades or view=report")
	case r.view != "report" && (sent["by"] != nil || sent["timezone"] != nil):
		return errors.New("by and timezone go with view=report")
	case r.view == "report" && r.filter == "open":
		return errors.New("view=report sums closed trades up: leave out filter")
	case r.view != "orders" && (r.mine || r.id != "" || r.filter != everything && r.filter != "open"):
		return fmt.Errorf("view=%s goes with symbol, tag, since, until and filter=open: a trade has orders of several clients", r.view)
	}
	return nil
}

// getOrders defines get_orders: orders of every client, newest first, or one order by
// its id.
func (h *handlers) getOrders() tool {
	return define(mcp.Tool{
		Name:        "get_orders",
		Title:       "Orders",
		Description: "Orders with their fills, newest first, one order by its id, or with view the trades that they made and a report of those.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
	}, reports, (*ordersRequest).args, (*ordersRequest).check, func(ctx context.Context, c mcp.Call, r *ordersRequest) (*mcp.Result, error) {
		if r.symbol == everything { // as in place_order
			r.symbol = ""
		}
		f := trade.TradeFilter{Symbol: r.symbol, Tag: r.tag, Since: r.since, Until: r.until, Open: r.filter == "open"}
		switch {
		case r.view == "trades":
			return h.trades(ctx, f, r.page)
		case r.view == "report":
			return h.report(ctx, f, r.by, r.zone, r.page)
		case r.id == "":
			return h.orders(ctx, c, r)
		}
		o, x, err := h.Engine.Outlook(r.id)
		if err != nil {
			return nil, err
		}
		return mcp.JSON([]struct {
			book.Order
			book.Outlook
		}{{o, x}}), nil
	})
}

// orders returns a page of the orders that pass all filters that were given.
func (h *handlers) orders(ctx context.Context, c mcp.Call, r *ordersRequest) (*mcp.Result, error) {
	wanted := trade.OrderFilter{Symbol: r.symbol, Since: r.since, Until: r.until}
	if r.filter != everything {
		wanted.Status = book.OrderStatus(r.filter)
	}
	if caller := who(c); r.mine {
		wanted.Client = &caller
	}
	orders, err := h.Engine.Find(wanted)
	if err != nil {
		return nil, err
	}
	// The page may go beyond the orders in memory, which are the newest, into the journal.
	p, archived := r.page, trade.Archived{More: true}
	if p.offset+cmp.Or(p.limit, 100) >= len(orders) { // fewer than a hundred fit without a limit
		skip := max(0, p.offset-len(orders))
		if archived, err = h.Engine.FindArchived(ctx, wanted, skip, maxPage); err != nil {
			return nil, err
		}
		if skip > 0 {
			orders, p.offset = nil, 0
		}
		slices.Reverse(archived.Orders)
		orders = append(archived.Orders, orders...)
	}
	text, n, left := cut(p, orders)
	more := ""
	switch {
	case archived.More:
		more = "more follow" // how many is not known
	case left > 0:
		more = fmt.Sprintf("%d more of %d", left, r.page.offset+n+left)
	}
	return answer(text, "get_orders", more, r.page.offset+n, archived.Before), nil
}

// getPositions defines get_positions. Totals and the account are further texts, since the
// first text is an array; the view of the risk is an object.
func (h *handlers) getPositions() tool {
	return define(mcp.Tool{
		Name:  "get_positions",
		Title: "Positions",
		Description: "Open positions with entry price, price now, unrealized and realized profit. " +
			"account=true adds what the account has, made and risks; view=risk is exposure, risk to the stops and correlation, with weights also the orders that would rebalance.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
	}, reports, (*positionsRequest).args, (*positionsRequest).check, func(ctx context.Context, c mcp.Call, r *positionsRequest) (*mcp.Result, error) {
		if r.view == "risk" {
			return h.risk(ctx, r)
		}
		// The first text is the list, as it is without the two arguments. Each of them adds a
		// text of its own.
		positions, err := h.Engine.Positions(r.flat)
		if err != nil {
			return nil, err
		}
		result := mcp.JSON(positions)
		add := func(text []byte) { result.Content = append(result.Content, mcp.Content{Text: text}) }
		if totals, ok := book.Sum(positions); ok && r.flat {
			add(append([]byte(`totals over all symbols, each in its own currency: `), mcp.Encode(totals)...))
		}
		if r.account {
			account, err := h.statement()
			if err != nil {
				return nil, err
			}
			add(account)
		}
		return result, nil
	})
}

// getBalance defines get_balance. As the specification says, it always refuses. The
// refusal says what to call instead, since models ask for the balance before they trade.
func (h *handlers) getBalance() tool {
	return define(mcp.Tool{
		Name:        "get_balance",
		Title:       "Balance (not available)",
		Description: "Has no balance of its own: get_positions with account=true has cash, equity and buying power.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, nil, nil, func(context.Context, mcp.Call, *struct{}) (*mcp.Result, error) {
		return nil, errors.New("get_balance is not available: get_positions with account=true has the cash, equity and buying power of the account; retrying will not help")
	})
}

// quantity declares how much: a number, a percentage, or the word all.
func quantity(r *book.OrderRequest) arg {
	a := decimal(&r.Quantity, "quantity", "In units of the base, 0.5 of BTCUSDT is half a bitcoin, at most 8 decimals; all closes the position; "+
		"50% is of the position if the side closes it, else of the buying power.")
	number := a.set
	a.schema = members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string"}]`)
	a.set = func(v json.RawMessage) error {
		s, _ := readText("quantity", v) // number refuses what is not a single value
		share, isShare := strings.CutSuffix(s, "%")
		switch {
		case strings.EqualFold(s, everything):
			r.All = true
			return nil
		case isShare:
			d, err := exact.Parse([]byte(strings.TrimSpace(share)))
			if err != nil || d <= 0 || d > 100*exact.One {
				return fmt.Errorf("quantity %q: a percentage is above 0 and at most 100", limit.Clip(s))
			}
			r.Share = d
			return nil
		case s != "" && !strings.ContainsAny(s, "0123456789"): // half, max
			return fmt.Errorf("quantity %q: write units of the base, such as 0.5, a percentage such as 50%%, or all for the whole position", limit.Clip(s))
		}
		return number(v)
	}
	return a
}

// risk declares what may be lost at the stop_loss, as an amount or a percentage.
func risk(p *book.Stake) arg {
	return arg{
		name: "risk", doc: "In place of quantity, with stop_loss: what may be lost there, fees and slippage included: an amount such as 250, or 1% of the equity. sizing in the reply has the costs of one unit.",
		schema: members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string"}]`), set: single(p, "risk", book.ParseRisk),
	}
}

// stopPrice declares where a stop is triggered: a price, or the word breakeven.
func stopPrice(r *book.OrderRequest) arg {
	a := decimal(&r.StopPrice, "stop_price", "For stop and stop_limit: above the price for a buy, below it for a sell. breakeven: where the position comes out even after fees and slippage.")
	number := a.set
	a.schema = members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string","enum":["breakeven"]}]`)
	a.set = func(v json.RawMessage) error {
		if s, _ := readText("stop_price", v); strings.EqualFold(s, "breakeven") {
			r.Breakeven = true
			return nil
		}
		return number(v)
	}
	return a
}

// exit declares a stop_loss or a take_profit: a price, or a text such as 3% or 2atr. An
// empty text is refused and does not count as absent, since then the order would be
// placed without its protection.
func exit(p *book.Exit, name, doc string) arg {
	schema := members(`"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"string"}]`)
	return arg{name: name, doc: doc, schema: schema, empty: true, set: single(p, name, func(s string) (book.Exit, error) {
		x, err := book.ParseExit(s)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return x, err
	})}
}

// oco declares the stop beside a limit order, an object. The engine checks whether it is
// on the right side of the market. An empty text is refused, as by exit: in its place the
// order would have no stop, and in that of its price a stop without a limit.
func oco(p *book.OCO) arg {
	return arg{
		name: "oco", doc: "Beside a limit order: a stop on the other side of the market for the same quantity, with price a stop_limit. When one fills, the other ends.",
		empty:  true,
		schema: members(`"type":"object","properties":{"stop_price":{"type":"number","exclusiveMinimum":0},"price":{"type":"number","exclusiveMinimum":0}},"required":["stop_price"]`),
		set: func(v json.RawMessage) error {
			// The object is read like the arguments of a tool, with the same messages. Unknown
			// members are refused, as place_order refuses unknown arguments.
			stop, price := decimal(&p.StopPrice, "stop_price", ""), decimal(&p.Price, "price", "")
			stop.need, price.empty = "below the price for a sell, above it for a buy", true
			declared := []arg{stop, price}
			object, err := spelled("oco", v)
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(object, []byte("{")) || !json.Valid(object) {
				return fmt.Errorf(`oco must be an object such as {"stop_price":95}, not %s`, limit.Clip(string(v)))
			}
			_, unknown, err := read(declared, object)
			if err != nil { // a line for each mistake
				err = errors.New("oco: " + strings.ReplaceAll(err.Error(), "\n", "\noco: "))
			}
			if len(unknown) > 0 {
				err = errors.Join(errors.New(sentence("oco", declared, unread(declared, unknown))), err)
			}
			return err
		},
	}
}

// deadline describes the time at which an order or an alert ends.
const deadline = ": a date (2026-01-31, to its end), a time in UTC (2026-01-31 14:30), RFC 3339 or unix seconds."

// ownID describes the ids of clients for their orders and alerts.
const ownID = "Your own id, which makes a retry safe: 1 to 48 of A-Z a-z 0-9 . _ : -"

// moment declares a time. A date means the beginning of that day in UTC, or with end its
// last second. An empty text is refused, as by exit: an order would wait for ever.
func moment(p *time.Time, name, doc string, end bool) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"string"`), empty: true, set: single(p, name, func(s string) (time.Time, error) {
		if t, err := time.Parse(time.RFC3339, s); err == nil { // which keeps fractions of a second
			return t, nil
		}
		at, err := market.ParseTime(s, time.UTC, end)
		if err != nil {
			return time.Time{}, fmt.Errorf("%s %q is no time: write a date such as 2026-01-31, 2026-01-31 14:30 in UTC, RFC 3339 or unix seconds", name, limit.Clip(s))
		}
		return time.Unix(at, 0).UTC(), nil
	})}
}

// trades returns a page of trades.
func (h *handlers) trades(ctx context.Context, f trade.TradeFilter, p page) (*mcp.Result, error) {
	found, err := h.Engine.FindTrades(ctx, f, p.offset, maxPage)
	if err != nil {
		return nil, err
	}
	offset, more := p.offset, ""
	p.offset = 0
	slices.Reverse(found.Trades)
	text, n, left := cut(p, found.Trades)
	if left > 0 || found.More {
		more = "more follow"
	}
	return answer(text, "get_orders", more, offset+n, found.Before), nil
}

// report returns closed trades, summed up: a page of the lines, and the sums of all.
func (h *handlers) report(ctx context.Context, f trade.TradeFilter, by, timezone string, p page) (*mcp.Result, error) {
	zone, err := market.ParseZone(timezone)
	if err != nil {
		return nil, fixable(err)
	}
	zone = cmp.Or(zone, time.UTC)
	groups, all, before, err := h.Engine.Report(ctx, f, by, zone)
	if err != nil {
		return nil, err
	}
	slices.Reverse(groups)
	text, n, left := cut(p, groups)
	more := ""
	if left > 0 {
		more = fmt.Sprintf("%d more groups", left)
	}
	return answer(mcp.Encode(struct {
		By       string          `json:"by"`
		Timezone string          `json:"timezone"`
		Groups   json.RawMessage `json:"groups"`
		All      []*book.Group   `json:"all"` // one for each currency
	}{by, zone.String(), text, append([]*book.Group{}, all...)}), "get_orders", more, p.offset+n, before), nil
}
