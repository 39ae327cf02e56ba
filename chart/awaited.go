package chart

import (
	"slices"

	"wick/indicators"
)

// withAlerts returns the result of a panel with the levels of it that alerts wait for. It
// changes neither the account nor the panel.
func (a *Account) withAlerts(p *Panel) *indicators.Result {
	if a == nil || p.Result == nil {
		return p.Result
	}
	r := *p.Result
	for _, alert := range tail(a.Alerts) {
		if alert.Key != p.Key || alert.Text == "" || !usable(alert.Price) {
			continue
		}
		text := alert.Text
		if r.Overlay {
			text = studyName(&r) // or it would look like an alert for a price
		}
		r.HLines = append(slices.Clip(r.HLines), indicators.HLine{Y: alert.Price, Label: "alert " + text, Tone: indicators.Accent})
	}
	return &r
}
