package trade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// TestFindTrades: trades that have left memory are found with those that have not, each once and
// the last first, in pages of any size and by each filter, and a tag that was given later is that of
// the trade, wherever it is, also after a start.
func TestFindTrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), fewOptions() // which keep five, and begin a generation after a dozen records
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ask := func(i int, side book.Side, tag string) book.Order {
			o, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: []string{"AAA", "BBB"}[i%2], Side: side, Type: book.Market, Quantity: exact.One, Label: book.Label{Tag: tag}})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		var opened []string
		for i := range 30 { // trade i ends at second i
			opened = append(opened, ask(i, book.Buy, "").ID)
			ask(i, book.Sell, "exit")
			time.Sleep(time.Second)
		}
		ask(0, book.Buy, "Breakout")
		label := func(i int, l book.Label) {
			before, err := e.Order(opened[i])
			if err == nil {
				var after book.Order
				after, err = e.Label(t.Context(), book.Who{}, opened[i], l)
				before.Label = after.Label
				if fmt.Sprint(before) != fmt.Sprint(after) {
					t.Errorf("a label has changed %v to %v", before, after)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		label(2, book.Label{Tag: "Late"})
		label(2, book.Label{Note: "too early"})
		label(29, book.Label{Tag: "late"})
		find := func(f TradeFilter, skip, most int) (list string) {
			found, err := e.FindTrades(t.Context(), f, skip, most)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range found.Trades {
				name := "open"
				if v.ClosedAt != nil {
					name = fmt.Sprint(int(v.ClosedAt.Sub(began).Seconds()))
				}
				list += name + v.Tag + strings.ReplaceAll(v.Note, " ", "") + " "
			}
			if found.More {
				list += "and more"
			}
			return list
		}
		second := func(i int) time.Time { return began.Add(time.Duration(i) * time.Second) }
		check := func(when string) {
			t.Helper()
			for _, c := range []struct {
				f          TradeFilter
				skip, most int
				want       string
			}{
				{TradeFilter{}, 0, 3, "openbreakout 29late 28 and more"},
				{TradeFilter{}, 20, 3, "10 9 8 and more"},
				{TradeFilter{}, 28, 9, "2latetooearly 1 0 "},
				{TradeFilter{}, 31, 9, ""},
				{TradeFilter{Open: true}, 0, 9, "openbreakout "},
				{TradeFilter{Tag: "LATE"}, 0, 9, "29late 2latetooearly "},
				{TradeFilter{Symbol: "bbb"}, 13, 9, "3 1 "},
				{TradeFilter{Since: second(27)}, 0, 9, "openbreakout 29late 28 27 "},
				{TradeFilter{Until: second(2)}, 0, 9, "1 0 "},
				{TradeFilter{Since: second(10), Until: second(13)}, 1, 9, "11 10 "},
			} {
				if got := find(c.f, c.skip, c.most); got != c.want {
					t.Errorf("%s: %+v after %d, at most %d: %s; want %s", when, c.f, c.skip, c.most, got, c.want)
				}
			}
			if o, err := e.Order(opened[2]); err != nil || o.Tag != "late" || o.Note != "too early" {
				t.Errorf("%s: the order is labelled %q, %v", when, o.Label, err)
			}
		}
		check("at first")
		for range 30 { // until the labels have left memory as well
			ask(1, book.Buy, "")
			ask(1, book.Sell, "")
		}
		if n := e.book.Labels; len(e.book.Done) > 40 || e.archive.Len() < 60 {
			t.Errorf("%d trades and %d labels in memory, %d endings in the index", len(e.book.Done), len(n), e.archive.Len())
		}
		if got := find(TradeFilter{Tag: "late"}, 0, 9); got != "29late 2latetooearly " {
			t.Errorf("labelled trades after others: %s", got)
		}
		for range 2 {
			e.Close()
			if e, err = openOn(o, d); err != nil {
				t.Fatal(err)
			}
			if got := find(TradeFilter{Tag: "late"}, 0, 9); got != "29late 2latetooearly " {
				t.Errorf("labelled trades after a start: %s", got)
			}
			if got := find(TradeFilter{Until: second(2)}, 0, 9); got != "1 0 " {
				t.Errorf("trades after a start: %s", got)
			}
		}
		e.Close()
	})
}

// TestLabelOfTrade: whichever order of a trade is labelled, the trade is: what a trader remembers is
// often how he came out. One that ends a trade and begins the next is of the one that it begins.
func TestLabelOfTrade(t *testing.T) {
	for i, want := range []string{"x,,", "x,,", "x,,", ",x,", ",x,", ",,x"} {
		inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
			var orders []string
			for _, size := range []int64{2, 1, -1, -5, 3, 1} { // the first trade, its rest and the second, the third
				side := book.Buy
				if size < 0 {
					side = book.Sell
				}
				orders = append(orders, ask(t, e, of(max(size, -size), func(r *book.OrderRequest) { r.Side, r.MayOpen = side, true })).ID)
			}
			o, err := e.Label(t.Context(), book.Who{}, orders[i], book.Label{Tag: "x"})
			found, more := e.FindTrades(t.Context(), TradeFilter{}, 0, 9)
			if err != nil || more != nil || len(found.Trades) != 3 || o.Tag != "x" {
				t.Fatalf("order %d: %v, %v, %+v", i, err, more, found)
			}
			got := found.Trades[2].Tag + "," + found.Trades[1].Tag + "," + found.Trades[0].Tag
			if again, err := e.Order(orders[i]); got != want || err != nil || again.Tag != "x" {
				t.Errorf("order %d is labelled: the trades are %q, and the order %q, %v; want %q", i, got, again.Tag, err, want)
			}
		})
	}
}

// TestTradeCloses: a trade lists twenty of its parts, book.MaxCloses, and counts the others; its sums
// have all.
func TestTradeCloses(t *testing.T) {
	o := testOptions(t)
	o.FeeRate = exact.One / 1000
	e := openTest(t, o)
	r := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: 23 * exact.One}
	for i := range 24 {
		if i > 0 {
			r.Side, r.Quantity = book.Sell, exact.One
		}
		r.Who = anyone()
		if _, err := e.Place(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	found, err := e.FindTrades(t.Context(), TradeFilter{}, 0, 9)
	if err != nil || len(found.Trades) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if v, h := found.Trades[0], must(e.Positions(true))[0]; len(v.Closes) != 20 || v.More != 3 || *v.Profit != h.RealizedPnL || *v.Fees != h.Fees {
		t.Errorf("%d parts, %d more, a profit of %s and fees of %s: want 20, 3, %s and %s", len(v.Closes), v.More, v.Profit, v.Fees, h.RealizedPnL, h.Fees)
	}
}

// TestExportTrades: the closed trades of a directory, those that left memory too, are exported with
// the labels that they were given later. A note, which may be a formula, is not in the table.
func TestExportTrades(t *testing.T) {
	o := testOptions(t)
	o.kept = 2
	e := openTest(t, o)
	var first book.Order
	for i := range 12 {
		placed, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: []book.Side{book.Buy, book.Sell}[i%2], Type: book.Market, Quantity: exact.One})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = placed
		}
	}
	if _, err := e.Label(t.Context(), book.Who{}, first.ID, book.Label{Tag: "fade", Note: "=1+1"}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"while it runs", "after it ended"} {
		var table, list bytes.Buffer
		if err := errors.Join(Export(o.Dir, "trades", "csv", &table), Export(o.Dir, "trades", "json", &list)); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(table.String()), "\n")
		if len(rows) != 7 || !strings.Contains(rows[1], ","+first.ID+",") || !strings.Contains(rows[1], ",market,fade,paper,") || strings.Contains(table.String(), "1+1") {
			t.Errorf("%s: %s", when, table.String())
		}
		var trades []book.TradeShown
		if err := json.Unmarshal(list.Bytes(), &trades); err != nil || len(trades) != 6 || trades[0].Note != "=1+1" || trades[0].Why["r"] == "" {
			t.Errorf("%s: %s, %v", when, list.String(), err)
		}
		if when == "while it runs" {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLiveTrades: a trade at a broker, whose entry is filled in parts: the first risk is that of all of
// it, 10 from 99 to the stop at 96.03, also after a crash. The broker's fees are not known, and said
// not to be.
func TestLiveTrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 99 * exact.One, Quantity: 10 * exact.One,
			StopLoss: book.Exit{Percent: 3 * exact.One}, TakeProfit: book.Exit{Price: 120 * exact.One}})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []exact.Decimal{4, 6} {
			v.Fill(entry.ID, part*exact.One, 99*exact.One)
			time.Sleep(time.Second)
		}
		l.crash()
		time.Sleep(10 * time.Second)
		moved, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: 115 * exact.One, Quantity: 10 * exact.One, Replaces: entry.ID + "-tp"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v.Fill(moved.ID, 10*exact.One, 115*exact.One)
		time.Sleep(10 * time.Second)
		found, err := l.e.FindTrades(t.Context(), TradeFilter{}, 0, 9)
		if err != nil || len(found.Trades) != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		got := found.Trades[0]
		if got.Profit == nil || got.Profit.String() != "160" || got.R == nil || got.R.String() != "5.38720539" || got.Risk.Amount.String() != "29.7" || got.How != "take_profit" { // 160 by 29.7
			t.Errorf("%+v %v", got, got.Why)
		}
		if got.Fees != nil || got.Why["fees"] == "" || got.Best == nil && got.Why["best"] == "" {
			t.Errorf("fees %v, %v", got.Fees, got.Why)
		}
	})
}

// TestGiveKeepsTrades: the trades of a log that was shared are found in the store that is made of it,
// each once, when later ones have taken their place in memory.
func TestGiveKeepsTrades(t *testing.T) {
	d, o := journaltest.NewDisk(), fewOptions()
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(n int) {
		for i := range 2 * n {
			if _, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: []book.Side{book.Buy, book.Sell}[i%2], Type: book.Market, Quantity: exact.One}); err != nil {
				t.Fatal(err)
			}
		}
	}
	turn(4)
	o.Dir, o.kept = filepath.Join(t.TempDir(), "given"), 1
	if err := errors.Join(e.Close(), Give(journal.NewFiles(d, journal.FileOptions{}, slog.New(slog.DiscardHandler)), o.Dir)); err != nil {
		t.Fatal(err)
	}
	e = openTest(t, o)
	check := func(want int) {
		t.Helper()
		found, err := e.FindTrades(t.Context(), TradeFilter{}, 0, 99)
		ids := make(map[string]bool)
		for _, v := range found.Trades {
			ids[v.ID] = true
		}
		if err != nil || len(found.Trades) != want || len(ids) != want {
			t.Errorf("%d trades, %d of them different, want %d: %v", len(found.Trades), len(ids), want, err)
		}
	}
	check(4)
	turn(20)
	check(24)
	e.Close()
	e = openTest(t, o)
	check(24)
	e.Close()
}
