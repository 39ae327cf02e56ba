package permit

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
)

// Bounds on questions, and on what is placed without one.
const (
	life         = 10 * time.Minute // how long a question waits, and then how long its answer can be used
	maxQuestions = 100              // questions that wait; one more removes one of the login that has most
	maxOwn       = 10               // questions of one login; one more removes its oldest
	hour         = 60               // minutes that an order counts against its client
	maxMinutes   = 10_000           // sums that are kept
)

// Order is an order that is about to be placed, by its dry run.
type Order struct {
	Digest [sha256.Size]byte // of the login and all that it asked for
	Lines  []string          // the preview, one fact a line
	Gist   string            // what it is worth, in few words; empty if that is not known
	Worth  exact.Money       // zero, with Unknown, if it cannot be known
	Unknown,
	Real bool // it moves real money
	Held   exact.Decimal // the position that the preview shows; a yes holds for it alone
	Limits Limits        // what a yes to it covers

	// State and Reply are what came with the call of a client that was asked before: which
	// question, and what its person answered in a form.
	State string
	Reply Reply
}

// Reply is what a client says that its person answered. Yes counts only with
// Options.InClient, and No always.
type Reply int

const (
	None Reply = iota
	Yes
	No
)

// Answer is the owner's answer to a question.
type Answer struct {
	ID  string
	Yes bool
}

// Asked is the error of an order that a person has to approve first.
type Asked struct {
	ID      string
	Lines   []string
	Address string    // of the page on which the owner answers; empty if there is none
	Until   time.Time // when the question ends, if it was asked before; else zero
	InForm  bool      // a form in the client counts, too
	nobody  bool      // as in Options
	why     string
}

// Error says where the owner answers.
func (a *Asked) Error() string {
	said := "a person has to approve this order, " + a.why + "; nothing was placed. "
	switch {
	case a.Address == "" && a.InForm:
		return said + "Here only a client that declares elicitation in MCP 2026-07-28 is shown the question, and there is no page over stdio: use such a client, or one that is connected to wick --serve."
	case a.Address == "" && a.nobody:
		return said + "Nobody can approve it here, since no passphrase is set: the owner has to start wick with --passphrase-file."
	case a.Address == "":
		return said + "There is no page over stdio: the owner answers on this machine with wick approve " + a.ID + " and the passphrase, within ten minutes. Then repeat this very call."
	case a.Until.IsZero():
		return said + "Ask the owner to open " + a.Address + " within ten minutes, and then repeat this very call. No argument approves it."
	}
	return said + "The owner is asked already, and has not answered yet: " + a.Address + " stays until " + a.Until.UTC().Format(time.DateTime) +
		" UTC. Repeat this very call once they have answered there. No argument approves it."
}

// question is an order that waits for an answer, or has one that was not used yet.
type question struct {
	Order
	asker    Caller
	begun    time.Time // when its time began, which the clock's being set does not change
	ends     time.Time // when it ends by the wall clock, which goes on while the machine sleeps
	answered bool
	evidence Evidence // of the answer
}

// over reports whether a question's time is over, by the wall clock or by the monotonic clock, so
// that a yes does not last longer if the wall clock is set back.
func (q *question) over(now time.Time) bool { return !now.Before(q.ends) || now.Sub(q.begun) >= life }

func (q *question) granted() bool { return q.answered && q.evidence.Yes }
func (q *question) refused() bool { return q.answered && !q.evidence.Yes }

// order decides about an order. A no counts also if the order would need no yes any more,
// and a yes is used up also if it needs none. An order of unknown worth always needs one.
func (g *Gate) order(c Caller, o *Order, record func(Evidence) error, granted Grant) (Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock() // held until the order is counted, so that two cannot use the same room
	now := time.Now()
	if id := g.find(o, now, (*question).refused); id != "" {
		delete(g.waiting, id)
		return Grant{}, ErrNo
	}
	if err := g.reply(c, o, record, now); err != nil {
		return Grant{}, err
	}
	id := g.find(o, now, func(q *question) bool { return q.granted() && q.Held == o.Held })
	switch q := g.waiting[id]; {
	case q != nil:
		delete(g.waiting, id)
		granted = Grant{By: "owner", Channel: q.evidence.Channel, Address: q.evidence.Address, Question: q.evidence.ID, Limits: q.Limits}
		granted.Limits.Until = q.ends
	case o.Unknown || !g.fits(c.Client, o.Worth, now):
		return Grant{}, g.ask(c, o, now)
	}
	g.count(c.Client, o.Worth, now)
	granted.Worth = o.Worth
	granted.settle = func(placed bool) {
		if !placed {
			g.Count(c.Client, o.Worth.Neg(), now)
		}
	}
	return granted, nil
}

// reply takes what a client says that its person answered in a form.
func (g *Gate) reply(c Caller, o *Order, record func(Evidence) error, now time.Time) error {
	q := g.waiting[o.State]
	mine := q != nil && q.Digest == o.Digest && q.asker.Login == c.Login && !q.over(now)
	switch {
	case o.Reply == No && mine:
		delete(g.waiting, o.State)
		return cmp.Or(g.note(q, c, "client", false, record, now), ErrNo)
	case o.Reply == No:
		return ErrNo
	case o.Reply != Yes || !g.options.InClient || o.Real: // the page may have the answer
		return nil
	case !mine || q.answered:
		return fmt.Errorf("this approval is not valid: it is of another order, another client, too old or used; nothing was placed: call again without it")
	case q.Held != o.Held:
		delete(g.waiting, o.State)
		return fmt.Errorf("the position has changed since the person was asked: it was %s and is %s now; nothing was placed: call again without this approval, and they are asked anew", q.Held, o.Held)
	}
	return g.note(q, c, "client", true, record, now)
}

// answer takes the owner's answer. A no also takes back a yes that was not used yet.
func (g *Gate) answer(c Caller, a Answer, record func(Evidence) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	q, now := g.waiting[a.ID], time.Now()
	if q == nil || q.refused() || q.granted() && a.Yes || q.over(now) {
		return ErrGone
	}
	return g.note(q, c, string(c.Door), a.Yes, record, now)
}

// note has an answer recorded, and then keeps it with its question. The time starts again,
// so that the client can repeat its call after a late answer.
func (g *Gate) note(q *question, c Caller, channel string, yes bool, record func(Evidence) error, now time.Time) error {
	e := Evidence{
		ID: rand.Text()[:16], Yes: yes, Proved: c.Scopes.Has(Person), At: now.UTC().Round(0), Channel: channel, Address: c.Address, Login: c.Login[:min(8, len(c.Login))], // as the audit shows logins
		Asked: q.asker, Order: q.Lines, Digest: hex.EncodeToString(q.Digest[:]),
	}
	e.Asked.Login = q.asker.Login[:min(8, len(q.asker.Login))]
	if err := record(e); err != nil {
		return fmt.Errorf("the answer could not be written down, so it does not count: %w", err)
	}
	q.answered, q.evidence, q.begun, q.ends = true, e, now, now.Add(life).Round(0)
	g.options.Log.Info("order answered", "yes", yes, "proved", e.Proved, "evidence", e.ID, "order", q.Lines[0], "client", q.asker.Name, "login", e.Asked.Login, "channel", channel, "from", c.Address)
	return nil
}

// find returns the id of a question about an order that is in some state, or "".
func (g *Gate) find(o *Order, now time.Time, is func(*question) bool) string {
	for id, q := range g.waiting {
		if q.Digest == o.Digest && is(q) && !q.over(now) {
			return id
		}
	}
	return ""
}

// ask returns the error that asks. If the same question waits already, it is that one, as
// it was and until it ends, so that a client that repeats its call does not take away the
// page that the owner reads. The id in the page's address is random, so nobody can guess
// the address of another question.
func (g *Gate) ask(c Caller, o *Order, now time.Time) *Asked {
	why := "since with it more than " + g.above.String() + " would be placed within an hour"
	switch {
	case g.above == (exact.Money{}):
		why = "as every order here"
	case o.Unknown:
		why = "since what it is worth cannot be compared with the " + g.above.String() + " that may be placed within an hour"
	}
	a := &Asked{Lines: o.Lines, InForm: g.options.InClient && !o.Real, nobody: g.options.Nobody, why: why}
	if a.ID = g.find(o, now, func(q *question) bool { return !q.answered && q.Held == o.Held }); a.ID != "" {
		a.Until = g.waiting[a.ID].ends
	} else {
		q := &question{Order: *o, asker: c, begun: now, ends: now.Add(life).Round(0)}
		// The owner may come to the page minutes later, when the market is elsewhere.
		q.Lines = append(slices.Clip(o.Lines), "prices as of: "+now.UTC().Format(time.DateTime)+" UTC")
		a.ID = g.keep(q, now)
	}
	if g.options.Page != "" {
		a.Address = g.options.Page + "?id=" + a.ID
	}
	return a
}

// keep stores a question and returns its id. It removes an earlier question about the same
// order. A login that asks often pushes out its own questions, and if there are too many in
// all, the login that has most loses one: one that was refused, if it has any, else its oldest.
func (g *Gate) keep(q *question, now time.Time) string {
	maps.DeleteFunc(g.waiting, func(_ string, other *question) bool { return other.Digest == q.Digest || other.over(now) })
	asked, login := make(map[string]int), q.asker.Login
	for _, other := range g.waiting {
		asked[other.asker.Login]++
	}
	own, most, drop := asked[login] >= maxOwn, 0, ""
	if !own && len(g.waiting) >= maxQuestions {
		most = slices.Max(slices.Collect(maps.Values(asked)))
	}
	for id, other := range g.waiting {
		if by := other.asker.Login; own && by == login || asked[by] == most {
			if x := g.waiting[drop]; x == nil || other.refused() && !x.refused() || other.refused() == x.refused() && other.ends.Before(x.ends) {
				drop = id
			}
		}
	}
	delete(g.waiting, drop)
	id := rand.Text()
	g.waiting[id] = q
	return id
}

// Question is an order that waits for the owner: its preview, what it is worth, and when it
// ends.
type Question struct {
	ID    string    `json:"id"`
	Lines []string  `json:"lines"`
	Gist  string    `json:"gist"`
	Real  bool      `json:"real"` // it moves real money
	Until time.Time `json:"until"`
}

// Question returns the preview of the order that was asked about under this id, and whether
// the owner has approved it. It returns false if there is none: it was refused, the
// approval was used, or its time is over.
func (g *Gate) Question(id string) (lines []string, approved, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q := g.waiting[id]; q != nil && !q.refused() && !q.over(time.Now()) {
		lines, approved, ok = q.Lines, q.granted(), true
	}
	return lines, approved, ok
}

// Waiting returns the orders that wait for the owner, the oldest first.
func (g *Gate) Waiting() []Question {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, now := []Question{}, time.Now()
	for id, q := range g.waiting {
		if !q.answered && !q.over(now) {
			list = append(list, Question{id, q.Lines, q.Gist, q.Real, q.ends.UTC()})
		}
	}
	slices.SortFunc(list, func(a, b Question) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return list
}

// Needs reports whether an order needs a person's yes if its client places it now. It
// counts nothing.
func (g *Gate) Needs(client string, worth exact.Money, known bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Asks() && (!known || !g.fits(client, worth, time.Now()))
}

// minute is a client's minute, counted from 1970. The gate keeps the worth of the orders that
// were placed in each. It forgets those of more than an hour ago only when it needs the room: if
// a clock that ran ahead made them look so old, they count again once it is set back.
type minute struct {
	client string
	at     int64
}

// fits reports whether a client may place an order of this worth without a yes: the order
// and what the client placed since an hour ago together are not more than the sum. What lies
// ahead of the clock counts: the clock was set back meanwhile. If there are too many clients to
// keep count of, every order needs a yes: none is forgotten.
func (g *Gate) fits(client string, worth exact.Money, now time.Time) bool {
	first := now.Unix()/60 - hour + 1
	if len(g.sums) >= maxMinutes {
		maps.DeleteFunc(g.sums, func(m minute, _ exact.Money) bool { return m.at < first })
	}
	total, fits := worth, len(g.sums) < maxMinutes
	for m, sum := range g.sums {
		if fits && m.at >= first && m.client == cmp.Or(g.options.Payer, client) {
			total, fits = total.Add(sum)
		}
	}
	left, ok := g.above.Sub(total) // a sum that is too large for Money is above any bound
	return fits && ok && left.Sign() >= 0
}

// count adds the worth of an order to what its client placed in the minute of at.
func (g *Gate) count(client string, worth exact.Money, at time.Time) {
	m := minute{cmp.Or(g.options.Payer, client), at.Unix() / 60}
	if sum, ok := g.sums[m].Add(worth); ok { // one that Money cannot hold stays as it was
		g.sums[m] = sum
	}
}

// Count adds the worth of an order that was placed before the start. A worth below zero takes
// back one that was counted and not placed.
func (g *Gate) Count(client string, worth exact.Money, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(client, worth, at)
}
