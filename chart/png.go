package chart

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// encoder writes PNG files of one byte per pixel. It exists because the
// pictures are flat: most bytes equal the one above, so after PNG's Up filter
// nearly everything is a run of zeros, and a deflate writer that knows only
// literals and runs is several times faster than a general one and no worse.
//
// An encoder is used by one goroutine at a time and may be used again.
type encoder struct {
	out  []byte // the file of PNG, kept between calls
	zero []byte // the row above the first
	deflater
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// encode appends the file of a w by h picture to dst. Pixels are indices into
// pal. It stops with ErrTooLarge as soon as the file exceeds MaxBytes.
func (e *encoder) encode(ctx context.Context, dst []byte, pix []uint8, w, h int, pal []rgb) ([]byte, error) {
	start := len(dst)
	out := append(dst, pngSignature...)
	var head [13]byte
	binary.BigEndian.PutUint32(head[0:], uint32(w))
	binary.BigEndian.PutUint32(head[4:], uint32(h))
	head[8], head[9] = 8, 3 // eight bits, palette
	out = appendChunk(out, "IHDR", head[:])
	colours := make([]byte, 0, 3*256)
	for _, c := range pal {
		colours = append(colours, c.r, c.g, c.b)
	}
	out = appendChunk(out, "PLTE", colours)

	at := len(out)
	out = append(out, "\x00\x00\x00\x00IDAT"...) // the length is known later
	out = append(out, 0x78, 0x01)                // zlib: deflate, 32 KiB window, fast
	if len(e.zero) < w {
		e.zero = make([]byte, w)
	}
	e.begin(out)
	above := e.zero[:w]
	for y := range h {
		row := pix[y*w : (y+1)*w]
		e.row(row, above)
		above = row
		if y%256 == 255 {
			if err := ctx.Err(); err != nil {
				return dst, err
			}
			if len(e.dst)-start > MaxBytes {
				break
			}
		}
	}
	out = e.end()
	if len(out)-start > MaxBytes-16 {
		return dst, fmt.Errorf("%w: %dx%d takes more than %d bytes; ask for a smaller picture or fewer indicators",
			ErrTooLarge, w, h, MaxBytes)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-8))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at+4:]))
	return appendChunk(out, "IEND", nil), nil
}

// appendChunk appends a chunk: length, name, data, checksum of name and data.
func appendChunk(dst []byte, name string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	at := len(dst)
	dst = append(dst, name...)
	dst = append(dst, data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}
