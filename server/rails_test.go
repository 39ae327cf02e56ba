package server

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"wick/exact"
	"wick/trade"
)

// TestNoLimit: a value that limits nothing is refused at the start, by flag and by
// variable, with what may stand there and what leaving the flag out means. Taken
// silently it would open what the operator meant to close.
func TestNoLimit(t *testing.T) {
	for flag, values := range map[string][]string{
		"max-order-notional":         {"0", "0.0", "-1", "lots", "92233720369"},
		"max-position-notional":      {"0", "-5"},
		"cash":                       {"0", "-1"},
		"max-daily-loss":             {"0", "-1"},
		"max-open-orders":            {"0", "-1", "1000001"},
		"max-open-orders-per-symbol": {"0", "-1", "251"},
		"max-order-rate":             {"0", "-5", "1000001", "9223372036854775807"},
		"max-price-age":              {"0", "0s", "-1s"},
		"price-band":                 {"0", "1", "-2", "NaN", "Inf", "+inf"},
	} {
		for _, value := range values {
			_, err := parseConfig([]string{"--trade", "--" + flag, value}, env("HOME", "/"), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), "--"+flag) || !strings.Contains(err.Error(), "leave it out") || strings.Contains(err.Error(), "\n") {
				t.Errorf("--%s %s: %v, want one line that says what is allowed", flag, value, err)
			}
			_, err = parseConfig([]string{"--trade"}, env("HOME", "/", envName(flag), value), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), "leave it out") {
				t.Errorf("%s=%s: %v, want it refused", envName(flag), value, err)
			}
		}
	}
}

// TestLeastLimits: the smallest and the largest that a rail may be are taken as they
// are, and so is a zero where it means something.
func TestLeastLimits(t *testing.T) {
	c := parse(t, env("HOME", "/"), "--trade", "--max-order-notional", "0.00000001", "--max-position-notional", "0.00000001", "--cash", "0.01", "--max-daily-loss", "0.01",
		"--max-open-orders", "1", "--max-open-orders-per-symbol", "1", "--max-order-rate", "1", "--max-price-age", "1ns",
		"--fee-rate", "0", "--maker-fee-rate", "0", "--slippage", "0", "--half-spread", "0", "--confirm-above", "0")
	l := c.limits
	if l.OrderNotional != 1 || l.PositionNotional != 1 || l.Open != 1 || l.OpenPerSymbol != 1 || l.OrdersPerSecond != 1 || l.DailyLoss != exact.One/100 || c.account.Cash != exact.One/100 || c.maxPriceAge != 1 {
		t.Errorf("the least: %+v", c)
	}
	if l := parse(t, env("HOME", "/"), "--trade", "--max-order-notional", fmt.Sprint(mostAmount)).limits; l.OrderNotional != exact.Decimal(mostAmount)*exact.One {
		t.Errorf("the largest amount: %+v", l)
	}
	if c.feeRate != 0 || *c.makerFee != 0 || c.slippage != 0 || c.halfSpread != 0 || c.quoted || c.confirmAbove != 0 {
		t.Errorf("zeros that mean something: %+v", c)
	}
	if l := parse(t, env("HOME", "/"), "--trade", "--max-open-orders", "1000000", "--max-open-orders-per-symbol", "250", "--max-order-rate", "1000000").limits; l.Open != maxCount || l.OpenPerSymbol != trade.MaxOpenPerSymbol || l.OrdersPerSecond != maxCount {
		t.Errorf("the most: %+v", l)
	}
	if c := parse(t, env("HOME", "/"), "--trade", "--price-band", "1.5"); c.priceBand != 1.5 || math.IsInf(c.priceBand, 0) {
		t.Errorf("--price-band 1.5: %v", c.priceBand)
	}
}

// TestEmptyAmount: a flag with nothing after it, as a shell makes of a variable that is
// not set, is refused. At a broker it would count as set, and lift what holds there
// unless it is: the small order and the person's yes.
func TestEmptyAmount(t *testing.T) {
	_, broker := atAlpaca(t)
	for _, flag := range []string{"max-order-notional", "max-position-notional", "fee-rate", "maker-fee-rate", "slippage", "half-spread",
		"confirm-above", "cash", "max-daily-loss", "leverage"} {
		for _, args := range [][]string{{"--trade"}, append([]string{"--trade"}, broker...)} {
			_, err := parseConfig(append(args, "--"+flag+"="), env("HOME", "/"), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), "--"+flag+` ""`) || !strings.Contains(err.Error(), "leave it out") {
				t.Errorf("%v --%s=: %v, want it refused", args, flag, err)
			}
		}
	}
	if _, err := parseConfig(append([]string{"--trade", "--broker-dead-man", "0"}, broker...), env("HOME", "/"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Errorf("--broker-dead-man 0: %v, want it refused", err)
	}
	parse(t, env("HOME", "/", "WICK_CASH", "", "WICK_MAX_ORDER_NOTIONAL", ""), "--trade") // a variable without a value is one that is not set
}
