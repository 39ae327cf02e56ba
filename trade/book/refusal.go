package book

import (
	"errors"
	"fmt"
)

// Retry says whether asking again can help.
type Retry string

const (
	FixIt Retry = "fix the request" // the same request will be refused again
	Later Retry = "retry later"     // the same request may pass later
	Never Retry = "do not retry"    // nothing will change the answer
)

// Refusal is why a request was not carried out. Nothing was changed.
type Refusal struct {
	Code  Code   // stable, for programs: "max_order_notional"
	Text  string // for people and models: the limit and what would be right
	Retry Retry
}

// Error returns all three parts in one line.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s (%s)", r.Code, r.Text, r.Retry) }

// IsRefusal reports whether err is a refusal with this code.
func IsRefusal(err error, code Code) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}

// Refuse builds a Refusal from a format, as fmt.Sprintf does. Whether asking again can help
// is in the table of codes.
func Refuse(code Code, format string, args ...any) *Refusal {
	return Codes[code].Retry.Refuse(code, format, args...)
}

// Refuse is like the function, for a case in which something else can help than the table
// says of the code.
func (r Retry) Refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...), Retry: r}
}

// Refusing returns err, with which an order was refused when the market was at q. If q is
// invented and the refusal quotes it, its text says so, as every payload does.
func (q Quote) Refusing(err error) error {
	var r *Refusal
	if !q.Synthetic || !errors.As(err, &r) || !Codes[r.Code].priced {
		return err
	}
	return r.Retry.Refuse(r.Code, "%s; the data is invented", r.Text)
}

// Grows ends a refusal of an order because it does not shrink a position. Alone the order
// may do so: the open orders of its side are counted with it.
const Grows = "this one, with the open orders of its side, opens or grows one"
