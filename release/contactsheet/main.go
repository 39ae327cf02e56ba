// Command contactsheet puts the golden pictures of package chart on one sheet,
// docs/contact-sheet.png, each with its name and size, so that a reviewer sees
// all cases together:
//
//	go run ./release/contactsheet
//
// It runs from the top of the repository and takes no arguments.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const (
	columns      = 6
	cellW, cellH = 330, 214
	captionH     = 20
	margin       = 8
)

// Below the top of the repository.
const (
	goldens = "chart/testdata/golden/*.png"
	made    = "docs/contact-sheet.png"
)

func main() {
	log.SetFlags(0)
	if err := run(goldens, made); err != nil {
		log.Fatal(err)
	}
}

// run reads the pictures that match pattern and writes the sheet.
func run(pattern, out string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no pictures match %s: run from the top of the repository", pattern)
	}
	face, err := captionFace()
	if err != nil {
		return err
	}
	rows := (len(files) + columns - 1) / columns
	sheet := image.NewRGBA(image.Rect(0, 0, columns*cellW, rows*cellH))
	draw.Draw(sheet, sheet.Rect, image.NewUniform(color.Gray{0x40}), image.Point{}, draw.Src)
	for i, file := range files {
		cell := image.Rect(0, 0, cellW, cellH).Add(image.Pt(i%columns*cellW, i/columns*cellH)).Inset(margin / 2)
		if err := place(sheet, cell, file, face); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	mark, err := origin(files)
	if err != nil {
		return err
	}
	return write(out, sheet, mark)
}

// origin returns a chunk of PNG with a text that says which pictures a sheet was made from,
// by a digest of their names and contents. The test compares it: the pixels of a scaled
// picture may differ between processors.
func origin(files []string) ([]byte, error) {
	sum := sha256.New()
	for _, file := range files {
		picture, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(sum, "%s %x\n", filepath.Base(file), sha256.Sum256(picture))
	}
	text := fmt.Appendf(nil, "tEXtSource\x00%x", sum.Sum(nil))
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4)) // the type of the chunk does not count
	return binary.BigEndian.AppendUint32(append(chunk, text...), crc32.ChecksumIEEE(text)), nil
}

func captionFace() (font.Face, error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: 13, DPI: 72, Hinting: font.HintingFull})
}

// place draws one picture into cell, as large as fits, over its caption.
func place(sheet *image.RGBA, cell image.Rectangle, file string, face font.Face) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		return err
	}
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	room := image.Rect(cell.Min.X, cell.Min.Y, cell.Max.X, cell.Max.Y-captionH)
	scale := min(float64(room.Dx())/float64(w), float64(room.Dy())/float64(h))
	size := image.Pt(max(1, int(float64(w)*scale)), max(1, int(float64(h)*scale)))
	at := room.Min.Add(image.Pt((room.Dx()-size.X)/2, (room.Dy()-size.Y)/2))
	draw.CatmullRom.Scale(sheet, image.Rectangle{at, at.Add(size)}, m, m.Bounds(), draw.Src, nil)
	caption := fmt.Sprintf("%s  %d×%d", strings.TrimSuffix(filepath.Base(file), ".png"), w, h)
	d := font.Drawer{Dst: sheet, Src: image.White, Face: face, Dot: fixed.P(cell.Min.X+2, cell.Max.Y-5)}
	d.DrawString(caption)
	return nil
}

// headLen is the length of what a PNG begins with: its signature and the chunk IHDR.
const headLen = 8 + 25

// write stores the sheet with few colours: it is for people to look at, not for exact
// comparison. The chunk mark becomes part of the file.
func write(out string, sheet *image.RGBA, mark []byte) error {
	pal := commonest(sheet, 256)
	small := image.NewPaletted(sheet.Rect, pal)
	draw.Draw(small, sheet.Rect, sheet, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, small); err != nil {
		return err
	}
	return os.WriteFile(out, slices.Insert(b.Bytes(), headLen, mark...), 0o644)
}

// commonest returns the n most frequent colours of m, which are compared with five bits
// per channel. So large areas keep their colour, and rare colours of edges are replaced by
// the nearest one.
func commonest(m *image.RGBA, n int) color.Palette {
	count := make(map[color.RGBA]int)
	for i := 0; i < len(m.Pix); i += 4 {
		count[color.RGBA{m.Pix[i]&^7 | 3, m.Pix[i+1]&^7 | 3, m.Pix[i+2]&^7 | 3, 255}]++
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var pal color.Palette
	for _, c := range colours[:min(n, len(colours))] {
		pal = append(pal, c)
	}
	return pal
}
