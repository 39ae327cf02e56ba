package tools

import (
	"encoding/base64"
	"strings"

	"wick/mcp"
)

// icon returns a drawing on a dark square of 24 by 24 as a data: URI: clients show
// it without a request to anyone.
func icon(drawing string) []mcp.Icon {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#12161f"/>` + drawing + `</svg>`
	return []mcp.Icon{{Src: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)), MIME: "image/svg+xml", Sizes: []string{"any"}}}
}

// The drawings: three candles, two opposite arrows, a bell.
var (
	candlesIcon = icon(`<path d="M7 6v13M12 3v18M17 5v13" stroke="#f2b45c"/><path d="M5 11h4v6H5z" fill="#ef6b73"/><path d="M10 7h4v9h-4z" fill="#f2b45c"/><path d="M15 7h4v7h-4z" fill="#35c290"/>`)
	arrowsIcon  = icon(`<path d="M8 19V6l-3 4m3-4 3 4" stroke="#35c290" stroke-width="2" fill="none"/><path d="M16 5v13l-3-4m3 4 3-4" stroke="#ef6b73" stroke-width="2" fill="none"/>`)
	bellIcon    = icon(`<path d="M12 4a5 5 0 0 1 5 5v4l2 3H5l2-3V9a5 5 0 0 1 5-5zm-2 13h4a2 2 0 0 1-4 0z" fill="#f2b45c"/>`)
)

// Icon returns the icon of the whole server, which hosts show beside its name.
func Icon() []mcp.Icon { return candlesIcon }

// iconOf returns the icon of a tool, by what its name is about: orders and what is held,
// alerts, or else charts.
func iconOf(tool string) []mcp.Icon {
	switch {
	case strings.Contains(tool, "order"), strings.Contains(tool, "position"), strings.Contains(tool, "balance"):
		return arrowsIcon
	case strings.Contains(tool, "alert"), strings.Contains(tool, "notification"), strings.Contains(tool, "subscription"):
		return bellIcon
	}
	return candlesIcon
}
