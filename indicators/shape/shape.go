// Package shape turns columns of numbers into what a chart shows and an alert
// waits for: a [Result] with lines, levels, fills and [Signal]s.
//
// It knows three things: the events on a line such as crossings and exits from a
// zone (signals.go), swing highs and lows (pivots.go), and the divergences between
// a price and an oscillator (divergence.go). It knows no indicator and no parameter.
//
// # When a signal fires
//
// A signal is on the bar on which it became true, never earlier, so it does not
// change when later bars arrive. Lines are compared with [kernel.Compare], which
// ignores differences that may be rounding. So a market that does not move gives
// no crossings, and prices in another unit, all multiplied by the same number,
// give the same signals.
package shape
