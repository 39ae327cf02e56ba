package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAuditReaders: every fuzz target that docs/audit.md names is there.
func TestAuditReaders(t *testing.T) {
	doc, err := os.ReadFile("docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`([a-z/]+) (Fuzz\w+)`).FindAllStringSubmatch(string(doc), -1)
	for _, n := range named {
		if testBody(t, n[1], n[2]) == "" {
			t.Errorf("there is no fuzz target %s", n[0])
		}
	}
	if len(named) < 20 {
		t.Errorf("%d fuzz targets are named, want at least 20", len(named))
	}
}

// duty is a row of the table in docs/threat-model.md, and shown a test in it: a
// package, a function and, if it runs a conversation, that one's file.
var (
	duty  = regexp.MustCompile(`(?m)^\| (\d+[a-z]?) \| .+ \| (.+) \| (.+) \|$`)
	shown = regexp.MustCompile(`^(\S+) ((?:Test|Fuzz)\w+)(?:/(\S+))?$`)
)

// TestNamedTests: every test that a document names is there, in the package that stands before
// its name.
func TestNamedTests(t *testing.T) {
	there := map[string][]string{} // the directories in which there is a test of that name
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range declared.FindAllStringSubmatch(string(text), -1) {
			there[name[1]] = append(there[name[1]], "/"+filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	of := func(part string) func(dir string) bool {
		return func(dir string) bool { return strings.HasSuffix(dir, "/"+part) }
	}
	isPackage := func(word string) bool {
		for _, dirs := range there {
			if slices.ContainsFunc(dirs, of(word)) {
				return true
			}
		}
		return false
	}
	named := regexp.MustCompile("(?:\\b([a-z][a-z/]*)`? `?)?\\b((?:Test|Fuzz)[A-Z0-9]\\w+)")
	for _, document := range append(documents, "README.md", "SECURITY.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllStringSubmatch(string(text), -1) {
			dirs := there[name[2]]
			if len(dirs) == 0 || isPackage(name[1]) && !slices.ContainsFunc(dirs, of(name[1])) {
				t.Errorf("%s names %s, and there is no such test; of that name there are tests in %s", document, name[0], dirs)
			}
		}
	}
}

// TestThreatModel: the table has all 48 duties in order, and every file and test
// it names is there.
func TestThreatModel(t *testing.T) {
	doc, err := os.ReadFile("docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := duty.FindAllStringSubmatch(string(doc), -1)
	whole := 0 // rows of duties that are not part of another, which have a letter
	for _, row := range rows {
		if strings.Trim(row[1], "0123456789") == "" {
			if whole++; row[1] != fmt.Sprint(whole) {
				t.Errorf("duty %d is numbered %s", whole, row[1])
			}
		}
		files := strings.Split(row[2], ", ")
		for test := range strings.SplitSeq(row[3], ", ") {
			part := shown.FindStringSubmatch(test)
			if part == nil || testBody(t, part[1], part[2]) == "" {
				t.Errorf("duty %s: there is no test %q", row[1], test)
			} else if part[3] != "" {
				files = append(files, filepath.Join(part[1], "testdata", "conversations", part[3]))
			}
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("duty %s: %v", row[1], err)
			}
		}
	}
	if whole != 48 {
		t.Errorf("%d duties, want 48", whole)
	}
}
