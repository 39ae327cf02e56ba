package journaltest

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"
)

// Crash is a directory that a power cut may leave.
type Crash struct {
	Disk  *Disk
	Acked uint64 // what the owner had acknowledged by then
	What  string // says where the cut came
}

// Crashes returns the directories that a power cut may leave while f writes to
// d, each of them once: at every call of the disk, and after the last one, with
// the unsynced bytes treated as each of the fates says. A cut after the effect of
// a call is the cut before the next call. f stores in acked what it has
// acknowledged, which only grows; a directory that several cuts leave has that of
// the last of them.
//
// One run of f shows all cuts, since a process learns nothing of a power cut. How
// it goes on with a disk that fails is shown with [Disk.FailAt].
func (d *Disk) Crashes(fates []Fate, acked *atomic.Uint64, f func()) []Crash {
	var crashes []Crash
	seed, seen := maphash.MakeSeed(), make(map[uint64]int)
	d.before = func() {
		for _, fate := range fates {
			left := d.left(fate)
			sum := digest(seed, left)
			i, ok := seen[sum]
			if !ok { // only now, since most cuts leave what one before them left
				i = len(crashes)
				seen[sum], crashes = i, append(crashes, Crash{Disk: copied(left)})
			}
			crashes[i].Acked = acked.Load()
			crashes[i].What = fmt.Sprintf("power cut before call %d, unsynced bytes %d, %d acknowledged", d.Calls, fate, crashes[i].Acked)
		}
	}
	f()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Calls++
	d.before()
	d.before = nil
	return crashes
}

// digest returns a hash of the names and contents of files.
func digest(seed maphash.Seed, files map[string][]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		maphash.WriteComparable(&h, name)
		maphash.WriteComparable(&h, len(files[name]))
		h.Write(files[name])
	}
	return h.Sum64()
}
