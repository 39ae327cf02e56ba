package tools

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"wick/permit"

	"wick/indicators"
	"wick/internal/exact"
	"wick/trade"
)

// chartsPage documents the tools of chartTools, tradingPage those of tradingTools.
const (
	chartsPage  = "../../docs/tools.md"
	tradingPage = "../../docs/tools-trading.md"
)

// pageOf returns the page that documents a tool.
func pageOf(tool string) string {
	if slices.Contains(chartTools, tool) {
		return chartsPage
	}
	return tradingPage
}

var update = flag.Bool("update", false, "rewrite the parts of docs/tools.md and docs/tools-trading.md that are made from the code")

// TestArgumentTables: the tables of arguments in docs/tools.md and docs/tools-trading.md are
// made from the declarations. Run with -update to rewrite them.
func TestArgumentTables(t *testing.T) {
	for _, name := range []string{chartsPage, tradingPage} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := string(page)
		for _, tool := range newHandlers(Deps{}).all() {
			if pageOf(tool.Name) != name {
				continue
			}
			heading := "## " + tool.Name + "\n\n"
			before, after, found := strings.Cut(want, heading)
			if !found {
				t.Fatalf("%s has no section %s: write the heading %q, a blank line, and a request with its reply; -update puts the table between", name, tool.Name, "## "+tool.Name)
			}
			if _, rest, has := strings.Cut(after, tableEnd); has && strings.HasPrefix(after, tableStart) {
				after = rest
			}
			want = before + heading + tableStart + argumentTable(tool.declared) + tableEnd + after
		}
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want != string(page) {
			t.Errorf("%s is not what the declarations say: run go test ./mcp/tools -run ArgumentTables -update", name)
		}
	}
}

// jsonBlock is a request or a reply in a page.
var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// TestToolsAreDocumented: each tool has a section of its page with a request and a reply,
// and there is no section of anything else. Only get_balance, which always refuses, has no
// reply.
func TestToolsAreDocumented(t *testing.T) {
	sections := make(map[string]string)
	for _, name := range []string{chartsPage, tradingPage} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split(string(page), "\n## ")[1:] {
			tool, text, _ := strings.Cut(section, "\n")
			sections[tool] = text
		}
	}
	for _, tool := range newHandlers(Deps{}).all() {
		blocks := jsonBlock.FindAllStringSubmatch(sections[tool.Name], -1)
		asked := slices.ContainsFunc(blocks, func(b []string) bool { return strings.HasPrefix(b[1], `{"name":"`+tool.Name+`",`) })
		if (!asked || len(blocks)%2 != 0) && tool.Name != "get_balance" {
			t.Errorf("%s: the section %s needs a request of it and the reply, each in a block of json; it has %d blocks", pageOf(tool.Name), tool.Name, len(blocks))
		}
		delete(sections, tool.Name)
	}
	for name := range sections {
		t.Errorf("the pages have a section %s, and mcp/tools/tools.go has no such tool", name)
	}
}

// TestResourcesAreDocumented: every resource has a row in docs/architecture.md with
// what it returns and the scope that it needs, and every row is of a resource.
func TestResourcesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string) // MIME types and scope
	for _, m := range regexp.MustCompile("(?m)^\\| `(wick://.*?)` \\|.*?\\| (.*?) \\| ?(.*?) ?\\|").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = m[2:]
	}
	for _, r := range Resources(Deps{Engine: new(trade.Engine)}) {
		row, found := rows[r.URI]
		switch {
		case !found:
			t.Errorf("docs/architecture.md has no row for %s", r.URI)
		case !strings.Contains(row[0], r.MIME), row[1] != string(permit.Needs(r.URI)):
			t.Errorf("docs/architecture.md says of %s that it is %s with the scope %q, and it is %s with %q", r.URI, row[0], row[1], r.MIME, permit.Needs(r.URI))
		}
		delete(rows, r.URI)
	}
	for uri := range rows {
		t.Errorf("docs/architecture.md has a row for %s, and Resources in mcp/tools/resources.go has no entry", uri)
	}
}

// TestTextsForModelsNameWhatIs: a model calls what the guide and the skill of the plugin
// say. So they name only tools that exist, and after a tool ("`tool` with `argument`") only
// arguments that it takes. If a tool takes indicators, the name of one may be in place of an
// argument.
func TestTextsForModelsNameWhatIs(t *testing.T) {
	skill, err := os.ReadFile("../../release/plugin/skills/wick/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	arguments := make(map[string][]string) // by tool
	for _, tool := range newHandlers(Deps{}).all() {
		arguments[tool.Name] = []string{}
		for _, a := range tool.declared {
			arguments[tool.Name] = append(arguments[tool.Name], a.names()...)
		}
	}
	// A word in code that begins with the verb of a tool must be a tool.
	var verbs []string
	for name := range arguments {
		verb, _, _ := strings.Cut(name, "_")
		verbs = append(verbs, verb)
	}
	aTool := regexp.MustCompile("`((?:" + strings.Join(verbs, "|") + ")_\\w+)`")
	with := regexp.MustCompile("with (`[^`]+`(?:(?:,| or| and) `[^`]+`)*)")
	item := regexp.MustCompile(`\n\n|\n- |\n\|`)
	for page, text := range map[string]string{"guide": string(guide), "SKILL.md": string(skill)} {
		tools, checked := 0, 0
		for _, text := range item.Split(text, -1) {
			for _, m := range aTool.FindAllStringSubmatch(text, -1) {
				if tools++; arguments[m[1]] == nil {
					t.Errorf("%s: there is no tool %s: %s", page, m[1], text)
				}
			}
			for _, m := range with.FindAllStringSubmatchIndex(text, -1) {
				named := aTool.FindAllStringSubmatch(text[:m[0]], -1)
				if named == nil {
					continue
				}
				tool := named[len(named)-1][1]
				for _, word := range regexp.MustCompile("`\"?(\\w+)[^`]*`").FindAllStringSubmatch(text[m[2]:m[3]], -1) {
					_, err := indicators.Lookup(word[1])
					isIndicator := err == nil && slices.Contains(arguments[tool], "indicators")
					if checked++; !slices.Contains(arguments[tool], word[1]) && !isIndicator {
						t.Errorf("%s: %s takes no %s: %s", page, tool, word[1], text)
					}
				}
			}
		}
		if tools < 5 || checked < 3 {
			t.Errorf("%s: %d tools and %d arguments were found: the text is written in another way than this test reads", page, tools, checked)
		}
	}
}

const (
	tableStart = "<!-- made from the code by go test ./mcp/tools -run ArgumentTables -update -->\n"
	tableEnd   = "<!-- end -->\n\n"
)

// argumentTable writes declarations as a table.
func argumentTable(declared []arg) string {
	if len(declared) == 0 {
		return "No arguments.\n"
	}
	var b strings.Builder
	b.WriteString("| argument | type | default | meaning |\n|---|---|---|---|\n")
	for _, a := range declared {
		var schema struct {
			Type             string
			Enum             []string
			Minimum, Maximum *json.Number
			MaxItems         int
		}
		if err := json.Unmarshal([]byte("{"+a.schema()+"}"), &schema); err != nil {
			panic(err)
		}
		kind := schema.Type
		switch {
		case schema.Enum != nil:
			kind = "`" + strings.Join(schema.Enum, "` `") + "`"
		case schema.Minimum != nil:
			kind += fmt.Sprintf(", %s to %s", schema.Minimum, schema.Maximum)
		case schema.MaxItems > 0:
			kind += fmt.Sprintf(", at most %d", schema.MaxItems)
		}
		def := ""
		switch {
		case a.need != "":
			def = "required"
		case a.def != "":
			def = "`" + a.def + "`"
		}
		names := "`" + strings.Join(a.names(), "` or `") + "`"
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", names, kind, def, a.doc)
	}
	return b.String()
}

// TestDocs runs the requests of docs/tools.md and of docs/tools-trading.md, in the order of
// the page, and compares the replies with those of the page: the same members, of the same kinds.
func TestDocs(t *testing.T) {
	runDocs(t, 12, 0, func(*trade.Options) {}, chartsPage)
	runDocs(t, 34, 0, func(*trade.Options) {}, tradingPage)
}

// TestTradingDocs: the requests of docs/trading.md and then those of docs/trades.md, four hours apart
// at first, have the replies that the pages show.
func TestTradingDocs(t *testing.T) {
	runDocs(t, 10, 4*time.Hour, func(o *trade.Options) {
		o.Account.Currency = "USD"
		o.Account.Cash, o.FeeRate, o.Slippage = 10_000*exact.One, exact.One/1000, exact.One/2000
	}, "../../docs/trading.md", "../../docs/trades.md")
}

func runDocs(t *testing.T, least int, first time.Duration, with func(*trade.Options), pages ...string) {
	var blocks [][]string
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, jsonBlock.FindAllStringSubmatch(string(page), -1)...)
	}
	if len(blocks) < least || len(blocks)%2 != 0 {
		t.Fatalf("%d blocks in %s: requests and replies must come in pairs", len(blocks), pages)
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), with)
		defer d.stop()
		time.Sleep(5 * time.Second) // the feed has spoken
		ids := strings.NewReplacer()
		var pairs []string
		for i := 0; i < len(blocks); i += 2 {
			var request struct {
				Name      string
				Arguments json.RawMessage
			}
			if err := json.Unmarshal([]byte(ids.Replace(blocks[i][1])), &request); err != nil {
				t.Fatalf("request %s: %v", blocks[i][1], err)
			}
			var want, got any
			if err := json.Unmarshal([]byte(blocks[i+1][1]), &want); err != nil {
				t.Fatalf("reply %s: %v", blocks[i+1][1], err)
			}
			d.reply(trader, request.Name, string(request.Arguments), &got)
			pairs = sameShape(t, request.Name, want, got, pairs)
			ids = strings.NewReplacer(pairs...)
			time.Sleep(6*time.Second + first) // past the guard against doubled orders; alerts fire
			first = 0
		}
	})
}

var anID = regexp.MustCompile(`^[oa]-[0-9a-f]{8}-\d+$`)

// sameShape compares two decoded replies and gathers which id of the page stands
// for which of the engine.
func sameShape(t *testing.T, path string, want, got any, pairs []string) []string {
	t.Helper()
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		t.Errorf("%s: the page shows %v, the tool gives %v", path, want, got)
		return pairs
	}
	switch want := want.(type) {
	case map[string]any:
		got := got.(map[string]any)
		for name := range want {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: the page shows %q, the tool does not give it", path, name)
				continue
			}
			pairs = sameShape(t, path+"."+name, want[name], got[name], pairs)
		}
		for name := range got {
			// Channels that depend on the bars of the moment are told in words.
			if _, ok := want[name]; !ok && !slices.Contains([]string{"signals", "divergences"}, name) {
				t.Errorf("%s: the tool gives %q, the page does not show it", path, name)
			}
		}
	case []any:
		got := got.([]any)
		if len(want) > 0 && len(got) == 0 {
			t.Errorf("%s: empty", path)
		} else if len(want) > 0 {
			pairs = sameShape(t, path+"[0]", want[0], got[0], pairs)
		}
	case string:
		if anID.MatchString(want) {
			pairs = append(pairs, want, got.(string))
		}
	}
	return pairs
}
