package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"wick/indicators"
	"wick/mcp"
	"wick/mcp/tools"
)

// Bounds of a picture of the gallery and of one of a play, in bytes.
const maxScene, maxPlay = 80_000, 8_000

// TestUpToDate: the files in docs are what the code says now. Pictures are
// compared by pixel, which spares the test their slow encoding.
func TestUpToDate(t *testing.T) {
	if got := read(t, "indicators.md"); !bytes.Equal(got, indicatorsPage()) {
		t.Error("docs/indicators.md is out of date: run make docs")
	}
	pictures, err := filepath.Glob(filepath.Join("..", "..", "docs", "indicators", "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for ind := range indicators.All() {
		name := "indicators/" + ind.Name + ".png"
		known[filepath.Base(name)] = true
		if testing.Short() && len(known)%17 != 0 {
			continue
		}
		compare(t, name, []string{ind.Name}, 60, 640, 320)
		if size := len(read(t, name)); size > maxPortrait {
			t.Errorf("%s has %d bytes, at most %d are wanted", name, size, maxPortrait)
		}
	}
	for _, picture := range pictures {
		if !known[filepath.Base(picture)] {
			t.Errorf("%s shows an indicator that is gone", picture)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(name)))
	if err != nil {
		t.Fatalf("%v: run make docs", err)
	}
	return data
}

// TestGallery: the page and its pictures are what the code draws now, 24 of
// them, each small enough to load with the page.
func TestGallery(t *testing.T) {
	if got := read(t, "gallery.md"); !bytes.Equal(got, galleryPage()) {
		t.Error("docs/gallery.md is out of date: run make docs")
	}
	pictures, err := filepath.Glob(filepath.Join("..", "..", "docs", "gallery", "*.png"))
	if err != nil || len(pictures) != 24 || len(scenes) != 24 {
		t.Errorf("%d pictures of %d scenes, %v", len(pictures), len(scenes), err)
	}
	for i, s := range scenes {
		if testing.Short() && i%6 != 0 {
			continue
		}
		want, err := s.draw()
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		// The call that the page shows is one that the tool takes.
		if _, err := tools.Chart(tools.Deps{Source: frozen{}}).Handle(t.Context(), mcp.Call{Arguments: []byte(s.arguments)}); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		file := read(t, s.file())
		if len(file) > maxScene {
			t.Errorf("%s has %d bytes, at most %d are wanted", s.name, len(file), maxScene)
		}
		if got, err := decode(file); err != nil || !same(got, want) {
			t.Errorf("docs/%s is out of date (%v): run make docs", s.file(), err)
		}
	}
}

// compare holds a picture in docs to what is drawn now, with edges as fine as
// drawn or as coarse as a portrait may have them.
func compare(t *testing.T, name string, names []string, bars, width, height int) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, ok := img.(*image.Paletted)
	want, err := draw(names, bars, width, height)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if ok && same(got, want) {
		return
	}
	for _, step := range coarser {
		if ok && same(got, posterize(want, step)) {
			return
		}
	}
	t.Errorf("docs/%s is out of date: run make docs", name)
}

// same reports whether two pictures show the same colours.
func same(a, b *image.Paletted) bool {
	if a.Rect != b.Rect {
		return false
	}
	var equal [256][256]bool
	for i, c := range a.Palette {
		for j, d := range b.Palette {
			equal[i][j] = c == d
		}
	}
	for i := range a.Pix {
		if !equal[a.Pix[i]][b.Pix[i]] {
			return false
		}
	}
	return true
}

// TestOrderPictures: the pictures of docs/trading.md show what the engine does now,
// each is small and on the page.
func TestOrderPictures(t *testing.T) {
	page := read(t, "trading.md")
	for _, p := range plays {
		file := read(t, p.file())
		if len(file) > maxPlay || !bytes.Contains(page, []byte("("+p.file()+")")) {
			t.Errorf("docs/%s has %d bytes of %d, or is not in docs/trading.md", p.file(), len(file), maxPlay)
		}
		want, err := p.paint()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(file); err != nil || !same(got, want) {
			t.Errorf("docs/%s is out of date (%v): run make docs", p.file(), err)
		}
	}
}
