package app

import (
	"regexp"
	"strings"
)

// An MCP App is one text without further files, so its modules are put one after the
// other into a single script. That works because the modules of the page keep to a
// few rules, which a test holds them to: imports are of names, from files beside them;
// only declarations are exported; no two modules declare the same name.

// importLine is an import of names from a module beside it.
var importLine = regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([a-z]+\.mjs)';\n`)

// comment is a comment on lines of its own. Hosts keep the text of an app in memory
// for every answer, and nobody reads it there.
var comment = regexp.MustCompile(`(?m)^[ \t]*(//.*|/\*\*(?s:.*?)\*/)\n`)

// exportWord is the word before an exported declaration.
var exportWord = regexp.MustCompile(`(?m)^export (function|async function|const|class) `)

// bundle returns the module entry and all it imports as one script, each module after
// those it imports.
func bundle(sources map[string]string, entry string) string {
	var b strings.Builder
	for _, name := range imported(sources, entry) {
		text := importLine.ReplaceAllString(sources[name], "")
		text = comment.ReplaceAllString(text, "")
		b.WriteString(exportWord.ReplaceAllString(text, "$1 "))
	}
	// Within a script element only its own end tag is special.
	return strings.ReplaceAll(b.String(), "</script", `<\/script`)
}

// imported returns the modules that entry needs, itself last. Two modules may import
// each other: declarations of functions may stand in any order.
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
