package live

import (
	"fmt"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
)

// legsPatience is how long the broker may leave out the legs of an order after its request was
// answered or given up.
const legsPatience = time.Minute

// isOf reports whether s can be a state of o: symbol, side and quantity never change.
func isOf(o *book.Order, s State) bool {
	return book.Key(s.Symbol) == book.Key(o.Symbol) && s.Side == string(o.Side) && s.Quantity == o.Quantity
}

// described returns in words an order that the broker has by the id of another.
func described(s State) string {
	return limit.Line(fmt.Sprintf("%s %s %s", s.Side, s.Quantity, s.Symbol), 60)
}

// ours returns the order of this book that s is about, open or not, or nil. It looks for
// our own id first, because the broker's id of an order is not known if the answer was
// lost. Locked.
func (v *venue) ours(s State) *book.Order {
	if o := v.Book.Order(s.ClientID); o != nil && o.Account != "" && (o.BrokerID == s.ID || o.BrokerID == "" && (isOf(o, s) || !o.Status.Terminal())) {
		return o
	}
	return v.Book.Order(v.Book.BrokerIDs[s.ID])
}

// heard takes what the stream tells of an order. If it does not fit what is known, or the order
// is to be swept, the account is read soon. Somebody else's order is listed by the next report, if
// it is open.
func (v *venue) heard(s State) {
	var o *book.Order
	swept := false
	v.Look(func() {
		if o = v.ours(s); o != nil {
			x := v.doubts[o.ID]
			swept = x != nil && x.swept
		}
	})
	if o != nil && !v.tell(o.ID, s) || swept {
		v.soon()
	}
}

// tell writes down what follows from a state of the order called id, and reports whether the
// book has all of it now. It returns when that is on disk, also if somebody else has learnt it
// first.
func (v *venue) tell(id string, s State) (sure bool) {
	err := v.Do(func(*book.State) (err error) {
		sure, err = v.learn(id, s)
		return err
	})
	if err != nil {
		v.Log.Error("what the broker told could not be written down", "order", id, "error", limit.Line(err.Error(), 200))
	}
	return sure && err == nil
}

// learn takes what the broker says of the order called id and proposes the steps that
// follow. It returns whether the book has all of it now. If something is missing, sure is
// false, and the order stays open and is asked about again. An order that has ended stays
// ended, unless it had been given up and the broker has it after all. Locked.
func (v *venue) learn(id string, s State) (sure bool, err error) {
	o := v.Book.Order(id)
	if o == nil {
		return true, nil
	}
	if o.Status.Terminal() && v.noteLate(o, s) {
		if err := v.restate(o, book.StatusOpen, book.Because(book.TurnedUp)); err != nil {
			return false, err
		}
		o = v.Book.Order(id)
	}
	why := reasonBy(o, s)
	switch taken := why.Code == book.TookBack || why.Code == book.Corrected; {
	case o.Status.Terminal():
		// The book keeps what it counted, and the positions will show the difference. A state
		// that is not final is an old one.
		if s.Status == Open || !taken || !o.EndedWithin(book.LateWithin, v.Now()) {
			return true, nil
		}
		return true, v.restate(o, o.Status, why)
	case o.BrokerID == "" && !isOf(o, s):
		// It may be somebody else's order, or o with a mistake in what was said of it: the broker
		// is asked, see giveUp.
		return false, v.restate(o, o.Status, book.Because(book.OtherByID, v.Book.Remote.Name, described(s)))
	case v.lacksLegs(o, s):
		// Nothing is learnt of it without them, until they have been asked for in vain: once it has
		// ended, nobody would ask for them any more.
		if x := v.of(o); x.sending || time.Since(x.ended) < legsPatience {
			return false, nil
		}
		if err := v.restate(o, o.Status, book.Because(book.NoLegs)); err != nil {
			return false, err
		}
		o = v.Book.Order(id)
		why = reasonBy(o, s)
	}
	switch x := v.of(o); {
	case s.Filled > o.FilledQuantity && s.Average <= 0: // nobody knows yet what was paid
		x.behind = true
		return false, nil
	case s.Filled < o.FilledQuantity && s.Status == Open: // older than what is known, or the broker took something back
		return false, nil
	default:
		x.behind = false
	}
	return true, v.settle(o, s, why)
}

// noteLate notes that the broker still has, or has filled more of, an order that ended in
// the book. It reports whether the order had been given up and is open again; otherwise the
// positions will show what comes of it. Somebody else's order with the same id does not
// count. Locked.
func (v *venue) noteLate(o *book.Order, s State) (again bool) {
	if o.BrokerID == "" && !isOf(o, s) || s.Filled <= o.FilledQuantity && (s.Status != Open || o.BrokerID != "") {
		return false
	}
	v.Book.Remote.Late[o.ID]++
	v.Log.Error("the broker has an order that this book had given up", "order", o.ID, "filled", s.Filled.String())
	return o.BrokerID == "" && o.EndedWithin(book.LateWithin, v.Now())
}

// reasonBy returns the reason that o has by s, besides those that last. The average price of
// what was filled is corrected if it is another one, and not just rounded: by a cent or more, or
// a hundredth of a price below a dollar. As far as is known Alpaca tells averages to six
// decimals, so that less than the last of them is never too much.
func reasonBy(o *book.Order, s State) book.Reason {
	rounding := max(min(exact.One, s.Average)/100, exact.One/1_000_000)
	switch {
	case s.Filled < o.FilledQuantity:
		return book.Because(book.TookBack, s.Word, (o.FilledQuantity - s.Filled).String(), o.FilledQuantity.String())
	case s.Filled == o.FilledQuantity && s.Filled > 0 && s.Average > 0 && (s.Average-*o.AveragePrice).Abs() >= rounding:
		return book.Because(book.Corrected, s.Average.String())
	}
	// The broker's own word is kept where it says more than the status does.
	plain := slices.Contains([]string{"new", "accepted", "partially_filled", "filled", "canceled"}, s.Word)
	if !s.Suspended && (plain || s.Status == Open && (o.Has(book.TurnedUp) || o.Has(book.NoLegs))) {
		return book.Reason{}
	}
	return says(s)
}

// says returns the broker's own word for a status as a reason.
func says(s State) book.Reason {
	if s.Suspended {
		return book.Because(book.Suspended, s.Word)
	}
	return book.Because(book.BrokerSays, s.Word)
}

// lacksLegs reports whether o must have orders beside it at the broker, its legs, that
// neither the book nor s knows. Locked.
func (v *venue) lacksLegs(o *book.Order, s State) bool {
	wanted := o.StopLoss != nil || o.TakeProfit != nil || o.Role == book.RoleOCO && o.Group == o.ID
	known := func(suffix string) bool { return v.Book.Order(o.ID+suffix) != nil }
	return wanted && !o.Has(book.NoLegs) && len(s.Legs) == 0 && s.Status != Rejected && !slices.ContainsFunc([]string{"-sl", "-tp", "-oco"}, known)
}

// ends are the final statuses, and the kind of step by which an order gets them.
var ends = map[Status]struct {
	status book.OrderStatus
	kind   book.Kind
}{
	Filled:    {book.StatusFilled, book.KindFilled}, // perhaps less than was ordered, and the broker says that it is all
	Cancelled: {book.StatusCancelled, book.KindCancelled},
	Rejected:  {book.StatusRejected, book.KindOrderRejected},
}

// settle proposes what o is by s, if anything is new: the status, and what was filled in all
// at which average. No fee is counted: what the broker takes shows in its own account. Locked.
func (v *venue) settle(o *book.Order, s State, why book.Reason) error {
	after, k := *o, book.KindBrokerAnswered
	after.BrokerID, after.UpdatedAt = s.ID, v.Now()
	ev := &book.Event{At: after.UpdatedAt, Order: &after}
	v.explain(ev, why)
	asked := v.of(o).asked
	if s.Status == Cancelled && asked != "" && asked != book.CancelledBy && len(after.Why) == 0 {
		after.Explain(book.Because(asked))
	}
	if s.Filled > o.FilledQuantity {
		if err := v.fill(ev, s); err != nil {
			return err
		}
		k = book.KindFilled
	}
	if end, final := ends[s.Status]; final {
		after.Status, k = end.status, end.kind
	}
	v.adoptLegs(ev, s)
	if ev.Holding == nil && o.Status == after.Status && o.BrokerID == after.BrokerID && after.SameWhy(o) && len(ev.Begin) == 0 {
		return nil
	}
	// An order at a broker is told of once, at its end, unless nobody knows what is left of it.
	if after.Status.Terminal() {
		if s.Filled >= o.FilledQuantity {
			v.Book.Tell(k, ev, asked == book.CancelledBy)
		}
		v.forget(&after)
	}
	return v.Book.Propose(k, ev)
}

// fill puts into ev what s has filled beyond the order of ev. The total and the average
// price are the broker's: what was paid in all, less what was paid before, was paid for the
// rest. Locked.
func (v *venue) fill(ev *book.Event, s State) error {
	o := ev.Order
	exits := slices.ContainsFunc(v.Book.Open[o.Symbol], func(o *book.Order) bool { return o.ReduceOnly })
	if v.Book.Order(o.ID).Unknown() || v.Book.Unsettled(o.Symbol) || exits { // this may be what the report had, or leave exits that are too large
		v.soon()
	}
	r := book.Report{Size: s.Filled - o.FilledQuantity, Price: s.Average, Average: s.Average,
		Mark: book.Quote{At: s.UpdatedAt.UnixMilli(), Source: v.Book.Remote.Name, Synthetic: o.Synthetic}}
	if o.AveragePrice != nil {
		rest := book.Minus(exact.Product(s.Filled, s.Average), exact.Product(o.FilledQuantity, *o.AveragePrice))
		if paid, ok := rest.Per(r.Size); ok && paid > 0 {
			r.Price = paid
		}
	}
	o.Status = book.StatusPartiallyFilled
	if s.Filled >= o.Quantity {
		o.Status = book.StatusFilled
	}
	return v.Book.Fill(ev, r)
}

// adoptLegs adds to ev the legs: orders that the broker made beside the one of s and that
// the book does not know yet. Legs that the book knows of an order that was replaced stay
// with that order. Their ids are made from the parent's, so that a leg that comes twice, by
// the stream and in a report, is the same order. Locked.
func (v *venue) adoptLegs(ev *book.Event, s State) {
	parent := ev.Order
	for _, leg := range s.Legs {
		if v.Book.BrokerIDs[leg.ID] != "" || leg.Limit == 0 && leg.Stop == 0 {
			continue
		}
		// By its prices a leg is a stop_limit, a stop, or else a take profit.
		role, at := book.RoleTakeProfit, leg.Limit
		if leg.Stop != 0 {
			role, at = book.RoleStopLoss, leg.Stop
		}
		o := v.Book.Leg(parent, role, leg.Quantity, at)
		if leg.Stop != 0 && leg.Limit != 0 {
			o.Type, o.Price = book.StopLimit, &leg.Limit
		}
		o.Side, o.Account, o.BrokerID, o.CreatedAt, o.TimeInForce, o.Why = book.Side(leg.Side), parent.Account, leg.ID, parent.CreatedAt, parent.TimeInForce, []book.Reason{says(leg)}
		if leg.Side == string(parent.Side) { // the other order of an oco, and not an exit
			o.ID, o.Role = parent.ID+"-oco", book.RoleOCO
			parent.Group, parent.Role = parent.ID, book.RoleOCO
		}
		if v.Book.Order(o.ID) == nil {
			ev.Open(o)
			parent.Why = slices.DeleteFunc(slices.Clone(parent.Why), func(r book.Reason) bool { return r.Code == book.NoLegs })
		}
	}
}

// restate proposes a status of o, which may be the one it has, with a new reason and
// without a fill. If neither is new, it does nothing. Locked.
func (v *venue) restate(o *book.Order, status book.OrderStatus, why book.Reason) error {
	after := *o
	after.Status, after.UpdatedAt = status, v.Now()
	ev := &book.Event{At: after.UpdatedAt, Order: &after}
	if v.explain(ev, why); status == o.Status && after.SameWhy(o) {
		return nil
	}
	if status.Terminal() && !o.Status.Terminal() {
		v.Book.Tell(book.KindBrokerAnswered, ev, v.of(o).sending && o.When == nil) // who placed it waits for the answer
		v.forget(&after)
	}
	return v.Book.Propose(book.KindBrokerAnswered, ev)
}

// alarming are the reasons that the operator should look into.
var alarming = []book.Code{book.TookBack, book.Corrected, book.OtherByID, book.NoLegs, book.Suspended}

// explain gives the order of ev a reason, and logs one that is new and alarming. Locked.
func (v *venue) explain(ev *book.Event, why book.Reason) {
	if ev.Order.Explain(why); slices.Contains(alarming, why.Code) && !ev.Order.SameWhy(v.Book.Order(ev.Order.ID)) {
		v.Log.Error("the broker says something of an order that is not as it should be", "order", ev.Order.ID, "what", why.String())
	}
}
