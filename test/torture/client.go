//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wick/test/harness"
)

// client is a client whose refusals can be told from answers that never came.
type client struct {
	*harness.Client
	stale bool // the last reply says that it may be out of date
}

// login returns a client that is logged in.
func login(base, name string) (*client, error) {
	c, err := harness.Login(base, name)
	return &client{Client: c}, err
}

// looker returns a client that looks for as long as it takes, however busy the machine is.
func looker(base string) (*client, error) {
	c, err := login(base, "looker")
	c.Lasting = true
	return c, err
}

// unknown is what wick says when it does not know whether something was done.
const unknown = "outcome unknown"

// errTool is a refusal by the tool: the process runs and nothing was done.
var errTool = errors.New("tool refused")

// call runs a tool and decodes its first text. An error that is not errTool
// means that the outcome is unknown.
func (c *client) call(tool string, arguments map[string]any, into any) error {
	text, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	reply, err := c.Call(tool, string(text))
	switch {
	case err != nil:
		return err
	case reply.IsError && strings.Contains(reply.Refused, unknown):
		return errors.New(reply.Refused)
	case reply.Refused != "":
		return fmt.Errorf("%w: %s", errTool, reply.Refused)
	}
	c.stale = slices.ContainsFunc(reply.Texts[1:], func(more string) bool { return strings.Contains(more, "out of date") })
	return json.Unmarshal([]byte(reply.Texts[0]), into)
}

// stream reads pushed notifications until the connection ends.
func (c *client) stream(ctx context.Context, lastID string, got func(id, alert string)) {
	c.Stream(ctx, lastID, func(id, data string) {
		var frame struct {
			Params struct {
				Alert string `json:"alert_id"`
			}
		}
		if json.Unmarshal([]byte(data), &frame) == nil {
			got(id, frame.Params.Alert)
		}
	})
}

// pageSize is the most that wick lists in one reply.
const pageSize = 500

// list reads a whole list, page by page. Pages overlap by overlap items: when an item
// leaves the list meanwhile, the others move up, and none may be missed. It stops when it has
// most of them.
func list[T any](c *client, tool string, arguments map[string]any, overlap, most int) ([]T, error) {
	var all []T
	seen := make(map[string]bool)
	for offset := 0; ; offset += pageSize - overlap {
		given := map[string]any{"limit": pageSize, "offset": offset}
		maps.Copy(given, arguments)
		var page []json.RawMessage
		if err := c.call(tool, given, &page); err != nil {
			return nil, err
		}
		for _, text := range page {
			var item T
			if err := json.Unmarshal(text, &item); err != nil {
				return nil, err
			}
			if !seen[string(text)] {
				all = append(all, item)
			}
			seen[string(text)] = overlap > 0
		}
		if len(page) < pageSize || len(all) >= most {
			return all, nil
		}
	}
}
