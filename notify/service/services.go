package service

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wick/internal/address"
)

// Each function below sends a message to the service it is named after, once. The texts
// may quote strangers. Each service has markup of its own, with which a stranger could
// mention people, hide an address behind a word or have a page fetched. So characters
// that begin such markup are escaped or broken up.

// title is the title of a message, for services that have one.
const title = "wick"

// webhook posts JSON in the form that Standard Webhooks recommends: type, time and data.
// If there is a secret the message is signed as that standard says, with an HMAC over id,
// time and body. So a receiver can check who sent it, and drop messages that it has
// already or that are old.
func webhook(ctx context.Context, d *Destination, m Message) *Failure {
	body, err := json.Marshal(map[string]any{"type": m.Kind, "timestamp": m.At.UTC(), "data": m})
	if err != nil {
		return &Failure{Reason: err.Error()}
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	head := header{"Content-Type": "application/json", "webhook-id": m.ID, "webhook-timestamp": at}
	if d.key != nil {
		head["webhook-signature"] = sign(d.key, m.ID, at, body)
	}
	_, failure := d.do(ctx, http.MethodPost, d.url.String(), head, body)
	return failure
}

// sign returns the signature of a webhook in the form of its header.
func sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// ntfy publishes to a topic. With a picture the body is the file, and the text
// goes into a header.
func ntfy(ctx context.Context, d *Destination, m Message) *Failure {
	head := header{"Title": title}
	if token := d.keys["token"]; token != "" {
		head["Authorization"] = "Bearer " + token
	}
	if m.Urgent {
		head["Priority"] = "high"
	}
	body := []byte(m.Text)
	if m.Picture != nil {
		body = m.Picture
		head["Filename"], head["Message"] = "chart.png", inHeader(m.Text)
	}
	_, failure := d.do(ctx, http.MethodPut, d.url.String(), head, body)
	return failure
}

// telegram uses sendMessage and sendPhoto of the Bot API. Without a parse_mode a text has
// no markup, but a name after an @ would still be a mention, and an address would get a
// preview.
func telegram(ctx context.Context, d *Destination, m Message) *Failure {
	text := strings.ReplaceAll(m.Text, "@", "@\u200b")
	method, fields := "/sendMessage", header{"chat_id": d.keys["chat"], "text": clip(text, 4096), "link_preview_options": `{"is_disabled":true}`}
	if m.Picture != nil {
		method, fields = "/sendPhoto", header{"chat_id": d.keys["chat"], "caption": clip(text, 1024)}
	}
	return d.doForm(ctx, d.at("/bot"+d.keys["token"]+method), header{}, fields, "photo", m.Picture)
}

// markdown escapes what Discord reads as markup, mention or link.
var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, ">", `\>`, "#", `\#`,

	"[", `\[`, "<", `\<`, "@", "@\u200b", "://", `:\//`)

// discord uses the webhook of a channel. No text can mention anybody, or make Discord
// fetch and show a page.
func discord(ctx context.Context, d *Destination, m Message) *Failure {
	const suppressEmbeds = 1 << 2
	payload, err := json.Marshal(map[string]any{"content": clip(markdown.Replace(m.Text), 2000), "flags": suppressEmbeds,
		"allowed_mentions": map[string][]string{"parse": {}}})
	if err != nil {
		return &Failure{Reason: err.Error()}
	}
	return d.doForm(ctx, d.url.String(), header{}, header{"payload_json": string(payload)}, "files[0]", m.Picture)
}

// slackText escapes the three characters by which Slack's texts make mentions
// and links.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slack posts to an incoming webhook, which takes no files. Other markup is off, and
// so are previews of addresses.
func slack(ctx context.Context, d *Destination, m Message) *Failure {
	return d.doJSON(ctx, http.MethodPost, d.url.String(), header{}, map[string]any{
		"text": slackText.Replace(m.Text), "mrkdwn": false, "unfurl_links": false, "unfurl_media": false})
}

// gotify creates a message, which its clients show as plain text.
func gotify(ctx context.Context, d *Destination, m Message) *Failure {
	fields := header{"title": title, "message": m.Text, "priority": "5"}
	if m.Urgent {
		fields["priority"] = "8"
	}
	return d.doForm(ctx, d.at("/message"), header{"X-Gotify-Key": d.keys["token"]}, fields, "", nil)
}

// pushover posts a message. Without html=1 a text has no markup.
func pushover(ctx context.Context, d *Destination, m Message) *Failure {
	return d.doForm(ctx, d.at("/1/messages.json"), header{}, header{"token": d.keys["token"], "user": d.keys["user"], "title": title,
		"message": clip(m.Text, 1024), "timestamp": strconv.FormatInt(m.At.Unix(), 10)}, "attachment", m.Picture)
}

// matrix sends to a room. The id of the message is also that of the transaction, by which
// the home server drops repeats. A picture is uploaded first. Because of the empty
// m.mentions a name or "@room" in the text mentions nobody.
func matrix(ctx context.Context, d *Destination, m Message) *Failure {
	auth := "Bearer " + d.keys["token"]
	content := map[string]any{"msgtype": "m.text", "body": m.Text, "m.mentions": struct{}{}}
	if m.Picture != nil {
		reply, failure := d.do(ctx, http.MethodPost, d.at("/_matrix/media/v3/upload"), header{"Authorization": auth, "Content-Type": "image/png"}, m.Picture)
		if failure != nil {
			return failure
		}
		var stored struct {
			URI string `json:"content_uri"`
		}
		if err := json.Unmarshal(reply, &stored); err != nil || !strings.HasPrefix(stored.URI, "mxc://") {
			return &Failure{Reason: "the answer to the upload names no content_uri", Retry: err != nil} // it may have been cut off
		}
		content["msgtype"], content["filename"], content["url"] = "m.image", "chart.png", stored.URI
		content["info"] = map[string]any{"mimetype": "image/png", "size": len(m.Picture)}
	}
	to := d.at("/_matrix/client/v3/rooms/") + url.PathEscape(d.keys["room"]) + "/send/m.room.message/" + url.PathEscape(m.ID)
	return d.doJSON(ctx, http.MethodPut, to, header{"Authorization": auth}, content)
}

// clip shortens a text to at most so many characters. A service would refuse a message
// with a longer text.
func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// at returns the destination's URL with path added to its own.
func (d *Destination) at(path string) string {
	u := *d.url
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+path, ""
	return u.String()
}

// header is the head of a request, one value per name.
type header map[string]string

// do sends a request and returns the body of the reply, if the service took the message.
// Only the status decides that: a body that breaks off is no reason to send the message
// again.
func (d *Destination) do(ctx context.Context, method, to string, head header, body []byte) ([]byte, *Failure) {
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, &Failure{Reason: "no request can be made of the URL and the keys"}
	}
	r.Header.Set("User-Agent", "wick")
	for name, value := range head {
		r.Header.Set(name, value)
	}
	res, err := d.client.Do(r)
	if err != nil {
		return nil, unreached(err)
	}
	defer res.Body.Close()
	reply, _ := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if res.StatusCode/100 != 2 {
		return nil, refused(res, reply)
	}
	return reply, nil
}

// doJSON sends a value as JSON. It adds the type to head.
func (d *Destination) doJSON(ctx context.Context, method, to string, head header, value any) *Failure {
	body, err := json.Marshal(value)
	if err != nil {
		return &Failure{Reason: err.Error()}
	}
	head["Content-Type"] = "application/json"
	_, failure := d.do(ctx, method, to, head, body)
	return failure
}

// doForm posts fields and, if there is one, a picture in the field called file.
func (d *Destination) doForm(ctx context.Context, to string, head, fields header, file string, picture []byte) *Failure {
	var body bytes.Buffer // takes every write
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		form.WriteField(name, value)
	}
	if picture != nil {
		part, _ := form.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {multipart.FileContentDisposition(file, "chart.png")}, "Content-Type": {"image/png"}})
		part.Write(picture)
	}
	form.Close()
	head["Content-Type"] = form.FormDataContentType()
	_, failure := d.do(ctx, http.MethodPost, to, head, body.Bytes())
	return failure
}

// unreached returns the failure of a request that got no answer. It leaves out the URL,
// which net/http puts into its errors, because it contains secrets.
func unreached(err error) *Failure {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &Failure{Reason: err.Error(), Retry: !errors.Is(err, address.ErrRefused)}
}

// refused returns the failure for an answer that is not a success, with the text of that
// answer.
func refused(res *http.Response, reply []byte) *Failure {
	f := &Failure{Reason: fmt.Sprintf("answered %d %s", res.StatusCode, http.StatusText(res.StatusCode)), Retry: res.StatusCode >= 500}
	// Of the statuses below 500 only these three say that the message may be taken later.
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		f.Retry = true
	}
	if res.StatusCode/100 == 3 {
		f.Reason += ", and redirects are not followed"
	}
	if text := strings.TrimSpace(string(reply)); text != "" {
		f.Reason += ": " + text // not shortened yet: Redact could not find a secret that was cut
	}
	f.After = retryAfter(res.Header.Get("Retry-After"), reply, time.Now())
	return f
}

// retryAfter returns how long a service asks to wait, at most maxAfter. It may ask in the
// header, in seconds or as a date, or in its reply: Telegram in parameters.retry_after and
// Discord in retry_after, in seconds, and Matrix in retry_after_ms. The longest counts.
// RFC 9110 knows only whole seconds in the header; a fraction is taken as it is meant.
func retryAfter(field string, reply []byte, now time.Time) time.Duration {
	type asked struct {
		Seconds float64 `json:"retry_after"`
	}
	var said struct {
		asked
		Millis     float64 `json:"retry_after_ms"`
		Parameters asked   `json:"parameters"`
	}
	json.Unmarshal(reply, &said) // most replies are not of this form
	wait := max(said.Seconds, said.Millis/1000, said.Parameters.Seconds)
	seconds, err := strconv.ParseFloat(field, 64) // a number beyond all floats is infinite, and an error
	if plain := strings.Trim(field, "0123456789.") == ""; plain && (err == nil || errors.Is(err, strconv.ErrRange)) {
		wait = max(wait, seconds)
	} else if at, err := http.ParseTime(field); err == nil {
		wait = max(wait, at.Sub(now).Seconds())
	}
	return time.Duration(min(max(wait, 0), maxAfter.Seconds()) * float64(time.Second))
}
