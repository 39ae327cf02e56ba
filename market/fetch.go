package market

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	requestTime = 10 * time.Second // one request, body included
	callTime    = 14 * time.Second // one call of Bars, waits and further tries included
	maxAnswer   = 4 << 20          // bytes of one answer, decompressed
	maxTries    = 3
	// settle is how far a service's bars may be behind its clock: one that ended
	// this moment may lack its last trades.
	settle = time.Second
	// userAgent names us. The first word is there because Yahoo turns away
	// whoever does not begin like a browser.
	userAgent = "Mozilla/5.0 (compatible; wick/1; market data)"
)

// Error says why a service gave no bars, in our own words: nothing that a
// service sent stands in it but what was cleaned and clipped.
type Error struct {
	Source string
	Symbol string
	Status int           // of HTTP; 0 when no answer came
	Reason string        // what went wrong
	Advice string        // what to do, if more than trying again or not
	Retry  bool          // whether the same call can succeed later
	After  time.Duration // when: not before this; 0 if unknown
	Err    error         // the cause, if there is one
}

// Error returns one sentence.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has no bars of %q for us: %s", e.Source, e.Symbol, e.Reason)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Advice != "" {
		fmt.Fprintf(&b, "; %s", e.Advice)
	}
	switch {
	case e.Retry && e.After > 0:
		fmt.Fprintf(&b, "; try again in %s", max(e.After.Round(time.Second), time.Second))
	case e.Retry:
		b.WriteString("; trying again may help")
	default:
		b.WriteString("; trying again will not help")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// host is one address of a service: how to ask it and how often.
type host struct {
	source string
	base   *url.URL
	client *http.Client
	gate   gate
	// explain finds reason and advice in the body of a refusal; nil, or a nil
	// answer: the status says it all.
	explain func(status int, body []byte) *Error
	// peace is the wait after 429 when the service names none; 0: back off as
	// after any failure.
	peace time.Duration
}

// newHost checks the base address: https, or http to this machine only, so that
// no configuration sends requests in the clear over a network.
func newHost(source, base string, transport http.RoundTripper, g *gate) (*host, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s: bad base URL %q: want https://host, without user, query or fragment", source, clip(base))
	}
	ip, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return nil, fmt.Errorf("%s: bad base URL %q: want https, or http to a loopback address", source, clip(base))
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	if transport == nil {
		transport = &http.Transport{
			DialContext:         guarded(loopback),
			TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     time.Minute,
			ForceAttemptHTTP2:   true,
		}
	}
	return &host{source: source, base: u, gate: gate{limit: g.limit, window: g.window, used: g.used}, client: &http.Client{
		Transport: transport,
		Timeout:   requestTime,
		// No service redirects its data calls, so a redirect is a trick or a
		// captive portal: hand it back unfollowed.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

var errAddress = errors.New("address refused")

// guarded dials public addresses only, or loopback ones only. It judges the
// address that the name resolved to: a public name that points into the
// network of this machine is refused.
func guarded(loopback bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || loopback != to.Addr().Unmap().IsLoopback() || !loopback && !public(to.Addr().Unmap()) {
			return fmt.Errorf("%w: %s is not where a public service lives", errAddress, address)
		}
		return nil
	}}
	return dialer.DialContext
}

// reserved are the blocks that netip's own predicates do not cover: this
// network, carrier NAT, protocol assignments, benchmarks, the old class E.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
}

func public(ip netip.Addr) bool {
	for _, block := range reserved {
		if block.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// get asks for path with query and has the answer decoded. It waits for the
// budget, tries again what may succeed, and returns until when the answer is
// complete by the service's own clock, which decides whether a bar is closed. A
// decoder that finds an error in the answer returns an *Error.
func (h *host) get(ctx context.Context, symbol string, weight int, path string, query url.Values, decode func(body []byte) error) (time.Time, error) {
	for try := 1; ; try++ {
		e := h.gate.enter(ctx, weight)
		if e == nil {
			var at time.Time
			if at, e = h.once(ctx, path, query, decode); e == nil {
				return at, nil
			}
			deadline, limited := ctx.Deadline()
			if e.Retry && try < maxTries && ctx.Err() == nil && (!limited || e.After < time.Until(deadline)) {
				continue
			}
		}
		if err := ctx.Err(); err != nil && e.Err == nil {
			e.Err = err
		}
		e.Source, e.Symbol = h.source, symbol
		return time.Time{}, e
	}
}

// once makes one request.
func (h *host) once(ctx context.Context, path string, query url.Values, decode func([]byte) error) (time.Time, *Error) {
	u := *h.base
	u.Path += path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return time.Time{}, &Error{Reason: "no address can be made of it", Err: err}
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	res, err := h.client.Do(req)
	if err != nil {
		return time.Time{}, h.unreachable(ctx, err)
	}
	defer res.Body.Close()
	now := time.Now()
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		now = date
	}
	now = now.Add(-settle)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if res.StatusCode != http.StatusOK {
		return now, h.refused(res.StatusCode, res.Header, body)
	}
	switch {
	case len(body) > maxAnswer:
		return now, &Error{Status: 200, Reason: fmt.Sprintf("the answer is longer than %d MiB", maxAnswer>>20)}
	case err != nil:
		return now, h.unreachable(ctx, err)
	}
	if err := decode(body); err != nil {
		return now, h.undecoded(body, err)
	}
	h.gate.good(res.Header)
	return now, nil
}

// undecoded says what is wrong with an answer of status 200.
func (h *host) undecoded(body []byte, err error) *Error {
	e := &Error{Reason: "the answer is not the documented JSON", Retry: true, Err: err}
	if told, ok := err.(*Error); ok {
		e = told
	} else if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<") {
		e.Reason = "the answer is a web page, not data"
	}
	e.Status = http.StatusOK
	if e.Retry {
		h.rest(e, h.gate.backOff())
	}
	return e
}

// rest leaves the host alone for a while because of e.
func (h *host) rest(e *Error, d time.Duration) {
	e.After = d
	h.gate.close(d, *e)
}

// unreachable says why no answer came.
func (h *host) unreachable(ctx context.Context, err error) *Error {
	e := &Error{Reason: h.base.Host + " cannot be reached", Advice: "check the network", Retry: true, Err: err}
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // our caller's doing, not the host's
		e.Reason, e.Advice = "the caller gave up", ""
		return e
	case errors.Is(err, errAddress):
		e.Reason, e.Retry = h.base.Host+" resolves to an address that no public service has", false
		return e
	case errors.As(err, &dns):
		e.Reason = h.base.Host + " is not found"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Reason = h.base.Host + " did not answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Reason = "the answer broke off"
	}
	h.rest(e, h.gate.backOff())
	return e
}

// refused judges an answer that is not 200, and closes the gate for as long as
// the service wants.
func (h *host) refused(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status}
	asked := retryAfter(header, time.Now())
	switch {
	case status == http.StatusTooManyRequests:
		e.Reason, e.Retry = "too many requests", true
		asked = max(asked, h.peace)
	case status == http.StatusTeapot || status == http.StatusForbidden:
		e.Reason, e.Retry = "our address is shut out for a while", true
		asked = max(asked, banMin)
	case status == http.StatusUnavailableForLegalReasons:
		e.Reason, e.Advice = "the service does not serve this country", "choose another --source"
		asked = max(asked, banLegal)
	case status >= 500:
		e.Reason, e.Retry = "the service has a failure", true
	case status >= 300 && status < 400:
		e.Reason, e.Advice = "it redirects elsewhere, which is never followed", "check the base URL and the network"
	default:
		e.Reason, e.Advice = "it does not take the request", "check the symbol"
		asked = 0
		h.gate.good(header) // the host is well: it was the question
	}
	if h.explain != nil {
		if told := h.explain(status, body); told != nil {
			e.Reason, e.Advice = told.Reason, told.Advice
		}
	}
	if asked == 0 && e.Retry {
		asked = h.gate.backOff()
	}
	h.rest(e, asked)
	return e
}

// tidyText makes a service's words safe to show: printable ASCII, one line,
// clipped.
func tidyText(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	clean = strings.Join(strings.Fields(clean), " ")
	return clean[:min(len(clean), 120)]
}
