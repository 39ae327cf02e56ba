package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
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
