package indicators

import (
	"sync"
	"time"
	_ "time/tzdata" // so that a zone means the same on every machine

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// clockSession is a stretch of the day by the clocks of a place, in minutes after
// midnight there. It counts if the day on which it ends is no weekend there, so
// that a Sunday evening which belongs to Monday's trading does.
type clockSession struct {
	name, zone string
	from, to   int // to may be 24:00, but not past midnight
}

// The hours: of currencies as banks in each place keep them, and of stocks as the
// exchanges in Tokyo, London and New York published them in 2025. Summer time is
// that of each place.
var sessionHours = map[string][]clockSession{
	"forex": {
		{"Tokyo", "Asia/Tokyo", 9 * 60, 18 * 60},
		{"London", "Europe/London", 8 * 60, 17 * 60},
		{"New York", "America/New_York", 8 * 60, 17 * 60},
	},
	"stocks": {
		{"Tokyo", "Asia/Tokyo", 9 * 60, 15*60 + 30},
		{"London", "Europe/London", 8 * 60, 16*60 + 30},
		{"New York", "America/New_York", 9*60 + 30, 16 * 60},
	},
}

// killZones are the hours of the day in New York that Michael Huddleston (ICT)
// teaches; other tables move them by an hour.
var killZones = []clockSession{
	{"Asia", "America/New_York", 20 * 60, 24 * 60},
	{"London open", "America/New_York", 2 * 60, 5 * 60},
	{"New York open", "America/New_York", 7 * 60, 10 * 60},
	{"London close", "America/New_York", 10 * 60, 12 * 60},
}

var indSessions = Indicator{
	Name: "sessions", Title: "Sessions", Aliases: []string{"trading_sessions", "market_sessions"}, Category: Price, Overlay: true,
	Doc: "Trading sessions: high and low so far of the sessions in Tokyo, London and New York, on bars shorter than a day. Hours are those of the clocks there, summer time included: forex 9 to 18 in Tokyo (Asia/Tokyo), 8 to 17 in London (Europe/London) and New York (America/New_York); " +
		"stocks 9:00 to 15:30, 8:00 to 16:30 and 9:30 to 16:00. Weekends have none. Breakouts are the first closes beyond a session after its end. Nothing repaints.",
	Formula: "highest high and lowest low of the bars that begin within the session",
	Params: []Param{
		manyOf("session", "which sessions", "all", "tokyo", "london", "new_york"),
		quiet(choice("hours", "whose hours", "forex", "stocks")),
	},
	Signals: []string{shape.SessionOpen, shape.SessionClose, shape.BreakUp, shape.BreakDown},
	Meanings: map[string]string{
		shape.BreakUp:   "the first close above a session after its end",
		shape.BreakDown: "the first close below a session after its end",
	},
	History: sessionHistory,
	Compute: func(s *market.Series, a Args) *Result {
		return drawSessions(s, chosenSessions(a, sessionHours[a.Choice("hours")]))
	},
}

var indKillZones = Indicator{
	Name: "kill_zones", Title: "Kill zones", Aliases: []string{"killzones", "ict_kill_zones"}, Category: Price, Overlay: true,
	Doc: "Kill zones: high and low so far of the hours that ICT's followers watch, on bars shorter than a day. All in New York's time (America/New_York, summer time included): Asia 20 to 24, London open 2 to 5, New York open 7 to 10, London close 10 to 12. Weekends have none. " +
		"Breakouts are the first closes beyond a zone after its end. Nothing repaints.",
	Formula: "highest high and lowest low of the bars that begin within the zone",
	Params:  []Param{manyOf("zone", "which zones", "all", "asia", "london_open", "new_york_open", "london_close")},
	Signals: []string{shape.SessionOpen, shape.SessionClose, shape.BreakUp, shape.BreakDown},
	Meanings: map[string]string{
		shape.BreakUp:   "the first close above a zone after its end",
		shape.BreakDown: "the first close below a zone after its end",
	},
	History: sessionHistory,
	Compute: func(s *market.Series, a Args) *Result { return drawSessions(s, chosenSessions(a, killZones)) },
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
var place = func() func(name string) *time.Location {
	// Reading a zone from the table takes a while, so each is kept; a map for several
	// goroutines, because charts are computed side by side.
	var zones sync.Map
	return func(name string) *time.Location {
		if zone, ok := zones.Load(name); ok {
			return zone.(*time.Location)
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic("indicators: " + err.Error())
		}
		zones.Store(name, zone)
		return zone
	}
}()

// covers reports whether a bar that begins at the given time, of the session's
// zone, belongs to the session.
func (c clockSession) covers(at time.Time) bool {
	hour, minute, _ := at.Clock()
	minute += 60 * hour
	if minute < c.from || minute >= c.to {
		return false
	}
	// The weekday that counts is the one on which the session ends.
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
		// Outside the session, and on bars too long for it, both lines stay without
		// values.
		high, low := kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
		if s.Interval.Seconds() < market.Day1.Seconds() {
			r.Signals = c.follow(s, high, low, r.Signals)
		}
		tone := tones[k%len(tones)]
		r.Lines = append(r.Lines, Line{Label: c.name + " high", Tone: tone, Style: Step, Values: high}, Line{Label: c.name + " low", Tone: tone, Style: Step, Values: low})
		r.Fills = append(r.Fills, Fill{Y1: high, Y2: low, Tone: tone})
	}
	shape.InOrder(r.Signals)
	return r
}

// byClock returns a signal that the edges of the range show already: it is not drawn.
// Alerts can wait for it all the same.
func byClock(bar int, y float64, label string) Signal {
	sig := shape.Mark(bar, y, label, Muted)
	sig.Silent = true
	return sig
}

// follow fills in the range of the session at each bar and appends its signals. The
// lines end with the session; its range is remembered for the breakouts alone.
func (c clockSession) follow(s *market.Series, high, low []float64, signals []Signal) []Signal {
	hi, lo := nan, nan // range of the session under way, or of the last one until closes have left it
	inside, zone := false, place(c.zone)
	for i := range s.Len() {
		if inside && s.Time[i]-s.Time[i-1] > 86400/2 {
			inside = false // bars of an exchange: the next one in a session is of another day
		}
		was := inside
		inside = c.covers(time.Unix(s.Time[i], 0).In(zone))
		switch {
		// A session begins anew with its first bar, grows while it lasts, and keeps its
		// range after its end until a close has left it on either side.
		case inside && !was:
			hi, lo = s.High[i], s.Low[i]
			signals = append(signals, byClock(i, s.Open[i], shape.SessionOpen))
		case inside:
			hi, lo = max(hi, s.High[i]), min(lo, s.Low[i])
		case was:
			signals = append(signals, byClock(i, s.Open[i], shape.SessionClose))
		}
		if inside {
			high[i], low[i] = hi, lo
			continue
		}
		// Each side breaks once: NaN, which compares as equal, marks a side that has.
		if kernel.Compare(s.Close[i], hi) > 0 {
			signals, hi = append(signals, shape.Mark(i, hi, shape.BreakUp, Up)), nan
		}
		if kernel.Compare(s.Close[i], lo) < 0 {
			signals, lo = append(signals, shape.Mark(i, lo, shape.BreakDown, Down)), nan
		}
	}
	return signals
}
