//go:build !core

package conversations

// tags are those that the binary under test is built with.
const tags = ""
