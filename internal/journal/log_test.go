package journal_test

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// TestFilesIsALog holds the log in a directory to the interface.
func TestFilesIsALog(t *testing.T) {
	d := journaltest.NewDisk()
	journaltest.Log(t, func(*testing.T) journal.Log {
		return journal.NewFiles(d, journal.FileOptions{}, slog.New(slog.DiscardHandler))
	})
}

// TestHold: a journal that is held refuses with the reason, and goes on, once it
// is resumed, after what another has appended meanwhile.
func TestHold(t *testing.T) {
	d, out := journaltest.NewDisk(), slog.New(slog.DiscardHandler)
	notes := &journaltest.Notes{}
	j, err := journal.Open(journal.NewFiles(d, journal.FileOptions{}, out), notes, out)
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("another process writes")
	j.Hold(reason)
	if err := j.Append(1, journaltest.Record(t, "too early")); !errors.Is(err, reason) {
		t.Errorf("a held journal answers %v, want %v", err, reason)
	}
	other, err := journal.Open(journal.NewFiles(d, journal.FileOptions{}, out), &journaltest.Notes{}, out)
	if err != nil {
		t.Fatal(err)
	}
	add := func(j *journal.Journal, seq uint64, text string) {
		t.Helper()
		if err := errors.Join(j.Append(seq, journaltest.Record(t, text)), j.Commit(seq)); err != nil {
			t.Fatalf("record %d: %v", seq, err)
		}
	}
	add(other, 1, "theirs")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	j = resume(t, d, out, notes)
	add(j, 2, "ours")
	if want := []string{"theirs", "ours"}; !slices.Equal(notes.Texts, want) {
		t.Errorf("the state has %q, want %q", notes.Texts, want)
	}
}

// resume returns a journal that was held from its start and goes on.
func resume(t *testing.T, d journal.Disk, out *slog.Logger, notes *journaltest.Notes) *journal.Journal {
	j, err := journal.Open(journal.NewFiles(d, journal.FileOptions{}, out), notes, out)
	if err != nil {
		t.Fatal(err)
	}
	j.Hold(errors.New("not yet"))
	if err := j.Resume(); err != nil {
		t.Fatal(err)
	}
	return j
}

// FuzzReplay: whatever stands where records should, no more is applied than follows, and Replay
// says how far that got.
func FuzzReplay(f *testing.F) {
	p := journal.PointAfter("store", 0)
	whole, _ := journal.AppendRecords(nil, 1, p.Hash, []journal.Record{journaltest.Record(f, "one"), journaltest.Record(f, "two")})
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(append(slices.Clone(whole), whole...))
	f.Fuzz(func(t *testing.T, data []byte) {
		notes := &journaltest.Notes{}
		after, err := journal.Replay(notes, data, p)
		if after.Seq != notes.Seq || after.Seq != uint64(len(notes.Texts)) {
			t.Fatalf("replay says it is at %d, the state is at %d with %d texts", after.Seq, notes.Seq, len(notes.Texts))
		}
		if err == nil && len(data) > 0 && after == p {
			t.Fatalf("%d bytes were read as no record", len(data))
		}
	})
}

// TestImportedStore: a directory that begins with a state of elsewhere can be
// read, appended to and verified.
func TestImportedStore(t *testing.T) {
	d, out := journaltest.NewDisk(), slog.New(slog.DiscardHandler)
	if err := journal.Import(d, "0123456789abcdef", 40, []byte(`{"texts":["before"]}`), nil); err != nil {
		t.Fatal(err)
	}
	if err := journal.Import(d, "0123456789abcdef", 40, []byte(`{}`), nil); err == nil {
		t.Error("a store was written over another")
	}
	notes := &journaltest.Notes{}
	j, err := journal.Open(journal.NewFiles(d, journal.FileOptions{}, out), notes, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(41, journaltest.Record(t, "after")), j.Commit(41), j.Close()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"before", "after"}; !slices.Equal(notes.Texts, want) || notes.Store != "0123456789abcdef" {
		t.Errorf("store %s has %q, want %q", notes.Store, notes.Texts, want)
	}
	if h, err := journal.Walk(d, func(journal.Entry) error { return nil }); err != nil || h.Last != 41 {
		t.Errorf("the history ends at %d, %v", h.Last, err)
	}
}

// TestSharedSnapshot: a snapshot outside of a directory comes back as it was, and
// any other byte in it is noticed.
func TestSharedSnapshot(t *testing.T) {
	p := journal.PointAfter("store", 9)
	text := journal.EncodeSnapshot(p, []byte(`{"texts":["a"]}`))
	notes := &journaltest.Notes{}
	got, state, err := journal.DecodeSnapshot(text, "test")
	if err != nil || got != p || notes.Restore(got.Store, got.Seq, state) != nil || !slices.Equal(notes.Texts, []string{"a"}) {
		t.Fatalf("read %+v, %s, %v", got, state, err)
	}
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, _, err := journal.DecodeSnapshot(bad, "test"); err == nil {
			t.Fatalf("a changed byte %d is not noticed", i)
		}
	}
}
