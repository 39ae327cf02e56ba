// Package permit answers one question for every door of the program: may this caller do
// this now, and who has approved it.
//
// A door is a way in: tool calls over HTTP, the conversation over stdio, another host that
// attaches to a running process, the owner's socket, the owner's page, and the calls that
// one replica passes to another. Every door knows who its caller is and asks [Gate.May]
// before it does anything. What an action needs is a row of [Table]: a scope, the doors it
// may come through, and for place_order a person's yes.
//
// A yes counts if the program that asks for the order cannot give it: on the owner's page, behind
// the passphrase, or over the socket with the passphrase. A form in the client counts only
// if the owner allowed that (Options.InClient), and never for real money. A yes is for one
// order of one login, within bounds of quantity and price; it lasts ten minutes and is
// spent by the order. Every yes and every no is in the journal before it counts.
//
// # Security considerations
//
// The zero [Grant] allows nothing, and an action that is not in the table is refused.
// Questions and answers are in memory: a restart forgets them. The orders of the last hour
// are counted again from the journal.
package permit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/internal/exact"
)

// Door is a way into the program.
type Door string

// The doors.
const (
	HTTP    Door = "http"    // a token at /mcp
	Stdio   Door = "stdio"   // the host that started this process
	Attach  Door = "attach"  // another host on the same data directory, through this process
	Socket  Door = "socket"  // whoever can open the socket in the data directory
	Page    Door = "page"    // the owner's page and the page of a question
	Replica Door = "replica" // another replica, for itself or with the token of its caller
)

// Scope is a right. A caller holds some; an action needs one.
type Scope string

// The scopes. A token names charts, trade and owner; trade includes read.
const (
	Charts Scope = "charts" // market data: nothing of the account
	Read   Scope = "read"   // the account, without changing it
	Trade  Scope = "trade"  // orders and alerts
	Owner  Scope = "owner"  // what only the owner may do
	Person Scope = "person" // the caller has proved, by the passphrase, to be the owner in person
	Peer   Scope = "peer"   // another replica, by the secret that replicas share
)

// Scopes is a set of scopes.
type Scopes []Scope

// ParseScopes returns the scopes that a token names, separated by blanks.
func ParseScopes(text string) (s Scopes) {
	for name := range strings.FieldsSeq(text) {
		s = append(s, Scope(name))
	}
	return s
}

// Has reports whether s includes scope.
func (s Scopes) Has(scope Scope) bool {
	return slices.Contains(s, scope) || scope == Read && slices.Contains(s, Trade)
}

// Caller is who asks. The names are those of the login; over the socket most are empty.
type Caller struct {
	Name    string `json:"name,omitempty"`   // as the client calls itself: a stranger's text
	Client  string `json:"client,omitempty"` // the client, as a digest that outlives its token
	Login   string `json:"login,omitempty"`  // the token, as a digest
	Door    Door   `json:"door"`
	Address string `json:"address,omitempty"`
	Scopes  Scopes `json:"-"`
}

// Action is what is asked for: a row of [Table] by its name, and for some rows the order or
// the answer that it is about.
type Action struct {
	Name   string
	Order  *Order  // of place_order, once it is known what would be placed
	Answer *Answer // of approve
}

// Refused is the error of an action that the table does not allow its caller.
type Refused struct {
	Action string
	Scope  Scope // that the caller lacks; empty if the door is not one for it
	Door   Door
}

// Error says what was refused and why.
func (r *Refused) Error() string {
	switch {
	case r.Scope == "":
		return fmt.Sprintf("%s is not offered here (%s)", r.Action, r.Door)
	case r.Scope == Person:
		return "a yes needs the owner's passphrase; nothing was approved"
	case r.Door == Attach:
		return fmt.Sprintf("%s is not allowed to a host that attaches to this wick, which has a passphrase or moves real money: its owner must start it with --attach-trade; nothing was done", r.Action)
	}
	return fmt.Sprintf("%s needs the scope %q, which this token does not hold", r.Action, r.Scope)
}

// Options configure a [Gate].
type Options struct {
	// Above is the worth of the orders that a client may place within an hour without a
	// person's yes. Below zero means that no order needs one.
	Above exact.Decimal

	Page     string       // the address of the page on which the owner answers; empty if there is none
	Nobody   bool         // there is no passphrase, so that nobody can give a yes on the page or by a command
	InClient bool         // lets a form in the client give a yes, for orders that move no real money
	Payer    string       // whose sum every order counts against; empty means its own client's
	Log      *slog.Logger // receives a line for each answer; nil discards them
}

// Gate decides who may do what. Its methods may be called from many goroutines.
type Gate struct {
	options Options
	above   exact.Money

	mu      sync.Mutex
	waiting map[string]*question // by id; guarded by mu, like sums
	sums    map[minute]exact.Money
}

// New returns a gate without questions.
func New(o Options) *Gate {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Gate{options: o, above: o.Above.Money(), waiting: make(map[string]*question), sums: make(map[minute]exact.Money)}
}

// Asks reports whether some orders need a person's yes.
func (g *Gate) Asks() bool { return g.options.Above >= 0 }

// May decides whether c may do a now, and returns what it was granted. Record writes
// evidence to the journal; it is called before an answer counts, and may be nil for actions
// without an order or an answer. The error is a [*Refused], a [*Asked] if a person has to
// answer first, or says why not.
func (g *Gate) May(ctx context.Context, c Caller, a Action, record func(Evidence) error) (Grant, error) {
	r, known := rules[a.Name]
	need := r.Scope
	if a.Answer != nil && a.Answer.Yes {
		need = Person
	}
	switch {
	case !known || !slices.Contains(r.Doors, c.Door):
		return Grant{}, &Refused{Action: a.Name, Door: c.Door}
	case !c.Scopes.Has(need):
		return Grant{}, &Refused{Action: a.Name, Scope: need, Door: c.Door}
	case a.Order != nil && ctx.Err() != nil: // what the owner asked for is done, also if nobody waits for the answer
		return Grant{}, context.Cause(ctx)
	}
	granted := Grant{By: c.Name, Channel: string(c.Door), Address: c.Address}
	switch {
	case a.Answer != nil:
		return granted, g.answer(c, *a.Answer, record)
	case a.Order != nil && g.Asks():
		return g.order(c, a.Order, record, granted)
	}
	return granted, nil
}

// Grant is what was allowed, and on whose approval. The zero Grant allows nothing.
type Grant struct {
	By, Channel, Address string
	Question             string // the id of the evidence, which the order names; empty if nobody had to answer
	Limits               Limits
	Worth                exact.Money // counted against the client; the order has it in the journal

	settle func(placed bool)
}

// Settle must be called with whether the order was placed: one that was not does not count
// against its client.
func (g Grant) Settle(placed bool) {
	if g.settle != nil {
		g.settle(placed)
	}
}

// Limits is what a yes covers; the order as it is placed must lie within it.
type Limits struct {
	Quantity exact.Decimal // at most; zero for any
	Price    exact.Decimal // a buy is filled at most, a sell at least at it, if it is filled on arrival; zero for any
	Until    time.Time     // zero for ever
	AtOnce   bool          // the order does not wait for its rule, which was true
}

// Evidence is one answer, for the journal. A no needs no proof of who gave it, so that
// nothing keeps a person from it: it may be the client's.
type Evidence struct {
	ID      string    `json:"id"` // the order that was placed on it names it
	Yes     bool      `json:"yes"`
	At      time.Time `json:"at"`
	Proved  bool      `json:"proved"`            // by the passphrase, that a person gave it
	Channel string    `json:"channel"`           // page, socket, or client for what the client says that its person answered
	Login   string    `json:"login,omitempty"`   // of who answered; empty for the page of the question
	Address string    `json:"address,omitempty"` // of who answered
	Asked   Caller    `json:"asked"`             // who wants to place the order
	Order   []string  `json:"order"`             // as the person saw it
	Digest  string    `json:"digest"`            // of the order, SHA-256 in hex
}

// ErrNo tells a client that a person said no, and ErrGone that a question is no longer open.
var (
	ErrNo   = errors.New("the person did not approve the order; nothing was placed: do not try again unless they ask for it")
	ErrGone = errors.New("this order waits no longer: it was answered, or ten minutes have passed")
)
