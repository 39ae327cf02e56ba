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
// lease, a login or a watch, the client neither panics nor hangs, and takes nothing
// that is not OK for an answer.
func FuzzGateway(f *testing.F) {
	f.Add(200, []byte(`{"header":{"revision":"7"},"succeeded":true,"responses":[{"response_range":{"kvs":[{"key":"YQ==","value":"Yg==","mod_revision":"3"}]}}]}`))
	f.Add(200, []byte(`{"ID":"7587869","TTL":"4"}`))
	f.Add(200, []byte(`{"result":{"created":true}}{"result":{"events":[{}]}}{"result":{"canceled":true}}`))
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
			var txn TxnReply
			err = c.Call(t.Context(), "/v3/kv/txn", Txn{Success: []Operation{Get([]byte("a"))}}, &txn)
			if err == nil && status != http.StatusOK {
				t.Errorf("status %d with %q is taken for an answer", status, body)
			}
			txn.Value(0)
			c.Call(t.Context(), "/v3/lease/grant", struct{}{}, new(Lease))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c.Watch(ctx, []byte("a"), func() {})
		})
	})
}
