package trade

import "strings"

// What the reason of an order at a broker elsewhere says, as far as several files need it.

// brokerSays begins a reason in the words of the broker, or of what it did.
const brokerSays = "at the broker: "

// lateReason is the reason of an order that was given up and then turned up.
const lateReason = "it had been given up, and is at the broker after all"

// bareReason is the reason of an order that must have others beside it, which the broker
// did not name.
const bareReason = "at the broker: it named no orders beside this one for a minute; look there whether its exits exist"

// correctedTo is what the reason of an order goes on with if its average price has become
// another one at the broker.
const correctedTo = "its average price was corrected to "

// Unknown reports whether o was given to a broker that has not answered yet.
func (o *Order) Unknown() bool { return o.Account != "" && o.BrokerID == "" && !o.Status.Terminal() }

// lasting returns the reason of o if it stays when the broker says more, else "".
func (o *Order) lasting() string {
	for _, lasting := range []string{lateReason, bareReason} {
		if strings.HasPrefix(o.Reason, lasting) {
			return lasting
		}
	}
	return ""
}

// also returns a reason that says something of the broker besides what it said.
func also(reason, what string) string {
	if reason == "" {
		return brokerSays + what
	}
	return reason + "; " + what
}
