package chart

import (
	"encoding/json"
	"fmt"

	"wick/market"
)

// Theme is a set of colours.
type Theme uint8

// The themes. Dark is the default; Colorblind is dark with colours that stay
// apart under every common deficiency of colour vision, and hollow up bodies.
const (
	Dark Theme = iota
	Light
	Colorblind
	themeCount
)

// Themes returns the names of the themes in the order of their values, the default first.
func Themes() []string { return []string{"dark", "light", "colorblind"} }

// ink is a colour, named by its role in the picture. Inks that a theme does not define are
// mixed from those that it does, in palette.go.
type ink uint8

const (
	inkBack ink = iota
	inkGrid
	inkStrong // grid lines at the start of a month, a year, a day
	inkSep    // lines between panels
	inkText
	inkAxis
	inkUp
	inkDown
	inkLine1
	inkLine2
	inkLine3
	inkLine4
	inkLine5
	inkLine6
	inkLine7
	inkOsc
	inkBand
	inkAmber
	inkMuted
	inkProfile
	inkFill  // regions between the edges of a band
	inkDark  // text on bright tags
	inkLight // text on dark tags
	namedInks

	inkMark     ink = iota - 1 // the watermark: text, barely there
	inkLevel                   // plain levels: there, but quieter than data
	inkUpPale                  // histogram, positive and falling
	inkDownPale                // histogram, negative and rising
	inkUpVolume
	inkDownVolume
	inkUpEdge // outlines of markers
	inkDownEdge
	inkAmberEdge
	inkCount
)

// colours lists the named inks of every theme as 0xrrggbb. Tests hold them to
// their contrast against the background (text 4.5, data 3 and in the dark theme 4.5, since legends write in these colours, grid 1.15 to 1.6),
// and the first six lines and the candles to their difference from each other
// (CIEDE2000 of 15), in normal sight and in the three deficiencies. The lines
// were found by a search for that: change one only together with the test.
var colours = [themeCount][namedInks]uint32{
	Dark: {
		inkBack: 0x131722, inkGrid: 0x232837, inkStrong: 0x323a4d, inkSep: 0x434b61,
		inkText: 0xd1d4dc, inkAxis: 0xb2b5be, inkUp: 0x26a69a, inkDown: 0xef5350,
		inkLine1: 0xe1bd1b, inkLine2: 0xcffcf3, inkLine3: 0xcfabfc, inkLine4: 0xab51fc,
		inkLine5: 0xfcfcab, inkLine6: 0xb4c6a2, inkLine7: 0xff80ab,
		inkOsc: 0xb388ff, inkBand: 0x7aa2d6, inkAmber: 0xff9800, inkMuted: 0x9aa3b5,
		inkProfile: 0x4c84e8, inkFill: 0x2f9bff, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
	Light: {
		inkBack: 0xffffff, inkGrid: 0xe6e8ee, inkStrong: 0xcdd2dd, inkSep: 0xb6bcc9,
		inkText: 0x131722, inkAxis: 0x4a4e59, inkUp: 0x00796b, inkDown: 0xd32f2f,
		inkLine1: 0x264962, inkLine2: 0x4a2801, inkLine3: 0x1698dc, inkLine4: 0x9b12c4,
		inkLine5: 0xb78099, inkLine6: 0x3b3e3a, inkLine7: 0xc2185b,
		inkOsc: 0x6b3fd4, inkBand: 0x3a7fc8, inkAmber: 0xb07d00, inkMuted: 0x6b7280,
		inkProfile: 0x2f6fd6, inkFill: 0x2f6fd6, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
	Colorblind: {
		inkBack: 0x131722, inkGrid: 0x232837, inkStrong: 0x323a4d, inkSep: 0x434b61,
		inkText: 0xd1d4dc, inkAxis: 0xb2b5be, inkUp: 0x56b4e9, inkDown: 0xe69f00,
		inkLine1: 0xf4ee89, inkLine2: 0xf9fdff, inkLine3: 0x029266, inkLine4: 0x9061b4,
		inkLine5: 0x80909d, inkLine6: 0x9a6b00, inkLine7: 0xcc79a7,
		inkOsc: 0xcc79a7, inkBand: 0x7f8fe0, inkAmber: 0xffc800, inkMuted: 0x9aa3b5,
		inkProfile: 0x4c84e8, inkFill: 0x7f8fe0, inkDark: 0x0b0e14, inkLight: 0xffffff,
	},
}

// linePool lists the inks that lines without a colour of their own take, in order.
// No theme gives two of them the same colour.
var linePool = []ink{inkLine1, inkLine2, inkLine3, inkLine4, inkLine5, inkLine6, inkLine7}

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
