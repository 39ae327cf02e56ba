package alpaca

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"wick/internal/limit"
	"wick/trade/live"
)

// maxEvent bounds one line of the stream, in bytes.
const maxEvent = 256 << 10

// Stream reads what happens to the account's orders until the stream or ctx ends, and
// calls deliver with each event. It begins after the event with the given id, or now if
// that is empty or Alpaca does not know it. It calls connected once Alpaca has accepted the
// request. An event that cannot be read ends the stream, after its id alone was delivered:
// the caller then has to ask for what it said.
func (c *Client) Stream(ctx context.Context, after string, connected func(), deliver func(live.Event)) error {
	if err := c.budget.take(ctx, ordinary); err != nil {
		return err
	}
	query := url.Values{}
	if after != "" {
		query.Set("since_id", after)
	}
	request, err := c.request(ctx, http.MethodGet, "/v2/events/trades", query, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := c.stream.Do(request)
	if err != nil {
		return fmt.Errorf("alpaca stream: %w", withoutURL(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxSaid)) // as much as can be read is enough
		c.heed(response)
		// Alpaca may not know the event any more. The stream then begins now, and the caller
		// reads the account as after every connect.
		switch response.StatusCode {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
			if after != "" {
				c.log.Warn("alpaca does not resume the stream: it begins anew", "status", response.StatusCode)
				_ = response.Body.Close() // not only when the next stream ends
				return c.Stream(ctx, "", connected, deliver)
			}
		}
		return fmt.Errorf("alpaca stream: status %d: %s", response.StatusCode, limit.Line(string(text), maxSaid))
	}
	c.log.Info("alpaca stream open", "request", limit.Clip(response.Header.Get("X-Request-ID")))
	connected()
	return readEvents(response.Body, deliver)
}

// readEvents reads the stream's text: an event is one line of data. Lines of other
// kinds, such as comments that keep the connection alive, are passed over. It returns
// the error that ended the stream, never nil.
func readEvents(r io.Reader, deliver func(live.Event)) error {
	lines := bufio.NewScanner(r)
	// A longer line is an error, which ends the stream.
	lines.Buffer(make([]byte, 0, 4096), maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		var u update
		var e live.Event
		err := json.Unmarshal(bytes.TrimSpace(data), &u)
		if err != nil {
			err = fmt.Errorf("alpaca stream: %w", err)
		} else {
			e, err = u.event()
		}
		switch {
		case err == nil:
			deliver(e)
		// An event that cannot be read or cannot be true ends the stream; the book is then
		// compared with a report. Its id is delivered, or the next stream would begin with it.
		case !errors.Is(err, errForeign):
			if isID(u.EventID) {
				deliver(live.Event{ID: u.EventID})
			}
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("alpaca stream: %w", err)
	}
	// Alpaca ends streams now and then; the caller opens the next one.
	return errors.New("alpaca stream: it ended")
}
