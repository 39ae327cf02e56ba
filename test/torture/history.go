//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// step is one operation on an order or an alert as its client saw it, for a
// checker of linearizability.
type step struct {
	Client int    `json:"client"`
	ID     string `json:"id"`
	Op     string `json:"op"`     // place, cancel or read
	Call   int64  `json:"call"`   // nanoseconds since the beginning
	Return int64  `json:"return"` // 0 if the outcome is not known
	Result string `json:"result"` // done, refused, nothing, unknown; of a read: absent, open, gone
}

// The ids of a history's orders and alerts begin with these; the oracle leaves
// them alone.
const (
	historyOrder = "order-"
	historyAlert = "alert-"
)

// history gathers the steps of all clients on some orders and alerts at a time.
type history struct {
	began time.Time

	mu      sync.Mutex
	steps   []step // guarded by mu, like all below
	clients int
	named   int
	current []string          // ids that are operated on
	ids     map[string]string // wick's ids by the client's
}

// operate does one random thing with one of the ids and notes it. Ids that begin
// with "alert" are alerts, the others orders.
func (h *history) operate(c *client, rng *rand.Rand) {
	h.mu.Lock()
	if len(h.current) < 4 || rng.IntN(20) == 0 {
		h.named++
		kind := []string{historyOrder, historyAlert}[rng.IntN(2)]
		h.current = append(h.current, fmt.Sprintf("%s%d-%d", kind, h.named, rng.Uint32()))
		h.current = h.current[max(0, len(h.current)-4):]
	}
	id := h.current[rng.IntN(len(h.current))]
	h.clients++
	s := step{Client: h.clients, ID: id, Op: []string{"place", "cancel", "read", "read"}[rng.IntN(4)]}
	target := h.ids[id]
	h.mu.Unlock()
	if s.Op == "cancel" && target == "" {
		return // nobody knows its id yet
	}
	s.Call = int64(time.Since(h.began))
	s.Result = h.run(c, &s, target)
	if s.Result == "" {
		return // a read without an answer, or one that may be old, says nothing
	}
	if s.Result != "unknown" {
		s.Return = int64(time.Since(h.began))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, s)
}

// run does a step and returns its result.
func (h *history) run(c *client, s *step, target string) string {
	if strings.HasPrefix(s.ID, historyAlert) {
		return h.runAlert(c, s, target)
	}
	switch s.Op {
	case "place":
		var got order
		err := c.call("place_order", map[string]any{"symbol": "BTCUSDT", "side": "buy", "type": "limit", "price": "5", "quantity": "0.001", "client_order_id": s.ID}, &got)
		h.name(s.ID, got.ID)
		return outcome(err)
	case "cancel":
		return outcome(c.call("cancel_order", map[string]any{"order_id": target}, new(struct{})))
	}
	var found []order
	err := c.call("get_orders", map[string]any{"order_id": s.ID}, &found)
	switch {
	case err != nil && strings.Contains(err.Error(), "no order") && !strings.Contains(err.Error(), "out of date"):
		return "absent"
	case err != nil || len(found) != 1 || c.stale:
		return ""
	case found[0].Status == "open":
		return "open"
	}
	return "gone"
}

// name notes the id that wick gave, if it did.
func (h *history) name(client, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids == nil {
		h.ids = make(map[string]string)
	}
	if id != "" {
		h.ids[client] = id
	}
}

func (h *history) runAlert(c *client, s *step, target string) string {
	var alert struct {
		ID string `json:"alert_id"`
	}
	switch s.Op {
	case "place":
		err := c.call("set_alert", map[string]any{"symbol": "BTCUSDT", "condition": map[string]any{"price_below": 0.01}, "client_alert_id": s.ID}, &alert)
		h.name(s.ID, alert.ID)
		return outcome(err)
	case "cancel":
		return outcome(c.call("cancel_alert", map[string]any{"alert_id": target}, new(struct{})))
	}
	if target == "" {
		return ""
	}
	alerts, err := list[struct {
		ID string `json:"alert_id"`
	}](c, "list_alerts", nil, 100, pageSize)
	if err != nil || c.stale || len(alerts) >= pageSize {
		return ""
	}
	for _, a := range alerts {
		if a.ID == target {
			return "open"
		}
	}
	return "gone"
}

// noLeader matches what wick says when it could not write, and did not: that says nothing
// about the order.
var noLeader = regexp.MustCompile(`nothing was done|does not write|storage failed`)

// outcome sums up a write.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, errTool) && noLeader.MatchString(err.Error()):
		return "nothing"
	case errors.Is(err, errTool):
		return "refused"
	}
	return "unknown"
}

// write stores the history as a line of JSON per step.
func (h *history) write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	for _, s := range h.steps {
		if err := out.Encode(s); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	fmt.Printf("%d steps on %d orders and alerts are in %s\n", len(h.steps), h.named, name)
	return f.Close()
}
