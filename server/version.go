package server

import (
	"runtime"
	"runtime/debug"
)

// version is the release this tree leads to. A build from a tagged module says
// its own.
const version = "0.1.0"

// buildVersion returns the version of this binary, from what the toolchain
// recorded in it where it recorded any.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}

// versionLine returns what --version prints.
func versionLine() string {
	return "wick " + buildVersion() + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
