//go:build unix

package server

import "syscall"

// maxFiles returns how many files and sockets the process may have open. The
// runtime has raised the soft limit to the hard one by now.
func maxFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewFiles
	}
	return int(min(uint64(limit.Cur), manyFiles))
}
