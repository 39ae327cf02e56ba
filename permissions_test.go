package main

import (
	"fmt"
	"strings"
	"testing"

	"wick/permit"
)

// TestPermissionsDocument holds docs/permissions.md to the table of the gate. Run with
// -update to rewrite it.
func TestPermissionsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Who may do what\n\nMade from the code by `go test -run Permissions -update .`; `wick permissions` prints the table. Tests try every action at every door of a running wick.\n\n" +
		"A token for trading has the scopes charts, read and trade, and so has the host over stdio; a token for charts has the first. The owner's page has owner too, and gets it with the passphrase, or without one with the key of the start line. " +
		"Whoever can open the socket has owner; a yes needs the passphrase besides. A host that attaches to a process with a passphrase or real money has charts and read, and trade only with `--attach-trade`. " +
		"Another replica has peer and owner by the secret that replicas share, and passes a client's call on with the client's own token.\n\n| action | scope | doors | approval |\n|---|---|---|---|\n")
	for _, r := range permit.Table {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Action, r.Scope, strings.Trim(fmt.Sprint(r.Doors), "[]"), r.Approval)
	}
	sameDocument(t, "docs/permissions.md", []byte(b.String()))
}
