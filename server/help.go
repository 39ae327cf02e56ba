package server

import (
	"fmt"
	"io"
	"strings"
)

// helpHead is what --help begins with.
const helpHead = `wick: charts, indicators, alerts and paper trading over MCP, behind its own login.

  wick --serve               serve MCP over HTTP on http://localhost:9315/mcp
  wick --serve --trade       the same with orders, positions and alerts
  wick --mcp                 serve MCP over stdio, for a local client
  wick --symbol BTCUSDT --interval 1h --indicators ema_stack,rsi,macd --output chart.png

Every flag has an environment twin: --base-url is WICK_BASE_URL. The flag wins.

Do one thing and exit: wick COMMAND
`

// writeHelp writes every command and every flag by group, and of the files of settings the
// names of their lines.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, helpHead)
	for _, c := range Commands() {
		fmt.Fprintf(w, "  %-37s %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
	}
	title := ""
	for _, s := range Settings() {
		if s.Group != title {
			title = s.Group
			if fmt.Fprintf(w, "\n%s", title); s.File == "" {
				fmt.Fprintln(w)
			} else {
				fmt.Fprint(w, ", see docs/settings.md:")
			}
		}
		if s.File != "" {
			fmt.Fprintf(w, " %s", s.Name)
			continue
		}
		fmt.Fprintf(w, "  %-37s %s\n", strings.TrimSpace("--"+s.Name+" "+s.Value), s.Meaning())
	}
	fmt.Fprintln(w)
}
