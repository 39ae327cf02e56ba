package journal

import "log/slog"

// warnOfOwner does nothing: on Windows a mode does not say who may change a directory.
func warnOfOwner(string, *slog.Logger) {}

// ownerOf returns nothing.
func ownerOf(string) string { return "" }
