package kernel

import "math"

// Ehlers' measurement of the dominant cycle, as TA-Lib computes it (John F.
// Ehlers, "Rocket Science for Traders", 2001). Prices are smoothed over four
// bars. A Hilbert transform, a filter that moves every frequency by a quarter of
// its cycle, splits them into a part in phase and a part a quarter cycle behind.
// The angle between the two is the phase, and how fast it turns gives the
// period. Everything starts from zero, so on the first bars the filters are not yet
// filled; the functions below leave those bars out.

const (
	hilbertEarly = 12 // bar at which period, phasor and MAMA begin to measure
	hilbertLate  = 37 // … and phase, sine, trend line and trend mode
	hilbertWait  = 20 // bars from hilbertEarly to the first value shown
	phaseWait    = 26 // … from hilbertLate

	shortestCycle = 6 // bars
)

const (
	HilbertWarmup = 600 // bars after which the start of the measurement no longer matters
	LongestCycle  = 50  // bars of the longest cycle that is measured
)

// cycle is the measurement at every bar, zero before it begins.
type cycle struct {
	begin               int       // first bar measured
	price               []float64 // the input
	smooth              []float64 // price, weighted 4 3 2 1
	inPhase, quadrature []float64
	period              []float64 // smoothed period of the dominant cycle, in bars
}

// measure runs the transform over x, beginning `begin` bars after its first
// value.
func measure(x []float64, begin int) *cycle {
	const history = 9 // how many bars the filters look back
	n := len(x)
	begin += FirstValid(x)
	c := &cycle{
		begin: begin, price: x, smooth: make([]float64, n),
		inPhase: make([]float64, n), quadrature: make([]float64, n), period: make([]float64, n),
	}
	detrended, quad := make([]float64, n+history), make([]float64, n+history)
	smooth := make([]float64, n+history)
	var i2, q2, re, im, period, smoothed float64
	for i := begin; i < n; i++ {
		// The filters fit the period measured one bar ago: the gain corrects what they
		// lose at other periods. Smooth the price, take out its trend, and shift that
		// by a quarter cycle.
		s := (float64(4*x[i]) + float64(3*x[i-1]) + float64(2*x[i-2]) + x[i-3]) / 10
		k := i + history
		gain := float64(0.075*period) + 0.54
		smooth[k], c.smooth[i] = s, s
		detrended[k] = transform(smooth, k, gain)
		quad[k] = transform(detrended, k, gain)
		c.inPhase[i], c.quadrature[i] = detrended[k-3], quad[k]
		// Shift both parts once more and add each to the other, smoothed: Ehlers' way
		// to even out the amplitudes of the two.
		oldI, oldQ := i2, q2
		i2 = float64(0.2*(detrended[k-3]-transform(quad, k, gain))) + float64(0.8*oldI)
		q2 = float64(0.2*(quad[k]+transform(detrended, k-3, gain))) + float64(0.8*oldQ)
		// The product of the last phasor with the conjugate of this one has the phase
		// step between the two as its angle; smoothed, it gives the period.
		re = float64(0.2*(float64(i2*oldI)+float64(q2*oldQ))) + float64(0.8*re)
		im = float64(0.2*(float64(i2*oldQ)-float64(q2*oldI))) + float64(0.8*im)
		period = nextPeriod(period, re, im)
		smoothed = float64(0.33*period) + float64(0.67*smoothed)
		c.period[i] = smoothed
	}
	return c
}

// transform is the Hilbert filter at bar k of x.
func transform(x []float64, k int, gain float64) float64 {
	return (float64(0.0962*Difference(x[k], x[k-6])) + float64(0.5769*Difference(x[k-2], x[k-4]))) * gain
}

// nextPeriod returns the period that follows the old one. The phase step (re, im) gives a
// new period, which is at most half longer or a third shorter than the old one, and between
// the shortest and the longest cycle. The result is a mean of the two.
func nextPeriod(old, re, im float64) float64 {
	period := old
	if re != 0 && im != 0 {
		period = 360 / Degrees(math.Atan(im/re))
	}
	// The order is TA-Lib's: first the bound on the change, then that on the period,
	// then a fifth of the new with four fifths of the old.
	period = max(min(period, 1.5*old), 0.67*old)
	period = max(min(period, LongestCycle), shortestCycle)
	return float64(0.2*period) + float64(0.8*old)
}

// Degrees returns an angle in degrees that is given in radians.
func Degrees(rad float64) float64 { return rad * (180 / math.Pi) }

// CyclePeriod returns the period of the dominant cycle of x, in bars.
func CyclePeriod(x []float64) []float64 {
	c := measure(x, hilbertEarly)
	return From(c.period, c.begin+hilbertWait)
}

// CyclePhase returns the phase of the dominant cycle of x in degrees, -45 to
// 315.
func CyclePhase(x []float64) []float64 {
	c := measure(x, hilbertLate)
	return From(c.phase(), c.begin+phaseWait)
}

// CycleTrend returns the mean of x over one dominant cycle, smoothed over four
// bars: the trend without the cycle.
func CycleTrend(x []float64) []float64 {
	c := measure(x, hilbertLate)
	return From(c.trendline(), c.begin+phaseWait)
}

// Phasor returns the two parts of the dominant cycle of x: the one in phase and
// the one a quarter cycle behind.
func Phasor(x []float64) (inPhase, quadrature []float64) {
	c := measure(x, hilbertEarly)
	first := c.begin + hilbertWait
	return From(c.inPhase, first), From(c.quadrature, first)
}

// CycleSine returns the sine of the phase of the dominant cycle of x, and the
// sine 45 degrees ahead.
func CycleSine(x []float64) (sine, lead []float64) { return sineWave(CyclePhase(x)) }

// bars returns the period at bar i as a whole number of bars.
func (c *cycle) bars(i int) int { return int(c.period[i] + 0.5) }

// phase returns the phase of the dominant cycle in degrees, -45 to 315, found
// by correlating the smoothed price with one turn of sine and cosine.
func (c *cycle) phase() []float64 {
	out := make([]float64, len(c.price))
	var turns [LongestCycle + 1][]turn
	var angle float64
	for i := c.begin; i < len(out); i++ {
		n := c.bars(i)
		if turns[n] == nil {
			turns[n] = make([]turn, n)
			for k := range turns[n] {
				turns[n][k].sin, turns[n][k].cos = math.Sincos(float64(k) * 2 * math.Pi / float64(n))
			}
		}
		if re, im := c.correlate(i, turns[n]); re != 0 || im != 0 { // else there is no phase to turn
			angle = nextAngle(angle, re, im, c.period[i])
		}
		out[i] = angle
	}
	return out
}

// correlate returns how the smoothed price at and before bar i correlates with the sine
// and the cosine of a turn; both are 0 where nothing moves.
func (c *cycle) correlate(i int, steps []turn) (re, im float64) {
	for k, t := range steps[:min(len(steps), i+1)] {
		re += float64(t.sin * c.smooth[i-k])
		im += float64(t.cos * c.smooth[i-k])
	}
	// One turn of sine or cosine sums to zero, so for a price that does not move the sums
	// are only the rounding errors of as many products.
	noise := Rounding * float64(len(steps)) * math.Abs(c.smooth[i])
	return noiseless(re, noise), noiseless(im, noise)
}

// nextAngle returns the phase in degrees, -45 to 315, that follows from the correlation
// of a bar; angle is that of the bar before.
func nextAngle(angle, re, im, period float64) float64 {
	switch {
	// Where im is 0 the arc tangent has no value, and TA-Lib turns the angle of the
	// bar before by a right angle.
	case im != 0:
		angle = Degrees(math.Atan(re / im))
	case re < 0:
		angle -= 90
	case re > 0:
		angle += 90
	}
	// A quarter turn brings the angle to the phase of a sine. The smoothed price
	// lags by about one bar, which is a step of 360/period degrees.
	angle += 90 + 360/period
	if im < 0 {
		angle += 180
	}
	if angle > 315 {
		angle -= 360
	}
	return angle
}

// turn is the sine and the cosine of one step of a full turn.
type turn struct{ sin, cos float64 }

// trendline returns the mean price over one dominant cycle, which takes the
// cycle out and leaves the trend, smoothed over four bars.
func (c *cycle) trendline() []float64 {
	out := make([]float64, len(c.price))
	var t1, t2, t3 float64
	for i := c.begin; i < len(out); i++ {
		var mean float64
		if n := c.bars(i); n > 0 {
			for _, v := range c.price[max(0, i-n+1) : i+1] {
				mean += v
			}
			mean /= float64(n)
		}
		out[i] = (float64(4*mean) + float64(3*t1) + float64(2*t2) + t3) / 10
		t1, t2, t3 = mean, t1, t2
	}
	return out
}

// MAMA returns the MESA adaptive average and its follower. The slower the phase of the
// dominant cycle turns, as it does in a trend, the more weight the newest price gets,
// between the limits slow and fast; the follower gives it half of that. Both start from
// zero, as in TA-Lib; by the first bar shown that start is forgotten.
func MAMA(x []float64, fast, slow float64) (line, follower []float64) {
	c := measure(x, hilbertEarly)
	line, follower = make([]float64, len(x)), make([]float64, len(x))
	var m, f, before float64
	for i := c.begin; i < len(x); i++ {
		var phase float64
		if c.inPhase[i] != 0 {
			phase = Degrees(math.Atan(c.quadrature[i] / c.inPhase[i]))
		}
		// The phase falls as the cycle goes on, so a step is positive. A smaller one
		// than a degree, also the jump at the end of half a turn, counts as one degree.
		weight := fast
		if step := before - phase; step > 1 {
			weight = max(fast/step, slow)
		}
		before = phase
		m = float64(weight*x[i]) + float64((1-weight)*m)
		f = float64(weight/2*m) + float64((1-weight/2)*f)
		line[i], follower[i] = m, f
	}
	return From(line, c.begin+hilbertWait), From(follower, c.begin+hilbertWait)
}

// sineWave returns the sine of the phase and the sine 45 degrees ahead.
func sineWave(phase []float64) (sine, lead []float64) {
	sine, lead = make([]float64, len(phase)), make([]float64, len(phase))
	for i, p := range phase {
		sine[i], lead[i] = math.Sin(p*(math.Pi/180)), math.Sin((p+45)*(math.Pi/180))
	}
	return sine, lead
}

// TrendMode returns 1 on bars of a trend and 0 on bars of a cycle, by Ehlers'
// rules as TA-Lib has them.
func TrendMode(x []float64) []float64 {
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
		// A trend, unless sine and lead crossed less than half a cycle ago, or the
		// phase turns at about the rate of the measured period: both are signs of a
		// cycle.
		mode := 1.0
		if sine[i] > lead[i] && sineBefore <= leadBefore || sine[i] < lead[i] && sineBefore >= leadBefore {
			sinceCross, mode = 0, 0
		}
		sinceCross++
		step, whole := phase[i]-phaseBefore, 360/c.period[i]
		if float64(sinceCross) < 0.5*c.period[i] || step > 0.67*whole && step < 1.5*whole {
			mode = 0
		}
		// A price 1.5 % or more away from its trend line is in a trend all the same.
		if trend[i] != 0 && math.Abs((c.smooth[i]-trend[i])/trend[i]) >= 0.015 {
			mode = 1
		}
		out[i] = mode
	}
	return From(out, c.begin+phaseWait)
}
