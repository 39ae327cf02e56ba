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
	"slices"
	"strings"
	"sync"
	"time"

	"wick/exact"
	"wick/mcp"
)

// Bounds on questions to the owner.
const (
	approvalLife    = 10 * time.Minute // of a question, and of its answer
	maxQuestions    = 100              // that wait; the oldest goes
	maxOwnQuestions = 10               // of one caller; its oldest goes
	maxCounted      = 1000             // clients whose orders are counted
	countedBuckets  = 60               // minutes that an order counts against its client
)

// Approvals decides which orders need a person's yes, and keeps what was said.
// A yes is for one order of one client, placed once within ten minutes. It comes
// by a form that the client shows, or on the owner's page; no argument of a tool
// gives it. Nothing of it outlives the process.
//
// The course of an order: place_order calls admit, which returns a question as its
// error. A client that can shows it as a form and calls again with the answer and the
// state that came with the question; for others the owner answers on the page, and the
// client repeats the same call. Either way admit finds the yes, uses it up, and the
// order is placed.
type Approvals struct {
	above exact.Money // what a client may place within an hour without a yes
	page  string      // address of the owner's page; empty if there is none
	seal  cipher.AEAD

	mu      sync.Mutex
	waiting map[string]*asked                   // by id; guarded by mu, like counted
	counted map[string]*[countedBuckets]counted // by client
}

// asked is an order that waits for a yes, or has it. A yes on the page is kept here
// until the client calls again; one in a form is used in the call that brings it.
type asked struct {
	order   [sha256.Size]byte // digest of caller and order
	held    exact.Decimal     // the position of the moment, less than zero for a short one: the preview says what comes of it
	caller  string            // Caller.ID
	lines   []string          // the preview
	ends    time.Time
	granted bool
}

// counted is what a client placed within a minute.
type counted struct {
	minute int64
	sum    exact.Money
}

// NewApprovals returns approvals for orders by which a client would have placed
// more than above within an hour. The page is the address of the owner's page;
// empty means that only forms of clients can ask. The key that seals the state of a form
// is made here and ends with the process.
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

// errNotAsked says that nobody was asked yet. No caller sees it: admit asks.
var errNotAsked = errors.New("a person has to approve the order")

// within reports whether a client that places worth more stays within the sum: what it
// placed in the last sixty minutes and this order together. mu is held, here and below.
func (a *Approvals) within(client string, worth exact.Money, now time.Time) bool {
	total, fits := worth, true
	if minutes := a.counted[client]; minutes != nil {
		for _, m := range minutes {
			if fits && now.Unix()/60-m.minute < countedBuckets {
				total, fits = total.Add(m.sum)
			}
		}
	}
	// Money has no comparison: the sign of the rest tells. A sum that does not fit is
	// above any bound.
	left, ok := a.above.Sub(total)
	return fits && ok && !strings.HasPrefix(left.String(), "-")
}

// count adds an order to what its client placed in the minute of at, or with a negative
// worth takes it back from there.
func (a *Approvals) count(client string, worth exact.Money, at time.Time) {
	minutes := a.counted[client]
	if minutes == nil {
		if len(a.counted) >= maxCounted {
			for other := range a.counted { // any: there are no more tokens than that
				delete(a.counted, other)
				break
			}
		}
		minutes = new([countedBuckets]counted)
		a.counted[client] = minutes
	}
	minute := at.Unix() / 60
	// A ring of minutes: one that an earlier hour used is begun anew.
	m := &minutes[minute%countedBuckets]
	if m.minute != minute {
		*m = counted{minute: minute}
	}
	// A sum beyond what money can hold stays as it was.
	if sum, ok := m.sum.Add(worth); ok {
		m.sum = sum
	}
}

// approved returns nil if a person has said yes to this order of this caller, with this
// position, and takes the yes back: it holds once.
func (a *Approvals) approved(c mcp.Call, order [sha256.Size]byte, held exact.Decimal, now time.Time) error {
	// The answer to a form comes with the call; one from the owner's page waits here.
	if c.State != "" && c.Elicits {
		return a.answered(c, order, held, now)
	}
	for id, q := range a.waiting {
		if q.granted && q.order == order && q.held == held && now.Before(q.ends) {
			delete(a.waiting, id)
			return nil
		}
	}
	return errNotAsked
}

// answered judges what came back of a form. The state is a client's to send, so
// everything in it is checked: that we sealed it, for this caller and this order,
// not too long ago, and that it was not used.
func (a *Approvals) answered(c mcp.Call, order [sha256.Size]byte, held exact.Decimal, now time.Time) error {
	errState := errors.New("this approval is not valid: it is of another order, another client, too old or used; nothing was placed: call again without it")
	sealed, err := base64.RawURLEncoding.DecodeString(c.State)
	if err != nil {
		return errState
	}
	// The caller's id is part of what was sealed: the state of another does not open.
	id, err := a.seal.Open(nil, nil, sealed, []byte(c.Caller.ID))
	if err != nil {
		return errState
	}
	q := a.waiting[string(id)]
	// What was sealed must still wait: an answer takes it off the list, and so does its
	// age.
	if q == nil || q.order != order || q.caller != c.Caller.ID || !now.Before(q.ends) {
		return errState
	}
	// The state without an answer: the question is put once more.
	answer, given := c.Responses[approveKey]
	if !given {
		return errNotAsked
	}
	delete(a.waiting, string(id)) // whatever was said, it was said once
	var content struct {
		Approve bool `json:"approve"`
	}
	if answer.Action != "accept" || json.Unmarshal(answer.Content, &content) != nil || !content.Approve {
		return errors.New("the person did not approve the order; nothing was placed: do not try again unless they ask for it")
	}
	if q.held != held {
		return fmt.Errorf("the position has changed since the person was asked: it was %s and is %s now; nothing was placed: call again without this approval, and they are asked anew", q.held, held)
	}
	return nil
}

const approveKey = "approve" // of the question in a form

// approveSchema is the form: one box, which is not ticked.
var approveSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Place this order","description":"Yes places exactly this order, once.","default":false}},"required":["approve"]}`)

// ask notes a question and returns the error that puts it: a form for clients that show
// one, and for the others a sentence that says where the owner answers. The id in the
// page's address is random, so nobody finds the question of another.
func (a *Approvals) ask(c mcp.Call, digest [sha256.Size]byte, held exact.Decimal, lines []string, now time.Time) error {
	// The owner may come to the page minutes later, when the market is elsewhere.
	shown := append(slices.Clip(lines), "prices as of: "+now.UTC().Format(time.DateTime)+" UTC")
	q := &asked{order: digest, held: held, caller: c.Caller.ID, lines: shown, ends: now.Add(approvalLife)}
	id := a.keep(q, now)
	why := "since it takes what this client places within an hour above " + a.above.String()
	if a.above == (exact.Money{}) {
		why = "as every order here"
	}
	// What clients without elicitation show in place of the form.
	said := "a person has to approve this order, " + why + "; nothing was placed. "
	if a.page == "" {
		said += "This client cannot show the question, and there is no page over stdio: use a client that supports elicitation, or one that is connected to wick --serve."
	} else {
		said += "Ask the owner to open " + a.page + "?id=" + id + " within ten minutes, and then repeat this very call. No argument approves it."
	}
	return &mcp.InputRequired{
		Key: approveKey, Message: "Place this order?\n" + strings.Join(lines, "\n"), Schema: approveSchema,
		State: base64.RawURLEncoding.EncodeToString(a.seal.Seal(nil, nil, []byte(id), []byte(c.Caller.ID))),
		Else:  said,
	}
}

// keep stores a question and returns its id. One that waits already for the same
// order goes, and of a caller that has many the oldest: nobody fills the list with
// questions that nobody reads and so ends another's.
func (a *Approvals) keep(q *asked, now time.Time) string {
	// One walk over the list drops what is over and finds the oldest of all and of this
	// caller. The list is short, so it has no order of its own.
	own, oldest, ownOldest := 0, "", ""
	older := func(id, than string) bool { return than == "" || a.waiting[id].ends.Before(a.waiting[than].ends) }
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
	// At most one has to go: the caller's own oldest before anybody else's.
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

// Question returns the preview of an order that waits for the owner, or false if none of
// that id does: it was answered, or its time is over. With Answer it is what the page of
// the login asks.
func (a *Approvals) Question(id string) (lines []string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.waiting[id]
	if q == nil || q.granted || !time.Now().Before(q.ends) {
		return nil, false
	}
	return q.lines, true
}

// Question is an order that waits for the owner's yes.
type Question struct {
	ID    string    `json:"id"`
	Lines []string  `json:"lines"` // the preview, one fact a line
	Until time.Time `json:"until"` // it is gone then
}

// Waiting returns the orders that wait for the owner, the oldest first, and an empty
// list if there are none.
func (a *Approvals) Waiting() []Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []Question{}
	for id, q := range a.waiting {
		if !q.granted && time.Now().Before(q.ends) {
			list = append(list, Question{id, q.lines, q.ends.UTC()})
		}
	}
	slices.SortFunc(list, func(a, b Question) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return list
}

// Answer notes what the owner said on the page. It reports false if the question
// is gone.
func (a *Approvals) Answer(id string, yes bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, now := a.waiting[id], time.Now()
	if q == nil || q.granted || !now.Before(q.ends) {
		return false
	}
	if !yes {
		delete(a.waiting, id)
		return true
	}
	// The time starts anew, so that the order can be repeated after a late answer.
	q.granted, q.ends = true, now.Add(approvalLife)
	return true
}
