package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
	"wick/notify/service"
)

// Kind says what happened.
type Kind string

// The kinds of events. Their texts stand in the owner's file, after kinds=, and in the
// type of a webhook.
const (
	Alert   Kind = "alert"   // an alert fired
	Fill    Kind = "fill"    // an order ended, and all or a part of it was filled
	Cancel  Kind = "cancel"  // an order, or the rest of one, was cancelled
	Reject  Kind = "reject"  // an order, or the rest of one, was rejected by its broker
	Halt    Kind = "halt"    // trading was halted, reduced to closing positions, or resumed
	Loss    Kind = "loss"    // the account has lost as much as it may in a day
	Storage Kind = "storage" // the journal cannot be written any more
	Silent  Kind = "silent"  // a data source stopped answering, or answers again
	Login   Kind = "login"   // somebody logged in

	Journal Kind = "journal" // the newest hash of the journal, once a day and at each planned stop

	Undelivered Kind = "undelivered" // another destination took no message for so long that one was given up or dropped
)

// Kinds lists all kinds.
var Kinds = []Kind{Alert, Fill, Cancel, Reject, Halt, Loss, Storage, Silent, Login, Journal, Undelivered}

// Event is something that happened. It is never changed once it is queued.
type Event struct {
	ID     string    `json:"id"`  // unique in the store, the same after a restart
	Seq    uint64    `json:"seq"` // of the journal's record: rising
	At     time.Time `json:"at"`
	Kind   Kind      `json:"kind"`
	Also   Kind      `json:"also,omitempty"` // another kind that it is of, for destinations that want only that; empty means none
	Symbol string    `json:"symbol,omitempty"`
	Not    string    `json:"not,omitempty"`    // the destination that it is about, and that does not get it; empty means none
	Client string    `json:"client,omitempty"` // name of the program behind it: a stranger's text
	Text   string    `json:"text"`             // one sentence, for a lock screen

	Chart  json.RawMessage `json:"chart,omitempty"`  // what its picture shows, for Options.Picture; nil means no picture
	Detail json.RawMessage `json:"detail,omitempty"` // the same for programs, for webhooks
}

// maxText bounds the sentence of an event, in bytes.
const maxText = 400

// Filter says which events a destination wants. An empty list matches all.
type Filter struct {
	Kinds   []Kind   `json:"kinds,omitempty"`
	Symbols []string `json:"symbols,omitempty"`
	Clients []string `json:"clients,omitempty"` // by name
}

// matches reports whether a destination with this filter gets an event. Symbols do not
// matter for an event without a symbol, such as a halt, and clients not for one without a
// client.
func (f Filter) matches(e *Event) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind) || slices.Contains(f.Kinds, e.Also)) &&
		(len(f.Symbols) == 0 || e.Symbol == "" || slices.Contains(f.Symbols, e.Symbol)) &&
		(len(f.Clients) == 0 || e.Client == "" || slices.Contains(f.Clients, e.Client))
}

// NewMessage returns the message for events that wait for one destination: that of one
// event, or a summary of several. There must be at least one event, and they must be in
// the order of their sequence. The id of the message is made from the events alone, so a
// message that is sent again has the same id.
func NewMessage(events []*Event) service.Message {
	first, last := events[0], events[len(events)-1]
	m := service.Message{ID: first.ID, At: last.At, Kind: string(first.Kind), Text: first.Text, Events: len(events),
		Symbol: first.Symbol, Client: first.Client, Detail: first.Detail}
	// A summary has no symbol, no client, and no detail for programs.
	if len(events) > 1 {
		m.ID, m.Kind, m.Text = fmt.Sprintf("%s-to-%d", first.ID, last.Seq), "summary", summary(events)
		m.Symbol, m.Client, m.Detail = "", "", nil
	}
	m.Urgent = slices.ContainsFunc(events, func(e *Event) bool { return e.Kind == Storage || e.Kind == Halt || e.Kind == Loss })
	return m
}

// summary says what happened, such as "37 alerts fired in a minute: …". It quotes
// the first five. Of hashes of the journal it has the newest, at the end: a part of one is of
// no use.
func summary(events []*Event) string {
	const quoted = 5
	what := "alerts fired"
	if slices.ContainsFunc(events, func(e *Event) bool { return e.Kind != Alert }) {
		what = "messages"
	}
	within := "a minute"
	if minutes := events[len(events)-1].At.Sub(events[0].At).Minutes(); minutes > 1.5 {
		within = fmt.Sprintf("%.0f minutes", minutes)
	}
	var texts []string
	more, hash := 0, ""
	for _, e := range events {
		switch {
		case e.Kind == Journal:
			hash = e.Text
		case len(texts) < quoted:
			texts = append(texts, limit.Line(e.Text, maxText/quoted))
		default:
			more++
		}
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	if hash != "" {
		texts = append(texts, hash)
	}
	return fmt.Sprintf("%d %s in %s: %s", len(events), what, within, strings.Join(texts, "; "))
}
