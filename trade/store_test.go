package trade

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wick/exact"
)

// TestDirectory: the modes of the directory and its files, the lock that keeps a second
// process out, and a path that is no directory.
func TestDirectory(t *testing.T) {
	o := testOptions(t)
	os.Chmod(o.Dir, 0o755)
	e := openTest(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "another wick is running on it") || strings.Contains(err.Error(), "\n") {
		t.Errorf("second process: %v", err)
	}
	if _, err := e.Subscribe(from("caller"), Filter{}); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(o.Dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, o).Close() // the lock is free again

	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	o.Dir = file
	if _, err := Open(o); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file in place of the directory: %v, want an error of one line", err)
	}
}

func TestAudit(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	if _, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Audit(o.Dir, &out); err != nil { // beside the process that owns it
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], " 0 header ") || !strings.Contains(lines[1], " 1 started ") ||
		!strings.Contains(lines[2], ` 2 order_placed {"at":`) {
		t.Errorf("audit:\n%s", out.String())
	}
}
