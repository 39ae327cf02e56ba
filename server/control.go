package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"wick/internal/journal"
)

// controlName is the name of the socket in the data directory by which the owner speaks
// to a running server. Whoever can open it owns the directory, so no token is needed.
const controlName = "wick.sock"

// maxSocket is how long the path of a socket may be, in bytes: 107 on Linux and Windows, 103
// on macOS.
const maxSocket = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketName returns the path of the socket in a data directory. It is an error if the
// system takes no path of that length: no wick on that directory has a socket then.
func socketName(dir string) (string, error) {
	name := filepath.Join(dir, controlName)
	if len(name) > maxSocket {
		return "", fmt.Errorf("the path of the socket, %s, has %d bytes, and the system takes %d at most: start wick with a --data-dir of at most %d bytes; "+
			"until then a file HALT in the directory stops trading", name, len(name), maxSocket, maxSocket-len("/"+controlName))
	}
	return name, nil
}

// listenControl opens the socket for this user alone, in a directory that is there. It
// replaces a socket that a crash left behind, but not one that another server answers on,
// nor a file that is not a socket.
func listenControl(dir string) (net.Listener, error) {
	name, err := socketName(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(name); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is not a socket of wick", name)
		}
		// Only a connection shows whether a socket is served or was left behind by a crash.
		if err := checkSilent(dir); err != nil {
			return nil, err
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return listenPrivate(name)
}

// openControl opens the socket of a server. It is an error if another wick has the
// directory: by its socket the owner would reach that one, and could neither list the logins
// of this one nor end them, nor halt its trading. Without a socket for another reason all
// else goes on, and the log says what will not work; the listener is then nil.
func openControl(c *config, log *slog.Logger) (net.Listener, error) {
	ln, err := listenControl(c.dataDir)
	if err != nil && !errors.Is(err, journal.ErrHeld) {
		log.Warn("wick clients, revoke and halt, and further hosts over stdio will not work: no control socket", "error", err)
		return nil, nil
	}
	return ln, err
}

// checkSilent returns an error if a server answers on the socket of a directory.
func checkSilent(dir string) error {
	conn, err := net.Dial("unix", filepath.Join(dir, controlName))
	if err != nil {
		return nil // there is no socket, or it was left behind
	}
	conn.Close()
	return held(dir)
}

// held is the error of a directory that another wick has.
func held(dir string) error {
	return fmt.Errorf("state directory %s: %w; stop that one or choose another directory", dir, journal.ErrHeld)
}

// dialControl connects to a socket, if it is this user's alone: what is sent there may be the
// passphrase, and what comes back is believed.
func dialControl(ctx context.Context, name string) (net.Conn, error) {
	err := privateDir(filepath.Dir(name))
	if info, none := os.Lstat(name); err == nil && none == nil {
		err = private(name, info, 0o022, "open it; start the wick behind it again")
	}
	if errors.Is(err, errShared) {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "unix", name)
}

// askControl puts a question to the server that runs on the data directory and
// decodes its answer, JSON, into the value that into points to. An answer with another status than 200 is an error with the
// text of its body. A broker may take ten seconds to answer, and a leader twenty, so it waits
// as long as a reply over HTTP may take.
func askControl(ctx context.Context, dir, method, path string, form url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	// Plain HTTP over the socket, whatever the host in the URL says.
	name, err := socketName(dir)
	if err != nil {
		return err
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialControl(ctx, name) }}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, "http://wick"+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := transport.RoundTrip(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("the wick on %s has not answered yet, and may still do what was asked: look at its log, or ask again (%w)", name, err)
	case errors.Is(err, errShared):
		return fmt.Errorf("nothing was sent: %w", err)
	case err != nil:
		return fmt.Errorf("no wick --serve or --mcp --trade answers on %s: start it, or name its --data-dir (%w)", name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusal(response)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// refusal returns the text of a response as an error, or as much of it as came.
func refusal(r *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	return errors.New(strings.TrimSpace(string(text)))
}
