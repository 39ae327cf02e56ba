package flatpng

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// deflater writes a zlib stream of filtered rows (RFC 1950, 1951).
//
// Rows come in through row, which turns them into tokens: a byte, or "the last
// byte again, n times". When enough tokens are collected, block counts them,
// makes Huffman codes for exactly these counts, and writes codes and tokens.
// The only match is the one at distance one, which needs no search.
//
// A deflater is used by one goroutine at a time; its memory serves one stream after another.
type deflater struct {
	dst  []byte
	acc  uint64 // bits not yet written to dst, lowest first
	held uint   // how many bits acc holds

	tokens []uint16 // the tokens of the block; see runToken
	n      int      // how many of them are in use

	a, b uint64 // the two sums of Adler-32
}

const (
	minRun, maxRun = 3, 258 // the lengths of a deflate match

	// A token below 256 is that byte. A run of n repeats, minRun to maxRun, is
	// the token runToken+n, so that tokens of runs follow those of bytes.
	runToken = 256 - minRun
	numToken = runToken + maxRun + 1

	endOfBlock = 256

	// blockSize is how many tokens a block has at most. It bounds memory, and
	// lets the codes follow the picture: a header differs from a plot.
	blockSize = 1 << 15

	adlerBase = 65521
	upFilter  = 2 // PNG's number of the filter "up"
)

// row adds one row through the filter "up": every byte minus the one above.
//
// A filtered byte that differs from the one before it becomes a literal. One
// that equals it starts a run, which is measured at once. Runs of zeros are
// long, so they are compared eight bytes at a time; other runs are short and
// are compared byte by byte. The loop has only one branch that the processor
// cannot predict well: whether a byte repeats the last.
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
			// The columns of a run add up to run*x plus run*(run-1)/2; zeros add
			// nothing.
			moment += run * (2*x + run - 1) / 2 * int(v)
		}
		x += run
		for ; run >= minRun; run -= min(run, maxRun) { // as long as allowed
			tokens[n] = runToken + uint16(min(run, maxRun))
			n++
		}
		for ; run > 0; run-- { // a rest below minRun, as literals
			tokens[n] = uint16(v)
			n++
		}
	}
	d.n = n
	d.checksum(len(row), sum, moment)
}

// checksum adds a row to Adler-32: the filter's byte, then n bytes v(x).
//
// Adler-32 adds every byte to a, and after every byte adds a to b. Over the n
// bytes of a row a therefore grows by Σ v(x), and b by n times the old a plus
// Σ (n-x)·v(x), which is n·sum − moment for moment = Σ x·v(x). So the sums that
// row collects are enough, and zeros, nearly all of a picture, cost nothing.
func (d *deflater) checksum(n, sum, moment int) {
	d.a += upFilter
	d.b += d.a + uint64(n)*d.a + uint64(n*sum-moment)
	d.a = (d.a + uint64(sum)) % adlerBase
	d.b %= adlerBase
}

// same returns how many leading bytes a and b, of equal length, have in common.
// It compares 64 bytes at a time, then words of eight.
func same(a, b []byte) int {
	n := 0
	for len(a)-n >= 64 && string(a[n:n+64]) == string(b[n:n+64]) {
		n += 64
	}
	for len(a)-n >= 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// block writes the collected tokens as one block of the "dynamic" kind: with
// Huffman codes made for it (RFC 1951, section 3.2.7). It leaves no tokens.
func (d *deflater) block(last bool) {
	counts := d.counts()
	var lengths [numLiteral + 2]uint8
	lengthsOf(counts[:], lengths[:numLiteral], 15)
	// The distances: two codes of one bit, of which only the first, distance
	// one, is used. A lone code would be incomplete, which some readers refuse.
	lengths[numLiteral], lengths[numLiteral+1] = 1, 1
	var codes [numLiteral]code
	canonical(lengths[:numLiteral], codes[:])
	header := uint32(2 << 1) // the kind "dynamic", above the bit for the last block
	if last {
		header |= 1
	}
	d.put(header, 3)
	d.codes(lengths[:])
	d.emit(&codes)
	d.put(uint32(codes[endOfBlock].bits), codes[endOfBlock].n)
	d.n = 0
}

// counts returns how often the block has each of deflate's symbols.
func (d *deflater) counts() (counts [numLiteral]uint32) {
	// Count tokens first: 512 counters are quicker to bump than a symbol is to
	// look up for each of 32,768 tokens.
	var of [numToken]uint32
	for _, t := range d.tokens[:d.n] {
		of[t]++
	}
	copy(counts[:], of[:256])
	counts[endOfBlock] = 1
	for n := minRun; n <= maxRun; n++ {
		counts[lengthSymbol[n]] += of[runToken+n]
	}
	return counts
}

// emit writes the tokens with the given codes.
//
// A table is filled first, so the loop does one look-up and one shift per token. It takes
// two tokens at a time: each has at most 15+5+1 = 21 bits, so with the at most
// 7 held from before they fit acc's 64. All eight bytes of acc are then stored,
// and at moves on by the whole bytes among them; the next store overwrites the
// rest. No branch depends on how many bits there are.
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
	dst := slices.Grow(d.dst, 3*len(tokens)+16) // 21 bits each, and the last store
	at, acc, held := len(dst), d.acc, d.held
	dst = dst[:cap(dst)]
	for ; len(tokens) > 1; tokens = tokens[2:] {
		e, f := &table[tokens[0]], &table[tokens[1]]
		acc |= uint64(e.bits) << (held & 63) // the mask spares the compiler's check
		held += uint(e.n)
		acc |= uint64(f.bits) << (held & 63)
		held += uint(f.n)
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(held / 8)
		acc >>= held &^ 7 & 63
		held %= 8
	}
	d.dst, d.acc, d.held = dst[:at], acc, held
	// An odd token is left over.
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

// lengthSymbol and lengthExtra say for every match length which symbol and
// which extra bits write it (RFC 1951, section 3.2.5): eight symbols stand for
// one length each, then groups of four for 2, 4, 8, 16 and 32 lengths each, the
// extra bits choosing among them.
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

// codeOrder is the order in which the lengths of the code for lengths are sent,
// the likeliest first, so that those at the end can be left out.
var codeOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codes writes the code lengths of a block, literals first, then distances
// (RFC 1951, section 3.2.7). From the lengths a reader rebuilds the codes. They
// are themselves written with a Huffman code of their own, each by itself: the
// symbols 16 to 18 for repeated lengths would take twenty bytes off a file of 70,000.
func (d *deflater) codes(lengths []uint8) {
	var counts [19]uint32
	for _, n := range lengths {
		counts[n]++
	}
	var sizes [19]uint8
	lengthsOf(counts[:], sizes[:], 7)
	var table [19]code
	canonical(sizes[:], table[:])
	// Code lengths are sent in a fixed order that ends with the rarest; trailing zeros
	// are left out, though at least four are sent.
	sent := len(codeOrder)
	for sent > 4 && sizes[codeOrder[sent-1]] == 0 {
		sent--
	}
	d.put(uint32(numLiteral-257)|uint32(2-1)<<5|uint32(sent-4)<<10, 14)
	for _, s := range codeOrder[:sent] {
		d.put(uint32(sizes[s]), 3)
	}
	for _, n := range lengths {
		d.put(uint32(table[n].bits), table[n].n)
	}
}
