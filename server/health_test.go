package server

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// dying is the sample source, until it is dead and answers no more.
type dying struct {
	market.Sample
	dead atomic.Bool
}

func (d *dying) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if d.dead.Load() {
		return nil, errors.New("no answer")
	}
	return d.Sample.Bars(ctx, q)
}

// TestHealthOfTheFeed: a source that has not answered for half a minute makes the
// service degraded, with its age, in the log too; one that answers again is fine.
func TestHealthOfTheFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		logs := newLoggers(&log, "text")
		c := &config{trade: true, dataDir: t.TempDir(), source: "sample", symbols: []string{"BTCUSDT"}, intervals: []market.Interval{market.Hour1}}
		source := &dying{}
		e, err := openApp(t.Context(), c, source, logs.part("Trade"))
		if err != nil {
			t.Fatal(err)
		}
		newMCP(e, source, logs)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.run(ctx) }()
		check := func(when, status string, least, most int64) {
			t.Helper()
			h := health(c, e, time.Now())
			if h.Status != status || h.FeedAge == nil || *h.FeedAge < least || *h.FeedAge > most {
				t.Errorf("%s: %+v, feed age %v", when, h, h.FeedAge)
			}
		}
		time.Sleep(10 * time.Second)
		check("at first", "ok", 0, 2)
		source.dead.Store(true)
		time.Sleep(25 * time.Second)
		check("silent for 25 s", "ok", 24, 27)
		time.Sleep(10 * time.Second)
		check("silent for 35 s", "degraded", 34, 37)
		if !strings.Contains(log.String(), `msg="source is silent" source=source`) {
			t.Errorf("the log says\n%s", &log)
		}
		source.dead.Store(false)
		time.Sleep(2 * time.Minute)
		check("back", "ok", 0, 2)
		if !strings.Contains(log.String(), `msg="source answers again"`) {
			t.Errorf("the log says\n%s", &log)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
}
