package book

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wick/internal/exact"
)

// Code names why an order is as it is, or why a request was refused. It is stable, for
// programs: none of them reads a sentence.
type Code string

// Reason is why an order is as it is: a code, and the fields of its sentence. A zero Reason
// is none.
type Reason struct {
	Code   Code     `json:"code"`
	Fields []string `json:"fields,omitempty"`
}

// The codes of what becomes of an order.
const (
	Expired         Code = "expired"            // its time was over
	OtherFilled     Code = "other_filled"       // another order of its group was filled; on paper, as the next
	OtherEnded      Code = "other_ended"        // another order of its group has ended in another way: at a broker the other says nothing
	NothingToReduce Code = "nothing_to_reduce"  // it can only reduce a position that is gone
	RestTooLarge    Code = "rest_not_reducing"  // it was cut to the position
	RestRefused     Code = "rest_refused"       // it closed a position, and limits or the account refused the rest
	Replaced        Code = "replaced"           // another order took its place
	CancelledBy     Code = "cancelled_by"       // by somebody else than who placed it
	NotReached      Code = "not_reached"        // of ioc and fok
	NotValued       Code = "not_valued"         // it was reached and waits: another position has no price
	PriceGone       Code = "price_gone"         // it waits: a file has taken back the price that would fill it
	OnlyClosed      Code = "only_closed"        // an entry that opened nothing has no exits
	NoExit          Code = "no_exit"            // an entry was filled where one of its exits has no price
	BeyondTarget    Code = "beyond_take_profit" // of a take_profit that its entry had passed
	StopCounts      Code = "stop_counts"        // it was reached in the same step as the limit beside it
	EntryFirst      Code = "entry_first"        // it was reached in the same minute as its entry
	failed          Code = "failed"
	DryRun          Code = "dry_run" // of an order that a dry run shows, and of its exits
	DryRunBut       Code = "dry_run_but"
	DryRunKnown     Code = "dry_run_known"
	Sending         Code = "sending"
	AnswerLost      Code = "answer_lost"
	OtherByID       Code = "other_by_id"
	IdOfAnother     Code = "id_of_another"
	NeverArrived    Code = "never_arrived"
	BrokerRefused   Code = "broker_refused"
	BrokerSays      Code = "broker_says" // the broker's own word for its status
	Suspended       Code = "suspended"   // by the broker, which does not execute it
	TookBack        Code = "took_back"
	Corrected       Code = "corrected"
	TurnedUp        Code = "turned_up" // it had been given up
	NoLegs          Code = "no_legs"   // the broker does not name the orders beside it
	DeadMan         Code = "dead_man"
	External        Code = "external"
	ExternalSum     Code = "external_sum"
	RuleTrue        Code = "rule_true" // it is about to come
	TooLate         Code = "too_late"
	DryRunWhen      Code = "dry_run_when"
)

// The codes of an Outlook.
const (
	WaitsRule      Code = "waits_for_rule" // also of an order, like the next
	WaitsBar       Code = "waits_for_bar"
	WaitsFall      Code = "waits_for_fall"
	WaitsRise      Code = "waits_for_rise"
	WaitsVenue     Code = "waits_for_broker"
	WaitsHalt      Code = "waits_for_halt"
	WaitsReducing  Code = "waits_for_reducing"
	WaitsEntry     Code = "waits_for_entry"
	ReachedLimit   Code = "limit_reached"
	ReachedStop    Code = "stop_reached"
	FilledNow      Code = "filled_at_market"
	CancelledByOwn Code = "cancelled_by_client"
	CancelledThere Code = "cancelled_at_broker" // by whom the broker does not say
)

// Codes is the table of all codes. First come those of orders, then those of refusals, whose
// words stand where the request is refused.
var Codes = map[Code]struct {
	Says   string // of an order, with the fields of its reason in turn
	lasts  bool   // it is said on, after what is said later
	Retry  Retry  // of a refusal: whether asking again can help
	priced bool   // the refusal quotes the price of the market, or a sum or a size that follows from it
}{
	Expired:         {Says: "expired"},
	OtherFilled:     {Says: "%s was filled"},
	OtherEnded:      {Says: "cancelled with %s"},
	NothingToReduce: {Says: "nothing is left to reduce"},
	RestTooLarge:    {Says: "the rest would not have reduced the position"},
	RestRefused:     {Says: "the rest was refused: %s"},
	Replaced:        {Says: "replaced by %s"},
	CancelledBy:     {Says: "cancelled by %s"},
	NotReached:      {Says: "%s: the market at %s has not reached the limit"},
	NotValued:       {Says: "the market reached it while the account could not be valued (%s): a later price decides"},
	PriceGone:       {Says: "the file no longer tells its price of %s; this order waits for a row that is newer than that"},
	OnlyClosed:      {Says: "it only closed a position, so there is nothing for its stop_loss and take_profit to protect"},
	NoExit:          {Says: "the entry was filled so far away that there is no price for its %s: that exit is missing", lasts: true},
	BeyondTarget:    {Says: "the entry was filled beyond its take_profit of %s, which stands at the price of the entry instead", lasts: true},
	StopCounts:      {Says: "the market reached this stop and the limit beside it within one step, and which came first is not known: the stop counts", lasts: true},
	EntryFirst:      {Says: "the market reached the entry and this stop within one minute, and which came first is not known: the stop counts", lasts: true},
	failed:          {Says: "%s"},

	DryRun:      {Says: "dry run: every check passed, no order was made"},
	DryRunBut:   {Says: "dry run: every check passed, no order was made; without dry_run: %s"},
	DryRunKnown: {Says: "dry run: client_order_id %q exists; placing it would return this order and make no other"},

	Sending:       {Says: "outcome unknown: it is being sent, or wick ended meanwhile; the broker is asked then"},
	AnswerLost:    {Says: "outcome unknown: the broker's answer was lost (%s); it is being asked"},
	OtherByID:     {Says: "outcome unknown: %s has another order by its id (%s); it is being asked"},
	IdOfAnother:   {Says: "not executed by what is known: %s has another order by its id (%s); as its id is the id of another order, look there before you place it anew"},
	NeverArrived:  {Says: "it never reached %s; place it anew if it is still wanted"},
	BrokerRefused: {Says: "%s"},
	BrokerSays:    {Says: "at the broker: %s"},
	Suspended:     {Says: "at the broker: %s, so it is not executed and protects nothing"},
	TookBack:      {Says: "at the broker: %s; it took back %s of %s that were filled"},
	Corrected:     {Says: "at the broker: its average price was corrected to %s"},
	TurnedUp:      {Says: "it had been given up, and is at the broker after all", lasts: true},
	NoLegs:        {Says: "at the broker: it named no orders beside this one for a minute; look there whether its exits exist", lasts: true},
	DeadMan:       {Says: "cancelled by the dead man's switch: the broker's stream was away for too long"},
	External:      {Says: "external: not placed by wick, which does not touch it"},
	ExternalSum:   {Says: "external: not placed by wick, which does not touch it; its quantity is not known: it is for a sum of money"},

	RuleTrue:   {Says: "%s became true on the bar of %s: it comes now"},
	TooLate:    {Says: "its rule became true on the bar of %s, and wick was not watching then or ended before the order came"},
	DryRunWhen: {Says: "dry run: no order was made; it would wait until %s on a closed bar of %s, and come then as if it were placed then; now it would %s"},
	WaitsRule:  {Says: "waits until %s on a closed bar of %s"},
	WaitsBar:   {Says: "its rule became true on the bar of %s while wick was not watching: it comes when the next bar of %s closes"},

	WaitsFall:      {Says: "the market to fall to %s"},
	WaitsRise:      {Says: "the market to rise to %s"},
	WaitsVenue:     {Says: "%s to fill it"},
	WaitsHalt:      {Says: "the owner to let trading go on: it is halted, and no order is filled"},
	WaitsReducing:  {Says: "the owner to let trading go on: only orders that shrink a position are filled"},
	WaitsEntry:     {Says: "all of %s to be filled: until then the broker does not activate it"},
	ReachedLimit:   {Says: "the market reached its limit of %s"},
	ReachedStop:    {Says: "the market reached its stop of %s"},
	FilledNow:      {Says: "it was filled at the price of the market"},
	CancelledByOwn: {Says: "the client that placed it cancelled it"},
	CancelledThere: {Says: "%s says that it was cancelled"},

	"bad_exit": {Retry: FixIt, priced: true}, "bad_oco": {Retry: FixIt, priced: true}, "bad_quantity": {Retry: FixIt, priced: true},
	"bad_risk": {Retry: FixIt, priced: true}, "bad_trail": {Retry: FixIt, priced: true}, "buying_power": {Retry: FixIt, priced: true}, "max_order_notional": {Retry: FixIt, priced: true},
	"max_position_notional": {Retry: FixIt, priced: true}, "min_notional": {Retry: FixIt, priced: true}, "min_quantity": {Retry: FixIt, priced: true},
	"out_of_range": {Retry: FixIt, priced: true}, "post_only": {Retry: FixIt, priced: true}, "price_collar": {Retry: FixIt, priced: true},
	"stop_passed": {Retry: FixIt, priced: true}, "worst_price": {Retry: FixIt, priced: true},

	"bad_client_alert_id": {Retry: FixIt}, "bad_client_order_id": {Retry: FixIt}, "bad_condition": {Retry: FixIt}, "bad_cooldown": {Retry: FixIt},
	"bad_expires_at": {Retry: FixIt}, "bad_expiry": {Retry: FixIt}, "bad_filter": {Retry: FixIt}, "bad_indicator": {Retry: FixIt},
	"bad_interval": {Retry: FixIt}, "bad_level": {Retry: FixIt}, "bad_line": {Retry: FixIt}, "bad_may_open": {Retry: FixIt}, "bad_note": {Retry: FixIt}, "bad_tag": {Retry: FixIt},
	"bad_post_only": {Retry: FixIt}, "bad_price": {Retry: FixIt}, "bad_repeat": {Retry: FixIt}, "bad_replaces": {Retry: FixIt},
	"bad_side": {Retry: FixIt}, "bad_signal": {Retry: FixIt}, "bad_symbol": {Retry: FixIt}, "bad_threshold": {Retry: FixIt},
	"bad_time": {Retry: FixIt}, "bad_time_in_force": {Retry: FixIt}, "bad_type": {Retry: FixIt}, "bad_when": {Retry: FixIt}, "broker_rule": {Retry: FixIt}, "client_alert_id_reused": {Retry: FixIt},
	"client_order_id_reused": {Retry: FixIt}, "no_data": {Retry: FixIt}, "no_short": {Retry: FixIt}, "not_approved": {Retry: FixIt},
	"off_lot": {Retry: FixIt}, "off_tick": {Retry: FixIt}, "price_not_allowed": {Retry: FixIt}, "price_required": {Retry: FixIt},
	"reduce_only": {Retry: FixIt}, "stop_price_not_allowed": {Retry: FixIt}, "stop_price_required": {Retry: FixIt}, "too_long": {Retry: FixIt},

	"broker_differs": {Retry: Later}, "broker_not_ready": {Retry: Later}, "cancel_unfinished": {Retry: Later}, "duplicate_order": {Retry: Later},
	"market_closed": {Retry: Later}, "market_halted": {Retry: Later}, "max_alerts": {Retry: Later},
	"max_daily_loss": {Retry: Later}, "max_open_orders": {Retry: Later}, "max_open_orders_symbol": {Retry: Later}, "max_subscriptions": {Retry: Later},
	"max_symbols": {Retry: Later}, "no_price": {Retry: Later}, "order_rate": {Retry: Later}, "outcome_unknown": {Retry: Later},
	"position_changed": {Retry: Later}, "stale_price": {Retry: Later}, "trading_halted": {Retry: Later}, "trading_reducing": {Retry: Later},

	"bad_caller": {Retry: Never}, "no_account": {Retry: Never}, "currency": {Retry: Never}, "no_broker": {Retry: Never}, "no_position": {Retry: Never},
	"order_cancelled": {Retry: Never}, "order_filled": {Retry: Never}, "order_rejected": {Retry: Never}, "price_not_exact": {Retry: Never},
	"unknown_alert": {Retry: Never}, "unknown_order": {Retry: Never},
}

// Because returns the reason with a code and the fields of its sentence.
func Because(code Code, fields ...string) Reason { return Reason{code, fields} }

// refusedBy returns the reason of an order that came to nothing because of err.
func refusedBy(err error) Reason {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return Because(r.Code, r.Text, string(r.Retry))
	}
	return Because(failed, err.Error())
}

// String returns the sentence.
func (r Reason) String() string {
	says, fields := cmp.Or(Codes[r.Code].Says, string(r.Code)+": %s (%s)"), make([]any, len(r.Fields)) // or as a Refusal
	for i, f := range r.Fields {
		fields[i] = f
	}
	return fmt.Sprintf(says, fields...)
}

// Equal reports whether r and other say the same.
func (r Reason) Equal(other Reason) bool {
	return r.Code == other.Code && slices.Equal(r.Fields, other.Fields)
}

// Has reports whether o has a reason with a code.
func (o *Order) Has(code Code) bool {
	return slices.ContainsFunc(o.Why, func(r Reason) bool { return r.Code == code })
}

// Explain gives o a reason, or none, in the place of those that do not last.
func (o *Order) Explain(r Reason) {
	var why []Reason
	if r.Code != "" {
		why = append(why, r)
	}
	for _, said := range o.Why {
		if Codes[said.Code].lasts && said.Code != r.Code {
			why = append(why, said)
		}
	}
	o.Why = why
}

// Words returns the reasons of o as sentences.
func (o *Order) Words() string {
	says := make([]string, len(o.Why))
	for i, r := range o.Why {
		says[i] = r.String()
	}
	return strings.Join(says, "; ")
}

// SameWhy reports whether o and other have the same reasons.
func (o *Order) SameWhy(other *Order) bool { return slices.EqualFunc(o.Why, other.Why, Reason.Equal) }

// Retry says whether asking again can help.
type Retry string

const (
	FixIt Retry = "fix the request" // the same request will be refused again
	Later Retry = "retry later"     // the same request may pass later
	Never Retry = "do not retry"    // nothing will change the answer
)

// Refusal is why a request was not carried out. Nothing was changed.
type Refusal struct {
	Code  Code   // stable, for programs: "max_order_notional"
	Text  string // for people and models: the limit and what would be right
	Retry Retry
}

// Error returns all three parts in one line.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s (%s)", r.Code, r.Text, r.Retry) }

// IsRefusal reports whether err is a refusal with this code.
func IsRefusal(err error, code Code) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}

// Refuse builds a Refusal from a format, as fmt.Sprintf does. Whether asking again can help
// is in the table of codes.
func Refuse(code Code, format string, args ...any) *Refusal {
	return Codes[code].Retry.Refuse(code, format, args...)
}

// Refuse is like the function, for a case in which something else can help than the table
// says of the code.
func (r Retry) Refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...), Retry: r}
}

// AtMost ends a refusal of an order that is too large.
func AtMost(most exact.Decimal) string {
	if most == 0 {
		return "there is nothing left for it"
	}
	return "lower the quantity to at most " + most.String()
}

// grows ends a refusal of an order because it does not shrink a position. Alone the order
// may do so: the open orders of its side are counted with it, but not those of which no more is
// filled than reduces the position ([Order.Cut]).
const grows = "this one, with the open orders of its side, opens or grows one"
