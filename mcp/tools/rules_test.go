package tools

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/rules"
)

// TestRulesPage runs the examples of docs/rules.md, and holds its table of names
// to the language.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		examples := regexp.MustCompile(`(?m)^ +([a-z]+_[a-z]+) (\{.*\})$`).FindAllStringSubmatch(string(page), -1)
		if len(examples) != 10 {
			t.Errorf("%d examples, want 10", len(examples))
		}
		for _, e := range examples {
			r, err := d.call(trader, e[1], e[2])
			if err != nil {
				t.Errorf("%s %s: %v", e[1], e[2], err)
				continue
			}
			for _, c := range r.Content {
				if strings.Contains(string(c.Text), `"ignored"`) {
					t.Errorf("%s %s: %s", e[1], e[2], c.Text)
				}
			}
		}
	})
	for _, name := range regexp.MustCompile("`([a-z_]+)\\(").FindAllStringSubmatch(string(page), -1) {
		if name := name[1]; !rules.Builtin(name) && name != "ema" && name != "sma" && name != "bbands" && name != "rsi" && name != "close" {
			t.Errorf("the page tells of %s, which is not of the language", name)
		}
	}
}
