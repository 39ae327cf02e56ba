//go:build !core

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"wick/cluster"
	"wick/internal/journal"
	"wick/trade"
)

// clusterConfig is what the lines of --cluster-file say, which docs/cluster.md explains.
// Without members of etcd this is a process by itself. Advertise is where the others reach
// listen.
type clusterConfig struct {
	cluster.Options
	listen, ca, cert, key string
}

// clusterSettings is the setting that names the file, and clusterLines are the lines of it.
func (c *config) clusterSettings() []Setting {
	return []Setting{
		{Name: inCluster, Value: "file", Help: "file that makes this process one of several replicas, see docs/cluster.md; mode 0600", set: fromFile(readSecret, maxLines, func(text []byte) error { return c.setLines(inCluster, text) })},
	}
}

func (c *config) clusterLines() []Setting {
	return group("Lines of --cluster-file", inCluster,
		Setting{Name: "etcd", Value: "URL", Help: "URL of each etcd member that keeps the journal, separated by commas", set: each(&c.cluster.Endpoints, asText)},
		Setting{Name: "secret", Value: "text", Help: "what the replicas prove to each other that they are ours; the same at each", set: func(text string) error { c.cluster.Secret = []byte(text); return nil }},
		Setting{Name: "listen", Value: "address", Help: "address and port to hear the other replicas on, such as 10.0.0.1:9317; $NAME is replaced by that variable of the environment", set: store(&c.cluster.listen)},
		Setting{Name: "store", Value: "name", Default: "main", Help: "name of the store in etcd", set: store(&c.cluster.Store)},
		Setting{Name: "user", Value: "name", Help: "user of etcd", set: store(&c.cluster.User)},
		Setting{Name: "password", Value: "text", Help: "password of that user", set: store(&c.cluster.Password)},
		Setting{Name: "ca", Value: "file", Help: "certificates that etcd's must be signed by; default those of the system", set: store(&c.cluster.ca)},
		Setting{Name: "cert", Value: "file", Help: "certificate by which this process proves to etcd who it is", set: store(&c.cluster.cert)},
		Setting{Name: "key", Value: "file", Help: "private key of that certificate", set: store(&c.cluster.key)})
}

// clusterCommands are the commands of a store in etcd.
func clusterCommands() []Command {
	return []Command{{"import", "DIR", "with --cluster-file: copy the store in a directory into etcd", "cluster-file", importStore}}
}

// clustered reports whether this process is one of several.
func (c *config) clustered() bool { return c.values["--"+inCluster] != "" }

// checkCluster finds what does not go with several replicas. Each of them must know the same
// logins and the same orders, so what only one of them would know is refused: a broker's
// stream, questions to a person, logins in memory.
func (c *config) checkCluster(env func(string) string) error {
	if !c.clustered() {
		return nil
	}
	c.cluster.listen = os.Expand(c.cluster.listen, env)
	host, _, err := net.SplitHostPort(c.cluster.listen)
	ip := net.ParseIP(host)
	switch {
	case c.recover:
		return errors.New("--recover repairs a directory: with --cluster-file the journal is in etcd")
	case !c.trade || c.mcp:
		return errors.New("--cluster-file belongs to --serve --trade: what it keeps is the account")
	case len(c.login.Keys) == 0:
		return errors.New("--cluster-file needs --key-file, the same at every replica: otherwise a login would be known to one of them alone")
	case c.atBroker():
		return errors.New("--broker does not work with --cluster-file: the next leader would not know what the one before had under way at the broker")
	case c.asking.Above >= 0:
		return errors.New("--confirm-above does not work with --cluster-file: a question would be known to one replica alone")
	// The other replicas are told this address, so it must not be one such as 0.0.0.0.
	case err != nil || host == "" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("--cluster-file: listen %q is no address with a port that the other replicas reach, such as 10.0.0.1:9317", c.cluster.listen)
	}
	return nil
}

// maxCredentials bounds each file that --cluster-file names, in bytes.
const maxCredentials = 1 << 20

// node returns the node of the cluster that this process is. The caller closes it. Package
// cluster checks that there are members of etcd and a secret that is long enough.
func (c *config) node(log *slog.Logger) (n *cluster.Node, err error) {
	o := c.cluster.Options
	o.Patience, o.Log = patience, log
	if (o.User == "") != (o.Password == "") {
		return nil, errors.New("--cluster-file: user and password belong together: one of them is missing")
	}
	if o.TLS, err = readTLS(filepath.Dir(c.values["--"+inCluster]), c.cluster.ca, c.cluster.cert, c.cluster.key); err == nil {
		n, err = cluster.New(o)
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster-file: %w", err)
	}
	return n, nil
}

// patience is how long a write waits for a leader: a little longer than the lease of a
// leader that died, and shorter than clients wait for a call.
const patience = cluster.DefaultTTL + 3*time.Second

// exportStore copies the store from etcd into an empty directory.
func exportStore(ctx context.Context, t *task) error {
	return t.atStore(ctx, func(n *cluster.Node) error {
		if err := trade.Give(n, t.words[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(t.shown, "the store %s is in %s, up to record %d\n", t.cluster.Store, t.words[0], n.Status().Applied)
		return err
	})
}

// importStore copies the store in a directory into etcd, as a snapshot after which the log
// begins. It refuses a store that is there already.
func importStore(ctx context.Context, t *task) error {
	if !t.clustered() {
		return errors.New("import needs --cluster-file")
	}
	return t.atStore(ctx, func(n *cluster.Node) error {
		store, seq, state, err := trade.Take(t.words[0])
		if err == nil {
			err = n.Import(ctx, journal.PointAfter(store, seq), state)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.shown, "%s is the store %s in etcd, up to record %d\n", t.words[0], t.cluster.Store, seq)
		return err
	})
}

// atStore calls do with the store in etcd. If the owner interrupts the program, closing the
// node ends whatever it waits for.
func (t *task) atStore(ctx context.Context, do func(n *cluster.Node) error) error {
	n, err := t.node(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer n.Close()
	defer context.AfterFunc(ctx, func() { n.Close() })()
	return do(n)
}

// readTLS reads the certificates; without any it returns nil. The file ca says which etcd
// to trust, in place of the system's authorities; with cert and key this process proves
// to etcd who it is.
func readTLS(dir, ca, cert, key string) (*tls.Config, error) {
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	path := func(name string) string { // a relative one is relative to the file that names it
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	if ca != "" {
		text, err := readOpen(path(ca), maxCredentials)
		if err != nil {
			return nil, err
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", path(ca))
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("cert and key belong together: one of them is missing")
	}
	if cert == "" {
		return config, nil
	}
	certText, err := readOpen(path(cert), maxCredentials)
	if err != nil {
		return nil, err
	}
	keyText, err := readSecret(path(key), maxCredentials)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	config.Certificates = []tls.Certificate{pair}
	return config, err
}
