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
	bars, width, height          int
	theme, format                string
}

// flags declares them.
func (r *render) flags(fs *flag.FlagSet) {
	fs.StringVar(&r.output, "output", "", "`file` to write the chart to; - for standard output")
	fs.StringVar(&r.symbol, "symbol", "", "`symbol` to draw; none means synthetic sample data")
	fs.StringVar(&r.interval, "interval", "4h", "`length` of a bar, such as 15m, 4h or 1d")
	fs.StringVar(&r.indicators, "indicators", "ema_stack,rsi,macd", "indicator `names`, separated by commas, or a JSON array")
	fs.IntVar(&r.bars, "bars", 200, "`number` of bars")
	fs.IntVar(&r.width, "width", 1440, "width in `pixels`")
	fs.IntVar(&r.height, "height", 768, "height in `pixels`")
	fs.StringVar(&r.theme, "theme", "dark", "`theme`: dark, light or colorblind")
	fs.StringVar(&r.format, "format", "png", "`format`: png, summary or series")
}

// run draws one chart through the tool that clients call, so that a picture
// from the command line is the picture they get.
func (r *render) run(ctx context.Context, d tools.Deps, stdout io.Writer) error {
	if r.format == "both" {
		return fmt.Errorf("--format both makes two things and one file holds one: choose png, summary or series")
	}
	arguments, err := json.Marshal(map[string]any{
		"symbol": r.symbol, "interval": r.interval, "indicators": strings.TrimSpace(r.indicators), "bars": r.bars,
		"width": r.width, "height": r.height, "theme": r.theme, "format": r.format,
	})
	if err != nil {
		return err
	}
	result, err := tools.Chart(d).Handle(ctx, mcp.Call{Arguments: arguments})
	if err != nil {
		return err
	}
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
