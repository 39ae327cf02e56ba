package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/sse"
	"wick/trade"
	rule "wick/trade/book"
)

// feed tells the engine the prices that the test makes up.
type feed struct {
	updates chan market.Update
	done    chan struct{} // an update was taken
	prices  map[string]float64
	beside  map[string][2]float64 // bid and ask, if the source tells them

	mu      sync.Mutex
	resumed map[string]float64 // what the engine says it saw last
	minutes map[string][]market.Bar
	told    map[string]int // how many of those the engine was told to have closed
}

func (f *feed) Watch(string, ...market.Interval) {}
func (f *feed) Await([]string)                   {}
func (f *feed) Unwatch(string)                   {}
func (f *feed) Period(string) time.Duration      { return 0 }
func (f *feed) Ages() map[string]time.Duration   { return nil }

func (f *feed) Resume(symbol string, _ map[market.Interval]int64, p float64, _ int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p > 0 {
		f.resumed[symbol] = p
	}
}

func (f *feed) Run(ctx context.Context, deliver func(market.Update)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-f.updates:
			deliver(u)
			f.done <- struct{}{}
		}
	}
}

// Quote returns the price at this moment.
func (f *feed) Quote(_ context.Context, symbol string) (market.Quote, error) {
	return market.Quote{Symbol: symbol, Price: f.prices[symbol], Bid: f.beside[symbol][0], Ask: f.beside[symbol][1], At: time.Now().UnixMilli(), Source: "test"}, nil
}

// Bars returns a history of one bar, at the newest price.
func (f *feed) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	if q.Interval == market.Minute1 {
		return f.history(q.Symbol, q.Limit), nil
	}
	now := time.Now()
	s := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "test", Forming: true, AsOf: now.UnixMilli(), PriceAt: now.UnixMilli()}
	p, forming := f.prices[q.Symbol], q.Interval.Start(now.Unix())
	s.Append(market.Bar{Time: forming, Open: p, High: p, Low: p, Close: p})
	return s, nil
}

// desk is an engine with its tools, on a directory that outlives it.
type desk struct {
	t       testing.TB
	options trade.Options
	feed    *feed
	tools   map[string]mcp.Tool
	stop    func()
}

func dec(a num) exact.Decimal {
	if a == nil {
		return 0
	}
	d, err := exact.Parse([]byte(show(a)))
	if err != nil {
		panic(err)
	}
	return d
}

// options are those of the engine that works by the rules of the model.
func (r rules) options(dir string) trade.Options {
	maker := dec(r.maker)
	return trade.Options{
		Dir: dir, Intervals: []market.Interval{market.Hour4},
		Rules: rule.Rules{
			FeeRate: dec(r.fee), MakerFeeRate: &maker, Slippage: dec(r.slippage), HalfSpread: dec(r.spread), Quoted: r.quotes,
			Grid: func(string) (rule.Grid, bool) {
				return rule.Grid{Tick: dec(r.tick), Lot: dec(r.lot), Minimum: dec(r.minimum)}, true
			},
			Limits:  rule.Limits{OrderNotional: dec(r.maxOrder), PositionNotional: dec(r.maxHeld), OrdersPerSecond: 1e6, Open: 1e6, OpenPerSymbol: rule.MaxOpenPerSymbol},
			Account: rule.AccountRules{Cash: dec(r.cash), Short: r.short, Leverage: dec(r.leverage)},
		}}
}

// start opens the engine and runs it.
func (d *desk) start() {
	d.feed.updates, d.feed.done, d.feed.resumed = make(chan market.Update), make(chan struct{}), make(map[string]float64)
	d.options.Source, d.options.Feed = d.feed, d.feed
	engine, err := trade.Open(d.options)
	if err != nil {
		d.t.Fatal(err)
	}
	d.tools = make(map[string]mcp.Tool)
	for _, tool := range tools.All(tools.Deps{Source: d.feed, Engine: engine, Hub: sse.NewHub(nil)}) {
		d.tools[tool.Name] = tool
	}
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	d.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Fatal(err)
		}
		if err := engine.Close(); err != nil {
			d.t.Fatal(err)
		}
	}
}

// deliver tells the engine an update and waits until it is taken.
func (d *desk) deliver(u market.Update) {
	d.feed.updates <- u
	<-d.feed.done
}

// call runs a tool and returns its texts, or its refusal.
func (d *desk) call(name string, arguments any) ([]json.RawMessage, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.tools[name].Handle(d.t.Context(), mcp.Call{Caller: mcp.Caller{ID: "one", Client: "model", Scope: "charts trade"}, Arguments: text})
	if err != nil {
		return nil, err
	}
	var texts []json.RawMessage
	for _, c := range r.Content {
		texts = append(texts, json.RawMessage(c.Text))
	}
	return texts, nil
}

// shown is an order as the tools show it.
type shown struct {
	ID       string      `json:"order_id"`
	Status   string      `json:"status"`
	Side     string      `json:"side"`
	Type     string      `json:"type"`
	Quantity json.Number `json:"quantity"`
	Filled   json.Number `json:"filled_quantity"`
	Average  json.Number `json:"average_price"`
	Fee      json.Number `json:"fee"`
	Price    json.Number `json:"price"`
	Stop     json.Number `json:"stop_price"`
	Reason   string      `json:"reason"`
	Exits    []shown     `json:"exits"`
	Error    string      `json:"error"`
}

// line is an order in one line, as model and tools are compared.
func (s shown) line() string {
	or := func(n json.Number) string {
		if n == "" {
			return "null"
		}
		return string(n)
	}
	return strings.Join([]string{s.ID, s.Side, s.Type, string(s.Quantity), "at", or(s.Price), or(s.Stop), s.Status, string(s.Filled), or(s.Average), string(s.Fee)}, " ")
}

func (b *book) line(o *order) string {
	s := shown{ID: o.id, Side: "buy", Type: o.kind, Quantity: json.Number(show(o.qty)), Status: o.status, Filled: json.Number(show(o.filled)), Fee: json.Number(show(o.paid)),
		Average: "null", Price: json.Number(show(o.price)), Stop: "null"}
	if o.side < 0 {
		s.Side = "sell"
	}
	if o.status == waitsForRule {
		s.Status = "open"
	}
	if o.filled.Sign() > 0 {
		s.Average = json.Number(show(o.average()))
	}
	if o.stop != nil || o.kind == "trailing_stop" {
		s.Stop = json.Number(show(o.stopNow(b)))
	}
	return s.line()
}

// holdingLine is a position in one line.
func (b *book) holdingLine(symbol string) string {
	at := b.places[symbol]
	side := [...]string{"short", "flat", "long"}[at.held.qty.Sign()+1]
	entry := new0()
	if at.held.qty.Sign() != 0 {
		entry = nearest(div(at.held.cost, at.held.qty), unit)
	}
	unrealized := sub(mul(at.held.qty, at.price), at.held.cost)
	return fmt.Sprint(symbol, " ", side, " ", show(abs(at.held.qty)), " at ", show(entry), " now ", show(at.price), " open ", show(unrealized), " realized ", show(at.held.realized), " fees ", show(at.held.fees))
}
