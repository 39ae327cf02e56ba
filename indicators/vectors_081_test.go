package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// newVectors covers the functions that TA-Lib 0.8.1 has and 0.6 had not.
var newVectors = map[string]cover{
	"AC":          use("accelerator_oscillator", "fastperiod=fast, slowperiod=slow, signalperiod=signal", "real=AC"),
	"AO":          use("awesome_oscillator", "fastperiod=fast, slowperiod=slow", "real=AO"),
	"CMOU":        use("cmo", "timeperiod=length, variant:sum", "real=CMO"),
	"COPPOCK":     use("coppock", "wmaperiod=wma, roc1period=short, roc2period=long", "real=Coppock"),
	"DPO":         use("dpo", "timeperiod=length, variant:shifted", "real=DPO"),
	"ER":          use("efficiency_ratio", "timeperiod=length", "real=ER"),
	"ERI":         use("elder_ray", "timeperiod=length", "bullpower=Bull, bearpower=Bear"),
	"FOSC":        use("cfo", "timeperiod=length", "real=CFO"),
	"FRACTAL":     {entry: "fractals", kernel: fractalVector},
	"KDJ":         use("kdj", "fastk_period=length, slowk_period=k, slowk_matype=, slowd_period=d, slowd_matype=", "k=K, d=D, j=J").since(80, "TA-Lib starts the averages from means, the entry from the first value"),
	"QSTICK":      use("qstick", "timeperiod=length", "real=QStick"),
	"SMI":         use("smi", "timeperiod=length, slowperiod=smooth1, fastperiod=smooth2, signalperiod=signal", "smi=SMI, smisignal=Signal").since(45, "TA-Lib shows the line from where its signal begins"),
	"TSI":         use("tsi", "firstperiod=long, secondperiod=short", "real=TSI"),
	"VHF":         use("vhf", "timeperiod=length", "real=VHF"),
	"VORTEX":      use("vortex", "timeperiod=length", "plusvi=VI+, minusvi=VI-"),
	"WAD":         use("wad", "", "real=WAD").since(2, "TA-Lib shows a 0 on the first bar, which has no bar before it"),
	"DONCHIAN":    use("donchian", "timeperiod=length", "upperband=Upper, middleband=Middle, lowerband=Lower"),
	"HMA":         use("hma", "timeperiod=length", "real=HMA"),
	"KC":          use("keltner", "timeperiod=length, atrperiod=atr_length, nbdev=mult, source:hlc3", "upperband=Upper, middleband=Middle, lowerband=Lower").since(270, "TA-Lib starts the mean of ranges where the middle begins; it takes (h+l+c)/3"),
	"RMA":         use("rma", "timeperiod=length", "real=RMA"),
	"SUPERTREND":  cover{entry: "supertrend", kernel: supertrend081}.since(250, "TA-Lib starts rising and one bar later, the entry as TradingView falling"),
	"VWMA":        use("vwma", "timeperiod=length", "real=VWMA"),
	"ZLEMA":       use("zlema", "timeperiod=length", "real=ZLEMA").since(200, "TA-Lib starts the average from a mean, the entry from the first value"),
	"HA":          use("heikin_ashi", "", "haopen=Open, hahigh=High, halow=Low, haclose=Close"),
	"PERCENTILE":  use("percentile", "timeperiod=length, percentile=percent", "real=Percentile"),
	"PERCENTRANK": {kernel: rankVector},
	"ADR":         use("adr", "timeperiod=length", "real=ADR"),
	"CVI":         use("chaikin_volatility", "timeperiod=length, rocperiod=", "real=CVI"),
	"MASSI":       use("mass_index", "fastperiod=ema, slowperiod=length", "real=Mass"),
	"RVI":         use("rvi_volatility", "timeperiod=smooth, stddevperiod=length, variant:talib", "real=RVI"),
	"CMF":         use("cmf", "timeperiod=length", "real=CMF"),
	"EFI":         use("force_index", "timeperiod=length", "real=EFI"),
	"MARKETFI":    {entry: "marketfi", kernel: marketVector},
	"NVI":         use("nvi", "start:1000", "real=NVI"),
	"PVI":         use("pvi", "start:1000", "real=PVI"),
	"PVO":         use("pvo", "fastperiod=fast, slowperiod=slow, matype=", "real=PVO"),
	"PVT":         use("pvt", "", "real=PVT"),
	"RVOL":        use("relative_volume", "timeperiod=length", "real=RVOL"),
	"VWAP":        use("vwap", "anchor:none", "real=VWAP"),
	"CUMSUM":      use("cumulative_sum", "source:close", "real=Cum"),
}

// fractalVector marks fractals by 100, as TA-Lib does, where the entry shows
// their price.
func fractalVector(s *market.Series, p params) map[string][]float64 {
	high, low := make([]float64, s.Len()), make([]float64, s.Len())
	for _, i := range shape.Peaks(s.High, p.int("leftbars"), p.int("rightbars")) {
		high[i+p.int("rightbars")] = 100
	}
	for _, i := range shape.Troughs(s.Low, p.int("leftbars"), p.int("rightbars")) {
		low[i+p.int("rightbars")] = 100
	}
	return map[string][]float64{"swinghigh": high, "swinglow": low}
}

// rankVector counts values below the newest, as TA-Lib does; the entry counts
// equal ones too, as TradingView.
func rankVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": kernel.PercentRank(s.Close, p.int("timeperiod"))}
}

// marketVector is 0 on bars without volume, as TA-Lib's; the entry has no value.
func marketVector(s *market.Series, _ params) map[string][]float64 {
	return map[string][]float64{"real": kernel.ZeroNaN(kernel.Quotient(kernel.Minus(s.High, s.Low), s.Volume))}
}

// supertrend081 gives the direction as TA-Lib does: 1 is up, 0 before the first
// value.
func supertrend081(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrend(s, p.int("timeperiod"), p.num("multiplier"))
	trend := make([]float64, s.Len())
	for i := kernel.FirstValid(stop); i < len(stop); i++ {
		trend[i] = -1
		if up[i] {
			trend[i] = 1
		}
	}
	return map[string][]float64{"supertrend": stop, "trend": trend}
}
