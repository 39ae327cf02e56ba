package journal

import (
	"log/slog"
	"os"
)

// warnOfOwner does nothing: on Windows a mode does not say who may change a directory.
func warnOfOwner(string, *slog.Logger) {}

// keepOwner does nothing: on Windows a new file has the permissions of its directory.
func keepOwner(_, _ *os.File) {}

// ownerOf returns nothing.
func ownerOf(string) string { return "" }
