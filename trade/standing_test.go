package trade

import (
	"context"
	"testing"
	"time"

	"wick/market"
)

// stuck is a source that never answers for one interval.
type stuck struct {
	flat
	interval market.Interval
}

func (s stuck) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if q.Interval == s.interval {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.flat.Bars(ctx, q)
}

// TestStandingOfSlowSource: an alert is set before anyone looks how the market
// stands to it. A source that hangs then takes the look away, not the reply.
func TestStandingOfSlowSource(t *testing.T) {
	source := &stuck{flat: 100}
	inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
		a, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > close@1d","signal":"becomes_true"}}`, "")
		if err != nil {
			t.Fatal(err)
		}
		if e.Standing(t.Context(), a) == nil {
			t.Error("a source that answers: nothing is known")
		}
		source.interval = market.Day1
		asked := time.Now()
		if now := e.Standing(t.Context(), a); now != nil || time.Since(asked) != standingTimeout {
			t.Errorf("a source that hangs: %+v after %s", now, time.Since(asked))
		}
	})
}
