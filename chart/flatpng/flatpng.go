// Package flatpng writes PNG files of flat pictures: charts, diagrams, anything
// whose rows mostly repeat the row above. [Encode] is all there is to call.
//
// PNG stores every row through a filter. This package always takes the filter
// "up", which replaces each byte by its difference from the byte above, so a
// flat picture becomes long runs of zeros. The deflate stream is then written
// with literals and with one kind of match only, "repeat the last byte": that
// needs no search for earlier occurrences, which is where a general encoder
// spends its time. Files are as small as those of image/png for such pictures
// and are made several times faster. Photographs would come out large.
//
// # Security considerations
//
// The caller bounds the picture's size; Encode bounds the file's and stops
// early when it is exceeded.
package flatpng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"slices"
	"sync"
)

// ErrTooLarge reports a file that would exceed the limit given to Encode.
var ErrTooLarge = errors.New("picture too large")

const signature = "\x89PNG\r\n\x1a\n"

// deflaters are kept between pictures, until the garbage collector takes them: for what one
// writes it needs several times the memory of the file.
var deflaters = sync.Pool{New: func() any { return &deflater{tokens: make([]uint16, blockSize)} }}

// Encode returns the PNG file of m. Alpha in the palette is ignored: the file is
// opaque. It fails with ErrTooLarge when the file exceeds limit bytes.
func Encode(m *image.Paletted, limit int) ([]byte, error) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var head [13]byte
	binary.BigEndian.PutUint32(head[0:], uint32(w))
	binary.BigEndian.PutUint32(head[4:], uint32(h))
	head[8], head[9] = 8, 3 // eight bits a pixel, indices into a palette
	colours := make([]byte, 0, 3*256)
	for _, c := range m.Palette {
		r, g, b, _ := c.RGBA()
		colours = append(colours, byte(r>>8), byte(g>>8), byte(b>>8))
	}
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	out := appendChunk(appendChunk(append(d.dst[:0], signature...), "IHDR", head[:]), "PLTE", colours)
	at := len(out)
	out = append(out, "\x00\x00\x00\x00IDAT\x78\x01"...) // the length is filled in below; zlib: deflate, 32 KiB window, fast

	*d = deflater{dst: out, tokens: d.tokens, a: 1}
	above := make([]byte, w) // the row above the first counts as zeros
	for y := 0; y < h && len(d.dst) <= limit; y++ {
		row := m.Pix[y*m.Stride:][:w]
		d.row(row, above)
		above = row
	}
	d.block(true)
	d.put(0, 7)                                                     // flushes the last bits, padded to a byte
	out = binary.BigEndian.AppendUint32(d.dst, uint32(d.b<<16|d.a)) // the stream's own checksum
	const tail = 16                                                 // checksum of this chunk, and the empty last chunk
	if len(out) > limit-tail {
		return nil, fmt.Errorf("%w: %dx%d takes more than %d bytes", ErrTooLarge, w, h, limit)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-8))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at+4:]))
	d.dst = appendChunk(out, "IEND", nil)
	return slices.Clone(d.dst), nil
}

// appendChunk appends a chunk: length, name, data, checksum of name and data.
func appendChunk(dst []byte, name string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	at := len(dst)
	dst = append(dst, name...)
	dst = append(dst, data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}
