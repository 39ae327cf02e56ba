package market

import (
	"strings"
	"testing"
)

// What a price is counted in, by the lists of the exchanges and ISO 4217. The symbols
// stand behind the currency that they are priced in.
func TestCurrency(t *testing.T) {
	for _, c := range []struct{ why, want, symbols string }{
		{"coins in dollars, at Kraken and Coinbase", "USD", "BTCUSD XBTUSD ETHUSD SOLUSD PEPEUSD WBTCUSD TBTCUSD RENDERUSD OPUSD SCUSD BTC-USD PEPE-USD BTC_USD"},
		{"they end like BUSD and TUSD by chance", "USD", "BNBUSD ARBUSD DGBUSD TRBUSD CKBUSD SHIBUSD BATUSD GRTUSD ONTUSD DOTUSD ANTUSD FETUSD USDTUSD GOATUSD PNUTUSD SCRTUSD AIXBTUSD BNB-USD USDT-USD"},
		{"tokens are coins, too", "USD", "USDCUSD DAIUSD TUSDUSD BUSDUSD FDUSDUSD"},
		{"dollar tokens, at Binance until 2023", "BUSD", "ETHBUSD BTCBUSD BNBBUSD ARBBUSD SUSHIBUSD OPBUSD SCBUSD EURBUSD BTCSTBUSD USDCBUSD ETH-BUSD"},
		{"the other one", "TUSD", "BTCTUSD NEARTUSD ETHTUSD BNBTUSD USDCTUSD BTC-TUSD"},
		{"a third", "FDUSD", "BTCFDUSD SOLFDUSD PEPEFDUSD OPFDUSD"},
		{"and the newer ones", "USD1", "BTCUSD1 ETHUSD1 BTC-USD1"}, {"", "USDE", "ETHUSDE"}, {"", "USDP", "BTCUSDP"}, {"", "UST", "BTCUST"}, {"", "EURI", "BTCEURI ETHEURI"},
		{"the usual tokens", "USDT", "BTCUSDT ETHUSDT EURUSDT ARBUSDT BTTUSDT TUSDUSDT OPUSDT 1INCHUSDT BTC-USDT BTC_USDT"},
		{"", "USDC", "SOLUSDC SHIBUSDC PEPEUSDC"}, {"", "DAI", "BTCDAI ETH-DAI"},
		{"coins in euros", "EUR", "BTCEUR ETHEUR PEPEEUR WIFEUR TAOEUR SUIEUR BNBEUR USDCEUR USDTEUR ADAEUR OPEUR SCEUR 1INCHEUR PEPE-EUR PEPE_EUR DAIEUR"},
		{"in tokens that end like a currency, at Binance", "AEUR", "BTCAEUR ETHAEUR EURAEUR BTC-AEUR"}, {"", "BIDR", "BTCBIDR BNBBIDR USDTBIDR SXPBIDR SHIBBIDR MANABIDR"},
		{"", "BKRW", "BTCBKRW BNBBKRW AAVEBKRW USDTBKRW"}, {"", "BVND", "ETHBVND USDTBVND"}, {"", "GYEN", "USDTGYEN"}, {"", "IDRT", "BTCIDRT BNBIDRT"},
		{"their coins end so by chance", "EUR", "DOGEUR ADAEUR ENAEUR GALAEUR LUNAEUR THETAEUR MANAEUR"}, {"", "IDR", "ARBIDR BNBIDR SHIBIDR"}, {"", "KRW", "BNBKRW SHIBKRW"},
		{"and in other money", "JPY", "USDTJPY SUIJPY BTCJPY XBTJPY"}, {"", "TRY", "PEPETRY USDTTRY BTCTRY BUSDTRY SHIBTRY EURTRY"}, {"", "BRL", "USDTBRL SOLBRL DOGEBRL"},
		{"", "GBP", "PEPEGBP BTC-GBP"}, {"", "UAH", "BTCUAH USDTUAH"}, {"", "RON", "BTCRON"}, {"", "IDR", "BTCIDR"}, {"", "ARS", "BTCARS USDTARS"}, {"", "COP", "USDTCOP BTC-COP"},
		{"", "NGN", "USDTNGN"}, {"", "VND", "USDTVND"}, {"", "THB", "BTCTHB BTC_THB"}, {"", "AED", "BTCAED"}, {"", "ILS", "BTCILS"}, {"", "RUB", "BTCRUB"},
		{"", "MXN", "BTCMXN"}, {"", "ZAR", "BTCZAR USDTZAR"}, {"", "PLN", "BTCPLN"}, {"", "CZK", "BTCCZK"}, {"", "KRW", "BTCKRW"}, {"", "AUD", "PEPEAUD"},
		{"", "CAD", "BTCCAD USDCAD"}, {"", "CHF", "BTCCHF USDCHF"},
		{"coins in coins", "BTC", "ETHBTC PEPEBTC OPBTC ETHXBT SOLXBT ETH-XBT"}, {"", "ETH", "SOLETH SOL-ETH"}, {"", "BNB", "SOLBNB"}, {"", "TRX", "WINTRX"}, {"", "SOL", "PEPE-SOL"},
		{"pairs of currencies", "USD", "EURUSD GBPUSD AUDUSD EUR-USD EUR.USD EURUSD=X XAUUSD"}, {"", "GBP", "EURGBP EURGBP=X"}, {"a dollar in yen", "JPY", "USDJPY USDJPY=X JPY=X"}, {"", "KZT", "USDKZT=X"},
		{"contracts and other remarks", "USDT", "BTCUSDT.P BTCUSDT_PERP BTCUSDT_260327"}, {"", "EUR", "BTC-EUR-SPOT ETHEUR.P"},
		{"stocks, funds, indices and futures, of which only a source can tell it", "", "AAPL BRK-B BRK.B BF-B GOOGL SAP.DE 7203.T VOD.L RELIANCE.NS BACHF CICHF GBTC METH ABTC COP ARS USD TRY ^GDAXI GC=F ES=F BTC=F VFIAX BAC-PL"},
		{"a coin alone, which is no pair", "", "BTC USDT FDUSD TUSD WBTC PYUSD RLUSD"},
	} {
		for symbol := range strings.FieldsSeq(c.symbols) {
			if got := Currency(symbol); got != c.want {
				t.Errorf("%s is in %q, want %q (%s)", symbol, got, c.want, c.why)
			}
		}
	}
}
