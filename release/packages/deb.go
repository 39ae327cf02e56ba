package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
)

// architectures of the packages for linux, by their names in Go: those of
// Debian, of rpm and of containers.
var architectures = []struct{ goarch, deb, rpm string }{
	{"amd64", "amd64", "x86_64"},
	{"arm64", "arm64", "aarch64"},
}

const (
	summary     = "charts, indicators, alerts and paper trading over MCP"
	description = "wick gives language models and people charts, indicators, alerts and\n" +
		"paper trading over the Model Context Protocol (MCP), behind its own\n" +
		"OAuth 2.1 login. It is one static program without dependencies."
)

// The scripts of the packages. The service does not start by itself: it needs
// an address and a passphrase first. An upgrade restarts one that runs.
const (
	setUp = `systemd-sysusers wick.conf
systemd-tmpfiles --create wick.conf
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`
	restart = `if [ -d /run/systemd/system ]; then systemctl try-restart wick.service; fi
`
	welcome = `echo "wick: set its address in /etc/wick/wick.env and a passphrase in /etc/wick/passphrase, then: systemctl enable --now wick"
`
	stop = `if [ -d /run/systemd/system ]; then systemctl --no-reload disable --now wick.service; fi
`
	reload = `if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`
	purge = `rm -rf /var/lib/wick
rm -f /etc/wick/passphrase /etc/wick/key
if [ -d /etc/wick ]; then rmdir --ignore-fail-on-non-empty /etc/wick; fi
`
)

// debScripts are the maintainer scripts, by name.
var debScripts = map[string]string{
	"postinst": "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then\n" + setUp + "if [ -n \"$2\" ]; then\n" + restart + "else\n" + welcome + "fi\nfi\n",
	"prerm":    "#!/bin/sh\nset -e\nif [ \"$1\" = remove ]; then\n" + stop + "fi\n",
	"postrm":   "#!/bin/sh\nset -e\n" + reload + "if [ \"$1\" = purge ]; then\n" + purge + "fi\n",
}

// lintianOverride answers the one finding of Debian's checker: the program is linked
// statically on purpose.
const lintianOverride = "# Go links statically, and wick has no library to share.\nwick: statically-linked-binary [usr/bin/wick]\n"

// debs makes the packages for Debian.
func (r *release) debs() (map[string][]byte, error) {
	out := make(map[string][]byte)
	for _, arch := range architectures {
		list, err := r.files(arch.goarch)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].path = strings.Replace(list[i].path, "/zsh/site-functions/", "/zsh/vendor-completions/", 1) // Debian's own name
		}
		list = append(list, file{path: "/usr/share/lintian/overrides/wick", mode: 0o644, data: []byte(lintianOverride)})
		out["wick_"+r.version+"_"+arch.deb+".deb"] = r.deb(list, arch.deb)
	}
	return out, nil
}

// deb writes one package: an ar archive of a version, what dpkg must know, and
// the files (deb(5)).
func (r *release) deb(list []file, arch string) []byte {
	var sums, conffiles strings.Builder
	size := 0
	for _, f := range list {
		size += (len(f.data) + 1023) / 1024
		if f.config {
			conffiles.WriteString(f.path + "\n")
		} else {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), strings.TrimPrefix(f.path, "/"))
		}
	}
	control := fmt.Sprintf("Package: wick\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\nDepends: ca-certificates, systemd\n"+
		"Section: net\nPriority: optional\nHomepage: https://%s\nDescription: %s\n %s\n",
		r.version, arch, r.maintainer, size, r.repository(), summary, strings.ReplaceAll(description, "\n", "\n "))
	about := []file{
		{path: "/control", mode: 0o644, data: []byte(control)},
		{path: "/md5sums", mode: 0o644, data: []byte(sums.String())},
		{path: "/conffiles", mode: 0o644, data: []byte(conffiles.String())},
	}
	for name, script := range debScripts {
		about = append(about, file{path: "/" + name, mode: 0o755, data: []byte(script)})
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	r.member(&b, "debian-binary", []byte("2.0\n"))
	r.member(&b, "control.tar.gz", compress(archive("./", about, r.epoch)))
	r.member(&b, "data.tar.gz", compress(archive("./", list, r.epoch)))
	return b.Bytes()
}

// member appends a file to an ar archive: a header of 60 characters, the data,
// and a newline if its length is odd.
func (r *release) member(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, r.epoch.Unix(), 0, 0, "100644", len(data))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte('\n')
	}
}
