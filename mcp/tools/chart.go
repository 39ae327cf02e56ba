package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"wick/chart"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// Bounds and defaults of generate_chart.
const (
	defaultBars   = 200
	maxBars       = 5000
	defaultWidth  = 1440 // reaches every vision model without being scaled down
	defaultHeight = 768
	maxIndicators = 16
	maxWarmup     = 10000 // bars fetched beyond those shown: ten pages of the busiest service
)

// sampleSymbol is the name of the bars that a chart without a symbol shows.
const sampleSymbol = "SAMPLE"

var indicatorsSchema = property{"indicators", `{"type":"array","maxItems":16,"default":["ema_stack","rsi","macd"],"description":` +
	encode(`Indicators to draw, at most 16: names from list_indicators, or objects with a name and parameters such as {"name":"rsi","length":21}.`) +
	`,"items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}]}}`}

var intervalWords = func() (words []string) {
	for _, iv := range market.Intervals() {
		words = append(words, string(iv))
	}
	return words
}()

func (h *house) generateChart() mcp.Tool {
	return mcp.Tool{
		Name:  "generate_chart",
		Title: "Chart with indicators",
		Description: "Draw a candlestick chart of a symbol with technical indicators. Returns a PNG by default. " +
			"format=summary returns the key numbers as JSON and is the cheapest way to read a market; both returns picture and numbers; " +
			"series returns every bar and indicator value as JSON. Without a symbol it shows synthetic sample data. " +
			"Call list_indicators for indicator names and parameters.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		MaxResult:   longResult,
		Schema: object(nil,
			text("symbol", "Symbol such as BTCUSDT, AAPL or EURUSD=X. Omitted: synthetic sample data.", ""),
			text("ticker", "Same as symbol.", ""),
			oneOf("interval", "Length of a bar.", "4h", intervalWords...),
			oneOf("timeframe", "Same as interval.", "", intervalWords...),
			indicatorsSchema,
			whole("bars", "Bars shown, the newest ones.", defaultBars, 1, maxBars),
			whole("width", "Width of the picture in pixels.", defaultWidth, chart.MinWidth, chart.MaxWidth),
			whole("height", "Height of the picture in pixels.", defaultHeight, chart.MinHeight, chart.MaxHeight),
			oneOf("format", "What to return.", "png", "png", "summary", "both", "series"),
			oneOf("theme", "Colours of the picture.", "dark", chart.Themes()...),
		),
		Cost: mcp.Heavy,
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			r, err := parseChart(c.Arguments)
			if err != nil {
				return nil, err
			}
			return h.draw(ctx, r)
		},
	}
}

// ChartRequest is a chart to draw, with every argument checked.
type ChartRequest struct {
	Symbol     string // empty for the sample
	Interval   market.Interval
	Indicators []indicators.Request
	Bars       int
	Format     string // png, summary, both or series
	Options    chart.Options
}

// parseChart checks all arguments of a chart before any work is done.
func parseChart(raw json.RawMessage) (r ChartRequest, err error) {
	a, err := parseArgs(raw)
	if err != nil {
		return r, err
	}
	if r.Symbol, err = a.symbol(); err != nil {
		return r, err
	}
	if r.Interval, err = a.interval(market.Hour4); err != nil {
		return r, err
	}
	if r.Indicators, err = a.indicators(`["ema_stack","rsi","macd"]`); err != nil {
		return r, err
	}
	if r.Bars, err = a.int("bars", defaultBars, 1, maxBars); err != nil {
		return r, err
	}
	if r.Options.Width, err = a.int("width", defaultWidth, chart.MinWidth, chart.MaxWidth); err != nil {
		return r, err
	}
	if r.Options.Height, err = a.int("height", defaultHeight, chart.MinHeight, chart.MaxHeight); err != nil {
		return r, err
	}
	if r.Format, err = a.choice("format", "png", "png", "summary", "both", "series"); err != nil {
		return r, err
	}
	theme, err := a.choice("theme", "dark", chart.Themes()...)
	if err != nil {
		return r, err
	}
	r.Options.Theme, err = chart.ParseTheme(theme)
	return r, err
}

// symbol returns the symbol in its one spelling, "" when none was given.
func (a args) symbol() (string, error) {
	s, err := a.text("symbol", "ticker")
	if err != nil || s == "" {
		return "", err
	}
	return market.ParseSymbol(s)
}

func (a args) interval(def market.Interval) (market.Interval, error) {
	s, err := a.text("interval", "timeframe")
	if err != nil || s == "" {
		return def, err
	}
	return market.ParseInterval(s)
}

// indicators returns the requests for indicators; def is the JSON array that
// stands for none given. An empty array asks for a chart without any.
func (a args) indicators(def string) ([]indicators.Request, error) {
	if _, given := a.raw("indicators", "panels"); !given {
		a = args{"indicators": json.RawMessage(def)}
	}
	items, err := a.list("indicators", "panels")
	if err != nil {
		return nil, err
	}
	if len(items) > maxIndicators {
		return nil, fmt.Errorf("%d indicators are too many: at most %d a call", len(items), maxIndicators)
	}
	return indicators.Parse(items)
}

// draw fetches, computes and renders a chart.
func (h *house) draw(ctx context.Context, r ChartRequest) (*mcp.Result, error) {
	v, err := h.view(ctx, r)
	if err != nil {
		return nil, err
	}
	result := &mcp.Result{}
	if r.Format == "png" || r.Format == "both" {
		png, err := h.paint(ctx, v, r.Options)
		if err != nil {
			return nil, err
		}
		result.Content = append(result.Content, mcp.Content{Data: png, MIME: "image/png"})
	}
	switch r.Format {
	case "summary", "both":
		result.Content = append(result.Content, mcp.Content{Text: chart.AppendSummary(nil, v)})
	case "series":
		text := chart.AppendSeries(nil, v)
		if len(text) > maxSeriesBytes {
			return nil, fmt.Errorf("the series payload has %d bytes, more than the %d that clients take: ask for fewer bars or indicators, or use format=summary", len(text), maxSeriesBytes)
		}
		result.Content = append(result.Content, mcp.Content{Text: text})
	}
	return result, nil
}

// maxSeriesBytes keeps a series within what one result may hold: Claude
// Desktop refuses results above 1 MiB, and quotes double where text is escaped.
const maxSeriesBytes = 700_000

// longResult is the most that Claude Code lets a tool announce. The whole
// catalogue and a long series need it.
const longResult = 500_000

// paint renders a picture, waiting for its turn: pictures take memory.
func (h *house) paint(ctx context.Context, v *chart.View, o chart.Options) ([]byte, error) {
	if err := h.renders.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer h.renders.Release(1)
	start := time.Now()
	png, err := chart.AppendPNG(ctx, nil, v, o)
	if h.Painted != nil {
		h.Painted(time.Since(start))
	}
	if errors.Is(err, chart.ErrTooLarge) {
		return nil, fmt.Errorf("%w: ask for a smaller width and height, or use format=summary", err)
	}
	return png, err
}

// view fetches the bars and computes the indicators of a chart. More bars are
// fetched than shown, so that values are warm where the chart begins.
func (h *house) view(ctx context.Context, r ChartRequest) (*chart.View, error) {
	source, symbol := h.Source, r.Symbol
	if symbol == "" {
		source, symbol = market.Sample{}, sampleSymbol
	}
	q := market.Query{Symbol: symbol, Interval: r.Interval, Limit: r.Bars}
	for _, req := range r.Indicators {
		q.Limit = max(q.Limit, r.Bars+min(req.Warmup(r.Interval), maxWarmup))
		for _, column := range req.Ind.Needs {
			if !slices.Contains(q.Extra, column) {
				q.Extra = append(q.Extra, column)
			}
		}
	}
	s, err := source.Bars(ctx, q)
	if err != nil {
		return nil, err
	}
	return compute(ctx, s, r.Indicators, r.Bars)
}

// compute runs the indicators over s and cuts everything to the newest bars.
// Each gets the bars that warm it up and no more: what it shows is then the
// same whatever else is asked for, and costs no more for being beside one that
// needs a long history.
func compute(ctx context.Context, s *market.Series, requests []indicators.Request, bars int) (*chart.View, error) {
	shown := s.Tail(bars)
	v := &chart.View{Series: shown}
	for _, req := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, column := range req.Ind.Needs {
			if s.Extra[column] == nil {
				return nil, fmt.Errorf("%s needs the column %q, which source %s does not provide for %s", req.Ind.Name, column, s.Source, s.Symbol)
			}
		}
		window := s.Tail(bars + req.Warmup(s.Interval))
		result := req.Compute(window).Tail(window.Len(), bars)
		v.Panels = append(v.Panels, chart.Panel{Key: req.Key, Result: result, Needs: func() int { return barsNeeded(req, s.Interval) }})
	}
	return v, nil
}

// barsNeeded returns how many bars an indicator takes until its first value, 0
// when that cannot be told. It is counted on sample bars, because the warm-up
// says something else: how long until a value has forgotten where it began.
func barsNeeded(req indicators.Request, iv market.Interval) int {
	q := market.Query{Symbol: sampleSymbol, Interval: iv, Limit: min(req.Warmup(iv), maxWarmup) + 1, Extra: req.Ind.Needs}
	s, err := market.Sample{}.At(q, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return 0
	}
	first := s.Len()
	count := func(values indicators.Values) {
		at := slices.IndexFunc(values, func(v float64) bool { return !math.IsNaN(v) })
		if at >= 0 {
			first = min(first, at)
		}
	}
	r := req.Compute(s)
	for _, l := range r.Lines {
		count(l.Values)
	}
	for _, h := range r.Histogram {
		count(h.Values)
	}
	if first == s.Len() {
		return 0
	}
	return first + 1
}
