package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
)

// documents are clients whose id is the address of a document about them: what
// a registration would say, kept by the client's own host. Such an id outlives
// our restart, which without a key file ends all registrations. The zero value, without
// hosts, has no clients.
type documents struct {
	hosts  []string // the only ones that are asked
	client *http.Client
	log    *slog.Logger

	visitors limiter // counts fetches of unknown documents

	kept table[*document] // by the digest of the address

	mu      sync.Mutex
	first   limit.Bucket // counts fetches of unknown documents; guarded by mu, like renewed
	renewed limit.Bucket // counts fetches of known documents
}

// document is what was last learned of a client.
type document struct {
	last  atomic.Int64 // when it was last asked for, in Unix nanoseconds
	known atomic.Bool  // there is a client

	mu     sync.Mutex // held through a fetch, for which others wait: at most documentTime
	client *client    // nil if there is no good document; guarded by mu, like all below
	failed *fault     // of the last fetch; nil if it went well
	until  time.Time  // when it is fetched again
}

// A document is an [entry], which newer ones push out. A stranger can ask for as many as he
// likes, so those of which no fetch has brought a client go first.
func (d *document) dies() time.Time { return time.Time{} }
func (d *document) used() int64 {
	if d.known.Load() {
		return d.last.Load()
	}
	return d.last.Load() + math.MinInt64
}

// init sets the hosts; no document is fetched yet. It refuses what is not the name of a host.
func (d *documents) init(hosts []string) error {
	for _, host := range hosts {
		if !hostName.MatchString(host) || address.Loopback(host) || checkHost(host) != nil || !strings.Contains(host, ".") {
			return fmt.Errorf("client documents: %q is not the name of a host, such as claude.ai", limit.Clip(host))
		}
	}
	// The HTTP client follows no redirect: a document must be at the address that names it.
	d.client = address.Client(documentTime, address.Public)
	d.hosts, d.kept.max, d.visitors.rate = slices.Clone(hosts), maxDocuments, visitorRate
	return nil
}

// hostName is the name of a host, which is compared in lower case.
var hostName = regexp.MustCompile(`^[a-z0-9.-]+$`)

// asks reports whether a document may be fetched from the address in a client_id. One document
// has one address: another port, user, query or spelling of the same path is refused.
func (d *documents) asks(id string) bool {
	u, err := url.Parse(id)
	return err == nil && len(id) <= maxDocumentURL && slices.Contains(d.hosts, u.Host) && len(u.Path) > 1 && path.Clean(u.Path) == u.Path &&
		id == "https://"+u.Host+u.Path && id == u.String()
}

// get returns the client of a document. It fetches the document if it is unknown or was kept
// long enough. If a known document cannot be fetched again, it stays as it was, unless its
// host says that it is gone. The refusal is a copy of unknown with a text that says why or, if a
// retry may help, a temporary one. The log line of the refusal does not name the document,
// because a stranger could ask for any number of names. That of a failed fetch does: fetches
// are limited by rates.
func (d *documents) get(id string, from visitor, unknown *refusal) (*client, *refusal) {
	if !d.asks(id) {
		return nil, (&fault{why: "this server asks only for https://HOST/PATH, written in that way, at the hosts that --client-documents names"}).refusal(id, unknown, 0)
	}
	d.kept.add(digestOf(id), new(document)) // does nothing if it is there
	doc, ok := d.kept.get(digestOf(id))
	if !ok { // many others came at the same moment
		doc = new(document)
	}
	doc.last.Store(time.Now().UnixNano())
	doc.mu.Lock()
	defer doc.mu.Unlock()
	if now := time.Now(); !now.Before(doc.until) {
		if wait := d.mayFetch(doc, from, now); wait == 0 {
			d.renew(id, doc)
		} else if doc.client == nil {
			return nil, (&fault{why: "too many such documents were asked for just now", status: http.StatusTooManyRequests}).refusal(id, unknown, wait)
		}
	}
	if doc.client != nil {
		return doc.client, nil
	}
	return nil, doc.failed.refusal(id, unknown, time.Until(doc.until))
}

// mayFetch counts a fetch that begins now, or returns how long to wait for one. The
// caller holds the document's mu.
func (d *documents) mayFetch(doc *document, from visitor, now time.Time) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc.client != nil {
		return d.renewed.Take(now, documentRate)
	}
	if wait, _ = d.visitors.take(from); wait > 0 {
		return wait
	}
	return d.first.Take(now, documentRate)
}

// renew fetches a document. If that fails and the host did not say that there is no such
// client, the known client stays. The caller holds the document's mu.
func (d *documents) renew(id string, doc *document) {
	c, life, failed := d.fetch(id)
	if failed != nil {
		d.log.Warn("client document not fetched", "document", limit.Clip(id), "error", failed.why, "cause", failed.cause)
		life = documentFailed
	}
	if failed == nil || failed.none {
		doc.client = c
	}
	doc.failed, doc.until = failed, time.Now().Add(life)
	doc.known.Store(doc.client != nil)
}

// fault says why there is no client.
type fault struct {
	why    string // for people
	cause  string // what the log says in addition
	status int    // to answer with if a later try may succeed, else 0
	none   bool   // the host answered that the address describes no client: it is not found, gone, or not a good document
}

// refusal returns the refusal of the client that the document at id would describe.
func (f *fault) refusal(id string, unknown *refusal, wait time.Duration) *refusal {
	ref, said := *unknown, "Trying again helps only once that is put right."
	if f.status != 0 {
		ref = refusal{status: f.status, code: "temporarily_unavailable", wait: wait}
		said = fmt.Sprintf("Try again in %d seconds.", seconds(wait))
	}
	ref.text = fmt.Sprintf("The app describes itself at %q, and that document could not be had: %s. %s", limit.Clip(id), f.why, said)
	ref.logged = "the document of the client could not be had: " + f.why
	return &ref
}

// unreachable returns the fault of a fetch that got no answer, or only a part of one.
func unreachable(err error) *fault {
	f := &fault{why: "its host could not be reached", cause: limit.Line(err.Error(), 256), status: http.StatusServiceUnavailable}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		f.why = fmt.Sprintf("it did not come within %d seconds", seconds(documentTime))
	}
	return f
}

// fetch asks for a document and returns its client and how long to keep it.
func (d *documents) fetch(id string) (c *client, life time.Duration, failed *fault) {
	ctx, cancel := context.WithTimeout(context.Background(), documentTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, 0, unreachable(err)
	}
	r.Header.Set("Accept", "application/json")
	response, err := d.client.Do(r)
	if err != nil {
		return nil, 0, unreachable(err)
	}
	defer response.Body.Close()
	if status := response.StatusCode; status != http.StatusOK {
		f := &fault{why: fmt.Sprintf("its host answers with status %d", status), none: status == http.StatusNotFound || status == http.StatusGone}
		if status >= 500 || status == http.StatusTooManyRequests {
			f.status = http.StatusServiceUnavailable
		}
		return nil, 0, f
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, 0, &fault{why: fmt.Sprintf("it is of type %q and not JSON", limit.Clip(kind))}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, 0, unreachable(err)
	case len(body) > maxDocument:
		return nil, 0, &fault{why: fmt.Sprintf("it is longer than %d bytes", maxDocument)}
	}
	if c, err = parseDocument(id, body); err != nil {
		return nil, 0, &fault{why: err.Error(), none: true}
	}
	return c, keepFor(response.Header.Get("Cache-Control")), nil
}

// parseDocument reads a document. Its client_id must be id, the address it was fetched
// from.
func parseDocument(id string, body []byte) (*client, error) {
	var doc registration
	ref := doc.read(body, "the document")
	switch about := doc.ClientID.Value; {
	case ref != nil:
		return nil, errors.New(ref.reason())
	case about != id:
		return nil, fmt.Errorf("the document at %q is about %q", limit.Clip(id), limit.Clip(about))
	case doc.AuthMethod != "" && doc.AuthMethod != authNone:
		return nil, fmt.Errorf("the document asks for %q: clients with a document have no secret here", limit.Clip(doc.AuthMethod))
	case passesForOwn(doc.Name):
		return nil, fmt.Errorf("the document's client_name %q is the name of this server's own page", limit.Clip(doc.Name))
	}
	// The identity comes from the address alone: what the document says may change.
	return &client{id: digestOf(id), identity: digestOf("client document " + id), name: cleanName(doc.Name), redirect: doc.RedirectURIs, public: true}, nil
}

// keepFor returns how long to keep a document: as long as the Cache-Control header that
// came with it says, within our own bounds.
func keepFor(header string) time.Duration {
	life := documentLeast
	for part := range strings.SplitSeq(header, ",") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(strings.ToLower(part)), "max-age="); ok {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				life = time.Duration(n) * time.Second
			}
		}
	}
	return min(max(life, documentLeast), documentMost)
}
