package chart

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// deflater writes a zlib stream of filtered rows (RFC 1950, 1951) in blocks
// with Huffman codes of their own. Its only match is "the last byte again",
// distance one, which needs no search.
type deflater struct {
	dst  []byte
	acc  uint64 // bits not yet written, lowest first
	held uint

	tokens []uint16 // a byte, or runToken plus how often the last comes again
	n      int      // tokens collected for the block

	a, b    uint64 // the sums of Adler-32
	huffman huffman
}

const (
	minRun, maxRun = 3, 258 // the lengths of a deflate match
	runToken       = 256 - minRun
	numToken       = runToken + maxRun + 1

	numLiteral = 286     // deflate's symbols: bytes, the end of a block, lengths
	endOfBlock = 256     //
	blockSize  = 1 << 15 // tokens of a block: bounds memory, follows the picture
	adlerBase  = 65521
	upFilter   = 2
)

// code is a Huffman code, bits reversed as deflate wants them.
type code struct {
	bits uint16
	n    uint8
}

func (d *deflater) begin(dst []byte) {
	d.dst, d.acc, d.held = dst, 0, 0
	if d.tokens == nil {
		d.tokens = make([]uint16, blockSize)
	}
	d.n = 0
	d.a, d.b = 1, 0
}

// row adds one row through the Up filter: every byte less the one above.
//
// The loop has one branch that is hard to foresee, whether a byte is the last
// one again. Zeros are then compared by words, other bytes one by one: their
// runs are short.
func (d *deflater) row(row, above []byte) {
	if d.n+len(row)+1 > len(d.tokens) {
		d.block(false)
	}
	above = above[:len(row)]
	tokens, n := d.tokens, d.n
	tokens[n] = upFilter
	n++
	sum, moment := 0, 0 // of the bytes, and of each times its column
	last := byte(upFilter)
	for x := 0; x < len(row); {
		v := row[x] - above[x]
		if v != last {
			tokens[n] = uint16(v)
			n++
			sum += int(v)
			moment += x * int(v)
			x++
			last = v
			continue
		}
		run := 1
		if v == 0 {
			run = same(row[x:], above[x:])
		} else {
			for x+run < len(row) && row[x+run]-above[x+run] == v {
				run++
			}
			sum += run * int(v)
			moment += run * (2*x + run - 1) / 2 * int(v)
		}
		x += run
		n = repeat(tokens, n, v, run)
	}
	d.n = n
	d.checksum(len(row), sum, moment)
}

// repeat enters the tokens for run more of v at n: repeats, then what is too
// short to be one. It returns where to go on.
func repeat(tokens []uint16, n int, v byte, run int) int {
	for ; run >= minRun; run -= min(run, maxRun) {
		tokens[n] = runToken + uint16(min(run, maxRun))
		n++
	}
	for ; run > 0; run-- {
		tokens[n] = uint16(v)
		n++
	}
	return n
}

// checksum adds a row to Adler-32: the filter's byte, then n bytes. By its
// definition a gains every byte once, and b gains the byte at column x again
// with each of the n-x sums from there on. So the bytes' sum and moment are all
// that is needed of a row, and zeros, nearly all of a picture, cost nothing.
func (d *deflater) checksum(n, sum, moment int) {
	d.a += upFilter
	d.b += d.a + uint64(n)*d.a + uint64(n*sum-moment)
	d.a = (d.a + uint64(sum)) % adlerBase
	d.b %= adlerBase
}

// same returns how many bytes a and b, of equal length, begin with in common.
// Runs end within a few bytes or go on for hundreds: the first word is looked
// at alone, then four together.
func same(a, b []byte) int {
	n := 0
	for len(a)-n >= 8 {
		if x := word(a[n:]) ^ word(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
		for len(a)-n >= 32 {
			p, q := a[n:n+32], b[n:n+32]
			if (word(p)^word(q))|(word(p[8:])^word(q[8:]))|(word(p[16:])^word(q[16:]))|(word(p[24:])^word(q[24:])) != 0 {
				break
			}
			n += 32
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// end writes the last block and the checksum and returns the stream.
func (d *deflater) end() []byte {
	d.block(true)
	d.put(0, 7) // the bits left over, filled up to a byte
	out := binary.BigEndian.AppendUint32(d.dst, uint32(d.b<<16|d.a))
	d.dst = nil
	return out
}

// block writes the collected tokens as one block with codes made for them.
func (d *deflater) block(last bool) {
	var of [numToken]uint32
	for _, t := range d.tokens[:d.n] {
		of[t]++
	}
	var counts [numLiteral]uint32
	copy(counts[:], of[:256])
	counts[endOfBlock] = 1
	for n := minRun; n <= maxRun; n++ {
		counts[lengthSymbol[n]] += of[runToken+n]
	}
	var lengths [numLiteral + 2]uint8
	d.huffman.lengths(counts[:], lengths[:numLiteral], 15)
	// Two distance codes of one bit, of which the first is used: a lone code
	// would be incomplete, and some readers refuse that.
	lengths[numLiteral], lengths[numLiteral+1] = 1, 1
	var codes [numLiteral]code
	canonical(lengths[:numLiteral], codes[:])
	header := uint32(2 << 1)
	if last {
		header |= 1
	}
	d.put(header, 3)
	d.codes(lengths[:])
	d.emit(&codes)
	d.put(uint32(codes[endOfBlock].bits), codes[endOfBlock].n)
	d.n = 0
}

// emit writes the tokens. What each of them becomes is put together first, so
// that the loop is one look-up and one shift per token. After two of them, 21
// bits each at most, all bits held are stored and only whole bytes counted:
// no branch depends on how many there are.
func (d *deflater) emit(codes *[numLiteral]code) {
	var table [numToken]struct {
		bits uint32
		n    uint8
	}
	for v := range 256 {
		table[v].bits, table[v].n = uint32(codes[v].bits), codes[v].n
	}
	for n := minRun; n <= maxRun; n++ {
		// The length's code, its extra bits, and distance code 0, one bit.
		c, extra := codes[lengthSymbol[n]], lengthExtra[n]
		table[runToken+n].bits = uint32(c.bits) | uint32(extra.bits)<<c.n
		table[runToken+n].n = c.n + extra.n + 1
	}
	tokens := d.tokens[:d.n]
	dst := slices.Grow(d.dst, 3*len(tokens)+16)
	at, acc, held := len(dst), d.acc, d.held
	dst = dst[:cap(dst)]
	for ; len(tokens) > 1; tokens = tokens[2:] {
		e, f := &table[tokens[0]], &table[tokens[1]]
		acc |= uint64(e.bits) << (held & 63)
		held += uint(e.n)
		acc |= uint64(f.bits) << (held & 63)
		held += uint(f.n)
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(held / 8)
		acc >>= held &^ 7 & 63
		held %= 8
	}
	d.dst, d.acc, d.held = dst[:at], acc, held
	for _, t := range tokens {
		d.put(table[t].bits, table[t].n)
	}
}

// put writes n bits, at most 32, lowest first.
func (d *deflater) put(v uint32, n uint8) {
	d.acc |= uint64(v) << d.held
	for d.held += uint(n); d.held >= 8; d.held -= 8 {
		d.dst = append(d.dst, byte(d.acc))
		d.acc >>= 8
	}
}

// lengthSymbol and lengthExtra say how a match length is written (RFC 1951,
// section 3.2.5).
var lengthSymbol, lengthExtra = func() (symbols [maxRun + 1]uint16, extras [maxRun + 1]code) {
	base, symbol := 3, uint16(257)
	for extra := 0; extra <= 5; extra++ {
		group := 4
		if extra == 0 {
			group = 8
		}
		for range group {
			for k := range 1 << extra {
				if n := base + k; n <= maxRun {
					symbols[n], extras[n] = symbol, code{uint16(k), uint8(extra)}
				}
			}
			base += 1 << extra
			symbol++
		}
	}
	symbols[maxRun], extras[maxRun] = 285, code{} // the one exception to the pattern
	return symbols, extras
}()

// codeOrder is the order in which the lengths of the length code are sent.
var codeOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codes writes the code lengths of a block, literals first, then distances,
// shortened by repeats (RFC 1951, section 3.2.7).
func (d *deflater) codes(lengths []uint8) {
	type item struct {
		symbol uint8
		extra  code
	}
	var items [numLiteral + 2]item
	n := 0
	var counts [19]uint32
	add := func(symbol uint8, extra code) {
		items[n] = item{symbol, extra}
		n++
		counts[symbol]++
	}
	for i := 0; i < len(lengths); {
		v, run := lengths[i], 1
		for i+run < len(lengths) && lengths[i+run] == v {
			run++
		}
		i += run
		if v != 0 {
			add(v, code{})
			run--
		}
		for run > 0 {
			switch {
			case v == 0 && run >= 11:
				k := min(run, 138)
				add(18, code{uint16(k - 11), 7})
				run -= k
			case v == 0 && run >= 3:
				add(17, code{uint16(run - 3), 3})
				run = 0
			case v != 0 && run >= 3:
				k := min(run, 6)
				add(16, code{uint16(k - 3), 2})
				run -= k
			default:
				add(v, code{})
				run--
			}
		}
	}
	var sizes [19]uint8
	d.huffman.lengths(counts[:], sizes[:], 7)
	var table [19]code
	canonical(sizes[:], table[:])
	sent := len(codeOrder)
	for sent > 4 && sizes[codeOrder[sent-1]] == 0 {
		sent--
	}
	d.put(uint32(numLiteral-257)|uint32(2-1)<<5|uint32(sent-4)<<10, 14)
	for _, s := range codeOrder[:sent] {
		d.put(uint32(sizes[s]), 3)
	}
	for _, it := range items[:n] {
		c := table[it.symbol]
		d.put(uint32(c.bits)|uint32(it.extra.bits)<<c.n, c.n+it.extra.n)
	}
}

// huffman makes code lengths; it only holds the room that takes.
type huffman struct {
	ranked  []uint64 // count and symbol as one number, which sorts fast
	weights []uint32
}

// lengths sets out to the lengths of an optimal prefix code for counts, none
// longer than limit bits. Symbols that do not occur get 0; a code always has
// at least two symbols, since an incomplete one is refused by readers.
func (h *huffman) lengths(counts []uint32, out []uint8, limit int) {
	h.ranked = h.ranked[:0]
	clear(out)
	for s, c := range counts {
		if c > 0 {
			h.ranked = append(h.ranked, uint64(c)<<16|uint64(s))
		}
	}
	for s := uint64(0); len(h.ranked) < 2; s++ {
		if counts[s] == 0 {
			h.ranked = append(h.ranked, 1<<16|s)
		}
	}
	slices.Sort(h.ranked)
	h.weights = h.weights[:0]
	for _, r := range h.ranked {
		h.weights = append(h.weights, uint32(r>>16))
	}
	depths(h.weights)
	var have [33]int
	for _, depth := range h.weights {
		have[min(int(depth), limit)]++
	}
	shorten(have[:], limit)
	// The rarest symbols come first and take the longest codes.
	i := 0
	for n := limit; n > 0; n-- {
		for range have[n] {
			out[uint16(h.ranked[i])] = uint8(n)
			i++
		}
	}
}

// depths replaces rising weights by the depths of their leaves in a Huffman
// tree, in place: first sums with parents, then depths of inner nodes, then of
// leaves (Moffat and Katajainen, "In-place calculation of minimum-redundancy
// codes", 1995).
func depths(w []uint32) {
	n := len(w)
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
	w[n-2] = 0
	for i := n - 3; i >= 0; i-- {
		w[i] = w[w[i]] + 1
	}
	open, used, depth := 1, 0, uint32(0)
	inner, next := n-2, n-1
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

// shorten repairs the numbers of codes of each length after those beyond limit
// were cut to it: until they fit the code space again, a longest code moves
// below a shorter one, which grows by a bit.
func shorten(have []int, limit int) {
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

// canonical fills table with the codes that follow from lengths (RFC 1951,
// section 3.2.2).
func canonical(lengths []uint8, table []code) {
	var have, next [16]uint16
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
