package trade

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// quoting is a feed that can be asked for a price and tells none by itself.
type quoting struct {
	quiet
	quote func() (market.Quote, error)
}

func (q quoting) Quote(context.Context, string) (market.Quote, error) { return q.quote() }

// TestPriceAge: the price is 100 at the start and 103 when the feed is asked; an order is
// filled at the price that was asked for, and says when the market was there and who told
// it. It is refused if that price is older than the limit, or if the feed tells none, however
// fresh the last one is; the length of bars does not matter.
func TestPriceAge(t *testing.T) {
	answer := func(price float64, age time.Duration) func() (market.Quote, error) {
		return func() (market.Quote, error) {
			return market.Quote{Symbol: "AAA", Price: price, At: time.Now().Add(-age).UnixMilli(), Source: "binance"}, nil
		}
	}
	fails := func() (market.Quote, error) { return market.Quote{}, errors.New("binance answered 503") }
	for _, c := range []struct {
		name  string
		quote func() (market.Quote, error)
		most  time.Duration
		after time.Duration // since the price of 100
		want  string        // price or code
	}{
		{"asked for", answer(103, time.Second), 0, time.Minute, "103"},
		{"as old as may be", answer(103, time.Minute), 0, 2 * time.Minute, "103"},
		{"too old", answer(103, time.Minute+time.Second), 0, 2 * time.Minute, "stale_price"},
		{"older than the operator allows", answer(103, 11*time.Second), 10 * time.Second, 2 * time.Minute, "stale_price"},
		{"the operator allows more", answer(103, time.Hour), 2 * time.Hour, 2 * time.Hour, "103"},
		{"silent, the last is fresh", fails, 0, 59 * time.Second, "no_price"},
		{"silent, the last is as old as the operator allows", fails, 48 * time.Hour, 47 * time.Hour, "no_price"},
		{"silent, the last is old", fails, 0, 61 * time.Second, "stale_price"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(o *Options) {
				o.Source, o.Feed, o.MaxPriceAge = real{flat(100)}, quoting{quote: c.quote}, c.most
			}, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				time.Sleep(c.after)
				o, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
				if got := strings.TrimSuffix(code(err)+show(o.AveragePrice), "null"); got != c.want {
					t.Fatalf("%s (%v), want %s", got, err, c.want)
				}
				if err != nil {
					return
				}
				p := must(e.Positions(false))[0]
				if q := e.watch.Of("AAA").Quote; o.PriceAt == nil || !o.PriceAt.Equal(q.Time().Time) || o.Source != q.Source || o.Synthetic ||
					!p.PriceAt.Equal(o.PriceAt.Time) || p.Source != o.Source || p.Synthetic {
					t.Errorf("order %+v, position %+v, quote %+v", o, p, q)
				}
			})
		})
	}
}

// TestQuietMarket: the source has just said that the last trade was three hours ago; what
// would be filled at its price is refused; a limit that it has not reached waits for the next
// trade, and the price is as old as the trade.
func TestQuietMarket(t *testing.T) {
	quote := func() (market.Quote, error) {
		return market.Quote{Symbol: "AAA", Price: 103, At: time.Now().Add(-3 * time.Hour).UnixMilli(), Known: time.Now().UnixMilli(), Source: "coinbase"}, nil
	}
	inBubble(t, func(o *Options) { o.Source, o.Feed = real{flat(100)}, quoting{quote: quote} }, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		const want = "stale_price: the last trade of AAA is 3h0m0s old, over the limit of 1m0s (max-price-age in --paper-file); a limit that its price, 103, has not reached can wait for the next one (retry later)"
		for name, change := range map[string]func(*book.OrderRequest){
			"a market order": func(*book.OrderRequest) {}, "a limit that is reached": func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 104*exact.One },
		} {
			if o, err := try(t, e, change); err == nil || err.Error() != want {
				t.Errorf("%s: %+v, %v\nwant %s", name, o, err, want)
			}
		}
		if o := ask(t, e, func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 101*exact.One }); o.Status != book.StatusOpen {
			t.Errorf("a limit below the price: %+v", o)
		}
		if q := e.watch.Of("AAA").Quote; q.Price != 103*exact.One || time.Since(q.Time().Time) != 3*time.Hour {
			t.Errorf("the price is %s of %s", q.Price, q.Time())
		}
	})
}

// TestExchangeHours: within a session orders are filled at its last price, however old
// that is, if the source was just asked. Outside of a session, or if the last price is of
// the session before, a market order is refused. A limit order that the last price has not
// reached waits for the open.
func TestExchangeHours(t *testing.T) {
	const open, shut = 10 * time.Hour, 16 * time.Hour // after the beginning of the bubble's day
	for _, c := range []struct {
		name    string
		at      time.Duration
		tradeAt time.Duration
		fails   bool
		most    time.Duration
		want    string
	}{
		{"in the session", 12 * time.Hour, 12*time.Hour - time.Second, false, 0, "103"},
		{"the session's last, two hours ago", 15 * time.Hour, 13 * time.Hour, false, 0, "103"},
		{"nothing was traded yet", open + time.Minute, -8 * time.Hour, false, 0, "stale_price"},
		{"the source fails in the session", 15 * time.Hour, 13 * time.Hour, true, 0, "stale_price"},
		{"before the open", 9 * time.Hour, -8 * time.Hour, false, 0, "market_closed"},
		{"a second after the close", shut, shut - time.Second, false, 0, "market_closed"},
		{"the operator allows it", shut + time.Hour, shut, false, 2 * time.Hour, "103"},
	} {
		t.Run(c.name, func(t *testing.T) {
			feed := &quoting{}
			inBubble(t, func(o *Options) { o.Source, o.Feed, o.MaxPriceAge = real{flat(103)}, feed, c.most }, func(t *testing.T, e *Engine) {
				day := time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
				hours := market.Hours{Open: day.Add(open).Unix(), Close: day.Add(shut).Unix()}
				q := market.Quote{Symbol: "AAA", Price: 103, At: day.Add(c.tradeAt).UnixMilli(), Source: "yahoo", Hours: hours}
				feed.quote = func() (market.Quote, error) { return q, nil }
				time.Sleep(time.Until(day.Add(c.tradeAt)))
				e.ensure(t.Context(), "AAA")
				e.watch.Ask(t.Context(), "AAA")
				if c.fails {
					feed.quote = func() (market.Quote, error) { return market.Quote{}, errors.New("yahoo answered 503") }
				}
				time.Sleep(time.Until(day.Add(c.at)))
				o, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
				if got := strings.TrimSuffix(code(err)+show(o.AveragePrice), "null"); got != c.want {
					t.Fatalf("%s (%v), want %s", got, err, c.want)
				}
				if c.want != "market_closed" {
					return
				}
				r := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: 104 * exact.One, Quantity: exact.One}
				if o, err := e.Place(t.Context(), r); code(err) != "market_closed" {
					t.Errorf("a limit beyond the last price while it is closed: %+v, %v", o, err)
				}
				r.Price = 101 * exact.One
				end := day.Add(shut) // of the session that comes next
				if c.at >= shut {
					end = end.Add(24 * time.Hour)
				}
				r.DryRun, r.TimeInForce = true, book.Day
				if o, err := e.Place(t.Context(), r); err != nil || o.ExpiresAt == nil || !o.ExpiresAt.Equal(end) {
					t.Errorf("a limit order for the day: %+v, %v, want it until %s", o, err, end)
				}
				r.DryRun, r.TimeInForce = false, ""
				if o, err := e.Place(t.Context(), r); err != nil || o.Status != book.StatusOpen {
					t.Fatalf("a limit order while it is closed: %+v, %v", o, err)
				}
				walk(e, 103, minute(0, 103, 103, 103, 103))
				walk(e, 103, minute(0, 103, 103, 103, 103), minute(1, 99, 104, 99, 104))
				if o := must(e.Orders(false))[0]; o.Status != book.StatusFilled || show(o.AveragePrice) != "99" {
					t.Errorf("after an open at 99: %+v", o)
				}
			})
		})
	}
}

// TestPriceAgeOfFiles: if a file of daily bars ended yesterday, an order is refused. The
// refusal says that a newer row helps, and names max-price-age, with which it is
// filled at the last close.
func TestPriceAgeOfFiles(t *testing.T) {
	dir := t.TempDir()
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
	rows := "time,open,high,low,close\n"
	for i := range 2 {
		rows += start.AddDate(0, 0, i).Format(time.DateOnly) + ",100,100,100,100\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "spy-1d.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := market.NewCSV(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []time.Duration{0, 48 * time.Hour} {
		o := testOptions(t)
		o.Source, o.Feed, o.MaxPriceAge, o.Intervals = source, market.NewFeed(source, nil), most, []market.Interval{market.Day1}
		e := openTest(t, o)
		got, err := e.Place(t.Context(), book.OrderRequest{Symbol: "SPY", Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if most == 0 && (code(err) != "stale_price" || !strings.Contains(err.Error(), "when the file has a newer row") ||
			!strings.Contains(err.Error(), "larger max-price-age in --paper-file") || !strings.HasSuffix(err.Error(), "(retry later)")) {
			t.Errorf("order at a close of the day before: %+v, %v", got, err)
		}
		if most > 0 && (err != nil || !got.PriceAt.Equal(start.AddDate(0, 0, 2)) || got.Source != "csv") {
			t.Errorf("order with --max-price-age %s: %+v, %v", most, got, err)
		}
		e.Close()
	}
}

// TestNoFileOfSymbol: an alert and an order on a symbol without a file are refused because
// there is no price, and with the name of a file that is enough.
func TestNoFileOfSymbol(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		rows := "time,open,high,low,close\n" + time.Now().UTC().Format(time.DateOnly) + ",100,100,100,100\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("spy-1d.csv")
	source, err := market.NewCSV(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	o.Source, o.Feed, o.Intervals = source, market.NewFeed(source, nil), []market.Interval{market.Day1}
	e := openTest(t, o)
	defer e.Close()
	alert := book.AlertRequest{Symbol: "QQQ", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "200")}}
	order := book.OrderRequest{Symbol: "QQQ", Side: book.Buy, Type: book.Market, Quantity: exact.One}
	const want = `no price of QQQ: csv has no file for "QQQ": bars of 1d need qqq-1d.csv, one of shorter bars that make such, or qqq.csv; it has SPY`
	if _, err := e.SetAlert(t.Context(), alert); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an alert: %v", err)
	}
	if _, err := e.Place(t.Context(), order); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an order: %v", err)
	}
	write("qqq-1d.csv")
	if _, err := e.SetAlert(t.Context(), alert); err != nil {
		t.Errorf("an alert with the file: %v", err)
	}
	if _, err := e.Place(t.Context(), order); err != nil {
		t.Errorf("an order with the file: %v", err)
	}
}

// TestFileWithoutInterval: a file of daily bars can be traded and watched by its days
// although the operator's intervals are shorter. Orders are filled; a resting one, and a
// price alert, when the next day of the file reaches them. An alert on shorter bars is
// refused, and the refusal says what to do.
func TestFileWithoutInterval(t *testing.T) {
	for _, name := range []string{"brk-b-1d.csv", "brk-b.csv"} {
		synctest.Test(t, func(t *testing.T) {
			dir, rows := t.TempDir(), "time,open,high,low,close\n"
			day := func(n int, ohlc string) { // from today on, added to the file
				t.Helper()
				rows += time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, n).Format(time.DateOnly) + "," + ohlc + "\n"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for n := -60; n < 0; n++ {
				day(n, "100,101,99,100")
			}
			source, err := market.NewCSV(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := testOptions(t)
			o.Source, o.Feed, o.MaxPriceAge, o.Intervals = source, market.NewFeed(source, nil), 100*time.Hour, []market.Interval{market.Hour4, market.Hour1}
			e := openTest(t, o)
			order := func(change func(*book.OrderRequest)) book.Order {
				t.Helper()
				return ask(t, e, func(r *book.OrderRequest) { r.Symbol = "BRK-B"; change(r) })
			}
			if o := order(func(*book.OrderRequest) {}); o.Status != book.StatusFilled || show(o.AveragePrice) != "100" {
				t.Errorf("%s: at the market: %+v", name, o)
			}
			rests := order(func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One }).ID
			if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "BRK-B", Condition: book.Condition{Type: book.PriceBelow, Threshold: dec(t, "85")}}); err != nil {
				t.Errorf("%s: a price alert: %v", name, err)
			}
			signal := book.Condition{Type: book.IndicatorSignal, Indicator: "rsi", Signal: "rsi_oversold"}
			if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "BRK-B", Condition: signal}); err == nil || !strings.Contains(err.Error(), "give an interval that it has") {
				t.Errorf("%s: a signal on bars of 4h: %v", name, err)
			}
			if _, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "BRK-B", Interval: "1d", Condition: signal}); err != nil {
				t.Errorf("%s: a signal on bars of a day: %v", name, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- e.Run(ctx) }()
			time.Sleep(time.Minute)
			day(0, "100,100,80,82")
			time.Sleep(time.Minute)
			if got, err := e.Order(rests); err != nil || got.Status != book.StatusFilled || show(got.AveragePrice) != "90" {
				t.Errorf("%s: a resting limit after a day that went to 80: %+v, %v", name, got, err)
			}
			if n := e.PendingNotifications(""); n != 1 {
				t.Errorf("%s: %d alerts fired", name, n)
			}
			cancel()
			<-ended
			e.Close()
		})
	}
}

// TestFileGivesNoPrice: while a file has rows of the future, a line that cannot be read, or
// is gone, no order is taken at the price from before, be it seconds old: the file may say
// 80 and not 100 by now. Nothing that rests is filled meanwhile. When the file is right
// again, its price counts.
func TestFileGivesNoPrice(t *testing.T) {
	at := func(price string, ahead ...string) string { // an hour of minutes at 100, and the running one at a price
		rows, now := "time,open,high,low,close\n", time.Now().UTC().Truncate(time.Minute)
		for n := -60; n < 0; n++ {
			rows += now.Add(time.Duration(n)*time.Minute).Format(time.DateTime) + ",100,100,100,100\n"
		}
		return rows + now.Format(time.DateTime) + ",100,100," + price + "," + price + "\n" + strings.Join(ahead, "")
	}
	for name, broken := range map[string]func() string{
		"a row of tomorrow": func() string {
			return at("80", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateTime)+",80,80,80,80\n")
		},
		"a broken line": func() string { return at("80", "garbage,1,2\n") },
		"no file":       func() string { return "" },
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "spy-1m.csv")
			write := func(rows string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
				if rows == "" {
					os.Remove(path)
				}
				time.Sleep(5 * time.Second)
			}
			source, err := market.NewCSV(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			write(at("100"))
			o := testOptions(t)
			o.Source, o.Feed, o.MaxPriceAge, o.Intervals = source, market.NewFeed(source, nil), 48*time.Hour, []market.Interval{market.Minute1}
			e := openTest(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- e.Run(ctx) }()
			order := func(change func(*book.OrderRequest)) (book.Order, error) {
				r := book.OrderRequest{Who: anyone(), Symbol: "SPY", Side: book.Buy, Type: book.Market, Quantity: exact.One}
				change(&r)
				return e.Place(t.Context(), r)
			}
			held, err := order(func(r *book.OrderRequest) { r.StopLoss = book.Exit{Price: 85 * exact.One} })
			if err != nil || show(held.AveragePrice) != "100" {
				t.Fatalf("%s: before: %+v, %v", name, held, err)
			}
			limit := func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One }
			rests, err := order(limit)
			if err != nil {
				t.Fatal(err)
			}
			write(broken())
			for _, change := range []func(*book.OrderRequest){func(*book.OrderRequest) {}, func(r *book.OrderRequest) { r.DryRun = true }, limit} {
				if o, err := order(change); code(err) != "no_price" {
					t.Errorf("%s: %+v, %v", name, o, err)
				}
			}
			for _, id := range []string{rests.ID, held.ID + "-sl"} {
				if o, err := e.Order(id); err != nil || o.Status != book.StatusOpen {
					t.Errorf("%s: what rests: %+v, %v", name, o, err)
				}
			}
			write(at("80"))
			if o, err := order(func(*book.OrderRequest) {}); err != nil || show(o.AveragePrice) != "80" {
				t.Errorf("%s: afterwards: %+v, %v", name, o, err)
			}
			cancel()
			<-ended
			e.Close()
		})
	}
}

// TestRowWrittenWhenItIsOver: each row of a file is written when its minute is over, and an order
// comes in the middle of one; what was traded in that minute may have come before the order, so only
// its close counts. Of the next minute everything does.
func TestRowWrittenWhenItIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*book.OrderRequest)
		rows   []string // that come after the order
		want   string
	}{
		"a limit below the low":        {limiting(book.Buy, 95), []string{"100,106,94,100"}, "open"},
		"a limit above the close":      {limiting(book.Buy, 95), []string{"100,106,93,94"}, "filled 95"},
		"a limit in the minute behind": {limiting(book.Buy, 95), []string{"100,106,94,100", "100,100,94,100"}, "filled 95"},
		"a limit that sells":           {limiting(book.Sell, 105), []string{"100,106,94,100"}, "open"},
		"a stop above the low":         {stopping(book.Sell, 95), []string{"100,106,94,100"}, "open"},
		"a stop above the close":       {stopping(book.Sell, 95), []string{"100,106,93,94"}, "filled 94"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, began, rows := t.TempDir(), time.Now().UTC(), "time,open,high,low,close\n"
				written := 0
				write := func(row string) { // one second after its minute
					t.Helper()
					rows += began.Add(time.Duration(written)*time.Minute).Format(time.DateTime) + "," + row + "\n"
					written++
					time.Sleep(time.Until(began.Add(time.Duration(written)*time.Minute + time.Second)))
					if err := os.WriteFile(filepath.Join(dir, "spy-1m.csv"), []byte(rows), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				source, err := market.NewCSV(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				write("100,100,100,100")
				write("100,100,100,100")
				o := testOptions(t)
				o.Source, o.Feed, o.Intervals = source, market.NewFeed(source, nil), []market.Interval{market.Minute1}
				o.Slippage, o.Account.Short = 0, true
				e := openTest(t, o)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- e.Run(ctx) }()
				on := func(change func(*book.OrderRequest)) string {
					return ask(t, e, func(r *book.OrderRequest) { r.Symbol = "SPY"; change(r) }).ID
				}
				on(of(10, func(*book.OrderRequest) {})) // so that the symbol is watched, and there is something to sell
				time.Sleep(20 * time.Second)
				id := on(c.change)
				for _, row := range c.rows {
					write(row)
				}
				time.Sleep(5 * time.Second)
				if got := found(t, e, id); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				cancel()
				<-ended
				e.Close()
			})
		})
	}
}

// TestFileGoesBack: a file has told 90 when its last row is taken out, or corrected; what
// is filled then is filled at what the file tells now, and a limit of 95 is not reached by
// the 90 that nobody tells any more: it waits for rows that are newer than the one of 90,
// says so, and is filled by one of 94.
func TestFileGoesBack(t *testing.T) {
	for name, c := range map[string]struct {
		row, want string
		most      time.Duration
	}{
		"the last row is gone":                  {"", "100", time.Hour},
		"the last row is gone, the rest is old": {"", "stale_price", 0},
		"the last row has another close":        {"98", "98", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir, began := t.TempDir(), time.Now().UTC()
			write := func(closes ...string) { // minutes that end at half a minute ago at the latest
				t.Helper()
				rows := "time,open,high,low,close\n"
				for i, price := range closes {
					if price != "" {
						rows += began.Add(time.Duration(i)*time.Minute).Format(time.DateTime) + "," + strings.Repeat(price+",", 3) + price + "\n"
					}
				}
				time.Sleep(time.Until(began.Add(time.Duration(len(closes))*time.Minute + 25*time.Second)))
				if err := os.WriteFile(filepath.Join(dir, "spy-1m.csv"), []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
			source, err := market.NewCSV(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			write("100", "100")
			o := testOptions(t)
			o.Source, o.Feed, o.MaxPriceAge, o.Intervals = source, market.NewFeed(source, nil), c.most, []market.Interval{market.Minute1}
			e := openTest(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- e.Run(ctx) }()
			order := func(kind book.OrderType, price exact.Decimal) (book.Order, string) {
				o, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "SPY", Side: book.Buy, Type: kind, Price: price, Quantity: exact.One})
				return o, strings.TrimSuffix(code(err)+show(o.AveragePrice), "null")
			}
			order(book.Market, 0) // so that the symbol is watched
			write("100", "100", "90")
			if _, got := order(book.Market, 0); got != "90" {
				t.Errorf("%s: before: %s", name, got)
			}
			write("100", "100", c.row)
			if _, got := order(book.Market, 0); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if c.want != "stale_price" {
				dry, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "SPY", Side: book.Buy, Type: book.Limit, Price: 95 * exact.One, Quantity: exact.One, DryRun: true})
				if err != nil || !strings.Contains(dry.Reason, "; without dry_run: the file no longer tells its price of 2000-01-01 00:03") {
					t.Errorf("%s: dry run of a limit that is not reached: %q, %v", name, dry.Reason, err)
				}
				rests, got := order(book.Limit, 95*exact.One)
				if got != "" || rests.Status != book.StatusOpen || !strings.Contains(rests.Reason, "price of 2000-01-01 00:03") {
					t.Errorf("%s: a limit that is not reached: %+v", name, rests)
				}
				// An update that tells of closed bars repeats the last price.
				e.deliver(t.Context(), market.Update{Symbol: "SPY", Price: 90, From: 90, High: 90, Low: 90, At: began.Add(3 * time.Minute).UnixMilli()})
				if p := must(e.Positions(false))[0]; show(p.CurrentPrice) != c.want {
					t.Errorf("%s: position at %s, want %s", name, show(p.CurrentPrice), c.want)
				}
				write("100", "100", c.row, "100")
				if o, err := e.Order(rests.ID); err != nil || o.Status != book.StatusOpen {
					t.Errorf("%s: after a row of 100: %+v, %v", name, o, err)
				}
				write("100", "100", c.row, "100", "94")
				if o, err := e.Order(rests.ID); err != nil || o.Status != book.StatusFilled || o.Reason != "" {
					t.Errorf("%s: after a row of 94: %+v, %v", name, o, err)
				}
			}
			cancel()
			<-ended
			e.Close()
		})
	}
}

// TestRestingPriceAt: a resting order that was filled says when the market was at its
// price.
func TestRestingPriceAt(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Limit, "1", "95")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		begin := time.Now()
		walk(e, 100, minute(0, 100, 100, 99, 99), minute(1, 99, 99, 94, 96), minute(2, 96, 99, 96, 99))
		o := must(e.Orders(false))[0]
		if want := begin.Add(2 * time.Minute); o.PriceAt == nil || !o.PriceAt.Equal(want) || o.Source != "test" || o.Synthetic {
			t.Errorf("order %+v, want the end of the minute, %s", o, want)
		}
	})
}
