// Package app is the page: an interactive chart, written once and served in two ways.
// At /app it is the owner's page, a client of this server that logs in like any other.
// As a single HTML text it is an MCP App, which hosts such as Claude show in the chat
// beside the answer of generate_chart.
//
// Browsers get the files in the directory page without their comments: HTML, CSS and
// JavaScript modules. For the MCP App, [ChartHTML] puts the modules it needs into one text.
// Colours and formats come from package chart, which draws the PNG; where things stand is
// the page's own.
//
// # Security considerations
//
// The page at /app may run its own files and talk to its own server, and nothing else:
// its policy forbids inline scripts and styles, other origins, frames, forms, and (where
// browsers know Trusted Types) every way to turn text into markup. All texts, most of
// which strangers wrote, become text nodes. The host decides what the MCP App may do; the
// page needs no connection of its own and asks for none.
package app

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/chart"
)

// Path is where the owner's page is.
const Path = "/app"

//go:embed page
var pageFiles embed.FS

//go:embed texts.json
var textsFile []byte

// Languages are those in which the page speaks, the first to whom it knows no other.
var Languages = []string{"en", "de", "es"}

// policy is the Content-Security-Policy of the page at /app. Its scripts and its
// style are files of this server. It requires Trusted Types and allows no policy for
// them, so no script can write markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is one address below /app with what it answers.
type file struct {
	kind string
	text []byte
	tag  string // ETag
}

// kinds are the types of files that the page has.
var kinds = map[string]string{".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8"}

// Routes adds the page and its files to mux. Base is the published address. If a browser
// used another name of the server, the page sends it to base, because the login returns
// there. Trade says whether the server has an account to show.
func Routes(mux *http.ServeMux, base string, trade bool) {
	for _, name := range served() {
		mux.HandleFunc("GET "+Path+"/"+name, func(w http.ResponseWriter, r *http.Request) { assets()[name].serve(w, r) })
	}
	pages := make(map[string]func() file)
	for _, language := range Languages {
		pages[language] = sync.OnceValue(func() file { return page(base, trade, language) })
	}
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Language")
		pages[languageOf(r.Header.Get("Accept-Language"))]().serve(w, r)
	})
}

// languageOf returns the first language of a list, such as "de-AT,de;q=0.9,en;q=0.8", that
// the page speaks. Browsers write the list in the order of its weights.
func languageOf(accept string) string {
	for tag := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(tag), ";")
		name, _, _ = strings.Cut(strings.ToLower(name), "-")
		if slices.Contains(Languages, name) {
			return name
		}
	}
	return Languages[0]
}

// texts are what people read, in one language. What has none there stays as it is.
type texts struct {
	Refusals map[string]string `json:"refusals"` // sentences by the codes of refusals
	Texts    map[string]string `json:"texts"`    // by the English text, with {0} where a value comes
	Words    map[string]string `json:"words"`    // by the value of the protocol, such as buy
}

// textsOf returns the texts in a language.
func textsOf(language string) texts {
	var all struct {
		Refusals [][]string          `json:"refusals"` // codes with blanks between, then a sentence per language
		Texts    map[string][]string `json:"texts"`    // one per language but English
		Words    map[string][]string `json:"words"`    // likewise
	}
	if err := json.Unmarshal(textsFile, &all); err != nil {
		panic(err) // it is in the binary
	}
	column := slices.Index(Languages, language)
	in := texts{make(map[string]string), make(map[string]string), make(map[string]string)}
	for _, row := range all.Refusals {
		for code := range strings.FieldsSeq(row[0]) {
			in.Refusals[code] = row[1+column]
		}
	}
	for english, others := range all.Texts {
		if column > 0 {
			in.Texts[english] = others[column-1]
		}
	}
	for value, others := range all.Words {
		if column > 0 {
			in.Words[value] = others[column-1]
		}
	}
	return in
}

// json returns the texts for a script element: less-than and greater-than signs are escaped.
func (t texts) json() string {
	text, _ := json.Marshal(t)
	return string(text)
}

// textPlace matches a text of owner.html.
var textPlace = regexp.MustCompile(`\{t:([^}]+)\}`)

// inHTML puts texts in the places of a page.
func (t texts) inHTML(page string) string {
	return textPlace.ReplaceAllStringFunc(page, func(place string) string {
		english := place[len("{t:") : len(place)-1]
		return html.EscapeString(cmp.Or(t.Texts[english], english))
	})
}

// served has the names of the files that the page loads, its styles and modules, and assets the
// files. They are made when the first of them is asked for: to strip their comments takes longer
// than all else of a start.
var (
	served = sync.OnceValue(func() []string { return append(imported(sources(), "owner.mjs"), "page.css", "owner.css") })
	assets = sync.OnceValue(func() map[string]file {
		all, sources := make(map[string]file), sources()
		for _, name := range served() {
			all[name] = newFile(name, lean(sources[name]))
		}
		return all
	})
)

// page returns the page itself in a language.
func page(base string, trade bool, language string) file {
	with := "no"
	if trade {
		with = "yes"
	}
	in := textsOf(language)
	return newFile("owner.html", fill(in.inHTML(lean(sources()["owner.html"])),
		"{base}", html.EscapeString(base), "{trade}", with, "{look}", string(chart.Look()), "{lang}", language, "{texts}", in.json()))
}

// newFile returns a file whose type is that of the name.
func newFile(name, text string) file {
	sum := sha256.Sum256([]byte(text))
	return file{kinds[path.Ext(name)], []byte(text), `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// serve answers with the file, or with 304 if the browser has it.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-cache") // ask each time whether it has changed
	h.Set("ETag", f.tag)
	h.Set("Content-Type", f.kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
}

// The views of a chat, each one HTML text that needs no other file, made once: the
// chart for ui://wick/chart.html, and the small ones beside get_positions and
// list_alerts.
var (
	ChartHTML     = sync.OnceValue(func() string { return inChat("chart", "inchat.mjs") })
	PositionsHTML = sync.OnceValue(func() string { return inChat("positions", "small.mjs") })
	AlertsHTML    = sync.OnceValue(func() string { return inChat("alerts", "small.mjs") })
)

// inChat returns the HTML text of a view, whose script is the module entry with all that
// it imports.
func inChat(view, entry string) string {
	s := sources()
	return fill(s["chart.html"], "{view}", view, "{style}", lean(s["page.css"]), "{look}", string(chart.Look()), "{script}", bundle(s, entry))
}

// fill replaces places in braces by texts, in one pass.
func fill(text string, places ...string) string { return strings.NewReplacer(places...).Replace(text) }

// sources returns the embedded files by name.
func sources() map[string]string {
	entries, _ := pageFiles.ReadDir("page") // it is in the binary, and so are its files
	all := make(map[string]string)
	for _, e := range entries {
		text, _ := pageFiles.ReadFile("page/" + e.Name())
		all[e.Name()] = string(bytes.TrimPrefix(text, []byte("\ufeff")))
	}
	return all
}

// An MCP App is one text without further files, so its modules are put one after the
// other into a single script. That works because the modules of the page follow a few
// rules, which a test checks: they import names, from files in the same directory; they
// export only declarations; no two modules declare the same name; no text has two slashes
// after a blank, which begin a remark. What a browser gets of them has no comments, either.

// importLine matches an import of names from a module in the same directory.
var importLine = regexp.MustCompile(`import \{[^}]*\} from '\./([a-z]+\.mjs)';\n`)

// comment matches a comment on lines of its own, remark one at the end of a line, and indent
// the blanks before a line, and those without anything else.
var (
	comment = regexp.MustCompile(`(?m)^[ \t]*(//.*|/\*\*(?s:.*?)\*/)\n`)
	remark  = regexp.MustCompile(`(?m)[ \t]+// .*$`)
	indent  = regexp.MustCompile(`(?m)^\s+`)
)

// lean returns a module or a style without comments and indents. They are two fifths of it, and
// hosts keep the text of an app in memory for every answer.
func lean(text string) string {
	return indent.ReplaceAllString(remark.ReplaceAllString(comment.ReplaceAllString(text, ""), ""), "")
}

// exportWord matches the word before an exported declaration.
var exportWord = regexp.MustCompile(`(?m)^export (function|async function|const|class) `)

// bundle returns the module entry and all modules that it imports as one script, in the
// order of imported.
func bundle(sources map[string]string, entry string) string {
	var b strings.Builder
	for _, name := range imported(sources, entry) {
		b.WriteString(exportWord.ReplaceAllString(lean(importLine.ReplaceAllString(sources[name], "")), "$1 "))
	}
	// Within a script element only its own end tag is special.
	return strings.ReplaceAll(b.String(), "</script", `<\/script`)
}

// imported returns the modules that entry needs, each after those that it imports, and
// entry last.
func imported(sources map[string]string, entry string) []string {
	var order []string
	seen := make(map[string]bool)
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, found := range importLine.FindAllStringSubmatch(sources[name], -1) {
			visit(found[1])
		}
		order = append(order, name)
	}
	visit(entry)
	return order
}
