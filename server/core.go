//go:build core

package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"wick/market"
	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
)

// This file stands for the rooms that a binary of go build -tags core does not have: brokers,
// messages, replicas and the page. Their settings and commands do not exist in it.

type (
	brokerConfig  struct{}
	messageConfig struct{}
	clusterConfig struct{}
)

func (c *config) rooms(title string) []Setting               { return nil }
func (c *config) checkRooms(env func(string) string) error   { return nil }
func roomCommands() []Command                                { return nil }
func (c *config) resolveNotified(source market.Source) error { return nil }

func (c *config) atBroker() bool  { return false }
func (c *config) realMoney() bool { return false }
func (c *config) clustered() bool { return false }
func (c *config) hasPage() bool   { return false }

func openVenue(*config, *slog.Logger) (book.Opener, error)                        { return nil, nil }
func (e *app) openMessages(*trade.Options)                                        {}
func (e *app) openReplica(*trade.Options) error                                   { return nil }
func exportStore(context.Context, *task) error                                    { return errors.ErrUnsupported }
func (e *app) pageRoutes(*http.ServeMux, func(*http.Request) (mcp.Caller, error)) {}
func withChat(tools []mcp.Tool, resources []mcp.Resource) ([]mcp.Tool, []mcp.Resource) {
	return tools, resources
}

const pagePath, ownerPath = "", ""
