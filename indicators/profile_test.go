package indicators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wick/market"
)

// threeBars has the profile 1, 4, 1, 2 in four bins of height 1: a bar over
// the whole range with a volume of 4, one over the second bin with 3, a flat one
// in the last with 1. The second falls, the others rise.
func threeBars() *market.Series {
	s := &market.Series{}
	s.Append(market.Bar{Time: 0, Open: 0, High: 4, Low: 0, Close: 4, Volume: 4})
	s.Append(market.Bar{Time: 3600, Open: 2, High: 2, Low: 1, Close: 1, Volume: 3})
	s.Append(market.Bar{Time: 7200, Open: 3.5, High: 3.5, Low: 3.5, Close: 3.5, Volume: 1})
	return s
}

func TestProfileByHand(t *testing.T) {
	var p profile
	if !p.fill(threeBars(), 4, 0.7, byVolume) {
		t.Fatal("no profile")
	}
	if want := []float64{1, 4, 1, 2}; !slices.Equal(p.weights, want) {
		t.Errorf("weights %v, want %v", p.weights, want)
	}
	if want := []float64{1, 1, 1, 2}; !slices.Equal(p.rising, want) {
		t.Errorf("rising %v, want %v", p.rising, want)
	}
	// 70 % of 8 is 5.6: the POC has 4, its neighbours 1 each, and the lower one
	// comes first; then the upper.
	poc, vah, val := p.levels()
	if poc != 1.5 || vah != 3 || val != 0 {
		t.Errorf("POC %v, VAH %v, VAL %v, want 1.5, 3, 0", poc, vah, val)
	}
	// Half of it is the POC alone.
	p.fill(threeBars(), 4, 0.5, byVolume)
	if _, vah, val := p.levels(); vah != 2 || val != 1 {
		t.Errorf("half: VAH %v, VAL %v, want 2, 1", vah, val)
	}
	// By time each bar counts 1: quarters, the whole of the second bin, and
	// the whole of the last.
	p.fill(threeBars(), 4, 0.7, byTime)
	if want := []float64{0.25, 1.25, 0.25, 1.25}; !slices.Equal(p.weights, want) || p.poc != 1 {
		t.Errorf("by time: %v, POC in bin %d, want %v, 1", p.weights, p.poc, want)
	}
}

func TestProfileOfNothing(t *testing.T) {
	flat := &market.Series{}
	flat.Append(market.Bar{Open: 5, High: 5, Low: 5, Close: 5, Volume: 9})
	idle := threeBars()
	idle.Volume = []float64{0, 0, 0}
	for name, s := range map[string]*market.Series{"no bars": {}, "no range": flat, "no volume": idle} {
		var p profile
		if p.fill(s, 4, 0.7, byVolume) {
			t.Errorf("%s: got a profile", name)
		}
	}
}

// TestProfilePlain holds the profile against asking every bin about every bar.
func TestProfilePlain(t *testing.T) {
	s := walk(500, 7)
	low, high := slices.Min(s.Low), slices.Max(s.High)
	var p profile
	for _, bins := range []int{2, 24, 48, 499} {
		if !p.fill(s, bins, 0.7, byVolume) {
			t.Fatal("no profile")
		}
		step := (high - low) / float64(bins)
		var sum float64
		for k, got := range p.weights {
			bottom := low + step*float64(k)
			var want float64
			for i := range s.Len() {
				overlap := math.Min(s.High[i], bottom+step) - math.Max(s.Low[i], bottom)
				want += s.Volume[i] * math.Max(0, overlap) / (s.High[i] - s.Low[i])
			}
			if math.Abs(got-want) > 1e-6*want+1e-6 {
				t.Errorf("%d bins, bin %d: %v, want %v", bins, k, got, want)
			}
			sum += want
		}
		inside := 0.0
		for k := p.val; k <= p.vah; k++ {
			inside += p.weights[k]
		}
		if inside < 0.7*sum || p.val > p.poc || p.vah < p.poc {
			t.Errorf("%d bins: value area %d to %d holds %v of %v", bins, p.val, p.vah, inside, sum)
		}
	}
}

// walk returns n hourly bars of a random walk, all with a range and volume.
func walk(n int, seed uint64) *market.Series {
	rng := rand.New(rand.NewPCG(seed, seed))
	s := &market.Series{}
	price := 100.0
	for i := range n {
		open := price
		price *= math.Exp(0.01 * rng.NormFloat64())
		s.Append(market.Bar{Time: int64(i) * 3600, Open: open, Close: price, Volume: 10 + 100*rng.Float64(),
			High: max(open, price) * (1 + 0.005*rng.Float64()), Low: min(open, price) * (1 - 0.005*rng.Float64())})
	}
	return s
}

func TestProfileBars(t *testing.T) {
	r := compute(t, threeBars(), "volume_profile", `{"bins":4,"color_up":"#00ff00","opacity":0.5}`)
	want := []HBar{
		{Y: 0.5, Height: 1, Width: 0.075, Left: true, Tone: Muted, Strong: true},
		{Y: 1.5, Height: 1, Width: 0.30, Left: true, Tone: Accent, Strong: true},
		{Y: 2.5, Height: 1, Width: 0.075, Left: true, Tone: Muted, Strong: true},
		{Y: 3.5, Height: 1, Width: 0.15, Left: true, Tone: Muted},
	}
	if !slices.Equal(r.HBars, want) {
		t.Errorf("hbars %+v, want %+v", r.HBars, want)
	}
	levels := []HLine{{Y: 1.5, Label: "POC", Tone: Accent}, {Y: 3, Label: "VAH", Tone: Muted}, {Y: 0, Label: "VAL", Tone: Muted}}
	if !slices.Equal(r.HLines, levels) {
		t.Errorf("hlines %+v, want %+v", r.HLines, levels)
	}
	split := compute(t, threeBars(), "vp", `{"bins":4,"split_up_down":true,"side":"right"}`).HBars
	if got, want := split[2], (HBar{Y: 1.5, Height: 1, Width: 0.075, Tone: Up, Strong: true}); got != want {
		t.Errorf("rising part of the POC %+v, want %+v", got, want)
	}
	if got := split[3]; math.Abs(got.Width-0.225) > 1e-12 || got.Offset != 0.075 || got.Tone != Down {
		t.Errorf("falling part of the POC %+v, want width 0.225 from 0.075", got)
	}
	last := compute(t, threeBars(), "volume_profile", `{"bins":4,"range_bars":2}`)
	if got := last.HLines[0].Y; got != 1.3125 { // 1 to 3.5 in bins of 0.625, the most in the first
		t.Errorf("POC of the last two bars %v, want 1.3125", got)
	}
}

// TestTimeProfile: of the last two bars one stays for its unit of time between 1 and 2, the
// other at 3.5. In five bins of height 0.5 that is 0.5, 0.5, 0, 0 and 1, and 70 % of 2 is
// reached with the second bin.
func TestTimeProfile(t *testing.T) {
	r := compute(t, threeBars(), "tpo", `{"bins":5,"range_bars":2}`)
	levels := []HLine{{Y: 3.25, Label: "POC", Tone: Accent}, {Y: 3.5, Label: "VAH", Tone: Muted}, {Y: 1.5, Label: "VAL", Tone: Muted}}
	if !slices.Equal(r.HLines, levels) {
		t.Errorf("hlines %+v, want %+v", r.HLines, levels)
	}
	if got, want := r.HBars[0], (HBar{Y: 1.25, Height: 0.5, Width: 0.15, Tone: Muted}); got != want {
		t.Errorf("lowest bin %+v, want %+v", got, want)
	}
}

func TestNodes(t *testing.T) {
	p := profile{weights: []float64{1, 9, 2, 2, 0, 3, 10, 4, 4.5}, poc: 6}
	high, low := p.nodes(2, 0.1)
	if want := []node{{1, 7}, {6, 5.5}}; !slices.Equal(high, want) {
		t.Errorf("high nodes %v, want %v", high, want)
	}
	if want := []node{{4, 10}, {0, 8}}; !slices.Equal(low, want) {
		t.Errorf("low nodes %v, want %v", low, want)
	}
	if high, _ := p.nodes(2, 0.6); !slices.Equal(high, []node{{1, 7}}) {
		t.Errorf("high nodes by 0.6: %v, want the first only", high)
	}
	r := compute(t, threeBars(), "hvn_lvn", `{"bins":4,"neighborhood":1,"show_lvn":false}`)
	if want := []HLine{{Y: 1.5, Label: "HVN", Tone: Accent}, {Y: 3.5, Label: "HVN", Tone: Accent}}; !slices.Equal(r.HLines, want) {
		t.Errorf("hlines %v, want %v", r.HLines, want)
	}
}

// twoDays returns a session of two bars, whose volume lies at 10 to 11 of a
// range of 10 to 14, and one of three bars that begins at midnight.
func twoDays(next ...market.Bar) *market.Series {
	s := &market.Series{}
	s.Append(market.Bar{Time: 82800, Open: 10, High: 14, Low: 10, Close: 14, Volume: 4})
	s.Append(market.Bar{Time: 84600, Open: 10, High: 11, Low: 10, Close: 11, Volume: 10})
	for i, b := range next {
		b.Time = 86400 + int64(i)*3600
		s.Append(b)
	}
	return s
}

func TestSessionVP(t *testing.T) {
	s := twoDays(market.Bar{Open: 20, High: 24, Low: 20, Close: 22, Volume: 4}, market.Bar{Open: 23, High: 24, Low: 23, Close: 24, Volume: 9})
	r := compute(t, s, "session_vp", `{"bins":4}`)
	for i, want := range [][]float64{{10.5, 10.5, 23.5, 23.5}, {11, 11, 24, 24}, {10, 10, 23, 23}} {
		if !slices.Equal(r.Lines[i].Values, want) {
			t.Errorf("%s %v, want %v", r.Lines[i].Label, r.Lines[i].Values, want)
		}
	}
	// Two days of two bars: of the last three, the first belongs to the first day.
	if got, want := r.Tail(4, 3).Sessions, []int{-1, 1}; !slices.Equal(r.Sessions, []int{0, 2}) || !slices.Equal(got, want) {
		t.Errorf("sessions at %v, and cut to three bars at %v, want 0, 2 and -1, 1", r.Sessions, got)
	}
	if got := r.Tail(4, 2).Sessions; !slices.Equal(got, []int{0}) {
		t.Errorf("cut to the second day: sessions at %v, want 0", got)
	}
	if r := compute(t, s, "svp", `{"bins":4,"show_value_area":false}`); len(r.Lines) != 1 {
		t.Errorf("without value area: %d lines", len(r.Lines))
	}
}

func TestSessions(t *testing.T) {
	s := &market.Series{}
	for i := range 200 { // hourly, from Sunday 1970-01-04 20:00
		s.Append(market.Bar{Time: int64(3*86400+20*3600) + int64(i)*3600})
	}
	for _, c := range []struct {
		params string
		want   []span
	}{
		{`{}`, []span{{0, 4}, {4, 28}, {28, 52}, {52, 76}, {76, 100}, {100, 124}, {124, 148}, {148, 172}, {172, 196}, {196, 200}}},
		{`{"session":"weekly"}`, []span{{0, 4}, {4, 172}, {172, 200}}},
		{`{"session":"monthly"}`, []span{{0, 200}}},
		{`{"bars_per_session":90}`, []span{{0, 90}, {90, 180}, {180, 200}}},
	} {
		a, err := byName()["session_vp"].resolve(raw(c.params))
		if err != nil {
			t.Fatal(err)
		}
		if got := sessions(Input{s, a}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.params, got, c.want)
		}
	}
}

func TestNakedPOC(t *testing.T) {
	away := market.Bar{Open: 20, High: 21, Low: 20, Close: 21, Volume: 1}
	back := market.Bar{Open: 12, High: 12, Low: 10, Close: 11, Volume: 1}
	r := compute(t, twoDays(away, away), "naked_poc", `{"bins":4}`)
	if len(r.Lines) != 2 || r.Lines[0].Label != "nPOC -1" || r.Lines[1].Label != "dPOC" || len(r.Signals) != 0 {
		t.Fatalf("lines %+v, signals %v", r.Lines, r.Signals)
	}
	if got := r.Lines[0].Values; !same(got, []float64{nan, nan, 10.5, 10.5}) {
		t.Errorf("naked level %v, want 10.5 from bar 2 on", got)
	}
	r = compute(t, twoDays(away, back), "npoc", `{"bins":4,"include_current":false}`)
	if len(r.Lines)+len(r.Signals) != 0 {
		t.Errorf("touched in the next session: lines %v, signals %v, want nothing: it was never naked", r.Lines, r.Signals)
	}
	s := twoDays(away, away)
	back.Time = 2 * 86400
	s.Append(back)
	r = compute(t, s, "npoc", `{"bins":4,"include_current":false}`)
	// The second day's own level, 20 to 21, stays naked.
	if want := []Signal{Mark(4, 10.5, LevelTouch, Accent)}; len(r.Lines) != 1 || !slices.Equal(r.Signals, want) {
		t.Errorf("touched: lines %v, signals %v, want %v", r.Lines, r.Signals, want)
	}
	if r := compute(t, s, "npoc", `{"bins":4,"max_sessions":2}`); len(r.Signals) != 0 {
		t.Errorf("a level two sessions old is still watched: %v", r.Signals)
	}
}
