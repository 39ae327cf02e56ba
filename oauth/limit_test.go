package oauth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/limit"
)

// Every endpoint has a bucket per address, told apart from other addresses and
// endpoints; a refusal says when to come back, and then it is served.
func TestRateLimits(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		burst        int
		every        time.Duration // one more after this
	}{
		{"POST", "/register", 20, 3 * time.Minute},
		{"GET", "/authorize", 100, 9 * time.Second},
		{"POST", "/authorize", 100, 9 * time.Second},
		{"POST", "/token", 50, 18 * time.Second},
		{"GET", serverDocument, 60, 200 * time.Millisecond},
	} {
		t.Run(tc.method+tc.path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t)
				ask := func(addr string, change ...func(*http.Request)) *httptest.ResponseRecorder {
					return h.do(tc.method, tc.path, "", append(change, from(addr))...)
				}
				const addr = "198.51.100.7:1"
				for i := range tc.burst {
					if w := ask(addr); w.Code == http.StatusTooManyRequests {
						t.Fatalf("request %d is refused, want %d served", i+1, tc.burst)
					}
				}
				w := ask(addr, header("Accept", "application/json"))
				wantError(t, w, http.StatusTooManyRequests, "temporarily_unavailable")
				wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
				if err != nil || wait < 1 || time.Duration(wait)*time.Second > tc.every+time.Second {
					t.Fatalf("Retry-After %q, want at most %v", w.Header().Get("Retry-After"), tc.every)
				}
				if w := ask("198.51.100.8:1"); w.Code == http.StatusTooManyRequests {
					t.Error("a neighbour is refused too")
				}
				time.Sleep(tc.every)
				if w := ask(addr); w.Code == http.StatusTooManyRequests {
					t.Error("refused after the wait")
				}
				if w := ask(addr); w.Code != http.StatusTooManyRequests {
					t.Error("two are served after one wait")
				}
			})
		})
	}
}

// On the addresses that people open in a browser they get a page instead of JSON, and the
// log has one line for all that is refused in a row.
func TestRateLimitPage(t *testing.T) {
	for _, ask := range []struct{ method, path string }{{"GET", AuthorizePath}, {"POST", AuthorizePath}, {"GET", ApprovePath}, {"POST", ApprovePath}} {
		var log bytes.Buffer
		h := open(t, public, func(o *Options) {
			o.Questions, o.Log = &asking{lines: []string{"buy 1 BTCUSDT"}}, slog.New(slog.NewTextHandler(&log, nil))
		})
		before := 0
		var w *httptest.ResponseRecorder
		for i := range 110 {
			if i == 100 {
				before = strings.Count(log.String(), "\n")
			}
			w = h.do(ask.method, ask.path, "", from("198.51.100.7:1"), header("Accept", "text/html"))
		}
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "Too many requests") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			w.Header().Get("Retry-After") == "" || w.Header().Get("X-Frame-Options") != "DENY" {
			t.Errorf("%v: status %d, header %v: %s", ask, w.Code, w.Header(), w.Body)
		}
		if lines := strings.Count(log.String(), "\n") - before; lines != 1 || !strings.Contains(log.String(), "rate limit reached") {
			t.Errorf("%v: %d lines for ten refusals in a row, want one", ask, lines)
		}
		if w := h.do(ask.method, ask.path, "", from("198.51.100.7:1"), header("Accept", "application/json")); !json.Valid(w.Body.Bytes()) {
			t.Errorf("%v: a program that asks for JSON gets %s", ask, w.Body)
		}
	}
}

// A program on this machine gets ten times as much, a proxy on it does not.
func TestLocalLimit(t *testing.T) {
	served := func(h *fixture, change ...func(*http.Request)) (n int) {
		for ; n < 1000; n++ {
			if w := h.do("POST", "/register", "x", change...); w.Code == http.StatusTooManyRequests {
				break
			}
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		h := open(t, public, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")} })
		for _, tc := range []struct {
			name   string
			change []func(*http.Request)
			want   int
		}{
			{"local", []func(*http.Request){from("127.0.0.1:1")}, 200},
			{"local, IPv6", []func(*http.Request){from("[::1]:1")}, 200},
			{"a proxy nobody trusts", []func(*http.Request){from("127.0.0.1:1"), header("X-Forwarded-For", "198.51.100.1")}, 20},
			{"a proxy nobody trusts, which adds its line after an empty one", []func(*http.Request){from("127.0.0.5:1"), func(r *http.Request) { r.Header["X-Forwarded-For"] = []string{"", "198.51.100.9"} }}, 20},
			{"a proxy nobody trusts, which says X-Real-IP alone", []func(*http.Request){from("127.0.0.6:1"), header("X-Real-IP", "198.51.100.9")}, 20},
			{"behind a trusted proxy", []func(*http.Request){from("127.0.0.9:1"), header("X-Forwarded-For", "198.51.100.2")}, 20},
			{"the next one behind it", []func(*http.Request){from("127.0.0.9:1"), header("X-Forwarded-For", "198.51.100.3")}, 20},
			{"the trusted proxy itself, or a program there", []func(*http.Request){from("127.0.0.9:1")}, 20},
			{"the trusted proxy, naming nobody who can be read", []func(*http.Request){from("127.0.0.9:1"), header("X-Forwarded-For", "unknown")}, 0},
			{"an IPv6 network", []func(*http.Request){from("[2001:db8:1:1::1]:1")}, 20},
			{"another address of it", []func(*http.Request){from("[2001:db8:1:1:ffff::2]:1")}, 0},
			{"another network of its site", []func(*http.Request){from("[2001:db8:1:2::1]:1")}, 20},
		} {
			if got := served(h, tc.change...); got != tc.want {
				t.Errorf("%s: %d served, want %d", tc.name, got, tc.want)
			}
		}
	})
}

// The address is the rightmost one that is not a trusted proxy's. What stands left of it
// any client can write.
func TestClientIP(t *testing.T) {
	h := open(t, public, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	})
	for _, tc := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"198.51.100.1:5", nil, "198.51.100.1"},
		{"198.51.100.1:5", []string{"203.0.113.5"}, "198.51.100.1"}, // not a proxy of ours
		{"10.0.0.1:5", nil, "10.0.0.1"},
		{"10.0.0.1:5", []string{"203.0.113.5"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"1.2.3.4, 203.0.113.5"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"1.2.3.4, 203.0.113.5, 10.0.0.2"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"1.2.3.4", "203.0.113.5", "10.0.0.2"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"203.0.113.5:4711"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1:5", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"10.0.0.1:5", []string{"1.2.3.4, junk"}, "10.0.0.1"},
		{"10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"[fd00::1%eth0]:5", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[::ffff:10.0.0.1]:5", []string{"203.0.113.5"}, "203.0.113.5"},
		{"@", nil, "invalid IP"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tc.peer
		r.Header["X-Forwarded-For"] = tc.forwarded
		if got := h.ClientIP(r).String(); got != tc.want {
			t.Errorf("peer %s, forwarded %q: %s, want %s", tc.peer, tc.forwarded, got, tc.want)
		}
	}
}

// The table of buckets is itself bounded, and an address in use is not forgotten
// because others came.
func TestLimiterMemory(t *testing.T) {
	l := limiter{rate: limit.Rate{Burst: 2, Every: time.Hour}}
	regular := visitor{addr: netip.MustParsePrefix("192.0.2.1/32")}
	l.take(regular)
	l.take(regular)
	for i := range 100_000 {
		l.take(visitor{addr: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)})
		if i%1000 == 0 {
			if wait, _ := l.take(regular); wait == 0 {
				t.Fatalf("after %d others the regular's bucket is full again", i)
			}
		}
	}
	if n := len(l.young) + len(l.old); n > 2*maxAddresses {
		t.Errorf("%d buckets, want at most %d", n, 2*maxAddresses)
	}
}

// The log has one line per flood, not one per request.
func TestRateLimitLog(t *testing.T) {
	var first int
	l := limiter{rate: limit.Rate{Burst: 1, Every: time.Hour}}
	for range 10 {
		if _, isFirst := l.take(visitor{}); isFirst {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d first refusals, want 1", first)
	}
}

// address returns the i-th of many peers.
func addressOf(i int) string {
	return fmt.Sprintf("%s:1", netip.AddrFrom4([4]byte{20 + byte(i>>24), byte(i >> 16), byte(i >> 8), byte(i)}))
}
