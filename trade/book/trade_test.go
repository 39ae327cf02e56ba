package book

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wick/internal/exact"
)

// TestTradeFees: each part that is closed bears its own fee and its share of those of the entry, to
// the last digit, and a fill that turns a position around shares its fee between the two trades by
// quantity. The first row is the example of tradr: of 150, for which 2.00 was paid, 60 are closed
// for 1.00 with a gain of 500, which leaves 498.20. The others are worked out by hand.
func TestTradeFees(t *testing.T) {
	for _, c := range []struct {
		fills string // signed size, price, fee
		want  string // of each part: profit and fees; of each trade that ended: profit and fees
	}{
		{"150 10.5 2 | -60 18.83333333 1", "498.1999998 1.8"}, // the price of 500 more for 60 has eight decimals
		{"150 10 2 | -60 15 1 | -90 15 1", "298.2 1.8, 447.8 2.2, all 746 4"},
		{"-150 10 2 | 60 5 1 | 90 5 1", "298.2 1.8, 447.8 2.2, all 746 4"},
		{"10 100 1 | -30 110 3 | 20 100 2", "98 2, all 98 2, 196 4, all 196 4"},
		{"3 1 1 | -1 1 0 | -1 1 0 | -1 1 0", "-0.3333333333333333 0.3333333333333333, -0.3333333333333334 0.3333333333333334, -0.3333333333333333 0.3333333333333333, all -1 1"},
		{"1 100 1 | 1 200 1 | -2 300 4", "294 6, all 294 6"},
	} {
		b := NewBook(Rules{}, &story{})
		b.State = NewState("0123456789")
		var got []string
		number := func(text string) exact.Decimal {
			d, err := exact.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		seen := 0
		for i, fill := range strings.Split(c.fills, " | ") {
			words := strings.Fields(fill)
			o := &Order{ID: fmt.Sprint("o", i), Symbol: "AAA", Side: Buy, Type: Market, Quantity: number(words[0]).Abs(), Status: StatusFilled}
			if number(words[0]) < 0 {
				o.Side = Sell
			}
			ev := &Event{At: Time{time.Unix(int64(i), 0).UTC()}, Order: o}
			if err := b.Fill(ev, Report{Size: o.Quantity, Price: number(words[1]), Fee: number(words[2])}); err != nil {
				t.Fatal(err)
			}
			if err := b.Propose(KindPlaced, ev); err != nil {
				t.Fatal(err)
			}
			list := func(v *Trade) {
				for ; seen < len(v.Closes); seen++ {
					got = append(got, fmt.Sprint(v.Closes[seen].Profit, " ", v.Closes[seen].Fees))
				}
			}
			for _, v := range ev.Trades {
				list(v)
				got, seen = append(got, fmt.Sprint("all ", v.Profit, " ", v.Fees)), 0
			}
			if v := b.Trades["AAA"]; v != nil {
				list(v)
			}
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: %s, want %s", c.fills, all, c.want)
		}
	}
}

// TestTradeLeftAccount: of what left the account nobody knows the profit, so the trade has none.
func TestTradeLeftAccount(t *testing.T) {
	b := NewBook(Rules{}, &story{})
	b.State = NewState("0123456789")
	o := &Order{ID: "o", Symbol: "AAA", Side: Buy, Type: Market, Quantity: 10 * exact.One, Status: StatusFilled, Account: "A1", BrokerID: "b"}
	ev := &Event{Order: o}
	if err := b.Fill(ev, Report{Size: o.Quantity, Price: 100 * exact.One}); err != nil {
		t.Fatal(err)
	}
	if err := b.Propose(KindPlaced, ev); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []exact.Decimal{4, 6} {
		gone *= exact.One
		if err := b.Propose(KindVenue, &Event{Venue: &Stamp{}, Holdings: map[string]Holding{"AAA": b.Holdings["AAA"].Without(gone)}}); err != nil {
			t.Fatal(err)
		}
	}
	v := b.Done[0].Show("broker", "USD")
	if v.Profit != nil || v.R != nil || v.Fees != nil || v.GivenBack != nil || !strings.Contains(v.Why["profit"], "10 of it left the account") || b.Trades["AAA"] != nil {
		t.Errorf("%+v %v", v, v.Why)
	}
}
