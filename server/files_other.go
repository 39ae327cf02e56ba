//go:build !unix

package server

import (
	"io/fs"
	"net"
)

// maxFiles returns how many files and sockets the process may have open. There
// is no limit to ask for.
func maxFiles() int { return manyFiles }

// listenPrivate listens on a socket file, which has the permissions of its directory.
func listenPrivate(name string) (net.Listener, error) { return net.Listen("unix", name) }

// ownerOf returns nobody.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }
