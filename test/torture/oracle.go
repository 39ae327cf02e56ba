//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"wick/trade/book"
)

// oracle remembers what was asked and what was acknowledged.
type oracle struct {
	mu         sync.Mutex
	orders     map[string]*orderNote // by client_order_id, or order_id if it has none
	alerts     map[string]*alertNote // by alert_id
	lostAlerts int                   // set_alert calls without an answer: that many unknown alerts may exist
	setting    int                   // set_alert calls under way: an alert may fire before the answer is here
	delivered  map[string]string     // alert to event id
	lastEvent  string
	wrong      error // the first contradiction that a trader saw

	resting []*orderNote // open orders nobody has tried to cancel
	waiting []string     // alerts nobody has tried to cancel

	gone map[string]bool // ids that were given out in a time that a restored backup has undone

	came, late  int            // orders whose rule became true, at the end, and those that came late
	price       big.Rat        // the newest that was paid
	placed      map[string]int // orders acknowledged, by kind
	acked, lost int
}

// clone returns a copy that shares nothing that changes.
func (o *oracle) clone() *oracle {
	c := newOracle()
	c.lostAlerts, c.acked, c.lost = o.lostAlerts, o.acked, o.lost
	same := make(map[*orderNote]*orderNote)
	for id, note := range o.orders {
		n := *note
		c.orders[id], same[note] = &n, &n
	}
	for id, note := range o.alerts {
		n := *note
		c.alerts[id] = &n
	}
	maps.Copy(c.delivered, o.delivered)
	for _, note := range o.resting {
		c.resting = append(c.resting, same[note])
	}
	c.waiting = slices.Clone(o.waiting)
	return c
}

// goBack forgets all that happened since the backup was taken to which saved belongs, but
// keeps the ids that were given out and the event that the listener saw last.
func (o *oracle) goBack(saved *oracle) {
	for id, note := range o.orders {
		if note.seen != nil && (saved.orders[id] == nil || saved.orders[id].seen == nil) {
			o.gone[note.seen.ID] = true
		}
	}
	for id := range o.alerts {
		if saved.alerts[id] == nil {
			o.gone[id] = true
		}
	}
	o.orders, o.alerts, o.delivered = saved.orders, saved.alerts, saved.delivered
	o.resting, o.waiting, o.lostAlerts = saved.resting, saved.waiting, saved.lostAlerts
}

type orderNote struct {
	sent                  []string // the terms of the request; none of an order that wick made
	seen                  *order   // as last acknowledged or shown
	cancelled, cancelSent bool
	refused               bool // wick said that it was not done
}

type alertNote struct {
	cancelled, cancelSent, fired bool
	at                           time.Time       // when one on a time is to fire; zero for another
	readBy                       map[string]bool // tokens of the logins that drained it; each reads for itself
}

func newOracle() *oracle {
	return &oracle{orders: map[string]*orderNote{}, alerts: map[string]*alertNote{}, delivered: map[string]string{}, gone: map[string]bool{}, placed: map[string]int{}}
}

func (o *oracle) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	fired := 0
	for _, a := range o.alerts {
		if a.fired {
			fired++
		}
	}
	return fmt.Sprintf("%d acknowledged, %d in flight when killed, %d orders, %d alerts, %d fired, %d pushed",
		o.acked, o.lost, len(o.orders), len(o.alerts), fired, len(o.delivered))
}

func (o *oracle) problem() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrong
}

// operate does one random thing. It returns false when the process has ended.
func (o *oracle) operate(c *client, rng *rand.Rand, prefix string) bool {
	switch rng.IntN(8) {
	case 0, 1, 2:
		if o.crowded() && !o.cancelOrder(c) {
			return false
		}
		return o.place(c, rng, fmt.Sprintf("%s-%d", prefix, rng.Uint64()))
	case 3:
		return o.cancelOrder(c)
	case 4, 5:
		return o.setAlert(c, rng)
	case 6:
		return o.cancelAlert(c)
	}
	var fired []struct {
		Alert string `json:"alert_id"`
	}
	err := c.call("get_notifications", nil, &fired)
	if err != nil {
		return o.note(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked++
	for _, n := range fired {
		if n.Alert == "" { // of an order that ended
			continue
		}
		note := o.alert(n.Alert)
		if note.readBy[c.Token] && o.wrong == nil {
			o.wrong = fmt.Errorf("alert %s was drained twice by one login", n.Alert)
		}
		if note.readBy == nil {
			note.readBy = make(map[string]bool)
		}
		note.fired, note.readBy[c.Token] = true, true
	}
	return true
}

// crowded reports whether many orders are open.
func (o *oracle) crowded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.resting) > maxResting
}

// note counts a failed call and says whether the process still answers.
func (o *oracle) note(err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(err, errTool) {
		return true
	}
	o.lost++
	return false
}

// setAlert sets an alert that fires at the next price or in a moment, or one that never fires.
func (o *oracle) setAlert(c *client, rng *rand.Rand) bool {
	o.mu.Lock()
	many := len(o.waiting) > book.MaxAlerts/3
	o.mu.Unlock()
	if many { // at the bound on active alerts, among which are those without an answer, every further one would be refused
		return o.cancelAlert(c)
	}
	condition, at := map[string]any{"price_below": 0.01}, time.Time{}
	switch rng.IntN(8) {
	case 0, 1:
		condition = map[string]any{"price_above": 0.01}
	case 2:
		at = time.Now().Add(time.Duration(2+rng.IntN(5)) * time.Second).Truncate(time.Second)
		condition = map[string]any{"at": at.UTC().Format(time.RFC3339)}
	}
	var set struct {
		ID string `json:"alert_id"`
	}
	o.mu.Lock()
	o.setting++
	o.mu.Unlock()
	err := c.call("set_alert", map[string]any{"symbol": "BTCUSDT", "condition": condition}, &set)
	o.mu.Lock()
	o.setting--
	if o.alerts[set.ID] != nil { // met before its answer
		o.lostAlerts++
	}
	o.mu.Unlock()
	if err != nil {
		alive := o.note(err)
		o.mu.Lock()
		defer o.mu.Unlock()
		if !alive {
			o.lostAlerts++
		}
		return alive
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked++
	if o.gone[set.ID] && o.wrong == nil {
		o.wrong = fmt.Errorf("alert id %s was given out again after a restore", set.ID)
	}
	if o.alerts[set.ID] == nil { // the stream may have been faster
		o.alerts[set.ID] = &alertNote{}
	}
	o.alerts[set.ID].at = at
	o.waiting = append(o.waiting, set.ID)
	return true
}

func (o *oracle) cancelAlert(c *client) bool {
	o.mu.Lock()
	if len(o.waiting) == 0 {
		o.mu.Unlock()
		return true
	}
	id := o.waiting[0]
	o.waiting, o.alerts[id].cancelSent = o.waiting[1:], true
	o.mu.Unlock()
	var done struct{ OK bool }
	if err := c.call("cancel_alert", map[string]any{"alert_id": id}, &done); err != nil {
		return o.note(err) // refused: it has fired meanwhile
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked++
	o.alerts[id].cancelled = true
	return true
}

// listen reads the push stream. The same event may come again; the same alert
// under another event may not.
func (o *oracle) listen(ctx context.Context, c *client) {
	o.mu.Lock()
	last := o.lastEvent
	o.mu.Unlock()
	c.stream(ctx, last, func(id, alert string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if first, ok := o.delivered[alert]; ok && first != id && o.wrong == nil {
			o.wrong = fmt.Errorf("alert %s was pushed as %s and as %s", alert, first, id)
		}
		o.delivered[alert], o.lastEvent = id, id
	})
}

// alert returns the note of an alert. It makes one for an alert whose set_alert got no
// answer and that is seen here for the first time. Called with mu held.
func (o *oracle) alert(id string) *alertNote {
	n := o.alerts[id]
	if n == nil {
		n = &alertNote{}
		o.alerts[id] = n
		if o.lostAlerts--; o.lostAlerts+o.setting < 0 && o.wrong == nil {
			o.wrong = fmt.Errorf("alert %s exists and nobody set it", id)
		}
	}
	return n
}

// settle waits until all that fired was pushed and no order is open whose time is
// over. It compares all orders once, then as many as most.
func (o *oracle) settle(c *client, most int) error {
	if err := o.compare(c, allOrders); err != nil {
		return err
	}
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if err := o.compare(c, most); err != nil {
			return err
		}
		o.came, o.late = 0, 0
		waits, err := o.verifyRules(c)
		if err != nil {
			return err
		}
		missing := ""
		o.mu.Lock()
		for id, a := range o.alerts {
			if a.fired && o.delivered[id] == "" {
				missing = id
			}
		}
		o.mu.Unlock()
		late, silent := o.overdue(), o.overdueAlert()
		if missing == "" && late == "" && silent == "" && waits == "" {
			return nil
		}
		if time.Now().After(deadline) && silent+waits != "" {
			return fmt.Errorf("the time of alert %q is over, or the rule of order %q became true, and nothing follows", silent, waits)
		}
		if time.Now().After(deadline) && late != "" {
			return fmt.Errorf("order %q is open and its time is over", late)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("alert %s fired and was never pushed", missing)
		}
	}
}
