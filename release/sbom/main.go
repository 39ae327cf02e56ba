// Sbom prints the bill of materials of Go binaries: what modules, at which
// version and hash, and which toolchain they were made from, as CycloneDX 1.6
// JSON. It reads what the toolchain recorded in the binaries, so it says what is
// in them and not what a file beside them claims. Several binaries of one
// release must agree. The output depends only on the binaries.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string      `json:"type"`
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	PURL       string      `json:"purl,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	Properties []property  `json:"properties,omitempty"`
	Components []component `json:"components,omitempty"` // the files of a release
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION BINARY...")
		os.Exit(2)
	}
	b, err := inventory(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// inventory lists the modules that the binaries share and the binaries.
func inventory(version string, files []string) (*bom, error) {
	b := &bom{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = component{Type: "application", Name: "wick", Version: version}
	for i, name := range files {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return nil, err
		}
		modules, err := modules(info)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			b.Components = modules
		} else if !reflect.DeepEqual(b.Components, modules) {
			return nil, fmt.Errorf("%s and %s were made from different modules", files[0], name)
		}
		file, err := fileOf(name, info)
		if err != nil {
			return nil, err
		}
		b.Metadata.Component.Components = append(b.Metadata.Component.Components, file)
	}
	return b, nil
}

// modules lists the toolchain and the modules with the hash that go.sum has.
func modules(info *buildinfo.BuildInfo) ([]component, error) {
	version := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	list := []component{{Type: "library", Name: "std", Version: version, PURL: "pkg:golang/std@" + version}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced by %s: a release uses modules as published", m.Path, m.Replace.Path)
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("module %s has no hash", m.Path)
		}
		list = append(list, component{
			Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
			Properties: []property{{"go:h1", hex.EncodeToString(sum)}}, // of the module's tree, not of a file
		})
	}
	return list, nil
}

// fileOf describes one binary.
func fileOf(name string, info *buildinfo.BuildInfo) (component, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return component{}, err
	}
	sum := sha256.Sum256(data)
	c := component{Type: "file", Name: filepath.Base(name), Version: info.GoVersion, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "-ldflags":
			c.Properties = append(c.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	return c, nil
}
