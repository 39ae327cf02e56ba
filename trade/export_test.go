package trade

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"wick/exact"
)

// TestFind: the filters of orders.
func TestFind(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		me, other := Who{Client: "me"}, Who{Client: "other"}
		for _, w := range []Who{me, other} {
			for _, symbol := range []string{"AAA", "BBB"} {
				time.Sleep(time.Hour)
				ask(t, e, func(r *OrderRequest) { r.Who, r.Symbol = w, symbol })
				ask(t, e, func(r *OrderRequest) { r.Who, r.Symbol, r.Type, r.Price = w, symbol, Limit, 90*exact.One })
			}
		}
		hour := func(n int) time.Time { return e.shown.orders[0].CreatedAt.Add(time.Duration(n) * time.Hour) }
		for name, c := range map[string]struct {
			filter OrderFilter
			want   int
		}{
			"all": {OrderFilter{}, 8}, "open": {OrderFilter{Status: StatusOpen}, 4}, "filled": {OrderFilter{Status: StatusFilled}, 4}, "cancelled": {OrderFilter{Status: StatusCancelled}, 0},
			"symbol": {OrderFilter{Symbol: "aaa"}, 4}, "client": {OrderFilter{Client: &me}, 4}, "since": {OrderFilter{Since: hour(1)}, 6}, "until": {OrderFilter{Until: hour(1)}, 2},
			"together": {OrderFilter{Status: StatusOpen, Symbol: "BBB", Client: &other, Since: hour(2), Until: hour(4)}, 1},
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

// TestExport: all orders, archived ones too, those that were filled, and the days
// of the account, from the directory of a process that runs or has ended.
func TestExport(t *testing.T) {
	o := testOptions(t)
	funded(&o)
	o.kept = 3
	e := openTest(t, o)
	for i := range 10 {
		ask(t, e, func(r *OrderRequest) { r.Side, r.ClientOrderID = []Side{Buy, Sell}[i%2], fmt.Sprint("c", i) })
	}
	place(t, e, Buy, Limit, "1", "90")
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
			if err := e.Close(); err != nil { // which archives most of them
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	var orders []Order
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

// TestExportSyntheticDays: the days of an account say from when on invented prices are in
// them: those of an order, and those at which what was bought for real is valued.
func TestExportSyntheticDays(t *testing.T) {
	at := func(date string) Time {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		return Time{day.Add(time.Hour)}
	}
	orders := []Order{{CreatedAt: at("2026-01-01"), FilledQuantity: 1}, {CreatedAt: at("2026-01-01"), Synthetic: true}, {CreatedAt: at("2026-01-03"), FilledQuantity: 1, Synthetic: true}}
	days := []dayMark{{Date: "2026-01-01"}, {Date: "2026-01-02"}, {Date: "2026-01-03"}, {Date: "2026-01-04"}}
	markSynthetic(days, orders)
	if days[0].Synthetic || days[1].Synthetic || !days[2].Synthetic || !days[3].Synthetic {
		t.Errorf("invented prices since 2026-01-03: %+v", days)
	}

	o := testOptions(t)
	funded(&o)
	o.Source = real{o.Source}
	e := openTest(t, o)
	ask(t, e, func(r *OrderRequest) { r.ClientOrderID = "real" })
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
	if _, err := e.noteDay(Time{now().AddDate(0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	if n := len(e.ahead.days); n != 2 || e.ahead.days[0].Synthetic || !e.ahead.days[1].Synthetic {
		t.Errorf("bought for real and valued at an invented price the day after: %+v", e.ahead.days)
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
