package tools

import (
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// panicked is the error of a goroutine of a call that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// beside returns f for a goroutine beside that of a call. A panic there would end the
// process, and is returned as an error instead, for wait to raise it where a panic fails the
// call alone.
func beside(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &panicked{v, debug.Stack()}
			}
		}()
		return f()
	}
}

// wait returns when all goroutines of a call have ended, with the first error of one. It
// panics if that one did.
func wait(g *errgroup.Group) error {
	err := g.Wait()
	if p := (*panicked)(nil); errors.As(err, &p) {
		panic(p)
	}
	return err
}
