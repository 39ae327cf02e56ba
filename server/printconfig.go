package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"wick/mcp"
)

// client is an MCP client that wick config knows: where its settings are and
// how they spell a server.
type client struct {
	name  string
	where string // what the person does with the block
	key   string // name of the member that holds all servers; empty if the settings are not JSON
	url   string // name of the member for a server's address; empty if the client takes no address
	kind  bool   // the settings of a server have a "type"
}

// clients are the programs whose settings wick can write.
var clients = []client{
	{name: "claude-desktop", where: "add to claude_desktop_config.json (Settings, Developer, Edit Config), then start Claude anew", key: "mcpServers"},
	{name: "claude-code", where: "run this; for HTTP then /mcp in a session, to log in"},
	{name: "cursor", where: "add to ~/.cursor/mcp.json, or to .cursor/mcp.json of a project", key: "mcpServers", url: "url"},
	{name: "vscode", where: "add to .vscode/mcp.json", key: "servers", url: "url", kind: true},
	{name: "codex", where: "add to ~/.codex/config.toml; for HTTP then: codex mcp login wick"},
	{name: "gemini", where: "add to ~/.gemini/settings.json; for HTTP then /mcp auth wick in a session", key: "mcpServers", url: "httpUrl"},
	{name: "windsurf", where: "add to ~/.codeium/windsurf/mcp_config.json", key: "mcpServers", url: "serverUrl"},
	{name: "zed", where: "add to Zed's settings.json", key: "context_servers", url: "url"},
}

// ClientNames returns the clients that wick config knows.
func ClientNames() []string {
	var list []string
	for _, c := range clients {
		list = append(list, c.name)
	}
	return list
}

// writeClient prints the block to stdout, and what to do with
// it to stderr, so that the block alone can be sent to a file.
func (c *config) writeClient(stdout, stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("where this program is: %w", err)
	}
	name := c.words[0]
	var args []string // over stdio; nil for HTTP
	if c.mcp || name == "claude-desktop" {
		args = c.stdioArguments()
	} else if c.baseURL == "" && c.port == 0 {
		return errors.New("config with --port 0: which port will be picked is not known; write the port, or --base-url")
	} else if err := c.settleBase(c.port); err != nil { // nothing listens here, so the port is the one that was asked for
		return err
	}
	block, where, err := ClientConfig(name, c.baseURL+"/mcp", program, args)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s:\n", where)
	_, err = fmt.Fprint(stdout, block)
	return err
}

// stdioArguments returns the flags of the command line for a client that starts
// wick itself, in a directory of its own choice: paths are made absolute. Flags that
// came from the environment are left out, since the client may have another one.
func (c *config) stdioArguments() []string {
	args := []string{"--mcp"}
	for _, s := range c.settings() {
		value, given := c.given[s.Name]
		if dir, ok := strings.CutPrefix(value, "csv:"); ok && s.Name == "source" {
			value = "csv:" + absolute(dir)
		} else if s.Value == "file" || s.Value == "directory" {
			value = absolute(value)
		}
		switch {
		case !given || s.File != "" || s.Name == "mcp" || s.Name == "serve": // the mode is always --mcp here
		case s.Value == "" && value == "true":
			args = append(args, "--"+s.Name)
		default:
			args = append(args, "--"+s.Name+"="+value)
		}
	}
	slices.Sort(args[1:])
	return args
}

// absolute returns a path that means the same in every working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path // the working directory is gone
}

// ClientConfig returns what to paste into the settings of a client, and where.
// With args the client starts the program and talks to it over stdio; without,
// it connects to address.
func ClientConfig(name, address, program string, args []string) (block, where string, err error) {
	// Two of the clients take no JSON: one is set up by a command, one by TOML.
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if i < 0 {
		return "", "", fmt.Errorf("config %q is not a client that wick knows: choose one of %s", name, strings.Join(ClientNames(), ", "))
	}
	c := clients[i]
	stdio := args != nil
	switch {
	case name == "claude-desktop" && !stdio:
		return "", "", fmt.Errorf("claude-desktop takes no address in its settings: it starts wick over stdio, or has an address as a connector")
	case name == "claude-code" && stdio:
		return "claude mcp add wick -- " + shellWords(append([]string{program}, args...)) + "\n", c.where, nil
	case name == "claude-code":
		return "claude mcp add --transport http wick " + address + "\n", c.where, nil
	case name == "codex" && stdio:
		return fmt.Sprintf("[mcp_servers.wick]\ncommand = %s\nargs = %s\n", quote(program), quote(args)), c.where, nil
	case name == "codex":
		return fmt.Sprintf("[mcp_servers.wick]\nurl = %s\n", quote(address)), c.where, nil
	}
	return c.settings(address, program, args), c.where, nil
}

// settings returns the block for a client whose settings are JSON. The clients differ in
// the names of its members.
func (c client) settings(address, program string, args []string) string {
	entry := fmt.Sprintf(`"command": %s, "args": %s`, quote(program), quote(args))
	kind := `"type": "stdio", `
	if args == nil {
		entry, kind = fmt.Sprintf(`%q: %s`, c.url, quote(address)), `"type": "http", `
	}
	if c.kind {
		entry = kind + entry
	}
	return fmt.Sprintf("{%q: {\"wick\": {%s}}}\n", c.key, entry)
}

// quote returns v as JSON, which for texts and lists of them is TOML too.
func quote(v any) string { return strings.ReplaceAll(string(mcp.Encode(v)), `","`, `", "`) }

// shellWords joins words to a command line for a POSIX shell: a word that has any but
// harmless characters is put in single quotes, within which only the quote itself is
// special.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
