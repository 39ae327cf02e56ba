package server

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newKeyFile makes a key file as an operator does and returns its name and its key,
// as it is in the file.
func newKeyFile(t *testing.T) (file, key string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "wick.key")
	if out, err := command(t, "key", file); err != nil || !strings.Contains(out, "--key-file "+file) {
		t.Fatalf("wick key: %q, %v", out, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	_, key, _ = strings.Cut(lines[len(lines)-1], ":")
	return file, key
}

// again starts wick where an earlier process was: at its address, on its directory.
func (p *process) again(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startProcess(t, dir, append(args, "--port", p.base[strings.LastIndex(p.base, ":")+1:])...)
}

// TestKeysOverStop: with --key-file everybody stays logged in over a stop, clean or
// by kill -9: the token works, under the same id, so that its subscription and
// what waits in it are still its own; the registration is known. What was revoked
// stays revoked, and a login that nobody has shown since ends with all others.
func TestKeysOverStop(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"clean", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, _ := newKeyFile(t)
			p := startProcess(t, dir, "--key-file", file)
			var client string
			token, revoked, unseen := p.loginAs(t, &client), p.login(t), p.login(t)
			p.call(t, token, "subscribe_notifications", `{"symbols":["BTCUSDT"]}`)
			before := p.call(t, token, "list_subscriptions", `{}`)
			var gone string
			p.post(t, "/revoke", "application/x-www-form-urlencoded", "token="+revoked+"&client_id="+client, 400, &struct{}{}) // another client's
			out, err := command(t, "clients", "--data-dir", dir)
			if err != nil {
				t.Fatal(err)
			}
			gone = strings.Fields(strings.Split(out, "\n")[2])[0] // the second login
			if out, err := command(t, "revoke", gone, "--data-dir", dir); err != nil {
				t.Fatal(out, err)
			}
			p.stopBy(t, how)

			p = p.again(t, dir, "--key-file", file)
			if got := p.ping(t, token); got != 200 {
				t.Errorf("the token after a restart: %d", got)
			}
			if got := p.ping(t, revoked); got != 401 {
				t.Errorf("the revoked token after a restart: %d", got)
			}
			other := p.login(t) // the same program once more: it must not take the subscription of the first
			p.call(t, other, "list_subscriptions", `{}`)
			if after := p.call(t, token, "list_subscriptions", `{}`); after != before {
				t.Errorf("the subscription was %s, and is %s", before, after)
			}
			if out, err := command(t, "revoke", "all", "--data-dir", dir); err != nil {
				t.Fatal(out, err)
			}
			p.stopBy(t, how)

			p = p.again(t, dir, "--key-file", file)
			for _, token := range []string{token, unseen, other} {
				if got := p.ping(t, token); got != 401 {
					t.Errorf("after wick revoke all and a restart: %d, want 401", got)
				}
			}
			p.terminate(t)
		})
	}
}

// TestKeysAndNone: a token does not outlive its process without a key file, nor a
// change to another key, nor the loss of the ledger.
func TestKeysAndNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, _ := newKeyFile(t)
	another, _ := newKeyFile(t)
	p := startProcess(t, dir)
	without := p.login(t)
	p.terminate(t)
	if _, err := os.Stat(filepath.Join(dir, loginsName)); !os.IsNotExist(err) {
		t.Errorf("without a key file there is a directory for logins: %v", err)
	}
	p = p.again(t, dir, "--key-file", file)
	if got := p.ping(t, without); got != 401 {
		t.Errorf("a token from before the key file: %d", got)
	}
	token := p.login(t)
	p.terminate(t)
	for what, args := range map[string][]string{"without the key": nil, "with another key": {"--key-file", another}} {
		p = p.again(t, dir, args...)
		if got := p.ping(t, token); got != 401 {
			t.Errorf("%s: %d, want 401", what, got)
		}
		p.terminate(t)
	}
	p = p.again(t, dir, "--key-file", file)
	if got := p.ping(t, token); got != 200 {
		t.Errorf("with its key again: %d, want 200", got)
	}
	p.terminate(t)
	if err := os.RemoveAll(filepath.Join(dir, loginsName)); err != nil {
		t.Fatal(err)
	}
	p = p.again(t, dir, "--key-file", file)
	if got := p.ping(t, token); got != 401 {
		t.Errorf("after the ledger was lost: %d, want 401", got)
	}
	p.terminate(t)
}

// TestKeyRotation follows docs/keys.md: the new key before the old one, and after
// seven days the new one alone.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, _ := newKeyFile(t)
	next, _ := newKeyFile(t)
	p := startProcess(t, dir, "--key-file", file)
	old := p.login(t)
	p.terminate(t)
	oldKey, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newKey, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(bytes.Clone(newKey), oldKey...), 0o600); err != nil {
		t.Fatal(err)
	}
	p = p.again(t, dir, "--key-file", file)
	during := p.login(t)
	if got := p.ping(t, old); got != 200 {
		t.Errorf("a token of the old key during the change: %d", got)
	}
	p.terminate(t)
	p = p.again(t, dir, "--key-file", next)
	if got := p.ping(t, during); got != 200 {
		t.Errorf("a token of the new key: %d", got)
	}
	if got := p.ping(t, old); got != 401 {
		t.Errorf("a token of the old key after it: %d", got)
	}
	p.terminate(t)
}

// TestKeyIsNowhere: the key is in no line of the log and in no file of ours, as text,
// in hex or as it is; nor is a token or a registration.
func TestKeyIsNowhere(t *testing.T) {
	dir := t.TempDir()
	file, key := newKeyFile(t)
	p := startProcess(t, dir, "--key-file", file, "--log-format", "text")
	var client string
	token := p.loginAs(t, &client)
	p.call(t, token, "subscribe_notifications", `{}`)
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	p.terminate(t)
	look := func(where string, content []byte) {
		for what, secret := range map[string][]byte{"the key": []byte(key[:20]), "the key's bytes": raw[:12], "the key in hex": []byte(hex.EncodeToString(raw[:12])), "a token": []byte(token[:40]), "a registration": []byte(client[:40])} {
			if bytes.Contains(content, secret) {
				t.Errorf("%s holds %s", where, what)
			}
		}
	}
	look("the log", []byte(p.log.String()))
	files := 0
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(name)
		look(name, content)
		if info, e := d.Info(); e != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), e)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestKeyFile: what cannot be a key file is refused at the start, by name and reason.
func TestKeyFile(t *testing.T) {
	good, key := newKeyFile(t)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, file, want string
	}{
		{"a good one", good, ""},
		{"none", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"a directory", t.TempDir(), "not a regular file"},
		{"empty", passphraseFile(t, "", 0o600), "no key in it"},
		{"a passphrase", passphraseFile(t, "correct horse battery", 0o600), "line 1 is not a key"},
		{"others can read it", passphraseFile(t, string(text), 0o644), "chmod 600"},
		{"very long", passphraseFile(t, strings.Repeat("#", maxKeyFile+1), 0o600), "longer than 4096 bytes"},
	} {
		c, err := parseConfig([]string{"--serve", "--key-file", tc.file}, env("HOME", "/"), &bytes.Buffer{})
		switch {
		case tc.want == "" && (err != nil || len(c.login.Keys) != 1):
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "horse")):
			t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.want)
		}
	}
}

// TestNewKey: a key file is for its owner alone, every one is another, and none is
// replaced.
func TestNewKey(t *testing.T) {
	file, key := newKeyFile(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, other := newKeyFile(t); other == key || len(key) != 43 {
		t.Errorf("keys %q and %q", key, other)
	}
	out, err := command(t, "key", file)
	if err == nil || !strings.Contains(err.Error(), "left as it is") || strings.Contains(out+err.Error(), key) {
		t.Errorf("a second time: %q, %v", out, err)
	}
	if _, again := newKeyFile(t); again == key {
		t.Error("the same key twice")
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), key) {
		t.Errorf("the file is changed: %v", err)
	}
	if _, err := command(t, "key", filepath.Join(file, "x")); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("below a file: %v, want one line", err)
	}
}

// TestKeysNeedTheDirectory: two processes with one ledger would not hear of each other's
// revocations, so the second one is refused, with or without --trade.
func TestKeysNeedTheDirectory(t *testing.T) {
	dir := t.TempDir()
	file, _ := newKeyFile(t)
	start(t, "--serve", "--data-dir", dir, "--key-file", file)
	for _, more := range [][]string{nil, {"--trade"}} {
		_, err := command(t, append(more, "--serve", "--port", "0", "--data-dir", dir, "--key-file", file)...)
		if err == nil || !strings.Contains(err.Error(), "another wick is running on it") {
			t.Errorf("a second server %v: %v", more, err)
		}
	}
}
