package indicators

import (
	"math"

	"wick/market"
)

// Indicators of the dominant cycle; hilbert.go measures it.

var indHTTrendline = Indicator{
	Name: "ht_trendline", Title: "HT Trendline", Aliases: []string{"instantaneous_trend", "instantaneous_trendline", "htl"}, Category: Cycle, Overlay: true,
	Doc:     "Ehlers' instantaneous trend line: the mean over one dominant cycle, which takes the cycle out of the price. As in TA-Lib.",
	Formula: "m = mean of the last p prices, p = cycle period; trend line = (4m + 3m[1] + 2m[2] + m[3]) / 10",
	Params:  []Param{source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  cycleWarmup,
	Compute: overPrice("Trendline", func(x []float64, _ Args) []float64 {
		c := measure(x, hilbertLate)
		return from(c.trendline(), c.begin+phaseWait)
	}),
}

var indHTDCPeriod = Indicator{
	Name: "ht_dcperiod", Title: "HT Period", Aliases: []string{"dominant_cycle_period", "cycle_period", "ht_dc_period"}, Category: Cycle,
	Doc:     "Period of the dominant cycle in bars, 6 to 50, by Ehlers' Hilbert transform. As in TA-Lib.",
	Formula: "period = 360 / degrees the phase turns per bar, smoothed",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
	Compute: plain("Period", func(s *market.Series, a Args) []float64 { return cyclePeriod(column(s, a)) }),
}

var indHTDCPhase = Indicator{
	Name: "ht_dcphase", Title: "HT Phase", Aliases: []string{"dominant_cycle_phase", "cycle_phase", "ht_dc_phase"}, Category: Cycle,
	Doc:     "Phase of the dominant cycle in degrees, -45 to 315: where in the cycle the price stands. As in TA-Lib.",
	Formula: "phase = atan(Σ s*sin / Σ s*cos) over one cycle of the smoothed price s, + 90 + 360/period",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
	Compute: plain("Phase", func(s *market.Series, a Args) []float64 {
		c := measure(column(s, a), hilbertLate)
		return from(c.phase(), c.begin+phaseWait)
	}),
}

var indHTPhasor = Indicator{
	Name: "ht_phasor", Title: "HT Phasor", Aliases: []string{"phasor"}, Category: Cycle,
	Doc:     "The two parts of the dominant cycle, one in phase and one a quarter cycle behind. As in TA-Lib.",
	Formula: "quadrature = H(H(smoothed price)), in phase = H(smoothed price) three bars ago, H Hilbert's transform",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		c := measure(column(s, a), hilbertEarly)
		first := c.begin + hilbertWait
		return &Result{
			Lines: []Line{
				{Label: "In phase", Tone: Primary, Values: from(c.inPhase, first)},
				{Label: "Quadrature", Tone: Second, Values: from(c.quadrature, first)},
			},
			HLines: []HLine{{Y: 0}},
		}
	},
}

var indHTSine = Indicator{
	Name: "ht_sine", Title: "HT Sine", Aliases: []string{"sine_wave", "sinewave"}, Category: Cycle,
	Doc:     "Sine of the dominant cycle's phase and the same 45 degrees ahead. In a cycle they cross at its turns; in a trend they lie side by side. As in TA-Lib.",
	Formula: "sine = sin(phase), lead = sin(phase + 45°)",
	Params:  []Param{source()},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		c := measure(column(s, a), hilbertLate)
		sine, lead := sineWave(from(c.phase(), c.begin+phaseWait))
		return &Result{
			YRange: &[2]float64{-1, 1},
			Lines: []Line{
				{Label: "Sine", Tone: Primary, Values: sine}, {Label: "Lead sine", Tone: Second, Values: lead},
			},
			HLines:  []HLine{{Y: 0}},
			Signals: crossings(nil, lead, sine, CrossUp, CrossDown),
		}
	},
}

var indHTTrendMode = Indicator{
	Name: "ht_trendmode", Title: "HT Trend Mode", Aliases: []string{"trend_mode", "trend_vs_cycle"}, Category: Cycle,
	Doc:     "1 while the market trends, 0 while it cycles, by Ehlers' rules. As in TA-Lib.",
	Formula: "0 for half a cycle after sine and lead sine cross, and while the phase turns as a cycle's would; 1 if the price is 1.5 % off the trend line",
	Params:  []Param{source()},
	Signals: []string{ModeTrend, ModeCycle},
	Warmup:  cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mode := trendMode(column(s, a))
		return &Result{
			YRange:  &[2]float64{0, 1},
			Lines:   []Line{{Label: "Trend mode", Tone: Primary, Style: Step, Values: mode}},
			Signals: levelCrossings(nil, mode, 0.5, ModeTrend, ModeCycle),
		}
	},
}

func cycleWarmup(Args) int { return hilbertWarmup }

// sineWave returns the sine of the phase and the sine 45 degrees ahead.
func sineWave(phase []float64) (sine, lead []float64) {
	sine, lead = make([]float64, len(phase)), make([]float64, len(phase))
	for i, p := range phase {
		sine[i], lead[i] = math.Sin(radians(p)), math.Sin(radians(p+45))
	}
	return sine, lead
}

// trendMode returns 1 in a trend and 0 in a cycle.
func trendMode(x []float64) []float64 {
	c := measure(x, hilbertLate)
	phase, trend := c.phase(), c.trendline()
	sine, lead := sineWave(phase)
	out := make([]float64, len(x))
	sinceCross := 0
	for i := c.begin; i < len(x); i++ {
		var sineBefore, leadBefore, phaseBefore float64
		if i > c.begin {
			sineBefore, leadBefore, phaseBefore = sine[i-1], lead[i-1], phase[i-1]
		}
		mode := 1.0
		if sine[i] > lead[i] && sineBefore <= leadBefore || sine[i] < lead[i] && sineBefore >= leadBefore {
			sinceCross, mode = 0, 0
		}
		sinceCross++
		step, whole := phase[i]-phaseBefore, 360/c.period[i]
		if float64(sinceCross) < 0.5*c.period[i] || step > 0.67*whole && step < 1.5*whole {
			mode = 0
		}
		if trend[i] != 0 && math.Abs((c.smooth[i]-trend[i])/trend[i]) >= 0.015 {
			mode = 1
		}
		out[i] = mode
	}
	return from(out, c.begin+phaseWait)
}
