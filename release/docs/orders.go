package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/trade"
	"wick/trade/book"
)

// play is a picture of docs/trading.md: a path of prices, orders that are placed on the
// way, and what the paper broker does with them. The result is real: the engine gets the
// prices of the path and is asked for its orders after each minute.
type play struct {
	name   string
	closes []float64
	gaps   map[int]float64             // minutes that do not open where the one before closed
	orders map[int][]book.OrderRequest // placed after a minute
}

// one is the quantity of every order.
const one = exact.One

// at returns a price of whole units.
func at(units int) exact.Decimal { return exact.Decimal(units) * exact.One }

var plays = []play{
	{name: "market", closes: []float64{100, 101, 100.5, 101.5, 102.5, 102, 103, 104, 103.5, 104.5, 105, 104.5},
		orders: map[int][]book.OrderRequest{3: {{Side: book.Buy, Type: book.Market}}, 9: {{Side: book.Sell, Type: book.Market}}}},
	{name: "limit", closes: []float64{100, 101, 100.5, 101, 100, 99, 98.5, 97.5, 96.3, 95.6, 96.5, 97.5, 98},
		orders: map[int][]book.OrderRequest{3: {{Side: book.Buy, Type: book.Limit, Price: at(96)}}}},
	{name: "stop", closes: []float64{100, 101, 102, 101.5, 101, 100, 99, 98, 96.5, 95.5, 94, 94.5, 93.5},
		orders: map[int][]book.OrderRequest{1: {{Side: book.Buy, Type: book.Market}}, 3: {{Side: book.Sell, Type: book.Stop, StopPrice: at(96), ReduceOnly: true}}}},
	{name: "stop_gap", closes: []float64{100, 101, 102, 101.5, 101, 100, 99, 98, 92, 91, 91.5, 90.5, 91},
		gaps:   map[int]float64{8: 93},
		orders: map[int][]book.OrderRequest{1: {{Side: book.Buy, Type: book.Market}}, 3: {{Side: book.Sell, Type: book.Stop, StopPrice: at(96), ReduceOnly: true}}}},
	{name: "stop_limit", closes: []float64{100, 101, 102, 101.5, 101, 100, 99, 98, 92, 91.5, 92.5, 94, 95.5, 96, 95.5},
		gaps: map[int]float64{8: 93},
		orders: map[int][]book.OrderRequest{1: {{Side: book.Buy, Type: book.Market}},
			3: {{Side: book.Sell, Type: book.StopLimit, StopPrice: at(96), Price: at(95), ReduceOnly: true}}}},
	{name: "trailing_stop", closes: []float64{97.5, 99, 100.5, 100, 101.5, 103.5, 103, 105, 106.5, 106, 108, 107, 106, 104.5, 103.5, 104},
		orders: map[int][]book.OrderRequest{2: {{Side: book.Buy, Type: book.Market}, {Side: book.Sell, Type: book.TrailingStop, TrailAmount: at(3), ReduceOnly: true}}}},
	{name: "bracket", closes: []float64{97.5, 98.5, 99.5, 100, 99.5, 98.5, 99, 100.5, 102, 101.5, 103, 104.5, 105.5, 105},
		orders: map[int][]book.OrderRequest{3: {{Side: book.Buy, Type: book.Market,
			StopLoss: book.Exit{Percent: 3 * one}, TakeProfit: book.Exit{Percent: 5 * one}}}}},
	{name: "oco", closes: []float64{104.5, 103, 101.5, 101, 102, 103.2, 102.5, 101, 100, 99, 98.5, 97.8, 96, 96.5, 95.5},
		orders: map[int][]book.OrderRequest{2: {{Side: book.Buy, Type: book.Market}},
			3: {{Side: book.Sell, Type: book.Limit, Price: at(104), ReduceOnly: true, OCO: book.OCO{StopPrice: at(97)}}}}},
}

func (p play) file() string { return "trading/" + p.name + ".png" }

// stage is the feed and the source of an engine that gets the prices of a path. Its times
// are those of the machine's clock, which the engine reads; the picture shows other times.
type stage struct {
	updates chan market.Update
	taken   chan struct{}
	watched chan struct{} // closed when the engine has read the history
	began   time.Time     // of the first minute
	price   float64
	at      int64 // of the price, in unix milliseconds
}

func (s *stage) Watch(string, ...market.Interval)                       { close(s.watched) }
func (*stage) Await([]string)                                           {}
func (*stage) Unwatch(string)                                           {}
func (*stage) Resume(string, map[market.Interval]int64, float64, int64) {}
func (*stage) Period(string) time.Duration                              { return 0 }
func (*stage) Ages() map[string]time.Duration                           { return nil }

func (s *stage) Run(ctx context.Context, deliver func(market.Update)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-s.updates:
			deliver(u)
			s.taken <- struct{}{}
		}
	}
}

// Quote is the price that the path has come to.
func (s *stage) Quote(_ context.Context, symbol string) (market.Quote, error) {
	return market.Quote{Symbol: symbol, Price: s.price, At: s.at, Source: "script", Synthetic: true}, nil
}

// Bars is a history of one bar.
func (s *stage) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	out := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "script", Synthetic: true, Forming: true, AsOf: s.at, PriceAt: s.at}
	out.Append(market.Bar{Time: q.Interval.Start(s.at / 1000), Open: s.price, High: s.price, Low: s.price, Close: s.price})
	return out, nil
}

// minute returns the bar of minute i, which starts at zero.
func (p play) minute(i int) market.Bar {
	open := p.closes[max(i-1, 0)]
	if gap, ok := p.gaps[i]; ok {
		open = gap
	}
	b := market.Bar{Open: open, Close: p.closes[i]}
	b.High, b.Low = max(b.Open, b.Close)+0.3, min(b.Open, b.Close)-0.3
	return b
}

// step tells the engine that a minute is over, and waits until it has processed that.
func (s *stage) step(i int, b market.Bar) {
	start := s.began.Add(time.Duration(i) * time.Minute).Unix()
	b.Time = start
	before := market.Bar{Time: start - 60, Open: s.price, High: s.price, Low: s.price, Close: s.price}
	u := market.Update{Symbol: "SAMPLE", Source: "script", Synthetic: true, Price: b.Close, At: start*1000 + 59_000, From: s.price, Since: s.at,
		High: max(s.price, b.High), Low: min(s.price, b.Low), Path: []market.Bar{before, b}}
	<-s.watched
	s.updates <- u
	<-s.taken
	s.price, s.at = u.Price, u.At
}

// act drives an engine along the path and returns the picture's view.
func (p play) act() (*chart.View, error) {
	dir, err := os.MkdirTemp("", "wick-docs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	began := time.Now().Truncate(time.Minute).Add(time.Minute)
	s := &stage{updates: make(chan market.Update), taken: make(chan struct{}), watched: make(chan struct{}), began: began, price: p.closes[0], at: began.UnixMilli() - 1}
	engine, err := trade.Open(trade.Options{Dir: dir, Source: s, Feed: s, Symbols: []string{"SAMPLE"}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	v, err := p.record(ctx, engine, s)
	cancel()
	return v, errors.Join(err, <-ended, engine.Close())
}

// record plays the path minute by minute and notes where orders stand.
func (p play) record(ctx context.Context, engine *trade.Engine, s *stage) (*chart.View, error) {
	series := &market.Series{Symbol: p.name, Interval: market.Minute1, Source: "script"}
	lines := make(map[string][]float64) // by order and level, a value per minute; 0 before and after its life
	for i := range p.closes {
		b := p.minute(i)
		s.step(i, b)
		b.Time = instant.Unix() + int64(i)*60
		series.Append(b)
		for _, r := range p.orders[i] {
			r.Symbol, r.Quantity, r.ClientOrderID = "SAMPLE", one, fmt.Sprint(i, r.Type)
			if _, err := engine.Place(ctx, r); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		open, err := engine.Orders(true)
		if err != nil {
			return nil, err
		}
		for _, o := range open {
			for name, level := range levels(o) {
				key := o.ID + name
				lines[key] = append(lines[key], make([]float64, i+1-len(lines[key]))...)
				lines[key][i] = level
			}
		}
	}
	v := &chart.View{Series: series, Past: true, Account: &chart.Account{}}
	all, err := engine.Orders(false)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		for _, name := range []string{"stop", "limit"} {
			v.Marks = append(v.Marks, marks(series, lines[o.ID+name], label(o, name), tone(o))...)
		}
		if o.FilledQuantity > 0 {
			minute := o.PriceAt.Add(-time.Millisecond).Sub(s.began) / time.Minute
			v.Marks = append(v.Marks, chart.Mark{Kind: chart.MarkText, Time: series.Time[minute], Price: number(*o.AveragePrice), Text: "filled " + o.AveragePrice.String(), Tone: indicators.Muted})
			v.Account.Fills = append(v.Account.Fills, chart.Fill{Buy: o.Side == book.Buy, Time: series.Time[minute], Price: number(*o.AveragePrice), Quantity: number(o.FilledQuantity)})
		}
	}
	slices.SortStableFunc(v.Marks, func(a, b chart.Mark) int { return int(a.Time - b.Time) })
	return v, nil
}

func number(d exact.Decimal) float64 { return float64(d) / float64(exact.One) }

// levels returns the prices that an order waits for, by what they are.
func levels(o book.Order) map[string]float64 {
	out := make(map[string]float64)
	if o.StopPrice != nil && o.TriggeredAt == nil { // from then on a stop_limit is a limit
		out["stop"] = number(*o.StopPrice)
	}
	if o.Price != nil {
		out["limit"] = number(*o.Price)
	}
	return out
}

// label names a level of an order in the picture.
func label(o book.Order, level string) string {
	switch {
	case o.Role == book.RoleStopLoss || o.Role == book.RoleTakeProfit:
		return string(o.Role)
	case o.Type == book.TrailingStop:
		return string(o.Type)
	}
	return level
}

// tone colours an order by what it is for.
func tone(o book.Order) indicators.Tone {
	switch {
	case o.Type == book.Limit && o.Role != "":
		return indicators.Up
	case o.Type != book.Limit:
		return indicators.Down
	}
	return indicators.Accent
}

// marks draws the level of an order over the minutes of its life, up to the one in
// which it ended. Where it moves there is a step.
func marks(s *market.Series, values []float64, text string, tone indicators.Tone) (out []chart.Mark) {
	for i, v := range values {
		if v == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 && out[n].Price == v {
			out[n].Time2 = s.Time[min(i+1, s.Len()-1)]
			continue
		}
		if n := len(out) - 1; n >= 0 {
			out = append(out, chart.Mark{Kind: chart.MarkLine, Time: s.Time[i], Time2: s.Time[i], Price: out[n].Price, Price2: v, Tone: tone})
		}
		out = append(out, chart.Mark{Kind: chart.MarkLine, Time: s.Time[i], Time2: s.Time[min(i+1, s.Len()-1)], Price: v, Price2: v, Tone: tone})
	}
	if len(out) > 0 {
		out[0].Text = text
	}
	return out
}

// paint draws the result of the play.
func (p play) paint() (*image.Paletted, error) {
	v, err := p.act()
	if err != nil {
		return nil, err
	}
	return paint(v, chart.Options{Width: 480, Height: 240, HideVolume: true})
}

// orderPictures adds the pictures of docs/trading.md to files.
func orderPictures(files map[string][]byte) error {
	for _, p := range plays {
		img, err := p.paint()
		if err != nil {
			return err
		}
		if files[p.file()], err = squeeze(img); err != nil {
			return err
		}
	}
	return nil
}
