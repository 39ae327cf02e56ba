package service

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wick/internal/address"
)

// request is what a fake service got.
type request struct {
	method, path string
	header       http.Header
	body         []byte
	form         map[string]string // of multipart/form-data, files included
	json         map[string]any
}

// fake is a service on this machine, over TLS, that answers what the test says.
type fake struct {
	*httptest.Server
	got    []request
	answer http.HandlerFunc // nil answers 200 with {}
}

func newFake(t *testing.T) *fake {
	f := &fake{}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := request{method: r.Method, path: r.URL.RequestURI(), header: r.Header, body: body, form: map[string]string{}}
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				t.Error(err)
			}
			for name, values := range r.MultipartForm.Value {
				got.form[name] = values[0]
			}
			for name, files := range r.MultipartForm.File {
				file, _ := files[0].Open()
				text, _ := io.ReadAll(file)
				got.form[name] = files[0].Filename + " " + files[0].Header.Get("Content-Type") + " " + string(text)
			}
		}
		json.Unmarshal(body, &got.json)
		f.got = append(f.got, got)
		if f.answer != nil {
			f.answer(w, r)
			return
		}
		io.WriteString(w, `{"ok":true,"content_uri":"mxc://example.com/abc"}`)
	}))
	f.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

// at returns a destination at the fake, by a line as the owner's file has them: the
// line's %s is the fake's address.
func (f *fake) at(t *testing.T, line string) *Destination {
	t.Helper()
	d, err := parse(strings.ReplaceAll(line, "%s", f.URL) + " allow-private")
	if err != nil {
		t.Fatal(err)
	}
	d.trust(f.Certificate())
	return d
}

// parse reads the part of a line that is for this package.
func parse(line string) (*Destination, error) {
	words := strings.Fields(line)
	keys, private := map[string]string{}, false
	for _, word := range words[3:] {
		if key, value, has := strings.Cut(word, "="); has {
			keys[key] = value
		} else if word == "allow-private" {
			private = true
		}
	}
	return New(words[1], words[2], keys, private)
}

// trust makes a destination believe a certificate.
func (d *Destination) trust(c *x509.Certificate) {
	d.roots = x509.NewCertPool()
	d.roots.AddCert(c)
	d.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: d.roots}
}

// hostile is a text with all that some service reads as markup.
const hostile = `a & b <@U1> <b> *x* _y_ @everyone [l](https://evil.example) é`

func message(text string, picture []byte) Message {
	return Message{ID: "n-1", At: time.Unix(1_800_000_000, 0), Kind: "alert", Text: text, Events: 1, Symbol: "BTCUSDT", Detail: json.RawMessage(`{"value":1}`), Picture: picture}
}

// sendOne sends to a fake and returns the last request that it got.
func sendOne(t *testing.T, line string, m Message) request {
	t.Helper()
	f := newFake(t)
	if failure := f.at(t, line).Send(t.Context(), m); failure != nil {
		t.Fatalf("%s: %v", line, failure)
	}
	return f.got[len(f.got)-1]
}

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"

// TestWebhookSignatureVector: the signature is that of the vector of the Standard Webhooks
// specification's own test suites: id, time and body under a known key.
func TestWebhookSignatureVector(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWebhook(t *testing.T) {
	r := sendOne(t, "hook webhook %s/in?x=1 picture secret="+testSecret, message("a fired", []byte("PNG")))
	data := r.json["data"].(map[string]any)
	if r.method != "POST" || r.path != "/in?x=1" || r.json["type"] != "alert" || r.json["timestamp"] != "2027-01-15T08:00:00Z" || data["text"] != "a fired" ||
		data["symbol"] != "BTCUSDT" || data["picture"] != base64.StdEncoding.EncodeToString([]byte("PNG")) || data["detail"].(map[string]any)["value"] != 1.0 {
		t.Errorf("%s %s %s", r.method, r.path, r.body)
	}
	key, _ := signingKey(testSecret)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "n-1.%s.%s", r.header.Get("webhook-timestamp"), r.body)
	if got, want := r.header.Get("webhook-signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != want || r.header.Get("webhook-id") != "n-1" {
		t.Errorf("signature %q of %q, want %q", got, r.header.Get("webhook-id"), want)
	}
	if r := sendOne(t, "hook webhook %s/in", message("a", nil)); r.header.Get("webhook-signature") != "" || r.header.Get("webhook-id") != "n-1" {
		t.Errorf("without a secret: %v", r.header)
	}
}

func TestNtfy(t *testing.T) {
	r := sendOne(t, "phone ntfy %s/topic token=tk_secret", message(hostile, nil))
	if r.path != "/topic" || string(r.body) != hostile || r.header.Get("Title") != "wick" || r.header.Get("Authorization") != "Bearer tk_secret" {
		t.Errorf("%s %v %s", r.path, r.header, r.body)
	}
	r = sendOne(t, "phone ntfy %s/topic picture", message(hostile, []byte("PNG")))
	text, err := new(mime.WordDecoder).DecodeHeader(r.header.Get("Message"))
	if r.method != "PUT" || string(r.body) != "PNG" || r.header.Get("Filename") != "chart.png" || text != hostile || err != nil {
		t.Errorf("%s %v %s: %q %v", r.method, r.header, r.body, text, err)
	}
	if strings.ContainsAny(r.header.Get("Message"), "\r\n") {
		t.Error("a line break in a header")
	}
}

func TestTelegram(t *testing.T) {
	r := sendOne(t, "tg telegram %s token=123:abc chat=-42", message(hostile, nil))
	if r.path != "/bot123:abc/sendMessage" || r.form["chat_id"] != "-42" || r.form["text"] != strings.ReplaceAll(hostile, "@", "@\u200b") || r.form["parse_mode"] != "" {
		t.Errorf("%s %v", r.path, r.form)
	}
	long := strings.Repeat("é", 2000)
	r = sendOne(t, "tg telegram %s token=123:abc chat=-42 picture", message(long, []byte("PNG")))
	if r.path != "/bot123:abc/sendPhoto" || len([]rune(r.form["caption"])) != 1024 || r.form["photo"] != "chart.png image/png PNG" {
		t.Errorf("%s %v", r.path, r.form)
	}
}

func TestDiscord(t *testing.T) {
	for _, picture := range [][]byte{nil, []byte("PNG")} {
		r := sendOne(t, "dc discord %s/api/webhooks/1/token picture", message(hostile, picture))
		var payload struct {
			Content  string
			Mentions struct{ Parse []string } `json:"allowed_mentions"`
		}
		if err := json.Unmarshal([]byte(r.form["payload_json"]), &payload); err != nil || payload.Mentions.Parse == nil || len(payload.Mentions.Parse) != 0 {
			t.Errorf("%v: %v", err, r.form)
		}
		for _, raw := range []string{"<@U1>", " *x*", " _y_", "@everyone", "[l](", "https://"} {
			if strings.Contains(strings.ReplaceAll(payload.Content, `\`+raw, ""), raw) {
				t.Errorf("%q is not escaped: %q", raw, payload.Content)
			}
		}
		if (picture != nil) != (r.form["files[0]"] == "chart.png image/png PNG") {
			t.Errorf("files: %v", r.form)
		}
	}
}

func TestSlack(t *testing.T) {
	r := sendOne(t, "sl slack %s/services/T/B/x", message(hostile, nil))
	if r.path != "/services/T/B/x" || r.json["mrkdwn"] != false || r.json["text"] != "a &amp; b &lt;@U1&gt; &lt;b&gt; *x* _y_ @everyone [l](https://evil.example) é" {
		t.Errorf("%s %s", r.path, r.body)
	}
}

func TestGotify(t *testing.T) {
	r := sendOne(t, "go gotify %s/sub/ token=Aabc", message(hostile, nil))
	if r.path != "/sub/message" || r.header.Get("X-Gotify-Key") != "Aabc" || r.form["message"] != hostile || r.form["priority"] != "5" {
		t.Errorf("%s %v %v", r.path, r.header, r.form)
	}
}

func TestPushover(t *testing.T) {
	r := sendOne(t, "po pushover %s token=app user=me picture", message(hostile, []byte("PNG")))
	if r.path != "/1/messages.json" || r.form["token"] != "app" || r.form["user"] != "me" || r.form["message"] != hostile || r.form["html"] != "" ||
		r.form["timestamp"] != "1800000000" || r.form["attachment"] != "chart.png image/png PNG" {
		t.Errorf("%s %v", r.path, r.form)
	}
}

func TestMatrix(t *testing.T) {
	f := newFake(t)
	d := f.at(t, "mx matrix %s token=syt_x room=!r:example.com picture")
	if failure := d.Send(t.Context(), message(hostile, []byte("PNG"))); failure != nil {
		t.Fatal(failure)
	}
	up, r := f.got[0], f.got[1]
	if up.path != "/_matrix/media/v3/upload" || string(up.body) != "PNG" || up.header.Get("Authorization") != "Bearer syt_x" || up.header.Get("Content-Type") != "image/png" {
		t.Errorf("upload: %s %v", up.path, up.header)
	}
	if r.method != "PUT" || r.path != "/_matrix/client/v3/rooms/%21r:example.com/send/m.room.message/n-1" && r.path != "/_matrix/client/v3/rooms/!r:example.com/send/m.room.message/n-1" ||
		r.json["msgtype"] != "m.image" || r.json["url"] != "mxc://example.com/abc" || r.json["body"] != hostile || r.json["formatted_body"] != nil {
		t.Errorf("%s %s %s", r.method, r.path, r.body)
	}
	f.answer = func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"content_uri":"https://evil.example/"}`)
	}
	if failure := d.Send(t.Context(), message("a", []byte("PNG"))); failure == nil || failure.Retry {
		t.Errorf("an upload that names another address: %v", failure)
	}
}

// everyLine has a destination of every kind that speaks HTTP, with secrets that
// must not be seen again.
var everyLine = []string{
	"a webhook %s/PLANTEDpath?q=PLANTEDquery secret=" + testSecret,
	"b ntfy %s/PLANTEDtopic token=PLANTEDtoken",
	"c telegram %s token=PLANTEDtoken chat=PLANTEDchat",
	"d discord %s/api/webhooks/1/PLANTEDtoken",
	"e slack %s/services/T/B/PLANTEDtoken",
	"f gotify %s token=PLANTEDtoken",
	"g pushover %s token=PLANTEDtoken user=PLANTEDuser",
	"h matrix %s token=PLANTEDtoken room=!PLANTEDroom:x",
}

// planted reports whether a text holds one of these secrets.
func planted(text string) bool {
	return strings.Contains(text, "PLANTED") || strings.Contains(text, testSecret[6:])
}

// TestFaults: at each service, after each of these faults, it is known whether it is tried again
// and when, and no secret is in the reason, even if the service repeats it.
func TestFaults(t *testing.T) {
	repeat := func(w http.ResponseWriter, r *http.Request) { // what came in goes back
		fmt.Fprint(w, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Gotify-Key"))
	}
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			repeat(w, r)
		}
	}
	body := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, text)
		}
	}
	for i, fault := range []struct {
		name   string
		answer http.HandlerFunc
		retry  bool
		after  time.Duration
	}{
		{"400", status(400), false, 0},
		{"401", status(401), false, 0},
		{"404", status(404), false, 0},
		{"408", status(408), true, 0},
		{"425", status(425), true, 0},
		{"an echo that begins late", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, strings.Repeat("x", 50))
			repeat(w, r)
		}, false, 0},
		{"429", status(429, "Retry-After", "31"), true, 31 * time.Second},
		{"429 in Telegram's way", body(429, `{"ok":false,"error_code":429,"parameters":{"retry_after":32}}`), true, 32 * time.Second},
		{"429 in Discord's way", body(429, `{"message":"slow","retry_after":0.5,"global":false}`), true, 500 * time.Millisecond},
		{"429 in Matrix's way", body(429, `{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}`), true, 2 * time.Second},
		{"429 for a century", status(429, "Retry-After", "2000000000"), true, maxAfter},
		{"500", status(500), true, 0},
		{"503 with a word", status(503, "Retry-After", "soon"), true, 0},
		{"redirect", status(302, "Location", "https://evil.example/"), false, 0},
		{"308", status(308, "Location", "/elsewhere"), false, 0},
		{"closed", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, true, 0},
		{"huge", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for range 64 << 10 {
				if _, err := w.Write(make([]byte, 1024)); err != nil {
					return
				}
			}
		}, true, 0},
	} {
		for k, line := range everyLine {
			if testing.Short() && (i+k)%4 != 0 {
				continue // each fault at some of the services
			}
			f := newFake(t)
			f.answer = fault.answer
			failure := f.at(t, line).Send(t.Context(), message("a", nil))
			if failure == nil || failure.Retry != fault.retry || failure.After != fault.after {
				t.Errorf("%s, %s: %+v, want retry %t after %s", fault.name, line, failure, fault.retry, fault.after)
			} else if planted(failure.Reason) || len(failure.Reason) > maxShown+4 {
				t.Errorf("%s, %s: the reason is %q", fault.name, line, failure.Reason)
			}
			if len(f.got) != 1 && fault.name != "closed" { // net/http may try a lost connection again
				t.Errorf("%s, %s: %d requests", fault.name, line, len(f.got))
			}
		}
	}
}

// TestNoAnswer: a service that is slow, gone or of another name is tried again, and the reason
// holds no secret.
func TestNoAnswer(t *testing.T) {
	for _, line := range everyLine {
		f := newFake(t)
		d := f.at(t, line)
		release := make(chan struct{}) // Timeout ends an attempt; the test's own is shorter
		f.answer = func(http.ResponseWriter, *http.Request) { <-release }
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		slow := d.Send(ctx, message("a", nil))
		cancel()
		close(release)
		d.client = address.Client(Timeout, d.may())
		d.client.CloseIdleConnections()
		wrong := d.Send(t.Context(), message("a", nil))
		f.Close()
		d.trust(f.Certificate())
		gone := d.Send(t.Context(), message("a", nil))
		for what, failure := range map[string]*Failure{"slow": slow, "wrong certificate": wrong, "gone": gone} {
			if failure == nil || !failure.Retry || planted(failure.Reason) {
				t.Errorf("%s, %s: %+v", what, line, failure)
			}
		}
		if wrong != nil && !strings.Contains(wrong.Reason, "certificate") {
			t.Errorf("%s: %v", line, wrong)
		}
	}
}

// TestPrivateAddresses: without allow-private neither a webhook nor a mail reaches this machine or
// the network it is in, by number or by name, and with it http stays there.
func TestPrivateAddresses(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "[fd00::1]", "[64:ff9b::a00:1]"} {
		for _, line := range []string{"a webhook https://%s/in", "m email smtps://%s from=a@example.com to=b@example.com"} {
			d, err := parse(strings.ReplaceAll(line, "%s", host+":"+port))
			if err != nil {
				t.Fatal(err)
			}
			if failure := d.Send(t.Context(), message("a", nil)); failure == nil || failure.Retry || !strings.Contains(failure.Reason, address.ErrRefused.Error()) {
				t.Errorf("%s at %s: %+v", line, host, failure)
			}
		}
	}
	d, err := parse("b webhook http://8.8.8.8/in allow-private")
	if err != nil {
		t.Fatal(err)
	}
	if failure := d.Send(t.Context(), message("a", nil)); failure == nil || failure.Retry {
		t.Errorf("http to a public address: %+v", failure)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for field, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "1e9": 0, "Inf": 0, "NaN": 0, "0x7": 0, "1.2.3": 0, ".": 0,
		"99999999999": maxAfter, strings.Repeat("9", 400): maxAfter, // services that mean never
		"1.5":                           1500 * time.Millisecond, // no valid field, but clear
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:03:05 GMT": 0,
	} {
		if got := retryAfter(field, nil, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", field, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("7", []byte(`{"retry_after":1}`))
	f.Add("x", []byte(`{"parameters":{"retry_after":-1e308}}`))
	f.Fuzz(func(t *testing.T, field string, reply []byte) {
		if got := retryAfter(field, reply, time.Now()); got < 0 || got > maxAfter {
			t.Errorf("%q %q: %s", field, reply, got)
		}
	})
}

// FuzzNew: any address and keys are refused or give a destination that can be
// asked to redact.
func FuzzNew(f *testing.F) {
	f.Add("webhook", "https://example.com/in?x=1", "secret", testSecret, false)
	f.Add("email", "smtps://u:p@h:1", "from", "a@b", true)
	f.Fuzz(func(t *testing.T, kind, at, key, value string, private bool) {
		if d, err := New(kind, at, map[string]string{key: value}, private); err == nil && (d.client == nil || d.Redact("x") == "") {
			t.Errorf("%q %q: %+v", kind, at, d)
		}
	})
}
