package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"wick/cluster"
	"wick/journal"
	"wick/trade"
)

// flags declares the flags of a cluster, which docs/cluster.md explains.
func (c *clusterConfig) flags(fs *flag.FlagSet) {
	fs.Var(&c.endpoints, "cluster", "`URL` of each etcd member that keeps the journal, separated by commas; without it the journal is in --data-dir")
	fs.StringVar(&c.file, "cluster-file", "", "`file` with the secret of the replicas and etcd's credentials; mode 0600")
	fs.StringVar(&c.store, "cluster-store", "main", "`name` of the store in etcd")
	fs.StringVar(&c.listen, "cluster-listen", "", "`address` and port to hear the other replicas on, such as 10.0.0.1:9317")
	fs.StringVar(&c.importDir, "import", "", "copy the store in this `directory` into etcd, and exit; --export DIR copies it back")
}

// clustered reports whether this process is one of several.
func (c *config) clustered() bool { return len(c.cluster.endpoints) > 0 }

// settleCluster checks the flags about several machines. With --cluster each of the
// replicas must know the same logins and the same orders, so what only one of them
// would know is refused: a broker's stream, questions to a person, logins in memory.
func (c *config) settleCluster() error {
	k := &c.cluster
	// Copying a store in or out serves nothing, and needs none of the serving flags.
	moves := k.importDir != "" || c.export != ""
	switch {
	case !c.clustered() && (k.file != "" || k.listen != "" || k.importDir != ""):
		return errors.New("--cluster-file, --cluster-listen and --import belong to --cluster")
	case !c.clustered():
		return nil
	case c.recover != recoverNo:
		return errors.New("--recover repairs a directory: with --cluster the journal is in etcd")
	case k.file == "":
		return errors.New("--cluster needs --cluster-file with the secret that the replicas share")
	case !moves && (!c.trade || c.mcp):
		return errors.New("--cluster belongs to --serve --trade: what it keeps is the account")
	case !moves && c.values["key-file"] == "":
		return errors.New("--cluster needs --key-file, the same at every replica: otherwise a login would be known to one of them alone")
	case !moves && k.listen == "":
		return errors.New("--cluster needs --cluster-listen, an address that the other replicas reach, such as 10.0.0.1:9317")
	case c.atBroker():
		return errors.New("--broker does not work with --cluster: the next leader would not know what the one before had under way at the broker")
	case c.confirmAbove >= 0 && c.values["confirm-above"] != "":
		return errors.New("--confirm-above does not work with --cluster: a question would be known to one replica alone")
	}
	host, _, err := net.SplitHostPort(k.listen)
	// The other replicas are told this address, so it must not be one such as 0.0.0.0.
	if ip := net.ParseIP(host); !moves && (err != nil || host == "" || ip != nil && ip.IsUnspecified()) {
		return fmt.Errorf("--cluster-listen %q is no address with a port that others reach, such as 10.0.0.1:9317", k.listen)
	}
	return nil
}

// maxCredentials bounds the file of --cluster-file, and each file that it names, in bytes.
const maxCredentials = 1 << 20

// node returns the node of the cluster that this process is, with the credentials of
// --cluster-file. The caller closes it.
func (c *config) node(log *slog.Logger) (*cluster.Node, error) {
	text, err := readPrivate(c.cluster.file, maxCredentials)
	if err != nil {
		return nil, fmt.Errorf("--cluster-file: %w", err)
	}
	keys, err := parseCredentials(text, filepath.Dir(c.cluster.file))
	if err != nil {
		return nil, fmt.Errorf("--cluster-file %s: %w", c.cluster.file, err)
	}
	n, err := cluster.New(cluster.Options{
		Endpoints: c.cluster.endpoints, Store: c.cluster.store, TLS: keys.TLS, User: keys.User, Password: keys.Password,
		Advertise: c.cluster.advertise, Secret: keys.Secret, Patience: patience, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	return n, nil
}

// patience is how long a write waits for a leader: a little longer than the lease of a
// leader that died, and shorter than clients wait for a call.
const patience = cluster.DefaultTTL + 3*time.Second

// moveStore copies a store from a directory into etcd, or from etcd into an empty
// directory, and says what it did.
func moveStore(ctx context.Context, c *config, out io.Writer) error {
	n, err := c.node(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer n.Close()
	// If the owner interrupts the program, closing the node ends whatever it waits for.
	defer context.AfterFunc(ctx, func() { n.Close() })()
	if c.export != "" {
		if err := trade.Give(n, c.export); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "the store %s is in %s, up to record %d\n", c.cluster.store, c.export, n.Status().Applied)
		return err
	}
	// The state goes to etcd as a snapshot after which the log begins. Import refuses a
	// store that is there already.
	store, seq, state, err := trade.Take(c.cluster.importDir)
	if err == nil {
		err = n.Import(ctx, journal.PointAfter(store, seq), state)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s is the store %s in etcd, up to record %d\n", c.cluster.importDir, c.cluster.store, seq)
	return err
}

// credentials is the content of --cluster-file.
type credentials struct {
	Secret         []byte // shared by the replicas
	User, Password string // of etcd
	TLS            *tls.Config
}

// parseCredentials reads lines of a name and a value: secret, user, password, and
// the names of the files ca, cert and key. A relative name is relative to dir, the
// directory of --cluster-file. Empty lines and those that begin with # are skipped.
func parseCredentials(text []byte, dir string) (c credentials, err error) {
	values := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case "secret", "user", "password", "ca", "cert", "key":
		default: // the line is not quoted, because it may be a secret without its name
			return c, fmt.Errorf("a line begins with none of secret, user, password, ca, cert, key")
		}
		if value = strings.TrimSpace(value); value == "" || values[name] != "" {
			return c, fmt.Errorf("%s has no value, or two", name)
		}
		values[name] = value
	}
	// Package cluster checks that there is a secret and that it is long enough.
	c.Secret, c.User, c.Password = []byte(values["secret"]), values["user"], values["password"]
	if (c.User == "") != (c.Password == "") {
		return c, fmt.Errorf("user and password belong together: one of them is missing")
	}
	c.TLS, err = readTLS(dir, values["ca"], values["cert"], values["key"])
	return c, err
}

// readTLS reads the certificates; without any it returns nil. The file ca says which etcd
// to trust, in place of the system's authorities; with cert and key this process proves
// to etcd who it is.
func readTLS(dir, ca, cert, key string) (*tls.Config, error) {
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := readRegular(beside(dir, ca), maxCredentials)
		if err != nil {
			return nil, err
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", beside(dir, ca))
		}
	}
	if (cert == "") != (key == "") {
		return nil, fmt.Errorf("cert and key belong together: one of them is missing")
	}
	if cert != "" {
		certText, err := readRegular(beside(dir, cert), maxCredentials)
		if err != nil {
			return nil, err
		}
		keyText, err := readRegular(beside(dir, key), maxCredentials)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(certText, keyText)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// beside returns the path of a file that is named in a file in dir: a relative name is
// relative to dir.
func beside(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
