package indicators

import (
	"path/filepath"
	"strings"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// candleVectors covers the candle patterns.
func candleVectors() map[string]cover {
	covers := make(map[string]cover)
	for i := range candlePatterns {
		pattern := &candlePatterns[i]
		covers["CDL"+strings.ToUpper(pattern.name)] = cover{entry: "candles", kernel: func(s *market.Series, p params) map[string][]float64 {
			var penetration float64
			if p["penetration"] != nil {
				penetration = p.num("penetration")
			}
			candles := measureCandles(nil, s)
			verdicts := kernel.Unknown(s.Len(), pattern.begin)
			for i := pattern.begin; i < s.Len(); i++ {
				verdicts[i] = float64(pattern.at(candles[:i+1], i, penetration))
			}
			return map[string][]float64{"integer": verdicts}
		}}
	}
	return covers
}

// TestCandleTies judges the bars too whose verdict hangs on the last bit: we
// subtract as TA-Lib does.
func TestCandleTies(t *testing.T) {
	var ties int
	for _, file := range vectorFiles(t) {
		if base := filepath.Base(file); base != "candles.json" && !strings.HasPrefix(base, "CDL") {
			continue
		}
		for _, c := range readVectors(t, file) {
			if len(c.Ties) == 0 {
				continue
			}
			ties += len(c.Ties)
			c.Ties = nil
			if err := c.check(vectors[c.Function], readBars(t, filepath.Join(vectorFolder, c.Data))); err != nil {
				t.Errorf("%s %v on %s: %v", c.Function, c.Params, c.Data, err)
			}
		}
	}
	if ties < 20 {
		t.Errorf("only %d ties judged", ties)
	}
}

// TestCandleSignals holds what the entry emits against the hits of the vectors:
// every one is a signal, under a declared label of the right direction.
func TestCandleSignals(t *testing.T) {
	var bars string
	var hits int
	verdicts := make(map[string]map[int]int) // by pattern and bar
	for _, c := range readVectors(t, vectorFolder+"/candles.json") {
		name := strings.ToLower(strings.TrimPrefix(c.Function, "CDL"))
		verdicts[name] = make(map[int]int)
		for _, h := range c.Hits {
			verdicts[name][h.Bar] = h.Value
		}
		hits += len(c.Hits)
		bars = c.Data
	}
	s := readBars(t, filepath.Join(vectorFolder, bars))
	request, err := New("candles", nil)
	if err != nil {
		t.Fatal(err)
	}
	signals := request.Compute(s).Signals
	if hits != 3277 || len(signals) != hits {
		t.Errorf("%d signals for %d hits, want 3277", len(signals), hits)
	}
	for _, sig := range signals {
		name := strings.TrimSuffix(strings.TrimSuffix(sig.Label, "_bull"), "_bear")
		name, confirmed := strings.CutSuffix(name, "_confirmed")
		v := verdicts[name][sig.Bar]
		switch {
		case v == 0:
			t.Errorf("bar %d: %s, but TA-Lib has no hit", sig.Bar, sig.Label)
		case sig.Tone == Up && (v < 0 || sig.Y != s.Low[sig.Bar]), sig.Tone == Down && (v > 0 || sig.Y != s.High[sig.Bar]),
			strings.HasSuffix(sig.Label, "_bull") != (sig.Tone == Up) && strings.Contains(sig.Label, "_"),
			confirmed != (v == 200 || v == -200):
			t.Errorf("bar %d: %+v does not fit the verdict %d", sig.Bar, sig, v)
		}
	}
	one, err := New("candles", raw(`{"pattern":"Engulfing"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Compute(s).Signals; len(got) != len(verdicts["engulfing"]) {
		t.Errorf("pattern engulfing: %d signals for %d hits", len(got), len(verdicts["engulfing"]))
	}
	for _, p := range oneCandle {
		hits -= len(verdicts[p.name])
	}
	if got := len(compute(t, s, "candles", `{"pattern":"multi"}`).Signals); got != hits {
		t.Errorf("pattern multi: %d signals for %d hits", got, hits)
	}
}
