package chart

import (
	"math"
	"strings"
	"testing"

	"wick/market"
)

func TestPriceText(t *testing.T) {
	for _, c := range []struct {
		v    float64
		p    int
		want string
	}{
		{0.00001234, 8, "0.00001234"},
		{67432.5, 1, "67,432.5"},
		{1068.33, 2, "1,068.33"},
		{1.234e-11, 10, "1.234e-11"},
		{1.5506e-10, 10, "1.551e-10"}, // and not 0.0000000002
		{3.1416e-9, 10, "3.142e-9"},
		{5.1234e-8, 10, "5.123e-8"}, // in the notation of its neighbours,
		{0.00000001, 8, "0.00000001"},
		{0, 10, "0.0000000000"},
		{1.23e15, 2, "1.23e15"},
		{-20, 2, "−20.00"},
		{-0.001, 2, "0.00"},
		{math.NaN(), 2, "–"},
		{math.Inf(1), 2, "–"},
		{999999.995, 2, "999,999.99"}, // the float lies below the tie
		{1234567, 0, "1,234,567"},
	} {
		if got := priceText(c.v, c.p); got != c.want {
			t.Errorf("priceText(%v, %d) = %q, want %q", c.v, c.p, got, c.want)
		}
	}
}

func TestValueText(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{77.0877, "77.1"}, {7.3493, "7.35"}, {0.0038, "0.00380"}, {0.000000197, "0.000000197"},
		{811e6, "811M"}, {86.38e6, "86.4M"}, {1e9, "1.00B"}, {999.99e6, "1.00B"}, {-1.5e12, "−1.50T"},
		{0, "0"}, {123456, "123,456"}, {142.66, "142.7"}, {math.NaN(), "–"}, {3e17, "3.00e17"}, {-5, "−5.00"},
	} {
		if got := valueText(c.v); got != c.want {
			t.Errorf("valueText(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

// TestQuantityText: a quantity has all its decimals, eight at most, and no letter for
// thousands, since an order of 1.00M may be one of 1,004,999.
func TestQuantityText(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0.00000001, "0.00000001"}, {99.99999, "99.99999"}, {0.47027869, "0.47027869"}, {12, "12"}, {100, "100"}, {0, "0"}, {0.1 + 0.2, "0.3"},
		{1004999, "1,004,999"}, {1234567.5, "1,234,567.5"}, {12345678.12345678, "12,345,678.12345678"}, {92233720368, "92,233,720,368"},
		{math.NaN(), "–"}, {math.Inf(1), "–"}, {1e299, "1.00e299"},
	} {
		if got := quantityText(c.v); got != c.want {
			t.Errorf("quantityText(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestVolumeText(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{86.38e6, "86.4M"}, {661234, "661K"}, {12345, "12.3K"}, {811, "811"}, {0.1234, "0.123"}, {0, "0"}, {1.8e12, "1.80T"}} {
		if got := volumeText(c.v); got != c.want {
			t.Errorf("volumeText(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestPercentText(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{250.60, 256.98, "+2.55%"}, {100, 99, "−1.00%"}, {0, 5, "–"}, {-10, -5, "+50.00%"},
		{5, 5, "0.00%"}, {100, 99.999, "0.00%"}, {100, 100.004, "0.00%"}, {100, 99.99, "−0.01%"}, {math.NaN(), 1, "–"}, {1e-9, 1e9, "+1.00e20%"},
	} {
		if got := percentText(c.from, c.to, 2); got != c.want {
			t.Errorf("percentText(%v, %v) = %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// TestPercentDigits: on a percent axis tags and legend have the digits of the axis, at least
// two, so that a tag of −0.02% does not stand between the labels −0.020% and −0.025%.
func TestPercentDigits(t *testing.T) {
	for _, c := range []struct {
		part   float64 // how much the prices move
		digits int
	}{{1e-6, 6}, {1e-5, 5}, {2e-4, 3}, {1e-2, 2}, {0.5, 2}} {
		s, other := priced(60, 215), priced(60, 40)
		for _, x := range []*market.Series{s, other} {
			base := x.Open[0]
			for _, column := range [][]float64{x.Open, x.High, x.Low, x.Close} {
				for i, v := range column {
					column[i] = base * (1 + c.part*(v/base-1))
				}
			}
		}
		other.Symbol = "OTHER"
		p := plan(&View{Series: s, Compare: []*market.Series{other}, Marks: []Mark{{Kind: MarkLevel, Price: s.Low[30], Text: "mine"}}}, Options{Width: 1200, Height: 700})
		checkPlan(t, p)
		texts := p.texts(legendText)[1:2]
		for _, g := range p.panes[0].tags {
			texts = append(texts, g.text)
		}
		for _, text := range texts {
			_, decimals, _ := strings.Cut(strings.TrimSuffix(text, "%"), ".")
			if len(decimals) != c.digits || !strings.HasSuffix(text, "%") {
				t.Errorf("prices that move by %g: %q, want %d decimals", c.part, text, c.digits)
			}
		}
		for _, tick := range p.panes[0].ticks {
			if _, decimals, _ := strings.Cut(strings.TrimSuffix(tick.text, "%"), "."); len(decimals) > c.digits {
				t.Errorf("prices that move by %g: the axis has %q, want at most %d decimals", c.part, tick.text, c.digits)
			}
		}
	}
}

// The same numbers as in the test of the page, which writes the same labels.
func TestProfitText(t *testing.T) {
	for v, want := range map[float64]string{
		0.0048: "+0.0048", -0.00481234: "−0.004812", 1.23456: "+1.235", 12.3456: "+12.35", -29631.331: "−29,631.33", 0: "0.00", 1e-7: "+0.0000001",
		0.1: "+0.10", -250: "−250.00", 1.5e-11: "+1.500e-11",
	} {
		if got := profitText(v); got != want {
			t.Errorf("profitText(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPrecision(t *testing.T) {
	many := func(v float64, n int, odd ...float64) []float64 {
		out := odd
		for range n {
			out = append(out, v)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		prices []float64
		want   int
	}{
		{"cents", many(250.74, 100), 2},
		{"half dollars above a thousand", many(67432.5, 100), 1},
		{"whole above a thousand", many(1500, 100), 0},
		{"whole below a thousand", many(215, 100), 2},
		{"eight decimals", many(0.00001234, 100), 8},
		{"one odd bar adds no digits", many(250.74, 100, 250.123456), 2},
		{"computed", many(math.Pi*100, 10), 2},
		{"computed and small", many(math.Pi/1000, 10), 6}, // 0.003142
		{"computed and tiny", many(math.Pi*1e-9, 10), 10},
		{"nothing usable", []float64{math.NaN()}, 2},
		{"a peg that breaks", append(many(1, 198), 0.9987, 0.9987), 4},
		{"the newest alone", append(many(1, 198), 0.9987), 4},
		{"the newest is missing", append(many(1, 198), 0.9987, math.NaN()), 4},
		{"within a wide range", append(many(1, 198, 1.5), 0.9987), 4},
		{"more than can be seen", append(many(1, 198, 1.5), 0.99871234), 4},
		{"noise in the newest", append(many(1, 198, 1.05), 1.0000000001), 2},
		{"noise in the newest, and nothing else moves", append(many(1, 198), 1.0000000001), 2},
		{"an odd newest bar", append(many(250.74, 100, 240), 250.123456), 2},
		{"as fine as a float", append(many(1e12, 198), 1e12+0.1), 1},
		{"computed, in a narrow range", []float64{math.Pi * 100, math.Pi*100 + 0.0013}, 5},
	} {
		if got, _ := precision(c.prices); got != c.want {
			t.Errorf("%s: %d decimals, want %d", c.name, got, c.want)
		}
	}
}

// TestDecimals: what is written has the digits that somebody wrote, and not those that a
// binary number has beyond them.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		v          float64
		most, want int
	}{
		{5399118186.9885, 8, 4}, {91999999999.1, 8, 1}, {31.975, 8, 3}, {31.975, 2, 2}, {30.5, 8, 1}, {50, 8, 0}, {1e-8, 8, 8}, {1e-9, 8, 0}, {0.1 + 0.2, 8, 1}, {math.Pi, 8, 8}, {-2.50, 8, 1},
	} {
		if got := decimals(c.v, c.most); got != c.want {
			t.Errorf("decimals(%v, %d) is %d, want %d", c.v, c.most, got, c.want)
		}
	}
}
