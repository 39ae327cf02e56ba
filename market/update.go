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
	// High and Low are the highest and lowest price since the update before, with From
	// and Price. One that may be older than that update is left out.
	High, Low float64
	// Path is what was traded since Since (unix milliseconds), as bars of a minute,
	// or of the shortest interval that the source has. The first is the rest of the
	// minute that was forming at Since, and opens at From. Path is empty if there is
	// no new price; then Price and At are those of the update before.
	//
	// Since is when bars were last seen. If the update before had a price but no bars,
	// Since is earlier than that update, and Path may go beyond High and Low. If a later
	// poll found that nothing was traded, Since is the time of that poll.
	Path  []Bar
	Since int64
	Step  Interval // of the bars of Path
	// Forming has the forming bar of each watched interval as the source has it,
	// with its volume. It is empty where only a price was asked for.
	Forming map[Interval]FormingBar
	// Complete lists bars that will not change any more, since the session of their exchange
	// is over and all of it was told, though they have not closed: see [Series.ClosedAt]. Each is told once, and
	// again in Closed.
	Complete []CompleteBar
	// Closed lists the bars that closed since the update before, each once, in
	// order of time within an interval.
	Closed []ClosedBar
}

// FormingBar is a bar that will change.
type FormingBar struct {
	Bar
	Delay Delay // as in Series.Delayed; zero if it is not there
}

// CompleteBar is a bar whose session is over.
type CompleteBar struct {
	ClosedBar
	Ended int64 // since when it is complete, in unix seconds; when it closes if the hours of the exchange are not known
}

// ClosedBar is a finished bar of one interval.
type ClosedBar struct {
	Interval Interval
	Bar      Bar
	Delay    Delay // as in Series.Delayed; zero if it is not there
}

// closes returns when the bar closes, as [Series.ClosedAt] does.
func (b ClosedBar) closes() int64 {
	return b.Interval.Next(b.Bar.Time) + b.Delay.Offset + b.Delay.Missing
}
