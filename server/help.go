package server

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Group is a part of the flags that --help shows under one title.
type Group struct {
	Title string
	Rare  bool         // --help gives the names alone; --help-all explains them too
	Share bool         // two processes on one data directory must agree: they decide about prices, orders and money
	Flags []*flag.Flag // in the order of the alphabet
}

// common and rare say whether --help explains the flags of a group.
const common, rare = false, true

// Titles of the groups whose flags have no use in every mode; see settleGiven.
const (
	tradingGroup = "Trading"
	chartGroup   = "One chart to a file (no mode)"
	lookGroup    = "Its look"
)

// groups collects the flags of fs: those declared between a call of start and
// the next, or end, are one group. The functions that declare flags need not know of it.
type groups struct {
	fs   *flag.FlagSet
	list []Group
}

// start begins a group, which takes the flags declared from here on.
func (g *groups) start(title string, rare bool) {
	g.end()
	g.list = append(g.list, Group{Title: title, Rare: rare})
}

// share says of the newest group that two processes on one data directory must agree about
// its flags.
func (g *groups) share() { g.list[len(g.list)-1].Share = true }

// shared returns the names of the flags of such groups, and that of --notify-file.
func (g *groups) shared() []string {
	names := []string{"notify-file"}
	for _, group := range g.list {
		for _, f := range group.Flags {
			if group.Share {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// end puts all flags that are in no group yet into the newest one.
func (g *groups) end() {
	// The flag package has no order of declaration, so the new flags are those that no
	// group has yet.
	known := make(map[string]bool)
	for _, group := range g.list {
		for _, f := range group.Flags {
			known[f.Name] = true
		}
	}
	g.fs.VisitAll(func(f *flag.Flag) {
		if last := len(g.list) - 1; !known[f.Name] {
			g.list[last].Flags = append(g.list[last].Flags, f)
		}
	})
}

// rare reports whether --help gives no more of a flag than its name.
func (g *groups) rare(f *flag.Flag) bool {
	return slices.ContainsFunc(g.list, func(group Group) bool { return group.Rare && slices.Contains(group.Flags, f) })
}

// Explain returns a flag as a person types it, such as "--port port", and what
// it means, with its default.
func Explain(f *flag.Flag) (name, meaning string) {
	value, meaning := flag.UnquoteUsage(f)
	name = strings.TrimSpace("--" + f.Name + " " + value)
	if f.DefValue != "" && f.DefValue != "false" && !strings.Contains(meaning, "default") {
		meaning += " (default " + f.DefValue + ")"
	}
	return name, meaning
}

// helpHead is what --help begins with.
const helpHead = `wick: charts, indicators, alerts and paper trading over MCP, behind its own login.

  wick --serve               serve MCP over HTTP on http://localhost:9315/mcp
  wick --serve --trade       the same with orders, positions and alerts
  wick --mcp                 serve MCP over stdio, for a local client
  wick --symbol BTCUSDT --interval 1h --indicators ema_stack,rsi,macd --output chart.png

Every flag but --help-all has an environment twin: --base-url is WICK_BASE_URL. The flag wins. A task may be a word: wick halt on.
`

// writeHelp writes the flags by group. Of rare groups it gives the names alone, at
// the end, unless all is set, so that the common ones fit a screen.
func writeHelp(w io.Writer, list []Group, all bool) {
	fmt.Fprint(w, helpHead)
	var more strings.Builder
	for _, group := range list {
		if group.Rare && !all {
			more.WriteString(names(group))
			continue
		}
		fmt.Fprintf(w, "\n%s\n", group.Title)
		for _, f := range group.Flags {
			name, meaning := Explain(f)
			fmt.Fprintf(w, "  %-37s %s\n", name, meaning)
		}
	}
	if !all {
		fmt.Fprintf(w, "\nMore, explained by --help-all\n%s", &more)
	}
}

// names returns the title of a group and the names of its flags, in lines of at most
// 140 characters.
func names(group Group) string {
	var b strings.Builder
	line := "  " + group.Title + ":"
	for _, f := range group.Flags {
		if len(line)+len(" --"+f.Name) > 140 {
			b.WriteString(line + "\n")
			line = "   "
		}
		line += " --" + f.Name
	}
	return b.String() + line + "\n"
}
