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
	path  string // absolute
	mode  int64
	data  []byte
	owner int // number of the user and group
}

// share packs the manual, the completions and the changelog, which are the same on
// every architecture: for the packages of nfpm, and for the recipes of package
// managers that take the program from its own file.
func (r *release) share() (map[string][]byte, error) {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	list := []file{
		{path: "/share/man/man1/wick.1.gz", data: compress(r.man())},
		{path: "/share/bash-completion/completions/wick", data: bashCompletion()},
		{path: "/share/zsh/site-functions/_wick", data: zshCompletion()},
		{path: "/share/fish/vendor_completions.d/wick.fish", data: fishCompletion()},
		{path: "/share/doc/wick/copyright", data: r.copyright(license)},
		{path: "/share/doc/wick/changelog.gz", data: compress(r.changelog(changes))},
	}
	for i := range list {
		list[i].mode = 0o644
	}
	return map[string][]byte{"wick-" + r.version + "-share.tar.gz": compress(archive(list, r.epoch))}, nil
}

// variables returns what nfpm must know beside the files, for a shell to read.
func (r *release) variables() string {
	return fmt.Sprintf("export SOURCE_DATE_EPOCH=%d HOMEPAGE='https://%s' DESCRIPTION='%s\n%s'\n", r.epoch.Unix(), r.repository(), summary, description)
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

// changelog returns the changes of the newest version in Debian's form: each paragraph and each
// item of a list is an entry.
func (r *release) changelog(changes []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "wick (%s) unstable; urgency=medium\n\n", r.version)
	section := strings.SplitN(string(changes), "\n## ", 3)[1]
	_, text, _ := strings.Cut(section, "\n")
	text = strings.NewReplacer("**", "", "\n- ", "\n\n").Replace("\n" + text)
	for entry := range strings.SplitSeq(text, "\n\n") {
		if entry = strings.TrimSpace(entry); entry != "" {
			b.WriteString("  * " + wrap(entry, 74, "\n    ") + "\n")
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

// archive packs files as tar, with their directories and without the first slash.
func archive(list []file, epoch time.Time) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range withParents(list) {
		h := &tar.Header{
			Name: strings.TrimPrefix(f.path, "/"), Mode: f.mode, Size: int64(len(f.data)), ModTime: epoch,
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
