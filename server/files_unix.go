//go:build unix

package server

import (
	"io/fs"
	"net"
	"syscall"
)

// maxFiles returns how many files and sockets the process may have open. The
// runtime has raised the soft limit to the hard one by now.
func maxFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewFiles
	}
	return int(min(uint64(limit.Cur), manyFiles))
}

// listenPrivate listens on a socket file that has the mode 0600 from its first moment, since
// the directory may be open to others. The mask is that of the process: files that are made
// meanwhile are private too.
func listenPrivate(name string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	return net.Listen("unix", name)
}

// ownerOf returns the user that a file belongs to.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
