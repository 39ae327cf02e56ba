package app

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wick/chart"
	"wick/indicators"
	"wick/trade/book"
)

var update = flag.Bool("update", false, "rewrite the tables of the page's own tests")

// get asks the page's routes for a path.
func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	Routes(mux, "https://wick.example", true)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://wick.example"+path, nil))
	return w
}

// views are what hosts show in chats.
var views = map[string]func() string{"chart": ChartHTML, "positions": PositionsHTML, "alerts": AlertsHTML}

// TestSizes: what a host keeps for the chart, and all that a browser loads for the
// page, stay small. The bounds are in bytes, uncompressed.
func TestSizes(t *testing.T) {
	for name, view := range views {
		if n := len(view()); n > 148<<10 {
			t.Errorf("the view %s has %d bytes, more than 148 KiB", name, n)
		} else {
			t.Logf("the view %s: %d bytes", name, n)
		}
	}
	all := -len(textsOf("en").json()) // what is read, of which the page has one language
	all += len(page("https://wick.example", true, "en").text)
	for _, f := range assets() {
		all += len(f.text)
	}
	if all > 220_000 {
		t.Errorf("the page has %d bytes, more than 220,000", all)
	} else {
		t.Logf("the owner's page: %d bytes", all)
	}
}

// TestRefusals: a person reads a sentence for every code of a refusal, in every language.
func TestRefusals(t *testing.T) {
	for _, language := range Languages {
		got := textsOf(language)
		for code, row := range book.Codes {
			if row.Retry != "" && got.Refusals[string(code)] == "" {
				t.Errorf("%s: no sentence for %s", language, code)
			}
		}
		for code, text := range got.Refusals {
			if book.Codes[book.Code(code)].Retry == "" {
				t.Errorf("%s: a sentence for %s, which no refusal has", language, code)
			}
			if regexp.MustCompile(`[a-z]_[a-z]`).MatchString(text) {
				t.Errorf("%s: %q has the name of a tool or an argument", language, text)
			}
		}
	}
}

// TestTexts: every text and every word of the page is in the table, in every language and with
// the same values in it, and nothing in the table is without use.
func TestTexts(t *testing.T) {
	call, literal := regexp.MustCompile(`(?:^|[^\w.])t\(`), regexp.MustCompile(`(?:^|[^\w.])t\('((?:[^'\\]|\\.)*)'`)
	used := make(map[string]bool)
	for name, text := range sources() {
		if strings.HasSuffix(name, ".html") {
			for _, found := range textPlace.FindAllStringSubmatch(text, -1) {
				used[found[1]] = true
			}
			continue
		}
		text = comment.ReplaceAllString(text, "")
		found := literal.FindAllStringSubmatch(text, -1)
		if all := call.FindAllString(text, -1); len(all) != len(found) {
			t.Errorf("%s asks for %d texts, of which %d are written out", name, len(all), len(found))
		}
		for _, f := range found {
			used[f[1]] = true
		}
	}
	values := make(map[string]bool)
	for _, value := range slices.Concat(chart.Types(), chart.Scales(), chart.Themes(), indicators.Categories(), []string{"auto", "all", chart.HighContrast,
		"buy", "sell", "long", "short", "stop_loss", "take_profit", "open", "partially_filled", "filled", "cancelled", "rejected",
		"active", "reducing", "halted", "ok", "broken", "paper", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
	}) {
		values[value] = true
	}
	for _, value := range book.OrderTypes {
		values[string(value)] = true
	}
	place := regexp.MustCompile(`\{\d\}`)
	places := func(text string) []string {
		all := place.FindAllString(text, -1)
		slices.Sort(all)
		return all
	}
	for _, language := range Languages[1:] {
		in := textsOf(language)
		for _, part := range []struct {
			used  map[string]bool
			table map[string]string
		}{{used, in.Texts}, {values, in.Words}} {
			for key := range part.used {
				if text := part.table[key]; text == "" || !slices.Equal(places(text), places(key)) {
					t.Errorf("%s: %q for %q", language, text, key)
				}
			}
			for key := range part.table {
				if !part.used[key] {
					t.Errorf("%s: nothing uses %q", language, key)
				}
			}
		}
	}
}

// TestLanguages: the browser's list decides, and caches know it.
func TestLanguages(t *testing.T) {
	mux := http.NewServeMux()
	Routes(mux, "https://wick.example", true)
	for accept, want := range map[string]string{"": "en", "fr": "en", "de": "de", "es-MX,es;q=0.9,en;q=0.8": "es", "fr-CH, fr;q=0.9, DE-at;q=0.7, en;q=0.5": "de", "en-GB,de;q=0.5": "en", ";,,": "en"} {
		r := httptest.NewRequest(http.MethodGet, "https://wick.example/app", nil)
		r.Header.Set("Accept-Language", accept)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `<html lang="`+want+`"`) || w.Header().Get("Vary") != "Accept-Language" {
			t.Errorf("%q: not in %s, or Vary is %q", accept, want, w.Header().Get("Vary"))
		}
	}
}

// TestPageRuns: everything that the page names is served, with its type, so that the
// policy, which forbids everything else, lets it run.
func TestPageRuns(t *testing.T) {
	w := get(t, "/app")
	page := w.Body.String()
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("GET /app: %d %s", w.Code, w.Header().Get("Content-Type"))
	}
	if strings.Contains(page, "<style") || regexp.MustCompile(`<script[^>]*type="module">`).MatchString(page) || regexp.MustCompile(`\s(on[a-z]+|style)=`).MatchString(page) {
		t.Error("the page has a script or a style within it, which its policy forbids")
	}
	if !strings.Contains(page, `data-base="https://wick.example"`) || strings.Contains(page, "{look}") {
		t.Error("the page's places were not filled")
	}
	asked := []string{"/app/page.css", "/app/owner.css"}
	for _, name := range imported(sources(), "owner.mjs") {
		asked = append(asked, "/app/"+name)
	}
	for _, path := range asked {
		w := get(t, path)
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(kind, "text/javascript") && !strings.HasPrefix(kind, "text/css") {
			t.Errorf("GET %s: %d %s", path, w.Code, kind)
		}
	}
	for _, path := range []string{"/app/none.mjs", "/app/chart.html", "/app/inchat.mjs", "/app/small.mjs", "/app/..%2fapp.go"} {
		if w := get(t, path); w.Code == http.StatusOK {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
}

// TestPolicy checks the headers that keep strangers' text from being run as a program.
// Without them one mistake in a script would give the owner's token to a stranger who chose
// a client's name.
func TestPolicy(t *testing.T) {
	for _, path := range []string{"/app", "/app/owner.mjs"} {
		h := get(t, path).Header()
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
			"frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), want) {
				t.Errorf("%s: the policy lacks %s", path, want)
			}
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

// TestNoMarkup: no module turns text into markup or into a program, and only the ones
// that speak with the server or the host have a way out.
func TestNoMarkup(t *testing.T) {
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment|DOMParser|srcdoc`)
	way := regexp.MustCompile(`\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|new Worker|new Image|\bimport\(`)
	for name, text := range sources() {
		if found := markup.FindString(text); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
		if found := way.FindString(text); found != "" && name != "wire.mjs" && name != "login.mjs" {
			t.Errorf("%s uses %s", name, found)
		}
	}
	for name, view := range views {
		if found := way.FindString(view()); found != "" {
			t.Errorf("the view %s could connect by itself: %s", name, found)
		}
	}
}

// TestBundle checks the rules that let modules be put into one script: they import names
// from the same directory, export only declarations, and declare no name twice.
func TestBundle(t *testing.T) {
	for entry, least := range map[string]int{"inchat.mjs": 100, "small.mjs": 40} {
		t.Run(entry, func(t *testing.T) { testBundle(t, entry, least) })
	}
}

// TestNoCircle: each module comes after all that it imports, so no two import each other, not
// even by others.
func TestNoCircle(t *testing.T) {
	for _, entry := range []string{"owner.mjs", "inchat.mjs", "small.mjs"} {
		before := make(map[string]bool)
		for _, name := range imported(sources(), entry) {
			for _, found := range importLine.FindAllStringSubmatch(sources()[name], -1) {
				if !before[found[1]] {
					t.Errorf("%s imports %s, which needs it", name, found[1])
				}
			}
			before[name] = true
		}
	}
}

// TestLean checks that what is left out as a comment is one.
func TestLean(t *testing.T) {
	for name, text := range sources() {
		for _, line := range strings.Split(comment.ReplaceAllString(text, ""), "\n") {
			code := remark.ReplaceAllString(line, "")
			if code != line && (strings.Count(code, "'")%2 != 0 || strings.Count(code, "`")%2 != 0) {
				t.Errorf("%s: %q would be cut within a text", name, line)
			}
		}
	}
}

// testBundle looks at the modules of one entry, which declare at least so many names.
func testBundle(t *testing.T, entry string, least int) {
	declared := make(map[string]string)
	for _, name := range imported(sources(), entry) {
		text := sources()[name]
		rest := exportWord.ReplaceAllString(importLine.ReplaceAllString(text, ""), "")
		if found := regexp.MustCompile(`(?m)^(import|export)\b.*$`).FindString(rest); found != "" {
			t.Errorf("%s: %q cannot be put into one script", name, found)
		}
		for _, found := range regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|const|let|class) (\w+)`).FindAllStringSubmatch(text, -1) {
			if other := declared[found[1]]; other != "" {
				t.Errorf("%s and %s both declare %s", name, other, found[1])
			}
			declared[found[1]] = name
		}
	}
	script := bundle(sources(), entry)
	if found := remark.FindString(script); found != "" {
		t.Errorf("the script has the comment %q", found)
	}
	if strings.Contains(script, "</script") || strings.Contains(script, "from './") {
		t.Error("the script ends early or has an import left")
	}
	if len(declared) < least {
		t.Errorf("only %d names were found", len(declared))
	}
}

// TestNotModified: a browser that has a file gets no second copy.
func TestNotModified(t *testing.T) {
	mux := http.NewServeMux()
	Routes(mux, "https://wick.example", false)
	r := httptest.NewRequest(http.MethodGet, "/app/plan.mjs", nil)
	r.Header.Set("If-None-Match", get(t, "/app/plan.mjs").Header().Get("ETag"))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("status %d with %d bytes, want 304 without", w.Code, w.Body.Len())
	}
}

// TestLook keeps the tables that the page's own tests run with those of package chart.
// Run with -update after a change of them.
func TestLook(t *testing.T) {
	const name = "test/look.json"
	if *update {
		if err := os.WriteFile(name, chart.Look(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, chart.Look()) {
		t.Errorf("%s has other tables than package chart (%v): run go test ./app -run TestLook -update", name, err)
	}
}
