package market

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Open returns the source that the --source value names, ready to use: sample,
// auto, binance, yahoo, coinbase, kraken or csv:DIR. Getenv is asked for base
// URLs that replace the public ones: WICK_BINANCE_URL, WICK_BINANCE_FUTURES_URL,
// WICK_FEAR_GREED_URL, WICK_YAHOO_URL, WICK_COINBASE_URL, WICK_KRAKEN_URL; nil
// means none. Nothing is asked or read yet.
func Open(spec string, getenv func(string) string) (Source, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	switch name, dir, isDir := strings.Cut(spec, ":"); {
	case spec == "sample":
		return Sample{}, nil
	case spec == "auto":
		a := &auto{services: make(map[string]*Service)}
		for name := range services {
			s, err := openService(name, getenv)
			if err != nil {
				return nil, err
			}
			a.services[name] = s
		}
		return Cached(a), nil
	case name == "csv" && isDir:
		c, err := NewCSV(dir)
		if err != nil {
			return nil, err
		}
		return Cached(c), nil
	case services[spec] != nil:
		s, err := openService(spec, getenv)
		if err != nil {
			return nil, err
		}
		return Cached(s), nil
	}
	return nil, fmt.Errorf("unknown source %q: one of sample, auto, binance, yahoo, coinbase, kraken, csv:DIR", clip(spec))
}

// services are the constructors by name.
var services = map[string]func(ServiceOptions) (*Service, error){
	"binance": NewBinance, "yahoo": NewYahoo, "coinbase": NewCoinbase, "kraken": NewKraken,
}

func openService(name string, getenv func(string) string) (*Service, error) {
	return services[name](ServiceOptions{
		BaseURL:      getenv("WICK_" + strings.ToUpper(name) + "_URL"),
		FuturesURL:   getenv("WICK_BINANCE_FUTURES_URL"),
		FearGreedURL: getenv("WICK_FEAR_GREED_URL"),
	})
}

// auto asks the service that a symbol's form points to.
type auto struct{ services map[string]*Service }

// Bars routes q. An error says where to and why, for the form may mislead.
func (a *auto) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked()
	if err != nil {
		return nil, err
	}
	name, why := route(q.Symbol)
	s, err := a.services[name].Bars(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("auto took %s because %s: %w", name, why, err)
	}
	return s, nil
}

func (a *auto) pace(symbol string) time.Duration {
	name, _ := route(symbol)
	return a.services[name].pace(symbol)
}

// route returns the service for a symbol, and the reason in words. Dollars and
// their tokens are kept apart: BTC-USD is Coinbase's, BTCUSDT is Binance's.
func route(symbol string) (service, why string) {
	base, quote, pair := splitPair(symbol)
	switch {
	case pair && (base == "XBT" || base == "XDG"):
		return "kraken", base + " is Kraken's name of a coin"
	case pair && fiat[base]:
		return "yahoo", "it is a pair of currencies"
	case pair && fiat[quote]:
		return "coinbase", "it is a coin in " + quote
	case pair:
		return "binance", "it is a coin in " + quote
	}
	return "yahoo", "it looks like a stock, an index or a fund"
}

var (
	fiat   = set("USD EUR GBP JPY CHF AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ZAR MXN BRL CNY HKD SGD INR KRW")
	tokens = []string{"FDUSD", "USDT", "USDC", "BUSD", "TUSD", "DAI", "BTC", "ETH", "BNB"}
	// coins are those that are also traded in money; others need a dash, because
	// a stock's symbol may end like a currency.
	coins = set("BTC XBT ETH SOL XRP ADA DOGE XDG LTC BCH DOT LINK AVAX UNI ATOM XLM ETC AAVE ALGO NEAR TRX SHIB")
)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// splitPair parts a pair into base and quote: BTC-USD, BTC_USDT, BTCUSDT,
// ETHEUR, EURUSD. A share class (BRK-B) and Yahoo's EURUSD=X are no pairs.
func splitPair(symbol string) (base, quote string, ok bool) {
	if i := strings.IndexAny(symbol, "-_"); i > 0 {
		base, quote = symbol[:i], symbol[i+1:]
		if fiat[quote] {
			return base, quote, true
		}
		for _, token := range tokens {
			if quote == token {
				return base, quote, true
			}
		}
		return "", "", false
	}
	// First, or XBTUSD would be XB in TUSD.
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
