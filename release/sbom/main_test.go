package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestInventory takes the inventory of the test's own binary: the toolchain is
// in it, every module has a version and a hash, a second run is the same.
func TestInventory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := inventory("1.2.3", []string{self, self})
	if err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Metadata.Component.Version != "1.2.3" || len(b.Metadata.Component.Components) != 2 ||
		len(b.Components) == 0 || b.Components[0].Name != "std" || b.Components[0].Version == "" {
		t.Errorf("inventory: %+v", b)
	}
	again, err := inventory("1.2.3", []string{self, self})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(b)
	two, _ := json.Marshal(again)
	if !bytes.Equal(one, two) {
		t.Errorf("two runs differ:\n%s\n%s", one, two)
	}
}

// TestNoBinary: a file that is not a Go binary is refused, not left out.
func TestNoBinary(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inventory("1", []string{name}); err == nil {
		t.Error("a text file has an inventory")
	}
}
