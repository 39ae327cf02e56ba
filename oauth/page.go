package oauth

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/url"
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

// Fact is a line of a page: the name of something, and its value.
type Fact struct {
	Name, Value string
	Link        bool // the value is an address of this server, to go to
}

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

// piece returns a piece of the page with texts in its places: each place is followed by its
// text. Every text, which may be a stranger's, is escaped. Places stand between tags or within
// double quotes and nowhere else, so that one escaping is right for all of them. (html/template
// would do as much, and makes the linker keep every method of every type: two megabytes.)
func piece(name string, texts ...string) string {
	markup, known := pieces[name]
	if !known {
		panic("oauth: page.html has no piece " + name)
	}
	for i := 1; i < len(texts); i += 2 {
		texts[i] = html.EscapeString(texts[i])
	}
	return strings.NewReplacer(texts...).Replace(markup) // in one pass: a client called {port} keeps its name
}

// when returns text if applies is true, else nothing.
func when(applies bool, text string) string {
	if applies {
		return text
	}
	return ""
}

// shown returns a piece that shows a destination.
func (d destination) shown(name string, texts ...string) string {
	kind := when(d.App, " an app on this device") + when(d.Loopback, " on this computer")
	return piece(name, append(texts, "{lead}", d.Lead, "{main}", d.Main, "{port}", d.Port, "{kind}", kind)...)
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

// show writes a page of these pieces. The caller has called pageHeaders before.
func (s *Server) show(w http.ResponseWriter, status int, title string, parts ...string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	page := []string{piece("head", "{title}", title), pageCSS, piece("body", "{server}", s.base)} // the hash of the style is in the policy
	page = append(append(page, parts...), piece("end"))
	io.WriteString(w, strings.Join(page, "")) // fails when the browser has left
}

// tellPage writes a page to be read: its title, a text, and what follows from that.
func (s *Server) tellPage(w http.ResponseWriter, status int, title, text string, parts ...string) {
	s.show(w, status, title, append([]string{piece("heading", "{title}", title), piece("lead", "{text}", text)}, parts...)...)
}

// Tell shows a person a page that asks for nothing: a heading, a sentence and
// some facts.
func (s *Server) Tell(w http.ResponseWriter, status int, title, text string, facts ...Fact) {
	pageHeaders(w.Header())
	list := piece("facts")
	for _, f := range facts {
		name := "fact"
		if f.Link {
			name = "fact link"
		}
		list += piece(name, "{name}", f.Name, "{value}", f.Value)
	}
	s.tellPage(w, status, title, text, list, piece("told"))
}

// sentence returns an error's text with a capital and a full stop, for a page. Texts of
// ours begin with ASCII.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// The requests of the owner's browser, and what its headers say of the page that sent them.

// refuseHere logs and answers a bad request that must not be redirected.
func (s *Server) refuseHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	s.logRefusal(r, "authorization refused", ref)
	s.answerHere(w, r, ref)
}

// answerHere answers a refused request with a page for people, with JSON for callers that
// ask for it (mcp-remote looks for invalid_client before it opens the browser).
func (s *Server) answerHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		writeRefusal(w, ref)
		return
	}
	pageHeaders(w.Header())
	ref.head(w.Header())
	title, link := "This did not work", ""
	if ref.code == "access_denied" {
		title = "Access denied"
	}
	if ref.link != "" {
		link = ref.to.shown("link", "{link}", ref.link)
	}
	s.tellPage(w, ref.status, title, sentence(ref.text), link, when(!ref.perhaps, piece("close")))
}

// pageQuery reads the query of a request for a page. It returns false if it has refused
// the request: one with a bad query, or one that checkNear refuses. Parameters that come
// twice are left to the caller, who knows where the refusal may be sent.
func (s *Server) pageQuery(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	var v url.Values
	ref := bad("invalid_request", "the query is longer than 12 KiB")
	if len(r.URL.RawQuery) <= maxQuery {
		ref = s.checkNear(r)
		var err error
		if v, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			ref = bad("invalid_request", "the query is not URL-encoded")
		}
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return params(v), ref == nil
}

// pageForm reads the form that a page posts: what was chosen, and what the form holds, which
// is empty for a form that is not ours. It returns false if it has refused the request: one
// with a bad form, or one that checkNear or checkOrigin refuses. If another site's page
// posted it, the refusal says what follows from that.
func (s *Server) pageForm(w http.ResponseWriter, r *http.Request, follows string) (posted params, f form, ok bool) {
	pageHeaders(w.Header())
	posted, ref := readParams(w, r)
	if ref == nil {
		ref = s.checkNear(r)
	}
	if ref == nil {
		ref = s.checkOrigin(r, follows)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
		return nil, f, false
	}
	if s.open(forForm, posted.get("request"), &f) == nil {
		f = form{}
	}
	return posted, f, true
}
