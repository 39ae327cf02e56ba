package indicators

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wick/market"
)

// world returns n bars of a random walk around level, with gaps in price and
// time, bars without movement and bars without volume. Extra columns have
// holes.
func world(n int, level float64) *market.Series {
	r := rand.New(rand.NewPCG(27, 182))
	s := &market.Series{Symbol: "WALK", Interval: market.Hour1}
	price, at := level, int64(1_700_000_000)
	for i := range n {
		at += 3600
		if i%97 == 50 {
			at += 60 * 3600 // a weekend
			price *= math.Exp(0.05 * r.NormFloat64())
		}
		b := market.Bar{Time: at, Open: price, Volume: math.Round(1000 * math.Exp(r.NormFloat64()))}
		price *= math.Exp(0.01 * r.NormFloat64())
		b.Close = price
		b.High = max(b.Open, b.Close) * (1 + 0.004*r.Float64())
		b.Low = min(b.Open, b.Close) * (1 - 0.004*r.Float64())
		if i%61 == 7 {
			b = market.Bar{Time: at, Open: price, High: price, Low: price, Close: price}
		}
		s.Append(b)
	}
	s.Others = map[market.Other]*market.Series{{Symbol: "BTCUSDT"}: like(s.Slice(min(n, 3), n), func(i int, b *market.Bar) {
		tide := 1 + 0.2*math.Sin(float64(b.Time)/5e4) // of the same times, but its own prices
		b.Open, b.High, b.Low, b.Close = b.Open*tide, b.High*tide, b.Low*tide, b.Close*tide
	})}
	s.Extra = make(map[string][]float64)
	for k, name := range []string{market.ExtraFunding, market.ExtraOI, market.ExtraLong, market.ExtraShort, market.ExtraFearGreed} {
		column := make([]float64, n)
		for i := range column {
			column[i] = 50 + 40*math.Sin(float64(i)/float64(7+k))
			if i%31 == 3 || i < 5 {
				column[i] = nan
			}
		}
		s.Extra[name] = column
	}
	return s
}

// like returns the bars of s, each changed.
func like(s *market.Series, change func(i int, b *market.Bar)) *market.Series {
	t := &market.Series{Symbol: s.Symbol, Interval: s.Interval, Extra: s.Extra, Others: s.Others}
	for i := range s.Len() {
		b := s.Bar(i)
		change(i, &b)
		t.Append(b)
	}
	return t
}

// hostile are markets that break careless indicators.
func hostile() map[string]*market.Series {
	base := world(400, 100)
	flat := func(_ int, b *market.Bar) { b.Open, b.High, b.Low, b.Close = 7, 7, 7, 7 }
	return map[string]*market.Series{
		"no bars":   base.Slice(0, 0),
		"one bar":   base.Slice(0, 1),
		"two bars":  base.Slice(0, 2),
		"ten bars":  base.Slice(0, 10),
		"walk":      base,
		"tiny":      world(400, 1e-9),
		"huge":      world(400, 1e9),
		"constant":  like(base, flat),
		"no volume": like(base, func(_ int, b *market.Bar) { b.Volume = 0 }),
		"dead":      like(base, func(i int, b *market.Bar) { flat(i, b); b.Volume = 0 }),
		"falls dead": like(base, func(i int, b *market.Bar) {
			if i > 150 {
				flat(i, b)
				b.Volume = 0
			}
		}),
		"spike": like(base, func(i int, b *market.Bar) {
			if i == 120 {
				b.High, b.Volume = 1e7, 1e12
			}
		}),
		"gaps": like(base, func(i int, b *market.Bar) {
			if i/50%2 == 1 {
				b.Open, b.High, b.Low, b.Close = 10*b.Open, 10*b.High, 10*b.Low, 10*b.Close
			}
		}),
		"around zero": like(base, func(_ int, b *market.Bar) { // futures have traded below zero
			b.Open, b.High, b.Low, b.Close = b.Open-100, b.High-100, b.Low-100, b.Close-100
		}),
		"straight up": like(base, func(i int, b *market.Bar) {
			p := 100 + float64(i)
			b.Open, b.High, b.Low, b.Close = p, p+1, p, p+1
		}),
	}
}

// settings returns the requests to try: the defaults, and every parameter at
// its smallest and its largest, every choice and every switch, each but once.
func settings(t *testing.T, ind *Indicator) []Request {
	t.Helper()
	var out []Request
	add := func(overrides map[string]json.RawMessage) {
		r, err := New(ind.Name, overrides)
		if err != nil && strings.Contains(err.Error(), "must be the lower one") {
			return // at its bound it has passed the parameter it is paired with
		}
		if err != nil {
			t.Fatalf("%s: %v", ind.Name, err)
		}
		if len(out) > 0 && reflect.DeepEqual(r.Args, out[0].Args) {
			return // a bound or a choice that is the default
		}
		out = append(out, r)
	}
	add(nil)
	for _, p := range ind.Params {
		var values []any
		switch p.Kind {
		case Bool:
			values = []any{p.Default == 0}
		case Expression: // TestRandomRules has what they may hold
		case Choice:
			for _, c := range p.Choices {
				values = append(values, c)
			}
		case Symbol:
			values = []any{"no such market"}
		default:
			values = []any{p.Min, p.Max}
		}
		for _, v := range values {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			add(map[string]json.RawMessage{p.Name: raw})
		}
	}
	return out
}

// TestRangeHoldsValues: in every market, at every setting, the range of a panel holds all
// values and is not a point.
func TestRangeHoldsValues(t *testing.T) {
	t.Parallel()
	worlds := hostile()
	for ind := range All() {
		for k, request := range settings(t, ind) {
			for name, s := range worlds {
				if testing.Short() && name != "falls dead" && (k+len(name))%3 > 0 {
					continue
				}
				r := request.Compute(s)
				lo, hi, ok := r.Range()
				if ok && !(lo < hi) {
					t.Errorf("%s in the market %q: the range is %v to %v", request.Label(), name, lo, hi)
				}
				for label, values := range columns(r) {
					for i, v := range values {
						if !math.IsNaN(v) && !math.IsInf(v, 0) && !(ok && lo <= v && v <= hi) {
							t.Errorf("%s in the market %q: %s is %v at bar %d, the range %v to %v", request.Label(), name, label, v, i, lo, hi)
							break
						}
					}
				}
			}
		}
	}
}

// TestWalk computes every indicator in every market, with its defaults and
// with each parameter at its bounds, and holds the result to what the package
// promises of all of them.
func TestWalk(t *testing.T) {
	t.Parallel()
	worlds := hostile()
	for ind := range All() {
		t.Run(ind.Name, func(t *testing.T) {
			for k, request := range settings(t, ind) {
				for name, s := range worlds {
					if k > 0 && name != "walk" && (testing.Short() || name != "falls dead" && name != "ten bars") {
						continue // bounds need no more markets than these
					}
					if k > 0 && testing.Short() && k%3 != len(ind.Name)%3 {
						continue // a third of the bounds
					}
					if testing.Short() && name != "walk" && (len(ind.Name)+len(name))%4 > 0 {
						continue // a quarter of the markets
					}
					if err := promise(request, s); err != nil {
						t.Errorf("%s in the market %q: %v", request.Label(), name, err)
					}
				}
			}
		})
	}
}

// promise reports the first promise that a request breaks on s.
func promise(request Request, s *market.Series) error {
	before := market.Series{Open: slices.Clone(s.Open), High: slices.Clone(s.High), Low: slices.Clone(s.Low), Close: slices.Clone(s.Close), Volume: slices.Clone(s.Volume)}
	result := request.Compute(s)
	if err := sound(request, result, s.Len()); err != nil {
		return err
	}
	for name, columns := range map[string][2][]float64{
		"open": {before.Open, s.Open}, "high": {before.High, s.High}, "low": {before.Low, s.Low},
		"close": {before.Close, s.Close}, "volume": {before.Volume, s.Volume},
	} {
		if !slices.Equal(columns[0], columns[1]) {
			return fmt.Errorf("it wrote to the column %s", name)
		}
	}
	if err := equal(result, request.Compute(s), s.Len()); err != nil {
		return fmt.Errorf("a second run differs: %w", err)
	}
	if request.Ind.Traits.Has(Repaints) || request.Ind.VisibleOnly() {
		return nil
	}
	for _, n := range []int{s.Len() / 2, s.Len() - s.Len()/9} {
		if err := equal(request.Compute(s.Slice(0, n)), result, n); err != nil {
			return fmt.Errorf("the first %d bars alone differ: %w", n, err)
		}
	}
	return nil
}

// sound checks one result: series aligned, values finite or NaN, signals on bars that exist and
// in order.
func sound(request Request, r *Result, n int) error {
	for label, values := range allSeries(r) {
		if len(values) != n {
			return fmt.Errorf("%s has %d values for %d bars", label, len(values), n)
		}
		for i, v := range values {
			if math.IsInf(v, 0) {
				return fmt.Errorf("%s is %v at bar %d", label, v, i)
			}
		}
	}
	before := 0
	for _, signal := range r.Signals {
		switch {
		case signal.Bar < before || signal.Bar >= n:
			return fmt.Errorf("signal %s at bar %d after one at %d of %d", signal.Label, signal.Bar, before, n)
		case !finite(signal.Y):
			return fmt.Errorf("signal %s at bar %d is at %v", signal.Label, signal.Bar, signal.Y)
		}
		before = signal.Bar
	}
	for _, d := range r.DivLines {
		if d.X1 < 0 || d.X1 >= d.X2 || d.X2 >= n || !finite(d.Y1) || !finite(d.Y2) {
			return fmt.Errorf("divergence %+v", d)
		}
	}
	for _, h := range r.HLines {
		if !finite(h.Y) {
			return fmt.Errorf("level at %v", h.Y)
		}
	}
	for _, h := range r.HBars {
		if !finite(h.Y) || !(h.Height >= 0) || !(h.Width >= 0 && h.Offset >= 0 && h.Width+h.Offset <= 1+1e-9) {
			return fmt.Errorf("bar %+v", h)
		}
	}
	if r.YRange != nil && !(r.YRange[0] < r.YRange[1]) {
		return fmt.Errorf("range %v", *r.YRange)
	}
	if r.Label == "" || !strings.HasPrefix(r.Label, request.Ind.Title) {
		return fmt.Errorf("label %q does not begin with the title %q", r.Label, request.Ind.Title)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// allSeries returns every series of r by a name for messages.
func allSeries(r *Result) map[string][]float64 {
	out := make(map[string][]float64)
	for i, l := range r.Lines {
		out[fmt.Sprintf("line %d %s", i, l.Label)] = l.Values
	}
	for i, h := range r.Histogram {
		out[fmt.Sprintf("histogram %d %s", i, h.Label)] = h.Values
	}
	for i, f := range r.Fills {
		out[fmt.Sprintf("fill %d, first edge", i)] = f.Y1
		out[fmt.Sprintf("fill %d, second edge", i)] = f.Y2
	}
	return out
}

// equal compares two results over their first n bars: values to the last bit,
// signals and divergences that lie there.
func equal(a, b *Result, n int) error {
	here, there := allSeries(a), allSeries(b)
	if len(here) != len(there) {
		return fmt.Errorf("%d series against %d", len(here), len(there))
	}
	for label, values := range here {
		others := there[label]
		for i := range n {
			x, y := values[i], others[i]
			if x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
				return fmt.Errorf("%s at bar %d: %v against %v", label, i, x, y)
			}
		}
	}
	if x, y := signalsBefore(a, n), signalsBefore(b, n); !slices.Equal(x, y) {
		return fmt.Errorf("%d signals %v against %d %v", len(x), x, len(y), y)
	}
	return nil
}

func signalsBefore(r *Result, n int) []Signal {
	out := []Signal{}
	for _, s := range r.Signals {
		if s.Bar < n {
			out = append(out, s)
		}
	}
	return out
}

// sinceFirstBar are running totals: their level depends on where they begin,
// however many bars came before, and only their changes mean anything.
var sinceFirstBar = []string{"obv", "ad", "cvd", "nvi", "pvi", "pvt", "wad", "cumulative_sum", "vwap_anchored"}

// TestRecords checks what the catalogue says of itself.
func TestRecords(t *testing.T) {
	for ind := range All() {
		if ind.Title == "" || ind.Doc == "" || ind.Formula == "" || (ind.Draw == nil) == (ind.Calc == nil) {
			t.Errorf("%s: something is missing", ind.Name)
		}
		if !slices.Contains(Categories(), ind.Category) {
			t.Errorf("%s: no category is called %q", ind.Name, ind.Category)
		}
		for _, name := range append([]string{ind.Name}, ind.Aliases...) {
			if name != strings.ToLower(name) || strings.ContainsAny(name, " -") {
				t.Errorf("%s: Lookup cannot find the name %q", ind.Name, name)
			}
		}
		seen := make(map[string]bool)
		for _, p := range ind.Params {
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				if seen[name] {
					t.Errorf("%s: two parameters claim %q", ind.Name, name)
				}
				seen[name] = true
			}
			lo, hi := p.Min, p.Max
			switch p.Kind {
			case Bool:
				lo, hi = 0, 1
			case Choice:
				lo, hi = 0, float64(len(p.Choices)-1)
			}
			if p.Doc == "" || !(lo <= p.Default && p.Default <= hi) {
				t.Errorf("%s: parameter %s lacks a text or has its default out of bounds", ind.Name, p.Name)
			}
		}
	}
}

func TestLabels(t *testing.T) {
	tests := []struct{ name, overrides, want string }{
		{"rsi", `{}`, "RSI(14)"},
		{"macd", `{"fast":"5"}`, "MACD(5, 26, 9)"},
		{"bbands", `{"mult":2.5}`, "BB(20, 2.5)"},
		{"sma", `{"source":"hl2"}`, "SMA(20, hl2)"},
		{"bop", `{}`, "BOP"},
	}
	for _, test := range tests {
		r, err := New(test.name, raw(test.overrides))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Label(); got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.name, test.overrides, got, test.want)
		}
	}
}

// TestReading: who reads only the newest bars sees there what is there in the whole result.
func TestReading(t *testing.T) {
	t.Parallel()
	s, found := world(1500, 100), 0
	for ind := range All() {
		for _, r := range settings(t, ind) {
			got, want := r.Reading(60).Compute(s).Tail(s.Len(), 60), r.Compute(s).Tail(s.Len(), 60)
			if found += len(want.Signals); !slices.Equal(got.Signals, want.Signals) || !slices.Equal(got.DivLines, want.DivLines) {
				t.Errorf("%s: %v, want %v", r.Identity(), got.Signals, want.Signals)
			}
		}
	}
	if found == 0 {
		t.Error("there are no signals")
	}
}
