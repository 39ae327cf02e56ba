package market

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wick/market/markettest"
)

// TestMain keeps the tests on this machine: a name that is not in the file of hosts is
// asked of nobody.
func TestMain(m *testing.M) {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no test may leave this machine")
	}}
	os.Exit(m.Run())
}

// TestSourcesAreComplete: every source of the table has a stand-in and recorded answers,
// and nothing is there for a source that is not in the table. CONTRIBUTING.md says how
// the parts are made.
func TestSourcesAreComplete(t *testing.T) {
	standIns := markettest.Settings("")
	readme := read(t, "testdata/README.md")
	for _, p := range providers {
		if lacks := unset(p); len(lacks) > 0 {
			t.Errorf("the record of %s does not set %s", p.name, strings.Join(lacks, ", "))
		}
		if path, ok := standIns[p.env]; !ok || path != "/"+p.name {
			t.Errorf("markettest has no stand-in for %s: its table services needs an entry %q with %s", p.name, p.name, p.env)
		}
		for _, name := range answersOf(p) {
			for _, file := range []string{name + ".http", name + ".want"} {
				if _, err := os.Stat(filepath.Join("testdata", file)); err != nil {
					t.Errorf("the recorded answers of %s are not complete: market/testdata/%s is missing", p.name, file)
				}
			}
		}
		if !strings.Contains(readme, "| "+p.name+" |") {
			t.Errorf("market/testdata/README.md does not say where the answers of %s are from: it has no row | %s |", p.name, p.name)
		}
	}
	for env, path := range standIns {
		if !slices.Contains(Variables(), env) {
			t.Errorf("markettest has a stand-in %s for %s, which no service in market/venue.go asks for", path, env)
		}
	}
}

// unset names the fields that every record must set and that p does not.
func unset(p *provider) (names []string) {
	for name, set := range map[string]bool{
		"name": p.name != "", "env": p.env != "", "url": p.url != "", "limit": p.limit > 0, "window": p.window > 0,
		"example": p.example != "", "spell": p.spell != nil, "usual": len(p.usual) > 0,
		"native with minutes": slices.Contains(p.native, Minute1), "pace": p.pace > 0, "page": p.page != nil,
		"batch": p.ticker == nil || p.batch > 0, "every": p.ticker == nil || p.every > 0,
	} {
		if !set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// answersOf names the recorded answers that p must have, without their endings.
func answersOf(p *provider) []string {
	names := []string{p.name + "/bars", p.name + "/unknown"}
	if p.ticker != nil {
		names = append(names, "ticker/"+p.name)
	}
	if p.single != nil {
		names = append(names, "quote/"+p.name)
	}
	if p.grid != nil {
		names = append(names, "grid/"+p.name)
	}
	return names
}

// TestRecordsAreInTheTable: a record that the table does not list is tested by nothing. A
// record stands in the file that bears the name of its service.
func TestRecordsAreInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var records []string
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(read(t, file), " = provider{\n") {
			records = append(records, strings.TrimSuffix(file, ".go"))
		}
	}
	table := slices.Sorted(slices.Values(Services()))
	if slices.Sort(records); !slices.Equal(records, table) {
		t.Errorf("there are records in market/NAME.go of %v, and market/venue.go lists %v", records, table)
	}
}

// TestAnswersHaveAService: a recorded answer of a service that is not in the table, or of
// a request that its record does not have, is tested by nothing.
func TestAnswersHaveAService(t *testing.T) {
	var known []string
	for _, p := range providers {
		known = append(known, answersOf(p)...)
	}
	for _, c := range columnSites {
		for _, column := range c.columns {
			known = append(known, "columns/"+column)
		}
	}
	files, err := filepath.Glob("testdata/*/*.http")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".http")
		if directory, _, _ := strings.Cut(name, "/"); !slices.Contains(Services(), directory) && !slices.Contains(known, name) {
			t.Errorf("market/testdata/%s.http belongs to no service: market/venue.go does not list it, or its record has no such request", name)
		}
	}
}

// TestSourcesAreDocumented: the operator finds every source in the table of
// docs/deploy.md, with what its record says, and every variable that leads elsewhere.
func TestSourcesAreDocumented(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "../docs/deploy.md"), "\n## Sources\n")
	for row := range strings.Lines(text) {
		cell, isRow := strings.CutPrefix(row, "| `")
		if spec, _, _ := strings.Cut(cell, "`"); isRow && spec != "--source" && !slices.Contains(Sources(), spec) {
			t.Errorf("docs/deploy.md, Sources: there is a row of %s, and market/venue.go has no such service", spec)
		}
	}
	for _, spec := range Sources() {
		if !strings.Contains(text, "\n| `"+spec+"` |") {
			t.Errorf("docs/deploy.md, Sources: there is no row | `%s` |", spec)
		}
	}
	for _, name := range Variables() {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/deploy.md, Sources: %s is not named", name)
		}
	}
	for _, p := range providers {
		_, row, _ := strings.Cut(text, "\n| `"+p.name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		for _, part := range []string{p.example, "| " + pollingOf(p) + " | " + ordersOf(t, p) + " | `" + p.env + "` |"} {
			if !strings.Contains(row, part) {
				t.Errorf("docs/deploy.md, Sources: the row of %s does not have %s", p.name, part)
			}
		}
	}
}

// pollingOf says how often the feed looks for prices of p, as docs/deploy.md does.
func pollingOf(p *provider) string {
	if p.ticker == nil {
		return fmt.Sprintf("every %v s, beyond %d symbols %v s longer for each", feedPeriod.Seconds(), feedPeriod/p.pace, p.pace.Seconds())
	}
	return fmt.Sprintf("every %v s, for up to %d symbols at once", p.every.Seconds(), p.batch)
}

// ordersOf says what p tells for orders, as docs/deploy.md does.
func ordersOf(t *testing.T, p *provider) string {
	var has []string
	bubble(t, func(t *testing.T) {
		q, err := fake(t, p.name, &markettest.Exchange{Days: 3}).Venue.quote(t.Context(), p.example)
		if err != nil {
			t.Fatal(err)
		}
		if q.Bid > 0 && q.Ask > 0 {
			has = append(has, "bid and ask")
		}
	})
	if p.grid != nil {
		has = append(has, "steps")
	}
	if len(has) == 0 {
		return "none"
	}
	return strings.Join(has, ", ")
}

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
