// Docs writes the parts of the documentation that are made from the code:
// docs/indicators.md with a picture of every indicator, docs/gallery.md with
// pictures of what charts can show, and the pictures of docs/trading.md. Run it at
// the root of the project: go run ./release/docs
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/market"
)

func main() {
	files, err := generate()
	if err == nil {
		for _, made := range []string{"indicators", "gallery", "trading"} {
			err = errors.Join(err, os.RemoveAll(filepath.Join("docs", made)))
		}
	}
	if err == nil {
		err = write("docs", files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files in docs\n", len(files))
}

func write(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// instant is the moment that all pictures show: the sample source invents the same bars
// for it on every machine.
var instant = time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)

// generate returns every generated file by its path below docs.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{"indicators.md": indicatorsPage()}
	var err error
	for ind := range indicators.All() {
		if files["indicators/"+ind.Name+".png"], err = portrait(ind.Name); err != nil {
			return nil, fmt.Errorf("%s: %w", ind.Name, err)
		}
	}
	if err := orderPictures(files); err != nil {
		return nil, err
	}
	return files, gallery(files)
}

// maxPortrait bounds the picture of an indicator, in bytes.
const maxPortrait = 15_000

// portrait draws one indicator, with coarser edges where many lines would make
// the file too large.
func portrait(name string) ([]byte, error) {
	img, err := draw([]string{name}, 60, 640, 320)
	if err != nil {
		return nil, err
	}
	picture, err := squeeze(img)
	for _, step := range coarser {
		if err != nil || len(picture) <= maxPortrait {
			break
		}
		picture, err = squeeze(posterize(img, step))
	}
	return picture, err
}

// coarser are the steps of posterize that a portrait is tried with.
var coarser = []int{16, 32, 48, 64, 80, 96, 128}

// posterize rounds the mixed colours of a picture, which are the edges of lines,
// so that there are fewer different ones.
func posterize(p *image.Paletted, step int) *image.Paletted {
	seen := make(map[color.RGBA]uint8)
	remap := make([]uint8, len(p.Palette))
	for i, c := range p.Palette {
		r, g, b, _ := c.RGBA()
		round := func(v uint32) uint8 { return uint8((int(v>>8) + step/2) / step * step * 255 / (256 + step)) }
		key := color.RGBA{round(r), round(g), round(b), 255}
		if _, ok := seen[key]; !ok {
			seen[key] = uint8(i)
		}
		remap[i] = seen[key]
	}
	out := image.NewPaletted(p.Rect, p.Palette)
	for i, index := range p.Pix {
		out.Pix[i] = remap[index]
	}
	return out
}

// draw paints indicators over bars of the sample source.
func draw(names []string, bars, width, height int) (*image.Paletted, error) {
	v, err := sampleView("SAMPLE", names, bars)
	if err != nil {
		return nil, err
	}
	return paint(v, chart.Options{Width: width, Height: height})
}

// sampleView computes indicators over bars of the sample source, warmed up.
func sampleView(symbol string, names []string, bars int) (*chart.View, error) {
	var requests []indicators.Request
	for _, name := range names {
		r, err := indicators.New(name, nil)
		if err != nil {
			return nil, err
		}
		requests = append(requests, r)
	}
	q := market.Query{Symbol: symbol, Interval: market.Hour4, Limit: bars}
	for _, r := range requests {
		q.Limit = min(max(q.Limit, bars+r.Warmup(q.Interval)), market.MaxLimit)
		q.Extra = append(q.Extra, r.Needs()...)
	}
	s, err := market.Sample{}.At(q, instant)
	if err != nil {
		return nil, err
	}
	if s, err = withOthers(s, requests); err != nil {
		return nil, err
	}
	v := &chart.View{Series: s.Tail(bars)}
	for _, r := range requests {
		window := s
		if r.Ind.VisibleOnly() {
			window = v.Series
		}
		v.Panels = append(v.Panels, chart.Panel{Key: r.Key, Result: r.Compute(window).Tail(window.Len(), bars)})
	}
	return v, nil
}

// withOthers returns s with the bars of other markets that the requests read.
func withOthers(s *market.Series, requests []indicators.Request) (*market.Series, error) {
	s.Others = make(map[market.Other]*market.Series)
	for _, r := range requests {
		list, err := r.Others(s.Interval)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if s.Others[o.Other], err = (market.Sample{}).At(market.Query{Symbol: o.Symbol, Interval: s.Interval, Limit: s.Len()}, instant); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// paint draws v.
func paint(v *chart.View, o chart.Options) (*image.Paletted, error) {
	picture, _, err := chart.Draw(context.Background(), v, o)
	if err != nil {
		return nil, err
	}
	return decode(picture)
}

func decode(picture []byte) (*image.Paletted, error) {
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	return img.(*image.Paletted), nil // the renderer paints no other kind
}

// squeeze encodes a picture more slowly and smaller than the renderer does, because it is
// made once and downloaded with the repository many times.
func squeeze(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img)
	return b.Bytes(), err
}

// indicatorsPage writes docs/indicators.md from the catalogue.
func indicatorsPage() []byte {
	var b bytes.Buffer
	all := slices.Collect(indicators.All())
	fmt.Fprintf(&b, "# Indicators\n\n%d indicators, made from the catalogue by `go run ./release/docs`. Bars in the pictures are synthetic.\n\n"+
		"Ask for one by its name or an alias, with parameters as needed: `{\"name\": \"rsi\", \"length\": 21}`. A parameter may also be given by the\n"+
		"spellings in brackets, by those of [other programs](#parameters-in-other-programs), and with `_length` or `_period` after its name. Values\n"+
		"before an indicator is warm are null. Signals can be waited for with `set_alert`, unless it says below that no alert can; so can\n"+
		"`crosses_above` and `crosses_below`, with a `level`, on any line that can cross it, but not on running totals such as `obv`, whose level\n"+
		"means nothing. An alert on `vwap_anchored` needs its anchor. Wherever there is a `source`, it may be another indicator, by name or as an object.\n"+
		"What crosses is beyond on this bar and was not on the bar before, as in a [rule](charts.md#rules): a touch is no crossing.\n\n"+
		"What is said of TA-Lib, TradingView and pandas-ta is tested against their values by `go test ./indicators`, to the ninth digit, with the same\n"+
		"parameters and those named, but for what follows \"except\" and what is said \"by what is published\"; \"begins differently\" means that the\n"+
		"first bars differ. TradingView itself was not run. Its functions, its library ta and its scripts are as PineTS, PyneCore and\n"+
		"lightweight-charts-indicators compute them, scripts of its users as their published source says; an expression is a line of Pine, in which\n"+
		"x is the source and n the length. %s\n\n"+
		"Left out, because no definition of it is public: the Jurik moving average (JMA).\n", len(all), besideTradingView(all))
	for _, category := range indicators.Categories() {
		var members []*indicators.Indicator
		for _, ind := range all {
			if ind.Category == category {
				members = append(members, ind)
			}
		}
		fmt.Fprintf(&b, "\n## %s%s\n\n", strings.ToUpper(category[:1]), category[1:])
		for i, ind := range members {
			if i > 0 {
				b.WriteString(" · ")
			}
			fmt.Fprintf(&b, "[%s](#%s)", ind.Name, ind.Name)
		}
		b.WriteString("\n")
		for _, ind := range members {
			section(&b, ind)
		}
	}
	b.WriteString("\n## Parameters in other programs\n\nEach name means the first of these parameters that an indicator has.\n\n| name | parameters |\n|---|---|\n")
	spellings := indicators.Spellings()
	for _, name := range slices.Sorted(maps.Keys(spellings)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, codes(spellings[name]))
	}
	return b.Bytes()
}

// besideTradingView returns how many entries make each kind of statement about TradingView.
func besideTradingView(all []*indicators.Indicator) string {
	kinds := []string{"equal", "differs", "TradingView has none", "not verified"}
	count := make([]int, len(kinds))
	for _, ind := range all {
		for k, kind := range kinds {
			if strings.HasPrefix(ind.Compared()["tradingview"], kind) {
				count[k]++
			}
		}
	}
	return fmt.Sprintf("Beside\nTradingView %d entries are equal to something of its own or its users, %d differ, of %d it has none, and %d could not be verified.", count[0], count[1], count[2], count[3])
}

func section(b *bytes.Buffer, ind *indicators.Indicator) {
	fmt.Fprintf(b, "\n### %s\n\n![%s](indicators/%s.png)\n\n%s\n", ind.Name, ind.Name, ind.Name, ind.Doc)
	if ind.Formula != "" {
		fmt.Fprintf(b, "\n    %s\n", ind.Formula)
	}
	b.WriteString("\n")
	place := "in a panel of its own"
	if ind.Traits.Has(indicators.Overlay) {
		place = "over the price"
	}
	fmt.Fprintf(b, "- drawn %s", place)
	if ind.Traits.Has(indicators.Repaints) {
		b.WriteString("; repaints: later bars may change earlier values")
	}
	if ind.VisibleOnly() {
		b.WriteString("; describes the bars shown")
	}
	b.WriteString("\n")
	if len(ind.Aliases) > 0 {
		fmt.Fprintf(b, "- aliases: %s\n", codes(ind.Aliases))
	}
	compared := ind.Compared()
	fmt.Fprintf(b, "- TA-Lib: %s\n- TradingView: %s\n- pandas-ta: %s\n", compared["ta_lib"], compared["tradingview"], compared["pandas_ta"])
	if origin := ind.Origin(); origin != "" {
		fmt.Fprintf(b, "- Origin: %s\n", origin)
	}
	if len(ind.Needs) > 0 {
		fmt.Fprintf(b, "- needs from the source: %s\n", codes(ind.Needs))
	}
	only := ""
	if ind.VisibleOnly() {
		only = ", for which no alert can wait"
	}
	if len(ind.Signals) > 0 {
		b.WriteString("- signals" + only + ":\n")
		for _, label := range ind.Signals {
			fmt.Fprintf(b, "  - `%s`: %s\n", label, ind.Meaning(label))
		}
	}
	if len(ind.Params) == 0 {
		return
	}
	b.WriteString("\n| parameter | default | values | |\n|---|---|---|---|\n")
	for _, p := range ind.Params {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", parameterName(p), defaultOf(p), valuesOf(p), p.Doc)
	}
}

func codes(names []string) string { return "`" + strings.Join(names, "` `") + "`" }

func parameterName(p indicators.Param) string {
	if len(p.Aliases) == 0 {
		return "`" + p.Name + "`"
	}
	return "`" + p.Name + "` (" + strings.Join(p.Aliases, ", ") + ")"
}

func defaultOf(p indicators.Param) string {
	switch p.Kind {
	case indicators.Expression:
		text := strings.ReplaceAll(p.Text, "|", "\\|")
		if p.Required {
			return "none: it must be given, such as `" + text + "`"
		}
		return text
	case indicators.Symbol:
		return p.Text
	case indicators.Bool:
		return strconv.FormatBool(p.Default != 0)
	case indicators.Choice:
		return p.Choices[int(p.Default)]
	}
	return strconv.FormatFloat(p.Default, 'f', -1, 64)
}

func valuesOf(p indicators.Param) string {
	switch p.Kind {
	case indicators.Expression:
		return "see [rules.md](charts.md#rules)"
	case indicators.Date:
		return "a date, or unix seconds"
	case indicators.Symbol:
		return "a symbol"
	case indicators.Bool:
		return "true, false"
	case indicators.Choice:
		if len(p.Choices) > 12 {
			return strings.Join(p.Choices[:12], ", ") + ", …"
		}
		return strings.Join(p.Choices, ", ")
	}
	return strconv.FormatFloat(p.Min, 'f', -1, 64) + " to " + strconv.FormatFloat(p.Max, 'f', -1, 64)
}
