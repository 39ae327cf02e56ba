package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"unicode/utf8"

	"wick/internal/strictjson"
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

// notRead returns the refusal of a text that is not JSON.
func notRead(err error) *Error {
	return &Error{codeParse, "the message is " + strictjson.Fault(err).Error()}
}

// decodeBatch reads an array of messages. It decodes into a Go array of fixed length:
// encoding/json drops the elements that do not fit, so an array of a million zeros takes
// no more memory than one of maxBatch+1.
func decodeBatch(text []byte) ([]message, *Error) {
	if !utf8.Valid(text) { // members that do not fit are not looked at
		return nil, notRead(&strictjson.Error{Kind: strictjson.Encoding})
	}
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
	m.read = true
	err := strictjson.Unmarshal(text, &m.request, m.readNames)
	wrong, strict := errors.AsType[*strictjson.Error](err)
	switch {
	case strict && wrong.Kind != strictjson.Twice && wrong.Kind != strictjson.Case:
		return err
	case strict:
		m.refused = misread(wrong)
		if wrong.Name == "id" || wrong.Right == "id" {
			m.ID = nil // it is not certain
		}
	default:
		m.refused = m.check(err == nil)
	}
	if m.refused != nil && !legalID(m.ID) {
		m.ID = nil
	}
	return nil
}

// messageNames are the names that we read in a message. Of the call of a tool the arguments
// are left to the tool, which refuses them in words for a model.
var messageNames, callNames = func() (message, call strictjson.Names) {
	message, call = strictjson.NamesOf(reflect.TypeFor[request]()), strictjson.NamesOf(reflect.TypeFor[request]())
	call["params"]["arguments"] = strictjson.Skip
	return message, call
}()

// readNames returns the names that we read in m, which was decoded.
func (m *message) readNames() strictjson.Names {
	if m.Method == "tools/call" {
		return callNames
	}
	return messageNames
}

// misread returns the refusal of a message that other programs may read in another way than
// we do: because a name is there twice, or not in its right case.
func misread(e *strictjson.Error) *Error {
	name := strconv.Quote(limit.Clip(e.Name))
	if e.Kind == strictjson.Twice {
		return &Error{codeInvalidRequest, "the message has " + name + " twice in one object: nobody can know which one was meant"}
	}
	return &Error{codeInvalidRequest, "the message has " + name + " where " + strconv.Quote(e.Right) + " would be right: names are case-sensitive"}
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
	case max(len(m.Params.InputResponses.Value), len(m.Params.Notifications.Value.Resources)) > maxNamed:
		return invalid("a request may name at most " + strconv.Itoa(maxNamed) + " responses or resources")
	}
	return nil
}
