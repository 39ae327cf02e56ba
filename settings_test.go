package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"os"
	"wick/server"
)

// TestSettingsDocument holds docs/settings.md to the table of settings. Run with -update to
// rewrite it.
func TestSettingsDocument(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Settings\n\nMade from the code by `go test -run Settings -update .`; `wick --help` has the same flags and commands.\n\n" +
		"A flag wins over its variable of the environment, and an empty variable counts as not set. A host that attaches to a running wick (`wick --mcp --trade` on the same\n" +
		"data directory) must agree with it about what is marked *shared*, where it sets it; of `--broker` always: otherwise the attach is refused with the name of the setting.\n" +
		"The files of `--paper-file` and `--cluster-file` have one name and value a line; empty lines and those that begin with `#` are skipped.\n")
	title := ""
	for _, s := range server.Settings() {
		if s.Group != title {
			title = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n", strings.ReplaceAll(strings.ReplaceAll(title, "--paper-file", "`--paper-file`"), "--cluster-file", "`--cluster-file`"))
			if s.File == "" {
				b.WriteString("| flag | variable | default | meaning | |\n|---|---|---|---|---|\n")
			} else {
				b.WriteString("| line | default | meaning | |\n|---|---|---|---|\n")
			}
		}
		shared := ""
		if s.Shared {
			shared = "shared"
		}
		name := strings.TrimSpace(strings.ReplaceAll(s.Name+" "+s.Value, "|", "\\|"))
		if s.File == "" {
			fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s |\n", name, s.Variable(), s.Default, s.Help, shared)
		} else {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, s.Default, s.Help, shared)
		}
	}
	b.WriteString("\n## Commands\n\nEach does one thing and ends; flags may stand anywhere on its line.\n\n| command | meaning |\n|---|---|\n")
	for _, c := range server.Commands() {
		fmt.Fprintf(&b, "| `wick %s` | %s |\n", strings.ReplaceAll(strings.TrimSpace(c.Name+" "+c.Args), "|", "\\|"), c.Help)
	}
	b.WriteString("\nThe flags of a chart are read as words of `wick chart` when `--output` is among them: `wick --symbol BTCUSDT --interval 1h --output chart.png`.\n")
	sameDocument(t, "docs/settings.md", b.Bytes())
}

// TestDeployFiles: what the files in deploy/ set exists, and has a value that wick takes.
func TestDeployFiles(t *testing.T) {
	known := make(map[string]server.Setting)
	for _, s := range server.Settings() {
		if s.File == "" {
			known["--"+s.Name], known[s.Variable()] = s, s
		}
	}
	variable := regexp.MustCompile(`\b(WICK_[A-Z_]+)(?:[=:] ?|, value: )"?([^\s",}]+)`)
	flag := regexp.MustCompile(`(?:^|[\s\["])(--[a-z-]+)"?(?:,? "?([^-\s"\],][^\s"\],]*))?`)
	for _, name := range []string{"wick.env", "wick.service", "compose.yaml", "sidecar.yaml", "cluster/compose.yaml", "cluster/kubernetes.yaml"} {
		text, err := os.ReadFile("deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := variable.FindAllStringSubmatch(string(text), -1)
		for line := range strings.Lines(string(text)) {
			ours := strings.Contains(line, "ExecStart=") || strings.Contains(line, "args:") || strings.Contains(line, "-file, /") || strings.Contains(line, `command: ["--`) || strings.Contains(line, `["/wick"`)
			if ours {
				found = append(found, flag.FindAllStringSubmatch(line, -1)...)
			}
		}
		if len(found) < 2 {
			t.Errorf("%s: no settings were found", name)
		}
		for _, f := range found {
			s, ok := known[f[1]]
			if !ok {
				t.Errorf("%s: wick has no %s", name, f[1])
			} else if s.Value == "" && f[2] != "" && f[2] != "true" || s.Value != "" && f[2] == "" {
				t.Errorf("%s: %s with the value %q", name, f[1], f[2])
			} else if s.Value != "" && s.Value != "file" {
				if err := s.Check(f[2]); err != nil {
					t.Errorf("%s: %s %v", name, f[1], err)
				}
			}
		}
	}
}
