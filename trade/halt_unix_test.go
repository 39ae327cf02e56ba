//go:build unix

package trade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestHaltWithoutDescriptors: a process that may open no more files cannot read
// HALT. With no such file orders pass, and one that cannot be read halts, until it can.
func TestHaltWithoutDescriptors(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, book.Buy, book.Market, "2", "") // has the symbol watched
	try := func() error {
		_, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: exact.One})
		return err
	}
	var old syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old)
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	low := old
	low.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	halt := filepath.Join(o.Dir, haltName)
	for _, there := range []bool{false, true} {
		if there {
			if err := os.WriteFile(halt, []byte("reducing"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var crowd []*os.File
		for f, err := os.Open(os.DevNull); err == nil; f, err = os.Open(os.DevNull) {
			crowd = append(crowd, f)
		}
		err, state := try(), e.Status().Trading
		for _, f := range crowd {
			f.Close()
		}
		if !there && err != nil {
			t.Errorf("an order without HALT is refused: %v", err)
		}
		if there && code(err) != "trading_halted" {
			t.Errorf("an order with a HALT that cannot be read: %v, want trading_halted", err)
		}
		if want := map[bool]book.TradingState{false: book.Active, true: book.Halted}[there]; state != want {
			t.Errorf("trading is %s, want %s", state, want)
		}
	}
	if err := try(); err != nil || e.Status().Trading != book.Reducing {
		t.Errorf("with descriptors again: %v, trading is %s, want reducing", err, e.Status().Trading)
	}
}

// TestHaltWhatever: whatever is called HALT halts, also a folder, a pipe, a file that is too
// long to be a word, and a link, wherever it leads. To halt once more is no error then, and
// never writes to what a link leads to.
func TestHaltWhatever(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte(book.Reducing), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, make := range map[string]func(name string) error{
		"folder": func(name string) error { return os.Mkdir(name, 0o700) },
		"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"huge": func(name string) error {
			return errors.Join(os.WriteFile(name, []byte("reducing"), 0o600), os.Truncate(name, 1<<40))
		}, // more than fits into memory
		"long": func(name string) error {
			return os.WriteFile(name, []byte("reducing"+strings.Repeat(" ", maxHalt)), 0o600)
		},
		"link nowhere": func(name string) error { return os.Symlink("/nonexistent/file", name) },
		"link to self": func(name string) error { return os.Symlink(haltName, name) },
		"link to word": func(name string) error { return os.Symlink(elsewhere, name) },
		"link to text": func(name string) error { return os.Symlink(os.DevNull+"/file", name) }, // not a directory
	} {
		o := testOptions(t)
		e := openTest(t, o)
		defer e.Close()
		name := filepath.Join(o.Dir, haltName)
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		_, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if code(err) != "trading_halted" {
			t.Errorf("order with a %s HALT: %v", what, err)
		}
		if err := e.SetHalt(true); err != nil || e.Status().Trading != book.Halted { // it must not wait for who reads the pipe
			t.Errorf("halting beside a %s HALT: %v, trading is %s", what, err, e.Status().Trading)
		}
		if err := e.SetHalt(false); err != nil || e.Status().Trading != book.Active {
			t.Errorf("going on after a %s HALT: %v, trading is %s", what, err, e.Status().Trading)
		}
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != string(book.Reducing) {
		t.Errorf("the file that a link led to says %q, %v, want %q as before", text, err, book.Reducing)
	}
}
