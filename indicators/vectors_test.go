package indicators

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

// vectorFolder holds values that other people's libraries computed; its README
// says which and how.
const vectorFolder = "testdata/vectors"

// vectors says for every function in the vectors what computes it here. The table
// is in a file beside the vectors, which says how it is written; the candle
// patterns are all computed alike.
var vectors = readCovers(vectorFolder + "/covers.txt")

// cover is how one function of the vectors is computed.
type cover struct {
	entry   string            // indicator
	params  map[string]string // parameter of the vectors to ours; "" if we have no use for it
	fixed   map[string]string // parameters of ours that the vectors imply
	outputs map[string]string // output of the vectors to the label of a line or histogram

	// kernel, instead of entry, computes the outputs from the bars.
	kernel func(s *market.Series, p params) map[string][]float64

	// slack, if not zero, is the relative error allowed instead of the usual,
	// because of what the reference itself loses; why says how.
	slack float64
	why   string

	// from, if not zero, is the first bar that is compared: before it the
	// function and ours begin differently, as why says.
	from int

	// times, if not zero, is the factor between ours and theirs: another unit or
	// sign of the same value.
	times float64

	// differs, if not empty, says how the function differs from ours: at least one
	// bar of each case must show it. With a kernel, whose values must be equal, it says
	// how the entry shows them otherwise.
	differs string

	// settles, if not zero, is the bar up to which 1e-6 is enough, because the
	// libraries themselves have not forgotten yet where they began.
	settles int
}

// params are the parameters of a vector: numbers, in a few cases words.
type params map[string]any

func (p params) num(name string) float64 { return p[name].(float64) }
func (p params) int(name string) int     { return int(p.num(name)) }

// readCovers reads the table of covers. It panics on a line it cannot read: the
// table is ours.
func readCovers(file string) map[string]cover {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	all := candleVectors()
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, " | ")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if _, twice := all[fields[0]]; len(fields) < 4 || twice {
			panic(fmt.Sprintf("%s: %q has no four fields, or is covered twice", file, line))
		}
		how := use(fields[1], fields[2], fields[3])
		how.kernel = vectorKernels[fields[0]]
		for _, remark := range fields[4:] {
			how.remark(remark)
		}
		all[fields[0]] = how
	}
	return all
}

// use covers a function by an entry, with its parameters and outputs as the table
// writes them.
func use(entry, parameters, outputs string) cover {
	c := cover{entry: entry, params: map[string]string{}, fixed: map[string]string{}, outputs: map[string]string{}}
	for _, field := range listed(parameters) {
		if theirs, ours, ok := strings.Cut(field, "="); ok {
			c.params[theirs] = ours
		} else if ours, value, ok := strings.Cut(field, ":"); ok {
			c.fixed[ours] = value
		}
	}
	for _, field := range listed(outputs) {
		theirs, label, _ := strings.Cut(field, "=")
		c.outputs[theirs] = label
	}
	return c
}

// listed divides a list at its commas.
func listed(list string) []string {
	var out []string
	for field := range strings.SplitSeq(list, ",") {
		if field = strings.TrimSpace(field); field != "" {
			out = append(out, field)
		}
	}
	return out
}

// remark adds to c what a remark of the table says.
func (c *cover) remark(words string) {
	what, why, _ := strings.Cut(words, ":")
	kind, value, _ := strings.Cut(what, " ")
	number, err := strconv.ParseFloat(value, 64)
	switch kind {
	case "since":
		c.from, c.why = int(number), strings.TrimSpace(why)
	case "within":
		c.slack, c.why = number, strings.TrimSpace(why)
	case "times":
		c.times = number
	case "settles":
		c.settles = int(number)
	case "differs":
		c.differs, err = strings.TrimSpace(why), nil
	default:
		err = errors.New("unknown kind")
	}
	if err != nil {
		panic(fmt.Sprintf("remark %q: %v", words, err))
	}
}

// vectorCase is one case of a vector file.
type vectorCase struct {
	Function  string
	Group     string
	Params    params
	Data      string
	First     int
	Bars      int
	Begin     int
	Settled   int // from here on all libraries agree, not only two
	Every     int // entry k of an output belongs to bar Begin + k*Every
	Outputs   map[string][]*float64
	Hits      []struct{ Bar, Value int }
	Ties      []int
	Libraries []string
	TakenFrom string `json:"taken_from"` // empty if one program alone is the reference
	isCandle  bool
}

// TestVectors computes every case. A function that the table does not cover is
// a failure: there are no exceptions.
func TestVectors(t *testing.T) {
	bars := make(map[string]*market.Series)
	for _, file := range vectorFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			for i, c := range readVectors(t, file) {
				how, ok := vectors[c.Function]
				if !ok {
					t.Errorf("nothing covers %s", c.Function)
					continue
				}
				file := filepath.Join(vectorFolder, c.Data)
				if bars[file] == nil {
					bars[file] = readBars(t, file)
				}
				if err := c.judge(how, bars[file]); err != nil {
					t.Errorf("case %d, %s %v on %s: %v", i, c.Function, c.Params, c.Data, err)
				}
			}
		})
	}
}

func vectorFiles(t *testing.T) []string {
	files, err := filepath.Glob(vectorFolder + "/*.json")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d files in %s, want 17 (%v)", len(files), vectorFolder, err)
	}
	return files
}

func readVectors(t *testing.T, file string) []vectorCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []vectorCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for i := range cases {
		c := &cases[i]
		c.isCandle = strings.HasPrefix(c.Function, "CDL")
	}
	return cases
}

// readBars reads a CSV of bars.
func readBars(t *testing.T, file string) *market.Series {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	s := &market.Series{}
	for _, row := range rows[1:] {
		var v [6]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[k], 64); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		s.Append(market.Bar{Time: int64(v[0]), Open: v[1], High: v[2], Low: v[3], Close: v[4], Volume: v[5]})
	}
	return s
}

// errUnequal reports a value that is not the one of the vector.
var errUnequal = errors.New("values differ")

// equals reports whether the function and what covers it must have equal values.
func (c cover) equals() bool { return c.differs == "" || c.kernel != nil }

// judge checks the case; where the function differs from ours, it demands that.
func (c *vectorCase) judge(how cover, all *market.Series) error {
	err := c.check(how, all)
	switch {
	case how.equals():
		return err
	case err == nil:
		return fmt.Errorf("all values agree, but the table says %q", how.differs)
	case errors.Is(err, errUnequal):
		return nil
	}
	return err
}

// check computes the case and compares every output.
func (c *vectorCase) check(how cover, all *market.Series) error {
	s := all.Slice(c.First, c.First+c.Bars)
	got, err := how.compute(s, c.Params)
	if err != nil {
		return err
	}
	if c.Hits != nil {
		return c.checkHits(got["integer"])
	}
	level := scaleOf(s)
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		values, ok := got[name]
		if !ok {
			return fmt.Errorf("output %s is not computed", name)
		}
		if len(values) != c.Bars {
			return fmt.Errorf("%s has %d values for %d bars", name, len(values), c.Bars)
		}
		if err := c.compare(values, c.Outputs[name], how, level); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// scaleOf returns the largest price: below a few parts in 1e15 of it no
// difference of prices means anything.
func scaleOf(s *market.Series) float64 { return max(1, slices.Max(s.High)) }

// compare holds got against want, which has a value every c.Every bars from
// c.Begin. The warm-up of a single program, such as TA-Lib, must be ours to the
// bar; before `begin` of several libraries they differ, and nothing is judged.
func (c *vectorCase) compare(got []float64, want []*float64, how cover, level float64) error {
	usual, near := 1e-9, 1e-12*level
	if c.TakenFrom == "" && how.from == 0 {
		for i, v := range got[:c.Begin] {
			if !math.IsNaN(v) {
				return fmt.Errorf("%w: bar %d has %v, but the first belongs to bar %d", errUnequal, i, v, c.Begin)
			}
		}
	}
	if how.slack != 0 {
		usual = how.slack
	}
	begun := c.TakenFrom == "" // an output of the others may begin after the first one
	for k, w := range want {
		i := c.Begin + k*c.Every
		tolerance, near := usual, near
		if i < how.settles {
			tolerance, near = 1e-6, 1e-9*largest(want)
		}
		begun = begun || w != nil
		switch {
		case !begun || i < how.from:
		case c.isCandle && slices.Contains(c.Ties, i):
		case w == nil && i < c.Settled: // one library may begin a line later than another
		case w == nil && !math.IsNaN(got[i]):
			return fmt.Errorf("bar %d: got %v, want no value", i, got[i])
		case w == nil:
		case c.isCandle && got[i] != *w, !(math.Abs(got[i]-*w) <= max(tolerance*math.Abs(*w), near)):
			return fmt.Errorf("%w: bar %d: got %.13g, want %.13g, off by %.2g", errUnequal, i, got[i], *w, math.Abs(got[i]-*w))
		}
	}
	return nil
}

// largest returns the largest size of the values.
func largest(want []*float64) (size float64) {
	for _, w := range want {
		if w != nil {
			size = max(size, math.Abs(*w))
		}
	}
	return size
}

// checkHits compares the result of a candle pattern: 0 wherever no hit is.
func (c *vectorCase) checkHits(got []float64) error {
	want := make(map[int]int)
	for _, hit := range c.Hits {
		want[hit.Bar] = hit.Value
	}
	for i, v := range got {
		switch {
		case slices.Contains(c.Ties, i):
		case i < c.Begin && v != 0 && !math.IsNaN(v):
			return fmt.Errorf("bar %d has %v before the first possible one, %d", i, v, c.Begin)
		case i >= c.Begin && v != float64(want[i]):
			return fmt.Errorf("bar %d: got %v, want %d", i, v, want[i])
		}
	}
	return nil
}

// compute runs what covers the function.
func (how cover) compute(s *market.Series, p params) (map[string][]float64, error) {
	if how.kernel != nil {
		return how.kernel(s, p), nil
	}
	overrides := make(map[string]json.RawMessage)
	for ours, value := range how.fixed {
		overrides[ours] = json.RawMessage(strconv.Quote(value))
	}
	ind, err := Lookup(how.entry)
	if err != nil {
		return nil, err
	}
	for theirs, value := range p {
		ours, ok := how.params[theirs]
		if !ok {
			return nil, fmt.Errorf("the table does not map parameter %s", theirs)
		}
		for ours := range strings.SplitSeq(ours, "+") {
			if ours != "" {
				overrides[ours] = ind.vectorValue(ours, value)
			}
		}
	}
	request, err := New(how.entry, overrides)
	if err != nil {
		return nil, err
	}
	result := request.Compute(s)
	out := make(map[string][]float64)
	for theirs, label := range how.outputs {
		values, err := seriesOf(result, label)
		if err != nil {
			return nil, err
		}
		out[theirs] = values
		if how.times != 0 {
			out[theirs] = kernel.Scaled(values, how.times)
		}
	}
	return out, nil
}

// vectorValue writes a value of the vectors for our parameter: TA-Lib counts
// the kinds of averages, we name them.
func (ind *Indicator) vectorValue(name string, value any) json.RawMessage {
	i := ind.param(name)
	if v, ok := value.(float64); ok && i >= 0 && ind.Params[i].Kind == Choice {
		value = ind.Params[i].Choices[int(v)]
	}
	raw, _ := json.Marshal(value)
	return raw
}

// seriesOf returns the line or histogram with this label. Of "one or other" it
// returns the values of one and, where that has none, of the other.
func seriesOf(r *Result, label string) ([]float64, error) {
	if one, other, ok := strings.Cut(label, " or "); ok {
		values, err := seriesOf(r, one)
		rest, also := seriesOf(r, other)
		if err != nil || also != nil {
			return nil, errors.Join(err, also)
		}
		values = slices.Clone(values)
		for i, v := range values {
			if math.IsNaN(v) {
				values[i] = rest[i]
			}
		}
		return values, nil
	}
	for _, l := range r.Lines {
		if l.Label == label { // by the bars at which it is drawn
			back := min(l.Back, len(l.Values))
			return append(slices.Clone(l.Values[back:]), kernel.NaNs(back)...), nil
		}
	}
	for _, h := range r.Histogram {
		if h.Label == label {
			return h.Values, nil
		}
	}
	return nil, fmt.Errorf("no line or histogram is labelled %q", label)
}

// vectorKernels compute functions of the vectors that no entry gives as it is: they
// number bars otherwise, say a direction by a number, or take what no chart has.
var vectorKernels = map[string]func(*market.Series, params) map[string][]float64{
	"FRACTAL":       fractalVector,
	"MARKETFI":      marketVector,
	"MAVP":          vectorMAVP,
	"MAXINDEX":      vectorMaxIndex,
	"MININDEX":      vectorMinIndex,
	"MINMAXINDEX":   vectorMinMaxIndex,
	"PERCENTRANK":   rankVector,
	"SAREXT":        vectorSARExt,
	"SUPERTREND":    supertrend081,
	"pta.mavp":      vectorMAVP,
	"supertrend":    supertrendVector,
	"ta.supertrend": supertrendVector,

	"pta.cdl_pattern, all its patterns added up":                           candleSums,
	"ta.correlation of both closes, as the script Correlation Coefficient": versusVector,
}

// vectorMAVP feeds the lengths of the vectors, 2 to 30 in turn, which no chart
// has.
func vectorMAVP(s *market.Series, p params) map[string][]float64 {
	lengths := make([]float64, s.Len())
	for i := range lengths {
		lengths[i] = float64(2 + i%29)
	}
	kind := kernel.Averages[p.int("matype")]
	return map[string][]float64{"real": mavp(s.Close, lengths, p.int("minperiod"), p.int("maxperiod"), kind)}
}

// position gives the position of an extreme as TA-Lib does, where the entries
// show how many bars ago it was.
func position(s *market.Series, p params, sign float64) []float64 {
	out := barsSince(kernel.ExtremeAt(s.Close, p.int("timeperiod"), sign, false))
	for i, ago := range out {
		out[i] = float64(i) - ago
	}
	return out
}

func vectorMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, 1)}
}

func vectorMinIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, -1)}
}

func vectorMinMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"minidx": position(s, p, -1), "maxidx": position(s, p, 1)}
}

// vectorSARExt marks falling stops by negative values, as TA-Lib does.
func vectorSARExt(s *market.Series, p params) map[string][]float64 {
	long := kernel.Acceleration{Start: p.num("accelerationinitlong"), Step: p.num("accelerationlong"), Most: p.num("accelerationmaxlong")}
	short := kernel.Acceleration{Start: p.num("accelerationinitshort"), Step: p.num("accelerationshort"), Most: p.num("accelerationmaxshort")}
	stop, up := kernel.Parabolic(s, long, short, p.num("startvalue"), p.num("offsetonreverse"))
	for i, v := range stop {
		if !up[i] {
			stop[i] = -v
		}
	}
	return map[string][]float64{"real": stop}
}

// candleSums adds up what all candle patterns say of each bar.
func candleSums(s *market.Series, _ params) map[string][]float64 {
	sum, candles := make([]float64, s.Len()), measureCandles(nil, s, 0)
	for p := range candlePatterns {
		pattern := &candlePatterns[p]
		for i := pattern.begin; i < s.Len(); i++ {
			sum[i] += float64(pattern.at(candles[:i+1], i))
		}
	}
	return map[string][]float64{"sum": sum}
}

// versusVector takes the volume for the closes of the other market.
func versusVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": correlation(s.Close, s.Volume, p.int("length"))}
}

// fractalVector marks fractals by 100, as TA-Lib does, where the entry shows
// their price.
func fractalVector(s *market.Series, p params) map[string][]float64 {
	high, low := make([]float64, s.Len()), make([]float64, s.Len())
	for _, i := range only(pivots(s.High, p.int("leftbars"), p.int("rightbars"))) {
		high[i+p.int("rightbars")] = 100
	}
	for _, i := range other(pivots(s.Low, p.int("leftbars"), p.int("rightbars"))) {
		low[i+p.int("rightbars")] = 100
	}
	return map[string][]float64{"swinghigh": high, "swinglow": low}
}

// rankVector counts values below the newest, as TA-Lib does; the entry counts
// equal ones too, as TradingView.
func rankVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": kernel.PercentRank(s.Close, p.int("timeperiod"), false)}
}

// marketVector is 0 on bars without volume, as TA-Lib's; the entry has no value.
func marketVector(s *market.Series, _ params) map[string][]float64 {
	return map[string][]float64{"real": kernel.ZeroNaN(kernel.Quotient(kernel.Minus(s.High, s.Low), s.Volume))}
}

// supertrend081 gives the direction as TA-Lib does: 1 is up, 0 before the first
// value.
func supertrend081(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrendOf(s, p.int("timeperiod"), p.num("multiplier"))
	return map[string][]float64{"supertrend": stop, "trend": directions(stop, up, 1, 0)}
}

// supertrendVector gives the direction as Pine does: -1 is up.
func supertrendVector(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrendOf(s, p.int("length"), p.num("mult"))
	return map[string][]float64{"supertrend": stop, "direction": directions(stop, up, -1, math.NaN())}
}

// supertrendOf returns the stop, which the entry draws as two lines, and where it rises.
func supertrendOf(s *market.Series, n int, mult float64) (stop []float64, up []bool) {
	r, err := New("supertrend", raw(fmt.Sprintf(`{"length":%d,"mult":%v}`, n, mult)))
	if err != nil {
		panic(err)
	}
	lines := r.Compute(s).Lines
	for i, y := range lines[0].Values {
		up = append(up, !math.IsNaN(y))
		if !up[i] {
			y = lines[1].Values[i]
		}
		stop = append(stop, y)
	}
	return stop, up
}

// directions returns rising where up, its negative elsewhere, and before until stop has
// a value.
func directions(stop []float64, up []bool, rising, before float64) []float64 {
	out := make([]float64, len(stop))
	for i, v := range stop {
		switch {
		case math.IsNaN(v):
			out[i] = before
		case up[i]:
			out[i] = rising
		default:
			out[i] = -rising
		}
	}
	return out
}

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
			candles := measureCandles(nil, s, penetration)
			verdicts := kernel.Unknown(s.Len(), pattern.begin)
			for i := pattern.begin; i < s.Len(); i++ {
				verdicts[i] = float64(pattern.at(candles[:i+1], i))
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
