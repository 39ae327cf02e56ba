package tools

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"wick/limit"
)

// args are the arguments of a call by name. They are read tolerantly where
// models slip: a number as a string, null for absent, one string for an array.
// Arguments that nobody reads are ignored.
type args map[string]json.RawMessage

// parseArgs reads an object; none, or null, is an empty one.
func parseArgs(raw json.RawMessage) (args, error) {
	var a args
	if len(raw) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: send {} or an object with named arguments")
	}
	return a, nil
}

// raw returns the first of names that was given and is not null.
func (a args) raw(names ...string) (json.RawMessage, bool) {
	for _, name := range names {
		if v, ok := a[name]; ok && string(v) != "null" {
			return v, true
		}
	}
	return nil, false
}

// text returns the first of names as a string, without surrounding blanks; ""
// when none was given. A number is taken for its digits.
func (a args) text(names ...string) (string, error) {
	v, ok := a.raw(names...)
	if !ok {
		return "", nil
	}
	if v[0] == '"' {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return "", fmt.Errorf("%s is not a string", names[0])
		}
		return strings.TrimSpace(s), nil
	}
	if v[0] == '{' || v[0] == '[' {
		return "", fmt.Errorf("%s must be a string, not %s", names[0], limit.Clip(string(v)))
	}
	return string(v), nil
}

// required is text, refusing an empty one.
func (a args) required(names ...string) (string, error) {
	s, err := a.text(names...)
	if err == nil && s == "" {
		err = fmt.Errorf("%s is required", names[0])
	}
	return s, err
}

// choice returns an argument that is one of a few words in any case, def when
// it is absent.
func (a args) choice(name, def string, words ...string) (string, error) {
	s, err := a.text(name)
	if err != nil || s == "" {
		return def, err
	}
	for _, w := range words {
		if strings.EqualFold(s, w) {
			return w, nil
		}
	}
	return "", fmt.Errorf("%s %q is not one of %s", name, limit.Clip(s), strings.Join(words, ", "))
}

// int returns a whole number within bounds, def when it is absent.
func (a args) int(name string, def, lo, hi int) (int, error) {
	s, err := a.text(name)
	if err != nil || s == "" {
		return def, err
	}
	f, err := strconv.ParseFloat(s, 64) // 200.0 is a whole number too
	if err != nil || f != float64(int64(f)) {
		return 0, fmt.Errorf("%s %q is not a whole number from %d to %d", name, limit.Clip(s), lo, hi)
	}
	if f < float64(lo) || f > float64(hi) {
		return 0, fmt.Errorf("%s %s is out of bounds, %d to %d", name, limit.Clip(s), lo, hi)
	}
	return int(f), nil
}

// bool returns a switch, false when it is absent.
func (a args) bool(name string) (bool, error) {
	s, err := a.choice(name, "false", "true", "false", "1", "0", "yes", "no")
	return s == "true" || s == "1" || s == "yes", err
}

// list returns an array. One string stands for an array: its parts between
// commas, or the array that it spells; a single object for an array of one.
func (a args) list(names ...string) ([]json.RawMessage, error) {
	v, ok := a.raw(names...)
	if !ok {
		return nil, nil
	}
	switch v[0] {
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return nil, fmt.Errorf("%s is not a list", names[0])
		}
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "[") {
			v = json.RawMessage(s)
			break
		}
		var items []json.RawMessage
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				items = append(items, quote(part))
			}
		}
		return items, nil
	case '{':
		return []json.RawMessage{v}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(v, &items); err != nil {
		return nil, fmt.Errorf("%s must be an array, not %s", names[0], limit.Clip(string(v)))
	}
	return items, nil
}

// texts is list with every item a string.
func (a args) texts(names ...string) ([]string, error) {
	items, err := a.list(names...)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		var s string
		if err := json.Unmarshal(item, &s); err != nil {
			return nil, fmt.Errorf("%s must hold strings, not %s", names[0], limit.Clip(string(item)))
		}
		out = append(out, strings.TrimSpace(s))
	}
	return out, nil
}

func quote(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic("tools: " + err.Error()) // strings always marshal
	}
	return b
}
