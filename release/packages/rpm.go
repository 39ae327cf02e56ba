package main

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
)

// rpms makes the packages for rpm.
func (r *release) rpms() (map[string][]byte, error) {
	out := make(map[string][]byte)
	for _, arch := range architectures {
		list, err := r.files(arch.goarch)
		if err != nil {
			return nil, err
		}
		list = append(list, file{path: "/etc/wick/", mode: 0o755})
		slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.path, b.path) })
		out["wick-"+r.version+"-1."+arch.rpm+".rpm"] = r.rpm(list, arch.rpm)
	}
	return out, nil
}

// Types of values in a header of rpm.
const (
	rpmInt16  = 3
	rpmInt32  = 4
	rpmString = 6
	rpmBinary = 7
	rpmTexts  = 8
	rpmI18N   = 9
)

// header is one of the two tables of an rpm: values by tag (RPM's manual,
// "RPM v4 format", has the tags).
type header struct {
	region  int32 // tag that marks the table as a whole
	entries []entry
}

type entry struct {
	tag, kind int32
	count     int
	data      []byte
}

func (h *header) text(tag int32, s string) {
	h.entries = append(h.entries, entry{tag, rpmString, 1, append([]byte(s), 0)})
}

func (h *header) i18n(tag int32, s string) {
	h.entries = append(h.entries, entry{tag, rpmI18N, 1, append([]byte(s), 0)})
}

func (h *header) texts(tag int32, list ...string) {
	h.entries = append(h.entries, entry{tag, rpmTexts, len(list), []byte(strings.Join(list, "\x00") + "\x00")})
}

func (h *header) bytes(tag int32, data []byte) {
	h.entries = append(h.entries, entry{tag, rpmBinary, len(data), data})
}

func (h *header) ints(tag int32, list ...int32) {
	h.entries = append(h.entries, entry{tag, rpmInt32, len(list), bigEndian(list)})
}

func (h *header) shorts(tag int32, list ...int16) {
	h.entries = append(h.entries, entry{tag, rpmInt16, len(list), bigEndian(list)})
}

func bigEndian(v any) []byte {
	data, err := binary.Append(nil, binary.BigEndian, v)
	if err != nil {
		panic(err) // lists of numbers of a fixed size
	}
	return data
}

// encode writes the table: a magic number, how many entries and bytes there
// are, the entries, their values. The first entry spans all others, so that
// rpm can tell what was there when the package was made; its value comes last.
func (h *header) encode() []byte {
	slices.SortFunc(h.entries, func(a, b entry) int { return int(a.tag - b.tag) })
	var index, store bytes.Buffer
	for _, e := range h.entries {
		align := map[int32]int{rpmInt16: 2, rpmInt32: 4}[e.kind]
		for align > 0 && store.Len()%align != 0 {
			store.WriteByte(0)
		}
		index.Write(bigEndian([]int32{e.tag, e.kind, int32(store.Len()), int32(e.count)}))
		store.Write(e.data)
	}
	n := int32(len(h.entries) + 1)
	first := bigEndian([]int32{h.region, rpmBinary, int32(store.Len()), 16})
	store.Write(bigEndian([]int32{h.region, rpmBinary, -16 * n, 16}))
	out := []byte{0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0}
	return slices.Concat(out, bigEndian([]int32{n, int32(store.Len())}), first, index.Bytes(), store.Bytes())
}

// rpm writes one package: a lead that only old programs read, a table of
// checksums, the table of what rpm must know, and the files as cpio.
func (r *release) rpm(list []file, arch string) []byte {
	payload := cpio(list, r.epoch.Unix())
	packed := compress(payload)
	main := r.rpmMain(list, arch)
	main.texts(5092, digest(packed))  // PAYLOADDIGEST
	main.ints(5093, 8)                // by SHA-256
	main.texts(5097, digest(payload)) // PAYLOADDIGESTALT, of the files before they are packed
	body := main.encode()

	signature := &header{region: 62}
	signature.text(269, fmt.Sprintf("%x", sha1.Sum(body))) // SHA1HEADER
	signature.text(273, digest(body))                      // SHA256HEADER
	signature.ints(1000, int32(len(body)+len(packed)))     // SIZE
	sum := md5.Sum(slices.Concat(body, packed))
	signature.bytes(1004, sum[:])             // MD5
	signature.ints(1007, int32(len(payload))) // PAYLOADSIZE
	checks := signature.encode()
	for len(checks)%8 != 0 {
		checks = append(checks, 0)
	}
	return slices.Concat(r.lead(), checks, body, packed)
}

// lead returns the first 96 bytes.
func (r *release) lead() []byte {
	lead := make([]byte, 96)
	copy(lead, []byte{0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1})
	copy(lead[10:75], "wick-"+r.version+"-1")
	lead[77] = 1 // linux
	lead[79] = 5 // the checksums are a table
	return lead
}

// rpmMain returns the table of a package: its name, scripts, relations, files.
func (r *release) rpmMain(list []file, arch string) *header {
	h := &header{region: 63}
	h.texts(100, "C")                            // HEADERI18NTABLE
	h.text(1000, "wick")                         // NAME
	h.text(1001, r.version)                      // VERSION
	h.text(1002, "1")                            // RELEASE
	h.i18n(1004, summary)                        // SUMMARY
	h.i18n(1005, description)                    // DESCRIPTION
	h.ints(1006, int32(r.epoch.Unix()))          // BUILDTIME
	h.text(1007, "localhost")                    // BUILDHOST
	h.text(1014, "MIT")                          // LICENSE
	h.text(1015, r.maintainer)                   // PACKAGER
	h.i18n(1016, "Applications/Internet")        // GROUP
	h.text(1020, "https://"+r.repository())      // URL
	h.text(1021, "linux")                        // OS
	h.text(1022, arch)                           // ARCH
	h.text(1044, "wick-"+r.version+"-1.src.rpm") // SOURCERPM
	h.text(1124, "cpio")                         // PAYLOADFORMAT
	h.text(1125, "gzip")                         // PAYLOADCOMPRESSOR
	h.text(1126, "9")                            // PAYLOADFLAGS
	h.text(5062, "utf-8")                        // ENCODING

	// $1 is how many versions will be installed when the script has run.
	h.text(1024, setUp+"if [ \"$1\" -gt 1 ]; then\n"+restart+"else\n"+welcome+"fi\n") // POSTIN
	h.text(1025, "if [ \"$1\" = 0 ]; then\n"+stop+"fi\n")                             // PREUN
	h.text(1026, reload)                                                              // POSTUN
	for _, tag := range []int32{1086, 1087, 1088} {                                   // POSTINPROG, PREUNPROG, POSTUNPROG
		h.text(tag, "/bin/sh")
	}

	// Flags of a relation: the version may be equal, or less; rpm itself must
	// know how; the scripts need it.
	const equal, less, rpmlib, scripts = 1 << 3, 1 << 1, 1 << 24, 1<<9 | 1<<10 | 1<<11 | 1<<12
	h.texts(1047, "wick")                                                                                                                          // PROVIDENAME
	h.ints(1112, equal)                                                                                                                            // PROVIDEFLAGS
	h.texts(1113, r.version+"-1")                                                                                                                  // PROVIDEVERSION
	h.texts(1049, "/bin/sh", "ca-certificates", "rpmlib(CompressedFileNames)", "rpmlib(FileDigests)", "rpmlib(PayloadFilesHavePrefix)", "systemd") // REQUIRENAME
	h.ints(1048, scripts, 0, rpmlib|less|equal, rpmlib|less|equal, rpmlib|less|equal, scripts)                                                     // REQUIREFLAGS
	h.texts(1050, "", "", "3.0.4-1", "4.6.0-1", "4.0-1", "")                                                                                       // REQUIREVERSION
	rpmFiles(h, list, int32(r.epoch.Unix()))
	return h
}

// rpmFiles adds the files, one list for each of their properties.
func rpmFiles(h *header, list []file, epoch int32) {
	var names, dirs, digests, links, owners []string
	var sizes, times, flags, verify, devices, inodes, dirOf []int32
	var modes, rdevs []int16
	total := int32(0)
	for i, f := range list {
		dir, base := path.Split(strings.TrimSuffix(f.path, "/"))
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		sum, flag, mode := digest(f.data), int32(0), 0o100000|f.mode
		if strings.HasSuffix(f.path, "/") {
			sum, mode = "", 0o040000|f.mode
		}
		switch {
		case f.config:
			flag = 1 | 16 // %config(noreplace)
		case strings.Contains(f.path, "/doc/") || strings.Contains(f.path, "/man/"):
			flag = 2 // %doc
		}
		total += int32(len(f.data))
		names, dirOf = append(names, base), append(dirOf, int32(slices.Index(dirs, dir)))
		digests, links, owners = append(digests, sum), append(links, ""), append(owners, "root")
		sizes, times, flags = append(sizes, int32(len(f.data))), append(times, epoch), append(flags, flag)
		verify, devices, inodes = append(verify, -1), append(devices, 1), append(inodes, int32(i+1))
		modes, rdevs = append(modes, int16(uint16(mode))), append(rdevs, 0)
	}
	h.ints(1009, total)       // SIZE
	h.ints(1028, sizes...)    // FILESIZES
	h.shorts(1030, modes...)  // FILEMODES
	h.shorts(1033, rdevs...)  // FILERDEVS
	h.ints(1034, times...)    // FILEMTIMES
	h.texts(1035, digests...) // FILEDIGESTS
	h.texts(1036, links...)   // FILELINKTOS
	h.ints(1037, flags...)    // FILEFLAGS
	h.texts(1039, owners...)  // FILEUSERNAME
	h.texts(1040, owners...)  // FILEGROUPNAME
	h.ints(1045, verify...)   // FILEVERIFYFLAGS
	h.ints(1095, devices...)  // FILEDEVICES
	h.ints(1096, inodes...)   // FILEINODES
	h.texts(1097, links...)   // FILELANGS
	h.ints(1116, dirOf...)    // DIRINDEXES
	h.texts(1117, names...)   // BASENAMES
	h.texts(1118, dirs...)    // DIRNAMES
	h.ints(5011, 8)           // FILEDIGESTS are SHA-256
}

// cpio packs files in the "new ASCII" format, which rpm reads.
func cpio(list []file, epoch int64) []byte {
	var b bytes.Buffer
	add := func(name string, inode, mode int64, data []byte) {
		b.WriteString("070701")
		links := 1
		if mode&0o040000 != 0 {
			links = 2
		}
		for _, field := range []int64{inode, mode, 0, 0, int64(links), epoch, int64(len(data)), 0, 0, 0, 0, int64(len(name) + 1), 0} {
			fmt.Fprintf(&b, "%08x", field)
		}
		b.WriteString(name + "\x00")
		pad(&b)
		b.Write(data)
		pad(&b)
	}
	for i, f := range list {
		mode := 0o100000 | f.mode
		if strings.HasSuffix(f.path, "/") {
			mode = 0o040000 | f.mode
		}
		add("."+strings.TrimSuffix(f.path, "/"), int64(i+1), mode, f.data)
	}
	add("TRAILER!!!", 0, 0, nil)
	return b.Bytes()
}

// pad fills up to a multiple of four bytes.
func pad(b *bytes.Buffer) {
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
}
