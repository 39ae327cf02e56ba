package server

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"wick/mcp"
	"wick/mcp/tools"
)

// render holds the flags of the one-shot mode: one chart to a file. They are
// the arguments of generate_chart under the same names.
type render struct {
	output                       string
	symbol, interval, indicators string
	bars                         string // empty for the tool's default, which depends on from
	width, height                int
	theme, format                string
	from, to, timezone           string
	kind, scale, signals         string
	compare, marks               string
	volume                       bool
	pixelRatio                   float64
}

// flags declares the flags of one chart.
func (r *render) flags(fs *flag.FlagSet, g *groups) {
	g.start("One chart to a file (no mode)", rare)
	fs.StringVar(&r.output, "output", "", "`file` to write the chart to; - for standard output")
	fs.StringVar(&r.format, "format", "png", "`format`: png, summary or series; csv or json of --export")
	fs.StringVar(&r.symbol, "symbol", "", "`symbol` to draw; none means synthetic sample data")
	fs.StringVar(&r.interval, "interval", "4h", "`length` of a bar, such as 15m, 4h or 1d")
	fs.StringVar(&r.indicators, "indicators", "ema_stack,rsi,macd", "indicator `names`, separated by commas, or a JSON array")
	fs.StringVar(&r.bars, "bars", "", "`number` of bars, the newest (default 200); with --from only the most that is drawn")
	fs.StringVar(&r.from, "from", "", "first bar: a `date`, 2026-01-31, or a time, \"2026-01-31 14:30\"")
	fs.StringVar(&r.to, "to", "", "last bar, inclusive: a `date` or a time")
	fs.StringVar(&r.timezone, "timezone", "UTC", "`zone` of times, such as America/New_York or +05:30")

	g.start("Its look", rare)
	fs.StringVar(&r.kind, "type", "candles", "`type`: candles, hollow, heikin_ashi, bars, line or area")
	fs.StringVar(&r.scale, "scale", "linear", "`scale` of the price: linear, log or percent")
	fs.StringVar(&r.compare, "compare", "", "up to five other `symbols`, drawn in percent")
	fs.StringVar(&r.marks, "marks", "", "drawings as a `JSON` array, such as '[{\"type\":\"level\",\"price\":65000}]'")
	fs.StringVar(&r.signals, "signals", "auto", "`signals` of indicators: auto, labels, marks or off")
	fs.BoolVar(&r.volume, "volume", true, "draw the volume; --volume=false leaves it out")
	fs.IntVar(&r.width, "width", 1440, "width in `pixels`")
	fs.IntVar(&r.height, "height", 768, "height in `pixels`")
	fs.Float64Var(&r.pixelRatio, "pixel-ratio", 1, "pixels per unit of width and height, `1 to 3`")
	fs.StringVar(&r.theme, "theme", "dark", "`theme`: dark, light or colorblind")
}

// arguments returns the flags as the arguments of generate_chart.
func (r *render) arguments() ([]byte, error) {
	return json.Marshal(map[string]any{
		"symbol": r.symbol, "interval": r.interval, "indicators": strings.TrimSpace(r.indicators), "bars": r.bars,
		"width": r.width, "height": r.height, "theme": r.theme, "format": r.format,
		"from": r.from, "to": r.to, "timezone": r.timezone, "type": r.kind, "scale": r.scale, "signals": r.signals,
		"compare": r.compare, "marks": strings.TrimSpace(r.marks), "volume": r.volume, "pixel_ratio": r.pixelRatio,
	})
}

// run draws one chart through the tool that clients call, so that a picture
// from the command line is the picture they get. What the tool says beside it
// goes to stderr.
func (r *render) run(ctx context.Context, d tools.Deps, stdout, stderr io.Writer) error {
	if r.format == "both" {
		return fmt.Errorf("--format both makes two things and one file holds one: choose png, summary or series")
	}
	arguments, err := r.arguments()
	if err != nil {
		return err
	}
	result, err := tools.Chart(d).Handle(ctx, mcp.Call{Arguments: arguments})
	if err != nil {
		return err
	}
	for _, note := range result.Content[1:] {
		fmt.Fprintf(stderr, "%s\n", note.Text)
	}
	// The first content is the chart itself, a picture or a text; the rest are notes.
	content := result.Content[0].Data
	if r.format != "png" {
		content = append(result.Content[0].Text, '\n')
	}
	if r.output == "-" {
		_, err := stdout.Write(content)
		return err
	}
	return os.WriteFile(r.output, content, 0o644)
}
