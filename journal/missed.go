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
		if i == 0 && (h.Format < chained || h.Before == origin(h.Store, seq)) {
			absent = slices.DeleteFunc(absent, func(m int) bool { return m < n }) // the history begins with this journal
		}
		absent = slices.DeleteFunc(absent, func(m int) bool {
			return slices.ContainsFunc(h.Gaps, func(g span) bool { return g.First <= m && m <= g.Last }) ||
				slices.ContainsFunc(h.Aside, func(a asideFile) bool { return a.File == journalName(m) })
		})
	}
	if len(absent) > 0 {
		f.out.Warn("earlier journals are missing: put them back from a copy. No order, alert or position needs them, but the history is incomplete, and a damaged archive could not be made anew",
			"file", f.disk.Path(journalName(absent[0])), "files", len(absent))
	}
}

// absentBefore returns the generations before n that have no journal.
func absentBefore(journals []int, n int) (absent []int) {
	next := 1
	for _, there := range journals {
		for ; next < min(there, n); next++ {
			absent = append(absent, next)
		}
		next = there + 1
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
