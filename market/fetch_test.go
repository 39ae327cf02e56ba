package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wick/internal/address"
	"wick/market/markettest"
)

// No symbol and no interval makes a service ask another host than its own, or a
// path outside the one it is for.
func FuzzSymbolStaysHome(f *testing.F) {
	for _, symbol := range []string{"BTCUSDT", "../../admin", "@evil.example", "evil.example/x", "A?x=1", "A#b", "%2e%2e", "^GSPC", "EURUSD=X", "=..", "a\r\nHost: b", "//evil"} {
		f.Add(symbol, "1h")
	}
	f.Fuzz(func(t *testing.T, symbol, interval string) {
		for name, example := range listed {
			seen := &recorder{}
			base := func(string) string { return "https://service.example/" + name }
			for _, q := range []Query{{Symbol: example, Interval: Hour1, Limit: 5}, {Symbol: symbol, Interval: Hour1, Limit: 5}, {Symbol: symbol, Interval: Interval(interval), Limit: 5}} {
				if _, err := over(t, name, reach{base, seen}).Bars(t.Context(), q); err == nil {
					t.Fatal("an empty answer gave bars")
				}
			}
			home, _ := url.Parse(seen.asked[0])
			for _, u := range seen.asked {
				again, err := url.Parse(u)
				if err != nil || again.Scheme != "https" || again.Host != "service.example" || !strings.HasPrefix(again.Path, "/"+name+"/") ||
					strings.Contains(again.Path, "..") && !strings.Contains(symbol, "..") || strings.Count(again.EscapedPath(), "/") != strings.Count(home.Path, "/") {
					t.Errorf("%s %q asked %q (%v)", name, symbol, u, err)
				}
			}
		}
	})
}

// recorder notes what is asked and refuses it for good.
type recorder struct{ asked []string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.asked = append(r.asked, req.URL.String())
	return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// Over a real connection: a redirect to another server, and one to the same,
// reach nobody.
func TestRedirectIsNotFollowed(t *testing.T) {
	visited := make(chan string, 100)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { visited <- r.URL.Path }))
	defer elsewhere.Close()
	x := &markettest.Exchange{Days: 3}
	x.Inject(markettest.Fault{Kind: markettest.Redirect, To: elsewhere.URL + "/stolen"})
	env := x.Serve(t)
	for name, symbol := range listed {
		src, err := Open(name, env)
		if err != nil {
			t.Fatal(err)
		}
		_, err = src.Bars(t.Context(), Query{Symbol: symbol, Interval: Hour1, Limit: 5})
		var e *Error
		if !errors.As(err, &e) || e.Status != 302 || e.Retry {
			t.Errorf("%s: %v", name, err)
		}
		if n := x.Requests(name); n != 1 {
			t.Errorf("%s was asked %d times", name, n)
		}
	}
	if len(visited) > 0 {
		t.Errorf("went to %s", <-visited)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"https://data.example", "https://data.example:8443/mirror/", "http://127.0.0.1:9316/binance", "http://localhost:1", "http://[::1]:1"} {
		if _, err := open("auto", reach{env: func(string) string { return good }}); err != nil {
			t.Errorf("%q refused: %v", good, err)
		}
	}
	var settings []string
	for _, p := range providers {
		settings = append(settings, p.env)
	}
	for _, c := range columnSites {
		settings = append(settings, c.env)
	}
	for _, bad := range []string{
		"http://data.example", "http://10.0.0.1", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "ftp://127.0.0.1", "https://", "data.example",
		"https://user:secret@data.example", "https://data.example?x=1", "https://data.example#x", "://", "https://a b",
	} {
		for _, setting := range settings {
			env := func(name string) string { return map[string]string{setting: bad}[name] }
			if _, err := open("auto", reach{env: env}); err == nil || !strings.Contains(err.Error(), setting) {
				t.Errorf("%s=%q: %v", setting, bad, err)
			}
		}
	}
}

// A public name that resolves into our own network must not be dialled, and a
// loopback base URL must lead nowhere else. The blocks are those of IANA's
// registries; an IPv6 address that carries an IPv4 one is judged by that.
func TestGuardedDial(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dial := func(loopback bool, to string) error {
		conn, err := address.Dialer(address.Allowed(loopback)).DialContext(t.Context(), "tcp", to)
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := dial(false, "localhost:"+port); !errors.Is(err, address.ErrRefused) {
		t.Errorf("a public base dialled this machine: %v", err)
	}
	if err := dial(true, "localhost:"+port); err != nil {
		t.Errorf("loopback refused: %v", err)
	}
	if err := dial(true, "192.0.2.1:9"); !errors.Is(err, address.ErrRefused) {
		t.Errorf("a loopback base dialled out: %v", err)
	}
	for text, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "192.0.0.8": false,
		"::1": false, "::": false, "fe80::1": false, "fd00::1": false, "ff02::1": false,
		"64:ff9b::808:808": true, "64:ff9b::a00:1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::a00:1": false, "64:ff9b:1::a9fe:a9fe": false, // NAT64
		"2002:a00:1::1": false, "::ffff:10.0.0.1": false, "::10.0.0.1": false, // 6to4, mapped, compatible
	} {
		if err := address.Dialer(address.Allowed(false)).Control("tcp", netip.AddrPortFrom(netip.MustParseAddr(text), 443).String(), nil); (err == nil) != want {
			t.Errorf("%s: %v, want it let through: %v", text, err, want)
		}
	}
}

// The resolver may have a private address, as most have: only what it answers
// is judged. This one, on this machine, puts every name behind a NAT64 gateway
// into the private network.
func TestPrivateResolverWorks(t *testing.T) {
	t.Parallel()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go resolveTo(server, netip.MustParseAddr("64:ff9b::a00:1"))
	s := over(t, "binance", reach{env: nowhere})
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	dialer := address.Dialer(address.Allowed(false))
	dialer.Resolver = resolver
	s.service.host.client.Transport.(*http.Transport).DialContext = dialer.DialContext
	_, err = s.Bars(t.Context(), Query{Symbol: "BTCUSDT", Interval: Hour1, Limit: 5})
	if !errors.Is(err, address.ErrRefused) || !strings.Contains(err.Error(), "not public") {
		t.Errorf("%v, want the address that the resolver gave refused", err)
	}
}

// resolveTo answers every question for an IPv6 address with ip (RFC 1035), and
// every other question with no records.
func resolveTo(server net.PacketConn, ip netip.Addr) {
	buf := make([]byte, 512)
	for {
		n, from, err := server.ReadFrom(buf)
		if err != nil {
			return
		}
		end := 12 // behind the head stands the name, then two bytes each of type and class
		for end < n && buf[end] != 0 {
			end += int(buf[end]) + 1
		}
		end += 5
		reply := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, buf[12:end]...)
		if buf[end-3] == 28 { // AAAA
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16)
			reply = append(reply, ip.AsSlice()...)
		}
		server.WriteTo(reply, from)
	}
}

// With no network there is one clear sentence, within the time of a call.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		for what, err := range map[string]error{
			"is not found":               &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}},
			"cannot be reached":          &net.OpError{Op: "dial", Err: errors.New("connect: network is unreachable")},
			"did not answer in time":     &net.OpError{Op: "dial", Err: context.DeadlineExceeded},
			"that is not public":         &net.OpError{Op: "dial", Err: fmt.Errorf("%w: 10.0.0.1", address.ErrRefused)},
			"did not answer in time\x00": nil, // hangs
		} {
			s := over(t, "binance", reach{nowhere, failing{err}})
			start := time.Now()
			_, got := s.Bars(t.Context(), Query{Symbol: "BTCUSDT", Interval: Hour1, Limit: 5})
			if got == nil || !strings.Contains(got.Error(), strings.TrimRight(what, "\x00")) || time.Since(start) > 15*time.Second ||
				strings.Contains(got.Error(), "\n") || !strings.Contains(got.Error(), "data-api.binance.vision") {
				t.Errorf("after %s: %v, want it to say %q", time.Since(start), got, what)
			}
		}
	})
}

type failing struct{ err error }

func (f failing) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.err == nil {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return nil, f.err
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "2": 2 * time.Second, "abc": 0, "99999999999999999999": waitMax, "-99999999999999999999": 0, "9999999": waitMax,
		"Wed, 01 May 2024 12:01:30 GMT": 90 * time.Second, "Wed, 01 May 2024 11:00:00 GMT": 0, "Thu, 01 May 2099 11:00:00 GMT": waitMax,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("Retry-After %q means %s, want %s", text, got, want)
		}
	}
}

// A host that asked for a pause gets no requests until the pause is over, and callers get
// the reason at once.
func TestGateStaysClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind markettest.Kind
		wait time.Duration
	}{{markettest.Banned, 10 * time.Minute}, {markettest.Firewall, banMin}, {markettest.Legal, banLegal}, {markettest.TooMany, 10 * time.Minute}} {
		bubble(t, func(t *testing.T) {
			x := &markettest.Exchange{Days: 3}
			s := fake(t, "binance", x)
			after := "600"
			if c.kind == markettest.Firewall || c.kind == markettest.Legal {
				after = ""
			}
			x.Inject(markettest.Fault{Kind: c.kind, Times: 1, RetryAfter: after})
			q := Query{Symbol: "BTCUSDT", Interval: Hour1, Limit: 5}
			for range 50 { // all hear the same
				_, err := s.Bars(t.Context(), q)
				var e *Error
				if !errors.As(err, &e) || e.Status == 0 || e.Retry != (c.kind != markettest.Legal) {
					t.Fatalf("from behind a closed gate: %v", err)
				}
			}
			time.Sleep(c.wait - time.Minute)
			if _, err := s.Bars(t.Context(), q); err == nil || x.Requests("binance") != 1 {
				t.Errorf("kind %d: %d requests, %v", c.kind, x.Requests("binance"), err)
			}
			time.Sleep(time.Minute)
			if _, err := s.Bars(t.Context(), q); err != nil {
				t.Errorf("kind %d: %v when it was over", c.kind, err)
			}
		})
	}
}

// Failures in a row make the pauses longer, up to a minute; a success ends them.
func TestBackOff(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		g := &gate{site: site{limit: 10, window: time.Second}}
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			want *= time.Second
			if got := g.backOff(); got < want*3/4 || got > want*5/4 {
				t.Errorf("pause %d is %s, want about %s", i, got, want)
			}
		}
		g.good(http.Header{})
		if got := g.backOff(); got > 2*time.Second {
			t.Errorf("pause after a success is %s", got)
		}
	})
}

// Other programs at our address use the budget too; the service's header says
// so and is believed.
func TestBudgetFromHeader(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		g := &gate{site: site{limit: 4800, window: time.Minute, used: "X-Mbx-Used-Weight-1m"}}
		if wait, _ := g.take(&turn{weight: 2}); wait != 0 {
			t.Fatalf("waits %s", wait)
		}
		g.good(http.Header{"X-Mbx-Used-Weight-1m": {"4799"}})
		wait, why := g.take(&turn{weight: 2})
		if want := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); wait != want || why.Reason == "" || !why.Retry {
			t.Errorf("waits %s, want %s, until the minute is over", wait, want)
		}
		time.Sleep(wait)
		if wait, _ := g.take(&turn{weight: 2}); wait != 0 {
			t.Errorf("waits %s in the new minute", wait)
		}
	})
}

// 200 symbols at once stay within every budget: a request that would have to wait for
// longer than a call may take is refused here and never sent.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		if testing.Short() && (name == "binance" || name == "coinbase") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				x := &markettest.Exchange{Days: 2}
				s := Cached(fake(t, name, x))
				var wg sync.WaitGroup
				var mu sync.Mutex
				answered := 0
				for i := range 200 {
					wg.Go(func() {
						coin := strings.Replace(symbol, "BTC", fmt.Sprintf("C%d", i), 1)
						if coin == symbol {
							coin = fmt.Sprintf("S%d", i)
						}
						_, err := s.Bars(t.Context(), Query{Symbol: coin, Interval: Minute1, Limit: 10})
						mu.Lock()
						defer mu.Unlock()
						var e *Error
						if err == nil {
							answered++
						} else if !errors.As(err, &e) || !e.Retry {
							t.Errorf("%s: %v", coin, err)
						}
					})
				}
				wg.Wait()
				if x.OverLimit(name) > 0 || answered == 0 {
					t.Errorf("%d requests over the limit, %d answered", x.OverLimit(name), answered)
				}
				t.Logf("%d of 200 answered in the time of a call, %d requests", answered, x.Requests(name))
			})
		})
	}
}

// FuzzBars: whatever a service sends, there are bars that can be checked, or an error
// on one clean line. Every service of the table reads every answer.
func FuzzBars(f *testing.F) {
	seedRecorded(f, "*")
	for _, seed := range []string{
		`[]`, `[[1]]`, `[[1,"NaN","Inf","-Inf","1e999","0x1p4"]]`, `[[9223372036854775807,"1","1","1","1","1"]]`, `[[null,null,null,null,null,null]]`,
		`{"error":["EService:\u001b[31m"]}`, `{"error":[],"result":{"last":1}}`, `{"error":[],"result":{"A":[],"B":[]}}`,
		`{"chart":{"result":[{"meta":{"currency":"USD","symbol":"AAPL","gmtoffset":-18000,"exchangeTimezoneName":"America/New_York","currentTradingPeriod":{"regular":{"start":1699972200,"end":1699995600}}},"timestamp":[1699972200,1699975800],"indicators":{"quote":[{"open":[1,2],"high":[2,3],"low":[1,null],"close":[2,3],"volume":[null,5]}]}}],"error":null}}`,
		`{"chart":{"result":null,"error":{"code":"Not Found","description":"No data\u0000 found\n<script>"}}}`, `{"chart":null}`,
		`{"chart":{"result":[{"meta":{"symbol":"aapl","exchangeTimezoneName":"../../etc","gmtoffset":99999999999},"timestamp":[-1,9223372036854775807,5],"indicators":{"quote":[{"open":[1,1]}]}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		bubble(t, func(t *testing.T) {
			for _, p := range providers {
				s := over(t, p.name, reach{nowhere, says(body)})
				once, cancel := context.WithTimeout(t.Context(), time.Millisecond) // too short for a second attempt
				page, err := s.page(once, p.example, Hour1, 0, 5)
				cancel()
				clean(t, p.name, err)
				if err != nil {
					continue
				}
				rows, err := sound(page.rows, 1700000000, true)
				if err != nil {
					continue
				}
				if err := series(Hour1, rows...).Check(); err != nil {
					t.Errorf("%s: fine bars: %v", p.name, err)
				}
				// Sums of volumes may be infinite, but times must not be equal.
				out := resample(Series{}, rows, Hour4, page.session, page.until)
				for i := 1; i < out.Len(); i++ {
					if out.Time[i] <= out.Time[i-1] {
						t.Errorf("%s: bar %d at %d follows %d", p.name, i, out.Time[i], out.Time[i-1])
					}
				}
			}
		})
	})
}

// seedRecorded adds the bodies of the recorded answers in the directories of testdata
// that match a pattern.
func seedRecorded(f *testing.F, directories string) {
	files, err := filepath.Glob(filepath.Join("testdata", directories, "*.http"))
	if err != nil || len(files) == 0 {
		f.Fatalf("%d recorded answers in %s, %v", len(files), directories, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, body, _ := bytes.Cut(text, []byte("\n\n"))
		f.Add(body)
	}
}

// clean checks that an error is one short line.
func clean(t *testing.T, name string, err error) {
	t.Helper()
	if err != nil && (strings.ContainsAny(err.Error(), "\n\r\x00\x1b") || len(err.Error()) > 600) {
		t.Errorf("%s: error %q is not clean", name, err)
	}
}

// FuzzTicker: whatever a ticker sends, there are prices by symbols that the feed
// can judge, or an error on one clean line. So it is with single prices and grids.
func FuzzTicker(f *testing.F) {
	for _, directory := range []string{"ticker", "quote", "grid"} {
		seedRecorded(f, directory)
	}
	f.Add([]byte(`{"error":[],"result":{"":{"c":[]},"X":{"c":["NaN"]}}}`))
	f.Add([]byte(`{"error":[],"result":{"X":{"tick_size":"x","pair_decimals":99,"lot_decimals":-1}}}`))
	f.Add([]byte(`{"symbol":"BTCUSDT","lastPrice":"1","bidPrice":"NaN","id":"BTC-USD","quote_increment":"\n"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		bubble(t, func(t *testing.T) {
			for _, p := range providers {
				s := over(t, p.name, reach{nowhere, says(body)})
				_, err := NewFeed(s, nil).Grid(t.Context(), p.example)
				clean(t, p.name, err)
				if p.single != nil {
					_, err := s.quote(t.Context(), p.example)
					clean(t, p.name, err)
				}
				if p.ticker == nil {
					continue
				}
				quotes, err := s.prices(t.Context(), []string{p.example})
				clean(t, p.name, err)
				for symbol, q := range quotes {
					if q.Symbol != symbol {
						t.Errorf("%s: %+v under %q", p.name, q, symbol)
					}
					if g, err := NewFeed(Sample{}, nil).tick(seen{fine: Minute1}, q); err == nil && !(g.Price > 0 && g.High >= g.Low) {
						t.Errorf("%s: took %+v", p.name, g)
					}
				}
			}
		})
	})
}

// says answers every request with one body.
type says []byte

func (s says) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// TestOneBudgetOfColumn: alternative.me, whose index the services of auto share, is left in
// peace by all of them when it refuses one.
func TestOneBudgetOfColumn(t *testing.T) {
	t.Parallel()
	x := &markettest.Exchange{Days: 30}
	asked := &refusesIndex{RoundTripper: x.Transport()}
	source, err := open("auto", reach{markettest.Env("http://127.0.0.1"), asked})
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range []string{"BTCUSDT", "BTC-USD"} {
		_, err := source.Bars(t.Context(), Query{Symbol: symbol, Interval: Day1, Limit: 5, Extra: []string{ExtraFearGreed}})
		if err == nil || !strings.Contains(err.Error(), "alternative.me") {
			t.Errorf("%s: %v", symbol, err)
		}
	}
	if n := asked.times.Load(); n != 1 {
		t.Errorf("alternative.me was asked %d times, want once", n)
	}
}

// refusesIndex refuses requests for the index of fear and greed for an hour.
type refusesIndex struct {
	http.RoundTripper
	times atomic.Int64
}

func (r *refusesIndex) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.URL.Path, "/fng") {
		return r.RoundTripper.RoundTrip(req)
	}
	r.times.Add(1)
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}, Body: http.NoBody}, nil
}

// FuzzColumns: whatever the services of the further columns send, a column is as
// long as the bars and has no infinity, or there is an error on one clean line.
func FuzzColumns(f *testing.F) {
	f.Add([]byte(`[{"fundingRate":"0.0001","fundingTime":1600000000000,"sumOpenInterestValue":"5","longAccount":"0.5","shortAccount":"0.5","timestamp":1600000000000}]`))
	f.Add([]byte(`{"data":[{"value":"40","timestamp":"1600000000"},{"value":"1e999","timestamp":"x"}]}`))
	f.Add([]byte(`[{"fundingRate":null,"fundingTime":-9e300},{"timestamp":"NaN"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		bubble(t, func(t *testing.T) {
			names := []string{ExtraFunding, ExtraOI, ExtraLong, ExtraShort, ExtraFearGreed}
			c, err := openColumns(reach{nowhere, says(body)})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				s := &Series{Symbol: "BTCUSDT", Interval: Hour1, Time: []int64{1600000000, 1600003600}}
				err := c.add(t.Context(), s, []string{name})
				clean(t, name, err)
				if err == nil && (len(s.Extra[name]) != 2 || slices.ContainsFunc(s.Extra[name], func(v float64) bool { return math.IsInf(v, 0) })) {
					t.Errorf("%s: %v", name, s.Extra[name])
				}
			}
		})
	})
}
