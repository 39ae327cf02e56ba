// Package conversations holds recorded conversations with the wick binary: every tool, every
// class of error, the login and the command line, over HTTP and stdio, in both eras of the
// protocol. What clients see must not change by a byte unless somebody meant it: then
// go test ./test/conversations -update records it anew, and the difference is reviewed.
//
// testdata has the questions (*.jsonl, *.http, *.cli) and below recorded/ the answers. What
// is random or of the time is masked, see mask.
package conversations

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "record the answers anew")

// pages is what a binary without the page lacks: what says that hosts may show one.
var pages = regexp.MustCompile(`,\{"uri":"ui://wick/[^}]*\}|,"_meta":\{"ui":\{[^}]*\}\}|"extensions":\{"io.modelcontextprotocol/ui":\{\}\},`)

// elsewhere is what a smaller binary answers otherwise: the help, and the address of the page.
var elsewhere = regexp.MustCompile(`(?s)\$ wick --help\n.*?\n(\$ )|> GET /app/api/clients\n.*?\n(---\n)`)

// common returns the part of a recording that a binary of -tags core repeats. Of a text that
// is too long to be recorded whole, only its beginning is compared.
func common(text string) string {
	text = elsewhere.ReplaceAllString(pages.ReplaceAllString(text, ""), "$1$2")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.Contains(line, " bytes in all, sha256 ") {
			lines[i] = line[:min(len(line), 3000)]
		}
	}
	return strings.Join(lines, "\n")
}

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "wick-conversations-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "wick")
	build := exec.Command("go", "build", "-tags="+tags, "-trimpath", "-buildvcs=false", "-o", binary, "../..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	// The bars end at this hour, and what was recorded says where they do: no run begins in
	// the last minute of one.
	if left := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); left < time.Minute {
		time.Sleep(left)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// bars writes a directory of files with hourly bars up to this hour. The prices are the same
// in every run; only their times are not.
func bars(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	hour := time.Now().Truncate(time.Hour).Unix()
	for k, symbol := range []string{"btcusdt", "ethusdt"} {
		price := func(i int) float64 {
			if i > 370 && i < 382 { // a day ago: which of these bars that is depends on the minute
				i = 370
			}
			return math.Round(100*(100+float64(10*k)+10*math.Sin(float64(i)/9)+float64(i)*0.05)) / 100
		}
		var b strings.Builder
		b.WriteString("time,open,high,low,close,volume\n")
		for i := range 400 {
			open, last := price(i), price(i+1)
			fmt.Fprintf(&b, "%d,%.2f,%.2f,%.2f,%.2f,%d\n", hour-int64(399-i)*3600, open, math.Max(open, last)+0.5, math.Min(open, last)-0.5, last, 1000+i)
		}
		if err := os.WriteFile(filepath.Join(dir, symbol+"-1h.csv"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// place is where one recording happens: the directories that the program gets.
type place struct{ home, data, bars string }

func newPlace(t *testing.T) place { return place{t.TempDir(), t.TempDir(), bars(t)} }

// fill replaces {home}, {data} and {bars} in arguments.
func (p place) fill(args []string) (out []string) {
	for _, a := range args {
		out = append(out, strings.NewReplacer("{home}", p.home, "{data}", p.data, "{bars}", p.bars).Replace(a))
	}
	return out
}

// command returns the program with a bare environment, and with settings such as
// WICK_PASSPHRASE=x that come before the flags.
func (p place) command(ctx context.Context, args ...string) *exec.Cmd {
	n := 0
	for n < len(args) && strings.HasPrefix(args[n], "WICK_") {
		n++
	}
	c := exec.CommandContext(ctx, binary, p.fill(args[n:])...)
	c.Env = append([]string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}, args[:n]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c
}

// output collects what a process writes while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var servingAt = regexp.MustCompile(`msg=serving url=(http://localhost:\d+)/mcp`)

// serve starts a server and returns its address. It ends with the test.
func (p place) serve(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log := new(output)
	c := p.command(ctx, args...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if m := servingAt.FindStringSubmatch(log.String()); m != nil {
			return m[1]
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("wick %q ended: %v\n%s", args, err, log)
		default:
		}
	}
	t.Fatalf("wick %q does not serve:\n%s", args, log)
	return ""
}

// record compares what was said with the recording of that name, or writes it.
func record(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "recorded", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if tags == "core" {
		got, want = common(got), []byte(common(string(want)))
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		line := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(the end)"
		}
		if got, want := line(a), line(b); got != want {
			same := 0
			for same < min(len(got), len(want)) && got[same] == want[same] {
				same++
			}
			same = max(0, same-80)
			t.Fatalf("%s:%d, from byte %d on\ngot  %.400s\nwant %.400s\nif that is meant: go test ./test/conversations -update", file, i+1, same, got[same:], want[same:])
		}
	}
}

// mask replaces what differs from run to run. Ids and secrets become numbers in the order in
// which they appear, so that a recording still shows which are the same.
type mask struct {
	seen  map[string]string
	place place
}

func newMask(p place) *mask { return &mask{make(map[string]string), p} }

var (
	picture  = regexp.MustCompile(`iVBORw0KGgo[A-Za-z0-9+/=]*`)
	moment   = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)?`)
	day      = regexp.MustCompile(`("date\\?":\\?")\d{4}-\d\d-\d\d`)
	seconds  = regexp.MustCompile(`\b1[789]\d{8}(\d{3})?\b`)
	port     = regexp.MustCompile(`(localhost|127\.0\.0\.1)(:|%3A)\d+`)
	id       = regexp.MustCompile(`\b[oasneq]-[0-9a-f]{8}-\d+\b`)
	secret   = regexp.MustCompile(`[A-Za-z0-9_-]{40,}`)
	counting = regexp.MustCompile(`("(?:uptime_seconds|feed_age_seconds|seq|sequence)\\?":)\d+`)
	row      = regexp.MustCompile(`(?m)^\d+,\(time\)`)  // of --export fills
	login    = regexp.MustCompile(`(?m)^[0-9a-f]{8}  `) // the table of --clients
)

// longest is how much of an answer a recording shows. Of longer ones it has the beginning
// and a digest of all.
const longest = 4000

func (m *mask) text(s string) string {
	s = strings.NewReplacer(m.place.home, "{home}", m.place.data, "{data}", m.place.bars, "{bars}").Replace(s)
	s = picture.ReplaceAllString(s, "(picture)")
	s = moment.ReplaceAllString(s, "(time)")
	s = day.ReplaceAllString(s, "$1(day)")
	s = seconds.ReplaceAllString(s, "(unix)")
	s = port.ReplaceAllString(s, "$1$2(port)")
	s = counting.ReplaceAllString(s, "$1(n)")
	s = row.ReplaceAllString(s, "(n),(time)")
	s = id.ReplaceAllStringFunc(s, func(text string) string { return m.number(text[:1], text) })
	s = secret.ReplaceAllStringFunc(s, func(text string) string { return m.number("secret", text) })
	s = login.ReplaceAllStringFunc(s, func(text string) string { return m.number("login", text) + "  " })
	if len(s) > longest {
		s = fmt.Sprintf("%s… (%d bytes in all, sha256 %x)", strings.ToValidUTF8(s[:longest], ""), len(s), sha256.Sum256([]byte(s)))
	}
	return s
}

// number returns the name of a random text, the same for the same text.
func (m *mask) number(kind, text string) string {
	if m.seen[text] == "" {
		m.seen[text] = fmt.Sprintf("(%s %d)", kind, len(m.seen)+1)
	}
	return m.seen[text]
}

// questions returns the lines of a file of messages without its comments.
func questions(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// meta is what a message of the newer era has more than one of the older.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"conversations","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// modern returns a message in the newer era. It changes the text alone, so that what is wrong
// with a message stays wrong. A message that names no method stays as it is.
func modern(message string) string {
	before, after, found := strings.Cut(message, `"params":{`)
	switch {
	case found && strings.HasPrefix(after, "}"):
		return before + `"params":{` + meta + after
	case found:
		return before + `"params":{` + meta + "," + after
	case strings.HasPrefix(message, "{") && strings.Contains(message, `"method":`) && strings.HasSuffix(message, "}") && !strings.Contains(message, `"params"`):
		return message[:len(message)-1] + `,"params":{` + meta + "}}"
	}
	return message
}

// found remembers the ids that answers name, for questions that need them.
type found map[string]string

var names = regexp.MustCompile(`\\?"(order_id|alert_id|client_id|access_token)\\?":\s*\\?"([^"\\]+)`)

func (f found) learn(answer string) {
	for _, m := range names.FindAllStringSubmatch(answer, -1) {
		f[m[1]] = m[2]
	}
}

func (f found) fill(text string) string {
	for name, value := range f {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// flags are those of a server that trades on the bars of files.
var flags = []string{"--trade", "--source", "csv:{bars}", "--data-dir", "{data}", "--symbols", "BTCUSDT", "--intervals", "1h", "--cash", "100000"}

// TestMessages holds the conversations of *.jsonl over both transports and in both eras.
func TestMessages(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	// What go test has kept of an earlier run counts only for the sources that a run has looked at.
	if err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		for _, era := range []string{"2025", "2026"} {
			lines := questions(t, file)
			if era == "2026" {
				for i, line := range lines {
					lines[i] = modern(line)
				}
			}
			t.Run(name+"-http-"+era, func(t *testing.T) {
				t.Parallel()
				overHTTP(t, name+"-http-"+era, lines)
			})
			t.Run(name+"-stdio-"+era, func(t *testing.T) {
				t.Parallel()
				overStdio(t, name+"-stdio-"+era, lines)
			})
		}
	}
}

// overHTTP posts each message with a token and records status and body.
func overHTTP(t *testing.T, name string, lines []string) {
	p := newPlace(t)
	base := p.serve(t, append([]string{"--serve", "--port", "0"}, flags...)...)
	m, ids, out := newMask(p), found{}, new(strings.Builder)
	token, _ := logIn(t, base)
	for _, line := range lines {
		line = ids.fill(line)
		r, err := http.NewRequest("POST", base+"/mcp", strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		var message struct {
			Method string
			Params struct{ Name, URI string }
		}
		if json.Unmarshal([]byte(line), &message); strings.Contains(line, meta) { // of what is wrong as much as can be read
			r.Header.Set("MCP-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", message.Method)
			if named := message.Params.Name + message.Params.URI; named != "" {
				r.Header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(named))+"?=")
			}
		}
		status, _, body := do(t, http.DefaultClient, r)
		ids.learn(body)
		fmt.Fprintf(out, "> %s\n%s %s\n", m.text(line), status[:3], m.text(body))
	}
	record(t, name, out.String())
}

// do sends a request and returns the status, the header and the body of the answer.
func do(t *testing.T, c *http.Client, r *http.Request) (string, http.Header, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := c.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return w.Status, w.Header, string(body)
}

// verifier and challenge are the example of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// logIn takes a client through the login of a server without a passphrase, and returns its
// token and its id.
func logIn(t *testing.T, base string) (token, id string) {
	t.Helper()
	ids := found{}
	send := func(method, path, kind, body string) (http.Header, string) {
		r, err := http.NewRequest(method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		_, header, answer := do(t, once, r)
		ids.learn(answer)
		return header, answer
	}
	const redirect = "http://127.0.0.1:1/callback"
	send("POST", "/register", "application/json", `{"client_name":"conversations","redirect_uris":["`+redirect+`"]}`)
	query := url.Values{"client_id": {ids["client_id"]}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}
	header, _ := send("GET", "/authorize?"+query.Encode(), "", "")
	back, err := url.Parse(header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {ids["client_id"]}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
	if _, answer := send("POST", "/token", "application/x-www-form-urlencoded", form.Encode()); ids["access_token"] == "" {
		t.Fatalf("no token: %s", answer)
	}
	return ids["access_token"], ids["client_id"]
}

// overStdio writes each message as a line. A message that gets no answer is followed by a
// ping, whose answer must be the next.
func overStdio(t *testing.T, name string, lines []string) {
	p := newPlace(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := p.command(ctx, append([]string{"--mcp"}, flags...)...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lineOf := bufio.NewReader(answers)
	ask := func(line string) string {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := lineOf.ReadString('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", line, err)
		}
		return strings.TrimSuffix(answer, "\n")
	}
	m, ids, out := newMask(p), found{}, new(strings.Builder)
	for _, line := range lines {
		line = ids.fill(line)
		asked, silent := line, !expectsAnswer(line)
		if silent {
			asked += "\n" + `{"jsonrpc":"2.0","id":"after","method":"ping"}`
		}
		answer := ask(asked)
		if silent && answer == `{"jsonrpc":"2.0","id":"after","result":{}}` {
			answer = ""
		}
		ids.learn(answer)
		fmt.Fprintf(out, "> %s\n< %s\n", m.text(line), m.text(answer))
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("wick ended: %v", err)
	}
	record(t, name, out.String())
}

// expectsAnswer reports whether a message gets an answer: a request, a batch with one, and
// whatever cannot be read.
func expectsAnswer(line string) bool {
	type message struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
	}
	var one message
	var many []message
	if json.Unmarshal([]byte(line), &many) == nil && len(many) > 0 {
		return slices.ContainsFunc(many, func(m message) bool { return m.ID != nil || m.JSONRPC != "2.0" })
	}
	if json.Unmarshal([]byte(line), &one) != nil || one.JSONRPC != "2.0" {
		return true
	}
	return one.Method != nil && one.ID != nil || one.Method == nil && !strings.Contains(line, `"result"`) && !strings.Contains(line, `"error"`)
}

// TestHTTP holds the conversations of *.http: requests between lines of dashes, each with its
// headers and, after an empty line, its body. The first line is the command of the server.
// {client_id}, {code}, {request} and the like stand for what an earlier answer had.
func TestHTTP(t *testing.T) {
	files, err := filepath.Glob("testdata/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(text), "\n")
			p := newPlace(t)
			base := p.serve(t, strings.Fields(strings.TrimPrefix(first, "wick "))...)
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			m, ids, out := newMask(p), found{}, new(strings.Builder)
			for block := range strings.SplitSeq(rest, "\n---\n") {
				exchange(t, browser, base, strings.TrimSpace(block), m, ids, out)
			}
			record(t, "http-"+strings.TrimSuffix(filepath.Base(file), ".http"), out.String())
		})
	}
}

var hidden = regexp.MustCompile(`name="?(request)"? value="?([^"> ]+)`)

// exchange sends one request of a *.http file and writes it and its answer.
func exchange(t *testing.T, browser *http.Client, base, block string, m *mask, ids found, out io.Writer) {
	t.Helper()
	head, body, _ := strings.Cut(block, "\n\n")
	lines := slices.DeleteFunc(strings.Split(ids.fill(head), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
	method, path, found := strings.Cut(lines[0], " ")
	if !found {
		t.Fatalf("not a request: %q", block)
	}
	body = strings.TrimSpace(ids.fill(body))
	r, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Add(name, strings.ReplaceAll(value, "{base}", base)); name == "Host" {
			r.Host = value
		}
	}
	status, header, answer := do(t, browser, r)
	ids.learn(answer)
	if hit := hidden.FindStringSubmatch(answer); hit != nil {
		ids["request"] = hit[2]
	}
	if to, err := url.Parse(header.Get("Location")); err == nil && to.Query().Get("code") != "" {
		ids["code"] = to.Query().Get("code")
	}
	fmt.Fprintf(out, "> %s\n", m.text(strings.Join(append(lines, body), "\n> ")))
	fmt.Fprintf(out, "%s\n", status)
	for _, name := range slices.Sorted(keys(header)) {
		if name == "Mcp-Session-Id" && len(header.Get(name)) == 26 {
			header.Set(name, m.number("session", header.Get(name)))
		}
		if name != "Date" && name != "Content-Length" {
			fmt.Fprintf(out, "%s: %s\n", name, m.text(strings.Join(header[name], " | ")))
		}
	}
	fmt.Fprintf(out, "\n%s\n---\n", m.text(answer))
}

func keys(h http.Header) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range h {
			if !yield(name) {
				return
			}
		}
	}
}

// TestCommands runs the lines of *.cli, one after the other in one place, and records what
// each prints and how it ends. A line "serve ARGS" starts a server that runs on, "login"
// takes a client through its login, and "call TOOL ARGUMENTS" lets it call a tool.
func TestCommands(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m, out, base, token := newMask(p), new(strings.Builder), "", ""
	for _, line := range questions(t, "testdata/commands.cli") {
		args := strings.Fields(line)
		fmt.Fprintf(out, "$ wick %s\n", line)
		switch args[0] {
		case "serve":
			base = p.serve(t, args[1:]...)
			continue
		case "login":
			token, _ = logIn(t, base)
			continue
		case "call":
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, args[1], strings.Join(args[2:], " "))
			r, err := http.NewRequest("POST", base+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+token)
			if status, _, answer := do(t, http.DefaultClient, r); status != "200 OK" || strings.Contains(answer, `"isError"`) {
				t.Fatalf("%s: %s %s", line, status, answer)
			}
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		c := p.command(ctx, args...)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		cancel()
		fmt.Fprintf(out, "%s", m.text(stdout.String()))
		for line := range strings.Lines(stderr.String()) {
			fmt.Fprintf(out, "! %s", m.text(line))
		}
		fmt.Fprintf(out, "exit %d\n", c.ProcessState.ExitCode())
		if c.ProcessState.ExitCode() < 0 {
			t.Errorf("%s: %v", line, err)
		}
	}
	record(t, "commands", out.String())
}
