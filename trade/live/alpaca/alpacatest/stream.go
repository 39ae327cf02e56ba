package alpacatest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// stream writes events until the client leaves or the stream is cut.
func (v *Venue) stream(w http.ResponseWriter, r *http.Request) {
	bell := make(chan struct{}, 1)
	v.mu.Lock()
	v.listeners[bell] = true
	next, born := len(v.events), v.cut
	if after := r.URL.Query().Get("since_id"); after != "" && !v.Deaf {
		for next = len(v.events); next > 0 && v.events[next-1].EventID != after; next-- {
		}
	}
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.listeners, bell)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	io.WriteString(w, ": welcome\n\n")
	flush := http.NewResponseController(w)
	for {
		if flush.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-bell:
		case <-time.After(15 * time.Second):
			if _, err := io.WriteString(w, ": alive\n\n"); err != nil {
				return
			}
		}
		v.mu.Lock()
		cut := v.cut != born
		var fresh []update
		for ; next < len(v.events); next++ {
			if v.drop > 0 {
				v.drop--
				continue
			}
			fresh = append(fresh, v.events[next])
		}
		v.mu.Unlock()
		if cut {
			panic(http.ErrAbortHandler)
		}
		for _, u := range fresh {
			text, err := json.Marshal(u)
			if err != nil {
				panic(err) // our own type
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil {
				return
			}
		}
	}
}

// Client returns an HTTP client whose every request goes to the venue without a
// network: it can be used where time stands still.
func (v *Venue) Client() *http.Client { return &http.Client{Transport: direct{v}} }

// direct is a RoundTripper that calls a handler.
type direct struct{ http.Handler }

// RoundTrip runs the handler in a goroutine of its own and returns when it has
// written its head. A handler that aborts is a connection that breaks.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	body, pipe := io.Pipe()
	w := &answer{header: http.Header{}, pipe: pipe, head: make(chan int, 1)}
	broken := make(chan struct{})
	go func() {
		defer func() {
			if p := recover(); p != nil {
				if p != http.ErrAbortHandler {
					panic(p)
				}
				pipe.CloseWithError(io.ErrUnexpectedEOF)
				close(broken)
				return
			}
			w.WriteHeader(http.StatusOK)
			pipe.Close()
		}()
		if r.Body == nil {
			r.Body = http.NoBody
		}
		d.ServeHTTP(w, r)
	}()
	select {
	case status := <-w.head:
		return &http.Response{StatusCode: status, Header: w.header, Body: body, Request: r}, nil
	case <-broken:
		return nil, io.ErrUnexpectedEOF
	case <-r.Context().Done():
		body.Close()
		return nil, r.Context().Err()
	}
}

// answer is a ResponseWriter into a pipe.
type answer struct {
	header http.Header
	pipe   *io.PipeWriter
	head   chan int
	wrote  bool
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.wrote = true
		a.head <- status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.pipe.Write(p)
}

// Flush does nothing: every write is seen at once.
func (a *answer) Flush() {}
