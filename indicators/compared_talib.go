package indicators

import "strings"

// equalToTALib has the functions of TA-Lib 0.8.1 that an entry equals to the ninth
// digit, with the parameters that it takes. Most have the name of the entry in
// capitals; the map has the others.
var equalToTALib = statements(map[string]string{
	"accelerator_oscillator": "AC",
	"awesome_oscillator":     "AO",
	"beta":                   "BETA with against low, source high",
	"candles":                "CDL*",
	"cfo":                    "FOSC",
	"chaikin_volatility":     "CVI",
	"cmo":                    "CMO; CMOU with variant sum",
	"correl":                 "CORREL with against low, source high",
	"cumulative_sum":         "CUMSUM with source close",
	"dpo":                    "DPO with variant shifted",
	"efficiency_ratio":       "ER",
	"elder_ray":              "ERI",
	"force_index":            "EFI",
	"heikin_ashi":            "HA",
	"kdj":                    "KDJ, begins differently",
	"keltner":                "KC with source hlc3, begins differently",
	"linreg_angle":           "LINEARREG_ANGLE",
	"linreg_intercept":       "LINEARREG_INTERCEPT",
	"linreg_slope":           "LINEARREG_SLOPE",
	"lsma":                   "LINEARREG",
	"mass_index":             "MASSI",
	"nvi":                    "NVI with start 1000",
	"pvi":                    "PVI with start 1000",
	"relative_volume":        "RVOL",
	"rvi_volatility":         "RVI with variant talib",
	"smi":                    "SMI, begins differently",
	"stoch_rsi":              "STOCHRSI with variant talib",
	"supertrend":             "SUPERTREND, begins differently",
	"true_range":             "TRANGE",
	"variance":               "VAR",
	"vwap":                   "VWAP with anchor none",
	"wad":                    "WAD, begins differently",
	"zlema":                  "ZLEMA, begins differently",
}, strings.ToUpper, "accbands ad adosc adr adx adxr apo aroon aroonosc atr avgdev avgprice bbands bop cci cmf coppock dema donchian dx ema "+
	"hma ht_dcperiod ht_dcphase ht_phasor ht_sine ht_trendline ht_trendmode imi kama ma macd macdext macdfix mama marketfi "+
	"max medprice mfi midpoint midprice min minmax minus_di minus_dm mom natr obv "+
	"percentile plus_di plus_dm ppo pvo pvt qstick rma roc rocp rocr rocr100 rsi sar sma stddev stoch stochf sum t3 "+
	"tema trima trix tsf tsi typprice ultosc vhf vortex vwma wclprice willr wma")

// unlikeTALib has the entries that TA-Lib has too, and computes or shows otherwise.
var unlikeTALib = map[string]string{
	"fractals":     "differs from FRACTAL: it shows the price of the extreme, not 100",
	"mavp":         "differs from MAVP: its lengths are the period of the dominant cycle, not the caller's",
	"maxindex":     "differs from MAXINDEX: it counts bars back from each bar, MAXINDEX from the first one on",
	"minindex":     "differs from MININDEX: it counts bars back from each bar, MININDEX from the first one on",
	"minmaxindex":  "differs from MINMAXINDEX: it counts bars back from each bar, MINMAXINDEX from the first one on",
	"percent_rank": "differs from PERCENTRANK: it counts prices equal to the newest too",
	"sarext":       "differs from SAREXT: falling stops are not negative",
}

// statements returns table with what say returns added for each of the names, which
// stand between blanks.
func statements(table map[string]string, say func(name string) string, names string) map[string]string {
	for name := range strings.FieldsSeq(names) {
		table[name] = say(name)
	}
	return table
}
