package alpaca

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"wick/internal/limit"
	"wick/trade/live"
)

// maxEvent bounds one line of the stream, in bytes.
const maxEvent = 256 << 10

// Stream reads what happens to the account's orders from now on until the stream or ctx ends,
// and calls deliver with each order as it is then. It calls connected once Alpaca has accepted the
// request. An event that cannot be read ends the stream: the caller then has to ask for what it
// said, as after every connect.
func (c *Client) Stream(ctx context.Context, connected func(), deliver func(live.State)) error {
	response, err := c.send(ctx, &c.stream, ordinary, http.MethodGet, "/v2/events/trades", nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxSaid)) // as much as can be read is enough
		return fmt.Errorf("alpaca stream: status %d: %s", response.StatusCode, limit.Line(string(text), maxSaid))
	}
	c.log.Info("alpaca stream open", "request", limit.Clip(response.Header.Get("X-Request-ID")))
	connected()
	return readEvents(response.Body, deliver)
}

// readEvents reads the stream's text: an event is one line of data. Lines of other
// kinds, such as comments that keep the connection alive, are passed over. It returns
// the error that ended the stream, never nil.
func readEvents(r io.Reader, deliver func(live.State)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEvent) // a longer line is an error
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		// What the kind, the price and the quantity of an event say is in the order's totals too.
		var u struct {
			Order order `json:"order"`
		}
		var s live.State
		err := json.Unmarshal(bytes.TrimSpace(data), &u)
		if err == nil {
			s, err = u.Order.state()
		}
		if err != nil {
			return fmt.Errorf("alpaca stream: %w", err)
		}
		deliver(s)
	}
	// Alpaca ends streams now and then; the caller opens the next one.
	return fmt.Errorf("alpaca stream: it ended: %w", cmp.Or(lines.Err(), io.EOF))
}
