package market

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every known symbol of a source is in the spelling that the source takes for canonical. Auto
// knows stocks as well as pairs.
func TestKnownAreCanonical(t *testing.T) {
	for name, want := range map[string]string{"sample": "BTCUSDT", "binance": "BTCUSDT", "coinbase": "BTC-USD", "kraken": "XBTUSD", "yahoo": "AAPL", "auto": "AAPL"} {
		source, err := Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		known := Known(source)
		if !slices.Contains(known, want) || name == "auto" && !slices.Contains(known, "BTCUSDT") {
			t.Errorf("%s knows %q, without %s", name, known, want)
		}
		for _, symbol := range known {
			if got, err := Resolve(source, symbol); err != nil || got != symbol {
				t.Errorf("%s: %s resolves to %q, %v", name, symbol, got, err)
			}
		}
	}
}

func TestKnownOfDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ETHUSDT-1h.csv", "ETHUSDT-1d.csv", "AAPL.csv", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewCSV(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Known(c), []string{"AAPL", "ETHUSDT"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
