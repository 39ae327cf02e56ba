package trade

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// DamageError reports a state directory that cannot be trusted. Nothing was
// changed in it.
type DamageError struct {
	File   string
	Offset int64  // of the first bad byte, -1 when the whole file is meant
	Seq    uint64 // last good sequence
	Err    error
}

func (e *DamageError) Error() string {
	where := e.File
	if e.Offset >= 0 {
		where = fmt.Sprintf("%s at byte %d", e.File, e.Offset)
	}
	return fmt.Sprintf("%s is damaged after record %d: %v; restore the directory from a copy, "+
		"or start once with --recover to keep what is good and set the rest aside", where, e.Seq, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// loader reads a state directory at the start.
type loader struct {
	disk      disk
	log       *slog.Logger
	snapshots []int // generations there are, ascending
	journals  []int
}

func newLoader(d disk, log *slog.Logger) (*loader, error) {
	names, err := d.list()
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	l := &loader{disk: d, log: log}
	for _, name := range names {
		if n := generation(name, "snapshot-", ".json"); n > 0 {
			l.snapshots = append(l.snapshots, n)
		}
		if n := generation(name, "journal-", ".wal"); n > 0 {
			l.journals = append(l.journals, n)
		}
		if strings.HasSuffix(name, ".tmp") { // a crash came before its rename
			if err := d.remove(name); err != nil {
				return nil, fmt.Errorf("state directory: %w", err)
			}
		}
	}
	slices.Sort(l.snapshots)
	slices.Sort(l.journals)
	return l, nil
}

// load returns the state and the journal to go on with.
func (l *loader) load() (*state, journal, error) {
	newest := 0
	if len(l.snapshots) > 0 {
		newest = l.snapshots[len(l.snapshots)-1]
	}
	for _, n := range l.journals {
		if n > newest {
			if err := l.dropUnborn(n); err != nil {
				return nil, journal{}, err
			}
		}
	}
	if newest == 0 {
		return l.fresh()
	}
	s, err := l.readSnapshot(newest)
	if err != nil {
		return nil, journal{}, err
	}
	name := journalName(newest)
	data, err := l.disk.read(name)
	if err != nil {
		return nil, journal{}, l.damage(name, -1, s.seq, err)
	}
	good, records, err := s.replay(data, newest)
	if err != nil {
		if !errors.Is(err, errTorn) {
			return nil, journal{}, l.damage(name, int64(good), s.seq, err)
		}
		if err := l.cut(newest, data, good, s.seq); err != nil {
			return nil, journal{}, err
		}
	}
	f, err := l.disk.open(name)
	if err != nil {
		return nil, journal{}, err
	}
	j := newJournal(l.disk)
	j.file, j.n, j.size, j.records = f, newest, int64(good), records
	return s, j, nil
}

// fresh makes an empty store.
func (l *loader) fresh() (*state, journal, error) {
	s := newState(newStoreID())
	j := newJournal(l.disk)
	err := j.rotate(s, now())
	return s, j, err
}

func newStoreID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// dropUnborn removes a journal whose snapshot never got its name: a crash came
// in the middle of a rotation, and nothing was written to it yet. If something
// was, the snapshot was lost later.
func (l *loader) dropUnborn(n int) error {
	name := journalName(n)
	data, err := l.disk.read(name)
	if err != nil {
		return l.damage(name, -1, 0, err)
	}
	if f, err := decodeFrame(data); err == nil && len(data) > f.size {
		return l.damage(name, int64(f.size), f.seq, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
	}
	return l.disk.remove(name)
}

func (l *loader) readSnapshot(n int) (*state, error) {
	data, err := l.disk.read(snapshotName(n))
	if err != nil {
		return nil, l.damage(snapshotName(n), -1, 0, err)
	}
	s, err := decodeSnapshot(data, n)
	if err != nil {
		return nil, l.damage(snapshotName(n), -1, 0, err)
	}
	return s, nil
}

func (l *loader) damage(name string, at int64, seq uint64, err error) error {
	return &DamageError{File: describe(l.disk, name), Offset: at, Seq: seq, Err: err}
}

// cut keeps a copy of a torn tail and removes it from the journal. What it held
// was never acknowledged.
func (l *loader) cut(n int, data []byte, good int, seq uint64) error {
	name := journalName(n)
	l.log.Warn("journal ends in an unfinished write, cutting it off",
		"file", describe(l.disk, name), "offset", good, "bytes", len(data)-good, "last_good_sequence", seq)
	if err := writeAtomic(l.disk, fmt.Sprintf("journal-%d.torn", n), data[good:]); err != nil {
		return fmt.Errorf("keep the torn tail of %s: %w", describe(l.disk, name), err)
	}
	f, err := l.disk.open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(good)), f.Sync(), f.Close())
}

var errTorn = errors.New("unfinished write at the end")

// replay applies the records of a journal file to s, which is the state of its
// snapshot. It returns how far the file is good and the number of records.
func (s *state) replay(data []byte, n int) (good, records int, err error) {
	first, err := decodeFrame(data)
	if err != nil {
		return 0, 0, fmt.Errorf("its first record: %w", err)
	}
	if err := s.checkHeader(first, n); err != nil {
		return 0, 0, err
	}
	var frames []frame
	var bad error
	for at := first.size; at < len(data); at += frames[len(frames)-1].size {
		f, err := decodeFrame(data[at:])
		if err != nil {
			if bad = err; torn(data, at, err) {
				bad = fmt.Errorf("%w: %w", errTorn, err)
			}
			break
		}
		frames = append(frames, f)
	}
	good = first.size
	for i, ev := range decodeEvents(frames) {
		if ev == nil {
			return good, records, errors.New("its payload is no event")
		}
		if err := s.apply(frames[i].seq, frames[i].kind, ev); err != nil {
			return good, records, err
		}
		good += frames[i].size
		records++
	}
	return good, records, bad
}

// decodeEvents reads the payloads, on all processors: it is nearly all the time
// that a start takes. A payload that cannot be read gives nil.
func decodeEvents(frames []frame) []*event {
	events := make([]*event, len(frames))
	rest := events
	var wg sync.WaitGroup
	for part := range slices.Chunk(frames, len(frames)/runtime.GOMAXPROCS(0)+1) {
		out := rest[:len(part)]
		rest = rest[len(part):]
		wg.Go(func() {
			for i, f := range part {
				ev := new(event)
				if json.Unmarshal(f.payload, ev) != nil {
					continue
				}
				if ev.Notification != nil {
					ev.Notification.Seq = f.seq
				}
				out[i] = ev
			}
		})
	}
	wg.Wait()
	return events
}

func (s *state) checkHeader(f frame, n int) error {
	var h header
	if f.kind != kindHeader || json.Unmarshal(f.payload, &h) != nil || h.Magic != magic {
		return errors.New("it is no journal of wick")
	}
	switch {
	case h.Format > format:
		return fmt.Errorf("written by a later wick (format %d, this one knows %d)", h.Format, format)
	case h.N != n || h.Store != s.store || f.seq != s.seq:
		return fmt.Errorf("it continues record %d of store %q as number %d, not record %d of %q as %d",
			f.seq, clip(h.Store), h.N, s.seq, s.store, n)
	}
	return nil
}

// recover builds the state from the newest snapshot that is whole and every
// record after it that is, through all later journals. What could not be used
// is renamed to end in .damaged; the rest is written as a new generation.
func (l *loader) recover() (*state, journal, error) {
	s, from := newState(""), 1
	for _, n := range slices.Backward(l.snapshots) {
		whole, err := l.readSnapshot(n)
		if err == nil {
			s, from = whole, n
			break
		}
		l.log.Warn("recovering: snapshot set aside", "error", err)
		if err := l.setAside(snapshotName(n)); err != nil {
			return nil, journal{}, err
		}
	}
	last := from
	for _, n := range l.journals {
		last = max(last, n)
		if n < from {
			continue
		}
		if err := l.replayGood(s, n); err != nil {
			return nil, journal{}, err
		}
	}
	if s.store == "" {
		if len(l.journals)+len(l.snapshots) > 0 {
			return nil, journal{}, errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
				"restore the directory from a copy, or move it away to begin anew")
		}
		return l.fresh()
	}
	j := newJournal(l.disk)
	j.n = last
	err := j.rotate(s, now())
	return s, j, err
}

// replayGood applies the good part of journal n. If it has a bad part, or does
// not continue s at all, the file is set aside.
func (l *loader) replayGood(s *state, n int) error {
	name := journalName(n)
	data, err := l.disk.read(name)
	if err == nil {
		if s.store == "" && s.seq == 0 { // no snapshot at all: the first journal says whose it is
			s.store = storeOf(data)
		}
		var good int
		if good, _, err = s.replay(data, n); err == nil {
			return nil
		}
		l.log.Warn("recovering: journal good only in part", "file", describe(l.disk, name),
			"offset", good, "bytes_set_aside", len(data)-good, "last_good_sequence", s.seq, "error", err)
	}
	return l.setAside(name)
}

// storeOf returns the store id in the header of journal 1, or "".
func storeOf(data []byte) string {
	var h header
	f, err := decodeFrame(data)
	if err != nil || f.seq != 0 || json.Unmarshal(f.payload, &h) != nil {
		return ""
	}
	return h.Store
}

func (l *loader) setAside(name string) error { return l.disk.rename(name, name+".damaged") }
