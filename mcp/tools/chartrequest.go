package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/limit"
	"wick/market"
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
	theme, kind, scale, signals string
	zone, fromText, toText      string
	rawMarks                    json.RawMessage
	volume                      bool
	sent                        sent
}

// args declares the arguments of generate_chart: those of the specification, and then
// the options.
func (r *chartRequest) args() []arg {
	// The specification names both spellings of these two.
	symbol := symbol(&r.symbol, "Symbol such as BTCUSDT, AAPL or EURUSD=X. Omitted: synthetic sample data.")
	interval := interval(&r.interval, "Length of a bar.", market.Hour4)
	symbol.listed, interval.listed = true, true
	return append([]arg{
		symbol, interval,
		requests(&r.indicators, `Indicators to draw, at most 16: names from list_indicators, or objects with a name and parameters such as {"name":"rsi","length":21}. `+
			"[] draws none.", defaultIndicators),
		whole(&r.bars, "bars", "Bars shown, the newest ones. With from it is only the most that is shown, 5000 unless given.", defaultBars, 1, maxBars),
		whole(&r.options.Width, "width", "Width of the picture in pixels.", defaultWidth, chart.MinWidth, chart.MaxWidth),
		whole(&r.options.Height, "height", "Height of the picture in pixels.", defaultHeight, chart.MinHeight, chart.MaxHeight),
		word(&r.format, "format", "What to return: a picture, the key numbers as JSON, both, or every bar and value as JSON.", "png", "png", "summary", "both", "series"),
		word(&r.theme, "theme", "Colours of the picture.", "dark", chart.Themes()...),
	}, r.optionArgs()...)
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

// optionArgs declares the arguments of generate_chart that the specification does not
// have. Many have aliases, because models try those names.
func (r *chartRequest) optionArgs() []arg {
	volume := boolean(&r.volume, "volume", "Draw the volume below the price.").also("show_volume")
	volume.def = "true"
	return []arg{
		text(&r.fromText, "from", "First bar shown: a date (2026-01-31), a time (2026-01-31 14:30, in timezone) or unix seconds. Without to, up to now.", 40).also("since", "start"),
		text(&r.toText, "to", "Last bar shown, inclusive; a date means to its end. Without from, bars decides where the chart begins.", 40).also("until", "end"),
		word(&r.kind, "type", "How the price is drawn.", "candles", chart.Types()...).also("chart_type"),
		scale(&r.scale),
		words(&r.compare, "compare", "Other symbols drawn as lines over the price, at most 5; all in percent since the first bar, whatever scale says.", chart.MaxCompare).also("compare_to", "compare_with"),
		marks(&r.rawMarks),
		word(&r.signals, "signals", "Signals of indicators: marks with the newest named, each named that has room, marks alone, or none.", "auto", chart.SignalWords()...),
		volume,
		text(&r.zone, "timezone", "Where times are shown and read, such as America/New_York or +05:30. Default UTC.", 64).also("tz"),
		between(&r.options.PixelRatio, "pixel_ratio", "Pixels per unit of width and height, for sharp screens; at most 4096 pixels a side in all.", 1, 1, chart.MaxPixelRatio).also("device_pixel_ratio"),
		show(&r.show),
	}
}

// scale declares the scale of the price. Models also send log_scale with true or false.
func scale(p *string) arg {
	a := word(p, "scale", "Price axis: linear, log, or percent since the first bar.", "linear", chart.Scales()...).also("log_scale")
	a.set = single(p, "scale", func(s string) (string, error) {
		switch s {
		case "true":
			return "log", nil
		case "false":
			return "linear", nil
		}
		return oneOf("scale", s, chart.Scales())
	})
	return a
}

// marks declares a list of drawings. It is kept as JSON, because times can be read only
// when the time zone is known. Here only the number of marks is checked; check reads
// them.
func marks(p *json.RawMessage) arg {
	schema := func() string {
		return fmt.Sprintf(`"type":"array","maxItems":%d,"items":{"type":"object","properties":{"type":{"type":"string","enum":%s},"price":{"type":"number"},"price2":{"type":"number"},`+
			`"time":{"type":"string"},"time2":{"type":"string"},"text":{"type":"string","maxLength":%d},"color":{"type":"string","enum":%s}},"required":["type","price"]}`,
			chart.MaxMarks, encode(chart.MarkWords()), chart.MaxMarkText, encode(chart.MarkTones()))
	}
	doc := `Drawings of your own: a level at price, a zone from price to price2 (between time and time2, if given), a line from time, price to time2, price2, a text at time, price. ` +
		`Such as [{"type":"level","price":65000,"text":"resistance","color":"down"}].`
	return arg{name: "marks", doc: doc, schema: schema, aliases: []string{"annotations", "drawings"}, empty: true, set: func(v json.RawMessage) error {
		items, err := readList("marks", v)
		if err != nil {
			return err
		}
		if len(items) > chart.MaxMarks {
			return fmt.Errorf("marks has %d items: at most %d a call", len(items), chart.MaxMarks)
		}
		*p = json.RawMessage(encode(items))
		return nil
	}}
}

// show declares a list of parts of the account. Unlike in other lists, each word is
// checked, and the error names every wrong one.
func show(p *[]string) arg {
	doc := "What to draw of your own paper trading in this symbol. Default: all of it, where trading is on and your login covers it. [] draws none."
	a := words(p, "show", doc, len(accountParts), accountParts...)
	a.set = func(v json.RawMessage) error {
		items, err := readList("show", v)
		if len(items) > len(accountParts) {
			return fmt.Errorf("show has %d items: at most %d, of %s", len(items), len(accountParts), strings.Join(accountParts, ", "))
		}
		var parts []string
		for _, item := range items {
			s, wrong := readText("show", item)
			if wrong != nil {
				return fmt.Errorf("show must be an array of %s, not %s", strings.Join(accountParts, ", "), limit.Clip(string(v)))
			}
			part, wrong := oneOf("show", s, accountParts)
			err = errors.Join(err, wrong)
			parts = append(parts, part)
		}
		if err == nil {
			*p = parts
		}
		return err
	}
	return a
}

// check reads the arguments that depend on each other, and checks everything that can be
// checked before bars are fetched. The error names all mistakes.
func (r *chartRequest) check(sent sent) (err error) {
	r.sent = sent
	// All parsers run, even after an error.
	collect := func(wrong error) { err = errors.Join(err, wrong) }
	// The words were checked when they were read, and are in the order of their options.
	// The first is the default.
	place := func(words []string, word string) int { return max(0, slices.Index(words, word)) }
	r.options.Theme = chart.Theme(place(chart.Themes(), r.theme))
	r.options.Type = chart.Type(place(chart.Types(), r.kind))
	r.options.Scale = chart.Scale(place(chart.Scales(), r.scale))
	r.options.Signals = chart.Signals(place(chart.SignalWords(), r.signals))
	var wrong error
	r.options.Zone, wrong = chart.ParseZone(r.zone)
	collect(wrong)
	r.options.HideVolume = !r.volume
	collect(r.options.Check())

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
		if r.from, err = chart.ParseTime(r.fromText, zone, false); err != nil {
			return fmt.Errorf("from: %w", err)
		}
		// Without the argument bars, all of the period is shown, up to maxBars.
		if r.sent["bars"] == nil {
			r.bars = maxBars
		}
	}
	if r.toText != "" {
		if r.to, err = chart.ParseTime(r.toText, zone, true); err != nil {
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

// repeatedRequest holds the arguments with which a page repeats a call of generate_chart,
// in the names and spellings of the schema. Defaults are left out, times are in unix
// seconds, and the sizes of a picture are not part of it.
type repeatedRequest struct {
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
}

// repeated returns the arguments with which a page can ask for more of the chart v, the
// answer to r. The page gets them with the series. It returns nil if all are defaults.
func (r *chartRequest) repeated(v *chart.View) json.RawMessage {
	unless := func(word, usual string) string {
		if word == usual {
			return ""
		}
		return word
	}
	q := repeatedRequest{
		Symbol: r.symbol, From: r.from, To: r.to, Compare: r.compare, Timezone: r.zone, Marks: r.marks,
		Interval: market.Interval(unless(string(r.interval), string(market.Hour4))),
		Type:     unless(r.kind, chart.Types()[0]), Scale: unless(r.scale, chart.Scales()[0]), Signals: unless(r.signals, chart.SignalWords()[0]),
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
		q.Theme = r.theme
	}
	if parts := append([]string{}, r.parts(v)...); v.Account != nil && len(parts) < len(accountParts) {
		q.Show = &parts
	}
	if text := encode(q); text != "{}" {
		return json.RawMessage(text)
	}
	return nil
}
