package chart

import "math"

// contrast returns the WCAG 2.1 contrast ratio of two colours, 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance returns the relative luminance of c as WCAG 2.1 defines it.
func luminance(c rgb) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return float64(0.2126*linear(c.r)) + float64(0.7152*linear(c.g)) + float64(0.0722*linear(c.b))
}
