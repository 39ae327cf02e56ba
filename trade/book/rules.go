package book

import (
	"cmp"
	"fmt"
	"strings"
	"wick/internal/exact"
)

// AccountRules describe the account that orders are paid from. Without Cash
// there is none, and orders are bounded by the other limits alone.
type AccountRules struct {
	Cash     exact.Decimal // what it was opened with
	Currency string        // of the cash, as sources write it: GBp, pence, is not GBP; empty means USD
	Short    bool          // positions below zero are allowed
	Leverage exact.Decimal // positions may be worth this many times the equity; zero means 1
	// Stablecoins says that USDT and USDC are counted as USD.
	Stablecoins bool
}

// WithDefaults fills in what was left out.
func (a AccountRules) WithDefaults() AccountRules {
	a.Currency = cmp.Or(a.Currency, "USD")
	a.Leverage = cmp.Or(a.Leverage, exact.One)
	return a
}

// counts reports whether money in a currency is added to the account's sums. So is that
// of an empty currency, which neither the source nor the symbol names. Nothing is
// converted: what is priced in another currency is left out of all sums.
func (a AccountRules) counts(currency string) bool {
	stable := a.Stablecoins && a.Currency == "USD" && (currency == "USDT" || currency == "USDC")
	return currency == "" || currency == a.Currency || stable
}

// note returns the remark of a reply that says which currencies were added up, and which
// positions have no price.
func (a AccountRules) note(unpriced []string) string {
	note := fmt.Sprintf("only what is priced in %s is counted", a.Currency)
	if a.Stablecoins && a.Currency == "USD" {
		note = "USDT and USDC are counted as USD"
	}
	if len(unpriced) > 0 {
		note += fmt.Sprintf("; %s: no price is known now, and what depends on one is null until it is", strings.Join(unpriced, ", "))
	}
	return note
}
