package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/mcp"
)

// generateChart defines generate_chart. It reads the market and changes nothing, but
// counts as heavy: a picture takes memory and a processor.
func (h *handlers) generateChart() tool {
	return define(mcp.Tool{
		Name:  "generate_chart",
		Title: "Chart with indicators",
		Description: "Draw a chart of a symbol with technical indicators. Returns a PNG by default. " +
			"format=summary returns the key numbers as JSON and is the cheapest way to read a market; both returns picture and numbers; " +
			"series returns every bar and indicator value as JSON. " + reading + " Without a symbol it shows synthetic sample data. " +
			"from and to choose a period, compare draws other symbols in percent, marks adds levels, zones, lines and texts of your own. " +
			"{\"name\":\"rule\",\"when\":\"close > bbands(20,2).upper\"} shades the bars on which a condition of yours is true, {\"name\":\"formula\",\"expr\":\"close / close:ETHUSDT; sma(close / close:ETHUSDT, 50)\"} draws lines of yours in a panel, with \"overlay\":true over the price. " +
			"Call list_indicators for indicator names and parameters.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		MaxResult:   maxSeriesBytes,
		Cost:        mcp.Heavy,
	}, reports, h.draw)
}

// What models read about the replies of several tools: members and labels that read like
// something else.
const (
	reading = "settled:false marks values that more history could change; weight in hbars_top is a width in the chart, 0.3 for the heaviest level."
	leaving = "oversold, overbought, rsi_oversold and rsi_overbought say that the line leaves that zone, enters_oversold and enters_overbought that it comes in"
)

// draw fetches, computes and renders a chart. Picture, summary and series are
// made from the same view, so they never disagree. The first content is what was asked
// for; notes for the caller follow it.
func (h *handlers) draw(ctx context.Context, c mcp.Call, r *chartRequest) (*mcp.Result, error) {
	var outdated string
	if h.Outdated != nil && h.showsAccount(c.Caller, r) {
		c.Aside(func() { outdated = h.Outdated(ctx) })
	}
	v, err := h.chartView(ctx, c.Caller, r)
	if err != nil {
		return nil, err
	}
	result := &mcp.Result{}
	if r.format == "png" || r.format == "both" {
		png, missing, err := h.paint(ctx, v, r.options)
		if err != nil {
			return nil, err
		}
		result.Content = append(result.Content, mcp.Content{Data: png, MIME: "image/png"})
		r.noteUndrawable()
		r.noteMissing(missing)
	}
	switch r.format {
	case "summary", "both":
		result.Content = append(result.Content, bounded(v, chart.AppendSummary)...)
	case "series":
		// A summary can be shortened, a series cannot: a program that computes with it needs
		// every bar, and so does the page that draws the chart again.
		text := chart.AppendSeries(nil, v)
		if len(text) > maxSeriesBytes {
			return nil, fixable(fmt.Errorf("the series payload has %d bytes, more than the %d that clients take: ask for fewer bars or indicators, or use format=summary", len(text), maxSeriesBytes))
		}
		result.Content = append(result.Content, mcp.Content{Text: text})
	}
	if outdated != "" {
		r.notes = append(r.notes, outdated)
	}
	for _, note := range r.notes {
		result.Content = append(result.Content, mcp.Content{Text: []byte(note)})
	}
	return result, nil
}

// noteUndrawable adds a note about characters in the texts of marks that the picture
// cannot draw and shows as question marks: the first ten, and how many more there are.
func (r *chartRequest) noteUndrawable() {
	var texts strings.Builder
	for _, m := range r.marks {
		texts.WriteString(m.Text)
	}
	missing := []rune(chart.Undrawable(texts.String()))
	if len(missing) == 0 {
		return
	}
	var names []string
	for _, c := range missing {
		names = append(names, fmt.Sprintf("%q (%U)", c, c))
	}
	r.notes = append(r.notes, "The picture has question marks for characters that it cannot draw: "+atMostTen(names)+
		". Latin letters up to U+017F, Greek from U+0384 to U+03CE and Cyrillic up to U+045F can be drawn.")
}

// noteMissing adds notes about the panels, marks, lines and names that the picture does not show.
func (r *chartRequest) noteMissing(missing chart.Undrawn) {
	if len(missing.Panels) > 0 {
		help := "No allowed height has room for all panels at this width: ask for fewer at once."
		if missing.Height > 0 {
			help = fmt.Sprintf("height=%d has room for all of them.", missing.Height)
		}
		r.notes = append(r.notes, fmt.Sprintf("The picture is not high enough for all panels and leaves out %s. %s", strings.Join(missing.Panels, ", "), help))
	}
	if len(missing.Outside) > 0 {
		r.notes = append(r.notes, "Outside the times or prices shown, and not drawn: "+r.markNames(missing.Outside)+
			". from, to and bars choose the times.")
	}
	if len(missing.Unnamed) > 0 {
		r.notes = append(r.notes, "The picture has no room for the texts of "+r.markNames(missing.Unnamed)+".")
	}
	if len(missing.Lines) > 0 {
		r.notes = append(r.notes, "Outside the prices or values shown, and not drawn: "+atMostTen(missing.Lines)+". More bars may show them, and format=summary has their values.")
	}
	if missing.Filled {
		r.notes = append(r.notes, "The bodies are too narrow to be hollow, and all are filled: fewer bars or a larger width shows which closed above their open.")
	}
	if len(missing.Legend) > 0 {
		r.notes = append(r.notes, "The legend has no room for all names and values of "+strings.Join(missing.Legend, ", ")+": a larger width has more, and format=summary has the values.")
	}
}

// markNames names the marks at these places, the first ten, and counts the others.
func (r *chartRequest) markNames(places []int) string {
	var names []string
	for _, i := range places {
		names = append(names, fmt.Sprintf("marks[%d] (%s)", i, chart.MarkWords()[r.marks[i].Kind]))
	}
	return atMostTen(names)
}

// chartView gathers all that a chart shows: the bars with their indicators, the symbols
// to compare, marks, and what the caller has in the symbol. It adds to the notes of r.
func (h *handlers) chartView(ctx context.Context, caller mcp.Caller, r *chartRequest) (*chart.View, error) {
	// The symbols to compare are checked first, so that a mistake there costs no request to
	// the source.
	others, err := r.others(h.Source)
	if err != nil {
		return nil, fixable(err)
	}
	v, notes, err := h.span(ctx, r.question)
	if err != nil {
		return nil, err
	}
	r.notes = append(r.notes, notes...)
	if v.Compare, err = h.compared(ctx, v.Series, others); err != nil {
		return nil, err
	}
	v.Marks, v.Account = r.marks, h.account(caller, r, v)
	if r.format == "series" {
		v.Request = r.repeated(v)
	}
	return v, nil
}

// bounded writes v with as many signals and divergences as fit into a reply, the newest of
// each indicator. If some are left out, a second text says how many and how to get them.
func bounded(v *chart.View, write func(dst []byte, v *chart.View) []byte) []mcp.Content {
	text := write(make([]byte, 0, 8<<10), v) // enough room for most
	if len(text) <= replySize {
		return []mcp.Content{{Text: text}}
	}
	// If it does not fit with one of each indicator, it stays too long.
	short := shortened(v, 0, mostFitting(replySize/leastSignal, func(most int) bool {
		return len(write(nil, shortened(v, 0, most))) <= replySize
	}))
	content := []mcp.Content{{Text: write(nil, short)}}
	if left, newest := leftOut(v, short); left > 0 {
		more, tested := "", ""
		if len(v.Panels) > 1 {
			more = "fewer indicators in a call leave room for more of each, and "
		}
		if slices.ContainsFunc(v.Panels, func(p chart.Panel) bool { return strings.HasPrefix(p.Key, "backtest") }) {
			tested = "; a backtest there is another one, of the bars it shows alone"
		}
		content = append(content, mcp.Content{Text: fmt.Appendf(nil, "%d older signals and divergences were left out: %sgenerate_chart with format=summary and to=%d returns the bars up to the newest of these%s.",
			left, more, v.Series.Time[newest], tested)})
	}
	return content
}

// leastSignal is less than the bytes that a signal or a divergence takes in a reply.
const leastSignal = 40

// mostFitting returns the largest number up to limit for which fits returns true, and 1 if
// there is none. Of two numbers the smaller must fit if the larger does.
func mostFitting(limit int, fits func(most int) bool) int {
	return 1 + sort.Search(limit-1, func(i int) bool { return !fits(i + 2) })
}

// shortened returns v with only the signals and divergences of the bars from first on, at
// most most of each indicator, the newest. Panel.Older counts the signals that were left
// out because of most; those before first do not count there, since nobody asked for them.
func shortened(v *chart.View, first, most int) *chart.View {
	short := &chart.View{Series: v.Series, Compare: v.Compare}
	// Panels and results are copied before they are changed, since the caller still uses v.
	for _, p := range v.Panels {
		r := *p.Result
		wanted := tail(r.Signals, len(r.Signals), func(s indicators.Signal) bool { return s.Bar >= first })
		r.Signals = wanted[max(0, len(wanted)-most):]
		p.Older = len(wanted) - len(r.Signals)
		r.DivLines = tail(r.DivLines, most, func(d indicators.DivLine) bool { return d.X2 >= first })
		p.Result = &r
		short.Panels = append(short.Panels, p)
	}
	return short
}

// leftOut returns how many signals and divergences of v are not in short, which has the
// newest of them, and the bar of the newest that is not.
func leftOut(v, short *chart.View) (left, newest int) {
	for i, p := range v.Panels {
		all, kept := p.Result, short.Panels[i].Result
		signals, lines := all.Signals[:len(all.Signals)-len(kept.Signals)], all.DivLines[:len(all.DivLines)-len(kept.DivLines)]
		left += len(signals) + len(lines)
		for _, s := range signals {
			newest = max(newest, s.Bar)
		}
		for _, d := range lines {
			newest = max(newest, min(d.X2, v.Series.Len()-1))
		}
	}
	return left, newest
}

// tail returns the last items for which keep returns true, at most most of them.
func tail[T any](items []T, most int, keep func(T) bool) []T {
	var kept []T
	for _, item := range items {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	return kept[max(0, len(kept)-most):]
}

// maxSeriesBytes is how long a series may be: the most that Claude Code lets a tool
// announce. Claude Desktop, which refuses results above 1 MiB, takes it too, although every
// quote of the series takes two bytes in the result, where it is escaped.
const maxSeriesBytes = 500_000

// paint renders a picture as a PNG, and returns what is missing in it. Only a few are
// painted at once, because of their memory, so paint may have to wait. When ctx ends, it stops waiting or painting and
// returns an error.
func (h *handlers) paint(ctx context.Context, v *chart.View, o chart.Options) ([]byte, chart.Undrawn, error) {
	if err := h.Renders.Acquire(ctx, 1); err != nil {
		return nil, chart.Undrawn{}, err
	}
	defer h.Renders.Release(1)
	// The time is measured without the wait.
	start := time.Now()
	png, missing, err := chart.Draw(ctx, v, o)
	if h.Painted != nil {
		h.Painted(time.Since(start))
	}
	if errors.Is(err, chart.ErrTooLarge) {
		return nil, missing, fixable(fmt.Errorf("%w: ask for a smaller width and height, or use format=summary", err))
	}
	return png, missing, err
}
