package guarded

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificates are files in a directory: ca.pem, and by it server and client
// certificates; other.pem, which is another's; and a pair for etcd's tokens.
type certificates struct {
	dir    string
	client *http.Client // with client.pem
}

func (c *certificates) path(name string) string { return filepath.Join(c.dir, name) }

func newCertificates(t *testing.T, dir string) *certificates {
	t.Helper()
	c := &certificates{dir: dir}
	ca, caKey := c.issue(t, "ca", pkix.Name{CommonName: "ca"}, nil, nil)
	c.issue(t, "other", pkix.Name{CommonName: "other"}, nil, nil)
	c.issue(t, "server", pkix.Name{Organization: []string{"etcd"}}, ca, caKey)
	c.issue(t, "client", pkix.Name{Organization: []string{"wick"}}, ca, caKey) // with a CommonName the gateway refuses it
	c.issue(t, "named", pkix.Name{CommonName: "wick"}, ca, caKey)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, "jwt.key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
	c.write(t, "jwt.pub", "PUBLIC KEY", public)
	pair, err := tls.LoadX509KeyPair(c.path("client.pem"), c.path("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	c.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}}
	return c
}

// issue makes a certificate by a parent, or an authority without one.
func (c *certificates) issue(t *testing.T, name string, subject pkix.Name, parent *x509.Certificate, by crypto.Signer) (*x509.Certificate, crypto.Signer) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, name+".pem", "CERTIFICATE", der)
	c.write(t, name+".key", "PRIVATE KEY", private)
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func (c *certificates) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(c.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
