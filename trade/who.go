package trade

import "wick/limit"

// Who names the client behind a request, for the journal and its audit. Both
// fields may be empty.
type Who struct {
	Client string `json:"client,omitempty"` // which program
	ID     string `json:"id,omitempty"`     // which login of it, as a digest
}

// shortID is how many characters of the digest are written down: enough to tell
// the logins of one store apart.
const shortID = 12

// short returns w as it is written down, or nil if it says nothing.
func (w Who) short() *Who {
	if w == (Who{}) {
		return nil
	}
	w.Client = limit.Clip(w.Client)
	w.ID = limit.Clip(w.ID[:min(len(w.ID), shortID)])
	return &w
}
