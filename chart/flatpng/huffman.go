package flatpng

import (
	"math/bits"
	"slices"
)

// huffman makes the lengths of Huffman codes. It holds working memory only.
type huffman struct {
	ranked  []uint64 // count<<16 | symbol: plain numbers sort fastest
	weights []uint32 // counts in rising order, then depths in the tree
}

// lengths sets out[s] to the length of the code for symbol s, which occurs
// counts[s] times, so that the whole is as short as a prefix code can be with
// none longer than limit bits. Symbols that do not occur get 0. A code always
// has at least two symbols, because readers refuse an incomplete one.
func (h *huffman) lengths(counts []uint32, out []uint8, limit int) {
	h.rank(counts)
	depths(h.weights)
	var have [33]int
	for _, depth := range h.weights {
		have[min(int(depth), limit)]++
	}
	shorten(have[:], limit)
	// The rarest symbols come first and take the longest codes.
	clear(out)
	i := 0
	for n := limit; n > 0; n-- {
		for range have[n] {
			out[uint16(h.ranked[i])] = uint8(n)
			i++
		}
	}
}

// rank sorts the symbols that occur by how often they do, the rarest first, and notes
// their weights in the same order. It makes up a second symbol where there is one only.
func (h *huffman) rank(counts []uint32) {
	h.ranked = h.ranked[:0]
	for s, c := range counts {
		if c > 0 {
			h.ranked = append(h.ranked, uint64(c)<<16|uint64(s))
		}
	}
	for s := uint64(0); len(h.ranked) < 2; s++ { // add symbols that do not occur
		if counts[s] == 0 {
			h.ranked = append(h.ranked, 1<<16|s)
		}
	}
	slices.Sort(h.ranked)
	h.weights = h.weights[:0]
	for _, r := range h.ranked {
		h.weights = append(h.weights, uint32(r>>16))
	}
}

// depths replaces the weights w, which rise, by the depths of their leaves in
// a Huffman tree, in place (Moffat and Katajainen, "In-place calculation of
// minimum-redundancy codes", 1995). There must be at least two.
func depths(w []uint32) {
	joinNodes(w)
	// From the root down parents become depths.
	n := len(w)
	w[n-2] = 0
	for i := n - 3; i >= 0; i-- {
		w[i] = w[w[i]] + 1
	}
	placeLeaves(w)
}

// joinNodes is the first pass of depths: it leaves in w the index of the parent of
// every joined node, of which there is one less than leaves.
//
// A Huffman tree is built by joining the two lightest nodes until one is left.
// With sorted leaves the joined nodes come out sorted too, so two queues, the
// leaves and the joined nodes, replace a heap. Both live in w: joined nodes are
// written from the front, over leaves that have been taken already.
func joinNodes(w []uint32) {
	n := len(w)
	// w[next] becomes the weight of a joined node, and, once that
	// node is taken itself, the index of its parent.
	leaf, root := 0, 0
	for next := range n - 1 {
		take := func() uint32 {
			if leaf >= n || root < next && w[root] < w[leaf] {
				v := w[root]
				w[root] = uint32(next)
				root++
				return v
			}
			v := w[leaf]
			leaf++
			return v
		}
		first := take()
		w[next] = first + take()
	}
}

// placeLeaves is the last pass of depths: it replaces the depths of joined nodes by
// those of leaves. Each level of the tree has open places, of which used are joined
// nodes; the others are leaves, heaviest last in w and nearest to the root.
func placeLeaves(w []uint32) {
	open, used, depth := 1, 0, uint32(0)
	inner, next := len(w)-2, len(w)-1
	for open > 0 {
		for inner >= 0 && w[inner] == depth {
			used++
			inner--
		}
		for open > used {
			w[next] = depth
			next--
			open--
		}
		open, used = 2*used, 0
		depth++
	}
}

// shorten repairs have, the number of codes of each length, after codes beyond
// limit were cut to it. A code of n bits takes 2^-n of the code space, so after
// the cut they take more than there is. Until they fit, it takes one code of
// the longest length away and makes room for it below a shorter code, which
// grows by a bit.
func shorten(have []int, limit int) {
	// In units of the smallest piece of the code space, 2^-limit.
	total := 0
	for n := 1; n <= limit; n++ {
		total += have[n] << (limit - n)
	}
	for ; total > 1<<limit; total-- {
		have[limit]--
		for n := limit - 1; n > 0; n-- {
			if have[n] > 0 {
				have[n]--
				have[n+1] += 2
				break
			}
		}
	}
}

// code is a Huffman code: its length, and its bits in the reverse order, which
// is how deflate packs them.
type code struct {
	bits uint16
	n    uint8
}

// canonical fills table with the codes that follow from lengths: shorter codes
// first, and among equal lengths in the order of symbols (RFC 1951, section
// 3.2.2).
func canonical(lengths []uint8, table []code) {
	var have, next [16]uint16 // by length: how many codes, and the next free one
	for _, n := range lengths {
		have[n]++
	}
	have[0] = 0
	for n := 1; n < len(next); n++ {
		next[n] = (next[n-1] + have[n-1]) << 1
	}
	for s, n := range lengths {
		table[s] = code{}
		if n > 0 {
			table[s] = code{bits.Reverse16(next[n] << (16 - n)), n}
			next[n]++
		}
	}
}
