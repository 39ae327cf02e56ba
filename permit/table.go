package permit

// Rule says what an action needs.
type Rule struct {
	Action   string
	Scope    Scope
	Approval string // when a person's yes is needed; empty for never
	Doors    []Door
}

// The doors of a kind of action.
var (
	calls  = []Door{HTTP, Stdio, Attach}          // answered where they arrive
	writes = []Door{HTTP, Stdio, Attach, Replica} // passed to the replica that leads
	owners = []Door{Socket, Page}
	halts  = []Door{Socket, Page, Replica}
	peers  = []Door{Replica}
)

// Table is every action of the program: tools, resources, what the owner may do, and what
// replicas ask of one another.
var Table = []Rule{
	{"generate_chart", Charts, "", calls},
	{"list_indicators", Charts, "", calls},
	{"get_indicators", Charts, "", calls},
	{"place_order", Trade, "above --confirm-above within an hour; at a broker always, unless that is set", writes},
	{"cancel_order", Trade, "", writes},
	{"get_orders", Read, "", calls},
	{"get_positions", Read, "", calls},
	{"get_balance", Read, "", calls},
	{"set_alert", Trade, "", writes},
	{"list_alerts", Read, "", calls},
	{"cancel_alert", Trade, "", writes},
	{"get_notifications", Read, "", writes},
	{"subscribe_notifications", Read, "", writes},
	{"unsubscribe_notifications", Read, "", writes},
	{"list_subscriptions", Read, "", calls},
	{"wick://guide", Charts, "", calls},
	{"wick://chart/{symbol}/{interval}", Charts, "", calls},
	{"wick://indicators/{name}", Charts, "", calls},
	{"wick://alerts", Read, "", calls},
	{"wick://positions", Read, "", calls},
	{"wick://orders", Read, "", calls},
	{"ui://wick/chart.html", Charts, "", calls},
	{"ui://wick/positions.html", Charts, "", calls},
	{"ui://wick/alerts.html", Charts, "", calls},
	{"attach", Owner, "", []Door{Socket}},
	{"health", Owner, "", owners},
	{"clients", Owner, "", owners},
	{"revoke", Owner, "", owners},
	{"halt", Owner, "", halts},
	{"resume", Owner, "", halts},
	{"cancel", Owner, "", halts},
	{"accept-positions", Owner, "", owners},
	{"audit", Owner, "", owners},
	{"approvals", Owner, "", owners},
	{"approve", Owner, "a yes needs the passphrase", owners},
	{"letters", Owner, "", owners},
	{"tell", Peer, "", peers},
	{"revoked", Peer, "", peers},
	{"claim", Peer, "", peers},
	{"marks", Peer, "", peers},
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
