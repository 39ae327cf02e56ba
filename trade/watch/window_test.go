package watch

import (
	"testing"
	"time"

	"wick/market"
	"wick/trade/book"
)

// TestDowntimeBeyondOneAnswer: of more bars than one answer has, those are judged that have
// as many bars before them as the window keeps.
func TestDowntimeBeyondOneAnswer(t *testing.T) {
	s := &market.Series{Symbol: "AAA", Interval: market.Minute1, Forming: true}
	for i := range int64(market.MaxLimit) {
		s.Append(market.Bar{Time: 1_700_000_040 + 60*i, Open: 100, High: 100, Low: 100, Close: 100})
	}
	w := newWindow(s, WindowBars)
	w.resume(s.Time[10])
	if n := w.closed.Len() - w.after(w.After); n != market.MaxLimit-1-WindowBars {
		t.Errorf("%d bars wait to be judged, want %d", n, market.MaxLimit-1-WindowBars)
	}
}

// TestWindowOfSydney: the days of Sydney begin an hour before their time in UTC. A window that
// is loaded after a session has a complete bar, which waits for its close. A price in the first hour of the next session belongs to the next bar.
func TestWindowOfSydney(t *testing.T) {
	const day, hour = 86400, 3600
	monday := time.Date(2025, 1, 6, 0, 0, 0, 0, time.UTC).Unix()
	s := &market.Series{Symbol: "AAA", Interval: market.Day1}
	for i := range int64(3) {
		s.Append(market.Bar{Time: monday + i*day, Open: 100, High: 101, Low: 99, Close: 100})
		s.Delayed = append(s.Delayed, market.Delay{Start: monday + i*day, Offset: -hour})
	}
	wednesday := monday + 2*day
	for _, c := range []struct{ asked, judged int64 }{{wednesday + 8*hour, monday + day}, {wednesday + 22*hour, monday + day}, {wednesday + 23*hour, wednesday}} {
		s.AsOf = c.asked * 1000
		w := newWindow(s, 2)
		if w.resume(monday + day); w.After != monday+day || w.waits() {
			t.Errorf("asked at %d: judged up to %d, and a bar waits: %t", c.asked-wednesday, w.After, w.waits())
		}
		if w = newWindow(s, 2); w.After != c.judged {
			t.Errorf("asked at %d: a new window is judged up to %d, want %d", c.asked-wednesday, w.After, c.judged)
		}
	}
	w := newWindow(s, 2)
	at := (wednesday + 23*hour + 1800) * 1000
	w.touch(market.Update{Price: 150, High: 155, Low: 100, At: at, Path: []market.Bar{{Time: at/1000 - 60, Open: 149, High: 155, Low: 148, Close: 150}}})
	want := market.FormingBar{Bar: market.Bar{Time: wednesday + day, Open: 149, High: 155, Low: 148, Close: 150}, Delay: market.Delay{Start: wednesday + day, Offset: -hour}}
	if w.forming != want {
		t.Errorf("forming %+v, want %+v", w.forming, want)
	}
	s.PriceAt = 0 // a source that does not say
	if q := book.LastQuote(s); q.At != (wednesday+23*hour)*1000 {
		t.Errorf("the last price is of %d, want the close of the last bar, %d", q.At, (wednesday+23*hour)*1000)
	}
	longer := newWindow(s, 3)
	w.Early = wednesday
	if longer.follow(w); longer.Early != wednesday || longer.forming != want {
		t.Errorf("a longer window goes on with %d and %+v", longer.Early, longer.forming)
	}
}
