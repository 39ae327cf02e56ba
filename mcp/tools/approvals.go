package tools

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/exact"
	"wick/mcp"
)

// Bounds on questions to the owner.
const (
	approvalLife    = 10 * time.Minute // how long a question waits, and then how long its answer can be used
	maxQuestions    = 100              // questions that wait; one more removes the oldest
	maxOwnQuestions = 10               // questions of one caller; one more removes its oldest
	maxCounted      = 1000             // clients whose orders are counted
	countedBuckets  = 60               // minutes that an order counts against its client
)

// Approvals decides which orders a person has to approve, and keeps the questions and
// answers. An approval is for one order of one client, which may be placed once within
// ten minutes. A person gives it in a form that the client shows, or on the owner's page;
// no argument of a tool can give it. All of this is kept in memory only.
//
// An order that needs approval goes this way: place_order calls admit, which returns a
// question as its error. A client that can show forms shows the question and calls again,
// with the answer and the state that came with the question. For other clients the owner
// answers on the page, and the client repeats the same call. In both cases the second call
// of admit finds the approval and uses it up, and the order is placed; or it finds a refusal,
// which the client is told once; or it finds that nobody has answered yet, and returns the
// question that waits.
type Approvals struct {
	above exact.Money // the worth of orders that a client may place within an hour without approval
	page  string      // address of the owner's page; empty if there is none
	seal  cipher.AEAD

	mu      sync.Mutex
	waiting map[string]*asked                   // by id; guarded by mu, like counted
	counted map[string]*[countedBuckets]counted // by client
}

// asked is an order that waits for approval or has been approved or refused. An answer from
// the page is kept here until the client calls again; one from a form is used up in the call
// that brings it.
type asked struct {
	order   [sha256.Size]byte // see orderDigest
	held    exact.Decimal     // the position when the question was asked, or the part of it that the order closes, less than zero for a short one: the preview shows it
	caller  string            // Caller.ID
	lines   []string          // the preview
	ends    time.Time
	granted bool // approved on the page
	refused bool // refused on the page, perhaps after it was approved there
}

// counted is the worth of the orders that a client placed within one minute.
type counted struct {
	minute int64
	sum    exact.Money
}

// NewApprovals returns approvals that ask a person about every order with which a client
// would have placed more than above within an hour. The page is the address of the owner's
// page; if it is empty, only forms of clients can ask. The key that seals the state of a
// form is made here and never stored.
func NewApprovals(above exact.Decimal, page string) *Approvals {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("tools: " + err.Error()) // only for a wrong key length
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("tools: " + err.Error()) // only for a wrong block size
	}
	return &Approvals{above: above.Money(), page: page, seal: seal, waiting: make(map[string]*asked), counted: make(map[string]*[countedBuckets]counted)}
}

// errNotAsked says that no person was asked yet. No client sees it: admit then asks.
var errNotAsked = errors.New("a person has to approve the order")

// errRefused tells a client that a person said no, in a form or on the page.
var errRefused = errors.New("the person did not approve the order; nothing was placed: do not try again unless they ask for it")

// within reports whether a client may place an order of this worth without approval: the
// order and what the client placed in the last sixty minutes together are not more than
// a.above. The caller holds mu, here and in the unexported methods below.
func (a *Approvals) within(client string, worth exact.Money, now time.Time) bool {
	total, fits := worth, true
	if minutes := a.counted[client]; minutes != nil {
		for _, m := range minutes {
			if fits && now.Unix()/60-m.minute < countedBuckets {
				total, fits = total.Add(m.sum)
			}
		}
	}
	// A sum that is too large for Money is above any bound.
	left, ok := a.above.Sub(total)
	return fits && ok && left.Sign() >= 0
}

// count adds the worth of an order to what its client placed in the minute of at. A
// negative worth takes it back.
func (a *Approvals) count(client string, worth exact.Money, at time.Time) {
	minutes := a.counted[client]
	if minutes == nil {
		if len(a.counted) >= maxCounted {
			a.forgetQuietest()
		}
		minutes = new([countedBuckets]counted)
		a.counted[client] = minutes
	}
	minute := at.Unix() / 60
	// The minutes form a ring: an element that holds a minute of an earlier hour is reset.
	m := &minutes[minute%countedBuckets]
	if m.minute != minute {
		*m = counted{minute: minute}
	}
	// A sum that Money cannot hold stays as it was.
	if sum, ok := m.sum.Add(worth); ok {
		m.sum = sum
	}
}

// forgetQuietest drops the count of the client whose last order is the oldest. Its sum
// starts again at zero.
func (a *Approvals) forgetQuietest() {
	quietest, oldest := "", int64(math.MaxInt64)
	for client, minutes := range a.counted {
		last := int64(0)
		for _, m := range minutes {
			last = max(last, m.minute)
		}
		if last < oldest {
			quietest, oldest = client, last
		}
	}
	delete(a.counted, quietest)
}

// refused reports whether the owner has refused this order on the page, and uses that up.
func (a *Approvals) refused(order [sha256.Size]byte, now time.Time) bool {
	for id, q := range a.waiting {
		if q.refused && q.order == order && now.Before(q.ends) {
			delete(a.waiting, id)
			return true
		}
	}
	return false
}

// approved returns nil if a person has approved this order of this caller, with this position.
// That uses the approval up. It returns errNotAsked if there is no answer, or why the answer
// in c is not an approval.
func (a *Approvals) approved(c mcp.Call, order [sha256.Size]byte, held exact.Decimal, now time.Time) error {
	// The answer to a form comes with the call; one from the owner's page is in a.waiting.
	if c.State != "" && c.Elicits {
		if err := a.answered(c, order, held, now); err != errNotAsked {
			return err
		}
	}
	for id, q := range a.waiting {
		if q.granted && q.order == order && q.held == held && now.Before(q.ends) {
			delete(a.waiting, id)
			return nil
		}
	}
	return errNotAsked
}

// answered returns nil if the answer to a form, which came with the call c, approves the
// order. A client can send any state, so everything is checked: that we sealed it, for
// this caller and this order, not too long ago, and that it was not used before.
func (a *Approvals) answered(c mcp.Call, order [sha256.Size]byte, held exact.Decimal, now time.Time) error {
	id := a.formOf(c, order, now)
	if id == "" {
		return errors.New("this approval is not valid: it is of another order, another client, too old or used; nothing was placed: call again without it")
	}
	// A state without an answer: it is the owner's page that may have one.
	if answer, err := answerOf(c); err != nil || answer != saidYes {
		return errNotAsked
	}
	q := a.waiting[id]
	delete(a.waiting, id) // an answer counts once
	if q.held != held {
		return fmt.Errorf("the position has changed since the person was asked: it was %s and is %s now; nothing was placed: call again without this approval, and they are asked anew", q.held, held)
	}
	return nil
}

// formOf returns the id of the question about this order whose state came with the call c,
// or an empty text: the state is not ours, or the question was answered or is too old.
func (a *Approvals) formOf(c mcp.Call, order [sha256.Size]byte, now time.Time) string {
	sealed, err := base64.RawURLEncoding.DecodeString(c.State)
	if err != nil {
		return ""
	}
	// The caller's id is part of the seal: the state of another caller does not open.
	id, err := a.seal.Open(nil, nil, sealed, []byte(c.Caller.ID))
	if err != nil {
		return ""
	}
	if q := a.waiting[string(id)]; q == nil || q.order != order || q.caller != c.Caller.ID || !now.Before(q.ends) {
		return ""
	}
	return string(id)
}

// answer is what a person answered in a form.
type answer int

const (
	unanswered answer = iota
	saidYes
	saidNo
)

// errUnclear says that an answer is not one that the form can have.
var errUnclear = mcp.InvalidParams(`inputResponses.approve is no answer to the form: the action must be accept, decline or cancel, and with accept the content {"approve":true} or {"approve":false}; nothing was placed, and a question that was asked still waits`)

// answerOf returns the answer that came with a call. Only the box of the form, ticked, and
// nothing else is a yes. What is neither a yes nor a no is an error: a mistake of the
// client's program says nothing about the person. A map has names as they were written,
// where a struct would take Approve too.
func answerOf(c mcp.Call) (answer, error) {
	response, given := c.Responses[approveKey]
	if !given || !c.Elicits {
		return unanswered, nil
	}
	switch response.Action {
	case "decline", "cancel":
		return saidNo, nil
	case "accept":
		var content map[string]json.RawMessage
		if json.Unmarshal(response.Content, &content) != nil || len(content) != 1 {
			break
		}
		switch string(content[approveKey]) {
		case "true":
			return saidYes, nil
		case "false":
			return saidNo, nil
		}
	}
	return unanswered, errUnclear
}

const approveKey = "approve" // the key of the question, and the name of the box in its form

// approveSchema is the form: one box, which is not ticked at first.
var approveSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Place this order","description":"Yes places exactly this order, once.","default":false}},"required":["approve"]}`)

// ask returns the error that asks a question: a form for clients that can show one, and
// for the others a sentence that says where the owner can answer. If the same question
// waits already, it is that one, as it was and until it ends, so that a client that repeats
// its call does not take away the page that the owner reads. The id in the page's address
// is random, so nobody can guess the address of another question.
func (a *Approvals) ask(c mcp.Call, digest [sha256.Size]byte, held exact.Decimal, lines []string, now time.Time) error {
	id, until := a.open(digest, held, now)
	if id == "" {
		// The owner may come to the page minutes later, when the market is elsewhere.
		shown := append(slices.Clip(lines), "prices as of: "+now.UTC().Format(time.DateTime)+" UTC")
		id = a.keep(&asked{order: digest, held: held, caller: c.Caller.ID, lines: shown, ends: endOf(now)}, now)
	}
	return &mcp.InputRequired{
		Key: approveKey, Message: "Place this order?\n" + strings.Join(lines, "\n"), Schema: approveSchema,
		State: base64.RawURLEncoding.EncodeToString(a.seal.Seal(nil, nil, []byte(id), []byte(c.Caller.ID))),
		Else:  a.elsewhere(id, until),
	}
}

// open returns the id of the question about an order, with this position, that waits for an
// answer, and when it ends; or an empty id. All that the page shows but prices and what
// follows from them is of the order and the position.
func (a *Approvals) open(order [sha256.Size]byte, held exact.Decimal, now time.Time) (id string, ends time.Time) {
	for id, q := range a.waiting {
		if q.order == order && q.held == held && !q.granted && !q.refused && now.Before(q.ends) {
			return id, q.ends
		}
	}
	return "", time.Time{}
}

// elsewhere returns what clients without elicitation, and those of the older era, show in
// place of the form of a question. Until is zero for a question that was asked just now.
func (a *Approvals) elsewhere(id string, until time.Time) string {
	why := "since it takes what this client places within an hour above " + a.above.String()
	if a.above == (exact.Money{}) {
		why = "as every order here"
	}
	said := "a person has to approve this order, " + why + "; nothing was placed. "
	address := a.page + "?id=" + id
	switch {
	case a.page == "":
		return said + "Here only a client that declares elicitation in MCP 2026-07-28 is shown the question, and there is no page over stdio: use such a client, or one that is connected to wick --serve."
	case until.IsZero():
		return said + "Ask the owner to open " + address + " within ten minutes, and then repeat this very call. No argument approves it."
	}
	return said + "The owner is asked already, and has not answered yet: " + address + " stays until " + until.UTC().Format(time.DateTime) +
		" UTC. Repeat this very call once they have answered there. No argument approves it."
}

// endOf returns when a question or a yes of now ends: by the wall clock, which goes on
// while the machine sleeps. A yes of the morning must not place an order in the evening.
func endOf(now time.Time) time.Time { return now.Add(approvalLife).Round(0) }

// keep stores a question and returns its id. It removes an earlier question about the
// same order, of another position or with an answer, and, if the caller has too many, the caller's oldest: so a caller that asks
// often pushes out its own questions, not those of others.
func (a *Approvals) keep(q *asked, now time.Time) string {
	// One walk over the questions removes those that have ended, and finds the oldest of
	// all and the oldest of this caller. They are few, so they are not kept in order.
	own, oldest, ownOldest := 0, "", ""
	older := func(id, than string) bool { // what was refused waits for nobody, and goes first
		q, other := a.waiting[id], a.waiting[than]
		return other == nil || q.refused && !other.refused || q.refused == other.refused && q.ends.Before(other.ends)
	}
	for id, other := range a.waiting {
		if other.order == q.order || !now.Before(other.ends) {
			delete(a.waiting, id)
			continue
		}
		if older(id, oldest) {
			oldest = id
		}
		if other.caller == q.caller {
			if own++; older(id, ownOldest) {
				ownOldest = id
			}
		}
	}
	// At most one has to be removed: rather the caller's own oldest than somebody else's.
	switch {
	case own >= maxOwnQuestions:
		delete(a.waiting, ownOldest)
	case len(a.waiting) >= maxQuestions:
		delete(a.waiting, oldest)
	}
	id := rand.Text()
	a.waiting[id] = q
	return id
}

// Question returns the preview of the order that was asked about under this id, and whether
// the owner has approved it on the page. It returns false if there is none: it was refused,
// the approval was used, or its time is over. The page on which the owner approves an order,
// in oauth/approve.go, calls Question and Answer.
func (a *Approvals) Question(id string) (lines []string, approved, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.waiting[id]
	if q == nil || q.refused || !time.Now().Before(q.ends) {
		return nil, false, false
	}
	return q.lines, q.granted, true
}

// Question is an order that waits for the owner's approval.
type Question struct {
	ID    string    `json:"id"`
	Lines []string  `json:"lines"` // the preview, one fact a line
	Until time.Time `json:"until"` // when it ends
}

// Waiting returns the orders that wait for the owner, the oldest first, and an empty
// list if there are none.
func (a *Approvals) Waiting() []Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []Question{}
	for id, q := range a.waiting {
		if !q.granted && !q.refused && time.Now().Before(q.ends) {
			list = append(list, Question{id, q.lines, q.ends.UTC()})
		}
	}
	slices.SortFunc(list, func(a, b Question) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return list
}

// Answer takes the owner's answer on the page. A no also takes back a yes that was not used
// yet. Answer returns false if it changes nothing: the question no longer waits.
func (a *Approvals) Answer(id string, yes bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, now := a.waiting[id], time.Now()
	if q == nil || q.refused || q.granted && yes || !now.Before(q.ends) {
		return false
	}
	// The time starts again, so that the client can repeat its call after a late answer.
	q.granted, q.refused, q.ends = yes, !yes, endOf(now)
	return true
}
