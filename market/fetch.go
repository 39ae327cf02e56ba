package market

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wick/internal/address"
)

// Limits of one query to a service.
const (
	requestTime = 10 * time.Second // one request, body included
	callTime    = 14 * time.Second // one call of Bars, waits and further tries included
	maxAnswer   = 4 << 20          // bytes of one answer, decompressed
	maxTries    = 3
	// settle is how far a service's bars may be behind its clock: a bar that has just
	// ended may lack its last trades.
	settle = time.Second
	// userAgent names us. It begins like that of a browser because Yahoo refuses other
	// requests.
	userAgent = "Mozilla/5.0 (compatible; wick/1; market data)"
)

// site describes one address: where it is, how often it may be asked, and how
// it explains a refusal. A provider has one, and so has each service of extra
// columns.
type site struct {
	name string // in messages and as the value of --source
	env  string // environment variable that holds another base URL
	url  string // its public address

	limit  int           // units that may be spent in each window
	window time.Duration // windows start at whole multiples of it, as services count
	used   string        // header in which it says what we spent; "" if it does not
	// peace is the least wait after status 429. If it is 0 and the service names no time
	// either, we wait as after any failure.
	peace time.Duration
	// explain finds reason and advice in the body of a refusal. It may be nil and
	// may return nil: then the status alone is explained.
	explain func(status int, body []byte) *Error
}

// reach says how sites are reached. Tests set a transport of their own.
type reach struct {
	env func(name string) string // other base URLs, by the name of their variable
	// transport carries the requests. Nil means one that connects to public
	// addresses only, or to loopback only if the base URL is loopback, and that
	// uses no proxy.
	transport http.RoundTripper
}

type host struct {
	gate
	base   *url.URL
	client *http.Client
}

// open checks the base URL and returns a host for it. The URL must be https, or
// http to this machine, so that no setting sends requests in the clear over a
// network.
func (s site) open(r reach) (*host, error) {
	base := cmp.Or(r.env(s.env), s.url)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// It may contain a secret, so the error does not quote it.
		return nil, fmt.Errorf("%s is a bad base URL: want https://host, without user, query or fragment", s.env)
	}
	loopback := address.Loopback(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return nil, fmt.Errorf("%s is a bad base URL: want https, or http to a loopback address", s.env)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	// The client refuses to connect to addresses of this network, unless the base is
	// this machine.
	client := address.Client(requestTime, address.Allowed(loopback))
	if r.transport != nil {
		client.Transport = r.transport
	}
	return &host{gate: gate{site: s}, base: u, client: client}, nil
}

// request is a question to a service, and what reads the answer.
type request[A any] struct {
	path   string
	query  url.Values
	weight int // units of the budget that it costs; zero means one
	// read makes the answer of a body that came at that time. It returns an *Error for an
	// error that the service reports.
	read func(body []byte, at time.Time) (A, error)
}

// reads returns what reads a body of JSON, which use gets decoded.
func reads[T, A any](use func(told T) (A, error)) func([]byte, time.Time) (A, error) {
	return func(body []byte, _ time.Time) (answer A, err error) {
		var told T
		if err := json.Unmarshal(body, &told); err != nil {
			return answer, err
		}
		return use(told)
	}
}

// ask makes a request, about a symbol, and returns the answer and its time:
// by the service's clock, in whole seconds, or by ours if that is earlier. So neither
// clock alone can make a forming bar look closed. It waits until the
// budget allows the request, and repeats a failed one if that may help.
func ask[A any](ctx context.Context, h *host, symbol string, r request[A]) (answer A, at time.Time, err error) {
	for try := 1; ; try++ {
		// After a failure the gate stays closed for a while, so the second attempt
		// waits here.
		e := h.enter(ctx, max(r.weight, 1))
		if e == nil {
			if answer, at, e = once(ctx, h, r); e == nil {
				return answer, at, nil
			}
			// It may work again soon, and often nobody says when. A call that was cancelled is no
			// fault of the host.
			if e.Retry && e.After == 0 && !errors.Is(ctx.Err(), context.Canceled) {
				e.After = h.backOff()
			}
			h.close(e.After, *e)
			deadline, limited := ctx.Deadline()
			if e.Retry && try < maxTries && ctx.Err() == nil && (!limited || e.After < time.Until(deadline)) {
				continue
			}
		}
		if err := ctx.Err(); err != nil && e.Err == nil {
			e.Err = err
		}
		e.Source, e.Symbol = h.name, symbol
		return answer, at, e
	}
}

// once makes one request for ask.
func once[A any](ctx context.Context, h *host, r request[A]) (answer A, at time.Time, e *Error) {
	// The base has no query of its own, and the path holds only what ParseSymbol lets
	// through.
	u := *h.base
	u.Path += r.path
	u.RawQuery = r.query.Encode()
	req := &http.Request{URL: &u, Header: http.Header{"User-Agent": {userAgent}, "Accept": {"application/json"}}}
	res, err := h.client.Do(req.WithContext(ctx))
	if err != nil {
		return answer, at, h.unreachable(ctx, err)
	}
	defer res.Body.Close()
	at = time.Now()
	// The service's own time of the answer, if it is not ahead of ours, is the better one:
	// the answer may come from a proxy that kept it for a while.
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil && date.Before(at) {
		at = date
	}
	// One byte more than allowed tells a longer answer from one that just fits.
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if res.StatusCode != http.StatusOK {
		return answer, at, h.refused(res.StatusCode, res.Header, body)
	}
	switch {
	case len(body) > maxAnswer:
		return answer, at, &Error{Status: 200, Reason: fmt.Sprintf("the answer is longer than %d MiB", maxAnswer>>20)}
	case err != nil:
		return answer, at, h.unreachable(ctx, err)
	}
	answer, err = r.read(body, at)
	e, told := err.(*Error)
	switch {
	case err == nil:
		h.good(res.Header)
		return answer, at, nil
	case told:
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		e = &Error{Reason: "the answer is a web page, not data", Retry: true, Err: err}
	default:
		e = &Error{Reason: "the answer is not the documented JSON", Retry: true, Err: err}
	}
	e.Status = http.StatusOK
	return answer, at, e
}

// unreachable returns the error for a request that got no answer.
func (h *host) unreachable(ctx context.Context, err error) *Error {
	e := &Error{Reason: h.base.Host + " cannot be reached", Advice: "check the network", Retry: true, Err: err}
	_, dns := errors.AsType[*net.DNSError](err)
	timeout, timed := errors.AsType[net.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Reason, e.Advice = "the call was cancelled", ""
	case errors.Is(err, address.ErrRefused):
		e.Reason, e.Retry = h.base.Host+" resolves to an address that is not public", false
	case dns:
		e.Reason = h.base.Host + " is not found"
	case timed && timeout.Timeout():
		e.Reason = h.base.Host + " did not answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Reason = "the answer broke off"
	}
	return e
}

// refused returns the error for an answer whose status is not 200, and for how long the host is
// to be left alone.
func (h *host) refused(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status, After: retryAfter(header, time.Now())}
	switch {
	case status == http.StatusTooManyRequests:
		e.Reason, e.Retry = "too many requests", true
		e.After = max(e.After, h.peace)
	case status == http.StatusTeapot || status == http.StatusForbidden:
		e.Reason, e.Retry = "it has blocked our address for a while", true
		e.After = max(e.After, banMin)
	case status == http.StatusUnavailableForLegalReasons:
		e.Reason, e.Advice = "the service does not serve this country", "choose another --source"
		e.After = max(e.After, banLegal)
	case status >= 500:
		e.Reason, e.Retry = "the service has a failure", true
	case status >= 300 && status < 400:
		e.Reason, e.Advice = "it redirects elsewhere, and redirects are not followed", "check the base URL and the network"
	default:
		e.Reason, e.Advice = "the request was refused", "check the symbol"
		e.After = 0
		h.good(header) // the host works: it was the request that was wrong
	}
	if h.explain != nil { // the service's own explanation is better than the status
		if told := h.explain(status, body); told != nil {
			e.Reason, e.Advice, e.Err = told.Reason, told.Advice, told.Err
		}
	}
	return e
}

// number is a JSON number, or a number in a string, as the exchanges send
// prices. Any other text becomes NaN; [Bar.Check] then refuses the bar.
type number float64

// UnmarshalJSON never fails, so that one bad number does not spoil a whole answer.
func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil {
		v = math.NaN()
	}
	*n = number(v)
	return nil
}

// Units in which services count the time since 1970, in a second.
const (
	inSeconds = 1
	inMillis  = 1000
)

// instant returns n, a time in units of which a second has so many, in unix seconds. If n
// is no time that a market can have, it returns -1, which no bar may have: text, a time in
// a finer unit, which would be after the year 5138, or in a coarser one, before 1973.
func instant(n number, units int64) int64 {
	if v := float64(n) / float64(units); v >= 1e8 && v < 1e11 {
		return int64(v)
	}
	return -1
}

// pageOf makes a page of rows of numbers: at has the places of time, which is in units of which a
// second has so many, open, high, low, close and volume.
func pageOf(rows [][]number, units int64, at [6]int) (*page, error) {
	p := &page{rows: make([]Bar, 0, len(rows))}
	for _, r := range rows {
		if len(r) <= slices.Max(at[:]) {
			return p, errors.New("a row is too short")
		}
		p.rows = append(p.rows, Bar{instant(r[at[0]], units), float64(r[at[1]]), float64(r[at[2]]), float64(r[at[3]]), float64(r[at[4]]), float64(r[at[5]])})
	}
	return p, nil
}

// gate keeps the requests to one host within its budget, which is a number of units
// in each window of the clock. It counts them, and corrects its count by what the
// service says that we used. Requests pass in the order in which they came, but those for
// prices before all others. After a failure, or when the host asked for a pause, no
// request passes until the pause is over.
type gate struct {
	site
	reserve int // units of each window that are kept for prices

	mu     sync.Mutex
	queue  []*turn   // the requests that wait, the next one first
	since  time.Time // start of the current window
	spent  int
	closed time.Time // no request before this time
	why    Error     // the reason: the error that callers get before that time
	fails  int       // failures in a row
}

type turn struct {
	weight int
	price  bool // it is for prices
}

// priceKey marks a context whose requests are for prices.
type priceKey struct{}

// forPrice returns a context whose requests pass before others: stops and orders wait for
// what they ask.
func forPrice(ctx context.Context) context.Context { return context.WithValue(ctx, priceKey{}, true) }

// How long a host is left alone.
const (
	backoffMin = time.Second
	backoffMax = time.Minute
	banMin     = 2 * time.Minute // after 418 and 403, whatever the header says
	banLegal   = time.Hour       // after 451: laws do not change in minutes
	waitMax    = 24 * time.Hour  // a header may ask for no longer wait
)

// answerTime is what must be left of a call after a wait. With less the request could be
// cut off, and the service would be blamed for it.
const answerTime = 4 * time.Second

// enter waits until weight units may be spent, and spends them. If the wait would leave
// less than answerTime of the time that ctx has, it returns an error at once.
func (g *gate) enter(ctx context.Context, weight int) *Error {
	t := &turn{weight: weight, price: ctx.Value(priceKey{}) != nil}
	g.mu.Lock()
	at := len(g.queue)
	if i := slices.IndexFunc(g.queue, func(other *turn) bool { return !other.price }); i >= 0 && t.price {
		at = i // behind the other requests for prices
	}
	g.queue = slices.Insert(g.queue, at, t)
	g.mu.Unlock()
	defer g.leave(t)
	for { // again in each window: requests for prices may have come in between
		wait, why := g.take(t)
		if wait == 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait+answerTime {
			why.After = wait
			return &why
		}
		select {
		case <-ctx.Done():
			return &Error{Reason: "the call was cancelled", Retry: true, Err: ctx.Err()}
		case <-time.After(min(wait, time.Until(time.Now().Truncate(g.window).Add(g.window)))):
		}
	}
}

func (g *gate) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = slices.DeleteFunc(g.queue, func(other *turn) bool { return other == t })
}

func (g *gate) crowded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue) > 0
}

// take spends the units of t if there are enough for it and all that are before it in the
// queue. Otherwise it returns how long to wait, if nobody comes before t meanwhile, and why.
func (g *gate) take(t *turn) (wait time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	// The service has asked us to stay away until then.
	if wait := g.closed.Sub(now); wait > 0 {
		return wait, g.why
	}
	g.roll(now)
	limit := g.limit
	if !t.price {
		limit -= g.reserve
	}
	over := g.spent + t.weight - limit
	for _, before := range g.queue {
		if before == t {
			break
		}
		over += before.weight
	}
	if over > 0 {
		windows := time.Duration((over + limit - 1) / limit)
		return g.since.Add(windows * g.window).Sub(now), Error{Reason: "the limit that wick keeps to, so that the service does not refuse it, is used up", Retry: true, Err: ErrBusy}
	}
	g.spent += t.weight
	g.queue = slices.DeleteFunc(g.queue, func(other *turn) bool { return other == t }) // those behind it count no units for it twice
	return 0, Error{}
}

// roll starts a new window if the clock has left the old one. The caller holds
// g.mu.
func (g *gate) roll(now time.Time) {
	if since := now.Truncate(g.window); !since.Equal(g.since) {
		g.since, g.spent = since, 0
	}
}

// good notes a successful answer, and the number of units that its header says we used.
func (g *gate) good(header http.Header) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails = 0
	// Others at our address may spend from the same budget, so the service's number can
	// be higher than ours. A lower one may lack requests that are under way.
	if n, err := strconv.Atoi(header.Get(g.used)); err == nil && n > g.spent {
		g.roll(time.Now())
		g.spent = n
	}
}

// close lets no request pass for d. A longer closure that is under way stays as it is.
func (g *gate) close(d time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.closed) {
		g.closed, g.why = until, why
	}
}

// backOff notes a failure and returns how long to wait: a second at first, twice as long
// after each further failure, up to a minute. The time varies at random by up to a
// quarter so that many callers do not come back at the same time.
func (g *gate) backOff() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails++
	d := min(backoffMin<<min(g.fails-1, 10), backoffMax)
	return d*3/4 + rand.N(d/2)
}

// retryAfter returns how long the header Retry-After asks to wait, in either of its
// forms, seconds or a date. It returns 0 if the header is missing or makes no sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	// Of a number that is out of range ParseInt returns the largest one.
	if n, err := strconv.ParseInt(text, 10, 64); n > 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return time.Duration(min(n, int64(waitMax/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), waitMax)
	}
	return 0
}

// Error says why a service returned no bars. Its text is our own, except for at most a
// cleaned and shortened description that the service sent.
type Error struct {
	Source string
	Symbol string
	Status int           // of the HTTP answer; 0 if none came
	Reason string        // what went wrong
	Advice string        // what to do, besides trying again
	Retry  bool          // whether the same call can succeed later
	After  time.Duration // how long to wait before that; 0 if unknown
	Err    error         // the cause, if there is one, such as ErrUnlisted and ErrBusy
}

// Error returns one line: what failed, why, and whether trying again may help.
func (e *Error) Error() string {
	what := "%s returned no data for %q: %s"
	if errors.Is(e.Err, ErrBusy) {
		what = "wick has not asked %s for %q: %s"
	}
	text := fmt.Sprintf(what, e.Source, e.Symbol, e.Reason)
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	switch {
	case e.Retry && e.After > 0:
		return text + fmt.Sprintf("; try again in %s", max(e.After.Round(time.Second), time.Second))
	case e.Retry:
		return text + "; trying again may help"
	}
	return text + "; trying again will not help"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnlisted reports that a source has answered, and that it does not have the symbol.
var ErrUnlisted = errors.New("no such symbol")

// ErrBusy reports that a source was not asked, because our own limit of requests to it is
// used up: the same call can succeed in a moment.
var ErrBusy = errors.New("too many requests at once")

// unlisted says that the service does not list the symbol.
func unlisted() *Error { return &Error{Reason: "the symbol is unknown there", Err: ErrUnlisted} }

// errNotOne is for an answer that should be about the one symbol in the request.
var errNotOne = errors.New("the answer is not about one symbol")

// maxTold is how many bytes of a text of a service are shown.
const maxTold = 200
