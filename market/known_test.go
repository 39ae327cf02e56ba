package market

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every usual symbol is in the spelling that its service takes for canonical.
func TestKnownAreCanonical(t *testing.T) {
	for _, p := range providers {
		if len(p.known()) == 0 {
			t.Errorf("%s has no usual symbols", p.name)
		}
		for _, symbol := range p.known() {
			if got, err := p.Resolve(symbol); err != nil || got != symbol {
				t.Errorf("%s: %s resolves to %q, %v", p.name, symbol, got, err)
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
	c, err := NewCSV(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Known(c), []string{"AAPL", "ETHUSDT"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
