package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/limit"
)

// maxBatch is how many messages a batch may hold.
const maxBatch = 20

// decode reads a line or a body: one message, or a batch of 1 to maxBatch messages.
// If refused is not nil, all of text is refused; batch is correct even then. The
// messages are copies: the caller may reuse text.
func decode(text []byte) (msgs []message, batch bool, refused *Error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	switch {
	case !utf8.Valid(text):
		return nil, false, &Error{codeParse, "the message is not valid UTF-8"}
	case len(text) == 0:
		return nil, false, &Error{codeParse, "the message is empty: send one JSON-RPC message or an array of them"}
	case text[0] == '[':
		msgs, refused := decodeBatch(text)
		return msgs, true, refused
	}
	msgs = make([]message, 1)
	if err := msgs[0].UnmarshalJSON(text); err != nil {
		return nil, false, notRead(err)
	}
	return msgs, false, nil
}

// notRead returns the refusal of a text that encoding/json could not read. It does not read
// more than 10000 levels, which has no error of its own; what is nested deeper may be valid JSON.
func notRead(err error) *Error {
	if strings.HasSuffix(err.Error(), "exceeded max depth") {
		return &Error{codeParse, "the message is nested too deeply: at most 10000 objects and arrays may be inside one another"}
	}
	return &Error{codeParse, "the message is not valid JSON"}
}

// decodeBatch reads an array of messages. It decodes into a Go array of fixed length:
// encoding/json drops the elements that do not fit, so an array of a million zeros takes
// no more memory than one of maxBatch+1.
func decodeBatch(text []byte) ([]message, *Error) {
	var members [maxBatch + 1]message
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, notRead(err)
	}
	// UnmarshalJSON sets read, so the first member without it is past the end of the batch.
	n := 0
	for n < len(members) && members[n].read {
		n++
	}
	switch n {
	case 0:
		return nil, &Error{codeInvalidRequest, "the batch is empty: an array holds at least one message"}
	case maxBatch + 1:
		return nil, &Error{codeInvalidRequest, "a batch holds at most " + strconv.Itoa(maxBatch) + " messages"}
	}
	for i := range members[:n] {
		switch m := &members[i]; {
		case m.refused != nil:
		case m.Method == "initialize":
			m.refused = &Error{codeInvalidRequest, "initialize must not be part of a batch"}
		case m.modern():
			m.refused = &Error{codeInvalidRequest, modernVersion + " has no batches: send one message at a time"}
		}
	}
	return members[:n], nil
}

// UnmarshalJSON reads one message. If text is JSON but not a message, m.refused says
// why; an error means that text is not JSON.
func (m *message) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, &m.request)
	wrong, typed := (*json.UnmarshalTypeError)(nil), true
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if wrong != nil {
		m.odd, m.unclear = wrong.Field == "params", unclear(text)
		typed = strings.HasPrefix(wrong.Field, "params") // inside params a value of the wrong type is only left empty
	}
	m.read = true
	if m.refused = m.check(typed); m.refused == nil {
		m.refused = m.misread(text)
	}
	if m.refused != nil && !legalID(m.ID) {
		m.ID = nil
	}
	return nil
}

// unclear reports whether a message has inputResponses or a requestState of a wrong type. Of
// several such values in a message encoding/json names the first only, so text is read again.
func unclear(text []byte) bool {
	var m struct {
		Params struct {
			Responses json.RawMessage `json:"inputResponses"`
			State     json.RawMessage `json:"requestState"`
		} `json:"params"`
	}
	_ = json.Unmarshal(text, &m) // what else is wrong with it has been found
	p := m.Params
	return p.Responses != nil && json.Unmarshal(p.Responses, new(map[string]Response)) != nil || p.State != nil && json.Unmarshal(p.State, new(string)) != nil
}

// misread returns an error if other programs may read the text of m in another way than
// encoding/json does: because a name is there twice, or not in its right case. It returns
// nil if all read the same. If the name is "id", m.ID is set to nil, since it is not
// certain.
func (m *message) misread(text []byte) (refused *Error) {
	twice, miscased, right := misnamed(text, messageShape, m.Method == "tools/call")
	if twice != nil {
		right = string(plain(twice))
		refused = &Error{codeInvalidRequest, "the message has " + strconv.Quote(limit.Clip(string(twice))) + " twice in one object: nobody can know which one was meant"}
	} else if miscased != nil {
		refused = &Error{codeInvalidRequest, "the message has " + strconv.Quote(limit.Clip(string(miscased))) + " where " + strconv.Quote(right) + " would be right: names are case-sensitive"}
	}
	if right == "id" {
		m.ID = nil
	}
	return refused
}

// check returns why m is not a JSON-RPC message, or nil if it is one. typed says whether
// the members outside params have the right types.
func (m *message) check(typed bool) *Error {
	invalid := func(why string) *Error { return &Error{codeInvalidRequest, why} }
	switch {
	case m.Version != "2.0":
		return invalid(`not a JSON-RPC message: an object with "jsonrpc":"2.0" was expected`)
	case !typed:
		return invalid("not a JSON-RPC message: method must be a string")
	case m.Method == "" && m.Result == nil && m.Error == nil:
		return invalid("not a JSON-RPC message: it has no method")
	case m.isResponse():
		return nil // the rules below are for requests; a response may have any id
	case idSize(m.ID) > maxID:
		return invalid("the id of a request may have at most " + strconv.Itoa(maxID) + " bytes")
	case m.ID != nil && !legalID(m.ID):
		return invalid("the id of a request must be a string or an integer")
	case max(len(m.Params.InputResponses), len(m.Params.Notifications.Resources)) > maxNamed:
		return invalid("a request may name at most " + strconv.Itoa(maxNamed) + " responses or resources")
	}
	return nil
}
