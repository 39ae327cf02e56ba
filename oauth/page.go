package oauth

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"strings"
)

// The page and its style sheet. page.html is cut at its comments into pieces of
// markup; words in braces are places for texts.
var (
	//go:embed page.css
	pageCSS string
	//go:embed page.html
	pageHTML string

	pieces = cutPieces(pageHTML)
)

// page is what a person sees: a consent form, a problem, or facts.
type page struct {
	Title   string
	Server  string // the address of this server
	Problem string // set: nothing to decide, only this to read
	Perhaps bool   // with a problem: do not say that nothing was granted
	Link    string // with a problem: where the person may take the answer; empty for no link
	Notice  string // why the form is shown again
	Facts   []Fact // set: nothing to decide, only these to read, below the problem

	Own            bool // the owner's own page asks, for everything, so there is nothing to choose
	Client         string
	To             destination
	Trade          bool   // offer the choice of trading
	ChoseTrade     bool   // the owner chose trading before the form was shown again; a client cannot preselect it
	Money          string // what to say about the money
	Passphrase     bool   // ask for it
	PassphraseFrom string // where it was set; empty if unknown
	WrongWord      bool   // the notice is about the passphrase

	Kept bool // a restart does not end the permission

	Request string // what the form decides about, sealed

	Question []string // set: the owner is asked to approve this, not a client
	Approved bool     // with a question: the owner has said yes before, and may take that back
	Done     string   // set: the owner has decided, and this follows from it
}

// Fact is a line of a page: the name of something, and its value.
type Fact struct{ Name, Value string }

// cutPieces cuts a file at its comments. It returns what follows each comment, up to the
// next one, under the comment's text.
func cutPieces(file string) map[string]string {
	all := make(map[string]string)
	for part := range strings.SplitSeq(file, "<!-- ") {
		if name, piece, ok := strings.Cut(part, " -->"); ok {
			all[name] = strings.TrimPrefix(piece, "\n")
		}
	}
	return all
}

// texts returns the marks of page.html and what stands in their place. Every text, which
// may be a stranger's, is escaped. Texts stand between tags or within double quotes and
// nowhere else, so that one escaping is right for all of them.
func (p *page) texts() []string {
	texts := []string{
		"{title}", p.Title, "{server}", p.Server, "{problem}", p.Problem, "{done}", p.Done, "{link}", p.Link, "{notice}", p.Notice,
		"{client}", p.Client, "{lead}", p.To.Lead, "{main}", p.To.Main, "{port}", p.To.Port, "{kind}", p.To.kind(),
		"{money}", p.Money, "{request}", p.Request,
		"{restart}", when(!p.Kept, ", or when wick restarts"),
		"{set}", when(p.PassphraseFrom != "", "set with "+p.PassphraseFrom+" where wick runs"),
	}
	for i := 1; i < len(texts); i += 2 {
		texts[i] = html.EscapeString(texts[i])
	}
	return append(texts, // markup of ours
		"{charts}", when(!p.ChoseTrade, " checked"), "{trade}", when(p.ChoseTrade, " checked"),
		"{wrong}", when(p.WrongWord, ` aria-invalid="true" aria-describedby="notice"`))
}

// html returns the whole page. Markup comes from page.html alone. (html/template would
// do as much, and makes the linker keep every method of every type: two megabytes.)
func (p *page) html() string {
	fill := strings.NewReplacer(p.texts()...) // in one pass: a client called {request} keeps its name
	var b strings.Builder
	for _, name := range p.outline() {
		switch name {
		case "head":
			fill.WriteString(&b, pieces[name])
			b.WriteString(pageCSS) // from this package's file; its hash is in the policy
		case "fact":
			for _, f := range p.Facts {
				strings.NewReplacer("{name}", html.EscapeString(f.Name), "{value}", html.EscapeString(f.Value)).WriteString(&b, pieces[name])
			}
		case "line":
			for _, line := range p.Question {
				strings.NewReplacer("{line}", html.EscapeString(line)).WriteString(&b, pieces[name])
			}
		default:
			fill.WriteString(&b, pieces[name])
		}
	}
	return b.String()
}

// outline names the pieces of the page in their order. The kind of page follows from
// the first of these that is set: facts, an answer that was given, a question to approve,
// a problem; if none is set, the page asks for consent. An empty name is no piece.
func (p *page) outline() []string {
	switch {
	case p.Facts != nil:
		return []string{"head", "body", "problem", "facts", "fact", "told", "end"}
	case p.Done != "":
		return []string{"head", "body", "done", "end"}
	case p.Question != nil && !p.Passphrase:
		return []string{"head", "body", "approval", "notice", "line", "end"}
	case p.Question != nil && p.Approved:
		return []string{"head", "body", "approved", when(p.Notice != "", "notice"), "line", "answer", "back", "end"}
	case p.Question != nil:
		return []string{"head", "body", "approval", when(p.Notice != "", "notice"), "line", "answer", "passphrase", "place", "end"}
	case p.Problem != "":
		return []string{"head", "body", "problem", when(p.Link != "", "link"), when(!p.Perhaps, "close"), "end"}
	}
	// What is left is the question for consent, with the scopes to choose from if there
	// are two.
	choice := "charts"
	switch {
	case p.Own:
		return []string{"head", "body", "own", when(p.Notice != "", "notice"), "form", "everything", when(p.Passphrase, "passphrase"), "buttons", "end"}
	case p.Trade:
		choice = "choice"
	}
	return []string{"head", "body", "question", when(p.Notice != "", "notice"), "target", when(p.To.Loopback, "local"),
		"form", choice, when(p.Passphrase, "passphrase"), "buttons", "end"}
}

// when returns text if applies is true, else nothing.
func when(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

// kind returns what the page says after a destination that is not a website.
func (t destination) kind() string {
	return when(t.App, " an app on this device") + when(t.Loopback, " on this computer")
}

// pagePolicy is the page's Content-Security-Policy: its own style sheet by hash,
// its icon, no scripts, no frames around it. It has no form-action on purpose.
// Chromium holds that directive against every redirect that follows the post,
// and we cannot know them all: claude.ai's callback goes on to claude://,
// vscode.dev's to vscode://. Escaping in the page keeps strangers' forms out.
var pagePolicy = func() string {
	style := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(style[:]) + "'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// pageHeaders sets the headers of every page. The referrer policy keeps the page's
// address, which holds the request, from other sites. Our own site must see it, or
// browsers would post the form with the origin "null".
func pageHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// show writes a page. The caller has called pageHeaders before.
func show(w http.ResponseWriter, status int, p page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, p.html()) // fails when the browser has left
}

// sentence returns an error's text with a capital and a full stop, for a page. Texts of
// ours begin with ASCII.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
