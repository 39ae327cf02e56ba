package trade

import (
	"strings"

	"wick/broker"
)

// What the reason of an order at a broker elsewhere says, as far as several files need it.

// brokerSays begins a reason in the words of the broker, or of what it did.
const brokerSays = "at the broker: "

// lateReason is the reason of an order that was given up and then turned up.
const lateReason = "it had been given up, and is at the broker after all"

// bareReason is the reason of an order that must have others beside it, which the broker
// did not name.
const bareReason = "at the broker: it named no orders beside this one for a minute; look there whether its exits exist"

// toldAt begins what the reason of an order says of a fill whose price cannot be right.
const toldAt = "a fill was told at "

// itsAverage begins what the reason of an order goes on with if its average is another one at
// the broker: because it was corrected, or as it is now, if that is not sure.
const (
	itsAverage  = "its average price "
	correctedTo = itsAverage + "was corrected to "
	nowAt       = itsAverage + "is now "
)

// Unknown reports whether o was given to a broker that has not answered yet.
func (o *Order) Unknown() bool { return o.Account != "" && o.BrokerID == "" && !o.Status.Terminal() }

// lasting returns the reason of o if it stays when the broker says more, else "".
func (o *Order) lasting() string {
	for _, begin := range []string{lateReason, bareReason} {
		if strings.HasPrefix(o.Reason, begin) {
			lasting, _, _ := strings.Cut(o.Reason, "; "+itsAverage)
			return lasting
		}
	}
	return also("", o.told())
}

// told returns what the reason of o says of a fill whose price cannot be right, or "".
func (o *Order) told() string {
	i := strings.Index(o.Reason, toldAt)
	if i < 0 {
		return ""
	}
	told, _, _ := strings.Cut(o.Reason[i:], "; "+itsAverage)
	return told
}

// averageNow returns what the reason of o goes on with if its average is another one by s. The
// fills are those that were told with s.
func (o *Order) averageNow(s broker.State, fills []broker.Fill) string {
	if strings.Contains(o.Reason, nowAt) || o.refilled(fills) {
		return nowAt + s.Average.String()
	}
	return correctedTo + s.Average.String()
}

// refilled reports whether one of fills has the total of the last one that is known of o and
// is another one: then the exchange took something back meanwhile, and o was filled anew.
func (o *Order) refilled(fills []broker.Fill) bool {
	for _, f := range fills {
		known := o.Execution == "" || f.Execution == "" || execution(f.Execution) == execution(o.Execution)
		if f.OrderID == o.BrokerID && f.Total == o.FilledQuantity && !known {
			return true
		}
	}
	return false
}

// execution returns the id of a fill as the stream tells it. A report puts a time before it.
func execution(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }

// also returns a reason that says something of the broker besides what it said, if there is
// something.
func also(reason, what string) string {
	switch {
	case what == "":
		return reason
	case reason == "":
		return brokerSays + what
	}
	return reason + "; " + what
}

// noting returns the lasting reason of o with a note of a fill, which takes the place of one
// of an earlier fill.
func (o *Order) noting(note string) string {
	reason := o.lasting()
	if note == "" {
		return reason
	}
	reason, _, _ = strings.Cut(reason, "; "+toldAt)
	if strings.HasPrefix(reason, brokerSays+toldAt) {
		reason = ""
	}
	return also(reason, note)
}
