package server

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/address"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
	"wick/mcp/tools"
	"wick/trade/book"
)

// This file has what rows of settings check and store.

// maxCount is the largest value of a limit that is a whole number. A rate of more than a
// thousand million orders a second would not limit anything, because the time between two
// orders would be rounded to zero.
const maxCount = 1_000_000

// unset is of a setting that only asks for a command.
func unset(string) error { return nil }

func store(to *string) func(string) error {
	return func(text string) error { *to = text; return nil }
}

func on(to *bool) func(string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%q is neither true nor false", limit.Clip(text))
		}
		return nil
	}
}

func oneOf(to *string, words ...string) func(string) error {
	return func(text string) error {
		if *to = text; !slices.Contains(words, text) {
			return fmt.Errorf("%q is none of %s", limit.Clip(text), strings.Join(words, ", "))
		}
		return nil
	}
}

// each takes values with commas between them.
func each[T any](to *[]T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				v, err := parse(part)
				if err != nil {
					return err
				}
				*to = append(*to, v)
			}
		}
		return nil
	}
}

// asText is any text, for each.
func asText(text string) (string, error) { return text, nil }

// asSymbol is a symbol. The source, which is not open yet, has the last word on its spelling.
func asSymbol(text string) (string, error) {
	_, err := market.Resolve(market.Sample{}, text)
	return text, err
}

// asOrigin is an origin. It is compared whole with what browsers send: scheme, host and port,
// no path. One that is none is not quoted, because it may hold a password.
func asOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("has an address that is not an origin such as https://app.example.com")
	}
	origin, err := normalOrigin(u)
	if err != nil {
		err = fmt.Errorf("%q: %w", text, err)
	}
	return origin, err
}

// asPrefix is an address or a CIDR.
func asPrefix(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if addr, single := netip.ParseAddr(text); single == nil {
		prefix, err = addr.Prefix(addr.BitLen())
	}
	if err != nil {
		return prefix, fmt.Errorf("%q is neither an address nor a CIDR such as 10.0.0.0/8", limit.Clip(text))
	}
	return prefix.Masked(), nil
}

func whole(to *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if *to = n; err != nil || n < least || n > most {
			return fmt.Errorf("%q is no whole number from %d to %d", limit.Clip(text), least, most)
		}
		return nil
	}
}

func duration(to *time.Duration, least time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if *to = d; err != nil || d < least {
			return fmt.Errorf("%q is no duration of at least %v: write a number and its unit, such as 90s or 10m", limit.Clip(text), least)
		}
		return nil
	}
}

// amount takes an exact number, never a float.
func amount(to *exact.Decimal, least exact.Decimal) func(string) error {
	return func(text string) error {
		return parseAmount(to, text, least, math.MaxInt64, fmt.Sprintf("from %v to %d", least, math.MaxInt64/int64(exact.One)))
	}
}

// fraction takes an exact number below 1.
func fraction(to *exact.Decimal) func(string) error {
	return func(text string) error { return parseAmount(to, text, 0, exact.One-1, "from 0 to below 1") }
}

func parseAmount(to *exact.Decimal, text string, least, most exact.Decimal, told string) error {
	v, err := exact.Parse([]byte(text))
	if err != nil || v < least || v > most {
		return fmt.Errorf("%q is not a number %s with at most 8 decimals", limit.Clip(text), told)
	}
	*to = v
	return nil
}

// setRecover takes yes, and alone asks what a recovery would keep.
func (c *config) setRecover(text string) error {
	if c.recover = text == "yes"; c.recover {
		return nil
	}
	if on(&c.showRecovery)(text) != nil {
		return errors.New("takes no other value than yes: --recover shows what can be kept, --recover=yes keeps it")
	}
	return nil
}

// setListen takes an address to bind, without a port. 127.0.0.1 may be written as
// ::ffff:127.0.0.1; it is listened on as the former.
func (c *config) setListen(text string) error {
	ip, err := netip.ParseAddr(text)
	if c.listen = text; err == nil && ip.Is4In6() {
		c.listen = ip.Unmap().String()
	}
	if err != nil && strings.ContainsAny(text, "[]:/ ") {
		return fmt.Errorf("%q is no address to bind: write one such as 127.0.0.1 or ::1, without brackets, and the port as --port", limit.Clip(text))
	}
	return nil
}

// setSource checks that there is a source of the name. Whether it can be opened shows when it
// is.
func (c *config) setSource(text string) error {
	dir, csv := strings.CutPrefix(text, "csv:")
	if c.source = text; csv && dir == "" || !csv && !slices.Contains(market.Sources(), text) {
		return fmt.Errorf("%q is none of %s", limit.Clip(text), strings.Join(market.Sources(), ", "))
	}
	return nil
}

// currencyShape is what the currency of an account looks like: an ISO 4217 code, such a code
// with a small letter for hundredths, or a token. It is compared with what sources name, letter
// by letter, so a token in small letters would match nothing.
var currencyShape = regexp.MustCompile(`^([A-Z]{3,10}|[A-Z]{2}[a-z])$`)

func (c *config) setCurrency(text string) error {
	if c.account.Currency = text; !currencyShape.MatchString(text) {
		return fmt.Errorf("%q is not the name of a currency as data sources write it, such as USD, USDT or, for pence, GBp", limit.Clip(text))
	}
	return nil
}

func (c *config) setBand(text string) error {
	band, err := strconv.ParseFloat(text, 64)
	if c.priceBand = band; err != nil || !(band > 1) || math.IsInf(band, 1) { // also NaN
		return fmt.Errorf("%q is no multiple above 1", limit.Clip(text))
	}
	return nil
}

// setMetrics takes an address of this machine only: the metrics need no token, and show when
// the owner is at work.
func (c *config) setMetrics(text string) error {
	host, _, err := net.SplitHostPort(text)
	if c.metrics = text; err != nil || !address.Loopback(host) {
		return fmt.Errorf("%q is not a loopback address with a port, such as 127.0.0.1:9316", limit.Clip(text))
	}
	return nil
}

// maxLines bounds a file of settings, in bytes.
const maxLines = 64 << 10

// readLines reads a file of settings, the lines of one of the groups: a name and a value.
// Empty lines and those that begin with # are skipped. Errors quote no line, because it may be
// a secret without its name.
func (c *config) readLines(group, file string, read func(name string, most int) ([]byte, error)) error {
	text, err := read(file, maxLines)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range c.settings() {
		if s.File == group {
			names = append(names, s.Name)
		}
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: a line begins with none of %s", file, strings.Join(names, ", "))
		}
		spelling := Setting{Name: name, File: group}.Spelling()
		if value = strings.TrimSpace(value); value == "" || c.given[spelling] != "" {
			return fmt.Errorf("%s: %s has no value, or two", file, name)
		}
		c.given[spelling] = value
	}
	return nil
}

// defaultDir returns the directory for state, which need not exist yet. HOME is read through
// env first, so that tests have their own.
func defaultDir(env func(string) string) (string, error) {
	home, err := env("HOME"), error(nil)
	if home == "" {
		home, err = os.UserHomeDir()
	}
	if err != nil {
		return "", errors.New("no home directory for state: set --data-dir")
	}
	return home + string(os.PathSeparator) + ".wick", nil
}

// parseGrid reads what grid says: SYMBOL=TICK/LOT/MIN, several with commas. The
// symbol * means every other one. TICK is the step of prices, LOT that of quantities and
// MIN the least value of an order, price times quantity; 0 means none.
func parseGrid(text string) (map[string]book.Grid, error) {
	grids := make(map[string]book.Grid)
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		symbol, steps, _ := strings.Cut(part, "=")
		if symbol = strings.TrimSpace(symbol); symbol != "*" { // see resolveGrid
			if _, err := asSymbol(symbol); err != nil {
				return nil, fmt.Errorf("%q: %w", part, err)
			}
		}
		var g book.Grid
		to := []*exact.Decimal{&g.Tick, &g.Lot, &g.Minimum} // in the order in which they are written
		numbers := strings.Split(steps, "/")
		for i, number := range numbers {
			v, err := exact.Parse([]byte(strings.TrimSpace(number)))
			if len(numbers) != len(to) || err != nil || v < 0 {
				return nil, fmt.Errorf("%q: write the step of prices, that of quantities and the least value, each of at most 8 decimals, such as BTCUSDT=0.01/0.00001/5; 0 for none", part)
			}
			*to[i] = v
		}
		grids[symbol] = g
	}
	return grids, nil
}

// resolveGrid puts the symbols of the grid into the spelling of the source, by which gridOf is
// asked. It refuses what names no symbol there, and two spellings of one.
func (c *config) resolveGrid(source market.Source) error {
	resolved := make(map[string]book.Grid)
	for text, g := range c.grid {
		symbol := text
		if text != "*" {
			var err error
			if symbol, err = market.Resolve(source, text); err != nil {
				return fmt.Errorf("grid in --paper-file: %w", err)
			}
		}
		if _, twice := resolved[symbol]; twice {
			return fmt.Errorf("grid in --paper-file names %s twice, in two spellings: leave one out", symbol)
		}
		resolved[symbol] = g
	}
	c.grid = resolved
	return nil
}

// gridOf returns the grid that is set for a market, and whether it sets one.
func (c *config) gridOf(symbol string) (book.Grid, bool) {
	g, ok := c.grid[symbol]
	if !ok {
		g, ok = c.grid["*"]
	}
	return g, ok
}

// maxWatchlist bounds the file of --watchlist, in bytes.
const maxWatchlist = 64 << 10

// setWatchlists reads a file of named lists of symbols, one a line:
//
//	majors: BTCUSDT ETHUSDT SOLUSDT
//
// Blank lines and those that begin with # are ignored; symbols may also be separated by
// commas. It refuses a name that is given twice and what is not a symbol; the error names
// the line.
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
			if _, err := asSymbol(symbol); err != nil {
				return fmt.Errorf("%s line %d: %w", file, number, err)
			}
		}
		c.watchlists[name] = symbols
	}
	return nil
}
