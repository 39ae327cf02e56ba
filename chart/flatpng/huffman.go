package flatpng

import (
	"math/bits"
	"slices"
)

// numLiteral is how many symbols deflate has: bytes, the end of a block, lengths. No other
// code has more.
const numLiteral = 286

// lengthsOf sets out[s] to the length of the code for symbol s, which occurs
// counts[s] times, so that the whole is as short as a prefix code can be with
// none longer than limit bits. Out is zero, and stays so for symbols that do not
// occur. At least two must occur, because readers refuse an incomplete code.
func lengthsOf(counts []uint32, out []uint8, limit int) {
	// The symbols that occur, the rarest first, as count<<16 | symbol, since plain numbers sort
	// fastest.
	ranked := make([]uint64, 0, numLiteral)
	for s, c := range counts {
		if c > 0 {
			ranked = append(ranked, uint64(c)<<16|uint64(s))
		}
	}
	slices.Sort(ranked)
	weights := make([]uint32, 0, numLiteral)
	for _, r := range ranked {
		weights = append(weights, uint32(r>>16))
	}
	depths(weights)
	var have [33]int
	for _, depth := range weights {
		have[min(int(depth), limit)]++
	}
	shorten(have[:], limit)
	// The rarest symbols come first and take the longest codes.
	i := 0
	for n := limit; n > 0; n-- {
		for range have[n] {
			out[uint16(ranked[i])] = uint8(n)
			i++
		}
	}
}

// depths replaces the weights w, which rise, by the depths of their leaves in a Huffman
// tree. There must be at least two, and at most numLiteral.
//
// A Huffman tree is built by joining the two lightest nodes until one is left.
// With sorted leaves the joined nodes come out sorted too, so two queues, the
// leaves and the joined nodes behind them, replace a heap.
func depths(w []uint32) {
	var weights, parents, depth [2 * numLiteral]uint32
	n := len(w)
	copy(weights[:], w)
	leaf, joined := 0, n // the next of each queue
	for next := n; next < 2*n-1; next++ {
		for range 2 {
			k := leaf
			if leaf >= n || joined < next && weights[joined] < weights[leaf] {
				k = joined
				joined++
			} else {
				leaf++
			}
			weights[next] += weights[k]
			parents[k] = uint32(next)
		}
	}
	for k := 2*n - 3; k >= 0; k-- { // from below the root down
		depth[k] = depth[parents[k]] + 1
	}
	copy(w, depth[:n])
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

// canonical fills table, which is zero, with the codes that follow from lengths: shorter codes
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
		if n > 0 {
			table[s] = code{bits.Reverse16(next[n] << (16 - n)), n}
			next[n]++
		}
	}
}
