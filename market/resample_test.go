package market

import (
	"errors"
	"testing"
	"time"
)

// at reads a time of a test.
func at(t *testing.T, text string) int64 {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when.Unix()
}

// resampled is resample for bars that are complete until their source was asked.
func resampled(fine *Series, to Interval, at *session) *Series {
	return resample(Series{}, rowsOf(fine), to, at, fine.AsOf/1000)
}

func rowsOf(s *Series) (rows []Bar) {
	for i := range s.Time {
		rows = append(rows, s.Bar(i))
	}
	return rows
}

// Hours 01 to 03 are missing: 4h bars still start at 00, 04 and 08.
func TestResampleByClockNotByCount(t *testing.T) {
	midnight := at(t, "2024-03-10T00:00:00Z")
	fine := series(Hour1)
	for _, h := range []int64{0, 4, 5, 6, 7, 8} {
		p := float64(100 + h)
		fine.Append(Bar{midnight + h*hour, p, p + 2, p - 2, p + 1, 10})
	}
	fine.AsOf = (midnight + 9*hour) * 1000
	got := resampled(fine, Hour4, nil)
	want := []Bar{
		{midnight, 100, 102, 98, 101, 10},
		{midnight + 4*hour, 104, 109, 102, 108, 40},
		{midnight + 8*hour, 108, 110, 106, 109, 10},
	}
	for i, w := range want {
		if got.Bar(i) != w {
			t.Errorf("bar %d is %+v, want %+v", i, got.Bar(i), w)
		}
	}
	if got.Len() != 3 || !got.Forming || got.Interval != Hour4 {
		t.Errorf("%d bars of %s, forming %v; want 3 of 4h, forming: it is 9 o'clock", got.Len(), got.Interval, got.Forming)
	}
	if n := len(findGaps(fine, nil)); n != 1 {
		t.Errorf("%d gaps, want 1", n)
	}
}

// A stock trades from 9:30 to 16:00 in New York. The clocks went forward on
// 2024-03-10, so the opening moves from 14:30 to 13:30 UTC; the half day ends
// at 13:00, and on the last day the first hour is missing.
func TestResampleBySession(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	nyse := session{zone: zone, open: 9*time.Hour + 30*time.Minute}
	fine := series(Hour1)
	day := func(open string, from, n int64) {
		for i := from; i < n; i++ {
			fine.Append(Bar{at(t, open) + i*hour, 100, 101, 99, 100, 1})
		}
	}
	day("2024-03-07T14:30:00Z", 0, 7)
	day("2024-03-08T14:30:00Z", 0, 4) // a half day
	day("2024-03-11T13:30:00Z", 0, 7)
	day("2024-03-12T13:30:00Z", 1, 7)
	fine.AsOf = at(t, "2024-04-02T00:00:00Z") * 1000
	for _, c := range []struct {
		to     Interval
		starts []string
		volume []float64
	}{
		{Hour4, []string{
			"2024-03-07T14:30:00Z", "2024-03-07T18:30:00Z", "2024-03-08T14:30:00Z", "2024-03-11T13:30:00Z", "2024-03-11T17:30:00Z",
			"2024-03-12T13:30:00Z", "2024-03-12T17:30:00Z",
		}, []float64{4, 3, 4, 4, 3, 3, 3}},
		{Day1, []string{"2024-03-07T14:30:00Z", "2024-03-08T14:30:00Z", "2024-03-11T13:30:00Z", "2024-03-12T13:30:00Z"}, []float64{7, 4, 7, 6}},
		{Week1, []string{"2024-03-04T05:00:00Z", "2024-03-11T04:00:00Z"}, []float64{11, 13}},
		{Month1, []string{"2024-03-01T05:00:00Z"}, []float64{24}},
	} {
		got := resampled(fine, c.to, &nyse)
		if got.Len() != len(c.starts) || got.Forming {
			t.Errorf("%s: %d bars, forming %v; want %d, closed", c.to, got.Len(), got.Forming, len(c.starts))
			continue
		}
		for i, start := range c.starts {
			if got.Time[i] != at(t, start) || got.Volume[i] != c.volume[i] {
				t.Errorf("%s bar %d starts %s with volume %v; want %s, %v", c.to, i, time.Unix(got.Time[i], 0).UTC(), got.Volume[i], start, c.volume[i])
			}
		}
	}
	if n := len(findGaps(fine, &nyse)); n != 0 {
		t.Errorf("nights, a weekend and a half day count as %d gaps", n)
	}
	// Weeks of New York begin an hour earlier in UTC once the clocks went forward.
	weeks := series(Week1)
	for _, monday := range []string{"2024-02-26T05:00:00Z", "2024-03-25T04:00:00Z", "2024-04-15T04:00:00Z"} {
		weeks.Append(Bar{at(t, monday), 100, 101, 99, 100, 1})
	}
	if got := findGaps(weeks, &nyse); len(got) != 1 || got[0] != weeks.Time[1] {
		t.Errorf("three and then two missing weeks are gaps before %v, want %v", got, weeks.Time[1:2])
	}
}

func TestResampleRefusesAndKeeps(t *testing.T) {
	fine := series(Hour4, Bar{0, 1, 2, 1, 2, 1}, Bar{4 * hour, 2, 3, 2, 3, 1})
	fine.AsOf = 1e15
	for _, to := range []Interval{Hour1, Hour6, "7m", ""} {
		if to.holds(Hour4) {
			t.Errorf("4h to %q, want a refusal", to)
		}
	}
	for _, to := range []Interval{Hour1, Hour6} {
		q := Query{Interval: to, Limit: 1}
		file := &csvFile{rows: rowsOf(fine), now: time.Now()}
		if _, err := file.answer(q, Hour4); !errors.Is(err, ErrTooFine) {
			t.Errorf("4h to %q: %v, want ErrTooFine", to, err)
		}
	}
	got := resampled(fine, Hour12, nil)
	if got.Len() != 1 || got.Forming {
		t.Errorf("%+v; want one bar that has closed", got)
	}
	if column := align(got, []point{{-1, 3}, {0, 7}, {12 * hour, 9}}); column[0] != 7 {
		t.Errorf("extra column %v; want the last value of the bar", column)
	}
	fine.AsOf = 8 * hour * 1000
	if got := resampled(fine, Hour12, nil); !got.Forming {
		t.Error("a bar of which rows are still to come is forming")
	}
	empty := resampled(series(Minute1), Hour1, &session{zone: time.UTC})
	if empty.Len() != 0 || empty.Forming {
		t.Errorf("no bars give %+v", empty)
	}
}
