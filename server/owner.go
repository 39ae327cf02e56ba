package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	page "wick/app"
	"wick/limit"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/notify"
	"wick/oauth"
	"wick/trade"
)

// maxOwnerForm is how long the form of a question of the owner may be, in bytes. Nothing is
// read of a longer one, so that a question which needs a member lacks it. One that needs no
// form is answered all the same: a halt must not fail for what was sent beside it.
const maxOwnerForm = 4 << 10

// auditTail is how much of the audit's end the owner's page shows, in bytes.
const auditTail = 64 << 10

// owner is what only the owner may do: through the socket in the data directory, which
// needs no token, and through the owner's page, whose token has the scope for it. Both
// lead to the same handlers, so that each can do exactly what the other can.
type owner struct {
	login  *oauth.Server    // nil over stdio, like health
	engine *trade.Engine    // nil without --trade
	health func() healthDoc // the document of GET /
	dir    string

	replica *replica // nil without --cluster

	approvals *tools.Approvals // nil if no order needs the owner's yes
	notifier  *notify.Notifier // nil without --notify-file

	reading sync.Mutex // held while the journal is read: one reader is enough
}

// newOwner returns what the owner may do with or without a login, over HTTP and over stdio.
func newOwner(c *config, e *app) *owner {
	return &owner{engine: e.trade, dir: c.dataDir, replica: e.replica, approvals: e.approvals, notifier: e.notifier}
}

// loginJSON is a login as the owner sees it.
type loginJSON struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Scope   string    `json:"scope"`
	Since   time.Time `json:"since"`
	Used    time.Time `json:"used"`
	From    string    `json:"from"`
	Expires time.Time `json:"expires"`
}

// Answers to a request that needs --trade, and to one that needs --serve.
var (
	errNoTrading = errors.New("this server runs without --trade")
	errNoLogins  = errors.New("the wick on this data directory speaks over stdio (--mcp) and has no logins to list or end: whoever starts it is its owner")
)

// routes adds the handlers of the owner's requests to mux, below a path, each with guard
// before it. They check nothing themselves: whoever guard lets through is the owner. A
// request that changes something is a POST, and its answer is a sentence that says what
// was done.
func (o *owner) routes(mux *http.ServeMux, below string, guard func(http.Handler) http.Handler) {
	answer := func(pattern string, status int, do func(r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" "+below+path, guard(answering(status, do)))
	}
	answer("GET /clients", http.StatusInternalServerError, func(*http.Request) (any, error) { return o.clients() })
	answer("POST /revoke", http.StatusNotFound, func(r *http.Request) (any, error) { return o.revoke(one(r, "id")) })
	if o.health != nil {
		answer("GET /health", http.StatusInternalServerError, func(*http.Request) (any, error) { return o.health(), nil })
	}
	answer("POST /halt", http.StatusConflict, func(*http.Request) (any, error) { return o.setTrading(false) })
	answer("POST /resume", http.StatusConflict, func(*http.Request) (any, error) { return o.setTrading(true) })
	answer("POST /cancel", http.StatusConflict, func(*http.Request) (any, error) { return o.cancelEverything() })
	answer("POST /accept-positions", http.StatusConflict, func(*http.Request) (any, error) { return o.accept() })
	answer("GET /audit", http.StatusConflict, func(*http.Request) (any, error) { return o.audit() })
	answer("GET /approvals", http.StatusConflict, func(*http.Request) (any, error) { return o.questions(), nil })
	answer("POST /approve", http.StatusNotFound, func(r *http.Request) (any, error) { return o.approve(one(r, "id"), one(r, "answer")) })
	answer("GET /letters", http.StatusConflict, func(*http.Request) (any, error) { return o.letters(), nil })
}

// one returns the value of a name that is in the form once. Of two values, one of which may
// be in the address, nobody can know which was meant, so then it returns nothing. The address
// alone does not count: proxies log it, and a form that is too long must not be replaced by it.
func one(r *http.Request, name string) string {
	value := r.PostFormValue(name)
	if len(r.Form[name]) > 1 {
		return ""
	}
	return value
}

// answering returns a handler that answers with what do returns, as JSON, or with its
// error, as text with the given status.
func answering(status int, do func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxOwnerForm)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		v, err := do(r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v) // the owner is there to read it, or gone
	}
}

// questions returns the orders that wait for the owner's yes, or nil if no order needs
// one.
func (o *owner) questions() []tools.Question {
	if o.approvals == nil {
		return nil
	}
	return o.approvals.Waiting()
}

// approve notes the owner's answer to one question, yes or no, and says what follows. The
// order itself is placed by its client, which asks again.
func (o *owner) approve(id, answer string) (string, error) {
	if answer != "yes" && answer != "no" {
		return "", fmt.Errorf("answer %q is neither yes nor no", limit.Clip(answer))
	}
	if o.approvals == nil || !o.approvals.Answer(id, answer == "yes") {
		return "", errors.New("this order waits no longer: it was answered, or ten minutes have passed")
	}
	if answer == "no" {
		return "not approved: the order is not placed", nil
	}
	return "approved: the order is placed when the client asks again, within ten minutes", nil
}

// letters returns the messages to the owner that could not be delivered, the newest
// first, or nil if there is no destination.
func (o *owner) letters() []notify.Dead {
	if o.notifier == nil {
		return nil
	}
	_, dead := o.notifier.Status()
	slices.Reverse(dead)
	return append([]notify.Dead{}, dead...)
}

// clients returns the logins, the oldest first.
func (o *owner) clients() ([]loginJSON, error) {
	if o.login == nil {
		return nil, errNoLogins
	}
	list := []loginJSON{}
	for _, l := range o.login.Logins() {
		list = append(list, loginJSON{l.ShortID(), l.Name, l.Scope, l.Since.UTC(), l.Used.UTC(), l.From.String(), l.Expires.UTC()})
	}
	return list, nil
}

// revoke ends one login, or all, and says so.
func (o *owner) revoke(id string) (string, error) {
	if o.login == nil {
		return "", errNoLogins
	}
	if id == "all" {
		n, err := o.login.RevokeAll()
		return fmt.Sprintf("revoked all logins: %d", n), err
	}
	grant, err := o.login.Revoke(id)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("revoked %s, %s", grant.ShortID(), grant.Name), nil
}

// setTrading lets trading go on or halts it, as the file HALT does, and says so. A halt
// outlives a restart. It stops what wick sends; orders that already rest at a broker stay
// there.
func (o *owner) setTrading(on bool) (string, error) {
	if o.engine == nil {
		return "", errNoTrading
	}
	if err := o.engine.SetHalt(!on); err != nil {
		return "", err
	}
	if on {
		return o.goesOn()
	}
	said, elsewhere := o.halted()
	if elsewhere {
		said += "; what rests there stays, and can be filled"
	}
	return said, nil
}

// halted says what a halt stops, and whether orders rest at a broker elsewhere.
func (o *owner) halted() (said string, elsewhere bool) {
	if v, ok := o.engine.Venue(); ok {
		return "trading is halted: no order is sent to " + v.Broker + " until it is resumed", true
	}
	return "trading is halted: no order is placed or filled until it is resumed", false
}

// goesOn says what trading may do once the owner's halt is lifted.
func (o *owner) goesOn() (string, error) {
	switch s := o.engine.Status(); {
	case s.Journal != "ok":
		return "", fmt.Errorf("there is no halt, but no order is taken until wick is started again: the journal is broken (%s)", s.Reason)
	case s.Trading == trade.Halted: // by the broker, by the owner once more, or by what a follower still has
		return "", errors.New("the halt was lifted, but trading is still halted here: look at the log, and ask again in a moment")
	case s.Trading == trade.Reducing:
		return "there is no halt, but trading is reduced: only orders that shrink a position are taken", nil
	}
	return "trading goes on", nil
}

// cancelEverything halts trading and has every order of the account cancelled. It halts
// first, so that no new order comes in between, and goes on if nobody waits for the answer.
func (o *owner) cancelEverything() (string, error) {
	said, err := o.setTrading(false)
	if err != nil {
		return "", err
	}
	if err := o.engine.CancelEverything(context.Background(), trade.Who{Name: "owner, by --halt cancel"}); err != nil {
		return "", fmt.Errorf("%s; but cancelling its orders failed: %w", said, err)
	}
	said, elsewhere := o.halted()
	if elsewhere {
		return said + "; every open order there was asked to be cancelled", nil
	}
	return said + "; every open order was cancelled", nil
}

// accept takes the broker's positions as they are, and says which: the owner has looked
// at how book and broker differ, and lets trading go on from what the broker says.
func (o *owner) accept() (string, error) {
	if o.engine == nil {
		return "", errNoTrading
	}
	differed, late, err := o.engine.AcceptPositions(trade.Who{Name: "owner, by --accept-positions"})
	if err != nil {
		return "", err
	}
	v, _ := o.engine.Venue()
	return accepted(differed, late, v.Differences), nil
}

// accepted says what was accepted: positions that differed, and orders that were given up
// and are at the broker. Left is what differs still: a symbol is left out while it is not
// known what was filled of an order in it.
func accepted(differed []trade.Difference, late []string, left []trade.Difference) string {
	var each []string
	for _, d := range differed {
		each = append(each, fmt.Sprintf("%s is %s at the broker and %s by the book", d.Symbol, d.Broker, d.Book))
	}
	for _, id := range late {
		each = append(each, "order "+id+" is at the broker, and had been given up")
	}
	if len(each) == 0 {
		return "nothing differs"
	}
	said := "accepted: " + strings.Join(each, "; ")
	for _, d := range left {
		said += "; not accepted, because it is not settled yet: " + d.Symbol
	}
	return said
}

// audit returns the last lines of the audit, which says who did what.
func (o *owner) audit() ([]string, error) {
	if o.engine == nil {
		return nil, errNoTrading
	}
	if o.replica != nil {
		return nil, errors.New("the journal is in etcd: copy it with wick --cluster … --export DIR and read it with wick --audit --data-dir DIR")
	}
	// One at a time, because each reads the whole journal.
	if !o.reading.TryLock() {
		return nil, errors.New("the journal is being read: try again in a moment")
	}
	defer o.reading.Unlock()
	var end tail
	if err := trade.Audit(o.dir, Visible(&end)); err != nil {
		return nil, err
	}
	return end.lines(), nil
}

// tail is a writer that keeps only the end of what is written to it, in bounded memory.
type tail struct{ kept bytes.Buffer }

// Write keeps p and drops the oldest bytes once there are twice as many as wanted.
func (t *tail) Write(p []byte) (int, error) {
	t.kept.Write(p)
	if over := t.kept.Len() - auditTail; over > auditTail {
		t.kept.Next(over)
	}
	return len(p), nil
}

// lines returns the last lines that were written, as many as fit into auditTail bytes.
func (t *tail) lines() []string {
	text := t.kept.String()
	if over := len(text) - auditTail; over > 0 {
		_, text, _ = strings.Cut(text[over:], "\n")
	}
	out := []string{}
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// ownerPath is the path below which the page sends the owner's requests.
const ownerPath = page.Path + "/api"

// pageRoutes adds the owner's page and, below it, the handlers of the owner's requests,
// for tokens with the owner's scope. Browsers say which site a request comes from: only
// the page's own site is let through, though a page of another would have no token anyway.
func pageRoutes(mux *http.ServeMux, c *config, o *owner, authenticate func(*http.Request) (mcp.Caller, error)) {
	page.Routes(mux, c.baseURL, c.trade)
	o.routes(mux, ownerPath, func(question http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			// Programs other than browsers do not send this header.
			if slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" }) {
				http.Error(w, "only wick's own page may ask this", http.StatusForbidden)
				return
			}
			if refuseOwner(w, r, authenticate) {
				return
			}
			// The sender may take a while to send the form, and the token may be revoked
			// meanwhile: so the form is read first, and the token checked again. Of several
			// replicas another one may have revoked it.
			r.Body = http.MaxBytesReader(w, r.Body, maxOwnerForm)
			r.FormValue("id")
			if r.Method == http.MethodPost {
				if err := o.replica.hear(); err != nil {
					http.Error(w, err.Error(), http.StatusServiceUnavailable)
					return
				}
			}
			if !refuseOwner(w, r, authenticate) {
				question.ServeHTTP(w, r)
			}
		})
	})
}

// refuseOwner refuses a request whose token is not one of the owner's own page, and
// reports whether it did.
func refuseOwner(w http.ResponseWriter, r *http.Request, authenticate func(*http.Request) (mcp.Caller, error)) bool {
	caller, err := authenticate(r)
	switch {
	case errors.Is(err, mcp.ErrTooMany):
		w.Header().Set("Connection", "close") // the connection counts as one of the token's, which has too many
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case err != nil:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, err.Error(), http.StatusUnauthorized)
	case !caller.Has(oauth.ScopeOwner):
		http.Error(w, "this needs the owner's own login, at "+page.Path, http.StatusForbidden)
	default:
		return false
	}
	return true
}
