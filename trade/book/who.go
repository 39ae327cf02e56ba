package book

import (
	"wick/internal/limit"
)

// Who names the client behind a request, for the journal and its audit. Every
// field may be empty.
type Who struct {
	Name   string `json:"name,omitempty"`   // what the program calls itself: not to be trusted
	Client string `json:"client,omitempty"` // which program, as a digest that stays the same over logins
	ID     string `json:"id,omitempty"`     // which login of the program, as a digest
}

// shortID is how many characters of the login's digest are written down, as
// many as --clients and the log show.
const shortID = 8

// Short returns w as it is written down, or nil if all its fields are empty.
func (w Who) Short() *Who {
	if w == (Who{}) {
		return nil
	}
	w.Name, w.Client = limit.Clip(w.Name), limit.Clip(w.Client)
	w.ID = limit.Clip(w.ID[:min(len(w.ID), shortID)])
	return &w
}

// SameClient reports whether two requests came from the same program. They are compared
// by Client if one of them has it, and otherwise by ID.
func (w *Who) SameClient(other *Who) bool {
	switch {
	case w == nil || other == nil:
		return w == other
	case w.Client != "" || other.Client != "":
		return w.Client == other.Client
	}
	return w.ID == other.ID
}
