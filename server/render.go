package server

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"wick/limit"
	"wick/mcp"
	"wick/mcp/tools"
)

// render holds the flags of the mode that draws one chart to a file. All but the file are
// arguments of generate_chart with the same names.
type render struct {
	output, format string
	all            []*flag.Flag // including output and format
}

// flags declares the flags of one chart, as two groups, and keeps them. Most have no
// variable of their own: only generate_chart looks at them, and knows their bounds.
// The defaults are those of the tool; they are repeated here because --help shows them.
func (r *render) flags(fs *flag.FlagSet, g *groups) {
	g.start(chartGroup, rare)
	fs.StringVar(&r.output, "output", "", "`file` to write the chart to; - for standard output")
	fs.StringVar(&r.format, "format", "png", "`format`: png, summary or series; csv or json of --export")
	fs.String("symbol", "", "`symbol` to draw; none means synthetic sample data")
	fs.String("interval", "4h", "`length` of a bar, such as 15m, 4h or 1d")
	fs.String("indicators", "ema_stack,rsi,macd", "indicator `names`, separated by commas, or a JSON array, [] for none")
	fs.String("bars", "", "`number` of the newest bars (default 200); with --from the most bars that are drawn")
	fs.String("from", "", "first bar: a `date`, 2026-01-31, or a time, \"2026-01-31 14:30\"")
	fs.String("to", "", "last bar, inclusive: a `date` or a time")
	fs.String("timezone", "UTC", "`zone` of times, such as America/New_York or +05:30")

	g.start(lookGroup, rare)
	fs.String("type", "candles", "`type`: candles, hollow, heikin_ashi, bars, line or area")
	fs.String("scale", "linear", "`scale` of the price: linear, log or percent")
	fs.String("compare", "", "up to five other `symbols`, drawn in percent")
	fs.String("marks", "", "drawings as a `JSON` array, such as '[{\"type\":\"level\",\"price\":65000}]'")
	fs.String("signals", "auto", "`signals` of indicators: auto, labels, marks or off")
	fs.Bool("volume", true, "draw the volume; --volume=false leaves it out")
	fs.Int("width", 1440, "width in `pixels`")
	fs.Int("height", 768, "height in `pixels`")
	fs.Float64("pixel-ratio", 1, "pixels per unit of width and height, `1 to 3`")
	fs.String("theme", "dark", "`theme`: dark, light or colorblind")

	g.end()
	for _, group := range g.list[len(g.list)-2:] {
		r.all = append(r.all, group.Flags...)
	}
}

// names returns the names of the flags, with spaces between them.
func (r *render) names() string {
	var names []string
	for _, f := range r.all {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// arguments returns the flags as the arguments of generate_chart, whose names have an
// underscore where a flag has a hyphen.
func (r *render) arguments() ([]byte, error) {
	named := make(map[string]any)
	for _, f := range r.all {
		value := f.Value.(flag.Getter).Get() // every kind of flag used here is one
		// These two may be JSON, which is told by its first character.
		if f.Name == "indicators" || f.Name == "marks" {
			value = strings.TrimSpace(f.Value.String())
		}
		// JSON has no such numbers; the tool refuses their names with its bounds.
		if n, ok := value.(float64); ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
			value = f.Value.String()
		}
		named[strings.ReplaceAll(f.Name, "-", "_")] = value
	}
	delete(named, "output")
	return json.Marshal(named)
}

// forTerminal returns an error of the tool in words for the command line, where there is no
// request to fix and no tool to call.
func forTerminal(err error) error {
	text, cut := strings.CutSuffix(err.Error(), " (fix the request)")
	if !cut {
		return err
	}
	return errors.New(strings.ReplaceAll(text, "call list_indicators for the names", "docs/indicators.md has the names"))
}

// run draws one chart through the tool that clients call, so that the command line gives
// the same picture as the tool. What else the tool says goes to stderr.
func (r *render) run(ctx context.Context, d tools.Deps, stdout, stderr io.Writer) error {
	// The tool takes both, too, and words in any case.
	format := strings.ToLower(strings.TrimSpace(r.format))
	if !slices.Contains([]string{"png", "summary", "series"}, format) {
		return fmt.Errorf("--format %q is not one of png, summary, series, of which a file holds one; csv and json are of --export", limit.Clip(r.format))
	}
	arguments, err := r.arguments()
	if err != nil {
		return err
	}
	result, err := tools.Chart(d).Handle(ctx, mcp.Call{Arguments: arguments})
	if err != nil {
		return forTerminal(err)
	}
	for _, note := range result.Content[1:] {
		fmt.Fprintf(stderr, "%s\n", note.Text)
	}
	// The first content is the chart itself, a picture or a text; the rest are notes.
	content := result.Content[0].Data
	if format != "png" {
		content, stdout = append(result.Content[0].Text, '\n'), Visible(stdout)
	}
	endAtOnce() // what is left is to write it
	if r.output == "-" {
		_, err := stdout.Write(content)
		return err
	}
	return os.WriteFile(r.output, content, 0o644)
}
