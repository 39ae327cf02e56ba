package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"

	"wick/chart"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
)

// scene is a picture of the gallery: what a newcomer may want to see, and the
// arguments of generate_chart that draw it.
type scene struct {
	name, title, text string
	arguments         string

	// account returns an account for the scene that shows trading. It is invented: with
	// an engine the picture would depend on the time of the day.
	account func(s *market.Series) *chart.Account
}

// size is the size of a scene whose arguments do not name another: smaller than the
// default, so that the page loads quickly.
const size = `"width":960,"height":540`

var scenes = []scene{
	{name: "first", title: "A first look", text: "Candles, four averages, RSI and MACD: what a call with a symbol alone draws.",
		arguments: `{"symbol":"BTCUSDT"}`},
	{name: "plain", title: "Nothing but the price", text: "`[]` draws no indicators.",
		arguments: `{"symbol":"BTCUSDT","indicators":[],"bars":120}`},
	{name: "line", title: "A quiet line", text: "For a report: one line, no volume, light colours.",
		arguments: `{"symbol":"AAPL","interval":"1d","type":"line","volume":false,"indicators":[],"theme":"light"}`},
	{name: "area", title: "The change as an area", text: "The axis counts percent since the first bar.",
		arguments: `{"symbol":"AAPL","interval":"1d","type":"area","scale":"percent","volume":false,"indicators":[]}`},
	{name: "bars", title: "Bars of open, high, low and close", text: "With the averages of 50 and 200 days, as daily charts are often read.",
		arguments: `{"symbol":"AAPL","interval":"1d","type":"bars","indicators":[{"name":"sma","length":50},{"name":"sma","length":200}]}`},
	{name: "hollow", title: "Hollow candles", text: "Hollow where the close is above the open, coloured by the close before.",
		arguments: `{"symbol":"ETHUSDT","interval":"1d","type":"hollow","bars":90,"indicators":["ema"]}`},
	{name: "heikin-ashi", title: "Heikin-Ashi with Supertrend", text: "Averaged candles make a trend easier to see; the header keeps the real prices.",
		arguments: `{"symbol":"ETHUSDT","type":"heikin_ashi","bars":120,"indicators":["supertrend","adx"]}`},
	{name: "log", title: "Years on a logarithmic scale", text: "Equal distances are equal changes in percent.",
		arguments: `{"symbol":"BTCUSDT","interval":"1wk","scale":"log","bars":300,"indicators":[{"name":"sma","length":50}]}`},
	{name: "compare", title: "Who did better?", text: "Up to five other symbols, in percent since the first bar.",
		arguments: `{"symbol":"BTCUSDT","interval":"1d","type":"line","compare":["ETHUSDT","SOLUSDT","MSFT"],"indicators":[],"volume":false,"bars":180}`},
	{name: "period", title: "One quarter", text: "From a date to a date, both included.",
		arguments: `{"symbol":"AAPL","interval":"1d","from":"2025-10-01","to":"2025-12-31","indicators":["bbands","rsi"]}`},
	{name: "session", title: "In New York's time", text: "Times in a zone of your choice. With the average price by volume and its bands.",
		arguments: `{"symbol":"AAPL","interval":"15m","timezone":"America/New_York","bars":157,"indicators":["vwap_bands"]}`},
	{name: "bollinger", title: "Bollinger bands and what they measure", text: "The bands over the price, their width and the place of the price within them below.",
		arguments: `{"symbol":"ETHUSDT","indicators":["bbands","bb_bandwidth","bb_percent_b"]}`},
	{name: "ichimoku", title: "Ichimoku", text: "The cloud goes on where it is known already.",
		arguments: `{"symbol":"ETHUSDT","interval":"1d","indicators":["ichimoku"],"bars":150}`},
	{name: "profile", title: "Where the volume was", text: "The volume at each price of the bars shown.",
		arguments: `{"symbol":"BTCUSDT","indicators":["volume_profile"],"bars":150}`},
	{name: "pivots", title: "Pivot points", text: "Support and resistance of each period, named where there is room.",
		arguments: `{"symbol":"BTCUSDT","interval":"1h","indicators":["pivot"],"bars":400}`},
	{name: "fibonacci", title: "Fibonacci retracement", text: "Levels between the highest and the lowest bar, in percent.",
		arguments: `{"symbol":"ETHUSDT","indicators":["fibonacci_retracement"],"bars":150}`},
	{name: "signals", title: "Every signal by name", text: "By default the newest are named; `labels` names each that has room next to its mark.",
		arguments: `{"symbol":"BTCUSDT","indicators":["macd"],"signals":"labels","bars":100}`},
	{name: "momentum", title: "Momentum, five ways", text: "Panels share the height; sixteen indicators are the most. Signals are off.",
		arguments: `{"symbol":"ETHUSDT","indicators":["rsi","stoch","macd","cci","mfi"],"signals":"off","height":900}`},
	{name: "flow", title: "Money flow", text: "Volume added up by the direction of each bar, two ways.",
		arguments: `{"symbol":"AAPL","interval":"1d","indicators":["obv","cmf"],"bars":150}`},
	{name: "derivatives", title: "Funding and open interest", text: "Columns beside the prices, invented here, or of futures at Binance or in a CSV file; a source without them refuses.",
		arguments: `{"symbol":"BTCUSDT","indicators":["funding","oi"],"bars":150}`},
	{name: "levels", title: "Levels and zones of your own", text: "What was said in a conversation, drawn: at most 50 marks, coloured by what they mean.",
		arguments: `{"symbol":"BTCUSDT","indicators":[],"bars":120,"marks":[{"type":"zone","price":55800,"price2":56700,"text":"demand","color":"up"},{"type":"level","price":62900,"text":"resistance","color":"down"}]}`},
	{name: "trendline", title: "A line and a remark", text: "Lines and texts stand at a time and a price.",
		arguments: `{"symbol":"AAPL","interval":"1d","indicators":[],"bars":120,"marks":[{"type":"line","time":"2026-01-30","price":239.5,"time2":"2026-03-12","price2":203,"text":"falling highs","color":"down"},{"type":"text","time":"2025-12-20","price":163,"text":"a low that held"}]}`},
	{name: "account", title: "What is mine", text: "Under `--trade`: the position with its profit, open orders, waiting alerts and fills. It is the default for a login that may trade; " +
		"the account in this picture is made up.",
		arguments: `{"symbol":"BTCUSDT","bars":120,"indicators":["rsi"],"show":["position","orders","alerts","fills"]}`, account: madeUp},
	{name: "phone", title: "For a phone, for everyone", text: "An upright picture with two pixels per unit, in colours that the colour-blind can tell apart.",
		arguments: `{"symbol":"AAPL","bars":60,"indicators":["bbands","rsi"],"theme":"colorblind","width":375,"height":480,"pixel_ratio":2}`},
}

// frozen is the sample source at one instant.
type frozen struct{}

// Bars always returns the same bars, more than any scene needs. How many are requested for
// a period depends on the current day, and the pictures must not depend on that.
func (frozen) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	q.Limit = 6000
	return market.Sample{}.At(q, instant)
}

// gallery adds the page and its pictures to files.
func gallery(files map[string][]byte) error {
	files["gallery.md"] = galleryPage()
	for _, s := range scenes {
		img, err := s.draw()
		if err == nil {
			files[s.file()], err = squeeze(img)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (s scene) file() string { return "gallery/" + s.name + ".png" }

// draw draws a scene through the tool that clients call.
func (s scene) draw() (*image.Paletted, error) {
	arguments := s.arguments
	if s.account != nil {
		return s.drawAccount()
	}
	var own struct{ Width, Height int }
	if err := json.Unmarshal([]byte(arguments), &own); err != nil {
		return nil, err
	}
	if own.Width == 0 && own.Height == 0 {
		arguments = "{" + size + "," + arguments[1:]
	} else if own.Width == 0 {
		arguments = `{"width":960,` + arguments[1:]
	}
	result, err := tools.Chart(tools.Deps{Source: frozen{}}).Handle(context.Background(), mcp.Call{Arguments: []byte(arguments)})
	if err != nil {
		return nil, err
	}
	if len(result.Content) != 1 {
		return nil, fmt.Errorf("the tool says %q", result.Content[1].Text)
	}
	return decode(result.Content[0].Data)
}

// drawAccount draws the scene with an account, which the tool takes from an
// engine: the bars and the indicator are those of its arguments.
func (s scene) drawAccount() (*image.Paletted, error) {
	v, err := sampleView("BTCUSDT", []string{"rsi"}, 120)
	if err != nil {
		return nil, err
	}
	v.Account = s.account(v.Series)
	return paint(v, chart.Options{Width: 960, Height: 540})
}

// madeUp returns an account that has sold twice and bought a part back.
func madeUp(s *market.Series) *chart.Account {
	n := s.Len()
	fill := func(ago int, buy bool, quantity float64) chart.Fill {
		return chart.Fill{Buy: buy, Time: s.Time[n-ago] + 60, Price: s.Open[n-ago], Quantity: quantity}
	}
	fills := []chart.Fill{fill(90, false, 0.2), fill(60, false, 0.1), fill(20, true, 0.1)}
	entry := (2*fills[0].Price + fills[1].Price) / 3
	return &chart.Account{
		Position: &chart.Position{Quantity: -0.2, Entry: entry, Profit: 0.2 * (entry - s.Close[n-1])},
		Orders:   []chart.Order{{Buy: true, Kind: "limit", Price: 54500, Quantity: 0.2}},
		Alerts:   []chart.Alert{{Price: 55500, Text: "below"}, {Key: "rsi", Signal: "rsi_oversold"}},
		Fills:    fills,
	}
}

// galleryPage writes docs/gallery.md.
func galleryPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Gallery\n\n%d pictures with the call that draws each, made by `make docs`. The bars are synthetic, and the pictures say so.\n"+
		"All were drawn as of %s: a call draws the newest bars unless it says `to`, and marks at a time or a price of that day may lie outside of them now.\n\n"+
		"A call is the `arguments` of `generate_chart`; here each also has `%s`, but for what it gives itself, so that\n"+
		"the page loads quickly. On the command line an argument is a word of `wick chart`: `\"bars\":120` is `bars=120`.\n"+
		"`show` shows nothing there: there is no account.\n"+
		"[tools.md](tools.md#generate_chart) lists all arguments, [indicators.md](indicators.md) all indicators.\n", len(scenes), instant.Format("2 January 2006, 15:04 MST"), size)
	for _, s := range scenes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n    %s\n\n![%s](%s)\n", s.title, s.text, s.arguments, s.title, s.file())
	}
	return b.Bytes()
}
