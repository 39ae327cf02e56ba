package market

// OpenFirst has a bar judged by its open alone, and then, unless that is the end of it, by the
// whole bar. The open is known to come before all else. After it nobody knows whether the high
// or the low came first, so of two orders that exclude each other judge takes the one that is
// worse for the trader. The paper broker and backtests go by this alike.
func OpenFirst[T any](open, whole T, judge func(T) (done bool)) {
	if !judge(open) {
		judge(whole)
	}
}

// Opening returns b as it was at its open.
func (b Bar) Opening() Bar {
	b.High, b.Low, b.Close = b.Open, b.Open, b.Open
	return b
}
