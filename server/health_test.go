package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade"
	"wick/trade/book"
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

// none is a source that has no symbol.
type none struct{ market.Sample }

func (none) Bars(context.Context, market.Query) (*market.Series, error) {
	return nil, fmt.Errorf("empty: %w", market.ErrUnlisted)
}

// TestHealthFromTheStart: a source that has never answered makes the service degraded, by
// its age since the start. One that answers that it does not have the symbol of --symbols,
// as files have no BTCUSDT, is fine, unless something depends on that symbol.
func TestHealthFromTheStart(t *testing.T) {
	dead := &dying{}
	dead.dead.Store(true)
	files, err := market.Open("csv:"+t.TempDir(), env())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		source market.Source
		alert  bool
		status string
	}{
		"no answer":            {dead, false, "degraded"},
		"no such symbol":       {none{}, false, "ok"},
		"no such file":         {files, false, "ok"},
		"an alert waits":       {none{}, true, "degraded"},
		"an alert waits, file": {files, true, "degraded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &config{trade: true, dataDir: t.TempDir(), source: "sample", engine: trade.Options{Symbols: []string{"BTCUSDT"}, Intervals: []market.Interval{market.Hour1}}}
				logs := newLoggers(io.Discard, "text")
				defer logs.flush()
				if test.alert {
					e, err := openApp(t.Context(), c, market.Sample{}, logs)
					if err == nil {
						_, err = e.trade.SetAlert(t.Context(), book.AlertRequest{Symbol: "BTCUSDT", Condition: book.Condition{Type: book.PriceAbove, Threshold: 1e9 * exact.One}})
					}
					if err = e.close(err); err != nil {
						t.Fatal(err)
					}
				}
				e, err := openApp(t.Context(), c, test.source, logs)
				if err != nil {
					t.Fatal(err)
				}
				e.newProtocol()
				ctx, cancel := context.WithCancel(t.Context())
				ended, start := make(chan error, 1), time.Now()
				go func() { ended <- e.run(ctx) }()
				for range 12 { // at several times between two attempts to watch it
					time.Sleep(25 * time.Second)
					h := e.health()
					if want := test.status; time.Since(start) > market.Silent && h.Status != want || (h.FeedAge == nil) != (want == "ok") {
						t.Errorf("after %v: %s, feed age %v, want %s", time.Since(start), h.Status, h.FeedAge, want)
					}
				}
				cancel()
				if err := e.close(<-ended); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestHealthOfTheFeed: a source that has not answered for half a minute makes the
// service degraded, with its age, in the log too; one that answers again is fine.
func TestHealthOfTheFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		logs := newLoggers(&log, "text")
		defer logs.flush()
		c := &config{trade: true, dataDir: t.TempDir(), source: "sample", engine: trade.Options{Symbols: []string{"BTCUSDT"}, Intervals: []market.Interval{market.Hour1}}}
		source := &dying{}
		e, err := openApp(t.Context(), c, source, logs)
		if err != nil {
			t.Fatal(err)
		}
		e.newProtocol()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.run(ctx) }()
		check := func(when, status string, least, most int64) {
			t.Helper()
			h := e.health()
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
		if !strings.Contains(log.String(), `msg="source is silent" source=sample`) {
			t.Errorf("the log says\n%s", &log)
		}
		source.dead.Store(false)
		time.Sleep(2 * time.Minute)
		check("back", "ok", 0, 2)
		if !strings.Contains(log.String(), `msg="source answers again"`) {
			t.Errorf("the log says\n%s", &log)
		}
		cancel()
		if err := e.close(<-ended); err != nil {
			t.Error(err)
		}
	})
}

// TestHealthcheck: --healthcheck fails where wick does not answer. Containers are started
// anew by it, which ends logins, so a silent data service or a full disk is no reason.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]bool{
		`{"ready":true,"role":"single"}`:                                   true,
		`{"ready":false,"reason":"the journal is broken","role":"single"}`: true,
		`{"status":"ok"}`: false,
		`ok`:              false,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/healthz" { // as wick answers where its --base-url names another host
				w.WriteHeader(http.StatusForbidden)
			}
			io.WriteString(w, doc)
		}))
		base, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err := Run(t.Context(), []string{"--healthcheck", "--port", base.Port()}, env("HOME", t.TempDir()), nil, io.Discard, io.Discard); (err == nil) != want {
			t.Errorf("%s: %v", doc, err)
		}
		s.Close()
	}
}
