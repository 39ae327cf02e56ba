package server

import (
	"fmt"
	"strings"

	"wick/internal/limit"
	"wick/market"
	"wick/mcp/tools"
)

// maxWatchlist bounds the file of --watchlist, in bytes.
const maxWatchlist = 64 << 10

// setWatchlists reads a file of named lists of symbols, one a line:
//
//	majors: BTCUSDT ETHUSDT SOLUSDT
//
// Blank lines and those that begin with # are ignored; symbols may also be separated by
// commas. It refuses a name that is given twice and what is not a symbol; the error names
// the line. The source, which is not open yet, has the last word on the spelling.
func (c *config) setWatchlists(file string) error {
	text, err := readOpen(file, maxWatchlist)
	if err != nil {
		return err
	}
	c.watchlists = make(map[string][]string)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		symbols := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		if !tools.ListName.MatchString(name) || c.watchlists[name] != nil || len(symbols) == 0 {
			return fmt.Errorf("%s line %d, %q: write a name that no other list has and its symbols, such as majors: BTCUSDT ETHUSDT", file, number, limit.Clip(line))
		}
		for _, symbol := range symbols {
			if _, err := market.Resolve(market.Sample{}, symbol); err != nil {
				return fmt.Errorf("%s line %d: %w", file, number, err)
			}
		}
		c.watchlists[name] = symbols
	}
	return nil
}
