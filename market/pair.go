package market

import (
	"slices"
	"strings"
)

// splitPair splits a pair into base and quote: BTC-USD, BTC_USDT, BTCUSDT,
// ETHEUR, EURUSD. A share class (BRK-B) and Yahoo's EURUSD=X are not pairs.
func splitPair(symbol string) (base, quote string, ok bool) {
	if i := strings.IndexAny(symbol, "-_"); i > 0 {
		base, quote = symbol[:i], symbol[i+1:]
		if isMoney(quote) {
			return base, quote, true
		}
		return "", "", false
	}
	// This comes before the tokens: otherwise XBTUSD would be XB in TUSD.
	if n := len(symbol) - 3; n > 0 && fiat[symbol[n:]] && (coins[symbol[:n]] || fiat[symbol[:n]]) {
		return symbol[:n], symbol[n:], true
	}
	for _, token := range tokens {
		if base, found := strings.CutSuffix(symbol, token); found && len(base) >= 2 && !strings.ContainsAny(base, ".^=") {
			return base, token, true
		}
	}
	return "", "", false
}

// cryptoPair is splitPair for a service that has pairs of coins only, where a
// symbol that ends like a currency must be one: PEPEUSD is PEPE in USD.
func cryptoPair(symbol string) (base, quote string, ok bool) {
	if base, quote, ok = splitPair(symbol); ok {
		return base, quote, true
	}
	// Here any dash separates a pair, and any base has a price in money.
	if i := strings.IndexAny(symbol, "-_"); i > 0 && i < len(symbol)-1 {
		return symbol[:i], symbol[i+1:], true
	}
	if n := len(symbol) - 3; n >= 2 && fiat[symbol[n:]] {
		return symbol[:n], symbol[n:], true
	}
	return "", "", false
}

// What pairs are made of: money, tokens that others are priced in, and coins.
var (
	fiat   = set("USD EUR GBP JPY CHF AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ZAR MXN BRL CNY HKD SGD INR KRW")
	tokens = []string{"FDUSD", "USDT", "USDC", "BUSD", "TUSD", "DAI", "BTC", "ETH", "BNB"}
	// coins may be written together with a currency without a dash, as in SOLEUR. Other
	// names need a dash: the symbol of a stock may end like a currency.
	coins = set("BTC XBT ETH SOL XRP ADA DOGE XDG LTC BCH DOT LINK AVAX UNI ATOM XLM ETC AAVE ALGO NEAR TRX SHIB")
)

// isMoney reports whether prices are given in units of this name.
func isMoney(name string) bool { return fiat[name] || slices.Contains(tokens, name) }

// set returns the words of a text as a set.
func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// coin returns the usual name of a coin that Kraken names differently.
func coin(name string) string {
	switch name {
	case "XBT":
		return "BTC"
	case "XDG":
		return "DOGE"
	}
	return name
}

// noSeparator removes what stands between the two sides of a pair.
var noSeparator = strings.NewReplacer("-", "", "_", "")

// Currency returns what the price of a symbol is counted in, as far as its form
// says: USDT for BTCUSDT, USD for XBTUSD; "" for a stock.
func Currency(symbol string) string {
	if six, ok := strings.CutSuffix(symbol, "=X"); ok && len(six) == 6 {
		symbol = six
	}
	_, quote, _ := splitPair(symbol)
	return quote
}

// spellPlain writes a pair without a separator, its coins by their usual names, and a
// pair of currencies without Yahoo's ending: EUR-USD and EURUSD=X are EURUSD.
func spellPlain(symbol string) string {
	if six, ok := strings.CutSuffix(symbol, "=X"); ok && len(six) == 6 && fiat[six[:3]] && fiat[six[3:]] {
		symbol = six
	}
	if base, quote, ok := splitPair(symbol); ok {
		symbol = coin(base) + coin(quote)
	}
	return symbol
}
