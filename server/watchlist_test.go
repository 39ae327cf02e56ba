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
	lists := parse(t, env("HOME", "/"), "--mcp", "--watchlist", file).watchlists // scans need no --trade
	if !slices.Equal(lists["majors"], []string{"BTCUSDT", "ETHUSDT", "SOLUSDT"}) || !slices.Equal(lists["index"], []string{"^GSPC"}) || len(lists) != 2 {
		t.Errorf("read %v", lists)
	}
	at := slices.IndexFunc(Settings(), func(s Setting) bool { return s.Name == "watchlist" })
	for text, want := range map[string]string{
		"BTCUSDT ETHUSDT":             "line 1",
		"a: BTCUSDT\nA: ETHUSDT":      "line 2",
		"a b: BTCUSDT":                "line 1",
		"a: ../etc":                   "line 1",
		"a:":                          "line 1",
		strings.Repeat("#", 64<<10+1): "longer than 65536 bytes",
	} {
		write(text)
		if err := new(config).settings()[at].Check(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
	if err := new(config).settings()[at].Check(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
