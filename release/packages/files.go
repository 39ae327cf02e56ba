package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file or, with a path that ends in a slash, a directory of an
// installed system.
type file struct {
	path   string // absolute
	mode   int64
	data   []byte
	config bool // the owner may change it, and an upgrade keeps it
	owner  int  // number of the user and group
}

// files returns what a package for linux installs: the one table that all
// packages are made from.
func (r *release) files(arch string) ([]file, error) {
	program, err := r.read(r.binary("linux", arch))
	if err != nil {
		return nil, err
	}
	list := []file{{path: "/usr/bin/wick", mode: 0o755, data: program}}
	for _, f := range []struct{ path, source string }{
		{"/etc/wick/wick.env", "deploy/wick.env"},
		{"/usr/lib/systemd/system/wick.service", "deploy/wick.service"},
		{"/usr/lib/sysusers.d/wick.conf", "deploy/wick.sysusers"},
		{"/usr/lib/tmpfiles.d/wick.conf", "deploy/wick.tmpfiles"},
	} {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		list = append(list, file{path: f.path, mode: 0o644, data: data, config: strings.HasPrefix(f.path, "/etc/")})
	}
	shared, err := r.shared()
	return append(list, shared...), err
}

// shared returns the files that are the same on every architecture, all below
// /usr/share.
func (r *release) shared() ([]file, error) {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	list := []file{
		{path: "/usr/share/man/man1/wick.1.gz", data: compress(r.man())},
		{path: "/usr/share/bash-completion/completions/wick", data: bashCompletion()},
		{path: "/usr/share/zsh/site-functions/_wick", data: zshCompletion()},
		{path: "/usr/share/fish/vendor_completions.d/wick.fish", data: fishCompletion()},
		{path: "/usr/share/doc/wick/copyright", data: r.copyright(license)},
		{path: "/usr/share/doc/wick/changelog.gz", data: compress(r.changelog(changes))},
	}
	for i := range list {
		list[i].mode = 0o644
	}
	return list, nil
}

// share packs the shared files alone, for the recipes of package managers that
// take the program from its own file.
func (r *release) share() (map[string][]byte, error) {
	list, err := r.shared()
	for i := range list {
		list[i].path = strings.TrimPrefix(list[i].path, "/usr")
	}
	return map[string][]byte{"wick-" + r.version + "-share.tar.gz": compress(archive("", list, r.epoch))}, err
}

// copyright returns the license in the form that Debian asks for.
func (r *release) copyright(license []byte) []byte {
	var b bytes.Buffer
	holder := "the authors of wick"
	fmt.Fprintf(&b, "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: wick\nSource: https://%s\n\n", r.repository())
	for line := range strings.Lines(string(license)) {
		if after, ok := strings.CutPrefix(line, "Copyright (c) "); ok {
			holder = strings.TrimSpace(after)
		}
	}
	fmt.Fprintf(&b, "Files: *\nCopyright: %s\nLicense: MIT\n", holder)
	for line := range strings.Lines(strings.TrimSpace(string(license))) {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return b.Bytes()
}

// changelog returns the changes of the newest version in Debian's form.
func (r *release) changelog(changes []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "wick (%s) unstable; urgency=medium\n\n", r.version)
	section := strings.SplitN(string(changes), "\n## ", 3)[1]
	for line := range strings.Lines(section) {
		if item, ok := strings.CutPrefix(line, "- "); ok {
			b.WriteString("  * " + wrap(strings.TrimSpace(item), 74, "\n    ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n -- %s  %s\n", r.maintainer, r.epoch.Format(time.RFC1123Z))
	return b.Bytes()
}

// wrap breaks a text into lines of at most width characters.
func wrap(text string, width int, newline string) string {
	var b strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case length == 0:
		case length+1+len(word) > width:
			b.WriteString(newline)
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// withParents adds to a list of files the directories that they are in, each
// before what is in it.
func withParents(list []file) []file {
	seen := make(map[string]bool)
	for _, f := range list {
		seen[f.path] = true
	}
	all := slices.Clone(list)
	for _, f := range list {
		for dir := path.Dir(strings.TrimSuffix(f.path, "/")); dir != "/" && dir != "."; dir = path.Dir(dir) {
			if !seen[dir+"/"] {
				seen[dir+"/"] = true
				all = append(all, file{path: dir + "/", mode: 0o755})
			}
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return all
}

// archive packs files as tar, with their directories. Their names begin with prefix
// instead of the slash.
func archive(prefix string, list []file, epoch time.Time) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range withParents(list) {
		h := &tar.Header{
			Name: prefix + strings.TrimPrefix(f.path, "/"), Mode: f.mode, Size: int64(len(f.data)), ModTime: epoch,
			Uid: f.owner, Gid: f.owner, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.owner == 0 {
			h.Uname, h.Gname = "root", "root"
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			panic(err) // our own names are short and our own sizes right
		}
	}
	if err := w.Close(); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
