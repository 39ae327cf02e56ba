package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/permit"
	"wick/trade"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// confirming opens a desk on which a person must approve orders above 10 within an hour. At
// the time at which a bubble begins the sample's price of HBARUSDT is about 16.
func confirming(t *testing.T) (*desk, approver) {
	d := openDesk(t, t.TempDir())
	a := approver{gateAt(10*exact.One, "http://localhost:9315/approve"), d.engine}
	d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: a.Gate})
	return d, a
}

// gateAt returns a gate that asks above a sum, and takes forms of clients for an answer.
func gateAt(above exact.Decimal, page string) *permit.Gate {
	return permit.New(permit.Options{Above: above, Page: page, InClient: true})
}

// approver is the owner at the page.
type approver struct {
	*permit.Gate
	engine *trade.Engine
}

// Answer answers a question on the page and reports whether that counts.
func (a approver) Answer(id string, yes bool) bool {
	_, err := a.May(context.Background(), permit.Caller{Door: permit.Page, Scopes: permit.Scopes{permit.Owner, permit.Person}},
		permit.Action{Name: "approve", Answer: &permit.Answer{ID: id, Yes: yes}}, func(e permit.Evidence) error { return a.engine.RecordAnswer(mcp.Encode(e)) })
	return err == nil
}

const (
	approvalLife    = 10 * time.Minute
	maxOwnQuestions = 10
)

// order places an order as a call and returns how it was asked for, if it was.
func (d *desk) order(c mcp.Call, arguments string) (*mcp.InputRequired, error) {
	for _, t := range d.tools {
		if t.Name == "place_order" {
			c.Arguments = json.RawMessage(arguments)
			if c.Caller.ID == "" {
				c.Caller = trader
			}
			r, err := t.Handle(d.t.Context(), c)
			if err == nil && r.IsError { // at a broker
				err = errors.New(string(r.Content[0].Text))
			}
			input := (*mcp.InputRequired)(nil)
			errors.As(err, &input)
			return input, err
		}
	}
	return nil, nil
}

const wholeCoin = `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1}`

// accept is the answer of a person who says yes.
var accept = map[string]mcp.Response{"approve": {Action: "accept", Content: json.RawMessage(`{"approve":true}`)}}

// TestNoPage: over stdio a client that cannot be asked is told which can be. It may well
// know elicitation, of an era in which wick does not ask.
func TestNoPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(0, "")})
		time.Sleep(3 * time.Second)
		_, err := d.order(mcp.Call{}, wholeCoin)
		want := "Here only a client that declares elicitation in MCP 2026-07-28 is shown the question, and there is no page over stdio: use such a client, or one that is connected to wick --serve."
		if err == nil || !strings.HasSuffix(err.Error(), "; nothing was placed. "+want) {
			t.Errorf("the refusal is %v", err)
		}
	})
}

// A model that tries to approve for itself does not get an order
// placed: by arguments, by states that it made up, changed, replayed or took from
// another client or order, by answers that are no yes, or late.
func TestModelCannotApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		placed := func() int { return len(must(d.engine.Orders(false))) }
		ask := func() string {
			t.Helper()
			input, _ := d.order(mcp.Call{Elicits: true}, wholeCoin)
			if input == nil || !strings.Contains(input.Message, "buy 1 HBARUSDT") || !strings.Contains(input.Message, "paper") || !strings.Contains(input.Message, "position after: 1") {
				t.Fatalf("no question: %+v", input)
			}
			return input.State
		}
		for _, extra := range []string{`"approve":true`, `"confirm":true`, `"acknowledged":true`, `"approved_by":"owner"`, `"requestState":"x"`, `"inputResponses":{"approve":{"action":"accept"}}`, `"passphrase":"x"`} {
			if _, err := d.order(mcp.Call{}, strings.TrimSuffix(wholeCoin, "}")+","+extra+"}"); err == nil {
				t.Errorf("an argument %s approves", extra)
			}
		}
		good := ask()
		yes := func(state string) mcp.Call { return mcp.Call{Elicits: true, State: state, Responses: accept} }
		for what, c := range map[string]mcp.Call{
			"no state":       {Elicits: true, Responses: accept},
			"a made-up one":  yes("approved"),
			"a changed one":  yes(good[:len(good)-2] + "AA"),
			"a cut one":      yes(good[:10]),
			"another client": {Elicits: true, Caller: mcp.Caller{ID: "token-2", Client: "client", Scope: "charts trade", Door: "http"}, State: good, Responses: accept},
		} {
			if _, err := d.order(c, wholeCoin); err == nil || placed() > 0 {
				t.Errorf("%s: %v, %d orders", what, err, placed())
			}
		}
		for _, other := range []string{
			strings.Replace(wholeCoin, `:1}`, `:2}`, 1), strings.Replace(wholeCoin, "buy", "sell", 1), strings.Replace(wholeCoin, "HBAR", "FET", 1),
			strings.TrimSuffix(wholeCoin, "}") + `,"client_order_id":"x"}`,
		} {
			if _, err := d.order(yes(good), other); err == nil || placed() > 0 {
				t.Errorf("the approval of another order: %s: %v", other, err)
			}
		}
		for _, answer := range []mcp.Response{{Action: "decline"}, {Action: "cancel"}, {Action: "accept", Content: json.RawMessage(`{"approve":false}`)}, {Action: "decline", Content: json.RawMessage(`{"approve":true}`)}} {
			state := ask()
			if _, err := d.order(mcp.Call{Elicits: true, State: state, Responses: map[string]mcp.Response{"approve": answer}}, wholeCoin); !errors.Is(err, permit.ErrNo) || placed() > 0 {
				t.Errorf("%+v is taken for a yes: %v", answer, err)
			}
			if _, err := d.order(yes(state), wholeCoin); err == nil || placed() > 0 {
				t.Errorf("after %+v the same state approves", answer)
			}
		}
		old := ask()
		time.Sleep(approvalLife)
		if _, err := d.order(yes(old), wholeCoin); err == nil || placed() > 0 {
			t.Error("an old question is approved")
		}

		// The person's yes places it, once.
		state := ask()
		if _, err := d.order(yes(state), wholeCoin); err != nil || placed() != 1 {
			t.Fatalf("the person's yes: %v, %d orders", err, placed())
		}
		time.Sleep(time.Minute) // an equal order is refused for a while
		if _, err := d.order(yes(state), wholeCoin); err == nil || placed() != 1 {
			t.Errorf("a replay: %v, %d orders", err, placed())
		}
		if len(a.Waiting()) > 0 {
			t.Errorf("left over: %v", a.Waiting())
		}
	})
}

// A person who approved selling the 2 that were held does not sell 12 because 10 were
// bought meanwhile: the approval in a form is refused, and on the page the person is asked
// again. The next question has the new size.
func TestApprovedSizeIsPlaced(t *testing.T) {
	const closing, bought = `{"symbol":"HBARUSDT","side":"sell","type":"market","quantity":"all"}`, `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":%d,"client_order_id":"b%[1]d"}`
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		// What is bought here needs no yes: it comes from elsewhere.
		buy := func(quantity int) {
			t.Helper()
			asking := d.tools
			d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub})
			if _, err := d.order(mcp.Call{}, fmt.Sprintf(bought, quantity)); err != nil {
				t.Fatal(err)
			}
			d.tools = asking
		}
		ask := func(size string) *mcp.InputRequired {
			t.Helper()
			input, err := d.order(mcp.Call{Elicits: true}, closing)
			if input == nil || !strings.Contains(input.Message, "sell "+size+" HBARUSDT") || !strings.Contains(input.Message, "position after: 0 HBARUSDT") {
				t.Fatalf("no question to sell %s: %+v, %v", size, input, err)
			}
			return input
		}
		held := func(want string) {
			t.Helper()
			first := append(must(d.engine.Positions(false)), book.Position{})[0]
			if got := first.Quantity.String(); got != want {
				t.Errorf("%s are held, want %s", got, want)
			}
		}
		buy(2)
		old := ask("2").State
		buy(10)
		_, err := d.order(mcp.Call{Elicits: true, State: old, Responses: accept}, closing)
		if err == nil || !strings.Contains(err.Error(), "the position has changed since the person was asked") || !strings.Contains(err.Error(), "nothing was placed") {
			t.Errorf("a yes for 2 when 12 are held: %v", err)
		}
		held("12")
		page := regexp.MustCompile(`id=(\w+) `)
		_, err = d.order(mcp.Call{}, closing)
		link := page.FindStringSubmatch(fmt.Sprint(err))
		if link == nil || !a.Answer(link[1], true) {
			t.Fatalf("no question on the page: %v", err)
		}
		buy(20)
		if _, err = d.order(mcp.Call{}, closing); !page.MatchString(fmt.Sprint(err)) {
			t.Errorf("a yes on the page for 12 when 32 are held: %v", err)
		}
		held("32")
		if _, err := d.order(mcp.Call{Elicits: true, State: ask("32").State, Responses: accept}, closing); err != nil {
			t.Errorf("a yes for what is held: %v", err)
		}
		held("0")
	})
}

// TestApprovedDrift: a yes covers a price a twentieth worse than the one shown, for orders that
// take the price of the market, and a size of a value that follows it as far. By hand, of 100
// and 40 shares.
func TestApprovedDrift(t *testing.T) {
	price, limit := 100*exact.One, 90*exact.One
	for name, c := range map[string]struct {
		notional exact.Decimal
		order    book.Order
		want     permit.Limits
	}{
		"a buy":               {0, book.Order{Side: book.Buy, AveragePrice: &price}, permit.Limits{Quantity: 40 * exact.One, Price: 105 * exact.One}},
		"a sell":              {0, book.Order{Side: book.Sell, AveragePrice: &price}, permit.Limits{Quantity: 40 * exact.One, Price: 95 * exact.One}},
		"a value":             {4000 * exact.One, book.Order{Side: book.Buy, Type: book.Market, AveragePrice: &price}, permit.Limits{Quantity: 42 * exact.One, Price: 105 * exact.One}},
		"a limit, its own":    {0, book.Order{Side: book.Buy, AveragePrice: &price, Price: &limit}, permit.Limits{Quantity: 40 * exact.One}},
		"a value at a limit":  {3600 * exact.One, book.Order{Side: book.Buy, Type: book.Limit, Price: &limit}, permit.Limits{Quantity: 40 * exact.One}},
		"one that waits: any": {0, book.Order{Side: book.Sell}, permit.Limits{Quantity: 40 * exact.One}},
	} {
		c.order.Quantity = 40 * exact.One
		if got := limitsOf(book.OrderRequest{Notional: c.notional}, c.order); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestApprovedPosition: a yes is for what the preview says comes of the order. Where
// somebody else has closed the position meanwhile, the same order would open another.
func TestApprovedPosition(t *testing.T) {
	const selling = `{"symbol":"HBARUSDT","side":"sell","type":"market","quantity":4,"client_order_id":"a"}`
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		elsewhere := func(side book.Side, id string) {
			t.Helper()
			if _, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "HBARUSDT", Side: side, Type: book.Market, Quantity: 4 * exact.One, ClientOrderID: id}); err != nil {
				t.Fatal(err)
			}
		}
		page := regexp.MustCompile(`id=(\w+) `)
		elsewhere(book.Buy, "1")
		input, _ := d.order(mcp.Call{Elicits: true}, selling)
		_, err := d.order(mcp.Call{}, selling)
		link := page.FindStringSubmatch(fmt.Sprint(err))
		if input == nil || !strings.Contains(input.Message, "position after: 0 HBARUSDT") || link == nil || !a.Answer(link[1], true) {
			t.Fatalf("no questions: %+v, %v", input, err)
		}
		elsewhere(book.Sell, "2")
		if _, err := d.order(mcp.Call{}, selling); !page.MatchString(fmt.Sprint(err)) {
			t.Errorf("the yes of the page when nothing is held any more: %v", err)
		}
		input, _ = d.order(mcp.Call{Elicits: true}, selling)
		if input == nil || !strings.Contains(input.Message, "position after: -4 HBARUSDT") {
			t.Errorf("asked anew: %+v", input)
		}
		elsewhere(book.Buy, "3")
		if _, err := d.order(mcp.Call{Elicits: true, State: input.State, Responses: accept}, selling); !strings.Contains(fmt.Sprint(err), "it was 0 and is 4 now") {
			t.Errorf("a yes for a short position when 4 are held: %v", err)
		}
		if p := must(d.engine.Positions(false)); len(p) != 1 || p[0].Quantity != 4*exact.One || p[0].Side != "long" {
			t.Errorf("held: %+v", p)
		}
	})
}

// TestApprovedBreakeven: a yes to a stop at breakeven is for the price that it says. Once the same quantity
// cost more, the person is asked anew. One that waits for a rule has no price yet, so it says none and
// always asks.
func TestApprovedBreakeven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		trade := func(side book.Side, id string) string {
			t.Helper()
			o, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "HBARUSDT", Side: side, Type: book.Market, Quantity: exact.One, ClientOrderID: id})
			if err != nil {
				t.Fatal(err)
			}
			return o.AveragePrice.String()
		}
		ask := func(order string) (*mcp.InputRequired, error) {
			return d.order(mcp.Call{Elicits: true}, `{"symbol":"HBARUSDT","stop_price":"breakeven",`+order+`}`)
		}
		const stop = `"side":"sell","type":"stop","quantity":1`
		paid := trade(book.Buy, "1") // without fees it comes out even there
		first, err := ask(stop)
		for ; first == nil && strings.Contains(err.Error(), "stop_passed"); first, err = ask(stop) { // until the price has risen
			time.Sleep(time.Minute)
		}
		if first == nil || !strings.Contains(first.Message, "once it comes to "+paid+"\nstop: breakeven, where ") || !a.Answer(first.State, true) {
			t.Fatalf("asked %+v, %v; want a stop at %s", first, err, paid)
		}
		trade(book.Buy, "2")
		trade(book.Sell, "3") // what is left cost the average of both
		if again, err := ask(stop); again == nil || again.State == first.State || strings.Contains(again.Message, "once it comes to "+paid) {
			t.Errorf("asked %+v, %v; want a question about another stop", again, err)
		}
		for order, says := range map[string]string{
			stop: "price: that of the market, once it comes to the stop, which is worked out when its rule is true\nstop: breakeven, ",
			`"side":"sell","type":"stop_limit","price":9,"quantity":1`: "price: 9 or better, once the market has come to the stop, which is worked out when its rule is true\nstop: breakeven, ",
			`"side":"buy","type":"stop","quantity":0.0001`:             "which is worked out when its rule is true\n",
		} {
			if input, err := ask(order + `,"when":"close < 1"`); input == nil || !strings.Contains(input.Message, says) {
				t.Errorf("%s with a rule asks %+v, %v; want %s", order, input, err, says)
			}
		}
	})
}

// TestCountedSizeIsPlaced: what was counted of the sum that needs no yes is for the quantity of
// then. A quarter of two shares is worth 8 and passes; of 102 it would be worth 400.
func TestCountedSizeIsPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		buy := func(quantity exact.Decimal, id string) {
			t.Helper()
			if _, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "HBARUSDT", Side: book.Buy, Type: book.Market, Quantity: quantity, ClientOrderID: id}); err != nil {
				t.Fatal(err)
			}
		}
		h := newHandlers(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: a.Gate})
		buy(2*exact.One, "1")
		r := book.OrderRequest{Symbol: "HBARUSDT", Side: book.Sell, Type: book.Market, Share: 25 * exact.One}
		if _, err := h.admit(t.Context(), mcp.Call{Caller: trader}, &r); err != nil {
			t.Fatal(err)
		}
		buy(100*exact.One, "2")
		if p, err := d.engine.Place(t.Context(), r); !strings.Contains(fmt.Sprint(err), "a quantity of 0.5 was let through, and it would be 25.5 now; nothing was placed") {
			t.Errorf("a quarter of what is held now: %+v, %v", p, err)
		}
	})
}

// TestApprovedPartIsPlaced: of ten shares in the book the account at the broker has five, which
// the preview of quantity all says; if it has all ten by the time of the yes, that yes is for
// another order, and ten are not sold.
func TestApprovedPartIsPlaced(t *testing.T) {
	const closing = `{"symbol":"AAPL","side":"sell","type":"market","quantity":"all"}`
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		d := openDesk(t, t.TempDir(), atVenue(t, v))
		defer d.stop()
		time.Sleep(time.Second)
		if _, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "AAPL", Side: book.Buy, Type: book.Market, Quantity: 10 * exact.One}); err != nil {
			t.Fatal(err)
		}
		d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(0, "http://localhost:9315/approve")})
		v.Adjust("AAPL", -5*exact.One)
		time.Sleep(2 * time.Minute)
		input, err := d.order(mcp.Call{Elicits: true}, closing)
		if input == nil || !strings.Contains(input.Message, "sell 5 AAPL") || !strings.Contains(input.Message, "the rest stays in wick's positions") || !strings.Contains(input.Message, "position after: 5 AAPL") {
			t.Fatalf("asked: %+v, %v, want a sale of 5 that leaves 5 in the book", input, err)
		}
		v.Adjust("AAPL", 5*exact.One)
		time.Sleep(time.Minute)
		if _, err := d.order(mcp.Call{Elicits: true, State: input.State, Responses: accept}, closing); !strings.Contains(fmt.Sprint(err), "it was 5 and is 10 now") || v.Position("AAPL") != 10*exact.One {
			t.Errorf("the yes for 5 once 10 can be sold: %v, the account has %s, want nothing sold", err, v.Position("AAPL"))
		}
	})
}

// TestApprovalOfAll: closing every position needs no yes where all of it together is
// within the sum; a dry run says of it, and of one order, when one is needed.
func TestApprovalOfAll(t *testing.T) {
	const all = `{"symbol":"all","side":"sell","type":"market","quantity":"all"`
	synctest.Test(t, func(t *testing.T) {
		d, _ := confirming(t)
		defer d.stop()
		dry := func(arguments string) string {
			t.Helper()
			r, err := d.call(trader, "place_order", arguments)
			if err != nil {
				t.Fatal(err)
			}
			return string(r.Content[0].Text)
		}
		for _, symbol := range []string{"HBARUSDT", "ETHUSDT"} {
			if _, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: symbol, Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
				t.Fatal(err)
			}
		}
		if got := dry(all + `,"dry_run":true}`); strings.Count(got, `"dry_run":true`) != 2 || !strings.Contains(got, "without dry_run this is refused") || strings.Contains(got, "dry_run asks") {
			t.Errorf("a dry run of what needs a yes: %s", got)
		}
		if _, err := d.order(mcp.Call{}, all+"}"); !strings.Contains(fmt.Sprint(err), "closing every position needs a person's approval") || len(must(d.engine.Positions(false))) != 2 {
			t.Errorf("above the sum: %v", err)
		}
		if got := dry(`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":10,"dry_run":true}`); !strings.Contains(got, "a person has to approve this order") {
			t.Errorf("a dry run of one: %s", got)
		}
		const million = 1e6 * exact.One
		wide := gateAt(million, "")
		d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: wide})
		if got := dry(all + `,"dry_run":true}`); strings.Contains(got, "refused") || len(must(d.engine.Positions(false))) != 2 {
			t.Errorf("a dry run of what needs none: %s", got)
		}
		if _, err := d.order(mcp.Call{}, all+"}"); err != nil || len(must(d.engine.Positions(false))) != 0 {
			t.Errorf("within the sum: %v", err)
		}
		if sum := exact.Decimal(million).Money(); !wide.Needs(trader.Client, sum, true) || wide.Needs("another", sum, true) {
			t.Error("what was closed was not counted, or against another")
		}
	})
}

// For a client that cannot show forms, the refusal has the address of the owner's page. An
// approval there is for one repetition of exactly that call.
func TestApprovedOnPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		link := regexp.MustCompile(`http://localhost:9315/approve\?id=(\w+) `)
		ask := func(arguments string) string {
			t.Helper()
			_, err := d.order(mcp.Call{}, arguments)
			if found := link.FindStringSubmatch(fmt.Sprint(err)); found != nil {
				return found[1]
			}
			t.Fatalf("no link: %v", err)
			return ""
		}
		limit := `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.9,"price":12,"client_order_id":"a"}`
		id := ask(limit)
		if lines, approved, ok := a.Question(id); !ok || approved || !strings.Contains(strings.Join(lines, "\n"), "12") || !slices.Contains(lines, "data: invented, from no real market") {
			t.Fatalf("%q", lines)
		}
		if !a.Answer(id, true) || a.Answer(id, true) {
			t.Error("the answer does not count once")
		}
		if _, err := d.order(mcp.Call{Caller: mcp.Caller{ID: "token-2", Client: "client", Scope: "charts trade", Door: "http"}}, limit); err == nil {
			t.Error("another token may use it")
		}
		if _, err := d.order(mcp.Call{}, strings.Replace(limit, "0.9", "0.95", 1)); err == nil {
			t.Error("another size may use it")
		}
		if _, err := d.order(mcp.Call{}, limit); err != nil {
			t.Errorf("the approved call: %v", err)
		}
		if _, err := d.order(mcp.Call{}, limit); err != nil || len(must(d.engine.Orders(false))) != 1 {
			t.Errorf("its retry with the same client_order_id: %v", err)
		}
		if _, err := d.order(mcp.Call{}, strings.Replace(limit, `"a"`, `"b"`, 1)); err == nil {
			t.Error("it passes twice")
		}

		denied := ask(strings.Replace(limit, `"a"`, `"c"`, 1))
		a.Answer(denied, false)
		late := ask(strings.Replace(limit, `"a"`, `"d"`, 1))
		a.Answer(late, true)
		time.Sleep(approvalLife)
		for _, id := range []string{"c", "d"} {
			if _, err := d.order(mcp.Call{}, strings.Replace(limit, `"a"`, `"`+id+`"`, 1)); err == nil {
				t.Errorf("%s: denied, or approved too long ago, and placed", id)
			}
		}
	})
}

// TestAskedOnce: a model that repeats its call while the owner reads the page does not take
// the page away: the question stays as it was, with its end. Another order, another client
// and another position are another question.
func TestAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		link := regexp.MustCompile(`http://localhost:9315/approve\?id=(\w+) `)
		ask := func(c mcp.Call, arguments string) (id, said string) {
			t.Helper()
			_, err := d.order(c, arguments)
			found := link.FindStringSubmatch(fmt.Sprint(err))
			if found == nil {
				t.Fatalf("no link: %v", err)
			}
			return found[1], err.Error()
		}
		id, said := ask(mcp.Call{}, wholeCoin)
		shown, _, _ := a.Question(id)
		if !strings.Contains(said, "within ten minutes") {
			t.Errorf("the first call is told %s", said)
		}
		for range 3 { // the price moves meanwhile
			time.Sleep(3 * time.Minute)
			again, said := ask(mcp.Call{}, wholeCoin)
			if again != id || !strings.Contains(said, "is asked already") || !strings.Contains(said, "until 2000-01-01 00:10:00 UTC") || strings.Contains(said, "within ten minutes") {
				t.Errorf("asked %s, want %s: %s", again, id, said)
			}
			if lines, _, ok := a.Question(id); !ok || !slices.Equal(lines, shown) || len(a.Waiting()) != 1 {
				t.Errorf("the page shows %q, want %q", lines, shown)
			}
		}
		if other, _ := ask(mcp.Call{}, strings.Replace(wholeCoin, ":1}", ":2}", 1)); other == id {
			t.Error("another order has the same question")
		}
		if other, _ := ask(mcp.Call{Caller: mcp.Caller{ID: "token-2", Client: "client", Scope: "charts trade", Door: "http"}}, wholeCoin); other == id {
			t.Error("another client has the same question")
		}
		if !a.Answer(id, true) {
			t.Fatal("the owner's answer does not count")
		}
		if _, err := d.order(mcp.Call{}, wholeCoin); err != nil || len(must(d.engine.Orders(false))) != 1 {
			t.Fatalf("the approved call: %v", err)
		}

		// Asking often does not make a question last.
		time.Sleep(time.Minute) // an equal order is refused for a while
		first, _ := ask(mcp.Call{}, wholeCoin)
		time.Sleep(approvalLife - time.Second)
		ask(mcp.Call{}, wholeCoin)
		time.Sleep(time.Second)
		if _, _, ok := a.Question(first); ok || a.Answer(first, true) {
			t.Error("the question lasts longer than ten minutes")
		}
		second, _ := ask(mcp.Call{}, wholeCoin)
		// The page says what is held after the order, so another position is another question.
		if _, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "HBARUSDT", Side: book.Buy, Type: book.Market, Quantity: 4 * exact.One}); err != nil {
			t.Fatal(err)
		}
		third, _ := ask(mcp.Call{}, wholeCoin)
		if _, _, ok := a.Question(second); ok || second == first || third == second {
			t.Errorf("questions %s, %s, %s; the page of the second is there: %t", first, second, third, ok)
		}
	})
}

// TestAskedOnceInForms: a form that is shown twice has one answer, and a yes on the page
// counts also if the client comes with the state of its form and no answer.
func TestAskedOnceInForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		ask := func() string {
			t.Helper()
			input, err := d.order(mcp.Call{Elicits: true}, wholeCoin)
			if input == nil {
				t.Fatalf("not asked: %v", err)
			}
			return input.State
		}
		first, second := ask(), ask()
		if len(a.Waiting()) != 1 {
			t.Errorf("%d questions wait, want 1", len(a.Waiting()))
		}
		if _, err := d.order(mcp.Call{Elicits: true, State: first, Responses: accept}, wholeCoin); err != nil {
			t.Errorf("a yes in the first form: %v", err)
		}
		time.Sleep(time.Minute) // an equal order is refused for a while
		if _, err := d.order(mcp.Call{Elicits: true, State: second, Responses: accept}, wholeCoin); err == nil || len(must(d.engine.Orders(false))) != 1 {
			t.Errorf("a yes in the second: %v", err)
		}
		third := ask()
		a.Answer(a.Waiting()[0].ID, true)
		if _, err := d.order(mcp.Call{Elicits: true, State: third}, wholeCoin); err != nil || len(must(d.engine.Orders(false))) != 2 {
			t.Errorf("a yes on the page, and no answer in the form: %v", err)
		}
	})
}

// TestUnclearAnswer: what is neither a yes nor a no to the form is an error of the client's
// program. It places nothing, and the question still waits for its answer.
func TestUnclearAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		input, err := d.order(mcp.Call{Elicits: true}, wholeCoin)
		if input == nil {
			t.Fatal(err)
		}
		answer := func(c mcp.Call, response mcp.Response, arguments string) error {
			c.Elicits, c.Responses = true, map[string]mcp.Response{"approve": response}
			_, err := d.order(c, arguments)
			return err
		}
		unclear := []mcp.Response{{}, {Action: "maybe"}, {Action: "Accept", Content: json.RawMessage(`{"approve":true}`)}, {Content: json.RawMessage(`{"approve":true}`)}}
		for _, content := range []string{
			`5`, `null`, `true`, `[true]`, `{}`, `{"approve":"true"}`, `{"approve":1}`, `{"approve":null}`, `{"approve":true,"more":1}`,
			// encoding/json takes a name in another case for a field of a struct, and of two the last.
			`{"Approve":true}`, `{"approve":false,"APPROVE":true}`, `{"approve":true,"Approve":false}`,
		} {
			unclear = append(unclear, mcp.Response{Action: "accept", Content: json.RawMessage(content)})
		}
		for _, response := range unclear {
			// Also where the order needs no yes, or the state is missing.
			for _, err := range []error{
				answer(mcp.Call{State: input.State}, response, wholeCoin), answer(mcp.Call{}, response, wholeCoin),
				answer(mcp.Call{State: input.State}, response, `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.1,"price":9}`),
			} {
				refused := (*mcp.Error)(nil)
				if !errors.As(err, &refused) || refused.Code != -32602 || len(must(d.engine.Orders(false))) > 0 {
					t.Fatalf("%+v: %v, %d orders", response, err, len(must(d.engine.Orders(false))))
				}
			}
			if len(a.Waiting()) != 1 {
				t.Fatalf("after %+v %d questions wait", response, len(a.Waiting()))
			}
		}
		if err := answer(mcp.Call{State: input.State}, accept["approve"], wholeCoin); err != nil || len(must(d.engine.Orders(false))) != 1 {
			t.Errorf("the yes after all that: %v", err)
		}
	})
}

// TestAnswerAfterTheHour: an answer counts once, in a form and on the page, also if its order needs
// none any more, because what its client placed before is an hour old by then.
func TestAnswerAfterTheHour(t *testing.T) {
	for _, yes := range []bool{true, false} {
		for _, onPage := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d, a := confirming(t)
				defer d.stop()
				const six, more = `{"symbol":"HBARUSDT","side":"buy","type":"limit","price":6,"quantity":1}`, `{"symbol":"HBARUSDT","side":"buy","type":"limit","price":6.4,"quantity":1}`
				if _, err := d.order(mcp.Call{}, six); err != nil {
					t.Fatal(err)
				}
				time.Sleep(55 * time.Minute)
				input, err := d.order(mcp.Call{Elicits: true}, more)
				if input == nil {
					t.Fatal(err)
				}
				call := mcp.Call{Elicits: true, State: input.State, Responses: accept}
				switch {
				case onPage:
					call = mcp.Call{}
					a.Answer(a.Waiting()[0].ID, yes)
				case !yes:
					call.Responses = map[string]mcp.Response{"approve": {Action: "decline"}}
				}
				time.Sleep(6 * time.Minute)
				_, err = d.order(call, more)
				if n := len(must(d.engine.Orders(false))); yes && (err != nil || n != 2) || !yes && (!errors.Is(err, permit.ErrNo) || n != 1) || len(a.Waiting()) != 0 {
					t.Errorf("yes %t, on the page %t: %v, %d orders, %d questions are left", yes, onPage, err, n, len(a.Waiting()))
				}
				time.Sleep(10 * time.Second) // or it would be refused as a repetition
				_, err = d.order(call, more)
				want := 2
				if !yes && !onPage { // the client says no once more
					want = 1
				}
				if n := len(must(d.engine.Orders(false))); n != want || (err == nil) != (!yes && onPage) {
					t.Errorf("yes %t, on the page %t, again: %v, %d orders", yes, onPage, err, n)
				}
			})
		}
	}
}

// TestDayOrderOverMidnight: a day order that is asked for again after midnight would end a day
// later than the question says: it is another question, and a yes to the old one is not for it.
func TestDayOrderOverMidnight(t *testing.T) {
	digest := func(ends time.Time) [32]byte {
		return orderDigest(mcp.Caller{ID: "a"}, book.OrderRequest{Symbol: "HBARUSDT"}, book.Order{Symbol: "HBARUSDT", ExpiresAt: &book.Time{Time: ends}})
	}
	midnight := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
	if first := digest(midnight); digest(midnight) != first || first == digest(midnight.AddDate(0, 0, 1)) {
		t.Error("the end of an order is not part of what is approved")
	}
}

// TestRefusedOnPage: the app is told once that a person has refused its order, and may then
// ask anew. A no on the page counts against a yes on the page that was not used, and against
// a yes in a form.
func TestRefusedOnPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		ask := func() (id, state string) {
			t.Helper()
			input, err := d.order(mcp.Call{Elicits: true}, wholeCoin)
			if input == nil || len(a.Waiting()) != 1 {
				t.Fatalf("not asked: %v, %d questions", err, len(a.Waiting()))
			}
			return a.Waiting()[0].ID, input.State
		}
		for name, c := range map[string]struct {
			before []bool // answers on the page before the no
			form   bool   // the app comes with a yes in its form
		}{"no": {}, "no after yes": {before: []bool{true}}, "no, and yes in a form": {form: true}} {
			id, state := ask()
			for _, yes := range append(c.before, false) {
				if !a.Answer(id, yes) {
					t.Fatalf("%s: the answer %t does not count", name, yes)
				}
			}
			if _, _, ok := a.Question(id); ok || a.Answer(id, true) || a.Answer(id, false) || len(a.Waiting()) != 0 {
				t.Errorf("%s: the question is still open", name)
			}
			call := mcp.Call{Elicits: true}
			if c.form {
				call.State, call.Responses = state, accept
			}
			if input, err := d.order(call, wholeCoin); input != nil || err == nil || !strings.Contains(err.Error(), "the person did not approve the order") {
				t.Errorf("%s: told %v", name, err)
			}
		}
		// A refusal that nobody comes for is forgotten.
		id, _ := ask()
		a.Answer(id, false)
		time.Sleep(approvalLife)
		id, _ = ask()
		a.Answer(id, true)
		if _, approved, ok := a.Question(id); !approved || !ok {
			t.Error("the page does not know of the yes")
		}
		if _, err := d.order(mcp.Call{}, wholeCoin); err != nil || len(must(d.engine.Orders(false))) != 1 {
			t.Errorf("approved at last: %v, %d orders", err, len(must(d.engine.Orders(false))))
		}
	})
}

// TestRefusalsGoFirst: a client that has many refusals to hear of keeps the question that
// waits for the owner.
func TestRefusalsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		ask := func(quantity int) {
			d.order(mcp.Call{}, fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":%d}`, quantity))
			time.Sleep(time.Second)
		}
		ask(1)
		first := a.Waiting()[0].ID
		for i := range 3 * maxOwnQuestions {
			ask(2 + i)
			for _, q := range a.Waiting() {
				if q.ID != first {
					a.Answer(q.ID, false)
				}
			}
		}
		if _, _, ok := a.Question(first); !ok {
			t.Error("refused questions push out one that waits")
		}
	})
}

// What a client has placed within the last hour counts, so that splitting an
// order does not help; an hour later it no longer does, and an order that was
// refused never did.
func TestApprovalCountsTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := confirming(t)
		defer d.stop()
		n := 0
		small := func() error {
			n++
			_, err := d.order(mcp.Call{}, fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.3,"price":12,"client_order_id":"n%d"}`, n))
			return err
		}
		for i := range 2 { // 3.6 each
			if err := small(); err != nil {
				t.Fatalf("order %d: %v", i, err)
			}
		}
		if _, err := d.order(mcp.Call{}, `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.3,"price":1}`); err == nil {
			t.Fatal("a limit so far from the market is taken")
		}
		if small() == nil {
			t.Error("the third, which takes it to 10.8, is placed")
		}
		if _, err := d.order(mcp.Call{Caller: mcp.Caller{ID: "token-2", Client: "other", Scope: "charts trade", Door: "http"}}, `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.3,"price":12,"client_order_id":"o"}`); err != nil {
			t.Errorf("another client: %v", err)
		}
		time.Sleep(time.Hour)
		if err := small(); err != nil {
			t.Errorf("an hour later: %v", err)
		}
		if _, err := d.order(mcp.Call{}, strings.TrimSuffix(wholeCoin, "}")+`,"dry_run":true}`); err != nil {
			t.Errorf("a dry run: %v", err)
		}
	})
}

// must returns what was read, which no test expects to fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSizeCountsAtMost: a size that follows the stop may come out a twentieth larger when the order is
// placed than in the preview, so as much counts of the sum that needs no person.
func TestSizeCountsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := confirming(t)
		defer d.stop()
		const arguments = `{"symbol":"HBARUSDT","side":"buy","type":"market","stop_loss":"10%","risk":1`
		var shown struct {
			Quantity     exact.Decimal `json:"quantity"`
			AveragePrice exact.Decimal `json:"average_price"`
		}
		d.reply(trader, "place_order", arguments+`,"dry_run":true}`, &shown)
		worth, ok := exact.Product(shown.Quantity, shown.AveragePrice).Per(exact.One)
		if !ok || worth == 0 {
			t.Fatalf("a preview of %+v", shown)
		}
		for _, percent := range []exact.Decimal{99, 104, 106} {
			asks := percent < 105
			d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(worth/100*percent, "http://localhost:9315/approve")})
			_, err := d.order(mcp.Call{}, arguments+"}")
			if asked := strings.Contains(fmt.Sprint(err), "id="); asked != asks || !asks && err != nil {
				t.Errorf("beside a sum of %d %% of its worth: %v, want a question: %t", percent, err, asks)
			}
		}
	})
}

// TestApprovalOfSellByRule: a sell that waits for a rule comes at whatever price the market has then.
// So the sum that a client may place without a person covers none of a given quantity, however little
// it is worth now; one of a given value, and a buy, which has a highest price, it covers.
func TestApprovalOfSellByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := confirming(t)
		defer d.stop()
		for arguments, asks := range map[string]bool{
			`"side":"sell","type":"market","quantity":0.1`:                                true,
			`"side":"sell","type":"limit","quantity":0.1,"price":15`:                      true,
			`"side":"sell","type":"market","notional":2`:                                  false,
			`"side":"sell","type":"limit","notional":9,"price":10`:                        true, // gets what the market pays
			`"side":"buy","type":"limit","notional":9,"price":15`:                         false,
			`"side":"buy","type":"limit","notional":9,"price":15,"oco":{"stop_price":70}`: true,
			`"side":"buy","type":"market","quantity":0.1,"price":20`:                      false,
			`"side":"buy","type":"market","quantity":0.1,"price":200`:                     true,
		} {
			own := mcp.Caller{ID: arguments, Client: arguments, Scope: "charts trade", Door: "http"} // with a sum of its own
			_, err := d.order(mcp.Call{Caller: own}, `{"symbol":"HBARUSDT","when":"close > 1000 and close[1] > 1000",`+arguments+`}`)
			if asked := strings.Contains(fmt.Sprint(err), "id="); asked != asks || !asks && err != nil {
				t.Errorf("%s: %v, want a question: %t", arguments, err, asks)
			}
		}
	})
}

// TestApprovalOfWhen: an order that waits for a rule is approved when it is placed, for its worst case,
// and that yes lets it be placed later, once, without asking anew. A yes to one worst price is none to
// another.
func TestApprovalOfWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		time.Sleep(3 * time.Second)
		order := func(price int) string {
			return fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"price":%d,"when":"close > 0 and close[1] > 0","interval":"1m","now":false,"client_order_id":"w"}`, price)
		}
		_, err := d.order(mcp.Call{}, order(20))
		id := regexp.MustCompile(`id=(\w+)`).FindStringSubmatch(fmt.Sprint(err))
		if id == nil || !a.Answer(id[1], true) {
			t.Fatalf("it asks %v", err)
		}
		if _, err := d.order(mcp.Call{}, order(30)); err == nil || len(must(d.engine.Orders(false))) != 0 {
			t.Errorf("the yes to 20 lets 30 pass: %v", err)
		}
		if _, err := d.order(mcp.Call{}, order(20)); err != nil {
			t.Fatal(err)
		}
		o := must(d.engine.Orders(false))[0]
		if !o.Pending() || o.When.Worst != 20*exact.One || o.When.Request != nil {
			t.Errorf("it is %+v, %+v", o, o.When)
		}
		if _, err := d.order(mcp.Call{}, order(20)); err != nil || len(must(d.engine.Orders(false))) != 1 { // a retry
			t.Errorf("a retry: %v", err)
		}
	})
}

// TestGistOfWhen: the one line by which the owner knows an order that waits for a rule says so, and does
// not say what it would be worth now.
func TestGistOfWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		for order, want := range map[string]string{
			`"side":"buy","type":"market","quantity":2,"price":20`: "when its rule is true, at most 40 USDT",
			`"side":"sell","type":"market","quantity":2`:           "when its rule is true",
		} {
			input, err := d.order(mcp.Call{Elicits: true}, `{"symbol":"HBARUSDT","when":"close > 1000",`+order+`}`)
			if input == nil {
				t.Fatal(err)
			}
			for _, q := range a.Waiting() {
				if q.ID == input.State && q.Gist != want {
					t.Errorf("%s: %q, want %q", order, q.Gist, want)
				}
			}
		}
	})
}

// TestApprovalOfNow: a yes to an order that comes at once, since its rule is true, is none to one that
// waits until that becomes true again: it is refused, and asked about anew.
func TestApprovalOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := confirming(t)
		defer d.stop()
		place := func() (id, says string) {
			input, err := d.order(mcp.Call{}, `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"when":"minute % 2 == 0","interval":"1m","now":true}`)
			if input != nil {
				return input.State, input.Message
			}
			return "", fmt.Sprint(err)
		}
		time.Sleep(90 * time.Second) // the minute 00:00 has closed
		if id, says := place(); !strings.Contains(says, "which is true now") || !a.Answer(id, true) {
			t.Fatalf("it asks %s", says)
		}
		time.Sleep(time.Minute)
		if _, says := place(); !strings.HasPrefix(says, "not_approved: its rule is no longer true") {
			t.Errorf("once its rule is untrue: %s", says)
		}
		if _, says := place(); !strings.Contains(says, "or is true by then") {
			t.Errorf("then it asks %s", says)
		}
		if n := len(must(d.engine.Orders(false))); n != 0 {
			t.Errorf("%d orders were placed", n)
		}
	})
}

// TestCountedInEveryWay: what a client places in another way than one order after the other counts
// before it is placed, too: of many calls at once, as an order that replaces a smaller one, and by
// the dearer leg of an oco.
func TestCountedInEveryWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := confirming(t)
		defer d.stop()
		var all sync.WaitGroup
		for i := range 24 { // 3.6 each, of which two are within 10
			all.Go(func() {
				d.order(mcp.Call{}, fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.3,"price":12,"client_order_id":"n%d"}`, i))
			})
		}
		all.Wait()
		placed := must(d.engine.Orders(false))
		if len(placed) != 2 {
			t.Fatalf("%d of 24 orders at once are placed, want 2", len(placed))
		}
		time.Sleep(time.Hour)
		if input, err := d.order(mcp.Call{Elicits: true}, fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.9,"price":12,"replaces":%q}`, placed[0].ID)); input == nil {
			t.Errorf("an order of 10.8 in the place of one of 3.6: %v, want a question", err)
		}
		const half = `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":0.5,"price":12`
		if input, err := d.order(mcp.Call{Elicits: true}, half+`,"oco":{"stop_price":22}}`); input == nil {
			t.Errorf("6, or 11 by the stop: %v, want a question", err)
		}
		if _, err := d.order(mcp.Call{Elicits: true}, half+`}`); err != nil {
			t.Errorf("6 alone: %v", err)
		}
	})
}
