package indicators

import (
	"errors"
	"slices"
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
