package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// widerVectors covers the indicators that TA-Lib lacks.
var widerVectors = map[string]cover{
	"rma":         use("rma", "length=length", "real=RMA"),
	"hma":         use("hma", "length=length", "real=HMA"),
	"alma":        use("alma", "length=length, offset=offset, sigma=sigma", "real=ALMA"),
	"vwma":        use("vwma", "length=length", "real=VWMA"),
	"zlema":       use("zlema", "length=length", "real=ZLEMA"),
	"mcginley":    use("mcginley", "length=length", "real=McGinley"),
	"mcginley_06": use("mcginley", "length=length, k:0.6", "real=McGinley"),
	"vidya":       use("vidya", "length=length", "real=VIDYA"),
	"swma":        use("swma", "", "real=SWMA"),
	"gmma": use("gmma", "", "ema3=3, ema5=5, ema8=8, ema10=10, ema12=12, ema15=15, "+
		"ema30=30, ema35=35, ema40=40, ema45=45, ema50=50, ema60=60"),
	"alligator": use("alligator", alligatorNames, "jaw=Jaw, teeth=Teeth, lips=Lips"),
	"gator":     use("gator", alligatorNames, "upper=Upper, lower=Lower"),

	"keltner":           use("keltner", "length=length, atr_length=atr_length, mult=mult", bandNames),
	"keltner_tr_ema":    use("keltner", "length=length, mult=mult, variant:tr_ema", bandNames),
	"donchian":          use("donchian", "length=length", bandNames),
	"envelope":          use("envelope", "length=length, percent=percent", bandNames),
	"supertrend":        {entry: "supertrend", kernel: supertrendVector},
	"chandelier_exit":   use("chandelier_exit", "length=length, mult=mult", "long=Long, short=Short"),
	"chande_kroll_stop": use("chande_kroll_stop", "length=length, mult=mult, stop=stop", "long=Long, short=Short"),
	"gann_hilo":         {entry: "gann_hilo", kernel: gannVector},
	// The vectors leave the spans where they were computed.
	"ichimoku": use("ichimoku", "conversion=conversion, base=base, span_b=span_b, displacement=, displacement:1",
		"conversion=Conversion, base=Base, span_a=Span A, span_b=Span B"),
	"vwap_cumulative":     use("vwap", "anchor:none", "real=VWAP"),
	"vwap_session":        use("vwap", "session=, anchor:day", "real=VWAP"),
	"pivot_classic_month": use("pivot", "period=, period:month", "pp=P, r1=R1, r2=R2, r3=R3, s1=S1, s2=S2, s3=S3"),
	"williams_fractals":   use("fractals", "side=side", "up=Up, down=Down"),
	"heikin_ashi":         use("heikin_ashi", "", "open=Open, high=High, low=Low, close=Close"),

	"connors_rsi":            use("connors_rsi", "rsi=rsi, streak=streak, rank=rank", "real=CRSI"),
	"laguerre_rsi":           {entry: "laguerre_rsi", kernel: laguerreVector},
	"tsi":                    use("tsi", "long=long, short=short", "tsi=TSI"),
	"smi":                    use("smi", "length=length, smooth1=smooth1, smooth2=smooth2, signal=signal", "smi=SMI, signal=Signal"),
	"kdj":                    use("kdj", "length=length, k=k, d=d", "k=K, d=D, j=J").settling(70),
	"awesome_oscillator":     use("awesome_oscillator", "fast=fast, slow=slow", "real=AO"),
	"accelerator_oscillator": use("accelerator_oscillator", "fast=fast, slow=slow, signal=signal", "real=AC"),
	"vortex":                 use("vortex", "length=length", "plus=VI+, minus=VI-"),
	"dpo":                    use("dpo", "length=length", "real=DPO"),
	"dpo_shifted":            use("dpo", "length=length, variant:shifted", "real=DPO"),
	"kst": use("kst", "roc1=roc1, roc2=roc2, roc3=roc3, roc4=roc4, sma1=sma1, sma2=sma2, sma3=sma3, sma4=sma4, signal=signal",
		"kst=KST, signal=Signal"),
	"coppock":                use("coppock", "long=long, short=short, wma=wma", "real=Coppock"),
	"fisher":                 use("fisher", "length=length", "fisher=Fisher"),
	"wavetrend":              use("wavetrend", "channel=channel, average=average, signal=signal", "wt1=WT1, wt2=WT2").settling(250),
	"stc":                    use("stc", "fast=fast, slow=slow, length=length, factor=factor", "real=STC").settling(530),
	"squeeze":                use("squeeze", "bb=bb, bb_mult=bb_mult, kc=kc, kc_mult=kc_mult", "momentum=Momentum"),
	"qqe":                    use("qqe", "rsi=rsi, smooth=smooth, factor=factor", "rsi_ma=RSI MA, trailing=Stop"),
	"rvgi":                   use("rvgi", "length=length", "rvgi=RVGI, signal=Signal"),
	"elder_ray":              use("elder_ray", "length=length", "bull=Bull, bear=Bear"),
	"pmo":                    use("pmo", "first=first, second=second, signal=signal", "pmo=PMO").settling(400),
	"psychological_line":     use("psychological_line", "length=length", "real=PSL"),
	"pretty_good_oscillator": use("pretty_good_oscillator", "length=length", "real=PGO").settling(240),
	"bias":                   use("bias", "length=length", "real=Bias"),
	"forecast_oscillator":    use("cfo", "length=length", "real=CFO"),
	"center_of_gravity":      use("center_of_gravity", "length=length", "real=COG"),
	"correlation_trend":      use("correlation_trend", "length=length", "real=CTI"),
	"qstick":                 use("qstick", "length=length", "real=QStick"),
	"vhf":                    use("vhf", "length=length", "real=VHF"),
	"rci":                    use("rank_correlation", "length=length", "real=RCI"),

	"choppiness":            use("choppiness", "length=length", "real=CHOP"),
	"choppiness_true_range": use("choppiness", "length=length, variant:true_range", "real=CHOP"),
	"bb_percent_b":          use("bb_percent_b", "length=length, mult=mult", "real=%B"),
	"bb_bandwidth":          use("bb_bandwidth", "length=length, mult=mult", "real=BBW"),
	"chaikin_volatility":    use("chaikin_volatility", "length=length", "real=CVI"),
	"mass_index":            use("mass_index", "ema=ema, length=length", "real=Mass"),
	"ulcer_index":           use("ulcer_index", "length=length, variant:window", "real=Ulcer"),
	"ulcer_index_nested":    use("ulcer_index", "length=length", "real=Ulcer"),

	"cmf":                   use("cmf", "length=length", "real=CMF"),
	"force_index":           use("force_index", "length=length", "real=EFI"),
	"emv":                   use("emv", "length=length, divisor=divisor", "real=EMV"),
	"klinger":               use("klinger", "fast=fast, slow=slow", "real=KVO"),
	"nvi":                   use("nvi", "start=start", "real=NVI"),
	"pvi":                   use("pvi", "start=start", "real=PVI"),
	"pvt":                   use("pvt", "", "real=PVT"),
	"pvo":                   use("pvo", "fast=fast, slow=slow, signal=signal", "pvo=PVO"),
	"volume_oscillator_sma": use("volume_oscillator", "fast=fast, slow=slow", "real=VO"),
	"wad":                   use("wad", "", "real=WAD"),
	"marketfi":              use("marketfi", "", "real=BW MFI"),
}

const (
	bandNames      = "upper=Upper, middle=Middle, lower=Lower"
	alligatorNames = "jaw=jaw, jaw_shift=jaw_shift, teeth=teeth, teeth_shift=teeth_shift, lips=lips, lips_shift=lips_shift"
)

// The entries of these two draw one line per side; the vectors have one line.

func supertrendVector(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrend(s, p.int("length"), p.num("mult"))
	direction := kernel.NaNs(len(stop)) // -1 is up, as in Pine
	for i := kernel.FirstValid(stop); i < len(stop); i++ {
		direction[i] = 1
		if up[i] {
			direction[i] = -1
		}
	}
	return map[string][]float64{"supertrend": stop, "direction": direction}
}

func gannVector(s *market.Series, p params) map[string][]float64 {
	stop, _ := gannHiLo(s, p.int("high"), p.int("low"))
	return map[string][]float64{"real": stop}
}

func laguerreVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": kernel.Scaled(laguerreRSI(s.Close, p.num("gamma")), 0.01)} // theirs is 0 to 1
}
