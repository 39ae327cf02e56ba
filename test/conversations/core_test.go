//go:build core

package conversations

// tags are those that the binary under test is built with: go test -tags core.
const tags = "core"
