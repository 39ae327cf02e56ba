package server

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// paperLines writes a file for --paper-file.
func paperLines(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "paper")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// wrong returns a value of a setting as a flag, or as a line of a file.
func wrong(t *testing.T, name, value string) []string {
	if slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Name == name && s.File == inPaper }) {
		return []string{"--paper-file", paperLines(t, name+" "+value)}
	}
	return []string{"--" + name, value}
}

// TestNoLimit: a value that limits nothing is refused at the start, by flag and by
// variable, with what may stand there. Taken silently it would open what the operator meant
// to close.
func TestNoLimit(t *testing.T) {
	for name, values := range map[string][]string{
		"max-order-notional":         {"0", "0.0", "-1", "lots", "92233720369"},
		"max-position-notional":      {"0", "-5"},
		"cash":                       {"0", "-1"},
		"max-daily-loss":             {"0", "-1"},
		"fee-rate":                   {"1", "-1"},
		"slippage":                   {"1e-9"},
		"broker-dead-man":            {"0", "59s", "soon"},
		"max-open-orders":            {"0", "-1", "1000001", "many"},
		"max-open-orders-per-symbol": {"0", "-1", "251"},
		"max-order-rate":             {"0", "-5", "1000001", "9223372036854775807"},
		"max-price-age":              {"0", "0s", "-1s", "5"},
		"price-band":                 {"0", "1", "-2", "NaN", "Inf", "+inf", "wide"},
		"leverage":                   {"0.5", "0"},
		"short":                      {"perhaps"},
		"currency":                   {"xx", "usd", "USDt", "US", strings.Repeat("A", 500)},
		"grid":                       {"BTCUSDT=0.01", "*=0.01/x/5", "../x=1/1/1"},
	} {
		for _, value := range values {
			_, err := parseConfig(append([]string{"--trade"}, wrong(t, name, value)...), env("HOME", "/"), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s: %v, want one line that says what is allowed", name, value, err)
			}
		}
	}
	if _, err := parseConfig([]string{"--trade"}, env("HOME", "/", "WICK_CASH", "0"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "WICK_CASH") {
		t.Errorf("WICK_CASH=0: %v", err)
	}
}

// TestLeastLimits: the smallest and the largest that a rail may be are taken as they
// are, and so is a zero where it means something.
func TestLeastLimits(t *testing.T) {
	c := parse(t, env("HOME", "/"), "--trade", "--max-order-notional", "0.00000001", "--max-position-notional", "0.00000001", "--cash", "0.01", "--max-daily-loss", "0.01",
		"--fee-rate", "0", "--slippage", "0", "--confirm-above", "0",
		"--paper-file", paperLines(t, "max-open-orders 1", "max-open-orders-per-symbol 1", "max-order-rate 1", "max-price-age 1ns", "maker-fee-rate 0", "half-spread 0"))
	l := c.engine.Limits
	if l.OrderNotional != 1 || l.PositionNotional != 1 || l.Open != 1 || l.OpenPerSymbol != 1 || l.OrdersPerSecond != 1 || l.DailyLoss != exact.One/100 || c.engine.Account.Cash != exact.One/100 || c.engine.MaxPriceAge != 1 {
		t.Errorf("the least: %+v", c)
	}
	const most = math.MaxInt64 / int64(exact.One)
	if l := parse(t, env("HOME", "/"), "--trade", "--max-order-notional", fmt.Sprint(most)).engine.Limits; l.OrderNotional != exact.Decimal(most)*exact.One {
		t.Errorf("the largest amount: %+v", l)
	}
	if c.engine.FeeRate != 0 || *c.engine.MakerFeeRate != 0 || c.engine.Slippage != 0 || c.engine.HalfSpread != 0 || c.asking.Above != 0 {
		t.Errorf("zeros that mean something: %+v", c)
	}
	c = parse(t, env("HOME", "/"), "--trade", "--paper-file", paperLines(t, "# the most", "max-open-orders 1000000", "", "max-open-orders-per-symbol 250", "max-order-rate 1000000", "price-band 1.5", "currency GBp"))
	if l := c.engine.Limits; l.Open != maxCount || l.OpenPerSymbol != book.MaxOpenPerSymbol || l.OrdersPerSecond != maxCount || c.priceBand != 1.5 || c.engine.Account.Currency != "GBp" {
		t.Errorf("the most: %+v", l)
	}
}
