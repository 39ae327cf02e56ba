package server

import "runtime/debug"

// version is the next release of this source tree. A build from a tagged module has the
// version of its tag instead.
const version = "0.1.0"

// buildVersion returns the version of this binary: the one that the toolchain recorded in
// it, or, if it recorded none, the constant version.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}
