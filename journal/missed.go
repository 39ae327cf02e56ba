package journal

import (
	"encoding/json"
	"slices"
)

// warnOfMissing logs which earlier journals are missing, except those that a recovery
// has noted as missing. A start does not need them and does not fail, but without them
// the history is incomplete, and a damaged archive could not be made anew.
func (f *Files) warnOfMissing(journals []int) {
	absent := absentBefore(journals, f.n)
	for i, n := range journals {
		if len(absent) == 0 {
			return
		}
		h, seq := f.readHeader(n)
		if i == 0 && h.Before == origin(h.Store, seq) {
			h.Gaps = append(h.Gaps, span{1, n - 1}) // the history begins with this journal
		}
		for _, a := range h.Aside {
			m := generation(a.File, "journal-", ".wal")
			h.Gaps = append(h.Gaps, span{m, m})
		}
		absent = slices.DeleteFunc(absent, func(s span) bool {
			return slices.ContainsFunc(h.Gaps, func(g span) bool { return g.covers(s) })
		})
	}
	count := 0
	for _, s := range absent {
		count += s.Last - s.First + 1
	}
	if count > 0 {
		f.out.Warn("earlier journals are missing: put them back from a copy. No order, alert or position needs them, but the history is incomplete, and a damaged archive could not be made anew",
			"file", f.disk.Path(journalName(absent[0].First)), "files", count)
	}
}

// absentBefore returns the generations before n that have no journal.
func absentBefore(journals []int, n int) (absent []span) {
	before := 0
	for _, there := range journals {
		if there <= n && before < there-1 {
			absent = append(absent, span{before + 1, there - 1})
		}
		before = there
	}
	return absent
}

// readHeader returns the header of a journal and its sequence, without reading the rest
// of the file. If the header cannot be read it returns zero values; an audit says why.
func (f *Files) readHeader(n int) (h header, seq uint64) {
	file, err := f.disk.Open(journalName(n))
	if err != nil {
		return h, 0
	}
	defer file.Close()
	data := make([]byte, frameHead+maxRecord)
	size, _ := file.ReadAt(data, 0) // a short file gives io.EOF
	if r, err := decodeFrame(data[:size], 0); err == nil && json.Unmarshal(r.payload, &h) == nil {
		seq = r.seq
	}
	return h, seq
}
