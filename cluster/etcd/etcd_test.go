package etcd

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// answers is a transport that answers every request alike.
type answers struct {
	status int
	body   []byte
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

// FuzzGateway: whatever a member answers, with whatever status, to a transaction, a
// lease or a login, the client neither panics nor hangs, and takes nothing
// that is not OK for an answer.
func FuzzGateway(f *testing.F) {
	f.Add(200, []byte(`{"header":{"revision":"7"},"succeeded":true,"responses":[{"response_range":{"kvs":[{"key":"YQ==","value":"Yg==","mod_revision":"3"}]}}]}`))
	f.Add(200, []byte(`{"ID":"7587869","TTL":"4"}`))
	f.Add(400, []byte(`{"error":"etcdserver: user name is empty","message":"etcdserver: user name is empty","code":3}`))
	f.Add(503, []byte(`{"message":"etcdserver: no leader","code":14}`))
	f.Add(502, []byte("<html>Bad Gateway</html>"))
	f.Add(200, []byte(`{"header":{"revision":"99999999999999999999"}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		synctest.Test(t, func(t *testing.T) {
			c, err := New(Options{Endpoints: []string{"https://127.0.0.1:1", "https://127.0.0.1:2"}, User: "a", Password: "b"})
			if err != nil {
				t.Fatal(err)
			}
			c.http.Transport = answers{status, body}
			txn, err := c.Do(t.Context(), Get([]byte("a")))
			if err == nil && status != http.StatusOK {
				t.Errorf("status %d with %q is taken for an answer", status, body)
			}
			txn.Value(0)
			c.Grant(t.Context(), 1)
		})
	})
}

// endless is a body of blanks, which no bound but ours ends; or of nothing, until it is closed.
type endless struct {
	slow <-chan struct{}
	read *int
}

func (e endless) Read(b []byte) (int, error) {
	if e.slow != nil {
		<-e.slow
		return 0, context.Canceled
	}
	for i := range b {
		b[i] = ' '
	}
	*e.read += len(b)
	return len(b), nil
}

func (e endless) RoundTrip(r *http.Request) (*http.Response, error) {
	if e.slow != nil {
		e.slow = r.Context().Done()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(e)}, nil
}

// TestReplyBounds: of a reply that does not end no more than 64 MiB is read, and a member that
// answers and then falls silent is given up after two seconds. Otherwise whoever is in etcd's
// place could use up the memory of a replica, or hold it up for ever.
func TestReplyBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{Endpoints: []string{"https://127.0.0.1:1"}})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		c.http.Transport = endless{read: &read}
		if _, err := c.Once(t.Context(), Txn{}); err == nil || read < 64<<20 || read > 65<<20 {
			t.Errorf("an endless reply: %v, %d bytes read", err, read)
		}
		c.http.Transport = endless{slow: make(chan struct{})}
		began := time.Now()
		if _, err := c.Once(t.Context(), Txn{}); err == nil || time.Since(began) != 2*time.Second {
			t.Errorf("a silent member: %v after %s", err, time.Since(began))
		}
	})
}
