package server

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
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

// value returns a function that stores what parse makes of a text. If ok refuses the value, the
// error ends with told, which says what would be right.
func value[T any](to *T, parse func(string) (T, error), ok func(T) bool, told string) func(string) error {
	return func(text string) error {
		v, err := parse(text)
		if err != nil || !ok(v) {
			return fmt.Errorf("%q %s", limit.Clip(text), told)
		}
		*to = v
		return nil
	}
}

// asText is any text.
func asText(text string) (string, error) { return text, nil }

func store(to *string) func(string) error {
	return value(to, asText, func(string) bool { return true }, "")
}

func on(to *bool) func(string) error {
	return value(to, strconv.ParseBool, func(bool) bool { return true }, "is neither true nor false")
}

func oneOf(to *string, words ...string) func(string) error {
	return value(to, asText, func(text string) bool { return slices.Contains(words, text) }, "is none of "+strings.Join(words, ", "))
}

func whole(to *int, least, most int) func(string) error {
	return value(to, strconv.Atoi, func(n int) bool { return n >= least && n <= most }, fmt.Sprintf("is no whole number from %d to %d", least, most))
}

func duration(to *time.Duration, least time.Duration) func(string) error {
	return value(to, time.ParseDuration, func(d time.Duration) bool { return d >= least }, fmt.Sprintf("is no duration of at least %v: write a number and its unit, such as 90s or 10m", least))
}

// decimal is an exact number, never a float.
func decimal(to *exact.Decimal, least, most exact.Decimal, bounds string) func(string) error {
	return value(to, func(text string) (exact.Decimal, error) { return exact.Parse([]byte(text)) },
		func(v exact.Decimal) bool { return v >= least && v <= most }, "is not a number "+bounds+" with at most 8 decimals")
}

func amount(to *exact.Decimal, least exact.Decimal) func(string) error {
	return decimal(to, least, math.MaxInt64, fmt.Sprintf("from %v to %d", least, math.MaxInt64/int64(exact.One)))
}

// fraction takes a number below 1.
func fraction(to *exact.Decimal) func(string) error {
	return decimal(to, 0, exact.One-1, "from 0 to below 1")
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

// asSymbol is a symbol. The source, which is not open yet, has the last word on its spelling.
func asSymbol(text string) (string, error) {
	_, err := market.Resolve(market.Sample{}, text)
	return text, err
}

// asOrigin reads an origin: scheme, host and port without a path, as browsers send it. The error
// does not quote the text, because it may hold a password.
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

// isSource reports whether there is a source of the name. Whether it can be opened shows when
// it is.
func isSource(text string) bool {
	dir, csv := strings.CutPrefix(text, "csv:")
	return csv && dir != "" || slices.Contains(market.Sources(), text) && !csv
}

// isCurrency is what the currency of an account looks like: an ISO 4217 code, such a code
// with a small letter for hundredths, or a token. It is compared with what sources name, letter
// by letter, so a token in small letters would match nothing.
var isCurrency = regexp.MustCompile(`^([A-Z]{3,10}|[A-Z]{2}[a-z])$`).MatchString

// isBand reports whether a number is a multiple above 1.
func isBand(band float64) bool { return band > 1 && !math.IsInf(band, 1) } // nor NaN

// isHere reports whether an address with a port is of this machine only: the metrics need no
// token, and show when the owner is at work.
func isHere(text string) bool {
	host, _, err := net.SplitHostPort(text)
	return err == nil && address.Loopback(host)
}

// Bounds of the files that settings name, in bytes.
const (
	maxLines       = 64 << 10 // --paper-file and --cluster-file
	maxWatchlist   = 64 << 10
	maxNotifyFile  = 64 << 10
	maxKeyFile     = 4096 // eight keys with a comment each
	maxBrokerKeys  = 4096
	maxCredentials = 1 << 20 // each file that --cluster-file names
)

// fromFile reads a file of at most so many bytes, has it parsed, and overwrites what it read:
// it may be a secret.
func fromFile(read func(name string, most int) ([]byte, error), most int, parse func(text []byte) error) func(string) error {
	return func(file string) error {
		text, err := read(file, most)
		if err != nil {
			return err
		}
		defer clear(text)
		if err := parse(text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	}
}

// setLines takes the text of a file of settings, the lines of one of the groups: a name and a
// value. Empty lines and those that begin with # are skipped. Errors quote no line, because it
// may be a secret without its name.
func (c *config) setLines(group string, text []byte) error {
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
			return fmt.Errorf("a line begins with none of %s", strings.Join(names, ", "))
		}
		spelling := Setting{Name: name, File: group}.Spelling()
		if value = strings.TrimSpace(value); value == "" || c.given[spelling] != "" {
			return fmt.Errorf("%s has no value, or two", name)
		}
		c.given[spelling] = value
	}
	return nil
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

// setWatchlists takes named lists of symbols, one a line:
//
//	majors: BTCUSDT ETHUSDT SOLUSDT
//
// Blank lines and those that begin with # are ignored; symbols may also be separated by
// commas. It refuses a name that is given twice and what is not a symbol; the error names
// the line.
func (c *config) setWatchlists(text []byte) error {
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
			return fmt.Errorf("line %d, %q: write a name that no other list has and its symbols, such as majors: BTCUSDT ETHUSDT", number, limit.Clip(line))
		}
		for _, symbol := range symbols {
			if _, err := asSymbol(symbol); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		c.watchlists[name] = symbols
	}
	return nil
}
