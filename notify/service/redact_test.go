package service

import "testing"

// TestRedactWords: a short secret is hidden where it stands by itself, and a usual word that
// contains it stays readable; a long one is hidden wherever it stands.
func TestRedactWords(t *testing.T) {
	d, err := New("ntfy", "https://ntfy.sh/redir", map[string]string{"token": "tk_AgQdq7mVBoFD37zQVN29"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"redirects are not followed":              "redirects are not followed",
		"no topic redir, nor redir.":              "no topic ***, nor ***.",
		"post /redir/json: refused":               "post /***/json: refused",
		"unknown: Basicktk_AgQdq7mVBoFD37zQVN29x": "unknown: Basick***x",
	} {
		if got := d.Redact(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
