package permit

import "strings"

// Rule says what an action needs.
type Rule struct {
	Action   string
	Scope    Scope
	Approval string // when a person's yes is needed; empty for never
	Doors    []Door
}

// Table is every action of the program: tools, resources, what the owner may do, and what
// replicas ask of one another. Calls that change the account are passed to the replica that
// leads.
var Table = expand([]Rule{
	{"generate_chart list_indicators get_indicators", Charts, "", []Door{HTTP, Stdio, Attach}},
	{"get_orders get_positions get_balance list_alerts list_subscriptions", Read, "", []Door{HTTP, Stdio, Attach}},
	{"get_notifications subscribe_notifications unsubscribe_notifications", Read, "", []Door{HTTP, Stdio, Attach, Replica}},
	{"place_order", Trade, "above --confirm-above within an hour, or of unknown worth; at a broker always, unless that is set", []Door{HTTP, Stdio, Attach, Replica}},
	{"cancel_order set_alert cancel_alert", Trade, "", []Door{HTTP, Stdio, Attach, Replica}},
	{"wick://guide wick://chart/{symbol}/{interval} wick://indicators/{name} wick://symbols/{query}", Charts, "", []Door{HTTP, Stdio, Attach}},
	{"prompts/get completion/complete", Charts, "", []Door{HTTP, Stdio, Attach}},
	{"ui://wick/chart.html ui://wick/positions.html ui://wick/alerts.html", Charts, "", []Door{HTTP, Stdio, Attach}},
	{"wick://alerts wick://positions wick://orders wick://trades", Read, "", []Door{HTTP, Stdio, Attach}},
	{"attach", Owner, "", []Door{Socket}},
	{"health clients revoke accept-positions audit letters approvals", Owner, "", []Door{Socket, Page}},
	{"approve", Owner, "a yes needs the passphrase", []Door{Socket, Page}},
	{"halt resume cancel", Owner, "", []Door{Socket, Page, Replica}},
	{"tell claim marks", Peer, "", []Door{Replica}},
})

// expand returns a rule for each of the actions that a row names.
func expand(rows []Rule) (all []Rule) {
	for _, r := range rows {
		for action := range strings.FieldsSeq(r.Action) {
			all = append(all, Rule{action, r.Scope, r.Approval, r.Doors})
		}
	}
	return all
}

// rules is Table by action.
var rules = func() map[string]Rule {
	all := make(map[string]Rule)
	for _, r := range Table {
		all[r.Action] = r
	}
	return all
}()

// Needs returns the scope that an action needs, or "" for one that is not in the table.
func Needs(action string) Scope { return rules[action].Scope }
