// Package markettest is a stand-in for the services that bars and extra columns
// come from. It speaks their wire formats, with their quirks and limits, over one
// invented market, and can be told to misbehave as they do.
//
// An [Exchange] is an http.Handler with a path prefix per service, so one
// listener stands for all of them; [Env] gives the WICK_*_URL settings
// that lead there. Tests that need a fake clock use [Exchange.Transport], which
// answers without a network. Faults are injected with [Exchange.Inject].
//
// The package knows nothing of package market: it computes every interval from
// its own minutes with its own code, so that a test which compares the two
// compares independent results.
package markettest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Kind is a way to misbehave.
type Kind int

// The ways to misbehave. Those up to Redirect replace the answer, the others
// change the bars in it.
const (
	TooMany     Kind = iota + 1 // 429, with Fault.RetryAfter
	Banned                      // 418, with Fault.RetryAfter
	Firewall                    // 403 and a web page
	Legal                       // 451
	Broken                      // 502 and a web page
	Page                        // 200 and a web page
	Truncated                   // half of the answer, then the connection breaks
	Slow                        // the answer comes after Fault.Delay
	Huge                        // more than 4 MiB of valid JSON
	Redirect                    // 302 to Fault.To
	WrongSymbol                 // the service's refusal of an unknown symbol
	Empty                       // a valid answer without bars
	NaN                         // the third bar from the end has "NaN" for a price
	Nulls                       // the third bar from the end has null for prices
	OutOfOrder                  // two neighbours change places
	Doubled                     // one bar comes twice, the first time with other prices
	Gap                         // five bars in the middle are missing
)

// Fault is one misbehaviour.
type Fault struct {
	Service    string // the name of the service that has it; "" means all
	Kind       Kind
	Skip       int // requests to answer well first
	Times      int // requests to answer badly; 0 means all
	RetryAfter string
	Delay      time.Duration
	To         string
}

// service is one fake: its name, which is also its path prefix, the setting that
// leads there, and what answers. Cut returns how it cuts its market into bars of
// an interval, spelled "5m", "4h", "1d", "1wk", "1mo", or nil if it has none such;
// it is nil for a service without bars.
type service struct {
	name, env string
	serve     func(x *Exchange, w http.ResponseWriter, r *http.Request, path string, f *Fault)
	cut       func(symbol, interval string) hours
}

// services is the table of the fakes.
var services = []service{
	{"binance", "WICK_BINANCE_URL", (*Exchange).binance, cutByClock},
	{"futures", "WICK_BINANCE_FUTURES_URL", (*Exchange).futures, nil},
	{"yahoo", "WICK_YAHOO_URL", (*Exchange).yahoo, cutBySession},
	{"coinbase", "WICK_COINBASE_URL", (*Exchange).coinbase, cutByClock},
	{"kraken", "WICK_KRAKEN_URL", (*Exchange).kraken, cutByClock},
	{"feargreed", "WICK_FEAR_GREED_URL", (*Exchange).fearGreed, nil},
}

// Exchange is the fake. The zero value is ready.
type Exchange struct {
	// Now is the time at the exchange; nil means time.Now.
	Now func() time.Time
	// Days is how many days of history there are before now; zero means 400.
	Days int
	// Sparse makes minutes and whole hours without any trade.
	Sparse bool

	mu       sync.Mutex
	faults   []*Fault // guarded by mu, like every field below
	requests map[string]int
	refused  map[string]int
	hosts    map[string]int
	windows  map[string]window
}

// window counts what was used of a limit.
type window struct {
	start int64
	used  int
}

// Inject adds a fault.
func (x *Exchange) Inject(f Fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = append(x.faults, &f)
}

// Requests returns how often a service was asked.
func (x *Exchange) Requests(service string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requests[service]
}

// OverLimit returns how often a service was asked beyond its published limit.
func (x *Exchange) OverLimit(service string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refused[service]
}

// Hosts returns the hosts that Transport was asked for, and how often.
func (x *Exchange) Hosts() map[string]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	hosts := make(map[string]int)
	for host, n := range x.hosts {
		hosts[host] = n
	}
	return hosts
}

// Settings returns the settings that lead to an exchange served at base, by the
// names of their environment variables.
func Settings(base string) map[string]string {
	settings := make(map[string]string)
	for _, s := range services {
		settings[s.env] = base + "/" + s.name
	}
	return settings
}

// Env is Settings as a function like os.Getenv. A service without a stand-in is led
// to a path that the exchange answers with 404, so that no test leaves this machine.
func Env(base string) func(string) string {
	settings := Settings(base)
	return func(name string) string { return cmp.Or(settings[name], base+"/"+name) }
}

// Serve listens on a free loopback port until the test ends and returns the
// settings that lead there.
func (x *Exchange) Serve(t testing.TB) func(string) string {
	server := httptest.NewServer(x)
	t.Cleanup(server.Close)
	return Env(server.URL)
}

// Transport answers requests to any host in this process, so that a test may
// run in a bubble of fake time.
func (x *Exchange) Transport() http.RoundTripper { return transport{x} }

type transport struct{ x *Exchange }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.x.mu.Lock()
	if t.x.hosts == nil {
		t.x.hosts = make(map[string]int)
	}
	t.x.hosts[req.URL.Host]++
	t.x.mu.Unlock()
	rec := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.x.ServeHTTP(rec, req)
	}()
	select {
	case <-req.Context().Done():
		<-done // the handler ends with the same context
		return nil, req.Context().Err()
	case <-done:
	}
	res := rec.Result()
	if n, err := strconv.Atoi(res.Header.Get("Content-Length")); err == nil && n > rec.Body.Len() {
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(rec.Body.Bytes()), broken{}))
	}
	return res, nil
}

// broken is a connection that has been cut.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (x *Exchange) now() time.Time {
	if x.Now != nil {
		return x.Now()
	}
	return time.Now()
}

// ServeHTTP answers for the service that the first part of the path names.
func (x *Exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	at := slices.IndexFunc(services, func(s service) bool { return s.name == name })
	if at < 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Date", x.now().UTC().Format(http.TimeFormat))
	fault := x.next(name)
	if x.misbehave(w, r, fault) {
		return
	}
	if fault.Kind == Truncated {
		rec := httptest.NewRecorder()
		services[at].serve(x, rec, r, "/"+path, fault)
		w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
		w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
		return
	}
	services[at].serve(x, w, r, "/"+path, fault)
}

// next counts a request and returns the fault that applies to it, or one without
// a kind if none does.
func (x *Exchange) next(service string) *Fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.requests == nil {
		x.requests, x.refused, x.windows = make(map[string]int), make(map[string]int), make(map[string]window)
	}
	x.requests[service]++
	for _, f := range x.faults {
		if f.Service != "" && f.Service != service || f.Times < 0 {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		turn := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				f.Times = -1 // used up
			}
		}
		return &turn
	}
	return &Fault{}
}

// misbehave answers for the faults that are the same at all services.
func (x *Exchange) misbehave(w http.ResponseWriter, r *http.Request, f *Fault) bool {
	const page = "<!DOCTYPE html><html><head><title>Will be right back</title></head><body>evil\nwords</body></html>"
	status := map[Kind]int{TooMany: 429, Banned: 418, Firewall: 403, Legal: 451, Broken: 502, Page: 200}[f.Kind]
	switch {
	case status != 0:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		io.WriteString(w, page)
		return true
	case f.Kind == Redirect:
		http.Redirect(w, r, f.To, http.StatusFound)
		return true
	case f.Kind == Huge:
		block := bytes.Repeat([]byte(" "), 1<<20)
		for range 5 { // a reader stops at its bound; what is beyond it need not be long
			if _, err := w.Write(block); err != nil {
				return true
			}
		}
		io.WriteString(w, "[]")
		return true
	case f.Kind == Slow:
		select {
		case <-r.Context().Done():
		case <-time.After(f.Delay):
		}
	}
	return false
}

// spend counts weight against a limit per window of seconds, and reports what
// was used and whether the limit still holds.
func (x *Exchange) spend(service string, weight, limit int, seconds int64) (used int, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.windows[service]
	if start := time.Now().Unix() / seconds; start != w.start { // limits run even where the market stands still
		w = window{start: start}
	}
	w.used += weight
	x.windows[service] = w
	if w.used > limit {
		x.refused[service]++
	}
	return w.used, w.used <= limit
}

// spoil applies the faults that change bars. Every service's rows are texts
// here, which the encoders put into their own order.
func (f *Fault) spoil(rows []row) []row {
	n := len(rows)
	if f.Kind == Empty {
		return nil
	}
	if n < 12 {
		return rows
	}
	switch f.Kind {
	case NaN:
		rows[n-3].high = "NaN"
	case Nulls:
		rows[n-3].open, rows[n-3].high, rows[n-3].low, rows[n-3].close, rows[n-3].volume = "", "", "", "", ""
	case OutOfOrder:
		rows[n-4], rows[n-5] = rows[n-5], rows[n-4]
	case Doubled:
		old := rows[n-4]
		old.high, old.close, old.open = "99999", "99999", "99999"
		rows = append(rows[:n-4], append([]row{old}, rows[n-4:]...)...)
	case Gap:
		rows = append(rows[:n/2], rows[n/2+5:]...)
	}
	return rows
}

// isListed reports whether the exchanges list a symbol: all but those with
// NOSUCH in them.
func isListed(symbol string) bool { return symbol != "" && !strings.Contains(symbol, "NOSUCH") }

// reply answers with a status and JSON.
func reply(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, format, args...)
}
