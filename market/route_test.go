package market

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/market/markettest"
)

func TestRoute(t *testing.T) {
	for symbol, want := range map[string]string{
		"BTCUSDT": "binance", "ETHBTC": "binance", "BTC-USDT": "binance", "PEPEFDUSD": "binance", "SOLUSDC": "binance",
		"BTC-USD": "coinbase", "BNBUSD": "coinbase", "DOTUSD": "coinbase", "USDTUSD": "coinbase", "USDCEUR": "coinbase", "BTCUSD": "coinbase", "ETHEUR": "coinbase", "SOL-GBP": "coinbase",
		"XBTUSD": "kraken", "XBT-EUR": "kraken", "XDGUSD": "kraken",
		"AAPL": "yahoo", "BRK-B": "yahoo", "^GSPC": "yahoo", "EURUSD=X": "yahoo", "EURUSD": "yahoo", "GBP-USD": "yahoo", "ES=F": "yahoo", "VOD.L": "yahoo",
		"BACHF": "yahoo", "COP": "yahoo", "BTC-UAH": "yahoo", "GBTC": "yahoo", "METH": "yahoo", "USD": "yahoo", "EURUSDT": "binance",
	} {
		if got, why := route(symbol); got.name != want || why == "" {
			t.Errorf("%s goes to %s because %s; want %s", symbol, got.name, why, want)
		}
	}
}

// Over real connections, as the program runs: every source by its name.
func TestOpen(t *testing.T) {
	t.Parallel()
	x := &markettest.Exchange{Days: 20}
	env := x.Serve(t)
	specs := map[string]string{"sample": "ANY", "auto": "ETHUSDT", "csv:" + directory(t, map[string]string{"a-1h.csv": threeDays}).dir: "A"}
	maps.Copy(specs, listed)
	for spec, symbol := range specs {
		src, err := Open(spec, env)
		if err != nil {
			t.Fatal(err)
		}
		s, err := src.Bars(t.Context(), Query{Symbol: symbol, Interval: Hour4, Limit: 20})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		want := map[string]string{"auto": "binance"}[spec]
		if want == "" {
			want, _, _ = strings.Cut(spec, ":")
		}
		if s.Source != want || s.Synthetic != (spec == "sample") || s.Check() != nil || time.Since(time.UnixMilli(s.AsOf)) > time.Minute {
			t.Errorf("%s: %s, synthetic %v, as of %d", spec, s.Source, s.Synthetic, s.AsOf)
		}
	}
	for _, spec := range []string{"", "nasdaq", "csv", "csv:/no/such/dir", "Sample", "binance:x"} {
		if src, err := Open(spec, nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%q) = %v, %v", spec, src, err)
		}
	}
	if _, err := Open("auto", func(name string) string { return map[string]string{"WICK_KRAKEN_URL": "http://kraken.example"}[name] }); err == nil {
		t.Error("took http to a public host")
	}
	// auto says where it went and why.
	src, _ := Open("auto", env)
	_, err := src.Bars(t.Context(), Query{Symbol: "NOSUCHUSDT", Interval: Hour4, Limit: 20})
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "auto chose binance because it is a coin in USDT") {
		t.Errorf("%v", err)
	}
}

// Columns stand at the bars in which they became known. The fake's fear and
// greed of a day is its number, and its open interest the end of its period.
func TestColumns(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 60}
		s := fake(t, "binance", x)
		all := []string{ExtraFunding, ExtraOI, ExtraLong, ExtraShort, ExtraFearGreed}
		for _, iv := range []Interval{Minute1, Minute15, Hour4, Day1, Week1} {
			got, err := s.Bars(t.Context(), Query{Symbol: "BTCUSDT", Interval: iv, Limit: 300, Extra: all})
			if err != nil {
				t.Fatal(err)
			}
			for i, start := range got.Time {
				end := min(iv.Next(start), time.Now().Unix()+1)
				fear, funding := got.Extra[ExtraFearGreed][i], got.Extra[ExtraFunding][i]
				if want := float64((end - 1) / 86400 % 100); fear != want {
					t.Fatalf("%s bar %d: fear %v, want %v", iv, i, fear, want)
				}
				if want := float64((end-1)/28800%100) / 1e6; math.Abs(funding-want) > 1e-12 {
					t.Fatalf("%s bar %d: funding %v, want %v", iv, i, funding, want)
				}
			}
			last := got.Len() - 2 // a closed bar of our own has its own period's end
			if oi := got.Extra[ExtraOI][last]; iv == Hour4 && oi != float64(iv.Next(got.Time[last])%100000) {
				t.Errorf("open interest of the bar at %d is %v", got.Time[last], oi)
			}
			if got.Extra[ExtraLong][last] != 0.6 || got.Extra[ExtraShort][last] != 0.4 {
				t.Errorf("long %v, short %v", got.Extra[ExtraLong][last], got.Extra[ExtraShort][last])
			}
		}
		early, err := s.Bars(t.Context(), Query{Symbol: "BTCUSDT", Interval: Day1, Limit: 60, Extra: []string{ExtraOI}})
		if err != nil || !math.IsNaN(early.Extra[ExtraOI][0]) {
			t.Errorf("open interest of 60 days ago: %v, %v; Binance keeps 30 days", early.Extra[ExtraOI][0], err)
		}
		asked := x.Requests("feargreed")
		time.Sleep(time.Hour)
		if _, err := s.Bars(t.Context(), Query{Symbol: "ETHUSDT", Interval: Hour1, Limit: 60, Extra: []string{ExtraFearGreed}}); err != nil || x.Requests("feargreed") != asked {
			t.Errorf("fear and greed changes once a day, but was asked %d times more, %v", x.Requests("feargreed")-asked, err)
		}
		x.Inject(markettest.Fault{Service: "futures", Kind: markettest.WrongSymbol})
		_, err = s.Bars(t.Context(), Query{Symbol: "XYZUSDT", Interval: Hour1, Limit: 60, Extra: []string{ExtraFunding}})
		if err == nil || !strings.Contains(err.Error(), "binance futures") {
			t.Errorf("no futures of the symbol: %v", err)
		}
	})
}

func TestNoSuchColumn(t *testing.T) {
	x := &markettest.Exchange{}
	for _, p := range providers {
		for _, extra := range []string{ExtraOI, "moon"} {
			if slices.Contains(p.columns, extra) {
				continue
			}
			_, err := fake(t, p.name, x).Bars(t.Context(), Query{Symbol: p.example, Interval: Hour1, Limit: 5, Extra: []string{extra}})
			if !errors.Is(err, errNoColumn) || !strings.Contains(err.Error(), p.name) || !strings.Contains(err.Error(), extra) {
				t.Errorf("%s %s: %v", p.name, extra, err)
			}
		}
	}
}
