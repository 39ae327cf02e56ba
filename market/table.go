package market

// providers is the table of the services that bars come from, in the order in
// which --help names them. A service is added by its own file with a record
// like the others, a line here, a stand-in in package markettest, and a row in
// docs/deploy.md; the tests walk this table and fail if one of them is missing.
var providers = []*provider{&binance, &yahoo, &coinbase, &kraken}

// Sources returns the values that [Open] takes: the built-in sample, auto, the
// services of the table, and csv:DIR.
func Sources() []string {
	specs := []string{"sample", "auto"}
	for _, p := range providers {
		specs = append(specs, p.name)
	}
	return append(specs, "csv:DIR")
}
