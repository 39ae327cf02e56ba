package server

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals returns the signals that end the program: SIGINT, SIGTERM, and SIGHUP, which
// closing a terminal sends, unless the program was started to ignore that, as by nohup.
func Signals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// endAtOnce lets a signal end the process at once from now on, as it ends a program that
// asks for none. It is for tasks that leave nothing half done: they may wait for a disk, or
// for whoever reads what they write, and the end of a context does not end that.
func endAtOnce() { signal.Reset(Signals()...) }

// outliveReaders keeps the process alive when whoever reads its log has gone: a write to
// standard error, or to standard output, then fails and does not end it by SIGPIPE. It is
// for a process that others rely on. A command, such as wick audit before a pipe to head, is to
// end quietly instead.
func outliveReaders() { signal.Ignore(syscall.SIGPIPE) }
