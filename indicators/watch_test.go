package indicators

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryIndicatorSignals: none is left without a signal, and every signal has
// a meaning in one line.
func TestEveryIndicatorSignals(t *testing.T) {
	for ind := range All() {
		if len(ind.Signals) == 0 {
			t.Errorf("%s has no signal: an entry names at least one that an alert can wait for, in Signals", ind.Name)
		}
		for i, label := range ind.Signals {
			if text := ind.Meaning(label); text == "" || strings.Contains(text, "\n") || len(text) > 140 {
				t.Errorf("%s: meaning of %s is %q", ind.Name, label, text)
			}
			if slices.Contains(ind.Signals[:i], label) {
				t.Errorf("%s names %s twice", ind.Name, label)
			}
		}
	}
	rsi, _ := Lookup("rsi")
	if got, want := rsi.Meaning(RSIOverbought), "the RSI leaves the overbought zone downwards"; got != want {
		t.Errorf("rsi_overbought: %q, want %q", got, want)
	}
}

// TestZonedMeanings: where crossings in a zone have a label of their own, the plain one
// does not fire there, and its meaning says so; elsewhere it says nothing of zones.
func TestZonedMeanings(t *testing.T) {
	var zoned []string
	for ind := range All() {
		for plain, own := range map[string]string{CrossUp: CrossUpOS, CrossDown: CrossDownOB} {
			if !slices.Contains(ind.Signals, plain) {
				continue
			}
			has, says := slices.Contains(ind.Signals, own), strings.HasSuffix(ind.Meaning(plain), " zone")
			if has != says || has && !strings.Contains(ind.Meaning(plain), " not in the over") {
				t.Errorf("%s: %s means %q", ind.Name, plain, ind.Meaning(plain))
			}
			if has && plain == CrossUp {
				zoned = append(zoned, ind.Name)
			}
		}
	}
	slices.Sort(zoned)
	if want := []string{"stoch", "stoch_rsi", "stochf", "wavetrend"}; !slices.Equal(zoned, want) {
		t.Errorf("entries with crossings by zone: %v, want %v", zoned, want)
	}
}

// TestZoneEntries: a close that rises for long brings RSI above 70, and a fall
// back below: enters_overbought first, then rsi_overbought.
func TestZoneEntries(t *testing.T) {
	var x []float64
	for i := range 40 {
		wobble := float64(i % 2)
		if i >= 20 {
			wobble = 0
		}
		x = append(x, 100+wobble+float64(max(0, min(i-20, 8)))-3*float64(max(0, i-32)))
	}
	var got []string
	for _, s := range compute(t, closes(x...), "rsi", `{"divergence":"off"}`).Signals {
		got = append(got, s.Label)
	}
	if want := []string{"enters_overbought", "rsi_overbought", "enters_oversold"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBounds: the lines of an entry stay within what Bounds says, with twenty random sets of
// parameters. What is measured outside of the bars, and invented here, is left out.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	var bounded []string
	for ind := range All() {
		if plain, err := New(ind.Name, nil); err != nil {
			t.Fatal(err)
		} else if _, _, ok := plain.Bounds(""); !ok || len(ind.Needs) > 0 {
			continue
		}
		bounded = append(bounded, ind.Name)
		for range 20 {
			params := make(map[string]json.RawMessage)
			for _, p := range ind.Params {
				switch {
				case rng.IntN(2) == 0:
				case p.Kind == Int:
					params[p.Name] = json.RawMessage(strconv.Itoa(int(p.Min) + rng.IntN(min(60, int(p.Max-p.Min)+1))))
				case p.Kind == Choice:
					params[p.Name] = json.RawMessage(strconv.Quote(p.Choices[rng.IntN(len(p.Choices))]))
				}
			}
			r, err := New(ind.Name, params)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi, _ := r.Bounds("")
			for label, values := range columns(r.Compute(besides(world(1000, 100)))) {
				for i, x := range values {
					if x < lo-1e-9 || x > hi+1e-9 {
						t.Fatalf("%s: %s is %v at bar %d, beyond %v and %v", r.Label(), label, x, i, lo, hi)
					}
				}
			}
		}
	}
	if len(bounded) < 20 || !slices.Contains(bounded, "rsi") || slices.Contains(bounded, "macd") || slices.Contains(bounded, "qqe") {
		t.Errorf("bounded are %v", bounded)
	}
}

// TestWatch: any line can be watched for any level.
func TestWatch(t *testing.T) {
	s := closes(1, 2, 3, 4, 3, 2, 1, 5)
	request, err := New("sma", raw(`{"length":1}`))
	if err != nil {
		t.Fatal(err)
	}
	signals, err := request.Watch(request.Compute(s), "", 3.5)
	if got := marks(signals); err != nil || got != "3 crosses_above, 4 crosses_below, 7 crosses_above" {
		t.Errorf("got %q, %v", got, err)
	}
	macd, err := New("macd", nil)
	if err != nil {
		t.Fatal(err)
	}
	if names := macd.lineNames(); !slices.Equal(names, []string{"MACD", "Signal", "Histogram"}) {
		t.Errorf("lines of macd: %v", names)
	}
	long := world(300, 100)
	byName, err := macd.Watch(macd.Compute(long), "histogram", 0)
	if err != nil || len(byName) == 0 {
		t.Errorf("histogram: %v, %v", byName, err)
	}
	if _, err := macd.Watch(macd.Compute(long), "signl", 0); !errors.Is(err, errParam) || !strings.Contains(err.Error(), `did you mean "Signal"?`) {
		t.Errorf("a line that is not there: %v", err)
	}
}

// equalMarks reports whether the same events stand on the same bars.
func equalMarks(a, b []Signal) bool {
	return slices.EqualFunc(a, b, func(a, b Signal) bool {
		return a.Bar == b.Bar && a.Label == b.Label && a.Tone == b.Tone && a.Silent == b.Silent && warm(a.Y, b.Y)
	})
}

// warm reports whether two values differ by no more than the part in a million
// up to which a value counts as warm.
func warm(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*math.Abs(a)
}

// TestStackOfAnyLengths: the fastest average on top is a rising order, whichever
// parameter it is.
func TestStackOfAnyLengths(t *testing.T) {
	s := walk(800, 12)
	for _, name := range []string{"ema_stack", "ma_ribbon"} {
		want := compute(t, s, name, `{"length1":8,"length2":21,"length3":50,"length4":100}`).Signals
		if len(want) < 10 {
			t.Fatalf("%s: %d signals", name, len(want))
		}
		for _, lengths := range []string{`{"length1":100,"length2":50,"length3":21,"length4":8}`, `{"length1":21,"length2":100,"length3":8,"length4":50}`} {
			if got := compute(t, s, name, lengths).Signals; !equalMarks(got, want) {
				t.Errorf("%s %s: %d signals, in order of length %d", name, lengths, len(got), len(want))
			}
		}
	}
}

// TestSwappedLengths: an entry that takes the shorter of two lengths for the fast one,
// whichever it was given as, says so, because its label shows them as given. TA-Lib swaps
// them in MACD, MACDEXT, APO and PPO, and sorts the three of ULTOSC.
func TestSwappedLengths(t *testing.T) {
	s := walk(400, 13)
	var swapped []string
	for ind := range All() {
		low, high := ind.param("fast"), ind.param("slow")
		if low < 0 || high < 0 || ind.Params[low].Kind != Int || ind.Params[high].Kind != Int || ind.Name == "coppock" {
			continue // coppock adds the two: their order means nothing
		}
		as := func(fast, slow string) *Result {
			return compute(t, s, ind.Name, `{"`+ind.Params[low].Name+`":`+fast+`,"`+ind.Params[high].Name+`":`+slow+`}`)
		}
		given, other := as("7", "19"), as("19", "7")
		equal := true
		for i, l := range given.Lines {
			equal = equal && slices.EqualFunc(l.Values, other.Lines[i].Values, warm)
		}
		for i, h := range given.Histogram {
			equal = equal && slices.EqualFunc(h.Values, other.Histogram[i].Values, warm)
		}
		says := strings.Contains(ind.Doc, "whichever was given as that") || strings.Contains(ind.Doc, "in whichever order")
		if says != equal {
			t.Errorf("%s: swapped lengths give the same: %v; its description says so: %v", ind.Name, equal, says)
		}
		if equal {
			swapped = append(swapped, ind.Name)
		}
	}
	slices.Sort(swapped)
	if want := []string{"apo", "macd", "macdext", "ppo", "ultosc"}; !slices.Equal(swapped, want) {
		t.Errorf("the lengths of %v can be swapped, want those of %v", swapped, want)
	}
}
