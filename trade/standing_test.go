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

// TestStandingOfSlowSource: an alert is set before it is found out how the market stands
// to it. If the source hangs then, the reply comes without that.
func TestStandingOfSlowSource(t *testing.T) {
	source := &stuck{flat: 100}
	inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
		a, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > close@1d","signal":"becomes_true"}}`, "")
		if err != nil {
			t.Fatal(err)
		}
		if e.Standing(t.Context(), a) == nil {
			t.Error("with a source that answers Standing returned nil")
		}
		source.interval = market.Day1
		asked := time.Now()
		if now := e.Standing(t.Context(), a); now != nil || time.Since(asked) != 2*time.Second {
			t.Errorf("with a source that hangs Standing returned %+v after %s, want nil after %s", now, time.Since(asked), 2*time.Second)
		}
	})
}
