//go:build unix && !core

package server

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSecretFiles: every file with a secret in it is refused, with the same sentence, if others
// may read or change it, or if it is of a user who is neither this one nor root. Only root can
// make such a file.
func TestSecretFiles(t *testing.T) {
	readers := map[string]func(file string) error{
		"key of etcd": func(file string) error { _, err := readTLS("/", "", "/etc/hostname", file); return err },
	}
	for _, s := range Settings() {
		if s.Value == "file" && s.File == "" && s.Name != "watchlist" && s.Name != inPaper {
			readers[s.Name] = func(file string) error {
				_, err := parseConfig([]string{"--serve", "--trade", "--" + s.Name, file}, env("HOME", "/"), &bytes.Buffer{})
				return err
			}
		}
	}
	if len(readers) < 6 {
		t.Fatalf("these files are read: %v", readers)
	}
	for name, read := range readers {
		for mode, private := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o644: false, 0o620: false, 0o666: false} {
			file := passphraseFile(t, "correct horse battery", mode)
			if err := read(file); errors.Is(err, errShared) == private || !private && !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("%s with mode %04o: %v", name, mode, err)
			}
		}
		file := passphraseFile(t, "correct horse battery", 0o600)
		if os.Chown(file, 12345, -1) == nil {
			if err := read(file); !errors.Is(err, errShared) || !strings.Contains(err.Error(), "belongs to user 12345") {
				t.Errorf("%s of another user: %v", name, err)
			}
		}
	}
}

// TestSecretOfRoot: a secret that root hands to a service is taken, as systemd, Kubernetes and
// install -g hand it, readable by the group of the service; not if everybody can read it or
// the group can change it. Who is not root has only root's open files to try.
func TestSecretOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		if _, err := readSecret("/etc/hostname", 4096); !errors.Is(err, errShared) {
			t.Errorf("an open file of root: %v", err)
		}
		return
	}
	const service = 65532
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	wick := filepath.Join(dir, "wick")
	if err := errors.Join(err, os.WriteFile(wick, program, 0o755), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, service, service)); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o440: "", 0o640: "", 0o644: "chmod 640", 0o444: "chmod 640", 0o660: "chmod 640", 0o600: "permission denied"} {
		file := filepath.Join(dir, "passphrase")
		os.Remove(file)
		if err := errors.Join(os.WriteFile(file, []byte(testPhrase), 0o600), os.Chown(file, 0, service), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(wick, "--mcp", "--trade", "--passphrase-file", file)
		cmd.Env = []string{"WICK_TEST_AS_WICK=1", "HOME=" + home}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: service, Gid: service}}
		said, err := cmd.CombinedOutput() // its input has ended already
		if (err == nil) != (want == "") || !strings.Contains(string(said), want) {
			t.Errorf("a secret of root with mode %04o: %v, %s", mode, err, said)
		}
	}
}

// TestOpenFiles: a file without a secret may be read by all, but is refused if everybody can
// change it.
func TestOpenFiles(t *testing.T) {
	for _, name := range []string{"--watchlist", "--paper-file"} {
		for mode, taken := range map[os.FileMode]bool{0o644: true, 0o664: true, 0o666: false, 0o602: false} {
			file := passphraseFile(t, "# nothing\n", mode)
			_, err := parseConfig([]string{"--serve", "--trade", name, file}, env("HOME", "/"), &bytes.Buffer{})
			if (err == nil) != taken || err != nil && !strings.Contains(err.Error(), "everybody can change it") {
				t.Errorf("%s with mode %04o: %v", name, mode, err)
			}
		}
	}
}
