package service

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
)

// mailServer is an SMTP server for one conversation after another. It keeps what
// it was told.
type mailServer struct {
	ln       net.Listener
	settings *tls.Config
	implicit bool
	answers  map[string]string // to a command, instead of the usual ones
	lines    chan []string     // of each conversation
	cert     *httptest.Server
}

// newMailServer starts one. Its certificate is httptest's, for example.com and
// 127.0.0.1.
func newMailServer(t *testing.T, implicit bool, answers map[string]string) *mailServer {
	t.Helper()
	cert := httptest.NewTLSServer(nil)
	t.Cleanup(cert.Close)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{ln: ln, settings: &tls.Config{Certificates: cert.TLS.Certificates}, implicit: implicit, answers: answers, lines: make(chan []string, 10), cert: cert}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.lines <- s.talk(conn)
			conn.Close()
		}
	}()
	return s
}

// talk holds a conversation and returns what the client said.
func (s *mailServer) talk(conn net.Conn) (said []string) {
	if s.implicit {
		conn = tls.Server(conn, s.settings)
	}
	in := bufio.NewReader(conn)
	reply := func(command, usual string) {
		if other, ok := s.answers[command]; ok {
			usual = other
		}
		io.WriteString(conn, usual+"\r\n")
	}
	reply("", "220 mail.example.com")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return said
		}
		line = strings.TrimRight(line, "\r\n")
		said = append(said, line)
		switch command, _, _ := strings.Cut(line, " "); command {
		case "EHLO":
			reply(command, "250-mail.example.com\r\n250-STARTTLS\r\n250 AUTH PLAIN")
		case "STARTTLS":
			reply(command, "220 go")
			conn = tls.Server(conn, s.settings)
			in = bufio.NewReader(conn)
		case "AUTH":
			reply(command, "235 welcome")
		case "DATA":
			reply(command, "354 go")
			for {
				text, err := in.ReadString('\n')
				if err != nil {
					return said
				}
				if text == ".\r\n" {
					break
				}
				said = append(said, strings.TrimRight(text, "\r\n"))
			}
			reply("END", "250 queued")
		case "QUIT":
			reply(command, "221 bye")
			return said
		default:
			reply(command, "250 ok")
		}
	}
}

// at returns a destination at the server.
func (s *mailServer) at(t *testing.T, options string) *Destination {
	t.Helper()
	scheme := "smtp"
	if s.implicit {
		scheme = "smtps"
	}
	d, err := parse("mail email " + scheme + "://PLANTEDuser:PLANTEDpass@" + s.ln.Addr().String() + " from=wick@example.com to=me@example.com,you@example.com allow-private " + options)
	if err != nil {
		t.Fatal(err)
	}
	d.trust(s.cert.Certificate())
	return d
}

// TestMail: over TLS and STARTTLS a mail with text and picture arrives whole,
// after the login.
func TestMail(t *testing.T) {
	picture := []byte(strings.Repeat("\x89PNG", 100))
	for _, implicit := range []bool{true, false} {
		s := newMailServer(t, implicit, nil)
		if failure := s.at(t, "picture").Send(t.Context(), message(hostile+"\nBcc: evil@example.com", picture)); failure != nil {
			t.Fatal(failure)
		}
		said := <-s.lines
		all := strings.Join(said, "\r\n")
		for _, want := range []string{"AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00PLANTEDuser\x00PLANTEDpass")),
			"MAIL FROM:<wick@example.com>", "RCPT TO:<me@example.com>", "RCPT TO:<you@example.com>"} {
			if !strings.Contains(all, want) {
				t.Errorf("implicit %t: no %q in %q", implicit, want, all)
			}
		}
		_, text, _ := strings.Cut(all, "DATA\r\n")
		m, err := mail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		subject, _ := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if !strings.HasPrefix(subject, "a & b") || m.Header.Get("Message-ID") != "<n-1@example.com>" || m.Header.Get("Bcc") != "" {
			t.Errorf("head: %v", m.Header)
		}
		_, params, _ := mime.ParseMediaType(m.Header.Get("Content-Type"))
		parts := multipart.NewReader(m.Body, params["boundary"])
		for _, want := range []string{hostile + "\nBcc: evil@example.com\n", string(picture)} {
			p, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, p)); string(got) != want || err != nil {
				t.Errorf("part %q, want %q (%v)", got, want, err)
			}
		}
	}
}

// TestMailFaults: what a mail server can do wrong.
func TestMailFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers map[string]string
		retry   bool
		reason  string
	}{
		{"busy", map[string]string{"": "421 PLANTEDpass busy"}, true, "421"},
		{"mailbox gone", map[string]string{"RCPT": "550 no such user"}, false, "550 no such user"},
		{"greylisted", map[string]string{"RCPT": "451 come again"}, true, "451"},
		{"wrong password", map[string]string{"AUTH": "535 PLANTEDuser is unknown"}, false, "535 *** is unknown"},
		{"refused at the end", map[string]string{"END": "554 spam"}, false, "554"},
		{"no STARTTLS", map[string]string{"EHLO": "250 AUTH PLAIN", "STARTTLS": "502 what"}, false, "502"},
		{"huge", map[string]string{"EHLO": strings.Repeat("250-x\r\n", maxReply) + "250 x"}, true, "too much"},
		{"no mail server", map[string]string{"": "HTTP/1.1 400 Bad Request"}, true, ""},
	} {
		s := newMailServer(t, false, c.answers)
		failure := s.at(t, "").Send(t.Context(), message("a", nil))
		if failure == nil || failure.Retry != c.retry || !strings.Contains(failure.Reason, c.reason) || planted(failure.Reason) {
			t.Errorf("%s: %+v, want retry %t and %q", c.name, failure, c.retry, c.reason)
		}
	}
	s := newMailServer(t, true, nil)
	d := s.at(t, "")
	d.roots = nil
	if failure := d.Send(t.Context(), message("a", nil)); failure == nil || !failure.Retry || !strings.Contains(failure.Reason, "certificate") {
		t.Errorf("wrong certificate: %+v", failure)
	}
}
