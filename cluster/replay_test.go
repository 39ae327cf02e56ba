package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wick/cluster/etcdtest"
	"wick/internal/journal/journaltest"
)

// TestReplay: the headers of a question count once and for that question alone. Otherwise
// whoever records them could open many connections whose bodies never come, or send another
// body under them.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	leading, follower := node(t, s), node(t, s)
	var recorded http.Header
	var length int64
	handler := leading.Handler(func(context.Context, string, json.RawMessage) (any, error) { return nil, nil })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if recorded == nil {
			recorded, length = r.Header.Clone(), r.ContentLength
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	leading.options.Advertise = web.URL
	lead(t, leading, &journaltest.Notes{})
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil {
		t.Fatal(err)
	}
	never, hold := io.Pipe() // if anybody waits for this body, there is no answer
	defer hold.Close()
	for name, body := range map[string]io.Reader{"a body that never comes": never, "another body": bytes.NewReader(make([]byte, length))} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+askPath, body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header, request.ContentLength = recorded, length
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("%s is waited for: %v", name, err)
			continue
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: status %d, want 403", name, response.StatusCode)
		}
	}
}
