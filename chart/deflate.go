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

	tokens []uint16 // a byte, or runFlag and a length
	counts [numLiteral]uint32

	// The two sums of Adler-32. Over a run they have a closed form, so long
	// runs cost nothing.
	a, b uint32

	literal [numLiteral]code
	huffman huffman
}

const (
	numLiteral = 286     // literals, the end of a block, lengths
	endOfBlock = 256     //
	runFlag    = 1 << 15 // marks a token that repeats the last byte
	maxRun     = 258     // the longest match of deflate
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
	d.tokens, d.counts = d.tokens[:0], [numLiteral]uint32{}
	d.a, d.b = 1, 0
}

// row adds one row through the Up filter: every byte less the one above.
func (d *deflater) row(row, above []byte) {
	d.byte(upFilter)
	above = above[:len(row)]
	for x := 0; x < len(row); {
		if n := same(row[x:], above[x:]); n > 0 {
			d.run(0, n)
			x += n
			continue
		}
		v := row[x] - above[x]
		n := 1
		for x+n < len(row) && row[x+n]-above[x+n] == v {
			n++
		}
		d.run(v, n)
		x += n
	}
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

// run adds v n times.
func (d *deflater) run(v byte, n int) {
	d.byte(v)
	n--
	for n >= 3 {
		m := min(n, maxRun)
		d.token(runFlag|uint16(m), lengthSymbol[m])
		d.sum(v, m)
		n -= m
	}
	for range n {
		d.byte(v)
	}
}

func (d *deflater) byte(v byte) {
	d.token(uint16(v), uint16(v))
	d.a += uint32(v)
	if d.a >= adlerBase {
		d.a -= adlerBase
	}
	d.b += d.a
	if d.b >= adlerBase {
		d.b -= adlerBase
	}
}

// sum moves the checksum over v repeated n times: a grows by n*v, b by n times
// the old a and by v times the sum of 1 to n. Nothing here overflows: n is at
// most 258.
func (d *deflater) sum(v byte, n int) {
	k := uint32(n)
	d.b = (d.b + k*d.a + uint32(v)*(k*(k+1)/2)) % adlerBase
	d.a = (d.a + k*uint32(v)) % adlerBase
}

func (d *deflater) token(t, symbol uint16) {
	if len(d.tokens) == cap(d.tokens) {
		d.block(false)
	}
	d.tokens = append(d.tokens, t)
	d.counts[symbol]++
}

// end writes the last block and the checksum and returns the stream.
func (d *deflater) end() []byte {
	d.block(true)
	for d.held > 0 {
		d.dst = append(d.dst, byte(d.acc))
		d.acc >>= 8
		d.held -= min(d.held, 8)
	}
	out := binary.BigEndian.AppendUint32(d.dst, d.b<<16|d.a)
	d.dst = nil
	return out
}

func (d *deflater) put(v uint64, n uint) {
	d.acc |= v << d.held
	d.held += n
	if d.held >= 32 {
		d.dst = binary.LittleEndian.AppendUint32(d.dst, uint32(d.acc))
		d.acc >>= 32
		d.held -= 32
	}
}

// block writes the collected tokens as one block with codes made for them.
func (d *deflater) block(last bool) {
	d.counts[endOfBlock]++
	var lengths [numLiteral + 2]uint8
	d.huffman.lengths(d.counts[:], lengths[:numLiteral], 15)
	// Two distance codes of one bit, of which the first is used: a lone code
	// would be incomplete, and some readers refuse that.
	lengths[numLiteral], lengths[numLiteral+1] = 1, 1
	canonical(lengths[:numLiteral], d.literal[:])
	header := uint64(2 << 1)
	if last {
		header |= 1
	}
	d.put(header, 3)
	d.codes(lengths[:])
	for _, t := range d.tokens {
		if t&runFlag == 0 {
			c := d.literal[t]
			d.put(uint64(c.bits), uint(c.n))
			continue
		}
		n := t &^ runFlag
		c := d.literal[lengthSymbol[n]]
		// The length's code, its extra bits, and distance code 0, one bit.
		extra := lengthExtra[n]
		v := uint64(c.bits) | uint64(extra.bits)<<c.n
		d.put(v, uint(c.n)+uint(extra.n)+1)
	}
	end := d.literal[endOfBlock]
	d.put(uint64(end.bits), uint(end.n))
	d.tokens = d.tokens[:0]
	d.counts = [numLiteral]uint32{}
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
	d.put(uint64(numLiteral-257)|uint64(2-1)<<5|uint64(sent-4)<<10, 14)
	for _, s := range codeOrder[:sent] {
		d.put(uint64(sizes[s]), 3)
	}
	for _, it := range items[:n] {
		c := table[it.symbol]
		d.put(uint64(c.bits)|uint64(it.extra.bits)<<c.n, uint(c.n+it.extra.n))
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
