package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// trip is a trade, from flat to flat.
type trip struct {
	side             int
	qty, paid        num // that opened it or added to it
	closed, got      num
	profit, fees     num // fees of all fills, profit of what was closed
	entryFees        num // that no closed part has borne
	best, worst      num
	high, low        num // since the last fill
	since            int64
	risk             num // nil until stops covered all of it
	opened, ended    *order
	endedAt          int64 // in unix milliseconds
	parts            []string
	heldQty, heldFor num // what is held and what it cost
}

// worth is what a trip has made if what is held is sold or bought back at a price.
func (t *trip) worth(p num) num {
	return add(sub(t.profit, t.entryFees), sub(mul(t.heldQty, p), t.heldFor))
}

// touch takes into account that the market was at a price.
func (t *trip) touch(p num) {
	w := t.worth(p)
	if t.best == nil || less(t.best, w) {
		t.best = w
	}
	if t.worst == nil || less(w, t.worst) {
		t.worst = w
	}
}

// trip enters a fill into the trade of its symbol. It is called before the fill moves the position.
func (b *book) trip(o *order, qty, price, fee num) {
	at := b.places[o.symbol]
	held, t := at.held.qty, at.trip
	out := new0()
	if held.Sign() == -o.side {
		out = lower(abs(held), qty)
	}
	feeOut := nearest(div(mul(fee, out), qty), money)
	if t != nil {
		t.touch(t.high)
		t.touch(t.low)
		t.touch(price)
	}
	if out.Sign() > 0 {
		borne := nearest(div(mul(t.entryFees, out), abs(held)), money)
		share := nearest(div(mul(at.held.cost, out), abs(held)), money)
		profit := sub(sub(sub(mul(mul(out, price), whole(int64(t.side))), share), feeOut), borne)
		t.closed, t.got, t.profit, t.fees = add(t.closed, out), add(t.got, mul(out, price)), add(t.profit, profit), add(t.fees, feeOut)
		t.entryFees = sub(t.entryFees, borne)
		t.parts = append(t.parts, fmt.Sprint(show(out), " at ", show(price), " made ", show(profit), " fees ", show(add(feeOut, borne))))
		if equal(out, abs(held)) {
			t.ended, t.endedAt, at.trip = o, time.Now().UnixMilli(), nil
			b.trips = append(b.trips, t)
			t = nil
		}
	}
	if in := sub(qty, out); in.Sign() > 0 {
		if t == nil {
			t = &trip{side: o.side, qty: new0(), paid: new0(), closed: new0(), got: new0(), profit: new0(), fees: new0(), entryFees: new0(), opened: o}
			at.trip = t
		}
		t.qty, t.paid = add(t.qty, in), add(t.paid, mul(in, price))
		t.fees, t.entryFees = add(t.fees, sub(fee, feeOut)), add(t.entryFees, sub(fee, feeOut))
	}
}

// sawFill begins anew where the market is, after a fill.
func (b *book) sawFill(symbol string, price num) {
	if t := b.places[symbol].trip; t != nil {
		t.heldQty, t.heldFor = b.places[symbol].held.qty, b.places[symbol].held.cost
		t.high, t.low, t.since = price, price, b.instant
		t.touch(price)
	}
}

// saw takes into account what the market did in a piece: all of it if the position was there when it
// began, its end if it was there then.
func (b *book) saw(symbol string, p piece) {
	switch t := b.places[symbol].trip; {
	case t == nil || t.since >= p.to && t.since > p.from:
	case t.since > p.from:
		t.high, t.low = higher(t.high, p.close), lower(t.low, p.close)
	default:
		t.high, t.low = higher(t.high, p.high), lower(t.low, p.low)
	}
}

// measure sets the first risk of a trade once stops cover all that is held: what it makes if they
// are filled, with their slippage and fees, if that is a loss.
func (b *book) measure(symbol string) {
	t := b.places[symbol].trip
	if t == nil || t.risk != nil {
		return
	}
	var stops []*order
	for _, o := range b.waiting(symbol) {
		if o.side == -t.side && o.kind != "limit" && o.kind != "market" && !o.triggered {
			stops = append(stops, o)
		}
	}
	slices.SortStableFunc(stops, func(x, y *order) int { return y.stopNow(b).Cmp(x.stopNow(b)) * t.side })
	open, made, ended := abs(t.heldQty), sub(sub(t.profit, t.entryFees), t.heldFor), make(map[string]bool)
	for _, o := range stops {
		out, stop := lower(open, o.qty), o.stopNow(b)
		if out.Sign() == 0 || o.group != "" && ended[o.group] || o.kind == "stop_limit" && !reaches(o.side, b.quoted(o.side, stop), o.price) {
			continue
		}
		at := b.slipped(o.side, stop)
		if o.kind == "stop_limit" {
			at = better(o.side, at, o.price)
		}
		ended[o.group], open = true, sub(open, out)
		made = sub(add(made, mul(mul(out, at), whole(int64(t.side)))), ceil(mul(ceil(mul(out, at), unit), b.fee), unit))
	}
	if len(stops) > 0 && open.Sign() == 0 {
		t.risk = higher(ceil(neg(made), unit), new0())
	}
}

// r is the profit in units of the first risk, nil if there is none.
func (t *trip) r() num {
	if t.risk == nil || t.risk.Sign() == 0 {
		return nil
	}
	return nearest(div(t.profit, t.risk), unit)
}

// line is a closed trade in one line.
func (t *trip) line(symbol string) string {
	how := t.ended.kind
	switch {
	case t.ended.isExit:
		how = t.ended.role
	case t.ended.group != "":
		how = "oco"
	}
	parts := t.parts
	if len(parts) == 1 {
		parts = nil
	}
	return fmt.Sprint(symbol, " ", map[int]string{1: "long", -1: "short"}[t.side], " ", show(t.qty), " in ", show(nearest(div(t.paid, t.qty), unit)), " out ", show(nearest(div(t.got, t.closed), unit)),
		" made ", show(t.profit), " fees ", show(t.fees), " r ", show(t.r()), " risk ", show(t.risk), " best ", show(t.best), " worst ", show(t.worst), " back ", show(sub(t.best, t.profit)),
		" by ", t.opened.id, " and ", t.ended.id, " ", how, " ", parts)
}

// compareTrades holds the trades that have ended against the model, in pages.
func (s *scene) compareTrades() {
	var got []string
	for {
		texts, err := s.call("get_orders", map[string]any{"view": "trades", "limit": 7, "offset": len(got)})
		if err != nil {
			s.t.Fatal(err)
		}
		var page []struct {
			Symbol, Side, Status      string
			Quantity                  json.Number
			Entry                     json.Number `json:"entry_price"`
			Exit                      json.Number `json:"exit_price"`
			Profit, Fees, Best, Worst json.Number
			R                         *json.Number
			Risk                      *struct{ Amount json.Number }
			Back                      json.Number `json:"given_back"`
			Opened                    string      `json:"opened_by"`
			Closed                    string      `json:"closed_by"`
			How                       string      `json:"closed_how"`
			Closes                    []struct{ Quantity, Price, Profit, Fees json.Number }
			More                      int `json:"more_closes"`
		}
		if err := json.Unmarshal(texts[0], &page); err != nil {
			s.t.Fatal(err)
		}
		for _, p := range page {
			r, risk := "null", "null"
			if p.R != nil {
				r = p.R.String()
			}
			if p.Risk != nil {
				risk = p.Risk.Amount.String()
			}
			var parts []string
			for _, c := range p.Closes {
				parts = append(parts, fmt.Sprint(c.Quantity, " at ", c.Price, " made ", c.Profit, " fees ", c.Fees))
			}
			got = append(got, fmt.Sprint(p.Symbol, " ", p.Side, " ", p.Quantity, " in ", p.Entry, " out ", p.Exit, " made ", p.Profit, " fees ", p.Fees, " r ", r, " risk ", risk,
				" best ", p.Best, " worst ", p.Worst, " back ", p.Back, " by ", p.Opened, " and ", p.Closed, " ", p.How, " ", parts))
		}
		if len(page) < 7 {
			break
		}
	}
	open := 0
	for _, symbol := range s.symbols {
		if s.places[symbol].trip != nil {
			open++
		}
	}
	if len(got) != open+len(s.trips) {
		s.t.Errorf("%d trades and %d open ones, want %d and %d", len(got)-open, open, len(s.trips), open)
		return
	}
	for i, g := range got[open:] {
		t := s.trips[len(s.trips)-1-i]
		want := t.line(t.opened.symbol)
		if len(t.parts) > 20 { // that many are listed
			g, _, _ = strings.Cut(g, "[")
			want, _, _ = strings.Cut(want, "[")
		}
		if g != want {
			s.t.Errorf("trade\n got %s\nwant %s", g, want)
		}
	}
}
