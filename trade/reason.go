package trade

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	expired       Code = "expired"           // its time was over
	mateFilled    Code = "other_filled"      // another order of its group was filled
	mateEnded     Code = "other_ended"       // another order of its group has ended in another way
	nothingLeft   Code = "nothing_to_reduce" // it can only reduce a position that is gone
	restTooLarge  Code = "rest_not_reducing"
	restRefused   Code = "rest_refused"
	replaced      Code = "replaced"
	cancelledBy   Code = "cancelled_by" // by somebody else than who placed it
	notReached    Code = "not_reached"  // of ioc and fok
	notValued     Code = "not_valued"
	priceGone     Code = "price_gone"
	onlyClosed    Code = "only_closed"
	beyondTarget  Code = "beyond_take_profit"
	stopCounts    Code = "stop_counts" // it was reached in the same step as the limit beside it
	entryFirst    Code = "entry_first" // it was reached in the same minute as its entry
	failed        Code = "failed"
	dryRun        Code = "dry_run" // of an order that a dry run shows, and of its exits
	dryRunBut     Code = "dry_run_but"
	dryRunKnown   Code = "dry_run_known"
	sending       Code = "sending"
	interrupted   Code = "interrupted"
	answerLost    Code = "answer_lost"
	otherByID     Code = "other_by_id"
	idOfAnother   Code = "id_of_another"
	neverArrived  Code = "never_arrived"
	brokerRefused Code = "broker_refused"
	brokerSays    Code = "broker_says" // the broker's own word for its status
	tookBack      Code = "took_back"
	corrected     Code = "corrected"
	turnedUp      Code = "turned_up" // it had been given up
	noLegs        Code = "no_legs"   // the broker does not name the orders beside it
	deadMan       Code = "dead_man"
	external      Code = "external"
	externalSum   Code = "external_sum"
)

// codes is the table of all codes. First come those of orders, then those of refusals, whose
// words stand where the request is refused.
var codes = map[Code]struct {
	says   string // of an order, with the fields of its reason in turn
	lasts  bool   // it is said on, after what is said later
	retry  Retry  // of a refusal: whether asking again can help
	priced bool   // the refusal quotes the price of the market, or a sum or a size that follows from it
}{
	expired:      {says: "expired"},
	mateFilled:   {says: "%s was filled"},
	mateEnded:    {says: "cancelled with %s"},
	nothingLeft:  {says: "nothing is left to reduce"},
	restTooLarge: {says: "the rest would not have reduced the position"},
	restRefused:  {says: "the rest was refused: %s"},
	replaced:     {says: "replaced by %s"},
	cancelledBy:  {says: "cancelled by %s"},
	notReached:   {says: "%s: the market at %s has not reached the limit"},
	notValued:    {says: "the market reached it while the account could not be valued (%s): a later price decides"},
	priceGone:    {says: "the file no longer tells its price of %s; this order waits for a row that is newer than that"},
	onlyClosed:   {says: "it only closed a position, so there is nothing for its stop_loss and take_profit to protect"},
	beyondTarget: {says: "the entry was filled beyond its take_profit of %s, which stands at the price of the entry instead"},
	stopCounts:   {says: "the market reached this stop and the limit beside it within one step, and which came first is not known: the stop counts", lasts: true},
	entryFirst:   {says: "the market reached the entry and this stop within one minute, and which came first is not known: the stop counts", lasts: true},
	failed:       {says: "%s"},

	dryRun:      {says: "dry run: every check passed, no order was made"},
	dryRunBut:   {says: "dry run: every check passed, no order was made; without dry_run: %s"},
	dryRunKnown: {says: "dry run: client_order_id %q exists; placing it would return this order and make no other"},

	sending:       {says: "outcome unknown: it is being sent"},
	interrupted:   {says: "outcome unknown: wick ended while it was being sent; the broker is being asked"},
	answerLost:    {says: "outcome unknown: the broker's answer was lost (%s); it is being asked"},
	otherByID:     {says: "outcome unknown: %s has another order by its id (%s); it is being asked"},
	idOfAnother:   {says: "not executed by what is known: %s has another order by its id (%s); as its id is the id of another order, look there before you place it anew"},
	neverArrived:  {says: "it never reached %s; place it anew if it is still wanted"},
	brokerRefused: {says: "%s"},
	brokerSays:    {says: "at the broker: %s"},
	tookBack:      {says: "at the broker: %s; it took back %s of %s that were filled"},
	corrected:     {says: "at the broker: its average price was corrected to %s"},
	turnedUp:      {says: "it had been given up, and is at the broker after all", lasts: true},
	noLegs:        {says: "at the broker: it named no orders beside this one for a minute; look there whether its exits exist", lasts: true},
	deadMan:       {says: "cancelled by the dead man's switch: the broker's stream was away for too long"},
	external:      {says: "external: not placed by wick, which does not touch it"},
	externalSum:   {says: "external: not placed by wick, which does not touch it; its quantity is not known: it is for a sum of money, or too large to be read"},

	"bad_exit": {retry: fixIt, priced: true}, "bad_oco": {retry: fixIt, priced: true}, "bad_quantity": {retry: fixIt, priced: true},
	"bad_trail": {retry: fixIt, priced: true}, "buying_power": {retry: fixIt, priced: true}, "max_order_notional": {retry: fixIt, priced: true},
	"max_position_notional": {retry: fixIt, priced: true}, "min_notional": {retry: fixIt, priced: true}, "min_quantity": {retry: fixIt, priced: true},
	"out_of_range": {retry: fixIt, priced: true}, "post_only": {retry: fixIt, priced: true}, "price_collar": {retry: fixIt, priced: true},
	"stop_passed": {retry: fixIt, priced: true},

	"bad_client_alert_id": {retry: fixIt}, "bad_client_order_id": {retry: fixIt}, "bad_condition": {retry: fixIt}, "bad_cooldown": {retry: fixIt},
	"bad_expires_at": {retry: fixIt}, "bad_expiry": {retry: fixIt}, "bad_filter": {retry: fixIt}, "bad_indicator": {retry: fixIt},
	"bad_interval": {retry: fixIt}, "bad_level": {retry: fixIt}, "bad_line": {retry: fixIt}, "bad_may_open": {retry: fixIt}, "bad_note": {retry: fixIt},
	"bad_post_only": {retry: fixIt}, "bad_price": {retry: fixIt}, "bad_repeat": {retry: fixIt}, "bad_replaces": {retry: fixIt},
	"bad_side": {retry: fixIt}, "bad_signal": {retry: fixIt}, "bad_symbol": {retry: fixIt}, "bad_threshold": {retry: fixIt},
	"bad_time_in_force": {retry: fixIt}, "bad_type": {retry: fixIt}, "broker_rule": {retry: fixIt}, "client_alert_id_reused": {retry: fixIt},
	"client_order_id_reused": {retry: fixIt}, "no_data": {retry: fixIt}, "no_short": {retry: fixIt}, "not_approved": {retry: fixIt},
	"off_lot": {retry: fixIt}, "off_tick": {retry: fixIt}, "price_not_allowed": {retry: fixIt}, "price_required": {retry: fixIt},
	"reduce_only": {retry: fixIt}, "stop_price_not_allowed": {retry: fixIt}, "stop_price_required": {retry: fixIt}, "too_long": {retry: fixIt},

	"broker_differs": {retry: later}, "broker_not_ready": {retry: later}, "cancel_unfinished": {retry: later}, "duplicate_order": {retry: later},
	"halt_unknown": {retry: later}, "market_closed": {retry: later}, "market_halted": {retry: later}, "max_alerts": {retry: later},
	"max_daily_loss": {retry: later}, "max_open_orders": {retry: later}, "max_open_orders_symbol": {retry: later}, "max_subscriptions": {retry: later},
	"max_symbols": {retry: later}, "no_price": {retry: later}, "order_rate": {retry: later}, "outcome_unknown": {retry: later},
	"position_changed": {retry: later}, "stale_price": {retry: later}, "trading_halted": {retry: later}, "trading_reducing": {retry: later},

	"bad_caller": {retry: never}, "currency": {retry: never}, "no_broker": {retry: never}, "no_position": {retry: never},
	"order_cancelled": {retry: never}, "order_filled": {retry: never}, "order_rejected": {retry: never}, "price_not_exact": {retry: never},
	"unknown_alert": {retry: never}, "unknown_order": {retry: never},
}

// because returns the reason with a code and the fields of its sentence.
func because(code Code, fields ...string) Reason { return Reason{code, fields} }

// refusedBy returns the reason of an order that came to nothing because of err.
func refusedBy(err error) Reason {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return because(r.Code, r.Text, string(r.Retry))
	}
	return because(failed, err.Error())
}

// String returns the sentence.
func (r Reason) String() string {
	says, fields := cmp.Or(codes[r.Code].says, string(r.Code)+": %s (%s)"), make([]any, len(r.Fields)) // or as a Refusal
	for i, f := range r.Fields {
		fields[i] = f
	}
	return fmt.Sprintf(says, fields...)
}

// equal reports whether r and other say the same.
func (r Reason) equal(other Reason) bool {
	return r.Code == other.Code && slices.Equal(r.Fields, other.Fields)
}

// has reports whether o has a reason with a code.
func (o *Order) has(code Code) bool {
	return slices.ContainsFunc(o.Why, func(r Reason) bool { return r.Code == code })
}

// explain gives o a reason, or none, in the place of those that do not last.
func (o *Order) explain(r Reason) {
	var why []Reason
	if r.Code != "" {
		why = append(why, r)
	}
	for _, said := range o.Why {
		if codes[said.Code].lasts && said.Code != r.Code {
			why = append(why, said)
		}
	}
	o.Why = why
}

// words returns the reasons of o as sentences.
func (o *Order) words() string {
	says := make([]string, len(o.Why))
	for i, r := range o.Why {
		says[i] = r.String()
	}
	return strings.Join(says, "; ")
}

// sameWhy reports whether o and other have the same reasons.
func (o *Order) sameWhy(other *Order) bool { return slices.EqualFunc(o.Why, other.Why, Reason.equal) }

// Unknown reports whether o was given to a broker that has not answered yet.
func (o *Order) Unknown() bool { return o.Account != "" && o.BrokerID == "" && !o.Status.Terminal() }
