//go:build unix

package trade

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wick/exact"
)

// TestHaltWithoutDescriptors: a process that may open no more files cannot read
// HALT. That is no reason to say that the owner halted trading: with no such file
// orders pass, and with one that cannot be read they are refused with the reason.
func TestHaltWithoutDescriptors(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, Buy, Market, "2", "") // has the symbol watched
	try := func() error {
		_, err := e.Place(t.Context(), OrderRequest{Who: anyone(), Symbol: "AAA", Side: Sell, Type: Market, Quantity: exact.One})
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
		if there && (code(err) != "halt_unknown" || !strings.Contains(err.Error(), "too many open files")) {
			t.Errorf("an order with a HALT that cannot be read: %v, want halt_unknown with the reason", err)
		}
		if state != Active {
			t.Errorf("trading is %s, want active", state)
		}
	}
	if err := try(); err != nil || e.Status().Trading != Reducing {
		t.Errorf("with descriptors again: %v, trading is %s, want reducing", err, e.Status().Trading)
	}
}

// TestHaltFolder: whatever is called HALT halts, readable or not.
func TestHaltFolder(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	if err := os.Mkdir(filepath.Join(o.Dir, haltName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One})
	if code(err) != "trading_halted" {
		t.Errorf("an order with a folder HALT: %v, want trading_halted", err)
	}
}
