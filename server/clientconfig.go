package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"wick/mcp"
)

// client is an MCP client that wick config knows: what the person does with the block, and
// the block for a program with its arguments and for an address, with places that ClientConfig
// fills.
type client struct{ name, where, stdio, http string }

// clients are the programs whose settings wick can write. For claude-code it is a command.
var clients = []client{
	{"claude-desktop", "add to claude_desktop_config.json (Settings, Developer, Edit Config), then start Claude anew", inServers, ""},
	{"claude-code", "run this; for HTTP then /mcp in a session, to log in", "claude mcp add wick -- {line}", "claude mcp add --transport http wick {address}"},
	{"cursor", "add to ~/.cursor/mcp.json, or to .cursor/mcp.json of a project", inServers, `{"mcpServers": {"wick": {"url": {url}}}}`},
	{"vscode", "add to .vscode/mcp.json", `{"servers": {"wick": {"type": "stdio", "command": {program}, "args": {args}}}}`, `{"servers": {"wick": {"type": "http", "url": {url}}}}`},
	{"codex", "add to ~/.codex/config.toml; for HTTP then: codex mcp login wick", "[mcp_servers.wick]\ncommand = {program}\nargs = {args}", "[mcp_servers.wick]\nurl = {url}"},
	{"gemini", "add to ~/.gemini/settings.json; for HTTP then /mcp auth wick in a session", inServers, `{"mcpServers": {"wick": {"httpUrl": {url}}}}`},
	{"windsurf", "add to ~/.codeium/windsurf/mcp_config.json", inServers, `{"mcpServers": {"wick": {"serverUrl": {url}}}}`},
	{"opencode", "add to opencode.json; for HTTP then: opencode mcp auth wick", `{"mcp": {"wick": {"type": "local", "command": {command}}}}`, `{"mcp": {"wick": {"type": "remote", "url": {url}}}}`},
	{"zed", "add to Zed's settings.json", `{"context_servers": {"wick": {"command": {program}, "args": {args}}}}`, `{"context_servers": {"wick": {"url": {url}}}}`},
}

// inServers is the block that several clients share.
const inServers = `{"mcpServers": {"wick": {"command": {program}, "args": {args}}}}`

// ClientNames returns the clients that wick config knows.
func ClientNames() []string {
	var list []string
	for _, c := range clients {
		list = append(list, c.name)
	}
	return list
}

// writeClient prints the block to stdout, and what to do with it to stderr.
func (c *config) writeClient(stdout, stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("where this program is: %w", err)
	}
	name := c.words[0]
	var args []string // over stdio; nil for HTTP
	if c.mcp || name == "claude-desktop" {
		args = c.stdioArguments()
		for _, name := range []string{"--listen", "--port"} {
			if c.given[name] != "" {
				fmt.Fprintf(stderr, "%s has no effect over stdio, where the client starts wick itself: it is left out\n", name)
			}
		}
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
		value, given := c.given[s.Spelling()]
		path, csv := strings.CutPrefix(value, "csv:")
		if csv && s.Name == "source" || s.Value == "file" || s.Value == "directory" {
			if abs, err := filepath.Abs(path); err == nil { // else the working directory is gone
				value = value[:len(value)-len(path)] + abs
			}
		}
		switch {
		case !given || s.File != "" || slices.Contains([]string{"mcp", "serve", "port", "listen"}, s.Name): // the mode is always --mcp here, and nothing listens
		case s.Value == "" && value == "true":
			args = append(args, "--"+s.Name)
		default:
			args = append(args, "--"+s.Name+"="+value)
		}
	}
	slices.Sort(args[1:])
	return args
}

// ClientConfig returns what to paste into the settings of a client, and where.
// With args the client starts the program and talks to it over stdio; without,
// it connects to address.
func ClientConfig(name, address, program string, args []string) (block, where string, err error) {
	i := slices.Index(ClientNames(), name)
	if i < 0 {
		return "", "", fmt.Errorf("config %q is not a client that wick knows: choose one of %s", name, strings.Join(ClientNames(), ", "))
	}
	c := clients[i]
	if block = c.http; args != nil {
		block = c.stdio
	}
	if block == "" {
		return "", "", fmt.Errorf("%s takes no address in its settings: it starts wick over stdio, or has an address as a connector", name)
	}
	command := append([]string{program}, args...)
	fill := strings.NewReplacer("{program}", quote(program), "{args}", quote(args), "{command}", quote(command), "{line}", shellWords(command...), "{address}", address, "{url}", quote(address))
	return fill.Replace(block) + "\n", c.where, nil
}

// quote returns v as JSON, which for texts and lists of them is TOML too.
func quote(v any) string { return strings.ReplaceAll(string(mcp.Encode(v)), `","`, `", "`) }

// plainWord is a word in which a shell sees nothing special.
var plainWord = regexp.MustCompile(`^[a-zA-Z0-9_@%+=:,./-]*$`)

// shellWords joins words to a command line for a POSIX shell. Within single quotes only the
// quote itself is special.
func shellWords(words ...string) (line string) {
	for _, w := range words {
		if !plainWord.MatchString(w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line += " " + w
	}
	return line[1:]
}
