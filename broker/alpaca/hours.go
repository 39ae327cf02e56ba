package alpaca

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
	_ "time/tzdata" // the calendar is in New York's time

	"wick/broker"
	"wick/limit"
)

// hours is what is known of the exchange's hours: whether it is open now, by its clock,
// and the sessions of the next days, by its calendar. Without a calendar there are no
// sessions, and orders are sent nevertheless.
type hours struct {
	clock
	sessions []session
}

// hours returns the clock and the calendar of the exchange. It asks for the clock only if
// the last answer does not hold any more: it holds until the exchange opens or closes
// next, but at most for an hour, in case it was wrong.
func (c *Client) hours(ctx context.Context) (hours, error) {
	// Two callers may both ask for the clock. Both answers are right, and the later one
	// is kept.
	c.mu.Lock()
	k := c.clock
	c.mu.Unlock()
	until := k.NextOpen
	if k.IsOpen {
		until = k.NextClose
	}
	if now := time.Now(); now.Before(until) && now.Before(k.Timestamp.Add(time.Hour)) {
		return hours{k, c.calendar(ctx)}, nil
	}
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/clock", nil, nil, &k); err != nil {
		return hours{}, err
	}
	// Without these times we would have to ask for the clock before every order.
	if k.NextOpen.IsZero() || k.NextClose.IsZero() {
		return hours{}, fmt.Errorf("alpaca: a clock without the times of the next session")
	}
	c.mu.Lock()
	c.clock = k
	c.mu.Unlock()
	return hours{k, c.calendar(ctx)}, nil
}

const (
	calendarDays = 10             // days that are asked for: more than any row of holidays
	calendarLife = 6 * time.Hour  // after which a calendar is read again
	calendarMost = 24 * time.Hour // how old one may be that cannot be read again
	calendarWait = time.Hour      // how long after a failure it is asked for again
)

// calendar returns the sessions of the next days, which it reads again every few hours.
// If that fails it logs the error and returns those that it has read within a day, or else
// none; orders can still be sent, because the clock says whether the exchange is open. It
// then tries again only after an hour, so that a failing calendar delays only one order.
func (c *Client) calendar(ctx context.Context) []session {
	c.mu.Lock()
	sessions, due := c.sessions, !time.Now().Before(c.calendarDue)
	c.mu.Unlock()
	if !due {
		return sessions
	}
	sessions, err := c.readCalendar(ctx, time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err != nil {
		c.log.Warn("alpaca's calendar cannot be read", "error", limit.Line(err.Error(), maxSaid))
		if c.calendarDue = now.Add(calendarWait); now.Sub(c.calendarRead) > calendarMost {
			c.sessions = nil
		}
		return c.sessions
	}
	c.sessions, c.calendarRead, c.calendarDue = sessions, now, now.Add(calendarLife)
	return sessions
}

// readCalendar asks for the sessions from the day before now on. The day before is
// included because a session may still be on in New York when the next day has begun
// in UTC.
func (c *Client) readCalendar(ctx context.Context, now time.Time) (sessions []session, err error) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		return nil, err
	}
	// The dates are those of New York, whatever zone this machine is in.
	day := func(after int) []string { return []string{now.In(newYork).AddDate(0, 0, after).Format(time.DateOnly)} }
	var days []calendarDay
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/calendar", url.Values{"start": day(-1), "end": day(calendarDays)}, nil, &days); err != nil {
		return nil, err
	}
	if len(days) > calendarDays+2 {
		return nil, fmt.Errorf("alpaca: a calendar of %d days, and %d were asked for", len(days), calendarDays+2)
	}
	for _, d := range days {
		s, err := d.session(newYork)
		// Days must be in order; in any other answer something is wrong.
		if err != nil || len(sessions) > 0 && !s.open.After(sessions[len(sessions)-1].close) {
			return nil, fmt.Errorf("alpaca: the calendar has a day %q from %q to %q", limit.Clip(d.Date), limit.Clip(d.Open), limit.Clip(d.Close))
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// session reads a day of the calendar.
func (d calendarDay) session(zone *time.Location) (s session, err error) {
	const layout = time.DateOnly + " 15:04"
	if s.open, err = time.ParseInLocation(layout, d.Date+" "+d.Open, zone); err != nil {
		return s, err
	}
	if s.close, err = time.ParseInLocation(layout, d.Date+" "+d.Close, zone); err != nil {
		return s, err
	}
	if !s.close.After(s.open) {
		return s, fmt.Errorf("it closes before it opens")
	}
	// A usual session ends at 16:00 in New York.
	s.half = s.close.Hour() < 16
	return s, nil
}

// dayEnd returns when an order for the day that is sent at a time ends: at the end of the
// present session, or of the next one. Zero means that it is not known.
func (h hours) dayEnd(now time.Time) time.Time {
	for _, s := range h.sessions {
		if s.close.After(now) {
			return s.close.UTC()
		}
	}
	return time.Time{}
}

// check refuses an order that must be filled at once if the exchange is closed: it would
// be filled at the opening, at a price that nobody knows yet. The error says when the
// exchange opens, and when it closes if that is known.
func (h hours) check(o broker.Order) error {
	if h.IsOpen || o.Type != "market" && o.TimeInForce != "ioc" && o.TimeInForce != "fok" {
		return nil
	}
	next := ""
	if i := slices.IndexFunc(h.sessions, func(s session) bool { return s.open.Equal(h.NextOpen) }); i >= 0 {
		next = ", and then open until " + h.sessions[i].close.UTC().Format("15:04 UTC")
		if h.sessions[i].half {
			next += ", a half day"
		}
	}
	return refusal("the exchange is closed until %s%s: a limit or a stop with time_in_force day or gtc can wait for it", h.NextOpen.UTC().Format("2006-01-02 15:04 UTC"), next)
}
