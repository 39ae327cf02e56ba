package oauth

import (
	_ "embed"
	"html"
	"strings"
)

//go:embed page.css
var pageCSS string

// page is what a person sees: a consent form, or a problem.
type page struct {
	Title   string
	Server  string // the address of this server
	Problem string // set: nothing to decide, only this to read
	Link    string // beside a problem: where the answer could go; empty for nowhere
	Notice  string // why the form is shown again

	Client         string
	To             destination
	Trade          bool   // offer the choice
	ChoseTrade     bool   // the owner had chosen trading; never the client's wish
	Paper          bool   // trading moves no real money
	Passphrase     bool   // ask for it
	PassphraseFrom string // where it was set; empty if unknown
	WrongWord      bool   // the notice is about the passphrase

	Request string // the form's memory of what is decided, sealed
}

// document is a page being written. Markup and text are kept apart by their
// types: [document.add] takes constants, and whatever is a string, which may be
// a stranger's, can only come in by [document.text], which escapes it. Texts
// stand between tags or within double quotes and nowhere else, so that one
// escaping is right for all of them. (html/template would do as much, and
// makes the linker keep every method of every type: two megabytes.)
type document struct{ b strings.Builder }

// markup is HTML of ours. Constants become it by themselves, strings do not.
type markup string

func (d *document) add(m markup) { d.b.WriteString(string(m)) }

func (d *document) text(s string) { d.b.WriteString(html.EscapeString(s)) }

// wrap adds a text between two pieces of markup.
func (d *document) wrap(before markup, s string, after markup) {
	d.add(before)
	d.text(s)
	d.add(after)
}

// html returns the whole page.
func (p *page) html() string {
	var d document
	d.wrap(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>`, p.Title, ` · wick</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>`)
	d.add(markup(pageCSS)) // from this package's file; its hash is in the policy
	d.add(`</style>
</head>
<body>
<main>
<p class="brand"><img src="/favicon.svg" width="24" height="24" alt=""> wick <span>`)
	d.wrap(`at <bdi>`, p.Server, "</bdi></span></p>\n")
	if p.Problem != "" {
		p.problem(&d)
	} else {
		p.question(&d)
		p.form(&d)
	}
	d.add("</main>\n</body>\n</html>\n")
	return d.b.String()
}

// problem says what went wrong. An answer for an app that the owner never
// allowed waits behind a link, with the host it leads to.
func (p *page) problem(d *document) {
	d.wrap(`<h1>`, p.Title, "</h1>\n")
	d.wrap(`<p class="lead">`, p.Problem, "</p>\n")
	if p.Link != "" {
		d.wrap(`<p class="lead">The app waits for this answer at the address below. Nobody has checked it: go there only if you know it.</p>
<p><a href="`, p.Link, `" rel="noreferrer">`)
		p.To.write(d)
		d.add("</a></p>\n")
	}
	d.add(`<p class="small">Nothing was granted. You can close this page.</p>
`)
}

// write adds a destination with its last two labels emphasised: they say whose
// host it is, whatever stands before them.
func (t destination) write(d *document) {
	d.wrap(`<bdi class="host">`, t.Lead, `<strong>`)
	d.text(t.Main)
	d.wrap(`</strong>`, t.Port, `</bdi>`)
}

// question says who asks, and where the answer goes.
func (p *page) question(d *document) {
	d.wrap(`<h1><bdi class="client">`, p.Client, `</bdi> <span>wants access</span></h1>
<p class="lead">The app chose this name itself; nobody has checked it. Allow it only if you have just set out to connect it.</p>
`)
	if p.Notice != "" {
		d.wrap(`<p class="notice" role="alert" id="notice">`, p.Notice, "</p>\n")
	}
	d.add(`<dl>
<dt>You will be sent to</dt>
<dd>`)
	p.To.write(d)
	switch {
	case p.To.App:
		d.add(` an app on this device`)
	case p.To.Loopback:
		d.add(` on this computer`)
	}
	d.add("</dd>\n</dl>\n")
	if p.To.Loopback {
		d.add(`<p class="warning">Any program on this computer can listen at that address. Go on only if you started one that should.</p>
`)
	}
}

// form is where the owner decides.
func (p *page) form(d *document) {
	d.wrap(`<form method="post" action="/authorize">
<input type="hidden" name="request" value="`, p.Request, "\">\n")
	p.choice(d)
	if p.Passphrase {
		p.password(d)
	}
	d.add(`<div class="buttons">
<button class="allow" name="decision" value="allow">Allow</button>
<button class="deny" name="decision" value="deny" formnovalidate>Deny</button>
</div>
</form>
<p class="small">The permission ends after seven days, or when wick restarts.</p>
`)
}

func (p *page) password(d *document) {
	d.add(`<label class="field" for="passphrase">Owner’s passphrase`)
	if p.PassphraseFrom != "" {
		d.wrap(` <span>set with <code>`, p.PassphraseFrom, `</code> where wick runs</span>`)
	}
	d.add(`</label>
<input type="password" id="passphrase" name="passphrase" autocomplete="current-password" maxlength="1000" required autofocus`)
	if p.WrongWord {
		d.add(` aria-invalid="true" aria-describedby="notice"`)
	}
	d.add(">\n")
}

// choice offers trading where there is any, and says what is granted. Trading is
// never chosen beforehand, whatever the client asked for.
func (p *page) choice(d *document) {
	if !p.Trade {
		d.add(`<h2>It may</h2>
<ul><li>read market data</li><li>draw charts</li><li>compute indicators</li></ul>
`)
		return
	}
	checked := map[bool]markup{true: ` checked`}
	d.add(`<fieldset>
<legend>What may it do?</legend>
<label class="choice"><input type="radio" name="grant" value="charts"`)
	d.add(checked[!p.ChoseTrade])
	d.add(`>
<span><b>Charts only</b><small>Read market data, draw charts, compute indicators.</small></span></label>
<label class="choice"><input type="radio" name="grant" value="trade"`)
	d.add(checked[p.ChoseTrade])
	d.add(`>
<span><b>Charts and trading</b><small>Also orders, alerts, positions and notifications.`)
	if p.Paper {
		d.add(` <em>Paper trading: no real money.</em>`)
	}
	d.add(`</small></span></label>
</fieldset>
`)
}
