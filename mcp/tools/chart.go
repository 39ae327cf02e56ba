package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/internal/limit"
	"wick/market"
	"wick/mcp"
)

// Defaults of generate_chart.
const (
	defaultBars   = 200
	defaultWidth  = 1440 // reaches every vision model without being scaled down
	defaultHeight = 768

	defaultIndicators = `["ema_stack","rsi","macd"]`
)

// chartRequest is the request of generate_chart. It is filled in three steps: the
// arguments are read, then check reads those that depend on others, and the notes are
// added while the chart is made.
type chartRequest struct {
	question
	format  string // png, summary, both or series
	options chart.Options
	marks   []chart.Mark
	compare []string
	show    []string // parts of the account
	notes   []string // what the caller should know about the answer

	// Arguments as they were read, for check.
	zone, fromText, toText string
	rawMarks               json.RawMessage
	volume                 bool
	sent                   sent
}

// args declares the arguments of generate_chart: those of the specification, and then
// the options. Many have aliases, because models try those names.
func (r *chartRequest) args() []arg {
	// The specification names both spellings of these two.
	symbol := symbol(&r.symbol, "Such as BTCUSDT, AAPL or EURUSD=X. Omitted: invented bars.")
	interval := interval(&r.interval, "Length of a bar.", market.Hour4)
	symbol.listed, interval.listed = true, true
	volume := boolean(&r.volume, "volume", "Draw the volume.").also("show_volume")
	volume.def = "true"
	scale := choice(&r.options.Scale, "scale", "Of the price; percent is since the first bar.", chart.Scales()).also("log_scale")
	read := scale.set
	scale.set = func(v json.RawMessage) error { // models also send log_scale with true or false
		switch s, _ := readText("scale", v); s {
		case "true":
			v = json.RawMessage(`"log"`)
		case "false":
			v = json.RawMessage(`"linear"`)
		}
		return read(v)
	}
	return []arg{
		symbol, interval,
		requests(&r.indicators, `Names from list_indicators, or objects such as {"name":"rsi","length":21}; [] for none.`, defaultIndicators),
		whole(&r.bars, "bars", "How many, the newest. With from: at most so many, 5000 unless given.", defaultBars, 1, maxBars),
		whole(&r.options.Width, "width", "In pixels.", defaultWidth, chart.MinWidth, chart.MaxWidth),
		whole(&r.options.Height, "height", "In pixels.", defaultHeight, chart.MinHeight, chart.MaxHeight),
		word(&r.format, "format", "A picture; the key numbers as JSON; both; or every bar and value as JSON.", "png", "png", "summary", "both", "series"),
		choice(&r.options.Theme, "theme", "Colours of the picture.", chart.Themes()),
		text(&r.fromText, "from", "First bar: a date (2026-01-31), a time in timezone (2026-01-31 14:30) or unix seconds.", 40).also("since", "start"),
		text(&r.toText, "to", "Last bar, inclusive; a date means to its end.", 40).also("until", "end"),
		choice(&r.options.Type, "type", "Of the price.", chart.Types()).also("chart_type"),
		scale,
		words(&r.compare, "compare", "Other symbols, drawn as lines, all in percent since the first bar: in the picture since its close, in change_pct since its open.", chart.MaxCompare).also("compare_to", "compare_with"),
		marks(&r.rawMarks),
		choice(&r.options.Signals, "signals", "Of indicators: marks with the newest named, all that have room named, marks alone, none.", chart.SignalWords()),
		volume,
		text(&r.zone, "timezone", "Of times, such as America/New_York or +05:30. Default UTC.", 64).also("tz"),
		between(&r.options.PixelRatio, "pixel_ratio", "For sharp screens; at most 4096 pixels a side in all.", 1, 1, chart.MaxPixelRatio).also("device_pixel_ratio"),
		words(&r.show, "show", "Of your own trading in this symbol. Default: all; [] for none.",
			len(accountParts), accountParts...),
	}
}

// others returns the symbols to compare as the source spells them, each once and without
// the chart's own, which is drawn anyway. It fetches no bars.
func (r *chartRequest) others(source market.Source) (symbols []string, err error) {
	if len(r.compare) == 0 {
		return nil, nil
	}
	if r.symbol == "" {
		return nil, errors.New("compare needs a symbol: without one the chart shows invented bars, which compare with nothing")
	}
	own, err := market.Resolve(source, r.symbol)
	if err != nil {
		return nil, err
	}
	for _, text := range r.compare {
		symbol, err := market.Resolve(source, text)
		if err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		if symbol != own && !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	return symbols, nil
}

// accountParts are the words that show accepts.
var accountParts = []string{"position", "orders", "alerts", "fills"}

// marks declares a list of drawings. It is kept as JSON, because times can be read only
// when the time zone is known. Here only the number of marks is checked; check reads
// them.
func marks(p *json.RawMessage) arg {
	schema := func() string {
		return fmt.Sprintf(`"type":"array","maxItems":%d,"items":{"type":"object","properties":{"type":{"type":"string","enum":%s},"price":{"type":"number"},"price2":{"type":"number"},`+
			`"time":{"type":"string"},"time2":{"type":"string"},"text":{"type":"string","maxLength":%d},"color":{"type":"string","enum":%s}},"required":["type","price"]}`,
			chart.MaxMarks, encode(chart.MarkWords()), chart.MaxMarkText, encode(chart.MarkTones()))
	}
	doc := `A level at price, a zone from price to price2, between time and time2 if given, a line from time, price to time2, price2, a text at time, price, ` +
		`such as [{"type":"level","price":65000,"text":"resistance"}].`
	return arg{name: "marks", doc: doc, schema: schema, aliases: []string{"annotations", "drawings"}, empty: true, set: items("marks", chart.MaxMarks, func(items []json.RawMessage) error {
		*p = json.RawMessage(encode(items))
		return nil
	})}
}

// check reads the arguments that depend on each other, and checks everything that can be
// checked before bars are fetched. The error names all mistakes.
func (r *chartRequest) check(sent sent) (err error) {
	r.sent = sent
	// All parsers run, even after an error.
	collect := func(wrong error) { err = errors.Join(err, wrong) }
	var wrong error
	r.options.Zone, wrong = market.ParseZone(r.zone)
	collect(wrong)
	r.options.HideVolume = !r.volume
	collect(r.options.Check())
	for i, part := range r.show {
		r.show[i], wrong = oneOf("show", part, accountParts)
		collect(wrong)
	}

	// Times of marks and of the period are read in the reader's zone.
	zone := r.options.Zone
	if r.interval.Seconds() >= market.Day1.Seconds() {
		zone = nil // bars of a day or longer have a date, which is the same in every zone
	}
	if len(r.rawMarks) > 0 {
		r.marks, wrong = chart.ParseMarks(r.rawMarks, zone)
		collect(wrong)
	}
	collect(r.checkPeriod(zone, time.Now()))
	// The page may draw a series as averaged candles whatever its type is.
	if r.options.Type == chart.HeikinAshi || r.format == "series" {
		r.before = indicators.HeikinAshiWarmup
	}
	return err
}

// checkPeriod reads from and to, and refuses a period that lies ahead or ends before
// it begins.
func (r *chartRequest) checkPeriod(zone *time.Location, now time.Time) (err error) {
	if r.fromText != "" {
		if r.from, err = market.ParseTime(r.fromText, zone, false); err != nil {
			return fmt.Errorf("from: %w", err)
		}
		// Without the argument bars, all of the period is shown, up to maxBars.
		if r.sent["bars"] == nil {
			r.bars = maxBars
		}
	}
	if r.toText != "" {
		if r.to, err = market.ParseTime(r.toText, zone, true); err != nil {
			return fmt.Errorf("to: %w", err)
		}
	}
	switch {
	case r.from > now.Unix():
		return fmt.Errorf("from %q is in the future", limit.Clip(r.fromText))
	case r.from != 0 && r.to != 0 && r.from > r.to:
		return fmt.Errorf("from %q is after to %q", limit.Clip(r.fromText), limit.Clip(r.toText))
	}
	return nil
}

// parts returns the parts of the account that the view v, the answer to r, shows. Without
// the argument show that is everything or, for a past period, the fills.
func (r *chartRequest) parts(v *chart.View) []string {
	switch {
	case r.sent["show"] != nil:
		return r.show
	case v.Past:
		return []string{"fills"} // the other parts are of now, not of the period
	}
	return accountParts
}

// repeated returns the arguments with which a page can ask for more of the chart v, the
// answer to r, in the names and spellings of the schema. The page gets them with the series.
// Defaults are left out, times are in unix seconds, and the sizes of a picture are not part of
// it. It returns nil if all are defaults.
func (r *chartRequest) repeated(v *chart.View) json.RawMessage {
	named := func(words []string, chosen int) string {
		if chosen == 0 { // the default
			return ""
		}
		return words[chosen]
	}
	q := struct {
		Symbol     string          `json:"symbol,omitempty"`
		Interval   market.Interval `json:"interval,omitempty"`
		Indicators json.RawMessage `json:"indicators,omitempty"`
		From       int64           `json:"from,omitempty"`
		To         int64           `json:"to,omitempty"`
		Compare    []string        `json:"compare,omitempty"`
		Type       string          `json:"type,omitempty"`
		Scale      string          `json:"scale,omitempty"`
		Signals    string          `json:"signals,omitempty"`
		Volume     *bool           `json:"volume,omitempty"`
		Timezone   string          `json:"timezone,omitempty"`
		Theme      string          `json:"theme,omitempty"` // if the client asked for one
		Marks      []chart.Mark    `json:"marks,omitempty"`
		Show       *[]string       `json:"show,omitempty"` // the parts of the account in v, if not all of them
	}{
		Symbol: r.symbol, From: r.from, To: r.to, Compare: r.compare, Timezone: r.zone, Marks: r.marks,
		Type: named(chart.Types(), int(r.options.Type)), Scale: named(chart.Scales(), int(r.options.Scale)), Signals: named(chart.SignalWords(), int(r.options.Signals)),
	}
	if r.interval != market.Hour4 {
		q.Interval = r.interval
	}
	if given := r.sent["indicators"]; given != nil {
		// The list is written again, so that all spellings of it have one form. It was read
		// before without an error.
		items, _ := readList("indicators", given)
		if list := encode(append([]json.RawMessage{}, items...)); list != defaultIndicators { // [] for none, not null
			q.Indicators = json.RawMessage(list)
		}
	}
	if !r.volume {
		q.Volume = &r.volume
	}
	if r.sent["theme"] != nil {
		q.Theme = chart.Themes()[r.options.Theme]
	}
	if parts := append([]string{}, r.parts(v)...); v.Account != nil && len(parts) < len(accountParts) {
		q.Show = &parts
	}
	if text := encode(q); text != "{}" {
		return json.RawMessage(text)
	}
	return nil
}

// generateChart defines generate_chart. It reads the market and changes nothing, but
// counts as heavy: a picture takes memory and a processor.
func (h *handlers) generateChart() tool {
	return define(mcp.Tool{
		Name:  "generate_chart",
		Title: "Chart with indicators",
		Description: "Draw a chart of a symbol with technical indicators, or with format=summary read its numbers. " +
			"Among the indicators, {\"name\":\"rule\",\"when\":\"close > bbands(20,2).upper\"} shades the bars on which a condition of yours is true, {\"name\":\"formula\",\"expr\":\"close / close:ETHUSDT; sma(close / close:ETHUSDT, 50)\"} draws lines of yours in a panel, with \"overlay\":true over the price. " +
			reading,
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		MaxResult:   maxSeriesBytes,
		Cost:        mcp.Heavy,
	}, reports, (*chartRequest).args, (*chartRequest).check, h.draw)
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
	shows := len(r.show) > 0 || r.sent["show"] == nil // something of the account, which a summary does not
	if h.Outdated != nil && r.format != "summary" && h.mayRead(ctx, c.Caller) && r.symbol != "" && shows {
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
		r.notes = append(r.notes, r.notesOf(missing)...)
	}
	switch r.format {
	case "summary", "both":
		size := summarySize
		if r.sent["bars"] != nil || r.from != 0 || r.to != 0 {
			size = replySize
		}
		result.Content = append(result.Content, bounded(chart.Summarize(v), v.Series, size)...)
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

// notesOf returns notes about what a picture does not show: panels, marks and their texts.
func (r *chartRequest) notesOf(missing chart.Undrawn) (notes []string) {
	add := func(there bool, note string) {
		if there {
			notes = append(notes, note)
		}
	}
	marks := func(places []int) string {
		var names []string
		for _, i := range places {
			names = append(names, fmt.Sprintf("marks[%d] (%s)", i, chart.MarkWords()[r.marks[i].Kind]))
		}
		return atMostTen(names)
	}
	add(len(missing.Panels) > 0, "The picture is not high enough for all panels and leaves out "+strings.Join(missing.Panels, ", ")+": ask for a larger height, or for fewer at once.")
	add(len(missing.Outside) > 0, "Outside the times or prices shown, and not drawn: "+marks(missing.Outside)+". from, to and bars choose the times.")
	add(len(missing.Unnamed) > 0, "The picture has no room for the texts of "+marks(missing.Unnamed)+".")
	return notes
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
	v.Marks = r.marks
	if v.Account, err = h.account(ctx, caller, r, v); err != nil { // the bars are none the worse for it
		v.Account = nil
		r.notes = append(r.notes, "Nothing of the account is drawn: "+err.Error())
	}
	if r.format == "series" {
		v.Request = r.repeated(v)
	}
	return v, nil
}

// A summary of as many bars as usual has about so many characters, unless that leaves fewer than so many
// signals of an indicator: a model reads it first, and asks for what it misses.
const (
	summarySize    = 4_400
	summarySignals = 5
)

// bounded returns a summary with as many signals and divergences as fit into so many characters, the
// newest of each indicator. If a whole reply does not hold them all, a second text says how to get them.
func bounded(summary *chart.Summary, s *market.Series, size int) []mcp.Content {
	most := summary.Fitting(size)
	if most < summarySignals && size < replySize {
		most = min(summarySignals, summary.Fitting(replySize))
	}
	text, left, newest := summary.Newest(nil, most)
	content := []mcp.Content{{Text: text}}
	if left > 0 && size == replySize {
		content = append(content, mcp.Content{Text: fmt.Appendf(nil, "%d older signals and divergences were left out: fewer indicators in a call leave room for more of each, and generate_chart with format=summary and to=%d returns the bars up to the newest of these.",
			left, s.Time[min(newest, s.Len()-1)])})
	}
	return content
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
