package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"wick/indicators"
)

// TestListSnapshot: what list_indicators tells of every entry is what
// testdata/list_indicators.json says, one entry a line. A commit that changes the file says
// why; -update rewrites it.
func TestListSnapshot(t *testing.T) {
	var got bytes.Buffer
	for ind := range indicators.All() {
		line, err := json.Marshal(entryOf(ind))
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(line, '\n'))
	}
	const file = "testdata/list_indicators.json"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := bytes.Split(got.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(gotLines) != len(wantLines) {
		t.Errorf("%d lines, %s has %d", len(gotLines), file, len(wantLines))
	}
	for i := range min(len(gotLines), len(wantLines)) {
		if !bytes.Equal(gotLines[i], wantLines[i]) {
			t.Errorf("line %d:\ngot  %s\nwant %s", i+1, gotLines[i], wantLines[i])
		}
	}
}
