package market

// Update is what a feed learned about one symbol since the update before.
type Update struct {
	Symbol    string
	Source    string // where the price comes from: "binance", "csv" …
	Synthetic bool   // the price is invented

	Price float64 // newest price
	At    int64   // unix milliseconds at which it was the price
	// From is the price of the update before, or the one given to ResumePrice; on
	// the first update it equals Price.
	From float64
	// High and Low are the extremes since the update before, From and Price
	// included, as far as they are known to be from after it.
	High, Low float64
	// Path is what was traded since Since, in unix milliseconds, minute by minute:
	// first the rest of the minute that was forming then, which opens at From, then
	// each further minute as it opened. Since is when bars were last seen. That may
	// be earlier than the update before, if that had a price only; then the Path has
	// extremes that High and Low leave out, because they may be older than it.
	// A source without minutes gives longer bars. Path is empty if there is no new
	// price: then Price and At are those of the update before.
	Path  []Bar
	Since int64
	// Forming has the forming bar of each watched interval as the source has it,
	// with its volume. It is empty where only a price was asked for.
	Forming map[Interval]Bar
	// Closed lists the bars that closed since the update before, each once, in
	// order of time within an interval.
	Closed []ClosedBar
}

// ClosedBar is a finished bar of one interval.
type ClosedBar struct {
	Interval Interval
	Bar      Bar
}
