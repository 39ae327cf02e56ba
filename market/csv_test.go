package market

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const threeDays = "time,open,high,low,close,volume\n1704067200,1,3,1,2,10\n1704153600,2,4,2,3,20\n1704240000,3,5,3,4,30\n"

// folder is a venue of files, and where they are.
type folder struct {
	*Venue
	dir string
}

// directory makes a source of files given by name.
func directory(t testing.TB, files map[string]string) folder {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if strings.HasSuffix(strings.ToLower(name), ".gz") {
			text = zipped(t, text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewCSV(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return folder{c, dir}
}

func zipped(t testing.TB, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.String()
}

// The same three bars in every spelling a file may have.
func TestCSVSpellings(t *testing.T) {
	for name, text := range map[string]string{
		"abc-1d.csv":     threeDays,
		"ABC-1D.CSV":     threeDays,
		"abc.csv":        threeDays,
		"Abc-daily.csv":  "", // no digit: a symbol of its own
		"abc-24h.csv.gz": threeDays,
		"abc-1d.csv.GZ":  threeDays,
		"ms.csv":         "Time,Open,High,Low,Close,Volume\n1704067200000,1,3,1,2,10\n1704153600000,2,4,2,3,20\n1704240000000,3,5,3,4,30\n",
		"iso.csv":        "volume,close,low,high,open,date\n10,2,1,3,1,2024-01-01\n20,3,2,4,2,2024-01-02\n30,4,3,5,3,2024-01-03\n",
		"rfc.csv":        "\ufeffDATETIME, O, H, L, C, V\n2024-01-01T01:00:00+01:00,1,3,1,2,10\n2024-01-02 00:00:00,2,4,2,3,20\n\"2024-01-03T00:00:00Z\",3,5,3,4,30\n",
		"compact.csv":    "t,o,h,l,c,v,other\n20240101,1,3,1,2,10,x\n20240102,2,4,2,3,20,\n20240103,3,5,3,4,30,y\n",
		"falling.csv":    "time,open,high,low,close,volume\n1704240000,3,5,3,4,30\n1704153600,9,9,9,9,9\n1704153600,2,4,2,3,20\n1704067200,1,3,1,2,10\n",
	} {
		t.Run(name, func(t *testing.T) {
			if text == "" {
				if symbol, iv, ok := parseName(name); symbol != "ABC-DAILY" || iv != "" || !ok {
					t.Errorf("%q is %q %q %v", name, symbol, iv, ok)
				}
				return
			}
			symbol, _, _ := parseName(name)
			s, err := directory(t, map[string]string{name: text}).Bars(t.Context(), Query{Symbol: symbol, Interval: Day1, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []Bar{{1704067200, 1, 3, 1, 2, 10}, {1704153600, 2, 4, 2, 3, 20}, {1704240000, 3, 5, 3, 4, 30}} {
				if s.Len() != 3 || s.Bar(i) != want {
					t.Fatalf("bar %d of %d is %v, want %v", i, s.Len(), s.Bar(i), want)
				}
			}
			if s.Source != "csv" || s.Symbol != symbol || s.Interval != Day1 || s.Forming || s.Synthetic {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestCSVResamplesAndChooses(t *testing.T) {
	hours := "time,open,high,low,close\n"
	for h := range 30 { // from 2024-01-01 00:00, without volume
		hours += time.Unix(1704067200+int64(h)*3600, 0).UTC().Format("2006-01-02 15:04") + ",5,6,4,5\n"
	}
	c := directory(t, map[string]string{"abc-1h.csv": hours, "abc-1d.csv": threeDays, "old.csv": threeDays, "README.md": "x", "bad name.csv": "x"})
	for _, q := range []struct {
		symbol  string
		iv      Interval
		bars    int
		forming bool
	}{
		{"ABC", Hour1, 30, false}, {"ABC", Hour4, 8, false}, {"ABC", Hour6, 5, false}, {"ABC", Day1, 3, false}, {"ABC", Day3, 2, false}, {"ABC", Week1, 1, false}, {"OLD", Week1, 1, false},
	} {
		s, err := c.Bars(t.Context(), Query{Symbol: q.symbol, Interval: q.iv, Limit: 100})
		if err != nil || s.Len() != q.bars || s.Forming != q.forming {
			t.Errorf("%s %s: %+v, %v; want %d bars, forming %v", q.symbol, q.iv, s, err, q.bars, q.forming)
		}
	}
	if s, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Hour1, Limit: 7}); err != nil || s.Len() != 7 || s.Time[6] != 1704067200+29*3600 {
		t.Errorf("the newest seven: %v, %v", s, err)
	}
	for _, iv := range []Interval{Minute15} {
		for _, symbol := range []string{"ABC", "OLD"} {
			if _, err := c.Bars(t.Context(), Query{Symbol: symbol, Interval: iv, Limit: 7}); !errors.Is(err, ErrTooFine) {
				t.Errorf("%s %s: %v", symbol, iv, err)
			}
		}
	}
	// What would be taken, and what there is.
	for iv, want := range map[Interval]string{
		Day1:    `csv has no file for "NONE": bars of 1d need none-1d.csv, one of shorter bars that make such, or none.csv; it has ABC OLD`,
		Minute3: `csv has no file for "NONE": bars of 3m need none-3m.csv, one of shorter bars that make such, or none.csv; it has ABC OLD`,
	} {
		if _, err := c.Bars(t.Context(), Query{Symbol: "NONE", Interval: iv, Limit: 7}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Gaps are those between the bars that were asked for, at their own interval. Of eight
// days by the hour, hours 30 to 32 are missing, and 100 to 160.
func TestCSVGaps(t *testing.T) {
	const wednesday = 1704240000 // 2024-01-03
	text := "time,open,high,low,close,volume\n"
	for h := range 192 {
		if h < 30 || h > 32 && h < 100 || h > 160 {
			text += fmt.Sprintf("%d,1,1,1,1,1\n", wednesday+h*3600)
		}
	}
	c := directory(t, map[string]string{"abc-1h.csv": text})
	for _, w := range []struct {
		iv    Interval
		limit int
		gaps  string // hours since the beginning
	}{
		{Hour1, 1000, "33 161"}, {Hour1, 100, "33 161"}, {Hour1, 98, "161"}, {Hour1, 31, ""},
		{Hour4, 1000, "160"}, {Hour4, 8, ""}, {Day1, 1000, "144"}, {Day1, 2, ""},
	} {
		s, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: w.iv, Limit: w.limit})
		if err != nil {
			t.Fatal(err)
		}
		var hours []string
		for _, at := range s.Gaps {
			hours = append(hours, fmt.Sprint((at-wednesday)/3600))
		}
		if got := strings.Join(hours, " "); got != w.gaps {
			t.Errorf("%d bars of %s have gaps before hours %q, want %q", w.limit, w.iv, got, w.gaps)
		}
	}
}

// TestCSVClosures: what an exchange may have closed for is no gap, and everything else
// that is missing is one. Shanghai's holidays are those of exchange_calendars (XSHG); the
// exchange of Mumbai was open on Saturday, 2 March 2024.
func TestCSVClosures(t *testing.T) {
	weekday := func(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }
	hours := func(d time.Time) bool { return weekday(d) && d.Hour() >= 14 && d.Hour() < 21 }
	always := func(time.Time) bool { return true }
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	tokyo := func(d time.Time) bool { // 9:00 to 11:30 and 12:30 to 15:00
		minute := (d.Hour()+9)%24*60 + d.Minute()
		return weekday(d) && minute >= 9*60 && minute < 15*60 && minute/30 != 23 && minute/30 != 24
	}
	evening := func(d time.Time) bool { // 4:00 to 20:00
		d = d.In(newYork)
		return weekday(d) && d.Hour() >= 4 && d.Hour() < 20
	}
	for _, c := range []struct {
		name, file string
		from, to   string // dates; the last is not in the file
		open       func(time.Time) bool
		missing    string // dates, or the first and last of several
		ask        Interval
		gaps       int
	}{
		{"a day", "abc-1d.csv", "2024-01-01", "2024-06-01", weekday, "2024-03-06", Day1, 0},
		{"two weeks", "abc-1d.csv", "2024-01-01", "2024-06-01", weekday, "2024-03-04:2024-03-15", Day1, 0},
		{"three weeks", "abc-1d.csv", "2024-01-01", "2024-06-01", weekday, "2024-03-04:2024-03-22", Day1, 1},
		{"five weeks", "abc-1d.csv", "2024-01-01", "2024-06-01", weekday, "2024-03-04:2024-04-05", Day1, 1},
		{"five weeks, by the week", "abc-1d.csv", "2024-01-01", "2024-06-01", weekday, "2024-03-04:2024-04-05", Week1, 1},
		{"five sessions", "abc-1h.csv", "2024-01-01", "2024-04-01", hours, "2024-03-04:2024-03-08", Hour1, 0},
		{"fifteen sessions", "abc-1h.csv", "2024-01-01", "2024-04-01", hours, "2024-03-04:2024-03-22", Hour1, 1},
		{"Shanghai, new year 1999", "abc-1d.csv", "1999-01-04", "1999-04-01", weekday, "1999-02-10:1999-02-26", Day1, 0},
		{"Shanghai, new year 1999, by the week", "abc-1d.csv", "1999-01-04", "1999-04-01", weekday, "1999-02-10:1999-02-26", Week1, 0},
		{"Shanghai, October 2023, by the week", "abc-1wk.csv", "2023-09-04", "2023-12-01", always, "2023-10-02", Week1, 0},
		{"Mumbai on a Saturday", "abc-1d.csv", "2024-01-01", "2024-06-01", func(d time.Time) bool { return weekday(d) || d.Format(time.DateOnly) == "2024-03-02" }, "", Day1, 0},
		{"the first of three Saturdays alone", "abc-1d.csv", "2024-01-06", "2024-01-22", func(d time.Time) bool { return d.Weekday() != time.Saturday || d.Day() == 6 }, "", Day1, 0},
		{"six days a week", "abc-1d.csv", "2024-01-01", "2024-06-01", func(d time.Time) bool { return d.Weekday() != time.Sunday }, "", Day1, 0},
		{"Tokyo's lunch", "abc-30m.csv", "2024-01-01", "2024-02-01", tokyo, "", Minute30, 0},
		{"Tokyo without a session's first bars", "abc-30m.csv", "2024-01-01", "2024-02-01", func(d time.Time) bool { return tokyo(d) && d.Unix() >= day0(t, "2024-01-05")+2*hour }, "", Minute30, 0},
		{"half an hour of Tokyo", "abc-30m.csv", "2024-01-01", "2024-02-01", func(d time.Time) bool { return tokyo(d) && d.Unix() != day0(t, "2024-01-10")+hour }, "", Minute30, 1},
		{"half an hour on the last day", "abc-30m.csv", "2024-01-01", "2024-02-01", func(d time.Time) bool { return tokyo(d) && d.Unix() != day0(t, "2024-01-31")+hour }, "", Minute30, 1},
		{"Sydney, which opens before midnight in UTC", "abc-1h.csv", "2024-01-01", "2024-02-01", func(d time.Time) bool { return weekday(d.Add(11*time.Hour)) && (d.Hour() == 23 || d.Hour() < 5) }, "", Hour1, 0},
		{"New York until its evening, which is the next day in UTC", "abc-1h.csv", "2024-01-01", "2024-06-01", evening, "", Hour1, 0},
		{"an hour in its evening", "abc-1h.csv", "2024-01-01", "2024-06-01", func(d time.Time) bool { return evening(d) && d.Unix() != day0(t, "2024-02-07")+22*hour }, "", Hour1, 1},
		{"Chicago's hour of rest, winter and summer", "abc-1h.csv", "2024-01-01", "2024-06-01", func(d time.Time) bool { d = d.In(newYork); return weekday(d.Add(6*time.Hour)) && d.Hour() != 17 }, "", Hour1, 0},
		{"Chicago from a Sunday to Tuesday", "abc-1h.csv", "2024-03-03", "2024-03-06", func(d time.Time) bool { d = d.In(newYork); return weekday(d.Add(6*time.Hour)) && d.Hour() != 17 }, "", Hour1, 0},
		{"Tel Aviv from a Sunday to Tuesday", "abc-30m.csv", "2024-03-03", "2024-03-06", func(d time.Time) bool { return d.Hour() >= 8 && d.Hour() < 15 }, "", Minute30, 0},
		{"the same by half days", "abc-12h.csv", "2024-03-03", "2024-03-06", always, "", Hour12, 0},
		{"days from a Sunday to Tuesday", "abc-1d.csv", "2024-03-03", "2024-03-06", always, "2024-03-04", Day1, 0},
		{"hours of a market that never closes, but without a Saturday nobody knows", "abc-1h.csv", "2024-03-03", "2024-03-06", func(d time.Time) bool { return d.Hour() != 5 }, "", Hour1, 0},
		{"three weeks of weekly rows", "abc-1wk.csv", "2023-09-04", "2024-03-01", always, "2023-10-02:2023-10-16", Week1, 1},
		{"a week of coins", "abcusdt-1wk.csv", "2023-09-04", "2024-03-01", always, "2023-10-02", Week1, 1},
		{"four weeks of coins", "abc-usd-1wk.csv", "2023-09-04", "2024-03-01", always, "2023-10-02 2023-10-16 2023-11-06 2024-01-01", Week1, 4},
		{"money, three days over Christmas", "eurusd-3d.csv", "2020-12-01", "2021-02-01", always, "2020-12-25", Day3, 0},
		{"a month", "abc-1mo.csv", "2024-07-01", "2025-02-01", always, "2024-10-01", Month1, 1},
		{"a day of a market that never closes", "abc-1d.csv", "2024-01-01", "2024-06-01", always, "2024-03-06 2024-03-09", Day1, 2},
		{"its Saturday and Sunday", "abc-1d.csv", "2024-01-01", "2024-06-01", always, "2024-03-09:2024-03-10", Day1, 1},
	} {
		symbol, iv, _ := parseName(c.file)
		text := "time,open,high,low,close\n"
		for at, end := day0(t, c.from), day0(t, c.to); at < end; at = iv.Next(at) {
			d := time.Unix(at, 0).UTC()
			if c.open(d) && !within(d.Format(time.DateOnly), c.missing) {
				text += fmt.Sprintf("%d,1,1,1,1\n", at)
			}
		}
		source := directory(t, map[string]string{c.file: text})
		s, err := source.Bars(t.Context(), Query{Symbol: symbol, Interval: c.ask, Limit: 5000})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if len(s.Gaps) != c.gaps {
			t.Errorf("%s: %d gaps, want %d", c.name, len(s.Gaps), c.gaps)
		}
		// A query for fewer bars gives the same gaps, as far as they are between these bars.
		few, err := source.Bars(t.Context(), Query{Symbol: symbol, Interval: c.ask, Limit: 8})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if want := s.Tail(8).Gaps; !slices.Equal(few.Gaps, want) {
			t.Errorf("%s: the last bars have gaps before %v, want %v", c.name, few.Gaps, want)
		}
	}
}

// day0 returns the midnight at which a date begins.
func day0(t *testing.T, date string) int64 { return at(t, date+"T00:00:00Z") }

// within reports whether a date is one of a list of dates and of "first:last".
func within(date, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(item string) bool {
		first, last, several := strings.Cut(item, ":")
		return date == first || several && date >= first && date <= last
	})
}

// Columns beyond prices and volume are ignored, and refused to whoever asks for them.
func TestCSVExtraColumns(t *testing.T) {
	c := directory(t, map[string]string{"abc-1h.csv": "time,open,high,low,close,OI,funding\n1704070800,1,1,1,1,10,\n1704074400,1,1,1,1,20,0.5\n"})
	if s, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Hour1, Limit: 7}); err != nil || s.Len() != 2 || len(s.Extra) > 0 {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Hour1, Limit: 7, Extra: []string{ExtraOI}}); !errors.Is(err, errNoColumn) || !strings.Contains(err.Error(), ExtraOI) {
		t.Errorf("%v", err)
	}
}

// A bad file is refused with the line at fault.
func TestCSVRefusals(t *testing.T) {
	head := "time,open,high,low,close,volume\n"
	for text, says := range map[string]string{
		"":                              "names of the columns",
		"1704067200,1,3,1,2,10\n":       "does not name",
		"time,open,high,low\n1,1,1,1\n": "does not name",
		head:                            "no rows",
		head + "x,1,3,1,2,10\n":         "line 2: time \"x\"",
		head + "1704067200,1,3,1,2,10\n1704153600,1,,1,2,10\n": "line 3: \"\" is not a number",
		head + "1704067200,1,3,1,2,-1\n":                       "line 2: volume",
		head + "1704067200,1,3,1,NaN,1\n":                      "line 2: value NaN",
		head + "1704067200,1,3,2,1,1\n":                        "line 2: low",
		head + "1704067200,0,3,0,1,1\n":                        "line 2: price 0 is not positive",
		head + "1704067200,1,3,-1,1,1\n":                       "line 2: price -1 is not positive",
		head + "1704067200,1,3\n":                              "wrong number of fields",
		head + "-5,1,3,1,2,10\n":                               "want 2026-01-31",
		head + "1704067200000000,1,3,1,2,10\n":                 "want 2026-01-31",
	} {
		c := directory(t, map[string]string{"abc-1d.csv": text})
		if _, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Day1, Limit: 7}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", text, err, says)
		}
	}
	c := directory(t, map[string]string{"abc.csv": head + "1704067200,1,1,1,1,1\n1704067213,1,1,1,1,1\n"})
	if _, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Day1, Limit: 7}); err == nil || !strings.Contains(err.Error(), "no interval") {
		t.Errorf("odd spacing: %v", err)
	}
	if _, err := NewCSV(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("took a directory that is not there")
	}
	file := filepath.Join(c.dir, "abc.csv")
	if _, err := NewCSV(file, nil); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file for a directory: %v", err)
	}
	c = directory(t, map[string]string{"def-1d.csv.gz": head + "1704153600,1,3,1,2,10\n1704067200,1,3,1,2,10\nx,1,1,1,1,1\n"})
	if err := os.WriteFile(filepath.Join(c.dir, "abc-1d.csv.gz"), []byte("this is not a zipped file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for symbol, says := range map[string]string{"ABC": "gzip: invalid header", "DEF": "line 4: time \"x\""} {
		if _, err := c.Bars(t.Context(), Query{Symbol: symbol, Interval: Day1, Limit: 7}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it to say %q", symbol, err, says)
		}
	}
}

// TestCSVDirectoryGone: once the directory is gone, questions for bars and spellings are
// answered with an error, and no symbol is known.
func TestCSVDirectoryGone(t *testing.T) {
	c := directory(t, map[string]string{"abc-1d.csv": "time,open,high,low,close,volume\n1704067200,1,3,1,2,10\n"})
	if known := Known(Cached(c)); !slices.Equal(known, []string{"ABC"}) {
		t.Errorf("known %q, want ABC", known)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Day1, Limit: 7}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("bars: %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := c.Resolve("abc"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("resolve: %v, want %v", err, fs.ErrNotExist)
	}
	if known := Known(c); len(known) != 0 {
		t.Errorf("known %q, want none", known)
	}
}

// A bar that is made of shorter rows is forming until its time is over, and then for the
// length of a row longer if its last row is missing: that row may be on its way. A market
// without trades, or one that has closed for the weekend, does not keep it forming. Where
// rows do not begin on the borders of bars, the time of a bar is over when that of the row
// that begins last in it is.
func TestCSVForming(t *testing.T) {
	monday := time.Date(2000, 1, 10, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why       string
		row, made Interval
		last      time.Duration // start of the last row, after Monday
		now       time.Duration // after Monday
		forming   bool
	}{
		{"the last row has ended, the bar has not", Minute1, Minute5, 18 * time.Minute, 19*time.Minute + 30*time.Second, true},
		{"the row of 0:19 may be on its way", Minute1, Minute5, 18 * time.Minute, 20*time.Minute + 59*time.Second, true},
		{"no trade came at 0:19", Minute1, Minute5, 18 * time.Minute, 21 * time.Minute, false},
		{"the bar has all its rows", Minute1, Minute5, 19 * time.Minute, 20 * time.Minute, false},
		{"a forming row", Minute1, Minute5, 19 * time.Minute, 20*time.Minute - time.Second, true},
		{"a row of the next bar closes this one", Minute1, Minute1, 18 * time.Minute, 19 * time.Minute, false},
		{"Monday until 21:00, on Monday", Hour1, Day1, 20 * time.Hour, 23 * time.Hour, true},
		{"at midnight", Hour1, Day1, 20 * time.Hour, 24 * time.Hour, true},
		{"an hour later", Hour1, Day1, 20 * time.Hour, 25 * time.Hour, false},
		{"the hours of an exchange until Friday 21:00, on Saturday", Hour1, Day1, 116 * time.Hour, 130 * time.Hour, false},
		{"its week on Sunday", Hour1, Week1, 116 * time.Hour, 167 * time.Hour, true},
		{"its week on Tuesday", Hour1, Week1, 116 * time.Hour, 192 * time.Hour, false},
		{"its week of days on Monday", Day1, Week1, 96 * time.Hour, 191 * time.Hour, true},
		{"its week of days on Tuesday", Day1, Week1, 96 * time.Hour, 192 * time.Hour, false},
		{"an hour of New York, from 9:30, is not over at 10:00", Hour1, Hour1, 9*time.Hour + 30*time.Minute, 10*time.Hour + 29*time.Minute, true},
		{"it is at 10:30", Hour1, Hour1, 9*time.Hour + 30*time.Minute, 10*time.Hour + 30*time.Minute, false},
		{"a minute from 0:18:30, at 0:19", Minute1, Minute1, 18*time.Minute + 30*time.Second, 19 * time.Minute, true},
		{"at 0:19:30", Minute1, Minute1, 18*time.Minute + 30*time.Second, 19*time.Minute + 30*time.Second, false},
		{"the last of five such minutes, at 0:20", Minute1, Minute5, 19*time.Minute + 30*time.Second, 20 * time.Minute, true},
		{"at 0:20:30", Minute1, Minute5, 19*time.Minute + 30*time.Second, 20*time.Minute + 30*time.Second, false},
		{"that of 0:19:30 may be on its way", Minute1, Minute5, 18*time.Minute + 30*time.Second, 21*time.Minute + 29*time.Second, true},
		{"no trade came from 0:19:30 on", Minute1, Minute5, 18*time.Minute + 30*time.Second, 21*time.Minute + 30*time.Second, false},
		{"a day from midnight in New York, at midnight in UTC", Day1, Day1, 5 * time.Hour, 24 * time.Hour, true},
		{"at midnight in New York", Day1, Day1, 5 * time.Hour, 29 * time.Hour, false},
		{"a month that is dated by its last day", Month1, Month1, 21 * 24 * time.Hour, 22 * 24 * time.Hour, false},
		{"a file that ended years ago", Hour1, Day1, -20000 * time.Hour, 0, false},
	} {
		q := Query{Interval: c.made, Limit: 1}
		file := &csvFile{rows: []Bar{{monday.Add(c.last).Unix(), 5, 6, 4, 5, 1}}, now: monday.Add(c.now), changed: monday}
		got, err := file.answer(q, c.row)
		if err != nil || got.Forming != c.forming {
			t.Errorf("%s: %+v, %v; want forming %v", c.why, got, err, c.forming)
		}
		if closed := time.Unix(got.ClosedAt(0), 0); closed.After(monday.Add(c.now)) != c.forming {
			t.Errorf("%s: it closes at %s, and is forming %v at %s", c.why, closed.UTC(), c.forming, monday.Add(c.now))
		}
	}
}

// Rows that have not begun by the clock are in no chart, and the bar of now is forming
// whatever follows it. A file with rows further ahead than a price may be is written by
// another clock, perhaps in local time: it has no price and closes no bar, because nobody
// knows when its rows of now were traded.
func TestCSVAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		file := func(from, to time.Duration) string {
			rows := "time,open,high,low,close\n"
			for at := now.Add(from).Truncate(time.Minute); !at.After(now.Add(to)); at = at.Add(time.Minute) {
				rows += at.UTC().Format(time.DateTime) + ",5,6,4,5\n"
			}
			return rows
		}
		c := directory(t, map[string]string{
			"good-1m.csv": file(-time.Hour, 0), "skew-1m.csv": file(-time.Hour, 2*time.Minute),
			"local-1m.csv": file(-time.Hour, 6*time.Hour), "future-1m.csv": file(5*time.Hour, 6*time.Hour),
		})
		f, l := NewFeed(c, nil), &listener{}
		for _, symbol := range []string{"GOOD", "SKEW", "LOCAL"} {
			s, err := c.Bars(t.Context(), Query{Symbol: symbol, Interval: Minute1, Limit: 100})
			if err != nil || s.Time[s.Len()-1] != Minute1.Start(now.Unix()) || !s.Forming || s.PriceAt > s.AsOf {
				t.Errorf("%s: %+v, %v; want bars until now, the last one forming", symbol, s, err)
			}
		}
		if s, err := c.Bars(t.Context(), Query{Symbol: "FUTURE", Interval: Minute1, Limit: 100}); err == nil || !strings.Contains(err.Error(), "in the future") {
			t.Errorf("rows of the future alone: %+v, %v", s, err)
		}
		for _, symbol := range []string{"GOOD", "SKEW", "LOCAL", "FUTURE"} {
			q, err := f.Quote(t.Context(), symbol)
			ahead := symbol == "LOCAL" || symbol == "FUTURE"
			if ahead && (err == nil || !strings.Contains(err.Error(), "in the future")) || !ahead && (err != nil || q.At > time.Now().UnixMilli()) {
				t.Errorf("%s: price %+v, %v", symbol, q, err)
			}
			f.Watch(symbol, Minute1)
		}
		run(t, f, l, 3*time.Minute)
		if l.updates["GOOD"] == nil || l.updates["SKEW"] == nil || l.updates["LOCAL"] != nil || l.updates["FUTURE"] != nil {
			t.Errorf("told %+v", l.updates)
		}
		for _, b := range l.closed("SKEW", Minute1) {
			if b.Time+minute > time.Now().Unix() {
				t.Errorf("a bar that ends at %d was told as closed at %d", b.Time+minute, time.Now().Unix())
			}
		}
	})
}

// What a market that closed for the weekend shows on Saturday does not change when its
// rows of Monday come: Friday is closed with them and without.
func TestCSVFirstRowsAlone(t *testing.T) {
	text := "time,open,high,low,close\n"
	row := func(day, hour int) {
		text += time.Date(2024, 1, day, hour, 0, 0, 0, time.UTC).Format("2006-01-02 15:04") + ",5,6,4,5\n"
	}
	for hour := 14; hour <= 20; hour++ { // Thursday and Friday
		row(4, hour)
	}
	for hour := 14; hour <= 20; hour++ {
		row(5, hour)
	}
	first := text
	row(8, 14)
	c := directory(t, map[string]string{"first-1h.csv": first, "whole-1h.csv": text})
	q := Query{Symbol: "FIRST", Interval: Day1, Limit: 10}
	alone, err := c.Bars(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.Symbol = "WHOLE"
	whole, err := c.Bars(t.Context(), q)
	if err != nil || alone.Closed().Len() != 2 || alone.Closed().Bar(1) != whole.Bar(1) {
		t.Errorf("%+v alone, %+v of the whole, %v", alone.Closed(), whole, err)
	}
}

// The price of a file is as old as the close of its last bar, whatever interval
// is made of it, and as old as the file while that bar is forming.
func TestCSVPriceAt(t *testing.T) {
	today := Day1.Start(time.Now().Unix())
	c := directory(t, map[string]string{"old.csv": threeDays, "new-1d.csv": fmt.Sprintf("time,open,high,low,close\n%d,1,1,1,1\n%d,2,2,2,2\n", today-86400, today)})
	saved := time.Now().Add(-5 * time.Second)
	if err := os.Chtimes(filepath.Join(c.dir, "new-1d.csv"), saved, saved); err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		symbol string
		iv     Interval
		want   int64
	}{{"OLD", Day1, 1704326400}, {"OLD", Week1, 1704326400}, {"OLD", Month1, 1704326400}, {"NEW", Day1, saved.Unix()}, {"NEW", Week1, saved.Unix()}} {
		s, err := c.Bars(t.Context(), Query{Symbol: q.symbol, Interval: q.iv, Limit: 5})
		if err != nil || s.PriceAt/1000 != q.want {
			t.Errorf("%s %s: the price is of %d, %v; want %d", q.symbol, q.iv, s.PriceAt/1000, err, q.want)
		}
	}
}

// A file that is replaced while it is read gives its rows with the time of the same file.
// The n-th file has the price n and was saved n seconds after the first. If old rows got
// the time of a newer file, the new price would not look newer.
func TestCSVReplacedWhileRead(t *testing.T) {
	t.Parallel()
	today, first := Day1.Start(time.Now().Unix()), time.Now().Add(-24*time.Hour)
	var older strings.Builder
	for i := int64(500); i > 0; i-- {
		fmt.Fprintf(&older, "%d,1,1,1,1\n", today-86400*i)
	}
	c := directory(t, nil)
	save := func(n int) error {
		text := fmt.Sprintf("time,open,high,low,close\n%s%d,%d,%[3]d,%[3]d,%[3]d\n", older.String(), today, n)
		path, saved := filepath.Join(c.dir, "abc-1d.csv"), first.Add(time.Duration(n)*time.Second)
		return errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Chtimes(path+".new", saved, saved), os.Rename(path+".new", path))
	}
	if err := save(1); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for n := 2; err == nil && n < 80000; n++ {
			select {
			case <-stop:
				n = 80000
			default:
				err = save(n)
			}
		}
		done <- err
	}()
	reads := 300
	if testing.Short() {
		reads = 60
	}
	for range reads {
		s, err := c.Bars(t.Context(), Query{Symbol: "ABC", Interval: Day1, Limit: 2})
		if err != nil {
			t.Error(err)
			break
		}
		if price, saved := s.Close[s.Len()-1], (s.PriceAt-first.UnixMilli())/1000; float64(saved) != price {
			t.Errorf("the price of file %v has the time of file %d", price, saved)
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A small file that unpacks to more than 64 MiB is read that far and no further.
func TestCSVBomb(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	io.WriteString(w, "time,open,high,low,close\n\"")
	line := append(bytes.Repeat([]byte("0"), 1<<18), '\n')
	for range 65 * 4 {
		w.Write(line)
	}
	w.Close()
	c := directory(t, nil)
	if err := os.WriteFile(filepath.Join(c.dir, "bomb-1h.csv.gz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bars(t.Context(), Query{Symbol: "BOMB", Interval: Hour1, Limit: 5}); err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("%v", err)
	}
}

// No symbol and no link leads out of the directory.
func TestCSVConfined(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret-1d.csv"), []byte(threeDays), 0o600); err != nil {
		t.Fatal(err)
	}
	c := directory(t, nil)
	for link, target := range map[string]string{"secret-1d.csv": filepath.Join(outside, "secret-1d.csv"), "up-1d.csv": "../" + filepath.Base(outside) + "/secret-1d.csv"} {
		if err := os.Symlink(target, filepath.Join(c.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(c.dir, "dir-1d.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, symbol := range []string{"SECRET", "UP", "DIR", "../" + filepath.Base(outside) + "/secret"} {
		if s, err := c.Bars(t.Context(), Query{Symbol: symbol, Interval: Day1, Limit: 7}); err == nil {
			t.Errorf("%q gave %v", symbol, s)
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte(threeDays))
	f.Add([]byte("t,o,h,l,c\n20240101,1,3,1,2\n2024-01-02,1,3,1,2\n"))
	f.Add([]byte("time,open,high,low,close\n\"1\n,2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		q := Query{Symbol: "A", Interval: Minute1, Limit: 3}
		file, err := readCSV(t.Context(), bytes.NewReader(data), time.Now())
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		s, err := file.answer(q, Minute1)
		if err != nil || s.Len() == 0 {
			t.Errorf("%d bars, %v", s.Len(), err)
		}
		if err == nil && s.Check() != nil {
			t.Errorf("%+v: %v", s, s.Check())
		}
	})
}

// told returns the bars of s, and which are after a gap or late.
func (s *Series) told() []any {
	return []any{s.Time, s.Open, s.High, s.Low, s.Close, s.Volume, append([]int64{}, s.Gaps...), append([]Delay{}, s.Delayed...), s.Forming}
}

// wholeFile makes bars from a file in the plain way, with all rows until now in memory: it
// sorts them, joins those of the same time, makes bars of all and cuts the answer off.
func wholeFile(t testing.TB, text string, q Query, iv Interval, now time.Time) *Series {
	t.Helper()
	var rows []Bar
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		var numbers []float64
		for _, cell := range strings.Split(line, ",") {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, v)
		}
		rows = append(rows, Bar{int64(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]})
	}
	slices.SortStableFunc(rows, byTime)
	fine := &Series{Symbol: q.Symbol, Interval: iv}
	for i, row := range rows {
		if i+1 < len(rows) && rows[i+1].Time == row.Time {
			continue
		}
		fine.Append(row)
	}
	days := func(date int64) (with, all int) {
		for d := Day1.Start(fine.Time[0]); d <= fine.Time[fine.Len()-1]; d += day {
			if floor(d-date, week) == d-date {
				all++
				if i, _ := slices.BinarySearch(fine.Time, d); i < fine.Len() && fine.Time[i] < d+day {
					with++
				}
			}
		}
		return with, all
	}
	at := &session{zone: time.UTC}
	saturdays, ofSaturdays := days(2 * day)
	sundays, ofSundays := days(3 * day)
	if saturdays > 0 && 2*saturdays >= ofSaturdays && 2*sundays >= ofSundays {
		at = nil
	}
	whole := resample(Series{}, rowsOf(fine), q.Interval, nil, completeUntil(iv, fine.Time[fine.Len()-1], now.Unix()))
	whole.Gaps = findGaps(whole, at)
	for _, start := range whole.Time {
		// A bar is late by what its rows begin off the border, and by a row if none reaches
		// its end.
		i, _ := slices.BinarySearch(fine.Time, q.Interval.Next(start))
		d := Delay{Start: start, Offset: fine.Time[i-1] - iv.Start(fine.Time[i-1])}
		if iv.Next(fine.Time[i-1]) < q.Interval.Next(start) {
			d.Missing = iv.Seconds()
		}
		if d.Offset+d.Missing > 0 {
			whole.Delayed = append(whole.Delayed, d)
		}
	}
	return whole.Tail(q.Limit)
}

// completeUntil returns until when the bars of a file are complete at the time now. Rows
// are of the interval iv, and the last one begins at last. They are complete until its end,
// and in any case until the length of a row before now, less what rows begin off the border.
func completeUntil(iv Interval, last, now int64) int64 {
	return max(min(iv.Next(last), now), now-iv.Seconds()) - (last - iv.Start(last))
}

// A file gives the bars and gaps that its rows mean: with gaps, nights, weekends, rows
// of the same time, in order, the newest first or shuffled, and for answers much shorter than
// the file.
func TestCSVRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now()
	for trial := range 18 {
		var rows []string
		exchange, start := trial%2 == 0, int64(1700000040)
		for at := start; at < start+120*day; at += 15 * minute {
			weekend := floor(at, day)/day%7 == 2 || floor(at, day)/day%7 == 3
			if exchange && (weekend || at%day < 14*hour || at%day > 20*hour) || random.IntN(200) == 0 {
				continue
			}
			for range 1 + random.IntN(40)/39 { // some rows twice
				low := 1 + random.Float64()
				rows = append(rows, fmt.Sprintf("%d,%v,%v,%v,%v,%d", at, low, low+1, low, low+0.5, random.IntN(9)))
			}
			if random.IntN(500) == 0 { // a closure
				at += random.Int64N(30) * day
			}
		}
		switch trial % 3 {
		case 1:
			slices.Reverse(rows)
		case 2:
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		text := "time,open,high,low,close,volume\n" + strings.Join(rows, "\n") + "\n"
		for _, iv := range []Interval{Minute15, Hour1, Hour4, Day1, Week1, Month1} {
			q := Query{Symbol: "ABC", Interval: iv, Limit: []int{1, 7, 300, 20000}[random.IntN(4)]}
			file, err := readCSV(t.Context(), strings.NewReader(text), now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := file.answer(q, "")
			if err != nil {
				t.Fatal(err)
			}
			if want := wholeFile(t, text, q, Minute15, now); !reflect.DeepEqual(got.told(), want.told()) {
				t.Errorf("trial %d, %s, %d bars: %v\nand %v of the whole file", trial, iv, q.Limit, got.told(), want.told())
			}
		}
	}
}

// While a large file is read, another one waits for its turn and gives up with its call;
// other files, and answers that are remembered, do not wait.
func TestCSVTurn(t *testing.T) {
	t.Parallel()
	large := threeDays + strings.Repeat("1704240000,3,5,3,4,30\n", largeFile/20)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2024, 1, 4, 0, 0, 0, 0, time.UTC))) // the end of the rows
		files := &csvDir{path: directory(t, map[string]string{"large-1d.csv": large, "small-1d.csv": threeDays}).dir, allow: func(string, fs.FileInfo) error { return nil }, turn: make(chan struct{}, 1)}
		c := files.venue()
		remembered := Cached(c)
		ask := func(source Source, symbol string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := source.Bars(ctx, Query{Symbol: symbol, Interval: Day1, Limit: 10})
			if err == nil && s.Len() != 3 {
				t.Errorf("%s: %+v", symbol, s)
			}
			return err
		}
		if err := errors.Join(ask(remembered, "LARGE"), ask(c, "SMALL")); err != nil {
			t.Fatal(err)
		}
		files.turn <- struct{}{}
		if err := errors.Join(ask(remembered, "LARGE"), ask(c, "SMALL")); err != nil {
			t.Errorf("these need no turn: %v", err)
		}
		if err := ask(c, "LARGE"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while another has the turn: %v", err)
		}
		<-files.turn
		if err := ask(c, "LARGE"); err != nil {
			t.Error(err)
		}
	})
}

// The reference bars load by their natural symbols. What is missing is what their README
// says: four hours, of which one is on a Friday, beside two weekends, which are no gaps;
// and the months between the stretches of which the daily bars are made.
func TestReferenceFiles(t *testing.T) {
	t.Parallel()
	src, err := Open("csv:../indicators/testdata/vectors", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		symbol     string
		iv         Interval
		bars, gaps int
	}{
		{"SYN-WALK", Hour1, 320, 4}, {"SYN-CANDLES", Day1, 1031, 5},
	} {
		s, err := src.Bars(t.Context(), Query{Symbol: c.symbol, Interval: c.iv, Limit: 5000})
		if err != nil {
			t.Errorf("%s: %v", c.symbol, err)
			continue
		}
		if s.Len() != c.bars || len(s.Gaps) != c.gaps || s.Forming {
			t.Errorf("%s: %d bars, gaps %v, forming %v; want %d, %d", c.symbol, s.Len(), s.Gaps, s.Forming, c.bars, c.gaps)
		}
		if coarse, err := src.Bars(t.Context(), Query{Symbol: c.symbol, Interval: Week1, Limit: 50}); err != nil || coarse.Len() < 2 {
			t.Errorf("%s weekly: %v", c.symbol, err)
		}
	}
}

// TestCSVTooManyFiles: with more than maxFiles names in the directory nothing is read. Were
// only so many looked at, a file that is there would be said to be missing, by chance.
func TestCSVTooManyFiles(t *testing.T) {
	files := map[string]string{"abc-1d.csv": threeDays}
	for i := range maxFiles - 1 {
		files[fmt.Sprintf("x%d", i)] = ""
	}
	c := directory(t, files)
	q := Query{Symbol: "ABC", Interval: Day1, Limit: 10}
	if _, err := c.Bars(t.Context(), q); err != nil {
		t.Errorf("%d names: %v", maxFiles, err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "one-more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "csv: the directory has more than 10000 files; keep those that are not needed in another one"
	if _, err := c.Bars(t.Context(), q); err == nil || err.Error() != want {
		t.Errorf("one more: %v\nwant %s", err, want)
	}
}

// TestCSVOfTwoSymbols: an export may have the rows of many symbols in one file, with a column
// that names them. They are refused: as one symbol they would be a price that jumps.
func TestCSVOfTwoSymbols(t *testing.T) {
	c := directory(t, map[string]string{
		"one-1d.csv": "symbol,time,open,high,low,close\nONE/USD,1704067200,1,3,1,2\nONE/USD,1704153600,2,4,2,3\nONE/USD,1704240000,2,4,2,3\nONE/USD,1704326400,2,4,2,3\nONE/USD,1704412800,2,4,2,3\n",
		"two-1d.csv": "time,open,high,low,close,Ticker\n1704067200,1,3,1,2,AAA\n1704067200,90,95,80,91,BBB\n",
	})
	if s, err := c.Bars(t.Context(), Query{Symbol: "ONE", Interval: Day1, Limit: 10}); err != nil || s.Len() != 5 {
		t.Errorf("one symbol: %v", err)
	}
	const want = `csv: two-1d.csv: line 3: the row is of "BBB" and the first one of "AAA": a file has the rows of one symbol`
	if _, err := c.Bars(t.Context(), Query{Symbol: "TWO", Interval: Day1, Limit: 10}); err == nil || err.Error() != want {
		t.Errorf("two symbols: %v\nwant %s", err, want)
	}
}
