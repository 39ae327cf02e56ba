package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
)

// liveFiles are files of minutes to which a row is added when its minute has ended. Those
// of ALL have every minute, and so have those of SLO, to which it is added a second later;
// those of YYY and ZZZ, which have the same prices, lack the last of every five. Those of
// OFF have them too, but begin half a minute later, and are written while they are forming.
type liveFiles struct {
	t    *testing.T
	dir  string
	rows map[string]string
	live bool // the rows of SLO come later
}

// add adds rows from start until end to the files, of every minute or with a longer step.
func (f *liveFiles) add(start, end, step int64) {
	f.t.Helper()
	for symbol, late := range map[string]int64{"ALL": 0, "SLO": 0, "YYY": 0, "ZZZ": 0, "OFF": 30} {
		var rows strings.Builder
		for at := start; at < end; at += step {
			if symbol[0] < 'Y' || at/60%5 != 4 {
				fmt.Fprintf(&rows, "%d,%d,%[2]d,%[2]d,%[2]d\n", at+late, 100+at/60%17)
			}
		}
		f.rows[symbol] += rows.String()
		text := f.rows[symbol]
		if symbol == "SLO" && f.live {
			time.AfterFunc(1300*time.Millisecond, func() { f.write(symbol, text) })
			continue
		}
		f.write(symbol, text)
	}
}

// write writes the rows of a symbol to its file.
func (f *liveFiles) write(symbol, rows string) {
	// The feed may read at the same moment: it must find a whole file.
	text, path := "time,open,high,low,close\n"+rows, filepath.Join(f.dir, symbol+"-1m.csv")
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		f.t.Error(err)
	}
}

// chart returns what a chart shows of an expression on each closed bar, by its start.
func (f *liveFiles) chart(source market.Source, symbol string, iv market.Interval, expr string) map[int64]float64 {
	f.t.Helper()
	s, err := source.Bars(f.t.Context(), market.Query{Symbol: symbol, Interval: iv, Limit: 400})
	if err != nil {
		f.t.Fatal(err)
	}
	raw, _ := json.Marshal(expr)
	r, err := indicators.New("formula", map[string]json.RawMessage{"expr": raw})
	if err != nil {
		f.t.Fatal(err)
	}
	list, err := r.Others(iv)
	if err == nil {
		s, err = market.LoadOthers(f.t.Context(), source, s, list)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	values, shown := r.Compute(s).Lines[0].Values, make(map[int64]float64)
	for i := range s.Closed().Len() {
		if !math.IsNaN(values[i]) {
			shown[s.Time[i]] = values[i]
		}
	}
	return shown
}

// TestDelayedOtherBars: rules read longer bars of files whose last row is missing, so that
// these close a row's length after their end, and bars of rows that begin off the border and
// close that much later. What a chart shows on a closed bar does not change later, and an
// alert that fires on every bar fires on those on which the chart has true, also if its own
// bars are late in the same way.
func TestDelayedOtherBars(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string][]delayedCase{
		"missing rows": {
			{"ALL", market.Minute1, "change(close@5m:YYY) != 0", 3},
			{"ALL", market.Minute5, "change(close:YYY) != 0", 2},
			{"ZZZ", market.Minute1, "change(close@5m) != 0", 3},
			{"ZZZ", market.Minute5, "close == close:YYY", 2},
		},
		"rows off the border": {
			{"ALL", market.Minute1, "close:OFF == close[1]", 12},
			{"ALL", market.Minute1, "change(close@5m:OFF) != 0", 3},
			{"ALL", market.Minute5, "close:OFF == close[1]", 2},
			{"ALL", market.Minute1, "close:SLO == close", 12},
			{"ALL", market.Minute1, "close:SLO != close", 0},
			{"ALL", market.Minute5, "close:SLO == close", 2},
			{"OFF", market.Minute1, "close:ALL == close", 11}, // the last one is still forming in the end
			{"OFF", market.Minute5, "close:ALL == close", 2},
		},
	} {
		t.Run(name, func(t *testing.T) { delayedOtherBars(t, cases) })
	}
}

// delayedCase is a rule that an alert waits for.
type delayedCase struct {
	symbol string
	iv     market.Interval
	when   string
	want   int // how often it is true in 12 minutes
}

// delayedOtherBars runs the cases for 12 minutes.
func delayedOtherBars(t *testing.T, cases []delayedCase) {
	synctest.Test(t, func(t *testing.T) {
		f := &liveFiles{t: t, dir: t.TempDir(), rows: make(map[string]string)}
		first := time.Now().Truncate(time.Hour).Unix()
		time.Sleep(48 * time.Hour) // more bars of five minutes than an alert looks at
		began := time.Now().Unix()
		f.add(first, began-3600, 300) // few rows, since they are read often
		f.add(began-3600, began, 60)
		f.live = true
		files, err := market.NewCSV(f.dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		source := market.Cached(files)
		o := testOptions(t)
		o.Source, o.Feed, o.Intervals = source, market.NewFeed(source, nil), []market.Interval{market.Minute1, market.Minute5}
		e := openTest(t, o)
		defer e.Close()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		alerts, shown := make([]string, len(cases)), make([]map[int64]float64, len(cases))
		for i, c := range cases {
			raw, _ := json.Marshal(c.when)
			var condition book.Condition
			if err := json.Unmarshal([]byte(`{"indicator_signal":{"indicator":"rule","signal":"becomes_true","when":`+string(raw)+`}}`), &condition); err != nil {
				t.Fatal(err)
			}
			a, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: c.symbol, Interval: string(c.iv), Condition: condition, Repeat: book.EachBar})
			if err != nil {
				t.Fatal(err)
			}
			alerts[i], shown[i] = a.ID, make(map[int64]float64)
		}
		for n := range int64(12) {
			time.Sleep(time.Until(time.Unix(began+60*(n+1)+1, 0)))
			f.add(began+60*n, began+60*(n+1), 60)
			time.Sleep(20 * time.Second)
			for i, c := range cases {
				for at, value := range f.chart(source, c.symbol, c.iv, c.when) {
					if before, ok := shown[i][at]; ok && before != value {
						t.Errorf("%s %s %s: the bar of %s showed %v and shows %v", c.symbol, c.iv, c.when, time.Unix(at, 0).UTC().Format("15:04"), before, value)
					}
					shown[i][at] = value
				}
			}
		}
		time.Sleep(5 * time.Second)
		notes, _, err := e.Notifications("", false, Page{Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			var got, want []int64
			for _, n := range notes {
				if n.AlertID == alerts[i] {
					got = append(got, n.BarTime.Unix())
				}
			}
			for at, value := range shown[i] {
				if value == 1 && at >= began {
					want = append(want, at)
				}
			}
			slices.Sort(want)
			if !slices.Equal(got, want) || len(want) != c.want {
				t.Errorf("%s %s %s: fired at %v, the chart has %v, want %d", c.symbol, c.iv, c.when, got, want, c.want)
			}
		}
		cancel()
		<-ended
	})
}
