//go:build unix

package main

import (
	"fmt"
	"time"
)

// verifyGroups checks orders that depend on each other: an order that was replaced has
// ended, and of orders that exclude each other at most one was filled, and all are open or
// none is. Called with mu held.
func (o *oracle) verifyGroups(byID map[string]*order) error {
	groups, replaced := make(map[string][]*order), make(map[string]bool)
	for _, got := range byID {
		if got.Role != "" {
			groups[got.Group] = append(groups[got.Group], got)
		}
		if got.Replaces == "" {
			continue
		}
		old := byID[got.Replaces]
		if old == nil || old.Status != "cancelled" || replaced[old.ID] {
			return fmt.Errorf("order %s has replaced %s, which is %+v and was replaced before: %t", got.ID, got.Replaces, old, replaced[got.Replaces])
		}
		replaced[old.ID] = true
	}
	for id, members := range groups {
		if err := verifyGroup(byID[id], members, replaced); err != nil {
			return fmt.Errorf("orders of %s: %w", id, err)
		}
	}
	for id, entry := range byID {
		protects := entry.Filled.Sign() > 0 && entry.exits() > 0
		if protects && groups[id] == nil && entry.ReasonCode != "only_closed" { // one that only closed a position says so
			return fmt.Errorf("entry %s was filled and has no exits", id)
		}
	}
	return nil
}

// exits returns how many exits o has if it is the entry of a bracket.
func (o *order) exits() (n int) {
	if o.StopLoss != nil {
		n++
	}
	if o.TakeProfit != nil {
		n++
	}
	return n
}

// verifyGroup checks the orders of one group. The first is the one that the group
// is named after: the entry of a bracket, or the limit of an oco.
func verifyGroup(first *order, members []*order, replaced map[string]bool) error {
	var open, filled, current int
	for _, m := range members {
		if m.open() {
			open++
		}
		if m.Filled.Sign() > 0 {
			filled++
		}
		if !replaced[m.ID] {
			current++
		}
	}
	want := 2
	if first != nil && members[0].Role != "oco" {
		want = first.exits()
	}
	switch {
	case first == nil:
		return fmt.Errorf("the order that they belong to is lost")
	case members[0].Role != "oco" && first.Filled.Sign() == 0:
		return fmt.Errorf("the entry is %s and was not filled", first.Status)
	case filled > 1:
		return fmt.Errorf("%d of them were filled", filled)
	case open != 0 && open != current:
		return fmt.Errorf("%d are open and %d have ended", open, current-open)
	case filled > 0 && open > 0:
		return fmt.Errorf("one was filled and %d are open", open)
	case current != want:
		return fmt.Errorf("there are %d, not %d", current, want)
	}
	return nil
}

// overdue returns an order that is open although its time is over; empty if there
// is none.
func (o *oracle) overdue() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, note := range o.orders {
		if s := note.seen; s != nil && s.open() && s.ExpiresAt != nil && s.ExpiresAt.Before(time.Now()) {
			return key
		}
	}
	return ""
}
