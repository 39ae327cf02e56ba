// Package guarded runs wick against a real etcd that asks for client certificates and
// passwords, and against one that has no room left, as docs/cluster.md describes
// them. Needs etcd and etcdctl (Debian's etcd-server and etcd-client); WICK_BIN names
// the binary.
package guarded

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wick/e2e/cluster/site"
	"wick/test/harness"
)

// wick returns the binary.
func wick(t *testing.T) string {
	t.Helper()
	name, err := filepath.Abs(os.Getenv("WICK_BIN"))
	if err == nil {
		_, err = os.Stat(name)
	}
	if err != nil || os.Getenv("WICK_BIN") == "" {
		t.Fatalf("set WICK_BIN to the binary (%v)", err)
	}
	return name
}

// start starts an etcd of one member and waits until it answers.
func start(t *testing.T, s *site.Site, scheme string, client *http.Client, flags ...string) (url string) {
	t.Helper()
	free, err := harness.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	url, peer := scheme+"://"+free[0], "http://"+free[1]
	if _, err := s.Run("etcd", append([]string{"/usr/bin/etcd", "--name", "a", "--data-dir", filepath.Join(s.Dir, "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "a=" + peer}, flags...)...); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if r, err := client.Get(url + "/health"); err == nil {
			r.Body.Close()
			return url
		}
		time.Sleep(100 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(s.Dir, "etcd.log"))
	t.Fatalf("etcd does not answer:\n%s", log)
	return ""
}

// newSite returns a site that ends with the test.
func newSite(t *testing.T) *site.Site {
	s := &site.Site{Dir: t.TempDir()}
	t.Cleanup(s.Stop)
	return s
}

// order places an order.
func order(at *harness.Process, c *harness.Client, id string) error {
	_, err := site.Call(at, c, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.001","client_order_id":"`+id+`"}`)
	return err
}

// TestGuarded: with the right certificates, user and password a replica leads and
// takes orders, also after its token has ended and after etcd's users have changed;
// with a wrong one it ends and says what is wrong.
func TestGuarded(t *testing.T) {
	s := newSite(t)
	c := newCertificates(t, s.Dir)
	url := start(t, s, "https", c.client, "--cert-file", c.path("server.pem"), "--key-file", c.path("server.key"), "--client-cert-auth", "--trusted-ca-file", c.path("ca.pem"),
		"--auth-token", "jwt,pub-key="+c.path("jwt.pub")+",priv-key="+c.path("jwt.key")+",sign-method=RS256,ttl=2s")
	ask := func(path, body string) {
		t.Helper()
		r, err := c.client.Post(url+"/v3/auth/"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if text, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s (%v)", path, r.Status, text, err)
		}
	}
	for _, user := range []string{"root", "wick", "poor"} {
		ask("user/add", `{"name":"`+user+`","password":"right"}`)
		ask("role/add", `{"name":"`+user+`"}`)
		ask("user/grant", `{"user":"`+user+`","role":"`+user+`"}`)
	}
	key := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	ask("role/grant", `{"name":"wick","perm":{"permType":"READWRITE","key":"`+key("/wick/")+`","range_end":"`+key("/wick0")+`"}}`)
	ask("enable", `{}`)

	const certificates = "ca ca.pem\ncert client.pem\nkey client.key\n"
	for name, more := range map[string]string{
		"invalid user ID or password": certificates + "user wick\npassword wrong\n",
		"permission denied":           certificates + "user poor\npassword right\n",
		"user name is empty":          certificates,
		"unknown authority":           "ca other.pem\ncert client.pem\nkey client.key\nuser wick\npassword right\n",
		"bad certificate":             "ca ca.pem\nuser wick\npassword right\n",
		"CommonName":                  "ca ca.pem\ncert named.pem\nkey named.key\nuser wick\npassword right\n",
	} {
		t.Run(name, func(t *testing.T) { refused(t, s, url, more, name) })
	}

	if err := s.Secrets(wick(t), certificates+"user wick\npassword right\n"); err != nil {
		t.Fatal(err)
	}
	right, err := s.Serve(wick(t), "right", s.Replica(url)...)
	if err == nil {
		err = site.Await(right)
	}
	if err != nil {
		t.Fatal(err)
	}
	client, err := right.Login("guarded")
	for i, change := range []func(){func() {}, func() { time.Sleep(3 * time.Second) }, func() { changeUsers(t, c, url) }} {
		if change(); err == nil {
			err = order(right, client, fmt.Sprint("order-", i))
		}
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.Dir, "right.log"))
		t.Errorf("%v; its log:\n%s", err, log)
	}
}

// TestSetUp follows the commands of docs/cluster.md, step 1, at an etcd without TLS: after
// them nobody without a password reads or writes anything, and wick's user reaches wick's keys
// and no others.
func TestSetUp(t *testing.T) {
	url := start(t, newSite(t), "http", http.DefaultClient)
	key := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	// ask returns what etcd says, with the error of a refusal in it.
	ask := func(token, path, body string) string {
		t.Helper()
		r, err := http.NewRequest("POST", url+"/v3/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const all = `{"key":%q,"range_end":%q}`
	ask("", "kv/put", fmt.Sprintf(`{"key":%q,"value":%q}`, key("/wick/orders"), key("one")))
	page, err := os.ReadFile("../../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	step, _, _ := strings.Cut(string(page), "\n2. ")
	for line := range strings.Lines(step) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if !strings.HasPrefix(line, "etcdctl ") {
			continue
		}
		for command := range strings.SplitSeq(line, "&&") {
			word := strings.Fields(command)[1:]
			said := ""
			switch on := strings.Join(word[:2], " "); on {
			case "user add":
				said = ask("", "auth/user/add", fmt.Sprintf(`{"name":%q,"password":"right"}`, word[2]))
			case "role add":
				said = ask("", "auth/role/add", fmt.Sprintf(`{"name":%q}`, word[2]))
			case "user grant-role":
				said = ask("", "auth/user/grant", fmt.Sprintf(`{"user":%q,"role":%q}`, word[2], word[3]))
			case "role grant-permission": // the last word is a prefix, which ends with /
				said = ask("", "auth/role/grant", fmt.Sprintf(`{"name":%q,"perm":{"permType":%q,"key":%q,"range_end":%q}}`,
					word[2], strings.ToUpper(word[len(word)-2]), key(word[len(word)-1]), key(strings.TrimSuffix(word[len(word)-1], "/")+"0")))
			case "auth enable":
				said = ask("", "auth/enable", `{}`)
			case "get --prefix":
				if said = ask("", "kv/range", fmt.Sprintf(all, key("/wick/"), key("/wick0"))); !strings.Contains(said, "user name is empty") {
					t.Errorf("%s: %s, want what the document says", command, said)
				}
				continue
			default:
				t.Fatalf("a command that this test does not know: %s", command)
			}
			if strings.Contains(said, `"error"`) {
				t.Fatalf("%s: %s", command, said)
			}
		}
	}
	for path, body := range map[string]string{
		"kv/range": fmt.Sprintf(all, key("/wick/"), key("/wick0")), "kv/put": fmt.Sprintf(`{"key":%q}`, key("/wick/forged")),
		"kv/deleterange": fmt.Sprintf(all, key("/wick/"), key("/wick0")), "auth/user/add": `{"name":"intruder","password":"x"}`, "auth/disable": `{}`,
	} {
		if said := ask("", path, body); !strings.Contains(said, "user name is empty") {
			t.Errorf("%s without a password: %s", path, said)
		}
	}
	var login struct{ Token string }
	if said := ask("", "auth/authenticate", `{"name":"wick","password":"right"}`); json.Unmarshal([]byte(said), &login) != nil || login.Token == "" {
		t.Fatalf("wick's user does not log in: %s", said)
	}
	if said := ask(login.Token, "kv/range", fmt.Sprintf(all, key("/wick/"), key("/wick0"))); !strings.Contains(said, key("one")) {
		t.Errorf("wick's user does not read wick's keys: %s", said)
	}
	for path, body := range map[string]string{
		"kv/range": fmt.Sprintf(`{"key":%q}`, key("/other")), "kv/put": fmt.Sprintf(`{"key":%q}`, key("/wick1")), "auth/user/add": `{"name":"more","password":"x"}`, "auth/disable": `{}`,
	} {
		if said := ask(login.Token, path, body); !strings.Contains(said, "permission denied") {
			t.Errorf("%s by wick's user: %s", path, said)
		}
	}
}

// refused starts a replica that must end by itself and say why.
func refused(t *testing.T, s *site.Site, url, more, why string) {
	if err := s.Secrets(wick(t), more); err != nil {
		t.Fatal(err)
	}
	p, err := s.Serve(wick(t), "refused", s.Replica(url)...)
	if err != nil {
		t.Fatal(err)
	}
	state := p.Wait()
	log, err := os.ReadFile(filepath.Join(s.Dir, "refused.log"))
	if err != nil || state.Success() || !bytes.Contains(log, []byte(why)) {
		t.Errorf("it ended with %v; its log (%v):\n%s", state, err, log)
	}
	os.Remove(filepath.Join(s.Dir, "refused.log"))
}

// changeUsers adds a user to etcd, which makes the tokens there are old.
func changeUsers(t *testing.T, c *certificates, url string) {
	etcdctl(t, "--endpoints", url, "--cacert", c.path("ca.pem"), "--cert", c.path("client.pem"), "--key", c.path("client.key"), "--user", "root:right", "user", "add", "new:right")
}

// etcdctl runs etcdctl and returns what it prints.
func etcdctl(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("etcdctl", args...)
	command.Env = append(os.Environ(), "ETCDCTL_API=3")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("etcdctl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestFull: when etcd has no room, writes are refused with the reason, reads go on,
// also at a replica that is started meanwhile, and after the commands of
// docs/cluster.md one leads again.
func TestFull(t *testing.T) {
	s := newSite(t)
	url := start(t, s, "http", http.DefaultClient, "--quota-backend-bytes", "6291456")
	if err := s.Secrets(wick(t), ""); err != nil {
		t.Fatal(err)
	}
	leader, err := s.Serve(wick(t), "leader", s.Replica(url)...)
	if err == nil {
		err = site.Await(leader)
	}
	if err != nil {
		t.Fatal(err)
	}
	client, err := leader.Login("full")
	if err == nil {
		err = order(leader, client, "before")
	}
	if err != nil {
		t.Fatal(err)
	}
	value := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 200_000))
	for i := range 100 {
		body := fmt.Sprintf(`{"key":%q,"value":%q}`, base64.StdEncoding.EncodeToString(fmt.Append(nil, "junk", i)), value)
		if err = harness.New(url, "").Post("/v3/kv/put", "application/json", []byte(body), nil); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "space exceeded") {
		t.Fatalf("etcd is not full: %v", err)
	}
	if err := order(leader, client, "during"); err == nil || !strings.Contains(err.Error(), "space exceeded") {
		t.Errorf("an order without room: %v", err)
	}
	leader.Wait() // it ends, to be started again
	follower, err := s.Serve(wick(t), "follower", s.Replica(url)...)
	if err != nil {
		t.Fatal(err)
	}
	readsGoOn(t, follower, client)
	if err := order(follower, client, "during"); err == nil || !strings.Contains(err.Error(), "space exceeded") || !strings.Contains(err.Error(), "nothing was done") {
		t.Errorf("an order at a follower without room: %v", err)
	}

	etcdctl(t, "--endpoints", url, "del", "--prefix", "junk")
	revision := regexp.MustCompile(`"revision":(\d+)`).FindStringSubmatch(etcdctl(t, "--endpoints", url, "endpoint", "status", "-w", "json"))[1]
	etcdctl(t, "--endpoints", url, "compaction", "--physical", revision)
	etcdctl(t, "--endpoints", url, "defrag")
	etcdctl(t, "--endpoints", url, "alarm", "disarm")
	if err := errors.Join(site.Await(follower), order(follower, client, "during")); err != nil {
		t.Errorf("after it has room again: %v", err)
	}
}

// readsGoOn waits until a replica answers, and has it show the order from before.
func readsGoOn(t *testing.T, at *harness.Process, c *harness.Client) {
	t.Helper()
	var text string
	var err error
	for range 100 {
		if text, err = site.Call(at, c, "get_orders", "{}"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil || !strings.Contains(text, "before") {
		t.Errorf("orders without room: %s, %v", text, err)
	}
}
