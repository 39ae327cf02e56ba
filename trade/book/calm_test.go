package book

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wick/internal/exact"
	"wick/market"
)

// resting returns a story in which n stops and limits of every kind rest around 100, all of them
// there for a while.
func resting(t *testing.T, n int) *story {
	s := newStory(t, "# resting")
	s.Rules.Limits = Limits{OpenPerSymbol: MaxOpenPerSymbol, OrdersPerSecond: 1000}.WithDefaults()
	s.do("price 100")
	for i := range n {
		kinds := []string{"sell 1 stop 90", "buy 1 stop 110", "buy 1 limit 95", "sell 1 limit 105", "sell 1 trailing_stop 10", "buy 1 trailing_stop 9%", "sell 1 stop_limit 92 91 gtd 9h"}
		s.do(fmt.Sprintf("o%d: %s may_open", i, kinds[i%len(kinds)]))
	}
	s.do("minute 100 101 99 100")
	s.do("price 100")
	if s.OpenCount != n {
		t.Fatalf("%d of %d orders rest: %v", s.OpenCount, n, s.said)
	}
	return s
}

// TestQuietTick: a price that reaches none of the open orders is judged without a look at any of
// them, however many there are. One that leaves the calm is not.
func TestQuietTick(t *testing.T) {
	for _, n := range []int{1, 100, MaxOpenPerSymbol} {
		s := resting(t, n)
		orders := s.Open["AAA"]
		s.Open["AAA"] = make([]*Order, n) // a look at one of these panics
		for _, price := range []string{"price 100", "price 100.99", "price 99.01", "minute 99.5 100.9 99.1 100", "minute 100 101 99 100"} {
			s.do(price)
		}
		s.Open["AAA"] = orders
		judged := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			s.Open["AAA"] = make([]*Order, n)
			s.do("price 89")
			return false
		}
		if !judged() {
			t.Errorf("%d orders: none is looked at when the price leaves the calm", n)
		}
	}
}

// TestCalmChangesNothing plays stories of chance twice, once with every order looked at with every
// price, and expects that the book says the same and that trailing stops stand at the same place.
func TestCalmChangesNothing(t *testing.T) {
	quiet := 0
	for seed := range uint64(60) {
		chance := rand.New(rand.NewPCG(seed, 1))
		fast, full := newStory(t, "# fast"), newStory(t, "# full")
		for _, s := range []*story{fast, full} {
			s.Rules.Limits.OrdersPerSecond = 1000
			if seed%3 == 1 {
				s.Rules.HalfSpread = exact.One / 700
			}
		}
		at, cents := 100.0, []float64{0.05, 0.37, 0.1, 3}[seed%4]
		for step := range 150 {
			near := func() string { return fmt.Sprintf("%.2f", at*(1+0.004*chance.Float64()*float64(1-2*chance.IntN(2)))) }
			var line string
			side, kind := []string{"buy", "sell"}[chance.IntN(2)], chance.IntN(20)
			if seed%2 == 0 && (kind == 2 || kind == 3) { // without trailing stops the calm is wide
				kind = 0
			}
			switch kind {
			case 0:
				line = fmt.Sprintf("o%d: %s 1 limit %s may_open", step, side, near())
			case 1:
				line = fmt.Sprintf("o%d: %s 1 stop %s may_open gtd %dm", step, side, near(), 1+chance.IntN(60))
			case 2:
				line = fmt.Sprintf("o%d: %s 1 trailing_stop %.2f may_open", step, side, 0.5+3*chance.Float64())
			case 3:
				line = fmt.Sprintf("o%d: %s 1 trailing_stop %.3f%% may_open", step, side, 0.5+3*chance.Float64())
			case 4:
				line = fmt.Sprintf("o%d: %s 1 stop_limit %s %s may_open", step, side, near(), near())
			case 5:
				line = fmt.Sprintf("o%d: %s 2 market may_open sl 2%% tp 1.5%%", step, side)
			case 6:
				line = []string{"halt", "reducing", "active", "restart", "wait 7s"}[chance.IntN(5)]
			default:
				high, low := at, at
				for range 3 {
					at += cents * (chance.Float64() - 0.5)
					if seed%5 != 0 {
						at = math.Round(at*100) / 100
					}
					high, low = max(high, at), min(low, at)
				}
				if line = fmt.Sprintf("price %.8f", at); chance.IntN(3) == 0 {
					line = fmt.Sprintf("minute %.8f %.8f %.8f %.8f", at, high, low, at)
				}
			}
			if c := fast.calm["AAA"]; c.until != 0 && fast.OpenCount > 0 {
				quiet++
			}
			clear(full.calm)
			clear(full.sums)
			for _, s := range []*story{fast, full} {
				s.said = nil
				s.do(line)
			}
			clear(full.sums)
			if was, _ := fast.reservedBut(""); was != first(full.reservedBut("")) {
				t.Fatalf("seed %d, %s: the open orders reserve %v, and added up anew %v", seed, line, was, first(full.reservedBut("")))
			}
			if !slices.Equal(fast.said, full.said) || !maps.Equal(fast.Drawn("AAA"), full.Drawn("AAA")) {
				t.Fatalf("seed %d, %s: the book says\n%q, stops %v\nand with every order looked at\n%q, stops %v",
					seed, line, fast.said, fast.Drawn("AAA"), full.said, full.Drawn("AAA"))
			}
		}
	}
	if quiet == 0 {
		t.Error("there was no calm")
	}
}

func first[T, U any](x T, _ U) T { return x }

// TestSumsAreKept: what the open orders of a symbol reserve is added up again only after one of them
// has changed, so that an order of another symbol costs the same however many there are.
func TestSumsAreKept(t *testing.T) {
	s := newStory(t, "# sums")
	s.do("price 100")
	for _, line := range []string{"o1: buy 1 limit 95", "o2: buy 1 stop 110 may_open", "o3: sell 2 limit 105 may_open"} {
		s.do(line)
	}
	if sum, _ := s.reservedBut("BBB"); sum != 210*exact.One {
		t.Fatalf("%v is reserved, want the 210 of the sell, which is more than the 205 of the buys", sum)
	}
	orders := s.Open["AAA"]
	s.Open["AAA"] = make([]*Order, len(orders)) // a look at one of these panics
	if sum, _ := s.reservedBut("BBB"); sum != 210*exact.One {
		t.Fatalf("then %v", sum)
	}
	s.Open["AAA"] = orders
	s.do("cancel o3")
	if sum, _ := s.reservedBut("BBB"); sum != 205*exact.One {
		t.Fatalf("%v is reserved after the sell was cancelled, want 205", sum)
	}
}

// BenchmarkQuietTick is a price that reaches none of so many orders: the time does not depend on
// how many there are.
func BenchmarkQuietTick(b *testing.B) {
	for _, n := range []int{100, MaxOpenPerSymbol} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := resting(new(testing.T), n)
			tick, _ := NewTick(market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, From: 100, At: s.now.UnixMilli()})
			b.ReportAllocs()
			for b.Loop() {
				if err := s.OnPrice(tick, s.fed, s.at()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
