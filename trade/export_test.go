package trade

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// TestFind: each filter of orders finds those that it says, and filters go together.
func TestFind(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		me, other := book.Who{Client: "me"}, book.Who{Client: "other"}
		for _, w := range []book.Who{me, other} {
			for _, symbol := range []string{"AAA", "BBB"} {
				time.Sleep(time.Hour)
				ask(t, e, func(r *book.OrderRequest) { r.Who, r.Symbol = w, symbol })
				ask(t, e, func(r *book.OrderRequest) { r.Who, r.Symbol, r.Type, r.Price = w, symbol, book.Limit, 90*exact.One })
			}
		}
		hour := func(n int) time.Time { return e.book.Orders[0].CreatedAt.Add(time.Duration(n) * time.Hour) }
		for name, c := range map[string]struct {
			filter OrderFilter
			want   int
		}{
			"all": {OrderFilter{}, 8}, "open": {OrderFilter{Status: book.StatusOpen}, 4}, "filled": {OrderFilter{Status: book.StatusFilled}, 4}, "cancelled": {OrderFilter{Status: book.StatusCancelled}, 0},
			"symbol": {OrderFilter{Symbol: "aaa"}, 4}, "client": {OrderFilter{Client: &me}, 4}, "since": {OrderFilter{Since: hour(1)}, 6}, "until": {OrderFilter{Until: hour(1)}, 2},
			"together": {OrderFilter{Status: book.StatusOpen, Symbol: "BBB", Client: &other, Since: hour(2), Until: hour(4)}, 1},
		} {
			if got, err := e.Find(c.filter); err != nil || len(got) != c.want {
				t.Errorf("%s: %d orders, want %d (%v)", name, len(got), c.want, err)
			}
		}
		if _, err := e.Find(OrderFilter{Symbol: "../"}); code(err) != "bad_symbol" {
			t.Errorf("a bad symbol: %v, want bad_symbol", err)
		}
	})
}

// TestExport: all orders, those that left memory too, those that were filled, and the days of the
// account, are exported from the directory of a process that runs or has ended.
func TestExport(t *testing.T) {
	o := testOptions(t)
	funded(&o)
	o.kept = 3
	e := openTest(t, o)
	for i := range 10 {
		ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.ClientOrderID = []book.Side{book.Buy, book.Sell}[i%2], fmt.Sprint("c", i)
		})
	}
	place(t, e, book.Buy, book.Limit, "1", "90")
	e.tidy()
	rows := func(what string) [][]string {
		t.Helper()
		var out bytes.Buffer
		if err := Export(o.Dir, what, "csv", &out); err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return table[1:]
	}
	for _, when := range []string{"while it runs", "after it ended"} {
		if n, m, d := len(rows("orders")), len(rows("fills")), len(rows("equity")); n != 11 || m != 10 || d != 1 {
			t.Errorf("%s: %d orders, %d fills, %d days, want 11, 10 and 1", when, n, m, d)
		}
		if got := rows("orders"); got[0][1] != "c0" || got[9][1] != "c9" || got[10][8] != "open" {
			t.Errorf("%s: the orders are not c0 to c9 and the open one: %s", when, got)
		}
		if when == "while it runs" {
			if err := e.Close(); err != nil { // after which most leave memory
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	var orders []book.Order
	if err := Export(o.Dir, "orders", "json", &out); err != nil || json.Unmarshal(out.Bytes(), &orders) != nil || len(orders) != 11 || orders[0].By != nil {
		t.Errorf("orders as JSON: %s, %v, want 11 that do not say who placed them", out.String(), err)
	}
	// What the two formats of equity call the same.
	for format, want := range map[string]string{"csv": `^date,equity,realized_pnl,fees,synthetic\n[^\n]*,true\n$`, "json": `^\[{"date":"[^"]*","equity":[^,]*,"realized":[^,]*,"fees":[^,]*,"cash":[^,]*,"synthetic":true}\]\n$`} {
		out.Reset()
		if err := Export(o.Dir, "equity", format, &out); err != nil || !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("equity as %s: %s, %v", format, out.String(), err)
		}
	}
}

// counted is what a trader would count from a list of executions: a position at average
// cost for each symbol, and what was realized less fees.
type counted struct{ quantity, cost, realized *big.Rat }

// replay counts the rows of --export fills in their order, with the columns by name, and
// returns the ledgers by symbol.
func replay(t *testing.T, dir string) (map[string]*counted, [][]string) {
	t.Helper()
	var out bytes.Buffer
	if err := Export(dir, "fills", "csv", &out); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"sequence", "time", "order_id", "client_order_id", "symbol", "side", "quantity", "price", "fee", "source", "synthetic"}
	if !slices.Equal(table[0], want) {
		t.Fatalf("the columns are %q, want %q", table[0], want)
	}
	number := func(text string) *big.Rat {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		return r
	}
	books := make(map[string]*counted)
	last := uint64(0)
	for _, row := range table[1:] {
		seq, err := strconv.ParseUint(row[0], 10, 64)
		if _, bad := time.Parse(time.RFC3339, row[1]); err != nil || bad != nil || seq < last {
			t.Errorf("row %q after sequence %d: %v %v", row, last, err, bad)
		}
		last = seq
		l := books[row[4]]
		if l == nil {
			l = &counted{new(big.Rat), new(big.Rat), new(big.Rat)}
			books[row[4]] = l
		}
		size, price := number(row[6]), number(row[7])
		if row[5] == "sell" {
			size.Neg(size)
		}
		l.realized.Sub(l.realized, number(row[8]))
		if l.quantity.Sign()*size.Sign() < 0 { // it closes as much as is held, at average cost
			closed := new(big.Rat).Set(size)
			if closed.Abs(closed).Cmp(new(big.Rat).Abs(l.quantity)) > 0 {
				closed.Abs(l.quantity)
			}
			share := new(big.Rat).Mul(l.cost, new(big.Rat).Quo(closed, new(big.Rat).Abs(l.quantity)))
			if size.Sign() > 0 {
				closed.Neg(closed)
			}
			l.realized.Add(l.realized, new(big.Rat).Sub(new(big.Rat).Mul(closed, price), share))
			l.cost.Sub(l.cost, share)
			l.quantity.Sub(l.quantity, closed)
			size.Add(size, closed)
		}
		l.quantity.Add(l.quantity, size)
		l.cost.Add(l.cost, new(big.Rat).Mul(size, price))
	}
	return books, table[1:]
}

// sameProfit compares what was counted from the executions with the positions of the book.
func sameProfit(t *testing.T, books map[string]*counted, positions []book.Position) {
	t.Helper()
	if len(books) != len(positions) {
		t.Errorf("%d symbols in the export, %d in the book", len(books), len(positions))
	}
	for _, p := range positions {
		l := books[p.Symbol]
		if l == nil {
			t.Errorf("%s is not in the export", p.Symbol)
			continue
		}
		realized, ok := new(big.Rat).SetString(p.RealizedPnL.String())
		held, _ := new(big.Rat).SetString(p.Quantity.String())
		if p.Side == "short" {
			held.Neg(held)
		}
		if !ok || l.realized.FloatString(10) != realized.FloatString(10) || l.quantity.Cmp(held) != 0 {
			t.Errorf("%s: the executions give %s and %s held, the book has %s and %s", p.Symbol, l.realized.FloatString(10), l.quantity.RatString(), p.RealizedPnL, held.RatString())
		}
	}
}

// TestExportFills: the fills are executions in the order in which they happened. Counted one
// after the other they give the book's profit: over orders that wait and are filled after
// later ones, positions that are built and closed in parts, shorts, a turn from long to
// short, exits of brackets, and over restarts and rotations.
func TestExportFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		o.Account = book.AccountRules{Cash: 100_000 * exact.One, Stablecoins: true, Short: true}
		o.FeeRate, o.kept, o.files = exact.One/1000, 3, journal.FileOptions{MaxRecords: 7}
		e := openTest(t, o)
		trade := func(symbol string, side book.Side, quantity, limit string) book.Order {
			t.Helper()
			return ask(t, e, func(r *book.OrderRequest) {
				r.Symbol, r.Side, r.Quantity = symbol, side, dec(t, quantity)
				if limit != "" {
					r.Type, r.Price = book.Limit, dec(t, limit)
				}
			})
		}
		price(e, "AAA", 100)
		price(e, "BBB", 50)
		early := trade("AAA", book.Buy, "5", "90") // placed first, filled last but one
		trade("AAA", book.Buy, "3", "")
		price(e, "AAA", 103.5)
		trade("AAA", book.Buy, "4", "")
		trade("BBB", book.Sell, "2.5", "") // a short
		price(e, "AAA", 107.25)
		trade("AAA", book.Sell, "2", "") // out in parts
		price(e, "AAA", 111.1)
		trade("AAA", book.Sell, "1.5", "")
		price(e, "BBB", 47.3)
		trade("BBB", book.Buy, "1", "")
		price(e, "AAA", 89.5)
		if o, err := e.Order(early.ID); err != nil || o.Status != book.StatusFilled {
			t.Fatalf("the first order: %+v, %v", o, err)
		}
		trade("BBB", book.Buy, "4.25", "") // from short to long
		ask(t, e, func(r *book.OrderRequest) {
			r.Symbol, r.Quantity, r.StopLoss, r.TakeProfit = "CCC", dec(t, "2"), book.Exit{Price: dec(t, "95")}, book.Exit{Price: dec(t, "110")}
		})
		price(e, "CCC", 94)
		ask(t, e, func(r *book.OrderRequest) {
			r.Symbol, r.Side, r.Type, r.Price = "AAA", book.Buy, book.Limit, dec(t, "50")
		}) // never filled
		e.tidy()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openTest(t, o)
		defer e.Close()
		books, rows := replay(t, o.Dir)
		sameProfit(t, books, must(e.Positions(true)))
		if n := len(rows); n != 10 {
			t.Errorf("%d executions, want 10", n)
		}
		first := slices.IndexFunc(rows, func(row []string) bool { return row[2] == early.ID })
		if first != 6 || rows[6][7] != "90" {
			t.Errorf("the order that waited is row %d, want 6, at 90: %q", first, rows)
		}
	})
}

// TestExportLiveFills: of an order that a broker fills in parts each part is an execution, at
// its own price and in its place among those of other orders.
func TestExportLiveFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := &atBroker{t: t, venue: v}
		o := liveOptions(t, v)
		l.e = openTest(t, o)
		l.run()
		defer l.stop()
		time.Sleep(time.Second)
		sent := func(side book.Side, quantity, limit int64) book.Order {
			t.Helper()
			order, err := l.place(book.OrderRequest{Side: side, Type: book.Limit, Quantity: exact.Decimal(quantity) * exact.One, Price: exact.Decimal(limit) * exact.One})
			if err != nil {
				t.Fatal(err)
			}
			return order
		}
		part := func(o book.Order, quantity int64, price string) {
			t.Helper()
			v.Fill(o.ID, exact.Decimal(quantity)*exact.One, dec(t, price))
			time.Sleep(time.Second)
		}
		buy := sent(book.Buy, 10, 99)
		part(buy, 3, "98.97")
		part(buy, 4, "97.31")
		sell := sent(book.Sell, 6, 105)
		part(sell, 1, "105.13")
		part(buy, 3, "96.02") // between two parts of the sale
		part(sell, 2, "106.41")
		if _, err := l.e.CancelOrder(anyone(), sell.ID); err != nil {
			t.Fatal(err)
		}
		books, rows := replay(t, o.Dir)
		sameProfit(t, books, must(l.e.Positions(true)))
		var prices []string
		for _, row := range rows {
			prices = append(prices, row[6]+" at "+row[7])
		}
		if want := []string{"3 at 98.97", "4 at 97.31", "1 at 105.13", "3 at 96.02", "2 at 106.41"}; !slices.Equal(prices, want) {
			t.Errorf("executions %q, want %q", prices, want)
		}
	})
}

// TestExportSyntheticDays: the days of an account say from when on invented prices are in
// them: those of an order, and those at which what was bought for real is valued.
func TestExportSyntheticDays(t *testing.T) {
	at := func(date string) book.Time {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		return book.Time{Time: day.Add(time.Hour)}
	}
	orders := []*book.Order{{CreatedAt: at("2026-01-01"), FilledQuantity: 1}, {CreatedAt: at("2026-01-01"), Synthetic: true}, {CreatedAt: at("2026-01-03"), FilledQuantity: 1, Synthetic: true}}
	days := []book.DayMark{{Date: "2026-01-01"}, {Date: "2026-01-02"}, {Date: "2026-01-03"}, {Date: "2026-01-04"}}
	days = markSynthetic(days, orders)
	if days[0].Synthetic || days[1].Synthetic || !days[2].Synthetic || !days[3].Synthetic {
		t.Errorf("invented prices since 2026-01-03: %+v", days)
	}

	o := testOptions(t)
	funded(&o)
	o.Source = real{o.Source}
	e := openTest(t, o)
	ask(t, e, func(r *book.OrderRequest) { r.ClientOrderID = "real" })
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o.Source = flat(100)
	e = openTest(t, o)
	defer e.Close()
	if err := e.ensure(t.Context(), "AAA"); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.book.NoteDay(book.Time{Time: now().AddDate(0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	if n := len(e.book.Days); n != 2 || e.book.Days[0].Synthetic || !e.book.Days[1].Synthetic {
		t.Errorf("bought for real and valued at an invented price the day after: %+v", e.book.Days)
	}
}

// TestExportNothing: of a directory without orders every export is an empty list.
func TestExportNothing(t *testing.T) {
	o := testOptions(t)
	if err := openTest(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	for _, what := range Exports {
		var out bytes.Buffer
		if err := Export(o.Dir, what, "json", &out); err != nil || out.String() != "[]\n" {
			t.Errorf("%s: %q, %v, want an empty list", what, &out, err)
		}
	}
}
