package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"wick/internal/limit"
	"wick/oauth"
	"wick/permit"
	"wick/trade"
	"wick/trade/book"
)

// maxOwnerForm is how long the form of a question of the owner may be, in bytes. Nothing is
// read of a longer one, so that a question which needs a member lacks it. One that needs no
// form is answered all the same: a halt must not fail for what was sent beside it.
const maxOwnerForm = 4 << 10

// auditTail is how much of the audit's end the owner's page shows, in bytes.
const auditTail = 64 << 10

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

// ownerRoutes adds the handlers of the owner's requests to mux, below a path. Caller says who
// sent a request, or answers it and returns false. A request that changes something is a
// POST, and its answer is a sentence that says what was done.
func (e *app) ownerRoutes(mux *http.ServeMux, below string, caller func(w http.ResponseWriter, r *http.Request) (permit.Caller, bool)) {
	answer := func(method, action string, status int, do func(r *http.Request, c permit.Caller) (any, error)) {
		mux.HandleFunc(method+" "+below+"/"+action, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxOwnerForm)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			c, ok := caller(w, r)
			if !ok {
				return
			}
			_, err := e.gate.May(r.Context(), c, permit.Action{Name: action}, nil)
			var v any
			if err == nil {
				v, err = do(r, c)
			}
			if err != nil {
				refused := status
				if errors.As(err, new(*permit.Refused)) {
					refused = http.StatusForbidden
				}
				http.Error(w, err.Error(), refused)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(v) // the owner is there to read it, or gone
		})
	}
	get := func(action string, status int, do func() (any, error)) {
		answer("GET", action, status, func(*http.Request, permit.Caller) (any, error) { return do() })
	}
	post := func(action string, do func() (string, error)) {
		answer("POST", action, http.StatusConflict, func(*http.Request, permit.Caller) (any, error) { return do() })
	}
	get("clients", http.StatusInternalServerError, func() (any, error) { return e.clients() })
	get("audit", http.StatusConflict, func() (any, error) { return e.audit() })
	get("letters", http.StatusConflict, func() (any, error) {
		if e.messages == nil {
			return nil, nil
		}
		return e.messages.letters(), nil
	})
	get("approvals", http.StatusConflict, func() (any, error) { return e.questions(), nil })
	if e.login != nil {
		get("health", http.StatusInternalServerError, func() (any, error) { return e.health(), nil })
	}
	post("halt", func() (string, error) { return e.setTrading(false) })
	post("resume", func() (string, error) { return e.setTrading(true) })
	post("cancel", e.cancelEverything)
	post("accept-positions", e.accept)
	answer("POST", "revoke", http.StatusNotFound, func(r *http.Request, _ permit.Caller) (any, error) { return e.revoke(one(r, "id")) })
	answer("POST", "approve", http.StatusNotFound, func(r *http.Request, c permit.Caller) (any, error) {
		// The order itself is placed by its client, which asks again.
		switch id, word := one(r, "id"), one(r, "answer"); word {
		case "yes":
			return "approved: the order is placed when the client asks again, within ten minutes", e.answer(r.Context(), c, id, true)
		case "no":
			return "not approved: the order is not placed", e.answer(r.Context(), c, id, false)
		default:
			return nil, fmt.Errorf("answer %q is neither yes nor no", limit.Clip(word))
		}
	})
}

// onSocket returns who asks over the socket: whoever can open it owns the data directory.
// With the passphrase in the form it is the owner in person.
func (e *app) onSocket(w http.ResponseWriter, r *http.Request) (permit.Caller, bool) {
	c := permit.Caller{Name: "owner", Door: permit.Socket, Scopes: permit.Scopes{permit.Owner}}
	if guess := one(r, "passphrase"); guess != "" && e.proves != nil {
		if err := e.proves(guess); err != nil {
			e.logs.part("OAuth").Warn("wrong passphrase", "from", "socket", "error", err)
			http.Error(w, err.Error(), http.StatusForbidden)
			return c, false
		}
		c.Scopes = append(c.Scopes, permit.Person)
	}
	return c, true
}

// one returns the value of a name in the posted form. If the name has two values, in the form or
// in the address, it returns an empty text, since it cannot know which one was meant. A value in
// the address alone does not count: proxies log addresses, and a form that was too long to be
// read must not be replaced by them.
func one(r *http.Request, name string) string {
	value := r.PostFormValue(name)
	if len(r.Form[name]) > 1 {
		return ""
	}
	return value
}

// questionJSON is an order that waits for the owner's yes, and the page that takes it, with the
// passphrase. The token of the owner's page is not enough: browsers write it to their disk,
// where other programs of the same user can read it.
type questionJSON struct {
	permit.Question
	Page string `json:"page"`
}

// questions returns the orders that wait for the owner's yes, or nil if no order needs
// one.
func (e *app) questions() []questionJSON {
	if !e.gate.Asks() {
		return nil
	}
	list := []questionJSON{}
	for _, q := range e.gate.Waiting() {
		list = append(list, questionJSON{q, oauth.ApprovePath + "?id=" + q.ID}) // letters and digits
	}
	return list
}

// clients returns the logins, the oldest first.
func (e *app) clients() ([]loginJSON, error) {
	if e.login == nil {
		return nil, errNoLogins
	}
	list := []loginJSON{}
	for _, l := range e.login.Logins() {
		list = append(list, loginJSON{l.ShortID(), l.Name, l.Scope, l.Since.UTC(), l.Used.UTC(), l.From.String(), l.Expires.UTC()})
	}
	return list, nil
}

// revoke ends one login, or all, and says so.
func (e *app) revoke(id string) (string, error) {
	if e.login == nil {
		return "", errNoLogins
	}
	if id == "all" {
		n, err := e.login.RevokeAll()
		return fmt.Sprintf("revoked all logins: %d", n), err
	}
	grant, err := e.login.Revoke(id)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("revoked %s, %s", grant.ShortID(), grant.Name), nil
}

// setTrading lets trading go on or halts it, as the file HALT does, and says so. A halt
// outlives a restart. It stops what wick sends; orders that already rest at a broker stay
// there.
func (e *app) setTrading(on bool) (string, error) {
	if e.trade == nil {
		return "", errNoTrading
	}
	if err := e.trade.SetHalt(!on); err != nil {
		return "", err
	}
	if !on {
		return e.halted("; what rests there stays, and can be filled", ""), nil
	}
	switch s := e.trade.Status(); {
	case s.Journal != "ok":
		return "", fmt.Errorf("there is no halt, but no order is taken until wick is started again: the journal is broken (%s)", s.Reason)
	case s.Trading == book.Halted: // by the broker, by the owner once more, or by what a follower still has
		return "", errors.New("the halt was lifted, but trading is still halted here: look at the log, and ask again in a moment")
	case s.Trading == book.Reducing:
		return "there is no halt, but trading is reduced: only orders that shrink a position are taken", nil
	}
	return "trading goes on", nil
}

// halted returns a sentence about what a halt stops, which is not the same at a broker and on
// paper.
func (e *app) halted(elsewhere, here string) string {
	if v, ok := e.trade.Venue(); ok {
		return "trading is halted: no order is sent to " + v.Name + " until it is resumed" + elsewhere
	}
	return "trading is halted: no order is placed or filled until it is resumed" + here
}

// cancelEverything halts trading and has every order of the account cancelled. It halts
// first, so that no new order comes in between, and goes on if nobody waits for the answer.
func (e *app) cancelEverything() (string, error) {
	said, err := e.setTrading(false)
	if err != nil {
		return "", err
	}
	if err := e.trade.CancelEverything(context.Background(), book.Who{Name: "owner, by wick halt cancel"}); err != nil {
		return "", fmt.Errorf("%s; but cancelling its orders failed: %w", said, err)
	}
	return e.halted("; every open order there was asked to be cancelled", "; every open order was cancelled"), nil
}

// accept takes the broker's positions as they are, and says which: the owner has looked
// at how book and broker differ, and lets trading go on from what the broker says.
func (e *app) accept() (string, error) {
	if e.trade == nil {
		return "", errNoTrading
	}
	differed, late, err := e.trade.AcceptPositions(book.Who{Name: "owner, by wick accept-positions"})
	if err != nil {
		return "", err
	}
	v, _ := e.trade.Venue()
	return accepted(differed, late, v.Differs()), nil
}

// accepted returns a sentence about what was accepted: positions that differed, and orders that
// wick had given up and the broker has. The differences in left remain, because it is not known
// yet what was filled of an order in their symbols.
func accepted(differed []book.Difference, late []string, left []book.Difference) string {
	var each []string
	for _, d := range differed {
		each = append(each, fmt.Sprintf("%s is %s at the broker and %s by wick's fills", d.Symbol, d.Broker, d.Book))
	}
	for _, id := range late {
		each = append(each, "order "+id+" is at the broker, and had been given up")
	}
	if len(each) == 0 {
		return "nothing differs"
	}
	said := "accepted: " + strings.Join(each, "; ")
	for _, d := range left {
		said += "; not accepted, because it is not known yet what was filled: " + d.Symbol
	}
	return said
}

// audit returns the last lines of the audit, which says who did what.
func (e *app) audit() ([]string, error) {
	if e.trade == nil {
		return nil, errNoTrading
	}
	if e.config.clustered() {
		return nil, errors.New("the journal is in etcd: copy it with wick export DIR and read it with wick audit --data-dir DIR")
	}
	lines, err := trade.AuditTail(e.config.dataDir, auditTail)
	for i := range lines {
		var shown strings.Builder
		io.WriteString(Visible(&shown), lines[i])
		lines[i] = shown.String()
	}
	return append([]string{}, lines...), err
}
