package cluster

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"time"

	"wick/internal/address"
	"wick/internal/journal"
	"wick/internal/limit"
)

// A follower passes writes to the leader over HTTP, inside TLS 1.3 in which each side proves
// that it knows the secret of the replicas: both have the same private key, which is made from
// it, and take no other. So nobody else can read, make, change or repeat a question or its
// answer, and of a stranger nothing but the handshake is read.

// askPath is where a replica takes questions.
const askPath = "/ask"

const (
	minSecret   = 32               // bytes of the secret, at least
	maxSkew     = 30 * time.Second // how far apart the clocks of two replicas may be
	maxQuestion = 4 << 20          // bytes of a question or an answer
	maxReading  = 16 << 20         // bytes of all questions that are read at the same time
	askTimeout  = 20 * time.Second // for the answer of the leader
)

// ask is a question to the leader.
type ask struct {
	To string          `json:"to"` // the id of the leader that is meant
	At time.Time       `json:"at"` // when it is sent, by the clock of the replica that asks
	Op string          `json:"op"`
	In json.RawMessage `json:"in"`
}

// answer is what a replica sends back: the result, or why there is none.
type answer struct {
	Error  string          `json:"error,omitempty"`
	Follow bool            `json:"follow,omitempty"` // it was not done, because this replica does not lead
	Refuse bool            `json:"refuse,omitempty"` // it was not done, because this replica takes nothing from the one that asks
	Out    json.RawMessage `json:"out,omitempty"`
}

// ErrNoAnswer reports a question to the leader that was not answered. It may have been
// acted on or not.
var ErrNoAnswer = fmt.Errorf("%w: the leader did not answer; look, or try again", journal.ErrUnknown)

// ErrLeaderChanged reports a question whose leader led no more before it answered. Nothing
// that this leader has not written by then will be written: the log of the next one says
// whether the question was acted on.
var ErrLeaderChanged = fmt.Errorf("%w: the leader changed before it answered; look, or try again", journal.ErrUnknown)

// errRefused reports a leader that does not accept the questions of this replica.
var errRefused = errors.New("nothing was done: the leader refuses this replica")

// errOtherSecret ends a handshake with somebody who does not have our secret.
var errOtherSecret = fmt.Errorf("%w: its secret is a different one", errRefused)

// errNoLeader reports that no replica leads at the moment.
var errNoLeader = errors.New("no replica leads at the moment: nothing was done; try again in a few seconds")

// replicaTLS returns how replicas with a secret speak to each other, on either side.
func replicaTLS(secret []byte) (*tls.Config, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the secret of the replicas has %d bytes: at least %d, such as openssl rand -hex 32 prints", len(secret), minSecret)
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, "wick replicas", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	ours := key.Public().(ed25519.PublicKey)
	// Only the key in it counts: nobody asks for a name, a time or who signed it.
	text := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(nil, text, text, ours, key)
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection is the check, at both ends
		SessionTicketsDisabled: true, // a connection is used for long, so every one is checked whole
		VerifyConnection: func(s tls.ConnectionState) error {
			if !ours.Equal(s.PeerCertificates[0].PublicKey) { // the handshake has proved that the peer has the private key
				return errOtherSecret
			}
			return nil
		},
	}, err
}

// Listener returns ln wrapped in TLS that only replicas with our secret can speak.
func (n *Node) Listener(ln net.Listener) net.Listener { return tls.NewListener(ln, n.tls) }

// Ask has the leader do op with in, and decodes its answer into out. While there is no
// leader it waits for one, for at most Options.Patience.
func (n *Node) Ask(ctx context.Context, op string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for deadline := time.Now().Add(n.options.Patience); ; n.rest(ctx, retryPause) {
		err := n.askOnce(ctx, op, in, out)
		if !errors.Is(err, errNoLeader) || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
	}
}

// askOnce asks the leader that is known now. An error that wraps errNoLeader says
// that nothing was done.
func (n *Node) askOnce(ctx context.Context, op string, in, out any) error {
	n.mu.Lock()
	to, hurdle, changed := n.leader, n.hurdle, n.changed
	n.mu.Unlock()
	switch {
	case to.Address == "" && hurdle != nil:
		return fmt.Errorf("%w (%w)", errNoLeader, hurdle)
	case to.Address == "":
		return errNoLeader
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	// The question names the leader that is meant, so that the next one at its address does nothing.
	text, _ := json.Marshal(ask{to.ID, time.Now(), op, body}) // body was encoded above
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(changed, func() { cancel(ErrLeaderChanged) })()
	reply, err := n.exchange(ctx, to.Address, text)
	if err == nil && reply.Refuse {
		err = fmt.Errorf("%w: %s", errRefused, limit.Clip(reply.Error))
	}
	n.noteRefusal(to, err)
	// If no connection was made, the question was not sent. After any other failure
	// nobody knows whether it was acted on.
	switch dial := (*net.OpError)(nil); {
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%w (%w)", errNoLeader, err)
	case errors.Is(err, errOtherSecret):
		return errOtherSecret
	case errors.Is(err, errRefused), errors.Is(err, errNoLeader):
		return err
	case err != nil && context.Cause(ctx) == ErrLeaderChanged:
		return ErrLeaderChanged
	case err != nil:
		return fmt.Errorf("%w (%w)", ErrNoAnswer, err)
	case reply.Follow:
		return fmt.Errorf("%w (%s)", errNoLeader, limit.Clip(reply.Error))
	case reply.Error != "":
		return errors.New(reply.Error)
	case out == nil:
		return nil
	}
	return json.Unmarshal(reply.Out, out)
}

// noteRefusal notes for Status whether the leader refuses this replica, given the error of
// a question to it, and logs it when that begins.
func (n *Node) noteRefusal(to leader, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil:
		n.refused = ""
	case errors.Is(err, errRefused) && n.refused != to.ID:
		n.refused = to.ID
		n.log.Warn("the leader refuses what this replica passes on", "leader", to.Address, "error", err)
	}
}

// exchange sends a question and reads the answer.
func (n *Node) exchange(ctx context.Context, to string, question []byte) (reply answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+to+askPath, bytes.NewReader(question))
	if err != nil {
		return reply, err
	}
	request.GetBody = nil // with it the transport may send a question again by itself
	response, err := n.client.Do(request)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		return reply, fmt.Errorf("%w (the leader reads as much as it can at once)", errNoLeader)
	default:
		return reply, fmt.Errorf("status %d", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxQuestion))
	if err == nil {
		err = json.Unmarshal(text, &reply)
	}
	return reply, err
}

// newClient returns the client for questions to other replicas. It uses no proxy of the
// environment, because replicas are on the same network.
func newClient(config *tls.Config) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
		CheckRedirect: address.Stay,
	}
}

// Handler answers the questions of other replicas, which come through Listener, with what do
// returns. It calls do only while this replica leads. If the replica is not ready to lead yet, do
// does nothing and returns ErrNotLeader.
func (n *Node) Handler(do func(ctx context.Context, op string, in json.RawMessage) (any, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+askPath, func(w http.ResponseWriter, r *http.Request) {
		var q ask
		size, refused := r.ContentLength, http.StatusBadRequest
		defer n.reading.Add(-size)
		switch all := n.reading.Add(size); {
		case size < 0 || size > maxQuestion:
			refused = http.StatusRequestEntityTooLarge
		case all > maxReading:
			refused = http.StatusServiceUnavailable
		case json.NewDecoder(r.Body).Decode(&q) == nil:
			json.NewEncoder(w).Encode(n.answer(r.Context(), q, do)) // an error means that the sender is gone
			return
		}
		w.Header().Set("Connection", "close") // otherwise net/http reads the rest of the question
		http.Error(w, http.StatusText(refused), refused)
	})
	return mux
}

// errNotMeant answers a question to a leader that had this address before.
var errNotMeant = fmt.Errorf("%w: the one that was asked has gone", ErrNotLeader)

// errSkew answers a question of a replica if its clock or ours is wrong.
var errSkew = fmt.Errorf("the clocks differ by more than %s", maxSkew)

// answer calls do and returns its answer, if this replica leads and is the one that was
// asked.
func (n *Node) answer(ctx context.Context, q ask, do func(ctx context.Context, op string, in json.RawMessage) (any, error)) (reply answer) {
	var out any
	// If this replica does not lead or was not meant, it does nothing and says so. The
	// sender may then ask another one.
	err := n.Check()
	if err == nil && q.To != n.id {
		err = errNotMeant
	}
	switch {
	case err != nil:
		reply.Follow = true
	case time.Since(q.At).Abs() > maxSkew:
		reply.Refuse, err = true, errSkew
	default:
		out, err = do(ctx, q.Op, q.In)
		reply.Follow = errors.Is(err, ErrNotLeader)
	}
	if err == nil {
		reply.Out, err = json.Marshal(out)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	return reply
}
