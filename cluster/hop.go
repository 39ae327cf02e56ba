package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"wick/internal/journal"
	"wick/internal/limit"
)

// A follower passes writes to the leader over HTTP. Question and answer are sealed
// with AES-GCM under a key made from the secret that all replicas share: nobody
// else can read, make or change one. A question contains the process that it is for, and
// an answer is bound to its question. A header, the pass, announces the question: its
// time, its length and its digest, sealed too. It is checked before any of the question is
// read, and counts once: who has recorded a pass or a question can send neither again,
// nor hold memory with bodies that never come. The bytes that are read at the same time
// have a budget for all senders together.

// askPath is where a replica's Handler takes questions.
const askPath = "/ask"

const (
	maxQuestion = 4 << 20          // bytes of a question or an answer
	maxReading  = 16 << 20         // bytes of all questions that are read at the same time
	askTimeout  = 20 * time.Second // for the answer of the leader
)

// ask is a question to the leader.
type ask struct {
	To string          `json:"to"` // the id of the leader that is meant
	Op string          `json:"op"`
	In json.RawMessage `json:"in"`
}

// answer is what a replica sends back: the result, or why there is none.
type answer struct {
	Error  string          `json:"error,omitempty"`
	Follow bool            `json:"follow,omitempty"` // it was not done, because this replica does not lead
	Out    json.RawMessage `json:"out,omitempty"`
}

// ErrNoAnswer reports a question to the leader that was not answered. It may have been
// acted on or not.
var ErrNoAnswer = fmt.Errorf("%w: the leader did not answer; look, or try again", journal.ErrUnknown)

// ErrLeaderChanged reports a question whose leader led no more before it answered. Nothing
// that this leader has not written by then will be written: the log of the next one says
// whether the question was acted on.
var ErrLeaderChanged = fmt.Errorf("%w: the leader changed before it answered; look, or try again", journal.ErrUnknown)

// errRefused reports a leader that does not accept the questions of this replica. Its
// refusal alone is not sealed, for the two may have no secret in common: whoever can change
// what replicas send each other could make one up.
var errRefused = fmt.Errorf("nothing was done: the leader refuses this replica, for its secret is another, or the clocks differ by more than %s", maxSkew)

// errNoLeader reports that no replica leads at the moment.
var errNoLeader = errors.New("no replica leads at the moment: nothing was done; try again in a few seconds")

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
	case to.URL == "" && hurdle != nil:
		return fmt.Errorf("%w (%w)", errNoLeader, hurdle)
	case to.URL == "":
		return errNoLeader
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	// The question contains the id of the leader, so that nobody can send it to another.
	text, _ := json.Marshal(ask{to.ID, op, body}) // body was encoded above
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(changed, func() { cancel(ErrLeaderChanged) })()
	reply, err := n.exchange(ctx, to.URL, n.sealer.seal(text, aboutAsk))
	// If no connection was made, the question was not sent. After any other failure
	// nobody knows whether it was acted on.
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%w (%w)", errNoLeader, err)
	}
	n.noteRefusal(to, err)
	if errors.Is(err, errRefused) || errors.Is(err, errNoLeader) {
		return err
	}
	if err != nil && context.Cause(ctx) == ErrLeaderChanged {
		return ErrLeaderChanged
	}
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrNoAnswer, err)
	}
	switch {
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
		n.log.Warn("the leader refuses what this replica passes on", "leader", to.URL, "error", err)
	}
}

// exchange sends a sealed question and opens the answer.
func (n *Node) exchange(ctx context.Context, to string, sealed []byte) (reply answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to+askPath, bytes.NewReader(sealed))
	if err != nil {
		return reply, err
	}
	request.GetBody = nil // with it the transport may send a question again by itself
	request.Header.Set(passHeader, n.sealer.pass(sealed, time.Now()))
	response, err := hopClient.Do(request)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxQuestion))
	if err != nil {
		return reply, err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusForbidden:
		return reply, errRefused
	case http.StatusServiceUnavailable:
		return reply, fmt.Errorf("%w (the leader reads as much as it can at once)", errNoLeader)
	default:
		return reply, fmt.Errorf("status %d", response.StatusCode)
	}
	text, _, err := n.sealer.open(body, aboutAnswer(string(sealed[:n.sealer.aead.NonceSize()])))
	if err == nil {
		err = json.Unmarshal(text, &reply)
	}
	return reply, err
}

// hopClient is for questions to other replicas. It uses no proxy of the environment,
// because replicas are on the same network.
var hopClient = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Handler answers the questions of other replicas with what do returns. It calls do only
// while this replica leads. Do returns ErrNotLeader if it has done nothing because the
// replica is not ready to lead yet. A sender that does not know the secret gets a 403 and
// learns nothing.
func (n *Node) Handler(do func(ctx context.Context, op string, in json.RawMessage) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, nonce, status := n.question(r)
		if status != 0 {
			w.Header().Set("Connection", "close") // otherwise net/http reads the rest of the question
			http.Error(w, "not for you", status)
			return
		}
		reply := n.answer(r.Context(), q, do)
		text, _ := json.Marshal(reply)                   // its Out was encoded by answer
		w.Write(n.sealer.seal(text, aboutAnswer(nonce))) // an error means that the sender is gone
	})
}

// question reads the question of another replica. It returns the status of its refusal for
// any other request, and while too much is being read.
func (n *Node) question(r *http.Request) (q ask, nonce string, refused int) {
	if r.Method != http.MethodPost || r.URL.Path != askPath {
		return q, "", http.StatusForbidden
	}
	size, sum, ok := n.sealer.admit(r.Header.Get(passHeader))
	if !ok || size != r.ContentLength || size > maxQuestion {
		return q, "", http.StatusForbidden
	}
	if n.reading.Add(size) > maxReading {
		n.reading.Add(-size)
		return q, "", http.StatusServiceUnavailable
	}
	defer n.reading.Add(-size)
	sealed := make([]byte, size)
	if _, err := io.ReadFull(r.Body, sealed); err != nil || sha256.Sum256(sealed) != sum {
		return q, "", http.StatusForbidden
	}
	text, nonce, err := n.sealer.open(sealed, aboutAsk)
	if err != nil || json.Unmarshal(text, &q) != nil {
		return q, "", http.StatusForbidden
	}
	return q, nonce, 0
}

// errNotMeant answers a question to a leader that had this address before.
var errNotMeant = fmt.Errorf("%w: the one that was asked has gone", ErrNotLeader)

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
	if reply.Follow = err != nil; err == nil {
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
