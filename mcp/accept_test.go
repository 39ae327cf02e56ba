package mcp

import (
	"strings"
	"testing"
)

// A range with the name of the type decides, else a wider one (RFC 9110, section 12.5.1).
func TestAccepts(t *testing.T) {
	tests := []struct {
		header string
		want   bool
	}{
		{"", true},
		{" , ", true},
		{"application/json", true},
		{"APPLICATION/Json", true},
		{"application/json; charset=utf-8", true},
		{"application/*", true},
		{"*/*", true},
		{"text/html, */*;q=0.1", true},
		{"text/event-stream, application/json", true},
		{"text/plain", false},
		{"text/*", false},
		{"text/event-stream", false},
		{"application/jsonx", false},
		{"application/xml", false},
		{"json", false},
		{"*", false},
		{"*/json", false},
		{"application/json;q=0", false},
		{"application/json;q=0.0", false},
		{"application/json;q=0.000, */*", false},
		{"application/json;q=0, application/*;q=1", false},
		{"application/*;q=0, application/json", true},
		{"*/*;q=0, application/json;q=0.001", true},
		{"*/*;q=0", false},
		{"application/json ; Q=0", false},
		{"application/json;q=x", true}, // only a clear zero excludes
		{"application/json;q=-1", true},
		{"application/json;q=NaN", true},
		{"application/json;q=", true},
		{"application/json;v=1;q=0", false},
	}
	for _, tt := range tests {
		if got := accepts([]string{tt.header}, "application/json"); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.header, got, tt.want)
		}
		if got := accepts(strings.Split(tt.header, ","), "application/json"); got != tt.want {
			t.Errorf("%q as several headers: %v, want %v", tt.header, got, tt.want)
		}
	}
	if !accepts(nil, "application/json") {
		t.Error("no header refuses")
	}
}
