package main

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"path"
	"strings"
	"text/template"
)

// Recipes for package managers: each downloads the files of a release and
// compares them with the checksums that are filled in here.
//
//go:embed recipes
var recipeFiles embed.FS

// recipes fills in every file of the directory recipes.
func (r *release) recipes() (map[string][]byte, error) {
	functions := template.FuncMap{
		"sum": r.sum,
		"url": r.download,
		"sri": func(name string) (string, error) { // as Nix writes a checksum
			sum, err := r.sum(name)
			raw, _ := hex.DecodeString(sum)
			return "sha256-" + base64.StdEncoding.EncodeToString(raw), err
		},
		"binary": r.binary,
	}
	all, err := template.New("").Funcs(functions).ParseFS(recipeFiles, "recipes/*")
	if err != nil {
		return nil, err
	}
	data := map[string]string{
		"Version": r.version, "Repository": "https://" + r.repository(), "Summary": strings.ToUpper(summary[:1]) + summary[1:],
		"Share": "wick-" + r.version + "-share.tar.gz", "Maintainer": r.maintainer,
	}
	out := make(map[string][]byte)
	for _, t := range all.Templates() {
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return nil, err
		}
		out[path.Base(t.Name())] = b.Bytes()
	}
	return out, nil
}
