package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/sse"
	"wick/trade"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/watch"
)

var axes = []*axis{
	{name: "bars", sizes: []int{10, 100, 1000, 5000}, limit: "the most that a chart shows", measure: bars,
		why: map[string]string{"a summary, allocated": "beyond the usual 200 bars and their warm-up more are loaded and computed"}},
	{name: "symbols", sizes: []int{10, 50, 100, 200}, limit: "the most of a scan; 50 are watched", measure: symbols},
	{name: "alerts", sizes: []int{10, 100, 1000}, limit: "the most that wait", measure: alerts,
		why: map[string]string{"list them": "a page has at most 500"}},
	{name: "open orders", sizes: []int{10, 100, 1000, 10_000, 12_500}, limit: "250 of each of 50 symbols", measure: orders,
		why: map[string]string{
			"place one and cancel it": "what the open orders of the symbol reserve is added up",
			"an engine with them":     "all 50 symbols are watched from there on, and the orders begin to show",
		}},
	{name: "subscribers", sizes: []int{10, 100, 1000, 10_000, 16_384}, limit: "the most streams", measure: subscribers,
		why: map[string]string{"one event to all": "they no longer fit into the processor's cache"}},
	{name: "finished orders", sizes: []int{10, 100, 1000, 10_000, 100_000, 1_000_000}, limit: "no limit: the disk is", measure: finished,
		why: map[string]string{
			"look for the oldest": "10,000 stay in memory, older ones are read from the journal",
			"the last page":       "it is read from the journal",
			"place one":           "from there on one leaves memory for each that comes",
		}},
	{name: "replicas", sizes: []int{1, 2, 4, 8}, limit: "no limit: a machine is; these share one", measure: replicas},
}

// tool returns a function that calls a tool.
func tool(all []mcp.Tool, name, arguments string) func() error {
	t := all[slices.IndexFunc(all, func(t mcp.Tool) bool { return t.Name == name })]
	return func() error {
		result, err := t.Handle(context.Background(), mcp.Call{Caller: tools.StdioCaller, Arguments: json.RawMessage(arguments)})
		if err == nil && result.IsError {
			err = fmt.Errorf("%s refused %s: %s", name, arguments, result.Content[0].Text)
		}
		return err
	}
}

func bars(n int, m *meter) (err error) {
	all := tools.All(tools.Deps{Source: market.Cached(market.Sample{})})
	for _, c := range []struct{ name, tool, arguments string }{
		{"a chart", "generate_chart", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"bars":%d}`},
		{"a summary", "generate_chart", `{"symbol":"BTCUSDT","indicators":["ema_stack","rsi","macd"],"format":"summary","bars":%d}`},
		{"a series", "generate_chart", `{"symbol":"BTCUSDT","indicators":["rsi"],"format":"series","bars":%d}`},
		{"a rule", "get_indicators", `{"symbol":"BTCUSDT","indicators":[{"name":"rule","when":"rsi(14) < 30 and close > ema(50)"}],"bars":%d}`},
	} {
		err = errors.Join(err, m.call(c.name, tool(all, c.tool, fmt.Sprintf(c.arguments, n))))
	}
	return err
}

func symbols(n int, m *meter) error {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("SYM%dUSDT", i))
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	all := tools.All(tools.Deps{Source: market.Cached(market.Sample{})})
	if err := m.call("a scan", tool(all, "get_indicators", fmt.Sprintf(`{"symbols":%s,"indicators":["rsi",{"name":"rule","when":"rsi(14) < 30 and close > ema(200)"}]}`, list))); err != nil || n > book.MaxSymbols {
		return err
	}
	before := live()
	d, err := openDesk("")
	if err != nil {
		return err
	}
	defer d.close()
	for _, name := range names {
		if err := d.alert(name, book.Condition{Type: book.PriceAbove, Threshold: 200 * exact.One}); err != nil {
			return err
		}
	}
	m.add("an engine that watches them", true, live()-before)
	return m.time("a price of each", func() error {
		for _, name := range names {
			d.price(name, 100)
		}
		return nil
	})
}

// desk is an engine that runs on prices of 100 and on those that price gives it.
type desk struct {
	*trade.Engine
	tools   []mcp.Tool
	dir     string
	deliver func(market.Update)
	at      int64
	stop    func() // ends Run
}

// feed tells nothing by itself. It hands the engine's own function to the desk.
type feed struct {
	watch.Feed
	deliver chan func(market.Update)
}

func (feed) Watch(string, ...market.Interval)                         {}
func (feed) Await([]string)                                           {}
func (feed) Unwatch(string)                                           {}
func (feed) Resume(string, map[market.Interval]int64, float64, int64) {}
func (feed) Period(string) time.Duration                              { return 0 }
func (feed) Ages() map[string]time.Duration                           { return nil }
func (f feed) Run(ctx context.Context, d func(market.Update)) error {
	f.deliver <- d
	<-ctx.Done()
	return nil
}

// flat is a source whose price is always 100.
type flat struct{}

func (flat) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	at := time.Now()
	s := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "flat", Synthetic: true, Forming: true, AsOf: at.UnixMilli()}
	for i := range q.Limit {
		s.Append(market.Bar{Time: q.Interval.Start(at.Unix()) - int64(q.Limit-1-i)*q.Interval.Seconds(), Open: 100, High: 100, Low: 100, Close: 100, Volume: 1})
	}
	return s, nil
}

// options are those of an engine on a directory that no order meets a limit of.
func options(dir string) trade.Options {
	return trade.Options{Dir: dir, Source: flat{}, Feed: feed{deliver: make(chan func(market.Update), 1)}, Rules: book.Rules{Limits: book.Limits{
		OrderNotional: 1 << 62, PositionNotional: 1 << 62, OrdersPerSecond: 1 << 30, Open: 1 << 20, OpenPerSymbol: book.MaxOpenPerSymbol,
	}}}
}

// openDesk opens an engine on a directory, a new one if the name is empty.
func openDesk(dir string) (*desk, error) {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wick-curves-"); err != nil {
			return nil, err
		}
	}
	o := options(dir)
	e, err := trade.Open(o)
	if err != nil {
		return nil, err
	}
	d := &desk{Engine: e, tools: tools.All(tools.Deps{Source: flat{}, Engine: e, Hub: sse.NewHub(tools.EncodeAlert)}), dir: dir}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	d.deliver = <-o.Feed.(feed).deliver
	d.stop = sync.OnceFunc(func() { cancel(); <-ended })
	return d, nil
}

// close also removes the directory.
func (d *desk) close() {
	d.stop()
	d.Close()
	os.RemoveAll(d.dir)
}

func (d *desk) price(symbol string, price float64) {
	d.at = max(d.at+1, time.Now().UnixMilli())
	d.deliver(market.Update{Symbol: symbol, Price: price, From: price, High: price, Low: price, At: d.at})
}

func (d *desk) alert(symbol string, c book.Condition) error {
	_, err := d.SetAlert(context.Background(), book.AlertRequest{Symbol: symbol, Condition: c, Repeat: book.EachTime})
	return err
}

// place places n orders from 64 clients at once. Each gets an id from its number.
func (d *desk) place(n int, order func(i int) book.OrderRequest) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, 64)
	for range 64 {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				r := order(int(i))
				r.ClientOrderID = fmt.Sprint("c", i)
				if _, err := d.Place(context.Background(), r); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

func alerts(n int, m *meter) error {
	before := live()
	d, err := openDesk("")
	if err != nil {
		return err
	}
	defer d.close()
	for i := range n - 1 { // one more is set and cancelled
		c := book.Condition{Type: book.PriceAbove, Threshold: 110*exact.One + exact.Decimal(i)*1000}
		if err := d.alert("AAA", c); err != nil {
			return err
		}
	}
	m.add("an engine with them", true, live()-before)
	var waiting []alert.Waiting
	rsi := book.Condition{Type: book.IndicatorSignal, Indicator: "rsi", Signal: "rsi_oversold"}
	for i := range n {
		c := rsi
		c.Params = map[string]json.RawMessage{"length": json.RawMessage(fmt.Sprint(10 + i%20))}
		waiting = append(waiting, alert.NewWaiting(&book.Alert{ID: fmt.Sprint("a-0-", i), Symbol: "AAA", Interval: market.Hour1, Condition: c}))
	}
	s, err := market.Sample{}.Bars(context.Background(), market.Query{Symbol: "BTCUSDT", Interval: market.Hour1, Limit: 500})
	if err != nil {
		return err
	}
	s = s.Closed()
	last := s.Time[s.Len()-1]
	round := watch.Round{Key: watch.Key{Symbol: "AAA", Interval: market.Hour1}, Bars: s, Progress: watch.Progress{After: last - 1, Through: last}}
	judge := alert.Judge{Source: flat{}}
	return errors.Join(
		m.time("a price that reaches none", func() error { d.price("AAA", 100); return nil }),
		m.time("prices that reach all, and none", func() error { d.price("AAA", 111); d.price("AAA", 100); return nil }),
		m.time("a closed bar for as many on rsi", func() error {
			judge.Round(context.Background(), round, waiting, book.Time{}, func([]alert.Hit) {})
			return nil
		}),
		m.time("set one and cancel it", func() error {
			a, err := d.SetAlert(context.Background(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceBelow, Threshold: 50 * exact.One}})
			if err == nil {
				_, err = d.CancelAlert(book.Who{}, a.ID)
			}
			return err
		}),
		m.call("list them", tool(d.tools, "list_alerts", `{"limit":500}`)))
}

func orders(n int, m *meter) error {
	before := live()
	d, err := openDesk("")
	if err != nil {
		return err
	}
	defer d.close()
	resting := func(i int) book.OrderRequest {
		return book.OrderRequest{Symbol: fmt.Sprintf("S%d", i%book.MaxSymbols), Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: exact.Decimal(90-i%40) * exact.One}
	}
	if err := d.place(n-1, resting); err != nil {
		return err
	}
	m.add("an engine with them", true, live()-before)
	placed := 0
	err = errors.Join(
		m.time("a price that reaches none", func() error { d.price("S0", 100); return nil }),
		m.time("place one and cancel it", func() error {
			placed++
			r := resting(n - 1)
			r.ClientOrderID = fmt.Sprint("more", placed)
			o, err := d.Place(context.Background(), r)
			if err == nil {
				_, err = d.CancelOrder(book.Who{}, o.ID)
			}
			return err
		}),
		m.call("a page of them", tool(d.tools, "get_orders", `{"status":"open","limit":50}`)))
	if err != nil {
		return err
	}
	return m.starts("a start with them", d)
}

// starts adds the CPU time that the engine of a desk takes to open, the least of three.
func (m *meter) starts(name string, d *desk) error {
	d.stop()
	least := 0.0
	for range 3 {
		if err := d.Close(); err != nil {
			return err
		}
		begun := cpu()
		e, err := trade.Open(options(d.dir))
		if err != nil {
			return err
		}
		if took := cpu() - begun; least == 0 || took < least {
			least = took
		}
		d.Engine = e
	}
	m.add(name, false, least)
	return nil
}

func subscribers(n int, m *meter) error {
	before := live()
	hub := sse.NewHub(func(note any) []byte { return []byte(note.(string)) })
	ctx, cancel := context.WithCancel(context.Background())
	var (
		names         []string
		written, ends sync.WaitGroup
	)
	defer ends.Wait()
	defer cancel()
	for i := range n {
		name := fmt.Sprint("subscriber", i)
		names = append(names, name)
		if err := hub.Apply(sse.Record{Subscribed: &sse.Subscription{ID: name, Caller: name}}); err != nil {
			return err
		}
		ends.Go(func() { hub.Push(ctx, name, func(sse.Event) error { written.Done(); return nil }) })
	}
	for open := 0; open < n; _, open, _ = hub.Stats() {
		time.Sleep(time.Millisecond)
	}
	m.add("a hub with them", true, live()-before)
	var seq uint64
	note := strings.Repeat("x", 300)
	return m.time("one event to all", func() error {
		seq++
		written.Add(n)
		now := time.Now()
		err := hub.Apply(sse.Record{At: now, Fired: &sse.Entry{Seq: seq, At: now, Note: note}, To: names})
		written.Wait()
		return err
	})
}

func finished(n int, m *meter) error {
	d, err := openDesk("")
	if err != nil {
		return err
	}
	defer d.close()
	filled := func(i int) book.OrderRequest {
		return book.OrderRequest{Symbol: "AAA", Side: []book.Side{book.Buy, book.Sell}[i%2], Type: book.Market, Quantity: exact.One}
	}
	if err := d.place(n, filled); err != nil {
		return err
	}
	d.stop()
	if err := d.Close(); err != nil {
		return err
	}
	before := live()
	if d.Engine, err = trade.Open(options(d.dir)); err != nil {
		return err
	}
	m.add("an engine with them", true, live()-before)
	placed := n
	err = errors.Join(
		m.time("look for the oldest", func() error { _, err := d.Order("c0"); return err }),
		m.time("the last page", func() error {
			_, err := d.FindArchived(context.Background(), trade.OrderFilter{}, max(0, n-10_000-100), 100)
			return err
		}),
		m.time("place one", func() error {
			r := filled(placed)
			r.ClientOrderID = fmt.Sprint("c", placed)
			placed++
			_, err := d.Place(context.Background(), r)
			return err
		}))
	if err != nil {
		return err
	}
	return m.starts("a start with them", d)
}
