package indicators

import "encoding/json"

// raw reads a JSON object of overrides.
func raw(text string) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}
