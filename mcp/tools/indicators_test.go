package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/indicators"
)

var fixedNow = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

type catalogReply struct {
	Total      int
	Sources    []string
	Indicators []struct {
		Name, Description, Type, Category string
		Overlay                           *bool
		Aliases                           []string
		Params                            []struct {
			Name, Type, Description string
			Default                 any
			Min, Max                *float64
			Choices                 []string
		} `json:"configurable_params"`
		Signals []string
	}
}

// TestCatalogue: every entry of the catalogue is listed with all the contract
// asks for, and every listed name and alias is accepted.
func TestCatalogue(t *testing.T) {
	var c catalogReply
	text := payload(t, Deps{}, "list_indicators", ``, &c)
	if strings.Contains(string(text), ":null") {
		t.Errorf("the catalogue holds a null")
	}
	if c.Total != len(c.Indicators) || c.Total < 5 {
		t.Errorf("total %d, listed %d", c.Total, len(c.Indicators))
	}
	if n := len(text); n > 150_000 { // claude.ai takes no more of a result
		t.Errorf("the catalogue has %d characters", n)
	}
	if !slices.Contains(c.Sources, "hlc3") {
		t.Errorf("sources %q", c.Sources)
	}
	for _, ind := range c.Indicators {
		if ind.Description == "" || ind.Overlay == nil || ind.Aliases == nil || ind.Params == nil || ind.Signals == nil {
			t.Errorf("%s lacks a member: %+v", ind.Name, ind)
		}
		if (ind.Type == "overlay") != *ind.Overlay && ind.Type != "external" {
			t.Errorf("%s is of type %s and overlay %t", ind.Name, ind.Type, *ind.Overlay)
		}
		for _, p := range ind.Params {
			if bounded := p.Min != nil && p.Max != nil; bounded != (p.Type == "integer" || p.Type == "number") {
				t.Errorf("%s %s: type %s, bounds %v %v", ind.Name, p.Name, p.Type, p.Min, p.Max)
			}
			if shared := strings.HasSuffix(p.Description, ", one of sources"); p.Type == "string" && shared == (p.Choices != nil) {
				t.Errorf("%s %s: description %q, choices %q", ind.Name, p.Name, p.Description, p.Choices)
			}
			if p.Description == "" || p.Default == nil {
				t.Errorf("%s %s: description %q, default %v", ind.Name, p.Name, p.Description, p.Default)
			}
		}
		for _, name := range append(ind.Aliases, ind.Name) {
			if _, err := indicators.Lookup(name); err != nil {
				t.Errorf("%s is listed and refused: %v", name, err)
			}
		}
	}
}

func TestCatalogueFilters(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"query":"bollinger"}`:                      "bbands",
		`{"query":"Relative STRENGTH"}`:              "rsi",
		`{"category":"momentum","query":"macd"}`:     "macd",
		`{"query":"nothing is called like this at"}`: "",
	} {
		var c catalogReply
		payload(t, Deps{}, "list_indicators", arguments, &c)
		found := want == "" && c.Total == 0
		for _, ind := range c.Indicators {
			found = found || ind.Name == want
		}
		if !found {
			t.Errorf("%s finds %d, not %q", arguments, c.Total, want)
		}
	}
	if _, err := call(t, Deps{}, "list_indicators", `{"category":"nonsense"}`); err == nil || !strings.Contains(err.Error(), "momentum") {
		t.Errorf("an unknown category: %v", err)
	}
}

// TestGetIndicators: defaults, the shape, and that what is required is.
func TestGetIndicators(t *testing.T) {
	d := Deps{Source: &fixed{}}
	var s summary
	payload(t, d, "get_indicators", `{"symbol":"btcusdt","indicators":"rsi"}`, &s)
	if s.Interval != "4h" || s.Source != "fetched" || s.Bars != float64(computedBars) || s.Indicators["rsi"].Lines[0].LastValue == nil {
		t.Errorf("got %+v", s)
	}
	for arguments, want := range map[string]string{
		`{"indicators":["rsi"]}`:              "symbol is required",
		`{"symbol":"X"}`:                      "indicators is required",
		`{"symbol":"X","indicators":[]}`:      "indicators is required",
		`{"symbol":"X","indicators":["foo"]}`: "unknown indicator",
	} {
		if _, err := call(t, d, "get_indicators", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

// TestSchemas: what all model vendors accept: an object on top without
// combinators, no arrays of types, string enums.
func TestSchemas(t *testing.T) {
	tools := All(Deps{})
	if len(tools) != 15 {
		t.Fatalf("%d tools, the specification has 15", len(tools))
	}
	for _, tool := range tools {
		var top map[string]any
		if err := json.Unmarshal(tool.Schema, &top); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, combinator := range []string{"anyOf", "oneOf", "allOf", "not"} {
			if _, has := top[combinator]; has {
				t.Errorf("%s has %s at the top", tool.Name, combinator)
			}
		}
		if top["type"] != "object" || tool.Title == "" || len(tool.Description) < 40 {
			t.Errorf("%s: type %v, title %q, description %q", tool.Name, top["type"], tool.Title, tool.Description)
		}
		walkSchema(t, tool.Name, top)
	}
}

func walkSchema(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, list := v["type"].([]any); list {
			t.Errorf("%s: an array of types", path)
		}
		if enum, ok := v["enum"].([]any); ok {
			for _, word := range enum {
				if _, ok := word.(string); !ok {
					t.Errorf("%s: enum of %v", path, word)
				}
			}
		}
		for key, inner := range v {
			walkSchema(t, path+"."+key, inner)
		}
	case []any:
		for _, inner := range v {
			walkSchema(t, path, inner)
		}
	}
}
