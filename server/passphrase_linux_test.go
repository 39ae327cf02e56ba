package server

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPassphraseLeavesMemory looks through the whole memory of a running process
// for the passphrase of its file, and for the file's name, which must be found
// or the search would prove nothing.
func TestPassphraseLeavesMemory(t *testing.T) {
	t.Parallel()
	const secret = "quixotic marmalade 7431 lighthouse"
	file := passphraseFile(t, secret+"\n", 0o600)
	p := startProcess(t, t.TempDir(), "--passphrase-file", file)
	parts := []string{file, secret, secret[:16], secret[len(secret)-16:]}
	counts := occurrences(t, p.cmd.Process.Pid, parts)
	if counts[0] == 0 {
		t.Error("the name of the file is not found in memory: the search does not work")
	}
	for i, n := range counts[1:] {
		if n != 0 {
			t.Errorf("%q is %d times in memory", parts[1+i], n)
		}
	}
	p.terminate(t)
}

// occurrences counts how often each text is in the writable memory of a process.
func occurrences(t *testing.T, pid int, texts []string) []int {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	counts := make([]int, len(texts))
	var room []byte
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") || to-from > 1<<30 {
			continue
		}
		room = slices.Grow(room[:0], int(to-from))
		read, _ := memory.ReadAt(room[:to-from], from) // parts that were never used cannot be read
		for i, text := range texts {
			counts[i] += bytes.Count(room[:read], []byte(text))
		}
	}
	return counts
}
