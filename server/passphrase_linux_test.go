package server

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPassphraseLeavesMemory looks through the whole memory of a running process
// for the passphrase of its file, and for the file's name, which must be found
// or the search would prove nothing.
func TestPassphraseLeavesMemory(t *testing.T) {
	const secret = "quixotic marmalade 7431 lighthouse"
	file := passphraseFile(t, secret+"\n", 0o600)
	p := startProcess(t, t.TempDir(), "--passphrase-file", file)
	if n := occurrences(t, p.cmd.Process.Pid, file); n == 0 {
		t.Error("the name of the file is not found in memory: the search does not work")
	}
	for _, part := range []string{secret, secret[:16], secret[len(secret)-16:]} {
		if n := occurrences(t, p.cmd.Process.Pid, part); n != 0 {
			t.Errorf("%q is %d times in memory", part, n)
		}
	}
	p.terminate(t)
}

// occurrences counts how often text is in the writable memory of a process.
func occurrences(t *testing.T, pid int, text string) (n int) {
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
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") || to-from > 1<<30 {
			continue
		}
		content := make([]byte, to-from)
		read, _ := memory.ReadAt(content, from) // parts that were never used cannot be read
		n += bytes.Count(content[:read], []byte(text))
	}
	return n
}
