package tools

import (
	"context"
	"slices"
	"strings"

	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// Complete returns a function that completes the arguments of prompts and
// templates: symbols, intervals, names of indicators, and signals.
func Complete(d Deps) func(context.Context, mcp.Completion) []string { return newHandlers(d).complete }

// complete returns values for the argument that is being typed: those that begin with
// what was typed, then those that contain it. Package mcp cuts the list to what a reply
// may hold. An argument with another name has no values.
func (h *handlers) complete(_ context.Context, c mcp.Completion) []string {
	switch c.Argument {
	case "symbol":
		return beginning(c.Value, h.symbols(c.Caller))
	case "interval":
		var all []string
		for _, iv := range market.Intervals() {
			all = append(all, string(iv))
		}
		return beginning(c.Value, all)
	case "name":
		return beginning(c.Value, indicatorNames())
	case "side":
		return beginning(c.Value, []string{"buy", "sell"})
	case "condition":
		return beginning(c.Value, signalNames())
	case "symbols":
		return listed(c.Value, h.symbols(c.Caller))
	case "indicators":
		return listed(c.Value, indicatorNames())
	}
	return nil
}

// symbols returns the symbols that a caller may choose from: those that the engine
// watches, if the caller may know that, and those that the source has.
func (h *handlers) symbols(c mcp.Caller) (all []string) {
	if h.Engine != nil && mayRead(c) {
		all = h.Engine.Symbols()
	}
	for _, symbol := range market.Known(h.Source) {
		if !slices.Contains(all, symbol) {
			all = append(all, symbol)
		}
	}
	return all
}

// indicatorNames returns the names of the catalogue, in its order.
func indicatorNames() (names []string) {
	for ind := range indicators.All() {
		names = append(names, ind.Name)
	}
	return names
}

// signalNames returns the two price conditions, and then every signal that an alert can
// wait for, after the name of its indicator, such as "rsi rsi_oversold".
func signalNames() []string {
	names := []string{"price_above ", "price_below "}
	for ind := range indicators.All() {
		if ind.VisibleOnly {
			continue
		}
		for _, signal := range ind.Signals {
			names = append(names, ind.Name+" "+signal)
		}
	}
	return names
}

// beginning returns the values that begin with what was typed, and after them those that
// contain it. Upper and lower case are the same to it.
func beginning(typed string, values []string) (found []string) {
	typed = strings.ToLower(typed)
	var within []string
	for _, v := range values {
		switch at := strings.Index(strings.ToLower(v), typed); {
		case at == 0:
			found = append(found, v)
		case at > 0:
			within = append(within, v)
		}
	}
	return append(found, within...)
}

// listed completes the last item of a list separated by commas. Each result is the whole
// list with one completion, since a host replaces all that was typed with it.
func listed(typed string, values []string) (found []string) {
	comma := strings.LastIndexByte(typed, ',') + 1
	for _, v := range beginning(strings.TrimSpace(typed[comma:]), values) {
		found = append(found, typed[:comma]+v)
	}
	return found
}
