package main

import (
	"slices"
	"strings"

	"wick/market"
)

// serverJSON is the entry for the registry of MCP servers, by its schema of
// 2025-12-11.
type serverJSON struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	Repository  registryRepo      `json:"repository"`
	Packages    []registryPackage `json:"packages"`
}

type registryRepo struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	Type       string     `json:"registryType"`
	Identifier string     `json:"identifier"`
	Version    string     `json:"version,omitempty"`
	SHA256     string     `json:"fileSha256,omitempty"`
	Transport  transport  `json:"transport"`
	Arguments  []argument `json:"packageArguments,omitempty"`
	Variables  []variable `json:"environmentVariables"`
}

type transport struct {
	Type string `json:"type"`
}

type argument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type variable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Default     string `json:"default"`
}

// serverName returns the name in the registry: the owner of the repository as a
// domain, backwards, and the program.
func (r *release) serverName() string {
	parts := strings.Split(r.repository(), "/")
	host := strings.Split(parts[0], ".")
	slices.Reverse(host)
	if parts[0] == "github.com" {
		host = []string{"io", "github", parts[1]}
	}
	return strings.Join(host, ".") + "/wick"
}

// imageName returns where the container image is published.
func (r *release) imageName() string {
	return strings.Replace(r.repository(), "github.com/", "ghcr.io/", 1) + ":" + r.version
}

// registry makes server.json. Both packages speak stdio: a client starts them.
func (r *release) registry() (map[string][]byte, error) {
	bundle := "wick-" + r.version + ".mcpb"
	sum, err := r.sum(bundle)
	if err != nil {
		return nil, err
	}
	variables := []variable{
		{"WICK_SOURCE", "Market data: auto, " + strings.Join(market.Services(), ", ") + " or sample", "auto"},
		{"WICK_TRADE", "Paper trading and alerts: true or false", "true"},
	}
	stdio := transport{"stdio"}
	data, err := indented(serverJSON{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   r.serverName(), Title: "wick", Version: r.version,
		Description: strings.ToUpper(summary[:1]) + summary[1:],
		Repository:  registryRepo{"https://" + r.repository(), strings.TrimSuffix(strings.Split(r.repository(), "/")[0], ".com")},
		Packages: []registryPackage{
			{Type: "mcpb", Identifier: r.download(bundle), SHA256: sum, Transport: stdio, Variables: variables},
			{Type: "oci", Identifier: r.imageName(), Transport: stdio, Variables: variables, Arguments: []argument{{"positional", "--mcp"}}},
		},
	})
	return map[string][]byte{"server.json": data}, err
}
