package indicators

import (
	"slices"
	"strings"
)

// How entries relate to what other programs compute. The two tables below are
// what the test vectors prove, and a test holds them to that; of TradingView there
// are no vectors, so nothing more is said than the description does.

// Compared says of TA-Lib ("ta_lib"), TradingView ("tradingview") and pandas-ta
// ("pandas_ta") how the entry relates to them.
func (ind *Indicator) Compared() map[string]string {
	out := map[string]string{"ta_lib": "not compared", "tradingview": "not compared", "pandas_ta": "not compared"}
	if functions := equalToTALib[ind.Name]; functions != "" {
		out["ta_lib"] = "equal to " + functions
	}
	if strings.Contains(ind.Doc, "TradingView") || strings.Contains(ind.Doc, "Pine") {
		out["tradingview"] = "as the description says; not checked against the program"
	}
	if slices.Contains(strings.Fields(equalToPandas), ind.Name) {
		out["pandas_ta"] = "equal (pandas-ta-classic)"
	}
	return out
}

// equalToTALib has the functions of TA-Lib 0.8.1 that an entry equals to the ninth
// digit, with the parameters that it takes.
var equalToTALib = map[string]string{
	"accbands":               "ACCBANDS",
	"accelerator_oscillator": "AC",
	"ad":                     "AD",
	"adosc":                  "ADOSC",
	"adr":                    "ADR",
	"adx":                    "ADX",
	"adxr":                   "ADXR",
	"apo":                    "APO",
	"aroon":                  "AROON",
	"aroonosc":               "AROONOSC",
	"atr":                    "ATR",
	"avgdev":                 "AVGDEV",
	"avgprice":               "AVGPRICE",
	"awesome_oscillator":     "AO",
	"bbands":                 "BBANDS",
	"beta":                   "BETA with against low, source high",
	"bop":                    "BOP",
	"candles":                "CDL*",
	"cci":                    "CCI",
	"cfo":                    "FOSC",
	"chaikin_volatility":     "CVI",
	"cmf":                    "CMF",
	"cmo":                    "CMO; CMOU with variant sum",
	"coppock":                "COPPOCK",
	"correl":                 "CORREL with against low, source high",
	"cumulative_sum":         "CUMSUM with source close",
	"dema":                   "DEMA",
	"donchian":               "DONCHIAN",
	"dpo":                    "DPO with variant shifted",
	"dx":                     "DX",
	"efficiency_ratio":       "ER",
	"elder_ray":              "ERI",
	"ema":                    "EMA",
	"force_index":            "EFI",
	"fractals":               "FRACTAL",
	"heikin_ashi":            "HA",
	"hma":                    "HMA",
	"ht_dcperiod":            "HT_DCPERIOD",
	"ht_dcphase":             "HT_DCPHASE",
	"ht_phasor":              "HT_PHASOR",
	"ht_sine":                "HT_SINE",
	"ht_trendline":           "HT_TRENDLINE",
	"ht_trendmode":           "HT_TRENDMODE",
	"imi":                    "IMI",
	"kama":                   "KAMA",
	"kdj":                    "KDJ, begins differently",
	"keltner":                "KC with source hlc3, begins differently",
	"linreg_angle":           "LINEARREG_ANGLE",
	"linreg_intercept":       "LINEARREG_INTERCEPT",
	"linreg_slope":           "LINEARREG_SLOPE",
	"lsma":                   "LINEARREG",
	"ma":                     "MA",
	"macd":                   "MACD",
	"macdext":                "MACDEXT",
	"macdfix":                "MACDFIX",
	"mama":                   "MAMA",
	"marketfi":               "MARKETFI",
	"mass_index":             "MASSI",
	"mavp":                   "MAVP",
	"max":                    "MAX",
	"maxindex":               "MAXINDEX",
	"medprice":               "MEDPRICE",
	"mfi":                    "MFI",
	"midpoint":               "MIDPOINT",
	"midprice":               "MIDPRICE",
	"min":                    "MIN",
	"minindex":               "MININDEX",
	"minmax":                 "MINMAX",
	"minmaxindex":            "MINMAXINDEX",
	"minus_di":               "MINUS_DI",
	"minus_dm":               "MINUS_DM",
	"mom":                    "MOM",
	"natr":                   "NATR",
	"nvi":                    "NVI with start 1000",
	"obv":                    "OBV",
	"percentile":             "PERCENTILE",
	"plus_di":                "PLUS_DI",
	"plus_dm":                "PLUS_DM",
	"ppo":                    "PPO",
	"pvi":                    "PVI with start 1000",
	"pvo":                    "PVO",
	"pvt":                    "PVT",
	"qstick":                 "QSTICK",
	"relative_volume":        "RVOL",
	"rma":                    "RMA",
	"roc":                    "ROC",
	"rocp":                   "ROCP",
	"rocr":                   "ROCR",
	"rocr100":                "ROCR100",
	"rsi":                    "RSI",
	"rvi_volatility":         "RVI with variant talib",
	"sar":                    "SAR",
	"sarext":                 "SAREXT",
	"sma":                    "SMA",
	"smi":                    "SMI, begins differently",
	"stddev":                 "STDDEV",
	"stoch":                  "STOCH",
	"stoch_rsi":              "STOCHRSI with variant talib",
	"stochf":                 "STOCHF",
	"sum":                    "SUM",
	"supertrend":             "SUPERTREND, begins differently",
	"t3":                     "T3",
	"tema":                   "TEMA",
	"trima":                  "TRIMA",
	"trix":                   "TRIX",
	"true_range":             "TRANGE",
	"tsf":                    "TSF",
	"tsi":                    "TSI",
	"typprice":               "TYPPRICE",
	"ultosc":                 "ULTOSC",
	"variance":               "VAR",
	"vhf":                    "VHF",
	"vortex":                 "VORTEX",
	"vwap":                   "VWAP with anchor none",
	"vwma":                   "VWMA",
	"wad":                    "WAD, begins differently",
	"wclprice":               "WCLPRICE",
	"willr":                  "WILLR",
	"wma":                    "WMA",
	"zlema":                  "ZLEMA, begins differently",
}

// equalToPandas are the entries whose values pandas-ta-classic gives too.
const equalToPandas = "adx atr awesome_oscillator bb_bandwidth bb_percent_b bias center_of_gravity chaikin_volatility choppiness cmf " +
	"cmo coppock correlation_trend donchian dpo elder_ray emv fisher force_index gann_hilo heikin_ashi hma ichimoku " +
	"kdj keltner macd marketfi mass_index mcginley pretty_good_oscillator psychological_line pvo qqe qstick rma " +
	"stoch_rsi supertrend swma tsi ulcer_index vhf vidya volume_oscillator vortex vwma wad zlema"
