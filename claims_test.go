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

// claims is the index of what the documents say and the tests that show it.
const claims = "test/claims.md"

// declaredTests returns the first sentence of the comment of every test, by the directory
// and the name of the test.
func declaredTests(t *testing.T) map[string]string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)((?:^//.*\n)*)^func ((?:Test|Fuzz)\w+)\(`)
	tests := make(map[string]string)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			says := strings.Join(strings.Fields(strings.ReplaceAll("\n"+m[1], "\n//", " ")), " ")
			says, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(says, m[2]+": "), m[2]+" ")+" ", ". ")
			tests[filepath.ToSlash(filepath.Dir(path))+" "+m[2]] = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(says), "."), "|", `\|`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// TestClaims: each row of the index names a test that is there, and says what that test's
// comment says. Add a row with the test alone and run with -update to have the rest written.
func TestClaims(t *testing.T) {
	page, err := os.ReadFile(claims)
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t)
	row := regexp.MustCompile("(?m)^\\|.*\\| `(\\S+)` `((?:Test|Fuzz)\\w+)` \\|$")
	want := row.ReplaceAllStringFunc(string(page), func(old string) string {
		m := row.FindStringSubmatch(old)
		says, there := tests[m[1]+" "+m[2]]
		if !there {
			t.Errorf("%s: there is no test %s in %s", claims, m[2], m[1])
		}
		return fmt.Sprintf("| %s | `%s` `%s` |", says, m[1], m[2])
	})
	for _, m := range regexp.MustCompile(`(?m)^## (\S+\.md)$`).FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("%s has a section for %s: %v", claims, m[1], err)
		}
	}
	sameDocument(t, claims, []byte(want))
}

// TestPagesNameNoTests: a page says what is so, and the index says what shows it. Tables that
// are made from the code may name the test of a row.
func TestPagesNameNoTests(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "README.md", "SECURITY.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z0-9]\w+`).FindAllString(string(text), -1) {
			if name != "docs/limits.md" {
				t.Errorf("%s names %s: give it a row of %s", name, named, claims)
			}
		}
	}
}

// TestReaders: every fuzz target in the table of what reads strangers' bytes is there.
func TestReaders(t *testing.T) {
	page, err := os.ReadFile(claims)
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t)
	named := regexp.MustCompile(`\b([a-z/]+) (Fuzz\w+)`).FindAllStringSubmatch(string(page), -1)
	for _, n := range named {
		if _, there := tests[n[1]+" "+n[2]]; !there {
			t.Errorf("there is no fuzz target %s", n[0])
		}
	}
	if len(named) < 20 {
		t.Errorf("%d fuzz targets are named, want at least 20", len(named))
	}
}

// duty is a row of the tables of duties and of rules, and shown a test in it: a package, a
// function and, if it runs a conversation, that one's file. Held is a file of ours with the
// function, type, constant or variable in it that holds a duty, or reads what strangers send.
var (
	duty  = regexp.MustCompile(`(?m)^\| (r?\d+[a-z]?) \| .+ \| (.+) \| (.+) \|$`)
	shown = regexp.MustCompile(`^(\S+) ((?:Test|Fuzz)\w+)(?:/(\S+))?$`)
	held  = regexp.MustCompile(`\b([a-z/]+\.go) (\w+)`)
)

// TestHeldBy: whoever looks for the place of a duty finds it, in that file, under that name.
func TestHeldBy(t *testing.T) {
	page, err := os.ReadFile(claims)
	if err != nil {
		t.Fatal(err)
	}
	named := held.FindAllStringSubmatch(string(page), -1)
	for _, n := range named {
		text, err := os.ReadFile(n[1])
		if err != nil {
			t.Errorf("%s: %v", n[0], err)
			continue
		}
		if !regexp.MustCompile(`(?m)^(func (\([^)]+\) )?|type |const |var )` + n[2] + `\b|^\t` + n[2] + `\s+=`).Match(text) {
			t.Errorf("%s declares no %s", n[1], n[2])
		}
	}
	if len(named) < 100 {
		t.Errorf("%d places are named, want at least 100", len(named))
	}
}

// TestDuties: the table has all 48 duties in order, the first place of each has a name, and every
// test that a row names is there.
func TestDuties(t *testing.T) {
	page, err := os.ReadFile(claims)
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t)
	whole := 0 // rows of duties that are not part of another, which have a letter
	for _, row := range duty.FindAllStringSubmatch(string(page), -1) {
		if strings.Trim(row[1], "0123456789") == "" {
			if whole++; row[1] != fmt.Sprint(whole) {
				t.Errorf("duty %d is numbered %s", whole, row[1])
			}
		}
		if !held.MatchString(row[2]) {
			t.Errorf("duty %s: %q is no file with a name in it", row[1], row[2])
		}
		var files []string
		for test := range strings.SplitSeq(row[3], ", ") {
			part := shown.FindStringSubmatch(test)
			if part == nil {
				t.Errorf("duty %s: %q names no test", row[1], test)
				continue
			}
			if _, there := tests[part[1]+" "+part[2]]; !there {
				t.Errorf("duty %s: there is no test %q", row[1], test)
			}
			if part[3] != "" {
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

// TestNamedTests: every test that the tables of attempts and of strangers' bytes name is there.
func TestNamedTests(t *testing.T) {
	page, err := os.ReadFile(claims)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for test := range declaredTests(t) {
		names = append(names, test)
	}
	for _, m := range regexp.MustCompile(`\b([a-z][a-z/]*) (Test\w+)`).FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(names, m[1]+" "+m[2]) {
			t.Errorf("%s names %s, and there is no such test", claims, m[0])
		}
	}
}
