//go:build !core

package server

import (
	"cmp"
	"errors"
	"time"

	"wick/notify"
	"wick/trade/live/alpaca"
)

// This file has the settings and commands of the rooms that a binary of go build -tags core
// does not have, see core.go.

// rooms returns the settings of those rooms in a part of --help, which they end.
func (c *config) rooms(title string) []Setting {
	switch title {
	case "Server":
		return []Setting{{Name: "no-app", Help: "do not serve the owner's page at /app", set: on(&c.noApp)}}
	case "Trading":
		return []Setting{
			{Name: "broker", Value: "where", Default: brokerPaper, Help: "where orders go: paper, alpaca-paper, or alpaca with real money; see docs/live.md", set: oneOf(&c.broker, brokerPaper, brokerAlpacaPaper, brokerAlpaca)},
			{Name: "broker-key-file", Value: "file", Help: "file with the keys of the broker's account; mode 0600", set: fromFile(readSecret, maxBrokerKeys, func(text []byte) (err error) { c.brokerKeys, err = alpaca.ParseKeys(string(text)); return err })},
			{Name: "broker-dead-man", Value: "duration", Help: "cancel wick's resting orders when the broker's stream is away for this long, a minute or more; default never", set: duration(&c.deadMan, time.Minute)},
		}
	case "State, messages and logs":
		return []Setting{
			{Shared: true, Name: "notify-file", Value: "file", Help: "file with destinations for messages to the owner, see docs/alerts.md; mode 0600", set: fromFile(readSecret, maxNotifyFile, func(text []byte) (err error) { c.destinations, err = notify.Parse(text); return err })},
			{Name: inCluster, Value: "file", Help: "file that makes this process one of several replicas, see docs/cluster.md; mode 0600", set: fromFile(readSecret, maxLines, func(text []byte) error { return c.setLines(inCluster, text) })},
		}
	case "Lines of --cluster-file":
		return []Setting{
			{Name: "etcd", Value: "URL", Help: "URL of each etcd member that keeps the journal, separated by commas", set: each(&c.cluster.Endpoints, asText)},
			{Name: "secret", Value: "text", Help: "what the replicas prove to each other that they are ours; the same at each", set: func(text string) error { c.cluster.Secret = []byte(text); return nil }},
			{Name: "listen", Value: "address", Help: "address and port to hear the other replicas on, such as 10.0.0.1:9317; $NAME is replaced by that variable of the environment", set: store(&c.cluster.listen)},
			{Name: "store", Value: "name", Default: "main", Help: "name of the store in etcd", set: store(&c.cluster.Store)},
			{Name: "user", Value: "name", Help: "user of etcd", set: store(&c.cluster.User)},
			{Name: "password", Value: "text", Help: "password of that user", set: store(&c.cluster.Password)},
			{Name: "ca", Value: "file", Help: "certificates that etcd's must be signed by; default those of the system", set: store(&c.cluster.ca)},
			{Name: "cert", Value: "file", Help: "certificate by which this process proves to etcd who it is", set: store(&c.cluster.cert)},
			{Name: "key", Value: "file", Help: "private key of that certificate", set: store(&c.cluster.key)},
		}
	}
	return nil
}

func roomCommands() []Command {
	return []Command{
		{"import", "DIR", "with --cluster-file: copy the store in a directory into etcd", "cluster-file", importStore},
		{"notify-test", "[NAME]", "send one message to every destination of --notify-file, or to one, and say what came back", "notify-file source symbols intervals", testNotify},
	}
}

// checkRooms finds what does not go together in those settings.
func (c *config) checkRooms(env func(string) string) error {
	if len(c.destinations) > 0 && !c.trade {
		return errors.New("--notify-file needs --trade: what waits to be sent is kept in its journal")
	}
	return cmp.Or(c.checkCluster(env), c.checkBroker(env))
}
