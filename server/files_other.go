//go:build !unix

package server

// maxFiles returns how many files and sockets the process may have open. There
// is no limit to ask for.
func maxFiles() int { return manyFiles }
