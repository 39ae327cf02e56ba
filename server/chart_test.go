package server

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
)

// TestRenderFlags: flags of the one-shot mode draw what the arguments of these names draw for a
// client.
func TestRenderFlags(t *testing.T) {
	t.Parallel()
	period := []string{"--symbol", "BTCUSDT", "--interval", "1d", "--from", "2025-01-01", "--to", "2025-03-31", "--output", "-"}
	const periodJSON = `{"symbol":"BTCUSDT","interval":"1d","from":"2025-01-01","to":"2025-03-31"`
	seen := make(map[string]string)
	for _, c := range []struct {
		flags     []string
		arguments string
	}{
		{nil, ``},
		{[]string{"--type", "area"}, `,"type":"area"`},
		{[]string{"--scale", "log"}, `,"scale":"log"`},
		{[]string{"--compare", "ETHUSDT,SOLUSDT"}, `,"compare":["ETHUSDT","SOLUSDT"]`},
		{[]string{"--marks", `[{"type":"level","price":12}]`}, `,"marks":[{"type":"level","price":12}]`},
		{[]string{"--signals", "off"}, `,"signals":"off"`},
		{[]string{"--volume=false"}, `,"volume":false`},
		{[]string{"--timezone", "Asia/Tokyo", "--interval", "4h"}, `,"timezone":"Asia/Tokyo","timeframe":"4h"`},
		{[]string{"--pixel-ratio", "2"}, `,"pixel_ratio":2`},
		{[]string{"--bars", "40"}, `,"bars":40`},
	} {
		var got, notes bytes.Buffer
		args := slices.Concat(period, c.flags)
		if slices.Contains(c.flags, "--interval") {
			args = slices.Delete(args, 2, 4) // one is enough
		}
		if err := Run(t.Context(), args, env("HOME", t.TempDir()), nil, &got, &notes); err != nil {
			t.Fatalf("%q: %v", c.flags, err)
		}
		arguments := periodJSON + c.arguments + "}"
		if strings.Contains(arguments, "timeframe") {
			arguments = strings.Replace(arguments, `"interval":"1d",`, "", 1)
		}
		want, err := tools.Chart(tools.Deps{Source: market.Sample{}}).Handle(t.Context(), mcp.Call{Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Content[0].Data) {
			t.Errorf("%q draws something else than %s", c.flags, arguments)
		}
		if other, same := seen[got.String()]; same {
			t.Errorf("%q draws the same as %s", c.flags, other)
		}
		seen[got.String()] = arguments
		// What a client gets as a further text is for standard error.
		if said := strings.Contains(notes.String(), "90 bars"); said != (len(want.Content) > 1) {
			t.Errorf("%q: standard error has %q", c.flags, notes.String())
		}
	}
}

// TestChartTwice: of two values of one argument nobody knows which was meant.
func TestChartTwice(t *testing.T) {
	for _, word := range []string{"symbol=ETHUSDT", "format=png", "output=other.png"} {
		_, err := command(t, "chart", "symbol=BTCUSDT", "format=png", "output=-", word)
		if err == nil || !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%s once more: %v", word, err)
		}
	}
}

// TestGalleryTimes: no call of docs/gallery.md asks for a time that later lies too far back
// to be fetched.
func TestGalleryTimes(t *testing.T) {
	page, err := os.ReadFile("../docs/gallery.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for line := range strings.Lines(string(page)) {
		var arguments map[string]any
		if !strings.HasPrefix(line, "    {") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &arguments); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		calls++
		if iv, _ := arguments["interval"].(string); arguments["from"] != nil && iv != "1d" {
			t.Errorf("%s: after 20,000 bars of %s this can no longer be drawn", line, iv)
		}
	}
	if calls < 20 {
		t.Errorf("%d calls", calls)
	}
}

// TestRenderRefusals: a bad flag is refused as a client's argument is.
func TestRenderRefusals(t *testing.T) {
	for want, args := range map[string][]string{
		"candles, hollow": {"--type", "renko"}, "1 to 3": {"--pixel-ratio", "9"}, `pixel_ratio "NaN" is not a number from 1 to 3`: {"--pixel-ratio", "NaN"}, `pixel_ratio "-inf" is`: {"--pixel-ratio=-inf"}, "2026-01-31": {"--from", "soon"}, "level, zone": {"--marks", `{"type":"x"}`},
		`?: docs/indicators.md has the names`:                  {"--indicators", "nope"},
		`format "both" is not one of png, summary, series, of`: {"--format", "both"}, `format "csv" is not one of png, summary, series, of`: {"--format", "csv"},
	} {
		err := Run(t.Context(), append(args, "--output", "-"), env("HOME", t.TempDir()), nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "request") { // of which a command line is none
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	var out bytes.Buffer // a word in capitals once wrote an empty line in place of the picture
	err := Run(t.Context(), []string{"--format", "PNG", "--output", "-"}, env("HOME", t.TempDir()), nil, &out, io.Discard)
	if err != nil || !bytes.HasPrefix(out.Bytes(), []byte("\x89PNG")) {
		t.Errorf("--format PNG: %d bytes, %v", out.Len(), err)
	}
}
