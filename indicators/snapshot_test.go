package indicators

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wick/market"
)

var updateSnapshot = flag.Bool("update", false, "rewrite testdata/snapshot.txt")

// TestSnapshot: every line and every signal of every entry, at its defaults and at small and
// large parameters, in a market of random prices and in one of ticks, is what
// testdata/snapshot.txt says. A commit that changes the file says why; -update rewrites it.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	markets := []*market.Series{world(1200, 100), ticks(1200, 5)}
	markets[1].Interval, markets[1].Others, markets[1].Extra = market.Hour1, markets[0].Others, markets[0].Extra
	var b strings.Builder
	for ind := range All() {
		for _, size := range []struct {
			name string
			by   float64
		}{{"default", 1}, {"small", 0.4}, {"large", 2.5}} {
			r := scaled(t, ind, size.by)
			fmt.Fprintf(&b, "%s %s warmup %d:", r.Identity(), size.name, r.Warmup(market.Hour1))
			b.WriteString(digests(r, markets))
			b.WriteByte('\n')
		}
	}
	const file = "testdata/snapshot.txt"
	if *updateSnapshot {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(kept), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, %s has %d", len(got), file, len(want))
	}
	shown := 0
	for i := range min(len(got), len(want)) {
		if shown < 20 && got[i] != want[i] {
			shown++
			t.Errorf("line %d:\ngot  %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

// scaled returns a request whose numbers are the defaults times by, within their bounds.
func scaled(t *testing.T, ind *Indicator, by float64) Request {
	t.Helper()
	given := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		v := p.Default * by
		if p.Kind == Int {
			v = float64(int(v))
		}
		if (p.Kind == Int || p.Kind == Number) && !p.Quiet && by != 1 {
			given[p.Name] = json.RawMessage(number(max(p.Min, min(p.Max, v))))
		}
	}
	r, err := New(ind.Name, given)
	if err != nil {
		t.Fatalf("%s: %v", ind.Name, err)
	}
	return r
}

// digests returns a digest of each line and of each kind of signal of r, with how many
// there are, and one of all else.
func digests(r Request, markets []*market.Series) string {
	lines, signals, rest := make(map[string][]byte), make(map[string][]byte), []byte(nil)
	var labels []string
	counts, heights := make(map[string]int), make(map[string][]float64)
	for _, s := range markets {
		result := r.Compute(s)
		for label, values := range columns(result) {
			if lines[label] == nil {
				labels = append(labels, label)
			}
			lines[label] = coarse(lines[label], values)
		}
		for _, sig := range result.Signals {
			counts[sig.Label]++
			signals[sig.Label] = fmt.Appendf(signals[sig.Label], "%d %d %t %d ", sig.Bar, sig.Tone, sig.Silent, sig.Strength)
			heights[sig.Label] = append(heights[sig.Label], sig.Y)
		}
		text, err := json.Marshal(struct {
			Label          string
			Overlay        bool
			Settles, Begin int
			HLines, HBars  int
			Sessions       []int
			Shaded         []bool
			Facts          []Fact
		}{result.Label, result.Overlay, result.Settles, 0, len(result.HLines), len(result.HBars), result.Sessions, result.Shaded, result.Facts})
		if err != nil {
			return err.Error()
		}
		rest = append(rest, text...)
		var at []float64
		for _, l := range result.HLines {
			rest, at = fmt.Append(rest, l.Label, l.Tone), append(at, l.Y)
		}
		for _, h := range result.HBars {
			rest, at = fmt.Append(rest, h.Left, h.Tone, h.Strong), append(at, h.Y, h.Height, h.Width, h.Offset)
		}
		for _, d := range result.DivLines {
			rest, at = fmt.Append(rest, d.X1, d.X2, d.Dashed, d.Tone), append(at, d.Y1, d.Y2)
		}
		rest = coarse(rest, at)
		if result.YRange != nil {
			rest = fmt.Append(rest, *result.YRange)
		}
		for _, f := range result.Fills {
			rest = coarse(coarse(fmt.Append(rest, f.Tone, f.Below), f.Y1), f.Y2)
		}
		for _, l := range result.Lines {
			rest = coarse(fmt.Append(rest, l.Tone, l.Style), l.Ahead)
		}
	}
	var b strings.Builder
	for _, label := range labels {
		fmt.Fprintf(&b, " %s=%s", strings.ReplaceAll(label, " ", "_"), digest(lines[label]))
	}
	for _, label := range slices.Sorted(maps.Keys(signals)) {
		fmt.Fprintf(&b, " %s*%d=%s", label, counts[label], digest(coarse(signals[label], heights[label])))
	}
	return b.String() + " rest=" + digest(rest)
}

// coarse appends the values to b, as parts of ten million of the largest: the last
// bits may differ from one way of computing to another.
func coarse(b []byte, values []float64) []byte {
	size := 1e-30
	for _, v := range values {
		if !math.IsInf(v, 0) && math.Abs(v) > size {
			size = math.Abs(v)
		}
	}
	for _, v := range values {
		b = append(strconv.AppendFloat(b, math.Round(v/size*1e7)+0, 'f', 0, 64), ' ')
	}
	return b
}

// digest returns eight digits that stand for text.
func digest(text []byte) string {
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%08x", h.Sum32())
}
