package market

import (
	"errors"
	"math"
	"strings"
	"testing"

	"wick/internal/limit"
)

func TestParseSymbol(t *testing.T) {
	for text, want := range map[string]string{
		"btcusdt": "BTCUSDT", " AAPL ": "AAPL", "eurusd=x": "EURUSD=X", "^gspc": "^GSPC", "brk-b": "BRK-B", "0700.hk": "0700.HK", "a_b": "A_B",
	} {
		if got, err := ParseSymbol(text); got != want || err != nil {
			t.Errorf("ParseSymbol(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", ".", "..", "...", "^", "-=", "a/b", `a\b`, "a b", "a%2e", "a?b", "a#b", "a@b", "a:b", "a\nb", "a\x00b", "ſp", "ıbm", "é",
		strings.Repeat("A", 21), strings.Repeat("A", 100000),
	} {
		if got, err := ParseSymbol(text); !errors.Is(err, errSymbol) || len(err.Error()) > 200 {
			t.Errorf("ParseSymbol(%q) = %q, %v; want a short errSymbol", limit.Clip(text), got, err)
		}
	}
}

// The reason is the true one: a character counts once, however many bytes it has.
func TestParseSymbolSays(t *testing.T) {
	for text, want := range map[string]string{
		"ＢＴＣＵＳＤＴ": "letters, digits", "ЗОЛОТОЗОЛОТО": "letters, digits", "": "1 to 20 characters", "ABCDEFGHIJKLMNOPQRSTU": "1 to 20 characters",
		strings.Repeat("Ａ", 21): "1 to 20 characters", "A B": "letters, digits", "--": "no letter or digit",
	} {
		if _, err := ParseSymbol(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzParseSymbol(f *testing.F) {
	f.Add("brk-b")
	f.Add("../../etc/passwd")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSymbol(text)
		if err != nil {
			return
		}
		if again, err := ParseSymbol(s); again != s || err != nil || strings.ContainsAny(s, "/\\%?#@:\r\n\x00") {
			t.Errorf("%q gives %q, which gives %q, %v", text, s, again, err)
		}
	})
}

// series makes bars from rows of time, open, high, low, close, volume.
func series(iv Interval, rows ...Bar) *Series {
	s := &Series{Symbol: "TEST", Interval: iv}
	for _, b := range rows {
		s.Append(b)
	}
	return s
}

func TestCheck(t *testing.T) {
	good := Bar{60, 10, 12, 9, 11, 5}
	if err := series(Minute1, good, Bar{120, 11, 11, 11, 11, 0}).Check(); err != nil {
		t.Errorf("good bars refused: %v", err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for what, bad := range map[string]Bar{
		"time equal": {60, 10, 12, 9, 11, 5}, "time falls": {0, 10, 12, 9, 11, 5},
		"NaN": {120, nan, 12, 9, 11, 5}, "NaN volume": {120, 10, 12, 9, 11, nan}, "infinite": {120, 10, inf, 9, 11, 5},
		"low above open": {120, 8, 12, 9, 11, 5}, "low above close": {120, 10, 12, 9, 8, 5},
		"high below open": {120, 13, 12, 9, 11, 5}, "high below close": {120, 10, 12, 9, 13, 5}, "low above high": {120, 10, 8, 9, 8.5, 5},
		"negative volume": {120, 10, 12, 9, 11, -1},
	} {
		if err := series(Minute1, good, bad).Check(); !errors.Is(err, errBadBars) {
			t.Errorf("%s: %v, want errBadBars", what, err)
		}
	}
	short := series(Minute1, good)
	short.Volume = nil
	if err := short.Check(); !errors.Is(err, errBadBars) {
		t.Errorf("short column: %v", err)
	}
	extra := series(Minute1, good)
	extra.Extra = map[string][]float64{ExtraOI: {1, 2}}
	if err := extra.Check(); !errors.Is(err, errBadBars) {
		t.Errorf("long extra column: %v", err)
	}
}

func TestSliceTailGrow(t *testing.T) {
	s := series(Minute1, Bar{60, 1, 1, 1, 1, 1}, Bar{120, 2, 2, 2, 2, 2}, Bar{180, 3, 3, 3, 3, 3})
	s.Forming = true
	s.Extra = map[string][]float64{ExtraOI: {10, 20, 30}}
	if cut := s.Slice(0, 2); cut.Forming || cut.Len() != 2 || cut.Extra[ExtraOI][1] != 20 || cut.Check() != nil {
		t.Errorf("Slice(0, 2) = %+v", cut)
	}
	if tail := s.Tail(2); !tail.Forming || tail.Time[0] != 120 || tail.Extra[ExtraOI][0] != 20 || tail.Check() != nil {
		t.Errorf("Tail(2) = %+v", tail)
	}
	if all := s.Tail(9); all.Len() != 3 {
		t.Errorf("Tail(9) has %d bars", all.Len())
	}
	// Appending to a slice must not write into the bars it was cut from.
	s.Slice(0, 2).Append(Bar{150, 9, 9, 9, 9, 9})
	if s.Close[2] != 3 {
		t.Errorf("the third close became %v", s.Close[2])
	}
	g := series(Minute1, s.Bar(0))
	g.Grow(10)
	if g.Bar(0) != s.Bar(0) || cap(g.Time) < 11 || cap(g.Volume) < 11 {
		t.Errorf("Grow lost a bar or made no room: %+v", g)
	}
	g.Append(s.Bar(1))
	if g.Bar(0) != s.Bar(0) || g.Bar(1) != s.Bar(1) || g.Check() != nil {
		t.Errorf("columns of Grow overlap: %+v", g)
	}
}
