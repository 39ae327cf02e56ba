package chart

import (
	"encoding/json"
	"fmt"

	"wick/market"
)

// lookJSON holds the tables of this package that a page needs to draw as this package
// does. A page has no such tables of its own, so page and picture cannot differ.
type lookJSON struct {
	Themes map[string]map[string]string `json:"themes"` // colours as #rrggbb by the name of their ink
	OnTag  map[string]map[string]string `json:"on_tag"` // the ink of text on each ink
	Levels map[string]float64           `json:"levels"` // transparencies, 0 to 1
	Units  []unit                       `json:"units"`  // letters of large numbers
	Steps  []timeStep                   `json:"steps"`  // distances of the time axis
	Digits [][]float64                  `json:"digits"` // patterns of a logarithmic axis
	Shares []float64                    `json:"shares"` // see priceShares
	Words  map[string]string            `json:"words"`  // parts of signal labels
	Types  []string                     `json:"types"`
	Scales []string                     `json:"scales"`

	Intervals []market.Interval `json:"intervals"` // lengths of bars
}

// inkNames are the names of inks for a page.
var inkNames = [inkCount]string{
	inkBack: "back", inkGrid: "grid", inkStrong: "strong", inkSep: "sep", inkText: "text", inkAxis: "axis", inkUp: "up", inkDown: "down",
	inkLine1: "line1", inkLine2: "line2", inkLine3: "line3", inkLine4: "line4", inkLine5: "line5", inkLine6: "line6", inkLine7: "line7",
	inkOsc: "osc", inkBand: "band", inkAmber: "amber", inkMuted: "muted", inkProfile: "profile", inkFill: "fill", inkDark: "dark", inkLight: "light",
	inkMark: "mark", inkLevel: "level", inkUpPale: "upPale", inkDownPale: "downPale", inkUpVolume: "upVolume", inkDownVolume: "downVolume",
	inkUpEdge: "upEdge", inkDownEdge: "downEdge", inkAmberEdge: "amberEdge",
}

// Look returns the colours of all themes and the tables behind numbers and axes
// as JSON, for a page that draws the series payload in the browser.
func Look() []byte {
	// part returns a level of opacity as a fraction.
	part := func(level int) float64 { return float64(level) / levels }
	l := lookJSON{
		Themes: make(map[string]map[string]string), OnTag: make(map[string]map[string]string),
		Levels: map[string]float64{"fill": part(fillLevel), "weak": part(weakLevel), "strong": part(strongLevel), "poc": part(pocLevel), "backing": part(backingLevel)},
		Units:  units, Steps: timeSteps, Digits: logDigits, Shares: priceShares, Words: signalWords,
		Types: Types(), Scales: Scales(), Intervals: market.Intervals(),
	}
	for t, name := range Themes() {
		p := newNamed(Theme(t))
		l.Themes[name], l.OnTag[name] = make(map[string]string), make(map[string]string)
		for i, c := range p.named {
			l.Themes[name][inkNames[i]] = fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
			l.OnTag[name][inkNames[i]] = inkNames[p.onTag[i]]
		}
	}
	text, _ := json.Marshal(l) // numbers and texts can always be encoded
	return text
}
