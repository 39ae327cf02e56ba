package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWatchlist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\n\nMajors: BTCUSDT, ETHUSDT\tSOLUSDT\nindex: ^GSPC\r\n")
	lists, err := readWatchlists(file)
	if c := parse(t, env("HOME", "/"), "--mcp", "--watchlist", file); len(c.watchlists) != 2 { // scans need no --trade
		t.Errorf("--mcp without --trade has %v", c.watchlists)
	}
	if err != nil || !slices.Equal(lists["majors"], []string{"BTCUSDT", "ETHUSDT", "SOLUSDT"}) || !slices.Equal(lists["index"], []string{"^GSPC"}) || len(lists) != 2 {
		t.Errorf("read %v, %v", lists, err)
	}
	for text, want := range map[string]string{
		"BTCUSDT ETHUSDT":             "line 1",
		"a: BTCUSDT\nA: ETHUSDT":      "line 2",
		"a b: BTCUSDT":                "line 1",
		"a: ../etc":                   "line 1",
		"a:":                          "no symbols",
		strings.Repeat("#", 64<<10+1): "longer than 65536 bytes",
	} {
		write(text)
		if _, err := readWatchlists(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
	if _, err := readWatchlists(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
