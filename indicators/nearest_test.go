package indicators

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"symbol", "side", "type", "quantity", "price"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"symbl", []string{"symbol"}},
		{"SYMBOL", []string{"symbol"}},
		{"sied", []string{"side"}}, // two letters in the wrong order
		{"sdei", nil},
		{"sid", []string{"side"}},
		{"stop_loss", nil},
		{strings.Repeat("x", 1000), nil},
	} {
		if got := Nearest(c.name, names, 2); !slices.Equal(got, c.want) {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnknownSuggests: an unknown indicator is refused with three names of
// different indicators, the likeliest among them.
func TestUnknownSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"rsii": `"rsi"`, "bolinger": `"bollinger"`, "supertrnd": `"supertrend"`, "macd_line": `"macd"`, "foo": `did you mean`,
	} {
		_, err := Lookup(name)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), `"`) != 8 {
			t.Errorf("Lookup(%q): %v, want three names with %s", name, err, want)
		}
	}
	for _, name := range []string{"", " "} { // no name is nearer to it than others
		if _, err := Lookup(name); err == nil || strings.Contains(err.Error(), "did you mean") || !strings.Contains(err.Error(), "call list_indicators") {
			t.Errorf("Lookup(%q): %v, want no proposal", name, err)
		}
	}
}

// TestPatternsByName: a candle pattern may be asked for by its name, or TA-Lib's.
func TestPatternsByName(t *testing.T) {
	for name, pattern := range map[string]string{"doji": "doji", "CDLENGULFING": "engulfing", "Morning Star": "morningstar", "cdl_3inside": "3inside"} {
		if r, err := New(name, nil); err != nil || r.Label() != "Candles("+pattern+")" {
			t.Errorf("New(%q): %v, want the pattern %s", name, err, pattern)
		}
	}
	if r, err := New("doji", map[string]json.RawMessage{"pattern": json.RawMessage(`"hammer"`)}); err != nil || r.Label() != "Candles(hammer)" {
		t.Errorf("a pattern that was given does not go before the name: %v", err)
	}
}
