package tools

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"wick/indicators"
	"wick/mcp"
)

//go:embed guide.md
var guidePage string

// guide is the page with the language of rules at its end.
var guide = []byte(guidePage + "\n## The language of rules\n\n- " + strings.ReplaceAll(indicators.Language, "\n", "\n- ") + "\n")

// guideResource is what a model should know before it reads a chart of ours.
func (h *handlers) guideResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://guide", Name: "guide", Title: "How to read wick",
		Description: "How to read wick's charts and numbers, which tool answers which question, and what its paper trading does and does not do.",
		MIME:        "text/markdown", Cost: mcp.Cheap, Fresh: time.Hour, Public: true,
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) { return r.Text(guide), nil },
	}
}
