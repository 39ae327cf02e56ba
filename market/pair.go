package market

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"wick/internal/limit"
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
	if n := len(symbol) - 3; n > 0 && fiat[symbol[n:]] && (coins[symbol[:n]] || isMoney(symbol[:n])) {
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
	tokens = []string{"FDUSD", "USDT", "USDC", "DAI", "BTC", "ETH", "BNB"}
	// coins may be written together with a currency without a dash, as in SOLEUR. Other
	// names need a dash: the symbol of a stock may end like a currency.
	coins = set("BTC XBT ETH SOL XRP ADA DOGE XDG LTC BCH DOT LINK AVAX UNI ATOM XLM ETC AAVE ALGO NEAR TRX SHIB")
	// short are coins of two letters, and endingBT those of four and more that end in B or T.
	short    = set("OP SC OM QI IQ DF OG ID IO AI")
	endingBT = set("EURT GOAT PNUT SCRT GHST KINT KILT AIXBT BLAST")
	// otherMoney is counted in too, but decides for no service: COP and ARS are also stocks.
	// The first line is ISO 4217, the second has tokens and coins that Binance or Kraken
	// have pairs in.
	otherMoney = set("AED ARS BGN BHD CLP COP EGP GEL IDR ILS ISK KES KWD KZT MAD MYR NGN PEN PHP PKR QAR RON RUB SAR THB TWD UAH UYU VND " +
		"USD1 USDE USDP USDS BUSD TUSD UST PAX VAI EURI AEUR IDRT BIDR BKRW BVND GYEN XBT SOL XRP DOGE DOT TRX")
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

// usualNames has the usual names of the coins that Kraken names differently.
var usualNames = map[string]string{"XBT": "BTC", "XDG": "DOGE"}

// coin returns the usual name of a coin.
func coin(name string) string { return cmp.Or(usualNames[name], name) }

// spellCoins writes a pair of coins with a separator, as a service with such names does.
func spellCoins(symbol, separator string, name func(string) string) string {
	if base, quote, ok := cryptoPair(symbol); ok {
		symbol = name(base) + separator + name(quote)
	}
	return strings.NewReplacer("-", separator, "_", separator).Replace(symbol)
}

var noSeparator = strings.NewReplacer("-", "", "_", "")

// Currency returns what the price of a symbol is counted in, as far as its form
// says: USDT for BTCUSDT, BTC for ETHXBT; "" for a stock. It knows what anyPair knows,
// because an account adds up what has no currency: if a stock is taken for a pair an order
// is refused, but if a pair is taken for a stock euros are added to dollars.
func Currency(symbol string) string {
	// Yahoo's pairs: EURUSD=X, and JPY=X for a dollar in yen.
	if pair, ok := strings.CutSuffix(symbol, "=X"); ok && (len(pair) == 3 || len(pair) == 6) {
		return pair[len(pair)-3:]
	}
	if _, quote, ok := anyPair(symbol); ok {
		return coin(quote)
	}
	if i := strings.LastIndexAny(symbol, "-_."); i >= 0 {
		return Currency(symbol[:i]) // what follows tells a contract or a class: BTCUSDT.P, BRK-B
	}
	return ""
}

// anyPair is splitPair for any currency, also one that decides for no service: BTC-UAH,
// BTC.UAH, BTCUAH. Whatever has six letters or more and ends like a currency is in it.
// Tickers of stocks have at most five, and some end so: BACHF is a bank.
func anyPair(symbol string) (base, quote string, ok bool) {
	if base, quote, ok = splitPair(symbol); ok {
		return base, quote, true
	}
	if i := strings.LastIndexAny(symbol, "-_."); i >= 0 {
		base, quote = symbol[:i], symbol[i+1:]
		return base, quote, isMoney(quote) || otherMoney[quote]
	}
	for _, n := range []int{4, 3} { // EURI and USD1 before the shorter ones
		base, quote = symbol[:max(0, len(symbol)-n)], symbol[max(0, len(symbol)-n):]
		if !isMoney(quote) && !otherMoney[quote] || len(base) < 3 && !short[base] {
			continue
		}
		// Of what is not base in a token but a longer name in a currency, such as SHIB in IDR,
		// the three letters are taken. Many coins end in A, and Binance has had BTC, ETH and EUR
		// alone in AEUR, so AEUR needs a base that is known.
		longer := base + quote[:1] // DOGEUR is DOG in EUR
		if n == 3 || quote == "AEUR" && (coins[base] || isMoney(base)) || quote != "AEUR" && !coins[longer] && !endingBT[longer] {
			return base, quote, true
		}
	}
	return "", "", false
}

// spellPlain writes a pair without a separator where that is clear, its coins by their usual
// names, and a pair of currencies without Yahoo's ending: EUR-USD and EURUSD=X are EURUSD,
// and JPY=X, a dollar in yen, is USDJPY.
func spellPlain(symbol string) string {
	money := func(name string) bool { return fiat[name] || otherMoney[name] }
	switch pair, ok := strings.CutSuffix(symbol, "=X"); {
	case ok && len(pair) == 6 && money(pair[:3]) && money(pair[3:]):
		symbol = pair
	case ok && len(pair) == 3 && money(pair) && pair != "USD":
		symbol = "USD" + pair
	}
	base, quote, ok := anyPair(symbol)
	if !ok || base == "" || !plain(base, "") { // more than one separator may tell a contract: its name is left alone
		return symbol
	}
	base, quote = coin(base), coin(quote)
	if in := Currency(base + quote); in == quote || in == "" && isMoney(quote) {
		return base + quote
	}
	// Without a separator it would mean something else: ZKUAH may be a stock.
	return base + "-" + quote
}

var errSymbol = errors.New("bad symbol")

// Resolve returns the canonical symbol of a market, under which everything about it
// is kept, for any usual spelling: BTC/USDT, btc-usdt and BINANCE:BTCUSDT
// are BTCUSDT at Binance, and BTCUSD, BTC-USD and XBTUSD are XBTUSD at Kraken. It
// refuses what [ParseSymbol] refuses, an exchange that source does not ask, and
// a text that could mean two markets. It makes no request. A source without a method
// Resolve has the names of [Sample].
func Resolve(source Source, text string) (string, error) { return venueOf(source).resolve(text) }

// ParseSymbol returns a symbol in upper case and without surrounding blanks. It
// must have 1 to 20 of A-Z, 0-9 and . ^ = _ -, at least one of them a letter or
// digit. All else is refused, so that a symbol can be put into a URL, a file
// name or a log line, and cannot mean a directory.
func ParseSymbol(text string) (string, error) {
	s, want := strings.TrimSpace(text), ""
	switch n := utf8.RuneCountInString(s); {
	case n < 1 || n > 20:
		want = "1 to 20 characters"
	case !plain(s, ".^=_-"):
		want = "letters, digits and . ^ = _ - only"
	case strings.Trim(s, ".^=_-") == "":
		want = "it has no letter or digit"
	default:
		return strings.ToUpper(s), nil
	}
	return "", fmt.Errorf("%w %q: %s, such as BTCUSDT, AAPL or EURUSD=X", errSymbol, limit.Clip(text), want)
}

// Written returns a symbol as somebody wrote it in one form that every source's
// [Resolve] takes: in upper case, with a dash for a slash and the exchange before it if
// one is named. Callers use it to check a symbol before they know which source is
// asked. It refuses what no source takes.
func Written(text string) (string, error) {
	venue, symbol, err := written(text)
	if venue != "" {
		symbol = venue + ":" + symbol
	}
	return symbol, err
}

// written splits a symbol as somebody wrote it into an exchange, "" if there is
// none, and a symbol in which a slash has become a dash. Every source reads symbols
// with it. Both parts are read: some sources ignore the exchange, and a text that is
// none would leave them another symbol than the one that was written.
func written(text string) (venue, symbol string, err error) {
	venue, rest, found := strings.Cut(text, ":")
	if !found {
		venue, rest = "", text
	}
	if base, quote, ok := strings.Cut(rest, "/"); ok && base != "" && quote != "" && plain(base, "") && plain(quote, "") {
		rest = base + "-" + quote
	}
	if symbol, err = ParseSymbol(rest); err != nil {
		_, err = ParseSymbol(text) // this fails too, and its error quotes the whole text
		return "", "", err
	}
	venue = strings.Trim(venue, " ")
	if found && !isVenue(venue, symbol) {
		return "", "", fmt.Errorf("%w %q: before a colon stands an exchange, as in BINANCE:BTCUSDT, and here is none; write the pair alone, such as BTC/USDT: perpetuals and other futures in this notation are not among the markets",
			errSymbol, limit.Clip(text))
	}
	return strings.ToUpper(venue), symbol, nil
}

// isVenue reports whether venue, the text before a colon, can be an exchange: 2 to 20
// letters, digits and _, beginning with a letter. It is none in BTC/USDT:USDT, which is a
// perpetual of BTC/USDT, nor in BTC:USDT, which is a pair: a source that ignores the
// exchange would read both as USDT, another market. After an exchange that one of our
// services answers for, any symbol may follow: a fund may be named BTC.
func isVenue(venue, symbol string) bool {
	if len(venue) < 2 || len(venue) > 20 || !plain(venue, "_") || strings.Contains("0123456789_", venue[:1]) {
		return false
	}
	venue = strings.ToUpper(venue)
	if slices.ContainsFunc(providers, func(p *provider) bool { return p.serves(venue) }) {
		return true
	}
	_, _, pair := splitPair(venue)
	return !pair && !coins[venue] && !isMoney(venue) && !isMoney(symbol)
}

// plain reports whether text has only letters and digits of ASCII and others. It looks at
// the text as it was sent: in upper case the letter ſ would be an S.
func plain(text, others string) bool {
	for _, c := range []byte(text) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
