package main

import (
	_ "unsafe" // for go:linkname

	"wick/indicators"
	"wick/market"
)

// The kernels are private to their package, and rightly so. A benchmark has no
// other way to time them alone than to ask the linker for them.

//go:linkname sma wick/indicators.sma
func sma(x []float64, n int) []float64

//go:linkname ema wick/indicators.ema
func ema(x []float64, n int) []float64

//go:linkname wilderRSI wick/indicators.wilderRSI
func wilderRSI(x []float64, n int) []float64

//go:linkname macd wick/indicators.macd
func macd(x []float64, fast, slow, signal int) (line, signalLine, hist []float64)

//go:linkname bollinger wick/indicators.bollinger
func bollinger(x []float64, n int, up, down float64, kind string) (mid, upper, lower []float64)

//go:linkname atr wick/indicators.atr
func atr(s *market.Series, n int) []float64

//go:linkname directional wick/indicators.directional
func directional(s *market.Series, n int, variant string) (plus, minus, adx []float64)

//go:linkname stochastic wick/indicators.stochastic
func stochastic(x, high, low []float64, n int) []float64

//go:linkname typicalPrice wick/indicators.typicalPrice
func typicalPrice(s *market.Series) []float64

//go:linkname cci wick/indicators.cci
func cci(x []float64, n int) []float64

//go:linkname obv wick/indicators.obv
func obv(closes, volume []float64) []float64

//go:linkname mfi wick/indicators.mfi
func mfi(s *market.Series, n int) []float64

//go:linkname parabolic wick/indicators.parabolic
func parabolic(s *market.Series, long, short sarFactors, startValue, offset float64) (stop []float64, turns []indicators.Signal)

// sarFactors has the shape of the type of that name in the package.
type sarFactors struct{ start, step, most float64 }
