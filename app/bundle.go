package app

import (
	"regexp"
	"strings"
)

// An MCP App is one text without further files, so its modules are put one after the
// other into a single script. That works because the modules of the page follow a few
// rules, which a test checks: they import names, from files in the same directory; they
// export only declarations; no two modules declare the same name; no text has two slashes
// after a blank, which begin a remark.

// importLine matches an import of names from a module in the same directory.
var importLine = regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([a-z]+\.mjs)';\n`)

// comment matches a comment on lines of its own, and remark one at the end of a line. They
// are left out, since hosts keep the text of an app in memory for every answer.
var (
	comment = regexp.MustCompile(`(?m)^[ \t]*(//.*|/\*\*(?s:.*?)\*/)\n`)
	remark  = regexp.MustCompile(`(?m)[ \t]+// .*$`)
)

// exportWord matches the word before an exported declaration.
var exportWord = regexp.MustCompile(`(?m)^export (function|async function|const|class) `)

// bundle returns the module entry and all modules that it imports as one script, in the
// order of imported.
func bundle(sources map[string]string, entry string) string {
	var b strings.Builder
	for _, name := range imported(sources, entry) {
		text := importLine.ReplaceAllString(sources[name], "")
		text = remark.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
		b.WriteString(exportWord.ReplaceAllString(text, "$1 "))
	}
	// Within a script element only its own end tag is special.
	return strings.ReplaceAll(b.String(), "</script", `<\/script`)
}

// imported returns the modules that entry needs, each after those that it imports, and
// entry last. Two modules may import each other: functions may be declared in any order.
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
