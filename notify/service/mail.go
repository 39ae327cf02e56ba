package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
)

// email sends m by SMTP. With smtps:// the connection is encrypted from the first byte;
// with smtp:// it is encrypted by STARTTLS, and nothing is sent if that fails.
func email(ctx context.Context, d *Destination, m Message) *Failure {
	client, err := d.connect(ctx)
	if err != nil {
		return mailFailure(err)
	}
	defer client.Close()
	if err := d.transfer(client, compose(d.from, d.to, m)); err != nil {
		return mailFailure(err)
	}
	client.Quit() // an error does not matter: the server has taken the message
	return nil
}

// transfer logs in, tells the server the sender and the recipients, and sends the text of a
// mail. PlainAuth sends no password without TLS. The server has taken the mail if Close,
// which reads the answer to the end of it, returns nil.
func (d *Destination) transfer(client *smtp.Client, text []byte) (err error) {
	if user, password := d.login(); password != "" {
		err = client.Auth(smtp.PlainAuth("", user, password, d.url.Hostname()))
	}
	if err == nil {
		err = client.Mail(d.from.Address)
	}
	for _, a := range d.to {
		if err == nil {
			err = client.Rcpt(a.Address)
		}
	}
	if err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return errors.Join(err, w.Close())
}

// login returns how to log in at the mail server: as the user of the URL, or else as
// the sender. Without a password there is no login.
func (d *Destination) login() (user, password string) {
	password, _ = d.url.User.Password()
	return cmp.Or(d.url.User.Username(), d.from.Address), cmp.Or(d.keys["password"], password)
}

// connect returns an encrypted connection to the mail server, which is closed when ctx ends.
// What is read from the server is bounded as it comes from the network, encrypted or not.
func (d *Destination) connect(ctx context.Context) (*smtp.Client, error) {
	host, implicit, port := d.url.Hostname(), d.url.Scheme == "smtps", "587"
	if implicit {
		port = "465"
	}
	conn, err := address.Dialer(d.may()).DialContext(ctx, "tcp", net.JoinHostPort(host, cmp.Or(d.url.Port(), port)))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() }) // at the end of Send, or when it takes too long
	conn = &boundedConn{conn, maxReply}
	settings := &tls.Config{ServerName: host, RootCAs: d.roots, MinVersion: tls.VersionTLS12}
	if implicit {
		conn = tls.Client(conn, settings)
	}
	client, err := smtp.NewClient(conn, host)
	if err == nil && !implicit {
		if err = client.StartTLS(settings); err != nil {
			err = fmt.Errorf("no STARTTLS: %w", err)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return client, nil
}

// boundedConn reads a bounded number of bytes: a server that never ends its
// greeting must not fill the memory.
type boundedConn struct {
	net.Conn
	left int
}

// Read fails once the server has sent more than is needed for a mail.
func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the mail server says too much")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// mailFailure returns the Failure for an error of SMTP. A reply of 500 or more is final
// (RFC 5321); after all others another attempt may succeed.
func mailFailure(err error) *Failure {
	if told := (*textproto.Error)(nil); errors.As(err, &told) {
		return &Failure{Reason: fmt.Sprintf("answered %d %s", told.Code, told.Msg), Retry: told.Code < 500}
	}
	return unreached(err)
}

// compose returns m as a mail: the head, the text and perhaps the picture, as parts of
// one body. Its Message-ID is made from the message's id, so that programs can drop
// repeats.
func compose(from *mail.Address, to []*mail.Address, m Message) []byte {
	var b bytes.Buffer
	const boundary = "wick-part-1f0c5a9e7d3b42680b6c"
	// part writes a part of the mail, in base64 so that no line of it can end the part.
	part := func(kind string, data []byte) {
		fmt.Fprintf(&b, "--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: base64\r\n\r\n", boundary, kind)
		for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(data)), 76) { // RFC 2045
			fmt.Fprintf(&b, "%s\r\n", line)
		}
	}
	var names []string
	for _, a := range to {
		names = append(names, a.String())
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	fmt.Fprintf(&b, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: <%s@%s>\r\nAuto-Submitted: auto-generated\r\n", from, strings.Join(names, ", "),
		inHeader(limit.Line(m.Text, 120)), m.At.Format(time.RFC1123Z), m.ID, domain)
	fmt.Fprintf(&b, "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=%s\r\n\r\n", boundary)
	part("text/plain; charset=utf-8", []byte(m.Text+"\n"))
	if m.Picture != nil {
		part("image/png; name=chart.png\r\nContent-Disposition: inline; filename=chart.png", m.Picture)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes()
}

// headerText breaks up what has a special meaning in a header: the beginning of an encoded
// word, and \n, which ntfy turns into a line break.
var headerText = strings.NewReplacer("=?", "=\u200b?", `\n`, "\\\u200bn")

// inHeader returns a text as a header of mail has it, encoded where that is needed
// (RFC 2047).
func inHeader(text string) string { return mime.BEncoding.Encode("utf-8", headerText.Replace(text)) }
