package permit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
)

// trader is a login that may trade, and person the owner at the page.
var (
	trader = Caller{Name: "agent", Login: "login-1234", Client: "client", Door: HTTP, Address: "192.0.2.1", Scopes: Scopes{Charts, Trade}}
	person = Caller{Name: "owner", Door: Page, Address: "192.0.2.9", Scopes: Scopes{Owner, Person}}
)

// book is a journal: what was recorded.
type book []Evidence

func (b *book) write(e Evidence) error {
	*b = append(*b, e)
	return nil
}

// worth returns an order of so many dollars.
func worth(dollars int) *Order {
	return &Order{Digest: [32]byte{byte(dollars), byte(dollars >> 8)}, Lines: []string{fmt.Sprint("buy for ", dollars)}, Worth: (exact.Decimal(dollars) * exact.One).Money(), Limits: Limits{Quantity: exact.One}}
}

// place asks g for an order of the trader.
func (b *book) place(g *Gate, o *Order) (Grant, error) {
	return g.May(context.Background(), trader, Action{Name: "place_order", Order: o}, b.write)
}

// TestHas: scopes are words, not prefixes, and trade includes read.
func TestHas(t *testing.T) {
	s := ParseScopes("charts trade")
	for scope, want := range map[Scope]bool{"": false, Charts: true, Trade: true, Read: true, "tra": false, "charts trade": false, Owner: false, Person: false} {
		if got := s.Has(scope); got != want {
			t.Errorf("%q: %v, want %v", scope, got, want)
		}
	}
}

// TestTable: whoever lacks the scope or comes by another door is refused, for every row, and
// so is what is in no row. The zero caller may do nothing.
func TestTable(t *testing.T) {
	g := New(Options{Above: -1})
	for _, r := range append([]Rule{{Action: "unknown"}}, Table...) {
		for _, door := range []Door{"", HTTP, Stdio, Attach, Socket, Page, Replica} {
			for _, scope := range []Scope{"", Charts, Read, Trade, Owner, Person, Peer} {
				_, err := g.May(t.Context(), Caller{Door: door, Scopes: Scopes{scope}}, Action{Name: r.Action}, nil)
				want := strings.Contains(fmt.Sprint(r.Doors), string(door)) && door != "" && (scope == r.Scope || r.Scope == Read && scope == Trade)
				if (err == nil) != want || err != nil && !errors.As(err, new(*Refused)) {
					t.Errorf("%s by %q with %q: %v, want it allowed: %t", r.Action, door, scope, err, want)
				}
			}
		}
	}
}

// TestEvidence: a yes is recorded before it counts, and does not count if it cannot be; the
// grant names it, covers what was shown, and is spent by one order. A no is recorded too.
func TestEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := New(Options{Above: 10 * exact.One, Page: "http://localhost/approve"}), &book{}
		order := worth(50)
		_, err := b.place(g, order)
		asked := (*Asked)(nil)
		if !errors.As(err, &asked) || asked.Address != "http://localhost/approve?id="+asked.ID || asked.InForm {
			t.Fatalf("asked %+v, %v", asked, err)
		}
		answer := func(c Caller, yes bool, record func(Evidence) error) error {
			_, err := g.May(t.Context(), c, Action{Name: "approve", Answer: &Answer{asked.ID, yes}}, record)
			return err
		}
		if err := answer(person, true, func(Evidence) error { return errors.New("the disk is full") }); err == nil {
			t.Error("a yes that could not be recorded counts")
		}
		socket := Caller{Door: Socket, Scopes: Scopes{Owner}}
		if err := answer(socket, true, b.write); err == nil || len(*b) > 0 {
			t.Errorf("a yes without the passphrase: %v, %v", err, *b)
		}
		if _, err := b.place(g, order); !errors.As(err, &asked) {
			t.Errorf("before the yes: %v", err)
		}
		if err := answer(person, true, b.write); err != nil || len(*b) != 1 {
			t.Fatal(err)
		}
		e := (*b)[0]
		if !e.Yes || !e.Proved || e.Channel != "page" || e.Address != person.Address || e.Asked.Name != "agent" || e.Asked.Login != "login-12" || e.Asked.Door != HTTP || e.Asked.Address != trader.Address || e.Order[0] != "buy for 50" || !strings.HasPrefix(e.Digest, "32") || !e.At.Equal(time.Now()) {
			t.Errorf("the evidence is %+v", e)
		}
		grant, err := b.place(g, order)
		if err != nil || grant.Question != e.ID || grant.By != "owner" || grant.Channel != "page" || grant.Limits.Quantity != exact.One || !grant.Limits.Until.Equal(time.Now().Add(life)) {
			t.Errorf("granted %+v, %v", grant, err)
		}
		if _, err := b.place(g, order); !errors.As(err, &asked) {
			t.Errorf("a yes counts twice: %v", err)
		}
		if err := answer(socket, false, b.write); err != nil || len(*b) != 2 || (*b)[1].Yes || (*b)[1].Proved || (*b)[1].Channel != "socket" {
			t.Errorf("a no over the socket: %v, %+v", err, *b)
		}
		if _, err := b.place(g, order); !errors.Is(err, ErrNo) {
			t.Errorf("after the no: %v", err)
		}
	})
}

// TestForms: the answer in a form counts where the owner lets it, never for real money, and
// only from the login that asked.
func TestForms(t *testing.T) {
	for _, inClient := range []bool{false, true} {
		for _, real := range []bool{false, true} {
			g, b := New(Options{InClient: inClient}), &book{}
			order := worth(50)
			order.Real = real
			_, err := b.place(g, order)
			asked := (*Asked)(nil)
			if !errors.As(err, &asked) || asked.InForm != (inClient && !real) {
				t.Fatalf("asked %+v, %v", asked, err)
			}
			order.State, order.Reply = asked.ID, Yes
			stranger := trader
			stranger.Login = "another"
			if _, err := g.May(t.Context(), stranger, Action{Name: "place_order", Order: order}, b.write); err == nil {
				t.Error("the state of another login approves")
			}
			_, err = b.place(g, order)
			if (err == nil) != (inClient && !real) || (len(*b) == 1) != (err == nil) {
				t.Errorf("a form with InClient %t, real money %t: %v, %d records", inClient, real, err, len(*b))
			}
		}
	}
}

// TestBounds: questions end after their life, by the wall clock, and are bounded, for each
// login and in all; so are the clients whose orders are counted, of which none is forgotten.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := New(Options{Page: "p"}), &book{}
		ask := func(login string, dollars int) string {
			c, asked := trader, (*Asked)(nil)
			c.Login = login
			if _, err := g.May(t.Context(), c, Action{Name: "place_order", Order: worth(dollars)}, b.write); !errors.As(err, &asked) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			return asked.ID
		}
		first := ask("another", 1)
		for i := range 2 * maxQuestions {
			ask("a model", 2+i)
		}
		if _, _, ok := g.Question(first); !ok || len(g.Waiting()) != 1+maxOwn {
			t.Errorf("%d questions wait, with that of another login: %t", len(g.Waiting()), ok)
		}
		for i := range maxQuestions - 1 - maxOwn { // ten and ten of others
			ask(fmt.Sprint("many ", i/maxOwn), 300+i)
		}
		for i := range maxQuestions / 2 {
			ask(fmt.Sprint("more ", i/maxOwn), 400+i)
		}
		if _, _, ok := g.Question(first); !ok {
			t.Error("logins that ask often pushed out the one question of another")
		}
		for i := range 2 * maxQuestions {
			ask(fmt.Sprint(i), 500+i)
		}
		if n := len(g.Waiting()); n != maxQuestions {
			t.Errorf("%d questions wait", n)
		}
		for _, q := range g.waiting {
			if strings.Contains(q.ends.String(), "m=") {
				t.Errorf("a question ends at %s: after so many minutes awake", q.ends)
			}
		}
		time.Sleep(life)
		if n := len(g.Waiting()); n != 0 {
			t.Errorf("%d questions wait after their life", n)
		}
		g = New(Options{Above: 10 * exact.One})
		one := exact.One.Money()
		for i := range maxMinutes {
			g.Count(fmt.Sprint(i), one, time.Now())
		}
		if !g.Needs("1", one, true) || !g.Needs("another", one, true) {
			t.Error("with too many clients to keep count of, an order needs no yes")
		}
		if time.Sleep(time.Hour); g.Needs("another", one, true) || len(g.sums) != 0 {
			t.Errorf("an hour later %d sums are kept", len(g.sums))
		}
	})
}

// TestClockSetBack: a clock that is set back does not make the time of a question or of a yes
// longer.
func TestClockSetBack(t *testing.T) {
	for _, yes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g, b := New(Options{Above: 10 * exact.One}), &book{}
			asked := (*Asked)(nil)
			if _, err := b.place(g, worth(50)); !errors.As(err, &asked) {
				t.Fatal(err)
			}
			answer := func() error {
				_, err := g.May(t.Context(), person, Action{Name: "approve", Answer: &Answer{asked.ID, true}}, b.write)
				return err
			}
			if yes && answer() != nil {
				t.Fatal("no answer")
			}
			time.Sleep(life)
			q := g.waiting[asked.ID]
			q.ends = q.ends.Add(5 * time.Hour) // as it is for a clock that was set back by that
			if _, _, ok := g.Question(asked.ID); ok || len(g.Waiting()) > 0 || !errors.Is(answer(), ErrGone) {
				t.Errorf("with a yes %t: the question waits after its time", yes)
			}
			if _, err := b.place(g, worth(50)); !errors.As(err, new(*Asked)) {
				t.Errorf("with a yes %t: %v after its time, want a new question", yes, err)
			}
		})
	}
}

// TestWhoAnswers: the error of an order says how it is approved, and where nobody can, that.
func TestWhoAnswers(t *testing.T) {
	for want, o := range map[string]Options{
		"with wick approve ":                   {},
		"the owner to open p?id=":              {Page: "p"},
		"such a client":                        {InClient: true, Nobody: true},
		"to start wick with --passphrase-file": {Nobody: true},
	} {
		if _, err := new(book).place(New(o), worth(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

// TestSum: what a client places within an hour counts together, what was not placed does not,
// and after an hour nothing of it does, unless the clock that said so is set back.
func TestSum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := New(Options{Above: 100 * exact.One}), &book{}
		placed, err := b.place(g, worth(60))
		if err != nil {
			t.Fatal(err)
		}
		placed.Settle(true)
		failed, err := b.place(g, worth(40))
		if err != nil {
			t.Fatal(err)
		}
		failed.Settle(false)
		if !g.Needs("client", worth(41).Worth, true) || g.Needs("client", worth(40).Worth, true) || !g.Needs("client", exact.Money{}, false) || g.Needs("another", worth(100).Worth, true) {
			t.Error("60 of 100 were placed, and what fits beside them is wrong")
		}
		time.Sleep(time.Hour)
		if g.Needs("client", worth(100).Worth, true) {
			t.Error("what was placed an hour ago counts")
		}
		g.mu.Lock()
		if !g.fits("client", worth(40).Worth, time.Now().Add(-time.Hour)) || g.fits("client", worth(41).Worth, time.Now().Add(-time.Hour)) {
			t.Error("a clock that ran ahead for an hour and was put right has made room")
		}
		g.mu.Unlock()
		g.Count("client", worth(60).Worth, time.Now().Add(2*time.Hour))
		if !g.Needs("client", worth(41).Worth, true) || g.Needs("client", worth(40).Worth, true) {
			t.Error("what was placed before the clock was set back does not count")
		}
		if len(*b) != 0 {
			t.Errorf("evidence without an answer: %v", *b)
		}
	})
}
