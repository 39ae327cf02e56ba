package tools

import (
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// panicked is the error of a goroutine that panicked: with what, and its stack.
type panicked string

func (p panicked) Error() string { return string(p) }

// beside wraps f, which runs in a goroutine beside the one that handles a call. A panic
// in such a goroutine would end the process. Instead it becomes an error, and wait raises
// it again in the goroutine of the call, where a panic fails only the call.
func beside(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = panicked(fmt.Sprintf("%v\n%s", v, debug.Stack()))
			}
		}()
		return f()
	}
}

// wait waits until all goroutines of a call have ended and returns the first error. It
// panics if that error is a panic of the goroutine.
func wait(g *errgroup.Group) error {
	err := g.Wait()
	if p, ok := errors.AsType[panicked](err); ok {
		panic(p)
	}
	return err
}
