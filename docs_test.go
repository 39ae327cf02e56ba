package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wick/market"
	"wick/mcp/tools"
	"wick/server"
)

// TestConnectDocument: the blocks of docs/connect.md are what wick config
// prints. Run with -update to rewrite them.
func TestConnectDocument(t *testing.T) {
	const name = "docs/connect.md"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?s)<!-- (http|stdio) ([a-z-]+) -->\n.*?<!-- end -->`)
	seen := make(map[string]bool)
	want := marked.ReplaceAllStringFunc(string(doc), func(old string) string {
		part := marked.FindStringSubmatch(old)
		var args []string
		if part[1] == "stdio" {
			args = []string{"--mcp", "--trade"}
		}
		block, _, err := server.ClientConfig(part[2], "http://localhost:9315/mcp", "/path/to/wick", args)
		if err != nil {
			t.Error(err)
		}
		seen[part[1]+" "+part[2]] = true
		return "<!-- " + part[1] + " " + part[2] + " -->\n\n    " + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n    ") + "\n\n<!-- end -->"
	})
	for _, client := range server.ClientNames() {
		if !seen["stdio "+client] && !seen["http "+client] {
			t.Errorf("%s has no block for %s", name, client)
		}
	}
	sameDocument(t, name, []byte(want))
}

// TestPlugin: the manifests start wick as it can be started, all have the
// version of the program, and the skill names tools that exist.
func TestPlugin(t *testing.T) {
	manifests, err := filepath.Glob("release/plugin/.*-plugin/plugin.json")
	if err != nil || len(manifests) != 3 {
		t.Fatal(manifests, err)
	}
	version := programVersion(t)
	for _, name := range append(manifests, "release/plugin/gemini-extension.json", "release/plugin/.mcp.json") {
		var m struct {
			Name, Version string
			Servers       any `json:"mcpServers"`
		}
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil || !strings.HasSuffix(name, ".mcp.json") && (m.Name != "wick" || m.Version != version) {
			t.Errorf("%s: %+v, %v, want version %s", name, m, err, version)
		}
		block, _, err := server.ClientConfig("cursor", "", "wick", []string{"--mcp", "--source=auto", "--trade"})
		if err != nil {
			t.Fatal(err)
		}
		servers, _ := json.Marshal(map[string]any{"mcpServers": m.Servers})
		if _, named := m.Servers.(map[string]any); named && !sameJSON(t, servers, []byte(block)) {
			t.Errorf("%s starts %s, and wick config says %s", name, servers, block)
		}
	}
	skill, err := os.ReadFile("release/plugin/skills/wick/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, tool := range tools.All(tools.Deps{Source: market.Sample{}}) {
		known[tool.Name] = true
	}
	for _, m := range regexp.MustCompile("`((?:get|set|list|place|cancel|generate|subscribe)_[a-z_]+)`").FindAllStringSubmatch(string(skill), -1) {
		if !known[m[1]] {
			t.Errorf("the skill names %s, which is no tool", m[1])
		}
	}
}

func programVersion(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("server/version.go")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`const version = "(.*)"`).FindStringSubmatch(string(source))[1]
}

// TestVersions: the files of a release that documents name are of this version.
func TestVersions(t *testing.T) {
	version := programVersion(t)
	names, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "README.md", "deploy/sidecar.yaml", "deploy/compose.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`wick[-_:]([0-9]+\.[0-9]+\.[0-9]+)`).FindAllStringSubmatch(string(text), -1) {
			if m[1] != version {
				t.Errorf("%s names %s, and this is version %s", name, m[0], version)
			}
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(x)
	two, _ := json.Marshal(y)
	return string(one) == string(two)
}
