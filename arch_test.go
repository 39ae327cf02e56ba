package main

import (
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// toolOnly reports whether a package is a tool of the project, and no part of the binary.
func toolOnly(pkg string) bool {
	return strings.HasPrefix(pkg, "test/") || strings.HasPrefix(pkg, "release/")
}

// mayImport says which packages of ours each package may import: arrows point
// down only. The packages that meet strangers' bytes (oauth, mcp, sse) and
// those that keep money and disk honest (exact, journal) import none but the
// leaves, so each can be read, tested and fuzzed alone.
var mayImport = map[string][]string{
	".":                            {"server"},
	"server":                       {"app", "chart", "cluster", "internal/exact", "indicators", "internal/journal", "market", "mcp", "mcp/tools", "internal/metrics", "notify", "oauth", "oauth/fileledger", "permit", "sse", "trade", "trade/book", "trade/live", "trade/live/alpaca"},
	"mcp/tools":                    {"chart", "internal/exact", "indicators", "market", "mcp", "permit", "sse", "trade", "trade/book"},
	"app":                          {"chart"},
	"chart":                        {"chart/flatpng", "indicators", "market"},
	"chart/flatpng":                {},
	"trade":                        {"internal/exact", "internal/journal", "market", "sse", "trade/alert", "trade/book", "trade/paper", "trade/watch"},
	"trade/paper":                  {"internal/exact", "trade/book"},
	"trade/live":                   {"internal/exact", "trade/book"},
	"trade/live/alpaca":            {"internal/exact", "trade/book", "trade/live"},
	"trade/live/alpaca/alpacatest": {"internal/exact"},
	"trade/alert":                  {"indicators", "internal/exact", "market", "trade/book", "trade/watch"},
	"trade/watch":                  {"indicators", "internal/exact", "market", "trade/book"},
	"trade/book":                   {"indicators", "internal/exact", "market", "sse"},
	"trade/modeltest":              {},
	"indicators":                   {"indicators/kernel", "indicators/rules", "market"},
	"indicators/kernel":            {"market"},
	"indicators/rules":             {"indicators/kernel"},
	"market/markettest":            {"market"},
	"market":                       {},
	"mcp":                          {},
	"oauth":                        {},
	"oauth/fileledger":             {"internal/journal", "oauth"},
	"oauth/oauthtest":              {"oauth"},
	"sse":                          {},
	"sse/ssetest":                  {},
	"internal/metrics":             {},
	"permit":                       {"internal/exact"},
	"notify":                       {"notify/service"},
	"notify/service":               {},
	"internal/journal":             {},
	"internal/journal/journaltest": {"internal/journal"},
	"cluster":                      {"cluster/etcd", "internal/journal"},
	"cluster/etcd":                 {},
	"cluster/etcdtest":             {},
	"internal/exact":               {},
	"internal/address":             {},
	"internal/limit":               {},
	"internal/strictjson":          {},
	"test/conversations":           {},

	"indicators/rules/rulestest": {},
}

// leaves are small packages that import nothing of ours and that every package
// may import: what is loopback and what is public, and the bounds on texts and
// rates.
var leaves = []string{"internal/address", "internal/limit", "internal/strictjson"}

// modules are the only ones beside the standard library, and who may use them.
var modules = map[string][]string{
	"golang.org/x/image": {"chart"},
	"golang.org/x/sync":  {"server", "market", "mcp/tools", "trade", "trade/live"},
}

// forbidden packages would let a reader doubt what the program can do.
var forbidden = []string{"unsafe", "os/exec", "plugin", "C"}

// TestArrows parses the imports of every file and compares them with the plan.
// Test files may import any of ours (a test of tools drives oauth) and the
// standard library whole, but no further modules.
func TestArrows(t *testing.T) {
	module := modulePath(t)
	for file, imports := range goFiles(t) {
		pkg := path.Dir(filepath.ToSlash(file))
		isTest := strings.HasSuffix(file, "_test.go")
		allowed, known := mayImport[pkg]
		if toolOnly(pkg) {
			known, allowed = true, append(slices.Clone(mayImport["server"]), "server", "market/markettest", "trade/live/alpaca/alpacatest", "test/harness") // commands of ours are mains too
		}
		if !known {
			t.Errorf("%s: package %s is not in the plan", file, pkg)
		}
		allowed = slices.Concat(allowed, leaves)
		for _, name := range imports {
			switch {
			case name == module || strings.HasPrefix(name, module+"/"):
				if !isTest && !slices.Contains(allowed, strings.TrimPrefix(name, module+"/")) {
					t.Errorf("%s imports %s, which the plan does not allow", file, name)
				}
			case strings.Contains(strings.Split(name, "/")[0], "."):
				if !moduleAllowed(pkg, name, isTest) {
					t.Errorf("%s imports %s, which is not one of the two modules or not for %s", file, name, pkg)
				}
			case slices.Contains(forbidden, name) && !isTest:
				t.Errorf("%s imports %s", file, name)
			}
		}
	}
}

// modulePath returns the import path of this module (scripts/module changes it).
func modulePath(t *testing.T) string {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))[1]
}

func moduleAllowed(pkg, name string, isTest bool) bool {
	for module, users := range modules {
		if strings.HasPrefix(name, module+"/") {
			return isTest || toolOnly(pkg) || slices.Contains(users, pkg)
		}
	}
	return false
}

// goFiles returns the imports of every Go file of this module by path. Nested
// modules (they have a go.mod of their own) are not part of the product.
func goFiles(t *testing.T) map[string][]string {
	files := make(map[string][]string)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(name, ".go"):
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			files[name] = []string{}
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				files[name] = append(files[name], path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found only %d Go files: the walk is broken", len(files))
	}
	return files
}

// TestModules holds go.mod to the two modules and x/image's own x/text.
func TestModules(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{modulePath(t), "golang.org/x/image", "golang.org/x/sync", "golang.org/x/text"}
	for line := range strings.Lines(string(data)) {
		for _, word := range strings.Fields(line) {
			if strings.Contains(word, "/") && !strings.HasPrefix(word, "//") && !slices.Contains(allowed, word) {
				t.Errorf("go.mod names %s", word)
			}
		}
	}
}

// TestCore: a binary of -tags core has none of the rooms that one can do without.
func TestCore(t *testing.T) {
	context := build.Default
	context.BuildTags = []string{"core"}
	seen := make(map[string]bool)
	var visit func(dir string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		p, err := context.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range p.Imports {
			if below, ok := strings.CutPrefix(path, modulePath(t)+"/"); ok {
				visit(below)
			}
		}
	}
	visit(".")
	for _, room := range []string{"cluster", "cluster/etcd", "trade/live", "trade/live/alpaca", "notify", "notify/service", "app"} {
		if _, err := os.Stat(room); err != nil {
			t.Errorf("%s is named here: %v", room, err)
		}
		if seen[room] {
			t.Errorf("-tags core builds %s in", room)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d packages were found", len(seen))
	}
}
