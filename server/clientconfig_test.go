package server

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrintConfig: the block of each client is spelled as the client's own
// documentation has it, over HTTP and over stdio.
func TestPrintConfig(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const address = `"https://wick.example.com/mcp"`
	stdio := `"command": "` + program + `", "args": ["--mcp", "--source=auto", "--trade"]`
	for _, c := range []struct{ client, http, stdio string }{
		{"claude-desktop", `{"mcpServers": {"wick": {"command": "` + program + `", "args": ["--mcp", "--base-url=https://wick.example.com"]}}}`, `{"mcpServers": {"wick": {` + stdio + `}}}`},
		{"claude-code", `claude mcp add --transport http wick https://wick.example.com/mcp`, "claude mcp add wick -- " + program + " --mcp --source=auto --trade"},
		{"cursor", `{"mcpServers": {"wick": {"url": ` + address + `}}}`, `{"mcpServers": {"wick": {` + stdio + `}}}`},
		{"vscode", `{"servers": {"wick": {"type": "http", "url": ` + address + `}}}`, `{"servers": {"wick": {"type": "stdio", ` + stdio + `}}}`},
		{"codex", "[mcp_servers.wick]\nurl = " + address, "[mcp_servers.wick]\ncommand = \"" + program + "\"\nargs = [\"--mcp\", \"--source=auto\", \"--trade\"]"},
		{"gemini", `{"mcpServers": {"wick": {"httpUrl": ` + address + `}}}`, `{"mcpServers": {"wick": {` + stdio + `}}}`},
		{"windsurf", `{"mcpServers": {"wick": {"serverUrl": ` + address + `}}}`, `{"mcpServers": {"wick": {` + stdio + `}}}`},
		{"opencode", `{"mcp": {"wick": {"type": "remote", "url": ` + address + `}}}`, `{"mcp": {"wick": {"type": "local", "command": ["` + program + `", "--mcp", "--source=auto", "--trade"]}}}`},
		{"zed", `{"context_servers": {"wick": {"url": ` + address + `}}}`, `{"context_servers": {"wick": {` + stdio + `}}}`},
	} {
		for want, args := range map[string][]string{
			c.http:  {"--base-url", "https://wick.example.com"},
			c.stdio: {"--mcp", "--trade", "--source", "auto"},
		} {
			got, where := printed(t, append(args, "config", c.client)...)
			if got != want+"\n" || where == "" {
				t.Errorf("%s %v:\n%s (%s)\nwant\n%s", c.client, args, got, where, want)
			}
			if strings.HasPrefix(got, "{") && !json.Valid([]byte(got)) {
				t.Errorf("%s: not JSON: %s", c.client, got)
			}
		}
	}
}

// printed runs the program and returns its two outputs.
func printed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, notes bytes.Buffer
	if err := Run(t.Context(), args, env("HOME", "/home/x"), nil, &out, &notes); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String(), notes.String()
}

// TestPrintConfigPaths: a client starts wick in a directory of its own, so paths
// that were given relative to this one are absolute in the block, and a program
// in a directory with a blank stays one word.
func TestPrintConfigPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("lists", []byte("majors: BTCUSDT\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ := printed(t, "--mcp", "--data-dir", "state", "--source", "csv:bars", "--watchlist", "lists", "config", "cursor")
	for _, want := range []string{"--data-dir=" + filepath.Join(dir, "state"), "--source=csv:" + filepath.Join(dir, "bars"), "--watchlist=" + filepath.Join(dir, "lists")} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	got, _, err := ClientConfig("claude-code", "", "/Program Files/it's/wick", []string{"--mcp"})
	if want := `claude mcp add wick -- '/Program Files/it'\''s/wick' --mcp` + "\n"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	got, _, err = ClientConfig("codex", "", `C:\Program Files\wick.exe`, []string{"--mcp"})
	if want := `command = "C:\\Program Files\\wick.exe"`; err != nil || !strings.Contains(got, want) {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// TestPrintConfigUnknown: the refusal names the clients there are.
func TestPrintConfigUnknown(t *testing.T) {
	err := Run(t.Context(), []string{"config", "emacs"}, env("HOME", "/home/x"), nil, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), `"emacs"`) || !strings.Contains(err.Error(), "claude-desktop, claude-code, cursor") {
		t.Errorf("an unknown client: %v", err)
	}
}

// TestPrintConfigPort: nobody knows which port --port 0 will pick, so no address can be
// printed, unless it is given. Over stdio there is none.
func TestPrintConfigPort(t *testing.T) {
	err := Run(t.Context(), []string{"--serve", "--port", "0", "config", "cursor"}, env("HOME", "/home/x"), nil, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "--port 0") || !strings.Contains(err.Error(), "config") || strings.Contains(err.Error(), "\n") {
		t.Errorf("--port 0: %v, want one line that names both flags", err)
	}
	printed(t, "--serve", "--port", "0", "--base-url", "https://wick.example.com", "config", "cursor")
	got, notes := printed(t, "--port", "9999", "config", "claude-desktop")
	if strings.Contains(got, "9999") || !strings.Contains(notes, "--port has no effect over stdio") {
		t.Errorf("--port for a client over stdio: %s (%s), want it left out with a sentence", got, notes)
	}
}

// TestPrintConfigServes: what cannot be served at or started with is refused, as when it is
// served or started.
func TestPrintConfigServes(t *testing.T) {
	for args, want := range map[string]string{
		"--listen 127.0.0.2": "such as http://127.0.0.2:9315", "--listen 192.0.2.1 --port 80": "http://localhost:80 leads",
	} {
		err := Run(t.Context(), append(strings.Fields(args), "config", "cursor"), env("HOME", "/home/x"), nil, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	for _, args := range []string{"--listen 0.0.0.0", "--listen ::1", "--mcp --listen 127.0.0.2", "--listen 127.0.0.2 --base-url http://127.0.0.2:9315"} {
		printed(t, append(strings.Fields(args), "config", "cursor")...)
	}
}

// TestPrintConfigOff: a flag that is given as false is printed as false, so that the
// client's environment cannot turn it on, and wick takes what was printed.
func TestPrintConfigOff(t *testing.T) {
	for _, s := range Settings() {
		if s.Value != "" || s.Name == "mcp" || s.Name == "serve" {
			continue
		}
		off := "--" + s.Name + "=false"
		got, _ := printed(t, "--mcp", off, "config", "claude-code")
		_, args, _ := strings.Cut(strings.TrimSpace(got), " --mcp")
		if args != " "+off {
			t.Errorf("%s is printed as %q", off, args)
		}
		if _, err := parseConfig(append(strings.Fields(args), "--mcp"), env("HOME", "/home/x"), &bytes.Buffer{}); err != nil {
			t.Errorf("%s is printed as %q, which is refused: %v", off, args, err)
		}
	}
}
