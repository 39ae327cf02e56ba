package market

import "slices"

// providers is the table of the services that bars come from, in the order in
// which --help names them. CONTRIBUTING.md says how one is added; the tests walk
// this table and fail if a part is missing.
var providers = []*provider{&binance, &yahoo, &coinbase, &kraken}

// Services returns the names of the services in the table, each a value of --source.
func Services() (names []string) {
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// Sources returns the values that [Open] takes: the built-in sample, auto, the
// services of the table, and csv:DIR.
func Sources() []string {
	return slices.Concat([]string{"sample", "auto"}, Services(), []string{"csv:DIR"})
}

// Variables returns the names of all environment variables that Open may ask for: each
// holds another base URL of a service, or of a service of extra columns.
func Variables() (names []string) {
	for _, p := range providers {
		names = append(names, p.env)
	}
	for _, c := range columnSites {
		names = append(names, c.env)
	}
	return names
}
