package market

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"wick/market/markettest"
)

// The usual spellings of a market come to one name, at each source in its own way.
func TestResolve(t *testing.T) {
	files := directory(t, map[string]string{"btc-usd-1h.csv": threeDays, "spy-1d.csv": threeDays, "EURUSD.csv": threeDays})
	for spec, markets := range map[string]map[string]string{
		"sample": {
			"BTCUSDT": "BTCUSDT BTC/USDT btc-usdt BTC_USDT BINANCE:BTCUSDT XBT/USDT", "BTCUSD": "BTCUSD BTC-USD XBTUSD KRAKEN:XBT/USD",
			"EURUSD": "EURUSD EUR/USD EURUSD=X", "BRK-B": "BRK-B brk/b", "AAPL": "AAPL NASDAQ:AAPL", "BTC": "BTC ARCA:BTC",
			"VOD": "VOD LSE:VOD", "UNI": "MIL:UNI", "GBPUSD": "FX_IDC:GBPUSD",
		},
		"binance":  {"BTCUSDT": "BTCUSDT BTC/USDT btc-usdt BTC_USDT BINANCE:BTCUSDT XBTUSDT", "DOGEBTC": "DOGEBTC XDG/XBT", "PEPEUSDC": "PEPEUSDC pepe-usdc"},
		"coinbase": {"BTC-USD": "BTCUSD BTC-USD XBTUSD btc/usd COINBASE:BTCUSD", "PEPE-USD": "PEPEUSD PEPE-USD", "BAT-USD": "BATUSD BAT/USD"},
		"kraken":   {"XBTUSD": "BTCUSD BTC-USD XBTUSD XBT/USD XXBTZUSD KRAKEN:BTCUSD", "ETHEUR": "ETHEUR XETHZEUR ETH/EUR", "ETHXBT": "ETHBTC XETHXXBT", "USDTUSD": "USDTZUSD USDT/USD", "XDGUSD": "DOGEUSD XDG-USD", "FOOUSD": "FOO/USD FOOUSD"},
		"yahoo":    {"EURUSD=X": "EURUSD EUR/USD EURUSD=X", "USDJPY=X": "JPY=X USDJPY", "BTC-USD": "BTCUSD BTC/USD BTC-USD", "AAPL": "AAPL NYSE:AAPL aapl", "BRK-B": "BRK-B", "BTC": "BTC", "^GSPC": "^GSPC"},
		"auto": {
			"BTCUSDT": "BTCUSDT BTC/USDT BINANCE:BTCUSDT", "BTC-USD": "BTCUSD BTC-USD COINBASE:BTCUSD", "XBTUSD": "XBTUSD XBT-USD KRAKEN:BTCUSD",
			"EURUSD=X": "EURUSD EUR/USD", "AAPL": "AAPL NASDAQ:AAPL", "EURUSDT": "EURUSDT EUR/USDT",
		},
		"csv:" + files.dir: {"BTC-USD": "BTCUSD BTC-USD XBT/USD", "SPY": "SPY spy", "EURUSD": "EUR-USD EURUSD=X", "NOSUCH": "NOSUCH"},
	} {
		source, err := Open(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		for want, spellings := range markets {
			for text := range strings.FieldsSeq(spellings) {
				if got, err := Resolve(source, text); got != want || err != nil {
					t.Errorf("%s: %q is %q, %v; want %q", spec, text, got, err, want)
				}
			}
		}
	}
}

// Among invented markets and files a pair has one name in whatever it is counted, also if
// that decides for no service, and a stock keeps its own.
func TestResolvePairs(t *testing.T) {
	money := slices.Concat(tokens, slices.Collect(maps.Keys(fiat)), slices.Collect(maps.Keys(otherMoney)))
	same := func(source Source, text, want string) {
		t.Helper()
		if got, err := Resolve(source, text); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	// Written together these are others: USDT in USD, PEPEA in EUR.
	unclear := set("USD-TUSD PEPE-AEUR 1INCH-AEUR OP-AEUR")
	for pair := range unclear {
		same(Sample{}, pair, pair)
		same(Sample{}, strings.Replace(pair, "-", "_", 1), pair)
	}
	for _, quote := range money {
		for _, base := range []string{"BTC", "ETH", "USDT", "PEPE", "1INCH", "SHIB", "USD", "OP"} {
			if base == coin(quote) || unclear[base+"-"+quote] {
				continue
			}
			want := base + coin(quote)
			for _, text := range []string{base + "-" + quote, base + "/" + quote, strings.ToLower(base + "_" + quote), "BINANCE:" + base + quote, want} {
				same(Sample{}, text, want)
			}
		}
	}
	for want, spellings := range map[string]string{
		"BTCUAH": "XBTUAH XBT/UAH BTC.UAH", "DOGETHB": "XDG-THB XDGTHB", "EURUSD": "EUR.USD", "USDKZT": "USDKZT=X USD/KZT KZT=X", "USDJPY": "JPY=X USD/JPY", "ETHBTC": "ETHXBT ETH-XBT",
		"ZK-UAH": "ZK/UAH zk_uah ZK-UAH", "BN-BUSD": "BN/BUSD BN_BUSD", "BNBUSD": "BNB/USD BNBUSD",
	} {
		for text := range strings.FieldsSeq(spellings) {
			same(Sample{}, text, want)
		}
	}
	for text := range strings.FieldsSeq("BRK-B BF-A BRK.B BAC-PL RDS-A SAP.DE 7203.T VOD.L RELIANCE.NS BACHF GBTC COP ARS USD=X ES=F ^GDAXI BTCUSDT.P BTC-EUR-SPOT ABC-DEF-EUR -UAH .UAH") {
		same(Sample{}, text, text)
	}
	files := directory(t, map[string]string{"btc-uah-1d.csv": threeDays, "usdthb.csv": threeDays})
	same(files, "BTCUAH", "BTC-UAH")
	same(files, "btc_uah", "BTC-UAH")
	same(files, "USD/THB", "USDTHB")
}

// At every service its own names are canonical, in any case and behind its name or an
// exchange that it answers for, and a pair is one market whatever separates it.
func TestResolveAtEveryService(t *testing.T) {
	for _, p := range providers {
		source, err := Open(p.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		same := func(text, want string) {
			if got, err := Resolve(source, text); got != want || err != nil {
				t.Errorf("%s: %q is %q, %v; want %q", p.name, text, got, err, want)
			}
		}
		for _, symbol := range append([]string{p.example}, p.usual...) {
			same(symbol, symbol)
			same(strings.ToLower(symbol), symbol)
			for _, venue := range append([]string{strings.ToUpper(p.name)}, p.venues...) {
				same(venue+":"+symbol, symbol)
			}
		}
		pair := p.spell("BTC-" + dollars[p.name])
		for _, separator := range []string{"", "-", "_", "/"} {
			same("BTC"+separator+dollars[p.name], pair)
			same("XBT"+separator+dollars[p.name], pair)
		}
	}
}

// A text that could mean another market is refused with what would be right.
func TestResolveRefuses(t *testing.T) {
	for _, c := range []struct{ spec, text, says string }{
		{"auto", "BTC", "BTCUSDT"}, {"auto", "btc", "BTC-USD"}, {"auto", "ETH", "--source yahoo"},
		{"auto", "KRAKEN:ETHUSD", "--source kraken"}, {"auto", "LSE:VOD", "LSE"},
		{"binance", "KRAKEN:BTCUSD", "--source kraken"}, {"binance", "MARS:BTCUSD", "MARS"},
		{"kraken", "a b", "letters"}, {"sample", "../x", "letters"}, {"sample", ":", "letters"}, {"sample", "A:B:C", "letters"}, {"coinbase", "BTC//USD", "letters"},
	} {
		source, err := Open(c.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Resolve(source, c.text); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q is %q, %v; want an error that says %q", c.spec, c.text, got, err, c.says)
		}
	}
}

// The notation of a perpetual, and what stands on both sides of a colon and is no
// exchange, is refused by every source: read as an exchange and a symbol it would be
// the market USDT, at another price.
func TestResolvePerpetual(t *testing.T) {
	files := directory(t, map[string]string{"usdt-1h.csv": threeDays, "btcusdt-1h.csv": threeDays})
	for _, spec := range append(Sources(), "csv:"+files.dir) {
		source, err := Open(spec, nil)
		if err != nil { // a directory is to be named with csv
			continue
		}
		for _, text := range []string{
			"BTC/USDT:USDT", "btc/usdt:usdt", "BTC:USDT", "BTC/USD:BTC", "BTC/USDT:USDT-260327", "BTC-USDT:USDT", "BTCUSDT:USDT", "BTCUSDT:PERP",
			"EUR:USD", "PEPE:USDT", "USDT:BTCUSDT", "../x:AAPL",
		} {
			if got, err := Resolve(source, text); err == nil || !strings.Contains(err.Error(), "exchange") || !strings.Contains(err.Error(), "BINANCE:BTCUSDT") {
				t.Errorf("%s: %q is %q, %v; want an error that says what stands before a colon", spec, text, got, err)
			}
		}
	}
}

// What stands before a colon is read as strictly as what stands after it: a text that
// names no exchange is refused, not dropped, because the rest of it is another symbol
// than the one that somebody wrote.
func TestResolveReadsBeforeTheColon(t *testing.T) {
	files := directory(t, map[string]string{"evil.example-1h.csv": threeDays, "80-1h.csv": threeDays})
	for _, spec := range append(Sources(), "csv:"+files.dir) {
		source, err := Open(spec, nil)
		if err != nil { // a directory is to be named with csv
			continue
		}
		for _, text := range []string{
			"BTC\r\nHost: evil.example", "x@127.0.0.1:80", "127.0.0.1:80", "8080:80", ":80", " :80", "A:80", "a b:80", "NYSE\x00:80", "NYSE\n:80", "NYSÉ:80", "ＮＹＳＥ:80", "NYſE:80",
			"http:80:80", "%4e:80", "evil.example:80", "-X:80", "_:80", "___:80", "1234:80", strings.Repeat("N", 21) + ":80", strings.Repeat("N", 100000) + ":80",
		} {
			if got, err := Resolve(source, text); err == nil || len(err.Error()) > 400 {
				t.Errorf("%s: %.40q is %q, %.400v; want a short refusal", spec, text, got, err)
			}
			if got, err := Written(text); err == nil {
				t.Errorf("%.40q is written %q; want a refusal", text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"NASDAQ:AAPL": "NASDAQ:AAPL", " fx_idc : eurusd ": "FX_IDC:EURUSD", "B3:PETR4": "B3:PETR4", "lse:vod": "LSE:VOD", "BME:SAN": "BME:SAN", "CME_MINI:ES1": "CME_MINI:ES1",
	} {
		if got, err := Written(text); got != want || err != nil {
			t.Errorf("%q is written %q, %v; want %q", text, got, err, want)
		}
	}
}

// A symbol that is unknown under this name but known in another spelling is
// answered with that.
func TestUnknownSymbolSuggests(t *testing.T) {
	for _, c := range []struct{ source, symbol, says string }{
		{"binance", "BTCUSD", "check the spelling, such as BTCUSDT"}, {"coinbase", "BTC", "such as BTC-USD"}, {"kraken", "ETH", "such as XBTUSD"}, {"yahoo", "QQQQQ", "check the symbol"},
	} {
		bubble(t, func(t *testing.T) {
			x := &markettest.Exchange{}
			x.Inject(markettest.Fault{Kind: markettest.WrongSymbol})
			_, err := fake(t, c.source, x).Bars(t.Context(), Query{Symbol: c.symbol, Interval: Hour1, Limit: 5})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %q: %v, want it to say %q", c.source, c.symbol, err, c.says)
			}
		})
	}
}

// Two spellings of a market are one entry of the cache and one request, and the
// answer bears the canonical name.
func TestSpellingsShareAnAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 3}
		s := Cached(fake(t, "kraken", x))
		for _, symbol := range []string{"BTCUSD", "BTC-USD", "XBTUSD", "XBT/USD"} {
			got, err := s.Bars(t.Context(), Query{Symbol: symbol, Interval: Hour1, Limit: 5})
			if err != nil || got.Symbol != "XBTUSD" {
				t.Errorf("%s: %v, %v", symbol, got, err)
			}
		}
		if n := x.Requests("kraken"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// Whatever is resolved is a symbol, and resolving it again changes nothing.
func FuzzResolve(f *testing.F) {
	for _, text := range []string{"BTC/USDT", "BINANCE:BTCUSDT", "XXBTZUSD", "jpy=x", "FOOTUSD", "A-USD", "XBTTUSD", "XDGXDG-XBT", "-USD", "EUR-EUR", "BTC.UAH", "XBTA-EUR", "ZK_UAH", "A-XBT", "XB_TUSD"} {
		f.Add(text)
	}
	var sources []Source
	for _, spec := range Sources() {
		if s, err := Open(spec, nil); err == nil {
			sources = append(sources, s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range append(sources, wrapped{Sample{}}) {
			got, err := Resolve(s, text)
			if err != nil {
				continue
			}
			if parsed, err := ParseSymbol(got); parsed != got || err != nil {
				t.Errorf("%T: %q gives %q: %v", s, text, got, err)
			}
			if again, err := Resolve(s, got); again != got || err != nil {
				t.Errorf("%T: %q gives %q, which gives %q, %v", s, text, got, again, err)
			}
		}
	})
}

// wrapped is a source of another package, which has no rules for spellings.
type wrapped struct{ source Source }

func (w wrapped) Bars(ctx context.Context, q Query) (*Series, error) { return w.source.Bars(ctx, q) }
