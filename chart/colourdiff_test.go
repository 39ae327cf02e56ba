package chart

import (
	"math"
	"testing"
)

// sights are how people see colours, as matrices on linear red, green and blue:
// normal sight, and the three deficiencies at full severity (Machado, Oliveira,
// Fernandes, "A physiologically-based model for simulation of color vision
// deficiency", 2009).
var sights = []struct {
	name   string
	matrix [3][3]float64
}{
	{"normal", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protanopia", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
	{"deuteranopia", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
	{"tritanopia", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}

type lab struct{ l, a, b float64 }

// labOf returns c as it is seen, in CIE L*a*b* under D65.
func labOf(c rgb, sight [3][3]float64) lab {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{linear(c.r), linear(c.g), linear(c.b)}
	var s [3]float64
	for i, row := range sight {
		s[i] = min(max(row[0]*in[0]+row[1]*in[1]+row[2]*in[2], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*s[0] + 0.3575761*s[1] + 0.1804375*s[2]) / 0.95047)
	y := f(0.2126729*s[0] + 0.7151522*s[1] + 0.0721750*s[2])
	z := f((0.0193339*s[0] + 0.1191920*s[1] + 0.9503041*s[2]) / 1.08883)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// ciede2000 returns the difference of two colours, formula by formula as in
// Sharma, Wu, Dalal, "The CIEDE2000 color-difference formula", 2005.
func ciede2000(p, q lab) float64 {
	const rad = math.Pi / 180
	mean := (math.Hypot(p.a, p.b) + math.Hypot(q.a, q.b)) / 2
	g := 0.5 * (1 - math.Sqrt(math.Pow(mean, 7)/(math.Pow(mean, 7)+math.Pow(25, 7))))
	a1, a2 := (1+g)*p.a, (1+g)*q.a
	c1, c2 := math.Hypot(a1, p.b), math.Hypot(a2, q.b)
	hue := func(a, b float64) float64 {
		if a == 0 && b == 0 {
			return 0
		}
		return math.Mod(math.Atan2(b, a)/rad+360, 360)
	}
	h1, h2 := hue(a1, p.b), hue(a2, q.b)
	turn, middle := h2-h1, (h1+h2)/2
	switch {
	case c1*c2 == 0:
		turn, middle = 0, h1+h2
	case math.Abs(turn) > 180:
		turn -= math.Copysign(360, turn)
		middle = math.Mod(middle+180, 360)
	}
	dl, dc, dh := q.l-p.l, c2-c1, 2*math.Sqrt(c1*c2)*math.Sin(turn/2*rad)
	l, c := (p.l+q.l)/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos((middle-30)*rad) + 0.24*math.Cos(2*middle*rad) + 0.32*math.Cos((3*middle+6)*rad) - 0.20*math.Cos((4*middle-63)*rad)
	rt := -math.Sin(2*30*math.Exp(-math.Pow((middle-275)/25, 2))*rad) * 2 * math.Sqrt(math.Pow(c, 7)/(math.Pow(c, 7)+math.Pow(25, 7)))
	x := dl / (1 + 0.015*(l-50)*(l-50)/math.Sqrt(20+(l-50)*(l-50)))
	y, z := dc/(1+0.045*c), dh/(1+0.015*c*t)
	return math.Sqrt(x*x + y*y + z*z + rt*y*z)
}

// The pairs that Sharma, Wu and Dalal publish to check an implementation.
func TestCIEDE2000(t *testing.T) {
	for _, c := range []struct {
		p, q lab
		want float64
	}{
		{lab{50, 2.6772, -79.7751}, lab{50, 0, -82.7485}, 2.0425},
		{lab{50, 2.5, 0}, lab{50, 0, -2.5}, 4.3065},
		{lab{50, 2.5, 0}, lab{73, 25, -18}, 27.1492},
		{lab{60.2574, -34.0099, 36.2677}, lab{60.4626, -34.1751, 39.4387}, 1.2644},
		{lab{22.7233, 20.0904, -46.6940}, lab{23.0331, 14.9730, -42.5619}, 2.0373},
		{lab{2.0776, 0.0795, -1.1350}, lab{0.9033, -0.0636, -0.5514}, 0.9082},
	} {
		if got := ciede2000(c.p, c.q); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("difference of %v and %v is %.4f, want %.4f", c.p, c.q, got, c.want)
		}
	}
}

// TestColoursDiffer holds the first six line colours of every theme and the two
// of the candles at least 15 apart from each other, for everyone. Amber, which
// marks the one level to look at, must differ from them in normal sight.
func TestColoursDiffer(t *testing.T) {
	for th := range themeCount {
		p := themes[th]()
		lines := linePool[:6]
		for k, sight := range sights {
			differ := func(a, b ink, least float64) {
				t.Helper()
				d := ciede2000(labOf(p.named[a], sight.matrix), labOf(p.named[b], sight.matrix))
				if d < least {
					t.Errorf("theme %s, %s: inks %d and %d differ by %.1f, want %.0f", Themes()[th], sight.name, a, b, d, least)
				}
			}
			for i, a := range lines {
				for _, b := range lines[i+1:] {
					differ(a, b, 15)
				}
				differ(a, inkUp, 15)
				differ(a, inkDown, 15)
				if k == 0 {
					differ(a, inkAmber, 15)
				}
			}
			differ(inkUp, inkDown, 15)
		}
	}
}
