package tools

import (
	"context"
	"encoding/json"

	"wick/mcp"
)

// alertsResource is what waits and what fired. Reading it takes nothing out of
// the queue that get_notifications empties.
func (h *handlers) alertsResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://alerts", Name: "alerts", Title: "Alerts",
		Description: "Alerts that wait, and those that fired within the last hour, newest first. Watch it to be told when one fires.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			waiting, _, more := cut(page{}, h.Engine.Alerts())
			fired, _, older := cut(page{}, h.Engine.Fired())
			return r.Text(mcp.Encode(struct {
				Waiting json.RawMessage `json:"waiting"`
				More    int             `json:"more_waiting,omitempty"` // that did not fit; list_alerts has them
				Fired   json.RawMessage `json:"fired"`
				Older   int             `json:"more_fired,omitempty"`
			}{waiting, more, fired, older})), nil
		},
		State: func(mcp.Reading) string { return digest([]any{h.Engine.Alerts(), h.Engine.Fired()}) },
	}
}
