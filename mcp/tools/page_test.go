package tools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/indicators"
	"wick/internal/exact"
	"wick/trade"

	"wick/mcp"
	"wick/trade/book"
)

var offsetHint = regexp.MustCompile(`offset=(\d+)`)

// walk reads a list page by page as its second text says, and returns the ids
// in the order they came.
func (d *desk) walk(tool, arguments, id string) (ids []string) {
	d.t.Helper()
	for offset := "0"; ; {
		var items []map[string]any
		r := d.reply(trader, tool, fmt.Sprintf(`{%s"offset":%s}`, arguments, offset), &items)
		if n := len(r.Content[0].Text); n > 25_000 {
			d.t.Errorf("%s: a page has %d characters", tool, n)
		}
		for _, item := range items {
			ids = append(ids, item[id].(string))
		}
		hint := []string{}
		if len(r.Content) > 1 {
			hint = offsetHint.FindStringSubmatch(string(r.Content[1].Text))
		}
		if len(hint) == 0 {
			return ids
		}
		if next, err := strconv.Atoi(hint[1]); err != nil || next != len(ids) {
			d.t.Fatalf("%s: after %d items the hint is %s", tool, len(ids), hint[1])
		}
		offset = hint[1]
	}
}

// TestPages: lists come newest first in pages of about 20,000 characters, and
// following the second text gives every item once.
func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var orders, alerts []string
		for i := range 150 {
			var reply struct {
				OrderID string `json:"order_id"`
				AlertID string `json:"alert_id"`
			}
			d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":5.%03d,"client_order_id":"c%d"}`, i+1, i), &reply)
			orders = append(orders, reply.OrderID)
			d.reply(trader, "set_alert", fmt.Sprintf(`{"symbol":"HBARUSDT","condition":{"price_below":0.%03d}}`, i+1), &reply)
			alerts = append(alerts, reply.AlertID)
			time.Sleep(time.Second)
		}
		slices.Reverse(orders)
		slices.Reverse(alerts)
		if got := d.walk("get_orders", "", "order_id"); !slices.Equal(got, orders) {
			t.Errorf("orders came as %q", got)
		}
		if got := d.walk("get_orders", `"limit":7,"filter":"open",`, "order_id"); !slices.Equal(got, orders) {
			t.Errorf("orders by seven came as %q", got)
		}
		if got := d.walk("list_alerts", "", "alert_id"); !slices.Equal(got, alerts) {
			t.Errorf("alerts came as %q", got)
		}
		var items []any
		if d.reply(trader, "get_orders", `{"limit":150}`, &items); len(items) != 150 {
			t.Errorf("an explicit limit of 150 gave %d", len(items))
		}
		if _, err := d.call(trader, "get_orders", `{"limit":501}`); err == nil || !strings.Contains(err.Error(), "1 to 500") {
			t.Errorf("a limit past maxPage: %v", err)
		}
		if d.reply(trader, "get_orders", `{"offset":150}`, &items); len(items) != 0 {
			t.Errorf("past the end there are %d", len(items))
		}
	})
}

// TestPagesReachArchive: pages of get_orders reach every order, also those that are no longer
// in memory, which holds the 10,000 that ended last.
func TestPagesReachArchive(t *testing.T) {
	const orders = 10_700
	dir := t.TempDir()
	d := openDesk(t, dir, func(o *trade.Options) { o.Limits.OrdersPerSecond = 1_000_000 })
	var g errgroup.Group
	g.SetLimit(64) // one sync for many of them
	for i := range orders {
		g.Go(func() error {
			_, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "HBARUSDT", Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: 7 * exact.One,
				TimeInForce: book.IOC, ClientOrderID: fmt.Sprint("c", i)})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	d.stop() // after which the oldest leave memory
	d = openDesk(t, dir)
	defer d.stop()
	for _, arguments := range []string{`"limit":500,`, `"limit":499,"filter":"cancelled","symbol":"HBARUSDT",`} {
		seen := make(map[string]bool)
		for offset, more := 0, true; more; {
			var items []struct {
				ID string `json:"client_order_id"`
			}
			r := d.reply(trader, "get_orders", fmt.Sprintf(`{%s"offset":%d}`, arguments, offset), &items)
			for _, item := range items {
				seen[item.ID] = true
			}
			offset += len(items)
			if more = len(items) > 0; more && (len(r.Content) > 1) != (offset < orders) {
				t.Fatalf("after %d of %d: %s", offset, orders, r.Content[1:])
			}
		}
		if len(seen) != orders {
			t.Errorf("{%s} reaches %d orders of %d", arguments, len(seen), orders)
		}
	}
}

// fire sets n alerts that fire at once and returns their ids, oldest first.
func (d *desk) fire(n int) (ids []string) {
	for range n {
		var alert struct {
			ID string `json:"alert_id"`
		}
		d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":0.01}}`, &alert)
		ids = append(ids, alert.ID)
	}
	time.Sleep(5 * time.Second)
	return ids
}

// TestNotificationPages: notifications come oldest first, and a call drains what
// it returns and no more.
func TestNotificationPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		ids := d.fire(250)
		var got []string
		for pending := len(ids); pending > 0; {
			var items []struct {
				ID string `json:"alert_id"`
			}
			r := d.reply(trader, "get_notifications", `{}`, &items)
			if n := len(r.Content[0].Text); n > 25_000 || len(items) == 0 {
				t.Fatalf("a page of %d has %d characters", len(items), n)
			}
			for _, item := range items {
				got = append(got, item.ID)
			}
			pending -= len(items)
			if left := d.engine.PendingNotifications(trader.Key()); left != pending {
				t.Fatalf("%d are left after %d of %d were returned", left, len(got), len(ids))
			}
			if said := len(r.Content) > 1 && strings.HasPrefix(string(r.Content[1].Text), fmt.Sprint(pending, " more")); said != (pending > 0) {
				t.Errorf("%d are left and the reply says %s", pending, r.Content[1:])
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("came as %q", got)
		}
		if again := d.walk("get_notifications", `"again":true,"limit":40,`, "alert_id"); !slices.Equal(again, ids) {
			t.Errorf("read again as %q", again)
		}
		var items []any
		const follow = "249 more notifications, read before or not: call get_notifications again with again=true and offset=1 for the next ones"
		if r := d.reply(trader, "get_notifications", `{"again":true,"limit":1}`, &items); !strings.HasPrefix(string(r.Content[1].Text), follow) {
			t.Errorf("of those read before the reply says %q", r.Content[1].Text)
		}
		d.fire(3)
		if d.reply(trader, "get_notifications", `{"limit":2,"offset":2}`, &items); len(items) != 2 || d.engine.PendingNotifications(trader.Key()) != 1 {
			t.Errorf("%d returned, %d left of 3: an offset must not skip what nobody has read", len(items), d.engine.PendingNotifications(trader.Key()))
		}
	})
}

// TestReplyBound: no tool answers with more than 25,000 characters unless more
// was asked for; the whole catalogue has a bound of its own.
func TestReplyBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for i := range 120 {
			d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":5.%03d}`, i+1), new(any))
			d.reply(trader, "set_alert", fmt.Sprintf(`{"symbol":"HBARUSDT","condition":{"price_below":0.%03d}}`, i+1), new(any))
			time.Sleep(time.Second)
		}
		d.fire(200)
		for _, c := range boundCalls() {
			r, err := d.call(trader, c[0], c[1])
			size := 0
			if err != nil {
				size = len(err.Error())
			} else {
				for _, item := range r.Content {
					size += len(item.Text)
				}
			}
			if size > 25_000 && // replySize and its envelope
				c[0]+c[1] != "list_indicators{}" || size > 72_000 { // maxCatalog
				t.Errorf("%s %.200s: %d characters", c[0], c[1], size)
			}
		}
	})
}

// boundCalls returns calls that could make long replies.
func boundCalls() (calls [][2]string) {
	add := func(tool, arguments string) { calls = append(calls, [2]string{tool, arguments}) }
	for _, tool := range []string{"get_orders", "get_positions", "list_alerts", "get_notifications", "list_subscriptions", "list_indicators"} {
		add(tool, `{}`)
	}
	add("get_notifications", `{"again":true}`)
	for _, query := range []string{"average", "a", "length", "oversold", "source", "the of"} {
		add("list_indicators", `{"query":`+encode(query)+`}`)
	}
	for _, category := range indicators.Categories() {
		add("list_indicators", `{"category":`+encode(category)+`}`)
	}
	var names, symbols []string
	for ind := range indicators.All() {
		names = append(names, ind.Name)
	}
	for i := range maxSymbols {
		symbols = append(symbols, fmt.Sprintf("SYM%dUSDT", i))
	}
	add("list_indicators", `{"names":`+encode(names[:50])+`}`)
	if testing.Short() {
		names = names[:2*maxIndicators]
	}
	for group := range slices.Chunk(names, maxIndicators) {
		add("generate_chart", `{"symbol":"HBARUSDT","format":"summary","bars":2000,"indicators":`+encode(group)+`}`)
		add("get_indicators", `{"symbol":"HBARUSDT","bars":2000,"indicators":`+encode(group)+`}`)
	}
	add("get_indicators", `{"bars":200,"symbols":`+encode(symbols)+`,"indicators":`+encode(names[:maxIndicators])+`}`)
	return calls
}

// TestAlertsResourceFits: the two lists of wick://alerts share the characters of one
// reply. Each may have half of them, and what one does not need is the other's.
func TestAlertsResourceFits(t *testing.T) {
	for _, c := range []struct {
		waiting, fired       int
		cutWaiting, cutFired bool
	}{{3, 3, false, false}, {220, 3, true, false}, {3, 150, false, true}, {220, 150, true, true}} {
		synctest.Test(t, func(t *testing.T) {
			d := openDesk(t, t.TempDir())
			defer d.stop()
			time.Sleep(3 * time.Second)
			for i := range c.waiting {
				d.reply(trader, "set_alert", fmt.Sprintf(`{"symbol":"HBARUSDT","condition":{"price_below":0.%03d}}`, i+1), &struct{}{})
			}
			d.fire(c.fired)
			var read contents
			ask(t, d.protocol(func(string) {}), trader, "resources/read", `{"uri":"wick://alerts"}`, &read)
			text := read.Contents[0].Text
			var got struct {
				Waiting, Fired []json.RawMessage
				MoreWaiting    int `json:"more_waiting"`
				MoreFired      int `json:"more_fired"`
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Waiting)+got.MoreWaiting != c.waiting || len(got.Fired)+got.MoreFired != c.fired || (got.MoreWaiting > 0) != c.cutWaiting || (got.MoreFired > 0) != c.cutFired {
				t.Errorf("%v: %d waiting and %d more, %d fired and %d more", c, len(got.Waiting), got.MoreWaiting, len(got.Fired), got.MoreFired)
			}
			if n := len(text); n > replySize+100 || (c.cutWaiting || c.cutFired) && n < replySize*9/10 {
				t.Errorf("%v: %d characters", c, n)
			}
		})
	}
}

// TestOwnPlace: each login has its own place in the queue of fired alerts: one that polls
// silences no other, and is reminded of no alert that it has read. After a restart each goes
// on where it was.
func TestOwnPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := openDesk(t, dir)
		other := mcp.Caller{ID: "token-2", Client: trader.Client, Scope: trader.Scope, Door: "http"}
		read := func(c mcp.Caller) int {
			t.Helper()
			var items []struct {
				ID string `json:"alert_id"`
			}
			d.reply(c, "get_notifications", `{}`, &items)
			return len(items)
		}
		d.fire(3)
		if n := read(trader); n != 3 {
			t.Errorf("the first reads %d of 3", n)
		}
		var ignored []any
		if r := d.reply(trader, "get_positions", `{}`, &ignored); len(r.Content) != 1 {
			t.Errorf("the first is reminded: %s", r.Content[1].Text)
		}
		if r := d.reply(other, "get_positions", `{}`, &ignored); len(r.Content) != 2 {
			t.Error("the other is not reminded")
		}
		d.fire(1)
		d.stop()
		d = openDesk(t, dir)
		defer d.stop()
		if one, two := read(trader), read(other); one != 1 || two != 4 {
			t.Errorf("after a restart the first reads %d and the other %d, want 1 and 4", one, two)
		}
		if one, two := read(trader), read(other); one+two != 0 {
			t.Errorf("then they read %d and %d", one, two)
		}
		d.fire(1)
		if n := read(trader); n != 1 {
			t.Errorf("the first reads %d of 1", n)
		}
		time.Sleep(2 * time.Hour)
		if n := read(other); n != 0 {
			t.Errorf("what was read two hours ago is read again: %d", n)
		}
	})
}
