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
	query := url.Values{}
	if after != "" {
		query.Set("since_id", after)
	}
	response, err := c.send(ctx, &c.stream, ordinary, http.MethodGet, "/v2/events/trades", query, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		c.log.Info("alpaca stream open", "request", limit.Clip(response.Header.Get("X-Request-ID")))
		connected()
		return readEvents(response.Body, deliver)
	// Alpaca may not know the event any more. The stream then begins now, and the caller
	// reads the account as after every connect.
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		if after != "" {
			c.log.Warn("alpaca does not resume the stream: it begins anew", "status", response.StatusCode)
			_ = response.Body.Close() // not only when the next stream ends
			return c.Stream(ctx, "", connected, deliver)
		}
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxSaid)) // as much as can be read is enough
	return fmt.Errorf("alpaca stream: status %d: %s", response.StatusCode, limit.Line(string(text), maxSaid))
}

// readEvents reads the stream's text: an event is one line of data. Lines of other
// kinds, such as comments that keep the connection alive, are passed over. It returns
// the error that ended the stream, never nil.
func readEvents(r io.Reader, deliver func(live.Event)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEvent) // a longer line is an error
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		// What the kind, the price and the quantity of an event say is in the order's totals too.
		var u struct {
			EventID string `json:"event_id"`
			Order   order  `json:"order"`
		}
		var e live.Event
		err := json.Unmarshal(bytes.TrimSpace(data), &u)
		if isID(u.EventID) { // without an id the next stream cannot resume here, and the account is read instead
			e.ID = u.EventID
		}
		if err == nil {
			e.State, err = u.Order.state()
		}
		if err != nil { // the id is delivered, or the next stream would begin with this event
			if e.State = (live.State{}); e.ID != "" {
				deliver(e)
			}
			return fmt.Errorf("alpaca stream: %w", err)
		}
		deliver(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("alpaca stream: %w", err)
	}
	// Alpaca ends streams now and then; the caller opens the next one.
	return errors.New("alpaca stream: it ended")
}
