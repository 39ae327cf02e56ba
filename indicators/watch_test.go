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

	"wick/indicators/shape"
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
	if got, want := rsi.Meaning(shape.RSIOverbought), "the RSI leaves the overbought zone downwards"; got != want {
		t.Errorf("rsi_overbought: %q, want %q", got, want)
	}
}

// TestZonedMeanings: where crossings in a zone have a label of their own, the plain one
// does not fire there, and its meaning says so; elsewhere it says nothing of zones.
func TestZonedMeanings(t *testing.T) {
	var zoned []string
	for ind := range All() {
		for plain, own := range map[string]string{shape.CrossUp: shape.CrossUpOS, shape.CrossDown: shape.CrossDownOB} {
			if !slices.Contains(ind.Signals, plain) {
				continue
			}
			has, says := slices.Contains(ind.Signals, own), strings.HasSuffix(ind.Meaning(plain), " zone")
			if has != says || has && !strings.Contains(ind.Meaning(plain), " not in the over") {
				t.Errorf("%s: %s means %q", ind.Name, plain, ind.Meaning(plain))
			}
			if has && plain == shape.CrossUp {
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

// TestBounds: the lines of an entry stay within what Bounds says, whatever its parameters
// are. What is measured outside of the bars, and invented here, is left out.
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

// TestLate: no line has a value on the newest bar, however many bars there are, exactly if
// Late says so. Only an entry that changes earlier values can fill them in later.
func TestLate(t *testing.T) {
	s := world(700, 100)
	checked := 0
	for ind := range All() {
		for _, params := range []string{`{}`, `{"displacement":1}`} {
			r, err := New(ind.Name, raw(params))
			if err != nil || !ind.Repaints || len(r.lineNames()) == 0 {
				continue // it has no displacement, or its values stay
			}
			late := true
			for n := 300; n < s.Len(); n += 9 {
				for _, values := range columns(r.Compute(s.Slice(0, n))) {
					late = late && math.IsNaN(values[n-1])
				}
			}
			if checked++; late != r.Late() {
				t.Errorf("%s: Late is %v, want %v", r.Label(), r.Late(), late)
			}
		}
	}
	if checked < 3 {
		t.Errorf("%d requests were looked at", checked)
	}
}
