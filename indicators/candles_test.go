package indicators

import (
	"slices"
	"strings"
	"testing"
)

// TestChosenPatterns: several patterns at once, as an array or divided by commas,
// and the newest signals alone.
func TestChosenPatterns(t *testing.T) {
	s := world(2000, 100)
	all := compute(t, s, "candles", `{}`).Signals
	var want []Signal
	for _, sig := range all {
		if strings.HasPrefix(sig.Label, "engulfing") || sig.Label == "hammer" {
			want = append(want, sig)
		}
	}
	for _, params := range []string{`{"pattern":["Engulfing","hammer"]}`, `{"patterns":"hammer, engulfing"}`} {
		if got := compute(t, s, "candles", params).Signals; len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d signals, want %d", params, len(got), len(want))
		}
	}
	if got := compute(t, s, "candles", `{"newest":7}`).Signals; !slices.Equal(got, all[len(all)-7:]) {
		t.Errorf("the newest seven are %v", got)
	}
	request, err := New("candles", raw(`{"pattern":["doji","hammer"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := request.Label(); got != "Candles(doji hammer)" {
		t.Errorf("label %q", got)
	}
	for _, bad := range []string{`{"pattern":[]}`, `{"pattern":["doji","nonsense"]}`} {
		if _, err := New("candles", raw(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
