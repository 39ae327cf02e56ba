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
		d.tokens = make([]uint16, 0, blockSize)
	}
	d.tokens = d.tokens[:0]
	d.a, d.b = 1, 0
}

// row adds one row through the Up filter: every byte less the one above.
//
// Over a run Adler's sums have a closed form, so long runs cost nothing: a
// grows by n*v, b by n times the old a and v times the sum of 1 to n. They are
// brought back below their base once a row: 4096 bytes cannot overflow them.
func (d *deflater) row(row, above []byte) {
	if len(d.tokens)+len(row)+1 > cap(d.tokens) {
		d.block(false)
	}
	above = above[:len(row)]
	tokens := append(d.tokens, upFilter)
	a := d.a + upFilter
	b := d.b + a
	for x := 0; x < len(row); {
		v := row[x] - above[x]
		n := 1
		if v == 0 {
			n = same(row[x:], above[x:])
			b += uint64(n) * a
		} else {
			for x+n < len(row) && row[x+n]-above[x+n] == v {
				n++
			}
			k := uint64(n)
			b += k*a + uint64(v)*(k*(k+1)/2)
			a += k * uint64(v)
		}
		x += n
		tokens = append(tokens, uint16(v))
		if n > 1 {
			tokens = repeat(tokens, v, n-1)
		}
	}
	d.tokens = tokens
	d.a, d.b = a%adlerBase, b%adlerBase
}

// repeat appends the tokens for n more of v: repeats, then what is too short
// to be one.
func repeat(tokens []uint16, v byte, n int) []uint16 {
	for ; n >= minRun; n -= min(n, maxRun) {
		tokens = append(tokens, runToken+uint16(min(n, maxRun)))
	}
	for ; n > 0; n-- {
		tokens = append(tokens, uint16(v))
	}
	return tokens
}

// same returns how many bytes a and b, of equal length, begin with in common.
func same(a, b []byte) int {
	n := 0
	for ; len(a)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// end writes the last block and the checksum and returns the stream.
func (d *deflater) end() []byte {
	d.block(true)
	for d.held > 0 {
		d.dst = append(d.dst, byte(d.acc))
		d.acc >>= 8
		d.held -= min(d.held, 8)
	}
	out := binary.BigEndian.AppendUint32(d.dst, uint32(d.b<<16|d.a))
	d.dst = nil
	return out
}

// block writes the collected tokens as one block with codes made for them.
func (d *deflater) block(last bool) {
	var of [numToken]uint32
	for _, t := range d.tokens {
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
	d.tokens = d.tokens[:0]
}

// emit writes the tokens. What each of them becomes is put together first, so
// that the loop is one look-up and one shift.
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
	dst := slices.Grow(d.dst, 4*len(d.tokens)+8)
	at, acc, held := len(dst), d.acc, d.held
	dst = dst[:cap(dst)]
	for _, t := range d.tokens {
		e := &table[t]
		acc |= uint64(e.bits) << (held & 63)
		held += uint(e.n)
		if held >= 32 {
			binary.LittleEndian.PutUint32(dst[at:], uint32(acc))
			at += 4
			acc >>= 32
			held -= 32
		}
	}
	d.dst, d.acc, d.held = dst[:at], acc, held
}

// put writes n bits, at most 32, lowest first.
func (d *deflater) put(v uint32, n uint8) {
	d.acc |= uint64(v) << d.held
	d.held += uint(n)
	if d.held >= 32 {
		d.dst = binary.LittleEndian.AppendUint32(d.dst, uint32(d.acc))
		d.acc >>= 32
		d.held -= 32
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
	symbols []uint16
	weights []uint32
}

// lengths sets out to the lengths of an optimal prefix code for counts, none
// longer than limit bits. Symbols that do not occur get 0; a code always has
// at least two symbols, since an incomplete one is refused by readers.
func (h *huffman) lengths(counts []uint32, out []uint8, limit int) {
	h.symbols = h.symbols[:0]
	clear(out)
	for s, c := range counts {
		if c > 0 {
			h.symbols = append(h.symbols, uint16(s))
		}
	}
	for s := uint16(0); len(h.symbols) < 2; s++ {
		if !slices.Contains(h.symbols, s) {
			h.symbols = append(h.symbols, s)
		}
	}
	slices.SortFunc(h.symbols, func(a, b uint16) int {
		if counts[a] != counts[b] {
			return int(counts[a]) - int(counts[b])
		}
		return int(a) - int(b)
	})
	h.weights = h.weights[:0]
	for _, s := range h.symbols {
		h.weights = append(h.weights, max(counts[s], 1))
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
			out[h.symbols[i]] = uint8(n)
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
