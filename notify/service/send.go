package service

import (
	"bytes"
	"context"
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
