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

// setWatchlists reads a file of named lists of symbols, as parseWatchlists does.
func (c *config) setWatchlists(file string) error {
	text, err := readOpen(file, maxWatchlist)
	if err == nil {
		c.watchlists, err = parseWatchlists(file, string(text))
	}
	return err
}

// parseWatchlists reads named lists of symbols, one a line:
//
//	majors: BTCUSDT ETHUSDT SOLUSDT
//
// Blank lines and those that begin with # are ignored; symbols may also be separated by
// commas. It refuses a name that is given twice and what is not a symbol; the error names
// the line.
func parseWatchlists(file, text string) (map[string][]string, error) {
	lists := make(map[string][]string)
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, found := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if !found || !tools.ListName.MatchString(name) || lists[name] != nil {
			return nil, fmt.Errorf("%s line %d, %q: write a name that no other list has and its symbols, such as majors: BTCUSDT ETHUSDT", file, i+1, limit.Clip(line))
		}
		symbols, err := parseSymbols(rest)
		if err != nil {
			return nil, fmt.Errorf("%s line %d: %w", file, i+1, err)
		}
		if lists[name] = symbols; len(symbols) == 0 {
			return nil, fmt.Errorf("%s line %d: the list %s has no symbols", file, i+1, name)
		}
	}
	return lists, nil
}

// parseSymbols reads symbols with blanks, commas or semicolons between them. The source,
// which is not open yet, has the last word on the spelling.
func parseSymbols(text string) ([]string, error) {
	symbols := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
	for _, symbol := range symbols {
		if _, err := market.Resolve(market.Sample{}, symbol); err != nil {
			return nil, err
		}
	}
	return symbols, nil
}
