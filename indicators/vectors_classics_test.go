package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// cancels is why two functions are held to 1e-8: what TA-Lib itself loses.
const cancels = "TA-Lib subtracts the square of the mean from the mean of squares, which leaves it eight digits at these prices"

// classicVectors covers what TA-Lib has, and the variants of it that other
// libraries agree on.
var classicVectors = map[string]cover{
	"ACCBANDS":            use("accbands", "timeperiod=length", "upperband=Upper, middleband=Middle, lowerband=Lower"),
	"AD":                  use("ad", "", "real=A/D"),
	"ADOSC":               use("adosc", "fastperiod=fast, slowperiod=slow", "real=Chaikin Osc"),
	"ADX":                 use("adx", "timeperiod=length", "real=ADX"),
	"ADXR":                use("adxr", "timeperiod=length", "real=ADXR"),
	"APO":                 use("apo", "fastperiod=fast, slowperiod=slow, matype=ma_type", "real=APO"),
	"AROON":               use("aroon", "timeperiod=length", "aroondown=Down, aroonup=Up"),
	"AROONOSC":            use("aroonosc", "timeperiod=length", "real=Aroon Osc"),
	"ATR":                 use("atr", "timeperiod=length", "real=ATR"),
	"AVGDEV":              use("avgdev", "timeperiod=length", "real=AvgDev"),
	"AVGPRICE":            use("avgprice", "", "real=Average price"),
	"BBANDS":              use("bbands", "timeperiod=length, nbdevup=mult, nbdevdn=mult_lower, matype=ma_type", "upperband=Upper, middleband=Middle, lowerband=Lower"),
	"BETA":                use("beta", "timeperiod=length, source:high, against:low", "real=Beta"),
	"BOP":                 use("bop", "", "real=BOP"),
	"CCI":                 use("cci", "timeperiod=length", "real=CCI"),
	"CMO":                 use("cmo", "timeperiod=length", "real=CMO"),
	"CORREL":              use("correl", "timeperiod=length, source:high, against:low", "real=Correlation").allowing(1e-8, cancels),
	"DEMA":                use("dema", "timeperiod=length", "real=DEMA"),
	"DX":                  use("dx", "timeperiod=length", "real=DX"),
	"EMA":                 use("ema", "timeperiod=length", "real=EMA"),
	"HT_DCPERIOD":         use("ht_dcperiod", "", "real=Period"),
	"HT_DCPHASE":          use("ht_dcphase", "", "real=Phase"),
	"HT_PHASOR":           use("ht_phasor", "", "inphase=In phase, quadrature=Quadrature"),
	"HT_SINE":             use("ht_sine", "", "sine=Sine, leadsine=Lead sine"),
	"HT_TRENDLINE":        use("ht_trendline", "", "real=Trendline"),
	"HT_TRENDMODE":        use("ht_trendmode", "", "integer=Trend mode"),
	"IMI":                 use("imi", "timeperiod=length", "real=IMI"),
	"KAMA":                use("kama", "timeperiod=length", "real=KAMA"),
	"LINEARREG":           use("lsma", "timeperiod=length", "real=LSMA"),
	"LINEARREG_ANGLE":     use("linreg_angle", "timeperiod=length", "real=Angle"),
	"LINEARREG_INTERCEPT": use("linreg_intercept", "timeperiod=length", "real=Intercept"),
	"LINEARREG_SLOPE":     use("linreg_slope", "timeperiod=length", "real=Slope"),
	"MA":                  use("ma", "timeperiod=length, matype=type", "real=MA"),
	"MACD":                use("macd", "fastperiod=fast, slowperiod=slow, signalperiod=signal", "macd=MACD, macdsignal=Signal, macdhist=Histogram"),
	"MACDEXT": use("macdext", "fastperiod=fast, fastmatype=fast_type, slowperiod=slow, slowmatype=slow_type, signalperiod=signal, signalmatype=signal_type",
		"macd=MACD, macdsignal=Signal, macdhist=Histogram"),
	"MACDFIX":     use("macdfix", "signalperiod=signal", "macd=MACD, macdsignal=Signal, macdhist=Histogram"),
	"MAMA":        use("mama", "fastlimit=fast_limit, slowlimit=slow_limit", "mama=MAMA, fama=FAMA"),
	"MAVP":        {entry: "mavp", kernel: vectorMAVP},
	"MAX":         use("max", "timeperiod=length", "real=Max"),
	"MAXINDEX":    {entry: "maxindex", kernel: vectorMaxIndex},
	"MEDPRICE":    use("medprice", "", "real=Median price"),
	"MFI":         use("mfi", "timeperiod=length", "real=MFI"),
	"MIDPOINT":    use("midpoint", "timeperiod=length", "real=Midpoint"),
	"MIDPRICE":    use("midprice", "timeperiod=length", "real=Midprice"),
	"MIN":         use("min", "timeperiod=length", "real=Min"),
	"MININDEX":    {entry: "minindex", kernel: vectorMinIndex},
	"MINMAX":      use("minmax", "timeperiod=length", "min=Min, max=Max"),
	"MINMAXINDEX": {entry: "minmaxindex", kernel: vectorMinMaxIndex},
	"MINUS_DI":    use("minus_di", "timeperiod=length", "real=-DI"),
	"MINUS_DM":    use("minus_dm", "timeperiod=length", "real=-DM"),
	"MOM":         use("mom", "timeperiod=length", "real=MOM"),
	"NATR":        use("natr", "timeperiod=length", "real=NATR"),
	"OBV":         use("obv", "", "real=OBV"),
	"PLUS_DI":     use("plus_di", "timeperiod=length", "real=+DI"),
	"PLUS_DM":     use("plus_dm", "timeperiod=length", "real=+DM"),
	"PPO":         use("ppo", "fastperiod=fast, slowperiod=slow, matype=ma_type", "real=PPO"),
	"ROC":         use("roc", "timeperiod=length", "real=ROC"),
	"ROCP":        use("rocp", "timeperiod=length", "real=ROCP"),
	"ROCR":        use("rocr", "timeperiod=length", "real=ROCR"),
	"ROCR100":     use("rocr100", "timeperiod=length", "real=ROCR100"),
	"RSI":         use("rsi", "timeperiod=length", "real=RSI"),
	"SAR":         use("sar", "acceleration=start+increment, maximum=maximum", "real=SAR"),
	"SAREXT":      {entry: "sarext", kernel: vectorSARExt},
	"SMA":         use("sma", "timeperiod=length", "real=SMA"),
	"STDDEV":      use("stddev", "timeperiod=length, nbdev=mult", "real=StdDev"),
	"STOCH":       use("stoch", "fastk_period=length, slowk_period=smooth, slowk_matype=k_type, slowd_period=d, slowd_matype=d_type", "slowk=%K, slowd=%D"),
	"STOCHF":      use("stochf", "fastk_period=length, fastd_period=d, fastd_matype=d_type", "fastk=%K, fastd=%D"),
	"STOCHRSI":    use("stoch_rsi", "timeperiod=rsi_length, fastk_period=stoch_length, fastd_period=d, fastd_matype=d_type, variant:talib", "fastk=%K, fastd=%D"),
	"SUM":         use("sum", "timeperiod=length", "real=Sum"),
	"T3":          use("t3", "timeperiod=length, vfactor=factor", "real=T3"),
	"TEMA":        use("tema", "timeperiod=length", "real=TEMA"),
	"TRANGE":      use("true_range", "", "real=TR"),
	"TRIMA":       use("trima", "timeperiod=length", "real=TRIMA"),
	"TRIX":        use("trix", "timeperiod=length", "real=TRIX"),
	"TSF":         use("tsf", "timeperiod=length", "real=TSF"),
	"TYPPRICE":    use("typprice", "", "real=Typical price"),
	"ULTOSC":      use("ultosc", "timeperiod1=length1, timeperiod2=length2, timeperiod3=length3", "real=UO"),
	"VAR":         use("variance", "timeperiod=length, nbdev=", "real=Variance").allowing(1e-8, cancels),
	"WCLPRICE":    use("wclprice", "", "real=Weighted close"),
	"WILLR":       use("willr", "timeperiod=length", "real=%R"),
	"WMA":         use("wma", "timeperiod=length", "real=WMA"),

	"macd_pine": use("macd", "fast=fast, slow=slow, signal=signal, variant:pine", "macd=MACD, signal=Signal, histogram=Histogram"),
	"atr_pine":  use("atr", "length=length, variant:pine", "real=ATR"),
	"dmi_pine":  use("adx", "length=length, variant:pine", "plus_di=+DI, minus_di=-DI, adx=ADX"),
	"cmo_sum":   use("cmo", "length=length, variant:sum", "real=CMO"),
	"stoch_rsi": use("stoch_rsi", "rsi=rsi_length, stoch=stoch_length, k=k, d=d", "k=%K, d=%D"),
}

// vectorMAVP feeds the lengths of the vectors, 2 to 30 in turn, which no chart
// has.
func vectorMAVP(s *market.Series, p params) map[string][]float64 {
	lengths := make([]float64, s.Len())
	for i := range lengths {
		lengths[i] = float64(2 + i%29)
	}
	kind := kernel.Averages[p.int("matype")]
	return map[string][]float64{"real": mavp(s.Close, lengths, p.int("minperiod"), p.int("maxperiod"), kind)}
}

// position gives the position of an extreme as TA-Lib does, where the entries
// show how many bars ago it was.
func position(s *market.Series, p params, sign float64) []float64 {
	out := barsSince(kernel.ExtremeAt(s.Close, p.int("timeperiod"), sign, false))
	for i, ago := range out {
		out[i] = float64(i) - ago
	}
	return out
}

func vectorMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, 1)}
}

func vectorMinIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, -1)}
}

func vectorMinMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"minidx": position(s, p, -1), "maxidx": position(s, p, 1)}
}

// vectorSARExt marks falling stops by negative values, as TA-Lib does.
func vectorSARExt(s *market.Series, p params) map[string][]float64 {
	long := kernel.Acceleration{Start: p.num("accelerationinitlong"), Step: p.num("accelerationlong"), Most: p.num("accelerationmaxlong")}
	short := kernel.Acceleration{Start: p.num("accelerationinitshort"), Step: p.num("accelerationshort"), Most: p.num("accelerationmaxshort")}
	stop, up := kernel.Parabolic(s, long, short, p.num("startvalue"), p.num("offsetonreverse"))
	for i, v := range stop {
		if !up[i] {
			stop[i] = -v
		}
	}
	return map[string][]float64{"real": stop}
}
