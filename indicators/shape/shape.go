// Package shape turns columns of numbers into what a chart shows and an alert
// waits for: a [Result] with lines, levels, fills and [Signal]s.
//
// It knows four things: the usual forms of a panel (compose.go), the events on a
// line such as crossings and exits from a zone (signals.go), swing highs and
// lows (pivots.go), and the divergences between a price and an oscillator
// (divergence.go). It knows no indicator and no parameter.
//
// # When a signal fires
//
// A signal stands on the bar on which it became true, never earlier, so it does
// not change when later bars arrive. Lines are compared with [kernel.Compare]:
// a difference that may be rounding is none. So a market that stands still
// crosses nothing, and prices in another unit, all multiplied by the same
// number, give the same signals.
package shape
