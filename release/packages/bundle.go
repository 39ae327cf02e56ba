package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"

	"wick/market"
	"wick/mcp/tools"
)

// manifest is the part of MCPB's manifest, version 0.3, that wick needs.
type manifest struct {
	ManifestVersion string             `json:"manifest_version"`
	Name            string             `json:"name"`
	DisplayName     string             `json:"display_name"`
	Version         string             `json:"version"`
	Description     string             `json:"description"`
	LongDescription string             `json:"long_description"`
	Author          person             `json:"author"`
	Repository      repository         `json:"repository"`
	Icon            string             `json:"icon"`
	Server          bundleServer       `json:"server"`
	Tools           []bundleTool       `json:"tools"`
	Keywords        []string           `json:"keywords"`
	License         string             `json:"license"`
	Compatibility   compatibility      `json:"compatibility"`
	UserConfig      map[string]setting `json:"user_config"`
}

type person struct {
	Name string `json:"name"`
}

type repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type bundleServer struct {
	Type       string  `json:"type"`
	EntryPoint string  `json:"entry_point"`
	Config     command `json:"mcp_config"`
}

type command struct {
	Command   string             `json:"command"`
	Args      []string           `json:"args,omitempty"`
	Env       map[string]string  `json:"env,omitempty"`
	Overrides map[string]command `json:"platform_overrides,omitempty"`
}

type bundleTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

// setting is a field of the form that the person fills in at the installation.
type setting struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Required    bool     `json:"required"`
	Default     any      `json:"default"`
	Min         *float64 `json:"min,omitempty"`
}

// form lists what the person is asked, each with the flag that gets the answer.
var form = []struct {
	flag string
	setting
}{
	{"source", setting{Type: "string", Title: "Market data", Default: "auto",
		Description: "auto for real bars of crypto pairs and stocks; also " + strings.Join(market.Services(), ", ") + ", csv:DIRECTORY, or sample for invented bars without network"}},
	{"trade", setting{Type: "boolean", Title: "Paper trading and alerts", Default: true,
		Description: "adds orders with play money, positions and alerts; nothing real is ever bought"}},
	{"data-dir", setting{Type: "directory", Title: "Data directory", Default: "${HOME}/.wick",
		Description: "where orders and alerts are kept; one running wick per directory"}},
	{"max-order-notional", setting{Type: "number", Title: "Largest order", Default: 100000, Min: new(1.0),
		Description: "in units of the quote currency; larger orders are refused"}},
	{"max-position-notional", setting{Type: "number", Title: "Largest position per symbol", Default: 1000000, Min: new(1.0),
		Description: "in units of the quote currency; orders that would go beyond it are refused"}},
}

// linuxStart starts the program for this processor, because a bundle chooses by system alone.
const linuxStart = "#!/bin/sh\nexec \"${0%/*}/wick-$(uname -m)\" \"$@\"\n"

// bundle makes the file that Claude Desktop installs with a double click.
func (r *release) bundle() (map[string][]byte, error) {
	m, err := indented(r.manifest())
	if err != nil {
		return nil, err
	}
	list := []file{{path: "/manifest.json", mode: 0o644, data: m}, {path: "/icon.png", mode: 0o644, data: icon()}}
	list = append(list, file{path: "/server/wick", mode: 0o755, data: []byte(linuxStart)})
	for _, p := range []struct{ name, os, arch string }{{"wick-x86_64", "linux", "amd64"}, {"wick-aarch64", "linux", "arm64"}, {"wick.exe", "windows", "amd64"}} {
		data, err := r.read(r.binary(p.os, p.arch))
		if err != nil {
			return nil, err
		}
		list = append(list, file{path: "/server/" + p.name, mode: 0o755, data: data})
	}
	both, err := r.universal()
	if err != nil {
		return nil, err
	}
	list = append(list, file{path: "/server/wick-darwin", mode: 0o755, data: both})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range list {
		h := &zip.FileHeader{Name: strings.TrimPrefix(f.path, "/"), Method: zip.Deflate, Modified: r.epoch}
		h.SetMode(fs.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil { // writes the directory
		return nil, err
	}
	return map[string][]byte{"wick-" + r.version + ".mcpb": b.Bytes()}, nil
}

// manifest describes the bundle. Settings go to wick as environment variables, because a
// manifest cannot leave out an argument when a switch is off.
func (r *release) manifest() manifest {
	m := manifest{
		ManifestVersion: "0.3", Name: "wick", DisplayName: "wick", Version: r.version,
		Description: summary, LongDescription: description,
		Author: person{"the wick authors"}, License: "MIT", Keywords: []string{"charts", "indicators", "alerts", "paper trading"},
		Repository:    repository{"git", "https://" + r.repository()},
		Icon:          "icon.png",
		Compatibility: compatibility{[]string{"darwin", "win32", "linux"}},
		UserConfig:    make(map[string]setting),
		Server: bundleServer{"binary", "server/wick", command{
			Command: "${__dirname}/server/wick", Args: []string{"--mcp"}, Env: make(map[string]string),
			Overrides: map[string]command{
				"darwin": {Command: "${__dirname}/server/wick-darwin"},
				"win32":  {Command: "${__dirname}/server/wick.exe"},
			},
		}},
	}
	for _, f := range form {
		key := strings.ReplaceAll(f.flag, "-", "_")
		m.UserConfig[key] = f.setting
		m.Server.Config.Env["WICK_"+strings.ToUpper(key)] = "${user_config." + key + "}"
	}
	for _, t := range tools.All(tools.Deps{Source: market.Sample{}}) {
		first, _, _ := strings.Cut(t.Description, ". ")
		m.Tools = append(m.Tools, bundleTool{t.Name, strings.TrimSuffix(first, ".")})
	}
	return m
}

// universal joins the two programs for macOS into one that runs on both kinds
// of Mac, because a bundle chooses by system and not by processor. The format
// is in Apple's mach-o/fat.h: a table of the parts, each at a multiple of 2^14.
func (r *release) universal() ([]byte, error) {
	const align = 14
	var b []byte
	var parts [][]byte
	number := func(list ...uint32) {
		for _, n := range list {
			b = binary.BigEndian.AppendUint32(b, n)
		}
	}
	number(0xcafebabe, 2)
	offset := 1 << align
	for _, p := range []struct {
		arch         string
		cpu, subtype uint32
	}{{"amd64", 0x01000007, 3}, {"arm64", 0x0100000c, 0}} {
		data, err := r.read(r.binary("darwin", p.arch))
		if err != nil {
			return nil, err
		}
		if len(data) < 8 || binary.LittleEndian.Uint32(data[4:]) != p.cpu {
			return nil, fmt.Errorf("%s is not for %s", r.binary("darwin", p.arch), p.arch)
		}
		number(p.cpu, p.subtype, uint32(offset), uint32(len(data)), align)
		for len(data)%(1<<align) != 0 {
			data = append(data, 0)
		}
		parts, offset = append(parts, data), offset+len(data)
	}
	b = append(b, make([]byte, 1<<align-len(b))...)
	return append(b, bytes.Join(parts, nil)...), nil
}
