package limit

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"short", "BTCUSDT", "BTCUSDT"},
		{"at the bound", strings.Repeat("a", 64), strings.Repeat("a", 64)},
		{"beyond it", strings.Repeat("a", 65), strings.Repeat("a", 64) + "…"},
		{"no half of a character", strings.Repeat("a", 63) + "éé", strings.Repeat("a", 63) + "…"},
		{"invalid and short", "a\xffb", "a\ufffdb"},
	} {
		if got := Clip(c.text); got != c.want {
			t.Errorf("%s: Clip(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("BTC")
	f.Add(strings.Repeat("語", 40))
	f.Fuzz(func(t *testing.T, text string) {
		got := Clip(text)
		if !utf8.ValidString(got) || len(got) > 3*maxClip+len("…") {
			t.Errorf("Clip(%q) = %q", text, got)
		}
	})
}

func TestBucket(t *testing.T) {
	r := Rate{Burst: 2, Every: time.Minute}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b Bucket
	for i, step := range []struct {
		after time.Duration
		want  time.Duration
	}{
		{0, 0}, {0, 0}, {0, time.Minute}, {30 * time.Second, 30 * time.Second}, {time.Minute, 0}, {time.Minute, time.Minute},
		{time.Hour, 0}, {time.Hour, 0}, {time.Hour, time.Minute},
	} {
		if got := b.Take(start.Add(step.after), r); got != step.want {
			t.Errorf("step %d: Take waits %v, want %v", i, got, step.want)
		}
	}
	b.GiveBack()
	if got := b.Take(start.Add(time.Hour), r); got != 0 {
		t.Errorf("after GiveBack Take waits %v", got)
	}
	if got := b.Wait(start, r); got != time.Minute { // the clock was set back
		t.Errorf("Wait an hour earlier = %v", got)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "BTCUSDT 4h é", "BTCUSDT 4h é"},
		{"line breaks", "a\r\nBcc: b\x00\u2028c\u0085", "a  Bcc: b  c "},
		{"turned around", "a\u202egnp.exe\u2066b", "agnp.exeb"},
		{"marked as written from the right", "a\u200f1\u061c2\u200eb", "a12b"},
		{"at the bound", strings.Repeat("a", 20), strings.Repeat("a", 20)},
		{"beyond it", strings.Repeat("a", 19) + "éé", strings.Repeat("a", 19) + "…"},
		{"invalid", "a\xff", "a\ufffd"},
	} {
		if got := Line(c.text, 20); got != c.want {
			t.Errorf("%s: Line(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}
