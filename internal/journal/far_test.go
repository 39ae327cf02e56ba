package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// farStore returns a disk with the generations up to last and one more, which somebody has
// given the number n, with all checksums. Its header says that a recovery has noted the
// given gaps; each is a first and a last generation.
func farStore(t *testing.T, n int, gaps ...[2]int) (d *journaltest.Disk, last int) {
	t.Helper()
	d, _ = longStore(t)
	j, _, err := open(d, journal.FileOptions{})
	if err == nil {
		err = j.Close() // the newest journal has no record then
	}
	if err != nil {
		t.Fatal(err)
	}
	last = newest(d) - 1
	snapshot, wal := fmt.Sprintf("snapshot-%d.json", last+1), fmt.Sprintf("journal-%d.wal", last+1)
	resum(d, snapshot, fmt.Sprintf(`"n":%d,`, last+1), fmt.Sprintf(`"n":%d,`, n))
	var header map[string]any
	first := journaltest.Frames(d.Files[wal].Data)[0]
	if err := json.Unmarshal(first.Payload, &header); err != nil {
		t.Fatal(err)
	}
	header["n"], header["snapshot"] = n, fmt.Sprintf("%x", sha256.Sum256(d.Files[snapshot].Data))
	var noted []map[string]int
	for _, g := range gaps {
		noted = append(noted, map[string]int{"first": g[0], "last": g[1]})
	}
	header["gaps"] = noted
	payload, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	body := append(binary.LittleEndian.AppendUint64(nil, first.Seq), first.Kind)
	body = append(body, payload...)
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	d.Files[wal].Data = append(data, body...)
	for _, name := range []string{snapshot, wal} {
		d.Files[strings.Replace(name, fmt.Sprint(last+1), fmt.Sprint(n), 1)] = d.Files[name]
		delete(d.Files, name)
	}
	return d, last
}

// startAndStop starts on d, writes a note, stops, and returns what was logged.
func startAndStop(d journal.Disk) (string, error) {
	var out bytes.Buffer
	s := new(notes)
	j, err := journal.Open(journal.NewFiles(d, journal.FileOptions{}, slog.New(slog.NewTextHandler(&out, nil))), s, discard)
	if err == nil {
		err = write(j, s.seq+1, "more")
	}
	if err == nil {
		err = j.Close()
	}
	if err == nil {
		_, err = journal.OpenIndex(d, noKeys, slog.New(slog.NewTextHandler(&out, nil)))
	}
	return out.String(), err
}

// TestFarGeneration: two small files with a high number stand for any number of journals
// that are missing. A start, a rotation, a walk and a recovery count them, and do not go
// through them one by one: that would take all memory, or all time.
func TestFarGeneration(t *testing.T) {
	for _, far := range []int{1 << 32, 1 << 60, math.MaxInt - 2} {
		d, last := farStore(t, far)
		name := fmt.Sprintf("journal-%d.wal", last+1)
		h, _, err := walk(d)
		if err == nil || len(h.Damage) != 1 || !strings.Contains(fmt.Sprint(h.Damage), name) {
			t.Errorf("%d: Walk says %v", far, h.Damage)
		}
		said, err := startAndStop(d)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%d: a start says %q, %v, want journals missing from %s on", far, said, err, name)
		}
		if d.Files[fmt.Sprintf("snapshot-%d.json", last)] != nil {
			t.Errorf("%d: the snapshot before the last two was not removed", far)
		}
		if _, err := load(d, true); err != nil {
			t.Errorf("%d: recovery: %v", far, err)
		}
	}
}

// TestFarGap: a recovery has noted some of the journals before a far one as missing. A start
// is refused only for the others, and Walk reports no damage if there are none.
func TestFarGap(t *testing.T) {
	const far = 1 << 60
	_, last := farStore(t, far)
	for _, c := range []struct {
		name string
		gaps [][2]int
		left int // journals that are missing and not noted
	}{
		{"all", [][2]int{{last + 1, far - 1}}, 0},
		{"more than all", [][2]int{{math.MinInt, math.MaxInt}}, 0},
		{"but the last", [][2]int{{last + 1, far - 2}}, far - 1 - last},
		{"with ends that are exchanged", [][2]int{{far - 1, last + 1}}, far - 1 - last},
	} {
		d, _ := farStore(t, far, c.gaps...)
		h, _, err := walk(d)
		if noted := c.left == 0; noted && (err != nil || h.Incomplete != far-1-last || h.FirstIncomplete != fmt.Sprintf("journal-%d.wal", last+1)) {
			t.Errorf("%s: Walk counts %d from %s on, %v", c.name, h.Incomplete, h.FirstIncomplete, err)
		} else if !noted && (err == nil || h.Incomplete > 0) {
			t.Errorf("%s: Walk counts %d, %v", c.name, h.Incomplete, err)
		}
		said, err := startAndStop(d)
		if (err != nil) != (c.left > 0) || said != "" {
			t.Errorf("%s: a start says %q, %v, with %d journals that are not noted", c.name, said, err, c.left)
		}
	}
}

// TestHighestGeneration: no generation can follow the highest number. The journal says so,
// instead of going on under a name that no start would find.
func TestHighestGeneration(t *testing.T) {
	d, _ := farStore(t, math.MaxInt)
	if _, err := startAndStop(d); err == nil || !strings.Contains(err.Error(), "no generation can follow it") {
		t.Errorf("a stop in the highest generation: %v", err)
	}
	if s, err := load(d, false); err != nil || s.texts[len(s.texts)-1] != "more" {
		t.Errorf("the start after it: %d texts, %v", len(s.texts), err)
	}
	if _, err := load(d, true); err == nil || !strings.Contains(err.Error(), "no generation can follow it") {
		t.Errorf("a recovery: %v", err)
	}
}
