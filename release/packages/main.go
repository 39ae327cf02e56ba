// Packages makes, from the binaries of a release, what people install it from:
// with the argument share the manual, the completions and the changelog, from which
// nfpm then makes the packages for Debian and for rpm; without it a bundle for
// Claude Desktop, a container image for two architectures, recipes for package
// managers, the entry for the MCP registry, a provenance document and the
// checksums. It needs only the Go standard library, and what it writes depends only
// on the tree, the binaries and the CA bundle: two runs give the same bytes. Run it
// at the root of the project: make release.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// release is what all writers share.
type release struct {
	dir        string // has the binaries, and gets all the rest
	version    string
	revision   string // commit of the tree; empty if unknown
	maintainer string // "name <address>" for the packages
	origin     string // address of the repository, without its scheme
	ca         []byte // certificates of the container image
	epoch      time.Time
	built      *buildinfo.BuildInfo // what the toolchain recorded in a binary
}

func main() {
	r := &release{}
	flag.StringVar(&r.dir, "dir", "dist", "`directory` with the binaries")
	flag.StringVar(&r.version, "version", "", "version of the release")
	flag.StringVar(&r.revision, "revision", "", "`commit` of the tree")
	flag.StringVar(&r.maintainer, "maintainer", "wick <wick@example.com>", "who answers for the packages")
	flag.StringVar(&r.origin, "origin", "", "`address` of the repository, such as github.com/OWNER/wick; by default the module's path")
	ca := flag.String("ca", "", "`file` with the CA certificates of the container image")
	flag.Parse()
	err := r.load(*ca)
	switch {
	case err != nil:
	case flag.Arg(0) == "share":
		fmt.Print(r.variables())
		err = r.write(r.share)
	default:
		err = r.write(r.bundle, r.image, r.registry, r.recipes, r.provenance, r.checksums)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// load reads what the release is made from beside the binaries.
func (r *release) load(ca string) error {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	if module := strings.Fields(string(mod))[1]; r.origin == "" && strings.Contains(strings.Split(module, "/")[0], ".") {
		r.origin = module
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	if r.epoch, err = released(string(changes), r.version); err != nil {
		return err
	}
	if r.built, err = buildinfo.ReadFile(filepath.Join(r.dir, r.binary("linux", "amd64"))); err != nil {
		return err
	}
	if r.origin == "" {
		fmt.Fprintf(os.Stderr, "release: no ORIGIN is given, so addresses name %s\n", placeholder)
	}
	r.ca, err = os.ReadFile(ca)
	return err
}

const (
	summary     = "charts, indicators, alerts and paper trading over MCP"
	description = "wick gives language models and people charts, indicators, alerts and\n" +
		"paper trading over the Model Context Protocol (MCP), behind its own\n" +
		"OAuth 2.1 login. It is one static program without dependencies."
)

// unreleased is the time of all files while the changelog has no date yet.
var unreleased = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// released returns the date of a version in the changelog. Files have it as their time,
// so that the same files can be made again later.
func released(changes, version string) (time.Time, error) {
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(version) + `, (.*)$`).FindStringSubmatch(changes)
	switch {
	case heading == nil:
		return time.Time{}, fmt.Errorf("CHANGELOG.md has no heading %q", "## "+version+", 2026-01-31")
	case heading[1] == "unreleased":
		return unreleased, nil
	}
	return time.Parse(time.DateOnly, heading[1])
}

// placeholder stands for a repository whose address nobody gave.
const placeholder = "github.com/example/wick"

// repository returns the address of the repository without its scheme.
func (r *release) repository() string { return cmp.Or(r.origin, placeholder) }

// download returns the address of a file of this release.
func (r *release) download(name string) string {
	return "https://" + r.repository() + "/releases/download/v" + r.version + "/" + name
}

// binary returns the name of the program for a platform.
func (r *release) binary(os, arch string) string {
	name := "wick-" + r.version + "-" + os + "-" + arch
	if os == "windows" {
		name += ".exe"
	}
	return name
}

func (r *release) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(r.dir, name)) }

func (r *release) sum(name string) (string, error) {
	data, err := r.read(name)
	if err != nil {
		return "", err
	}
	return digest(data), nil
}

// digest returns the SHA-256 of data in hexadecimal.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// write makes the files of each step. Later ones contain checksums of earlier ones.
func (r *release) write(steps ...func() (map[string][]byte, error)) error {
	for _, step := range steps {
		files, err := step()
		if err != nil {
			return err
		}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(r.dir, name), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputs returns the names of the files of the release, in order.
func (r *release) outputs() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	var names []string
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "SHA256SUMS" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

// checksums writes SHA256SUMS, in the form that sha256sum -c reads.
func (r *release) checksums() (map[string][]byte, error) {
	names, err := r.outputs()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, name := range names {
		sum, err := r.sum(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	return map[string][]byte{"SHA256SUMS": b.Bytes()}, nil
}

// compress packs data with gzip, without a name or a time in it.
func compress(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // the level is right and a buffer takes everything
	}
	return b.Bytes()
}

// indented returns v as JSON for people to read too.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
