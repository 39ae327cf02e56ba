package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wick/server"
)

// TestMain runs the tests at the root of the project, where the command runs.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// made makes a release once and returns its files.
func made(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := makeOnce()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var makeOnce = sync.OnceValues(makeRelease)

// makeRelease makes a release from stand-ins for the binaries and returns its
// files.
func makeRelease() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	built, err := buildinfo.ReadFile(self)
	if err != nil {
		return nil, err
	}
	r := &release{dir: dir, version: "1.2.3", revision: "0123abcd", maintainer: "Ada <ada@example.com>", origin: "github.com/ada/wick",
		ca: []byte("certificates"), epoch: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC), built: built}
	for name, data := range map[string][]byte{
		"wick-1.2.3-linux-amd64": []byte("amd"), "wick-1.2.3-linux-arm64": []byte("arm"), "wick-1.2.3-windows-amd64.exe": []byte("exe"),
		"wick-1.2.3-darwin-amd64": mach(0x01000007), "wick-1.2.3-darwin-arm64": mach(0x0100000c),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			return nil, err
		}
	}
	if err := r.write(r.share, r.bundle, r.image, r.registry, r.recipes, r.provenance, r.checksums); err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil {
			files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// mach returns the smallest program for macOS that Go's reader takes: a header
// without load commands, of a processor.
func mach(cpu uint32) []byte {
	data, _ := binary.Append(nil, binary.LittleEndian, []uint32{0xfeedfacf, cpu, 0, 2, 0, 0, 0, 0})
	return data
}

// TestSame: two runs give the same files, and SHA256SUMS has all the others.
func TestSame(t *testing.T) {
	one := made(t)
	two, err := makeRelease()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(two))) {
		t.Errorf("other files: %v and %v", slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(two)))
	}
	for name, data := range one {
		if !bytes.Equal(data, two[name]) {
			t.Errorf("%s differs between two runs", name)
		}
		sum := sha256.Sum256(data)
		if line := hex.EncodeToString(sum[:]) + "  " + name + "\n"; name != "SHA256SUMS" && !strings.Contains(string(one["SHA256SUMS"]), line) {
			t.Errorf("SHA256SUMS lacks %s", name)
		}
	}
}

// untar returns the files of a tar archive, packed or not, by name.
func untar(t *testing.T, data []byte, packed bool) (map[string][]byte, map[string]*tar.Header) {
	t.Helper()
	var in io.Reader = bytes.NewReader(data)
	if packed {
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		in = z
	}
	files, headers := make(map[string][]byte), make(map[string]*tar.Header)
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBundle: each platform has its program, those for macOS and Linux have both
// processors, the icon is of the size that stores ask for, every setting of the form
// reaches a flag, and every tool is described by what it is for.
func TestBundle(t *testing.T) {
	data := made(t)["wick-1.2.3.mcpb"]
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name, "server/") && f.Mode().Perm() != 0o755 {
			t.Errorf("%s has mode %o", f.Name, f.Mode())
		}
	}
	both, err := macho.NewFatFile(bytes.NewReader(files["server/wick-darwin"]))
	if err != nil || len(both.Arches) != 2 || both.Arches[0].Cpu != macho.CpuAmd64 || both.Arches[1].Cpu != macho.CpuArm64 {
		t.Errorf("the program for macOS: %v", err)
	}
	var m manifest
	if err := json.Unmarshal(files["manifest.json"], &m); err != nil {
		t.Fatal(err)
	}
	if string(files["server/wick-x86_64"]) != "amd" || string(files["server/wick-aarch64"]) != "arm" || !strings.Contains(string(files["server/wick"]), `wick-$(uname -m)`) {
		t.Errorf("the programs for Linux: %q", files["server/wick"])
	}
	if i, err := png.DecodeConfig(bytes.NewReader(files["icon.png"])); err != nil || i.Width != 512 || i.Height != 512 {
		t.Errorf("the icon: %v, %v", i, err)
	}
	for _, tool := range m.Tools {
		if strings.Contains(tool.Description, "fails") || len(tool.Description) < 20 {
			t.Errorf("%s is described as %q", tool.Name, tool.Description)
		}
	}
	if string(files["server/wick.exe"]) != "exe" || m.Version != "1.2.3" || len(m.Tools) < 15 {
		t.Errorf("manifest: %+v", m)
	}
	for name := range m.Server.Config.Env {
		if !known(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "WICK_")), "_", "-")) {
			t.Errorf("the form sets %s, which no flag reads", name)
		}
	}
}

func known(name string) bool {
	return slices.ContainsFunc(options(), func(o option) bool { return o.name == name })
}

// TestImage follows the digests of the OCI layout from its index to the layers:
// each blob has the digest and size that points to it, and the configuration has
// the digest of the layer unpacked.
func TestImage(t *testing.T) {
	files, _ := untar(t, made(t)["wick-1.2.3-oci.tar"], false)
	blob := func(d descriptor) []byte {
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		sum := sha256.Sum256(files[name])
		if d.Digest != "sha256:"+hex.EncodeToString(sum[:]) || d.Size != len(files[name]) {
			t.Errorf("%+v does not describe its blob", d)
		}
		return files[name]
	}
	var top, all imageIndex
	decode(t, files["index.json"], &top)
	decode(t, blob(top.Manifests[0]), &all)
	var platforms []string
	var environment string
	for _, d := range all.Manifests {
		var m imageManifest
		var c imageConfig
		decode(t, blob(d), &m)
		decode(t, blob(m.Config), &c)
		environment = strings.Join(c.Config.Env, " ")
		platforms = append(platforms, d.Platform.OS+"/"+d.Platform.Architecture)
		layer, headers := untar(t, blob(m.Layers[0]), true)
		if string(layer["etc/ssl/certs/ca-certificates.crt"]) != "certificates" || headers["data/"].Uid != uid || headers["wick"] == nil {
			t.Errorf("%s: the layer has %v", d.Platform.Architecture, slices.Collect(maps.Keys(layer)))
		}
		z, _ := gzip.NewReader(bytes.NewReader(blob(m.Layers[0])))
		raw, _ := io.ReadAll(z)
		sum := sha256.Sum256(raw)
		if c.RootFS.DiffIDs[0] != "sha256:"+hex.EncodeToString(sum[:]) || c.Architecture != d.Platform.Architecture ||
			c.Config.Labels["io.modelcontextprotocol.server.name"] != "io.github.ada/wick" || c.Config.Labels["org.opencontainers.image.revision"] != "0123abcd" {
			t.Errorf("configuration: %+v", c)
		}
	}
	docker, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"USER 65532:65532\n", "EXPOSE 9315\n", "VOLUME /data\n", "ENTRYPOINT [\"/wick\"]\n", "ENV " + environment + "\n"} {
		if !strings.Contains(string(docker), line) {
			t.Errorf("Dockerfile lacks %q, which the image has", line)
		}
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms: %v", platforms)
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}

// TestRegistry holds server.json to what the registry asks for beyond its
// schema: the bundle's checksum, an address with "mcp" in it, a short
// description, and the image's label.
func TestRegistry(t *testing.T) {
	files := made(t)
	var s serverJSON
	decode(t, files["server.json"], &s)
	sum := sha256.Sum256(files["wick-1.2.3.mcpb"])
	bundle := s.Packages[0]
	if s.Name != "io.github.ada/wick" || len(s.Description) > 100 || bundle.SHA256 != hex.EncodeToString(sum[:]) ||
		bundle.Identifier != "https://github.com/ada/wick/releases/download/v1.2.3/wick-1.2.3.mcpb" || s.Packages[1].Identifier != "ghcr.io/ada/wick:1.2.3" {
		t.Errorf("server.json: %+v", s)
	}
}

// TestRecipes: every checksum in a recipe is one of SHA256SUMS, and every
// address names a file of the release.
func TestRecipes(t *testing.T) {
	files := made(t)
	sums := string(files["SHA256SUMS"])
	if !json.Valid(files["wick.json"]) {
		t.Errorf("wick.json is not JSON:\n%s", files["wick.json"])
	}
	for _, name := range []string{"wick.rb", "wick.json", "PKGBUILD", "flake.nix"} {
		text := string(files[name])
		for _, sum := range regexp.MustCompile(`\b[0-9a-f]{64}\b`).FindAllString(text, -1) {
			if !strings.Contains(sums, sum) {
				t.Errorf("%s has the checksum %s of no file", name, sum)
			}
		}
		addresses := regexp.MustCompile(`https://github.com/ada/wick/releases/download/v1.2.3/([^"#]+)`).FindAllStringSubmatch(text, -1)
		for _, a := range addresses {
			if files[a[1]] == nil {
				t.Errorf("%s downloads %s, which is not in the release", name, a[0])
			}
		}
		if len(addresses) == 0 || strings.Contains(text, "{{") {
			t.Errorf("%s downloads nothing, or was not filled in:\n%s", name, text)
		}
	}
}

// TestProvenance: the subjects are the files with their digests, and the tree
// and the certificates are among what they were made of.
func TestProvenance(t *testing.T) {
	files := made(t)
	var s statement
	decode(t, files["wick-1.2.3.provenance.json"], &s)
	for _, subject := range s.Subject {
		sum := sha256.Sum256(files[subject.Name])
		if subject.Digest["sha256"] != hex.EncodeToString(sum[:]) {
			t.Errorf("subject %+v", subject)
		}
	}
	of := s.Predicate.Build.Dependencies
	if len(s.Subject) != len(files)-2 || of[0].Digest["gitCommit"] != "0123abcd" || of[len(of)-1].Name != "ca-certificates.crt" {
		t.Errorf("%d subjects of %d files, made of %+v", len(s.Subject), len(files), of)
	}
}

// TestManual: the manual page and the completions have every flag.
func TestManual(t *testing.T) {
	files, _ := untar(t, made(t)["wick-1.2.3-share.tar.gz"], true)
	z, err := gzip.NewReader(bytes.NewReader(files["share/man/man1/wick.1.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	man, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range server.Settings() {
		if f.File == "" {
			for where, want := range map[string]string{
				"share/bash-completion/completions/wick":    "--" + f.Name,
				"share/zsh/site-functions/_wick":            "'--" + f.Name + "[",
				"share/fish/vendor_completions.d/wick.fish": " -l " + f.Name + " ",
			} {
				if !strings.Contains(string(files[where]), want) {
					t.Errorf("%s lacks %s", where, want)
				}
			}
			if want := "\n.B " + roff("--"+f.Name); !strings.Contains(string(man), want) {
				t.Errorf("the manual page lacks --%s", f.Name)
			}
		}
	}
	if !strings.Contains(string(files["share/bash-completion/completions/wick"]), "--log-format) COMPREPLY=($(compgen -W 'text json'") {
		t.Error("bash does not complete the formats")
	}
}

// TestChangelog: the changelog of the packages has what the newest version says, a paragraph or
// an item of a list as an entry, without marks of emphasis.
func TestChangelog(t *testing.T) {
	r := &release{version: "0.2.0", maintainer: "Ada <ada@example.com>", epoch: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
	changes := "# Changelog\n\n## 0.2.0, 2026-11-15\n\nIn short:\n\n**See.** One\nand two.\n\n- three\n- four\n\n## 0.1.0, 2026-01-31\n\nBefore.\n"
	want := "wick (0.2.0) unstable; urgency=medium\n\n  * In short:\n  * See. One and two.\n  * three\n  * four\n\n -- Ada <ada@example.com>  Sun, 15 Nov 2026 00:00:00 +0000\n"
	if got := string(r.changelog([]byte(changes))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestReleased: the date of files is that of the changelog.
func TestReleased(t *testing.T) {
	changes := "# Changelog\n\n## 0.2.0, unreleased\n\n## 0.1.0, 2026-11-15\n"
	if got, err := released(changes, "0.1.0"); err != nil || got != time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC) {
		t.Errorf("0.1.0: %v, %v", got, err)
	}
	if got, err := released(changes, "0.2.0"); err != nil || got != unreleased {
		t.Errorf("0.2.0: %v, %v", got, err)
	}
	if _, err := released(changes, "0.3.0"); err == nil || !strings.Contains(err.Error(), "0.3.0") {
		t.Errorf("0.3.0: %v", err)
	}
}
