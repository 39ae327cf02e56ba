package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readingOrder is the order in which an auditor should read the packages.
var readingOrder = []struct{ pkg, why string }{
	{".", "signals"},
	{"server", "flags, wiring, what is opened and started"},
	{"address", "what is loopback, what is public"},
	{"limit", "bounds on texts and rates"},
	{"oauth", "faces strangers: the login"},
	{"oauth/fileledger", "with --key-file: used codes and revoked logins, on disk"},
	{"mcp", "faces strangers: the protocol"},
	{"mcp/tools", "arguments of models"},
	{"app", "the owner's page; its Go, the scripts are below"},
	{"sse", "faces strangers: writes streams"},
	{"delivery", "who still has to get which notification"},
	{"notify", "messages to the owner: what waits, when it is sent"},
	{"notify/service", "faces other people's servers, with the owner's secrets"},
	{"archive", "finished records on disk, found by key"},
	{"exact", "exact numbers for money"},
	{"journal", "steps on disk, crashes, recovery"},
	{"cluster/etcd", "the words of etcd's gateway"},
	{"cluster", "the same steps in etcd, who may write them, and what replicas ask of each other"},
	{"trade", "orders, positions, alerts"},
	{"broker", "the words between the book and a broker elsewhere"},
	{"broker/alpaca", "faces a broker, with the owner's keys"},
	{"metrics", "numbers for the operator"},
	{"market", "data services; fetch.go reads what they send"},
	{"rules", "the language of conditions; its text is a model's"},
	{"indicators", "the catalogue: records and pure functions"},
	{"indicators/shape", "lines, signals, pivots, divergences"},
	{"indicators/kernel", "arithmetic of columns of numbers"},
	{"chart", "pictures; opens nothing, holds no secret"},
	{"chart/flatpng", "the PNG encoder: bytes in, bytes out"},
}

// TestAuditDocument keeps the line counts of docs/audit.md true, to a tenth: it
// need not change with every commit.
func TestAuditDocument(t *testing.T) {
	const name = "docs/audit.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin := []byte("<!-- made by go test -run TestAuditDocument -update . -->\n")
	before, rest, ok := bytes.Cut(text, begin)
	_, after, ok2 := bytes.Cut(rest, []byte("<!-- end -->"))
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks", name)
	}
	var b bytes.Buffer
	b.Write(before)
	b.Write(begin)
	b.WriteString("| | package | files | lines | lines of tests | |\n|---|---|---|---|---|---|\n")
	files, lines, tests := 0, 0, 0
	for i, r := range readingOrder {
		f, l, s := count(t, r.pkg)
		pkg := r.pkg
		if pkg == "." {
			pkg = "main"
		}
		fmt.Fprintf(&b, "| %d | %s | %d | %d | %d | %s |\n", i+1, pkg, f, l, s, r.why)
		files, lines, tests = files+f, lines+l, tests+s
	}
	fmt.Fprintf(&b, "| | all | %d | %d | %d | |\n<!-- end -->", files, lines, tests)
	b.Write(after)
	if *update {
		sameDocument(t, name, b.Bytes())
		return
	}
	got, want := numbers(text), numbers(b.Bytes())
	if len(got) != len(want) {
		t.Fatalf("%s: its table has changed: run go test -run TestAuditDocument -update .", name)
	}
	for i := range want {
		if diff := got[i] - want[i]; diff < -want[i]/10-100 || diff > want[i]/10+100 {
			t.Errorf("%s says %d where the code has %d: run go test -run TestAuditDocument -update .", name, got[i], want[i])
		}
	}
}

// numbers returns all whole numbers of a text.
func numbers(text []byte) (list []int) {
	for _, word := range regexp.MustCompile(`\d+`).FindAll(text, -1) {
		n, err := strconv.Atoi(string(word))
		if err == nil {
			list = append(list, n)
		}
	}
	return list
}

// count returns how many source files and lines a package has, and lines of
// tests, rounded to hundreds.
func count(t *testing.T, pkg string) (files, lines, tests int) {
	t.Helper()
	for name, text := range sources(t, pkg) {
		n := bytes.Count(text, []byte("\n"))
		if strings.HasSuffix(name, "_test.go") {
			tests += n
			continue
		}
		files++
		lines += n
	}
	round := func(n int) int { return (n + 50) / 100 * 100 }
	return files, round(lines), round(tests)
}

// sources returns the Go files of a package by their names.
func sources(t *testing.T, pkg string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string][]byte, len(names))
	for _, name := range names {
		if texts[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// opens are the calls that open files or sockets, or take one.
var opens = regexp.MustCompile(`\b(os\.(Open|OpenFile|OpenRoot|Create|ReadFile|WriteFile|ReadDir|Mkdir|MkdirAll|Rename|Remove)|net\.(Listen|Dial|Dialer)|http\.(Get|Post|DefaultClient|Client|Transport|ListenAndServe)|syscall\.CreateFile|control\.Hijack)\b`)

// TestAuditOpens: every file of the program that opens a file or a socket is in
// docs/audit.md.
func TestAuditOpens(t *testing.T) {
	doc, err := os.ReadFile("docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readingOrder {
		for name, text := range sources(t, r.pkg) {
			if !strings.HasSuffix(name, "_test.go") && opens.Match(text) && !strings.Contains(string(doc), filepath.ToSlash(name)) {
				t.Errorf("%s opens something (%s) and is not in docs/audit.md", name, opens.Find(text))
			}
		}
	}
}

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
	duty  = regexp.MustCompile(`(?m)^\| (\d+) \| .+ \| (.+) \| (.+) \|$`)
	shown = regexp.MustCompile(`^(\S+) ((?:Test|Fuzz)\w+)(?:/(\S+))?$`)
)

// TestThreatModel: the table has all 48 duties in order, and every file and test
// it names is there.
func TestThreatModel(t *testing.T) {
	doc, err := os.ReadFile("docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := duty.FindAllStringSubmatch(string(doc), -1)
	if len(rows) != 48 {
		t.Errorf("%d duties, want 48", len(rows))
	}
	for i, row := range rows {
		if row[1] != fmt.Sprint(i+1) {
			t.Errorf("row %d is numbered %s", i+1, row[1])
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
}

// TestReadingOrder: no package is left out.
func TestReadingOrder(t *testing.T) {
	for pkg := range mayImport {
		if len(sources(t, pkg)) == 0 {
			continue
		}
		known := slices.ContainsFunc(readingOrder, func(r struct{ pkg, why string }) bool { return r.pkg == pkg })
		if !known && !strings.HasSuffix(pkg, "test") { // market/markettest and its like
			t.Errorf("package %s is not in the reading order", pkg)
		}
	}
}
