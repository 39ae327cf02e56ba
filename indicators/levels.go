package indicators

import (
	"math"
	"slices"
	"time"
	_ "time/tzdata" // so that a zone means the same on every machine

	"wick/indicators/kernel"
	"wick/market"
)

// levelEntries are prices that hold for a period or a session.
var levelEntries = []Indicator{
	{Name: "pivot", Title: "Pivot", Also: "pivot_points pivots pivot_standard standard_pivots floor_pivots pivot_traditional pivot_points_standard",
		Doc:     "Floor traders' pivot points: levels of support and resistance from high, low and close of the period before. As at TradingView, whose type Classic is the entry pivot_classic.",
		Formula: "P = (h + l + c) / 3; R1 = 2P - l; S1 = 2P - h; R2, S2 = P ± (h - l); R3 = h + 2(P - l); S3 = l - 2(h - P)",
		Form:    pivotLines(3, func(p market.Bar, _ float64) []float64 { return floorLevels(p, (p.High+p.Low+p.Close)/3) })},
	{Name: "pivot_classic", Title: "Pivot Classic", Also: "classic_pivots",
		Doc:     "Classic pivot points: levels at whole ranges of the period before around its mean price. As at TradingView (Classic).",
		Formula: "P = (h + l + c) / 3; R1 = 2P - l; S1 = 2P - h; R2 to R4, S2 to S4 = P ± 1, 2, 3 * (h - l)",
		Form: pivotLines(4, func(p market.Bar, _ float64) []float64 {
			pp := (p.High + p.Low + p.Close) / 3
			levels := around(pp, pp, p.High-p.Low, 1, 2, 3)
			return append([]float64{pp, 2*pp - p.Low, 2*pp - p.High}, levels[1:]...)
		})},
	{Name: "pivot_fibonacci", Title: "Pivot Fib", Also: "fibonacci_pivots fib_pivots pivot_fib",
		Doc:     "Fibonacci pivot points: the mean price of the period before, and its range in Fibonacci's parts above and below. As at TradingView.",
		Formula: "P = (h + l + c) / 3; R1 to R3, S1 to S3 = P ± 0.382, 0.618, 1 * (h - l)",
		Form: pivotLines(3, func(p market.Bar, _ float64) []float64 {
			pp := (p.High + p.Low + p.Close) / 3
			return around(pp, pp, p.High-p.Low, 0.382, 0.618, 1)
		})},
	{Name: "pivot_camarilla", Title: "Pivot Cam", Also: "camarilla camarilla_pivots",
		Doc:     "Camarilla pivot points: narrow levels around the last close of the period before; a price that passes the third is expected back, one that passes the fourth to run. As at TradingView.",
		Formula: "P = (h + l + c) / 3; R1 to R4, S1 to S4 = c ± 1.1 * (h - l) / 12, 6, 4, 2",
		Form: pivotLines(4, func(p market.Bar, _ float64) []float64 {
			return around((p.High+p.Low+p.Close)/3, p.Close, 1.1*(p.High-p.Low), 1./12, 1./6, 1./4, 1./2)
		})},
	{Name: "pivot_woodie", Title: "Pivot Woodie", Also: "woodie woodie_pivots",
		Doc:     "Woodie's pivot points: as the floor traders', with the open of the new period in place of the old close, twice. As at TradingView.",
		Formula: "P = (h + l + 2 * open now) / 4; the levels as in pivot",
		Form:    pivotLines(3, func(p market.Bar, open float64) []float64 { return floorLevels(p, (p.High+p.Low+2*open)/4) })},
	{Name: "pivot_demark", Title: "Pivot DM", Also: "demark_pivots dm_pivots pivot_dm",
		Doc:     "DeMark's pivot points: one level above and one below, from a sum that counts high, low or close of the period before twice by whether it rose. As at TradingView.",
		Formula: "X = h + l + c + (h if c > o, l if c < o, else c); P = X/4; R1 = X/2 - l; S1 = X/2 - h",
		Form: pivotLines(1, func(p market.Bar, _ float64) []float64 {
			twice := p.Close // which price counts twice depends on how the period closed
			if p.Close > p.Open {
				twice = p.High
			} else if p.Close < p.Open {
				twice = p.Low
			}
			x := p.High + p.Low + p.Close + twice
			return []float64{x / 4, x/2 - p.Low, x/2 - p.High}
		})},
	{Name: "cpr", Title: "CPR", Also: "central_pivot_range", Category: Price, Traits: Overlay,
		Doc:     "Central pivot range: the pivot of the period before between two levels. A narrow range promises a trend, a wide one a quiet period; above it buyers rule, below it sellers. Periods and signals are those of pivot.",
		Formula: "P = (h + l + c) / 3; the other levels are (h + l) / 2 and 2P - (h + l) / 2, the higher one on top",
		Params:  []Param{pivotPeriod},
		Events:  pivotEvents, Memory: Memory{seconds: pivotHistory},
		Draw: func(in Input) *Result {
			r := periodLevels(in, []string{"P", "TC", "BC"}, func(b market.Bar, _ float64) []float64 {
				p, half := (b.High+b.Low+b.Close)/3, (b.High+b.Low)/2
				return []float64{p, max(half, 2*p-half), min(half, 2*p-half)}
			})
			r.Fills = []Fill{{Y1: r.Lines[1].Values, Y2: r.Lines[2].Values, Tone: Band}}
			return r
		}},
	{Name: "previous_levels", Title: "Previous", Also: "previous_day_high_low pdh_pdl previous_high_low", Category: Price, Traits: Overlay,
		Doc:     "High, low and close of the whole period before: the day, week, month or year, in UTC, weeks from Monday. level_touch fires when a bar first reaches a level of its period; breakouts are closes beyond the high and the low.",
		Formula: "high, low and close of the period before the one of the bar",
		Params:  []Param{periodOfLevels("whose high, low and close are shown", "day", "week", "month", "year")},
		Events:  pivotEvents, Memory: Memory{seconds: pivotHistory},
		Draw: func(in Input) *Result {
			return periodLevels(in, []string{"Close", "High", "Low"}, func(b market.Bar, _ float64) []float64 {
				return []float64{b.Close, b.High, b.Low}
			})
		}},
	{Name: "opening_range", Title: "OR", Also: "orb opening_range_breakout", Category: Price, Traits: Overlay,
		Doc:     "Opening range: the highest high and lowest low of the first minutes of the day, in UTC from the hour given, from the bar on that ends them. Breakouts are closes that leave it.",
		Formula: "highest high and lowest low of the bars that begin within minutes of the start",
		Params: []Param{
			factorInt("minutes", 60, 1, 1440, "minutes of the range", "length"),
			quiet(factor("start", 0, 0, 23.99, "hour of the day at which it begins, UTC, such as 14.5 for half past two", "hour")),
		},
		Events: []Event{emits(BreakUp, BreakDown)},
		// The range of today may have been made before the first bar shown; a second day
		// covers a start late in the day.
		Memory: Memory{seconds: func(Args, market.Interval) int64 { return 2 * 86400 }},
		Draw: func(in Input) *Result {
			start, length := int64(in.Float("start")*3600), int64(in.Int("minutes")*60)
			const day = 86400
			upper, lower, fresh := kernel.NaNs(in.Len()), kernel.NaNs(in.Len()), make([]bool, in.Len())
			hi, lo, of := nan, nan, int64(-1) // of: the day that hi and lo belong to
			// The day whose range was drawn last: the first bar of another day starts a new line.
			shown := int64(-1)
			for i, t := range in.Time {
				today, since := (t-start)/day, (t-start)%day
				if since < length {
					if today != of {
						hi, lo, of = in.High[i], in.Low[i], today
					}
					hi, lo = max(hi, in.High[i]), min(lo, in.Low[i])
					// The range is known at the close of the bar that ends it. A bar of a day or
					// longer leaves no rest of the day for which it would mean something.
					if end := since + in.Interval.Next(t) - t; end < length || end >= day {
						continue
					}
				}
				// A day without bars within the range has none.
				if today == of {
					upper[i], lower[i] = hi, lo
					fresh[i], shown = shown != today, today
				}
			}
			r := &Result{
				Lines: []Line{{Label: "High", Tone: Down, Style: Step, Values: upper}, {Label: "Low", Tone: Up, Style: Step, Values: lower}},
				Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
			}
			// The bar that ends the range is within it, also if it closes at its edge: the next
			// close beyond that edge leaves the range.
			closes := slices.Clone(in.Close)
			for i := range closes {
				if fresh[i] {
					closes[i] = (upper[i] + lower[i]) / 2
				}
			}
			r.Signals = withoutResets(breakouts(closes, upper, lower), fresh)
			return r
		}},
	{Name: "sessions", Title: "Sessions", Also: "trading_sessions market_sessions", Category: Price, Traits: Overlay,
		Doc: "Trading sessions: high and low so far of the sessions in Tokyo, London and New York, on bars shorter than a day. Hours are those of the clocks there, summer time included: forex 9 to 18 in Tokyo (Asia/Tokyo), 8 to 17 in London (Europe/London) and New York (America/New_York); " +
			"stocks 9:00 to 15:30, 8:00 to 16:30 and 9:30 to 16:00. Weekends have none. Breakouts are the first closes beyond a session after its end. Nothing repaints.",
		Formula: "highest high and lowest low of the bars that begin within the session",
		Params:  []Param{manyOf("session", "which sessions", "all", "tokyo", "london", "new_york"), quiet(choice("hours", "whose hours", "forex", "stocks"))},
		Events:  []Event{emits(SessionOpen, SessionClose, BreakUp, BreakDown).meaning("", "", "the first close above a session after its end", "the first close below a session after its end")},
		Memory:  Memory{seconds: sessionHistory},
		Draw: func(in Input) *Result {
			return drawSessions(in.Series, chosenSessions(in.Args, sessionHours[in.Choice("hours")]))
		}},
	{Name: "kill_zones", Title: "Kill zones", Also: "killzones ict_kill_zones", Category: Price, Traits: Overlay,
		Doc: "Kill zones: high and low so far of the hours that ICT's followers watch, on bars shorter than a day. All in New York's time (America/New_York, summer time included): Asia 20 to 24, London open 2 to 5, New York open 7 to 10, London close 10 to 12. Weekends have none. " +
			"Breakouts are the first closes beyond a zone after its end. Nothing repaints.",
		Formula: "highest high and lowest low of the bars that begin within the zone",
		Params:  []Param{manyOf("zone", "which zones", "all", "asia", "london_open", "new_york_open", "london_close")},
		Events:  []Event{emits(SessionOpen, SessionClose, BreakUp, BreakDown).meaning("", "", "the first close above a zone after its end", "the first close below a zone after its end")},
		Memory:  Memory{seconds: sessionHistory},
		Draw:    func(in Input) *Result { return drawSessions(in.Series, chosenSessions(in.Args, killZones)) }},
}

// periodStarts reports for each bar whether it is the first of its calendar period in
// UTC: "hour", "day", "week" from Monday, "month" or "year". Any other name stands
// for one endless period, which the first bar starts. A bar belongs to the period in
// which it begins; a gap over several periods starts one.
func periodStarts(s *market.Series, period string) []bool {
	out := make([]bool, s.Len())
	var next int64 // start of the period to come
	for i, t := range s.Time {
		if i == 0 || t >= next {
			out[i] = true
			_, next = periodAround(t, period)
		}
	}
	return out
}

// calendar holds the periods that are bars of an interval too.
var calendar = map[string]market.Interval{"hour": market.Hour1, "day": market.Day1, "week": market.Week1, "month": market.Month1}

// periodAround returns when the period around t began and when it ends, in unix seconds: 0 and
// never for an endless one.
func periodAround(t int64, period string) (start, end int64) {
	if iv, ok := calendar[period]; ok {
		start = iv.Start(t)
		return start, iv.Next(start)
	}
	if period != "year" {
		return 0, math.MaxInt64
	}
	first := func(year int) int64 { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() }
	year := time.Unix(t, 0).UTC().Year()
	return first(year), first(year + 1)
}

// periodOf returns the period that choice names. "auto" is the one that suits the interval,
// or the day if the interval is not known.
func periodOf(choice string, iv market.Interval) string {
	switch length := iv.Seconds(); {
	case choice != "auto":
		return choice
	case length <= market.Minute15.Seconds():
		return "day"
	case length < market.Day1.Seconds():
		return "week"
	case length < market.Week1.Seconds():
		return "month"
	}
	return "year"
}

// periodSeconds is how long a period is at most. An endless one begins with the first
// bar shown. Months and years are taken at their longest, so that the history loaded
// is never too short.
var periodSeconds = map[string]int64{
	"hour": 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400, "year": 366 * 86400,
}

// anchor returns the parameter that says with which period a running average starts again.
func anchor() Param {
	return named(choice("anchor", "where it starts anew: auto is the day, of daily bars the month, of longer ones the year; none is the first bar loaded",
		"auto", "day", "week", "month", "year", "none"), "session", "reset")
}

// longPeriod returns the period that choice names. "auto" is the shortest of day, month and year that
// has several bars of the interval, or the day if the interval is not known: with daily bars, what
// starts again every day would have one bar only.
func longPeriod(choice string, iv market.Interval) string {
	switch length := iv.Seconds(); {
	case choice != "auto":
		return choice
	case length < market.Day1.Seconds():
		return "day"
	case length < market.Week1.Seconds():
		return "month"
	}
	return "year"
}

// endlessAnchor is what keeps an indicator from forgetting with the parameter "anchor".
func endlessAnchor(a Args) (set string) {
	if a.Choice("anchor") == "none" {
		return "anchor to day"
	}
	return ""
}

// sinceAnchor returns the history, in seconds, of an indicator that starts again with every
// period of "anchor".
func sinceAnchor(a Args, iv market.Interval) int64 {
	return periodSeconds[longPeriod(a.Choice("anchor"), iv)]
}

// withoutResets removes, in place, the signals on bars where a line starts again: there the
// line jumps, and the price has crossed nothing.
func withoutResets(signals []Signal, starts []bool) []Signal {
	return slices.DeleteFunc(signals, func(sig Signal) bool { return starts[sig.Bar] })
}

// pivotLines completes a record of pivot points. levels returns the pivot and
// then, for each of pairs, a resistance and a support, from the whole period
// before and the open of the new one.
func pivotLines(pairs int, levels func(before market.Bar, open float64) []float64) func(ind *Indicator, _ string) {
	return func(ind *Indicator, _ string) {
		ind.Category, ind.Traits = Price, Overlay
		ind.Doc += " With period auto, bars up to 15 minutes look at the day before, up to 12 hours the week, up to 3 days the month, longer ones the year, all in UTC. level_touch fires when a bar first reaches a level of its period; breakouts are closes beyond R1 and S1."
		ind.Params = []Param{pivotPeriod}
		ind.Events = pivotEvents
		ind.Memory = Memory{seconds: pivotHistory}
		names := []string{"P"}
		for k := range pairs {
			digit := string(rune('1' + k))
			names = append(names, "R"+digit, "S"+digit)
		}
		ind.Draw = func(in Input) *Result { return periodLevels(in, names, levels) }
	}
}

// periodLevels draws the levels that the whole period before and the open of the new one
// give, under these names: a middle one and then pairs of an upper and a lower one. They hold for
// the whole period, so that nothing repaints. The signals are the first touches of any level, and
// closes that cross the middle or leave the first pair. A level that moves with a new period is
// crossed by nothing.
func periodLevels(in Input, names []string, levels func(before market.Bar, open float64) []float64) *Result {
	r := &Result{}
	for k, name := range names {
		tone := [2]Tone{Up, Down}[k%2]
		if k == 0 {
			tone = Accent
		}
		r.Lines = append(r.Lines, Line{Label: name, Tone: tone, Style: Step, Values: kernel.NaNs(in.Len())})
	}
	starts := periodStarts(in.Series, periodOf(in.Choice("period"), in.Interval))
	var current market.Bar // the period so far
	var now []float64      // its levels, none in the first
	for i := range starts {
		// The bars of the period are gathered into one, which gives the levels of the next.
		switch b := in.Bar(i); {
		case i == 0:
			current = b
		case starts[i]:
			now, current = levels(current, b.Open), b
		default:
			current.High, current.Low, current.Close = max(current.High, b.High), min(current.Low, b.Low), b.Close
		}
		for k, v := range now {
			r.Lines[k].Values[i] = v
		}
	}
	for _, l := range r.Lines {
		touched := false // in this period; before there are levels the comparisons with NaN are false
		r.Signals = append(r.Signals, toned(Muted, marked(l.Values, LevelTouch, "", func(i int) int {
			was, y := touched && !starts[i], l.Values[i]
			touched = was || i > 0 && kernel.Difference(in.Low[i], y) <= 0 && kernel.Difference(y, in.High[i]) <= 0
			return either(touched && !was, false)
		}))...)
	}
	for k, labels := range [3][2]string{{PriceUp, PriceDown}, {BreakUp, ""}, {"", BreakDown}} {
		y := r.Lines[k].Values
		r.Signals = append(r.Signals, withoutResets(markAt(y, labels[0], labels[1], across(in.Close, y)), starts)...)
	}
	return r
}

// periodOfLevels returns the parameter that says which period the levels come from.
func periodOfLevels(doc string, choices ...string) Param {
	return named(choice("period", doc, choices...), "timeframe")
}

var pivotPeriod = named(periodOfLevels("whose high, low and close are taken", "auto", "day", "week", "month", "year"), "session")

// pivotEvents are those of levels that hold for a period.
var pivotEvents = []Event{emits(PriceUp, PriceDown, BreakUp, BreakDown, LevelTouch)}

// pivotHistory covers the whole period before, and this one up to the first bar.
func pivotHistory(a Args, iv market.Interval) int64 {
	return 2 * periodSeconds[periodOf(a.Choice("period"), iv)]
}

// floorLevels returns the levels of the floor traders around pp.
func floorLevels(p market.Bar, pp float64) []float64 {
	return []float64{
		pp, 2*pp - p.Low, 2*pp - p.High, pp + (p.High - p.Low), pp - (p.High - p.Low),
		p.High + 2*(pp-p.Low), p.Low - 2*(p.High-pp),
	}
}

// around returns pp and then centre plus and minus each part of reach. Each part
// gives two levels, in the order of the lines: resistance first.
func around(pp, centre, reach float64, parts ...float64) []float64 {
	out := []float64{pp}
	for _, part := range parts {
		out = append(out, centre+float64(part*reach), centre-float64(part*reach))
	}
	return out
}

// clockSession is a stretch of the day by the clocks of a place, in minutes after
// midnight there. It counts if the day on which it ends is no weekend there, so
// that a Sunday evening which belongs to Monday's trading does.
type clockSession struct {
	name     string
	zone     *time.Location
	from, to int // to may be 24:00, but not past midnight
}

// The hours: of currencies as banks in each place keep them, and of stocks as the
// exchanges in Tokyo, London and New York published them in 2025. Summer time is
// that of each place.
var sessionHours = map[string][]clockSession{
	"forex": {
		{"Tokyo", place("Asia/Tokyo"), 9 * 60, 18 * 60},
		{"London", place("Europe/London"), 8 * 60, 17 * 60},
		{"New York", place("America/New_York"), 8 * 60, 17 * 60},
	},
	"stocks": {
		{"Tokyo", place("Asia/Tokyo"), 9 * 60, 15*60 + 30},
		{"London", place("Europe/London"), 8 * 60, 16*60 + 30},
		{"New York", place("America/New_York"), 9*60 + 30, 16 * 60},
	},
}

// killZones are the hours of the day in New York that Michael Huddleston (ICT)
// teaches; other tables move them by an hour.
var killZones = []clockSession{
	{"Asia", place("America/New_York"), 20 * 60, 24 * 60},
	{"London open", place("America/New_York"), 2 * 60, 5 * 60},
	{"New York open", place("America/New_York"), 7 * 60, 10 * 60},
	{"London close", place("America/New_York"), 10 * 60, 12 * 60},
}

// sessionHistory reaches back over a long weekend.
func sessionHistory(Args, market.Interval) int64 { return 6 * 86400 }

// chosenSessions returns those of the table that the first parameter names, whose
// choices are "all" and then the table's names in their order. A name given twice
// counts once: Chosen returns each word once.
func chosenSessions(a Args, table []clockSession) []clockSession {
	p := a.ind.Params[0]
	var out []clockSession
	for _, word := range a.Chosen(p.Name) {
		for i, c := range table {
			if word == "all" || word == p.Choices[i+1] {
				out = append(out, c)
			}
		}
	}
	return out
}

// place returns the time zone called name. The names are those in this file and
// the table of zones is in the binary, so it cannot fail.
func place(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic("indicators: " + err.Error())
	}
	return zone
}

// covers reports whether a bar that begins at the given time, of the session's
// zone, belongs to the session.
func (c clockSession) covers(at time.Time) bool {
	hour, minute, _ := at.Clock()
	minute += 60 * hour
	if minute < c.from || minute >= c.to {
		return false
	}
	end := at.Add(time.Duration(c.to-minute) * time.Minute).Weekday()
	return end != time.Saturday && end != time.Sunday
}

// drawSessions draws the range so far of each session and marks its begin, its
// end and the first closes beyond it afterwards. Bars of a day and more begin in
// no session that means anything: there it draws nothing.
func drawSessions(s *market.Series, table []clockSession) *Result {
	r := &Result{}
	tones := []Tone{Primary, Second, Accent, Muted}
	for k, c := range table {
		high, low := kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
		if s.Interval.Seconds() < market.Day1.Seconds() {
			r.Signals = c.follow(s, high, low, r.Signals)
		}
		tone := tones[k%len(tones)]
		r.Lines = append(r.Lines, Line{Label: c.name + " high", Tone: tone, Style: Step, Values: high}, Line{Label: c.name + " low", Tone: tone, Style: Step, Values: low})
		r.Fills = append(r.Fills, Fill{Y1: high, Y2: low, Tone: tone})
	}
	return r
}

// byClock returns a signal that the edges of the range show already: it is not drawn.
// Alerts can wait for it all the same.
func byClock(bar int, y float64, label string) Signal {
	sig := Mark(bar, y, label, Muted)
	sig.Silent = true
	return sig
}

// follow fills in the range of the session at each bar and appends its signals. The
// lines end with the session; its range is remembered for the breakouts alone.
func (c clockSession) follow(s *market.Series, high, low []float64, signals []Signal) []Signal {
	hi, lo := nan, nan // range of the session under way, or of the last one until closes have left it
	inside := false
	for i := range s.Len() {
		if inside && s.Time[i]-s.Time[i-1] > 86400/2 {
			inside = false // bars of an exchange: the next one in a session is of another day
		}
		was := inside
		inside = c.covers(time.Unix(s.Time[i], 0).In(c.zone))
		switch {
		// A session begins anew with its first bar, grows while it lasts, and keeps its
		// range after its end until a close has left it on either side.
		case inside && !was:
			hi, lo = s.High[i], s.Low[i]
			signals = append(signals, byClock(i, s.Open[i], SessionOpen))
		case inside:
			hi, lo = max(hi, s.High[i]), min(lo, s.Low[i])
		case was:
			signals = append(signals, byClock(i, s.Open[i], SessionClose))
		}
		if inside {
			high[i], low[i] = hi, lo
			continue
		}
		// Each side breaks once: NaN, which compares as equal, marks a side that has.
		if kernel.Compare(s.Close[i], hi) > 0 {
			signals, hi = append(signals, Mark(i, hi, BreakUp, Up)), nan
		}
		if kernel.Compare(s.Close[i], lo) < 0 {
			signals, lo = append(signals, Mark(i, lo, BreakDown, Down)), nan
		}
	}
	return signals
}
