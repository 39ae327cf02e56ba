package chart

import (
	"slices"
	"strings"

	"wick/indicators"
)

// withAlerts returns the result of a panel with the levels of it that alerts wait for, the
// newest and at most as many as most, and how many it leaves out. It changes neither the
// account nor the panel.
func (a *Account) withAlerts(p *Panel, most int) (result *indicators.Result, left int) {
	if a == nil || p.Result == nil {
		return p.Result, 0
	}
	var alerts []Alert
	for _, alert := range a.Alerts {
		if alert.Key == p.Key && alert.Text != "" && usable(alert.Price) {
			alerts = append(alerts, alert)
		}
	}
	r := *p.Result
	r.HLines = slices.Clip(r.HLines)
	left = max(0, len(alerts)-most)
	for _, alert := range alerts[left:] {
		r.HLines = append(r.HLines, indicators.HLine{Y: alert.Price, Label: "alert " + watched(&r, alert.Line) + alert.Text, Tone: indicators.Accent})
	}
	return &r, left
}

// watched names the line that an alert waits for, if r has several. The only line over the
// price has the name of the indicator, or it would look like an alert for a price; that of a
// panel needs none.
func watched(r *indicators.Result, line string) string {
	var names []string
	for _, l := range r.Lines {
		names = append(names, l.Label)
	}
	for _, h := range r.Histogram {
		names = append(names, h.Label)
	}
	switch {
	case len(names) > 1:
		i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, line) })
		return printable(names[max(i, 0)], 14) + " "
	case r.Overlay:
		return printable(studyName(r), 14) + " "
	}
	return ""
}
