package server

import (
	"encoding/json"
	"net/http"
)

// readiness is what GET /readyz answers. Strangers can read it: it says how this process
// is, and nothing about what its owner does. The last three members are about the cluster
// and absent without one.
type readiness struct {
	Ready  bool    `json:"ready"`
	Reason string  `json:"reason,omitempty"` // why not
	Role   string  `json:"role"`             // single, leader, follower or deposed
	Leader *bool   `json:"leader_known,omitempty"`
	Lag    *uint64 `json:"lag_records,omitempty"`
	Etcd   *bool   `json:"etcd_reachable,omitempty"`
}

// maxLag is how many records a replica may be behind and still be ready.
const maxLag = 10_000

// ready says whether this process should get requests. It should even if no majority of
// etcd answers, because charts and reads still work. If strict is set it should not then:
// that is for monitoring that wakes people.
func (e *app) ready(strict bool) readiness {
	r := readiness{Ready: true, Role: "single"}
	if e.replica == nil {
		return r
	}
	s := e.replica.node.Status()
	known, lag, reachable := s.Leader != "", s.Lag(), s.Reachable()
	r.Leader, r.Lag, r.Etcd = &known, &lag, &reachable
	reason, _ := e.trade.Broken()
	switch {
	case e.replica.leads():
		r.Role = "leader"
	// A replica that has led cannot follow again: it ends. Until etcd answers it stays
	// ready, because it can still answer reads.
	case reason != nil:
		r.Role, r.Ready, r.Reason = "deposed", !reachable, "this replica has led and ends as soon as etcd answers"
	default:
		r.Role = "follower"
	}
	switch {
	case reachable && lag > maxLag:
		r.Ready, r.Reason = false, "this replica is far behind"
	case strict && !reachable && r.Role == "deposed":
		r.Ready = false // for the reason above: that etcd was not heard of for a while is no news of etcd
	case strict && !reachable:
		r.Ready, r.Reason = false, "no majority of etcd answers: nothing can be written"
	case strict && !known:
		r.Ready, r.Reason = false, "no replica leads"
	case strict && r.Ready && s.Refused:
		r.Ready, r.Reason = false, "the leader refuses this replica: its secret is another, or the clocks differ"
	}
	return r
}

// probes answers the questions of load balancers before anything else looks at the
// request: they ask by address, not by the site's name. GET /healthz says that the
// process answers, GET /readyz whether it should get requests, and GET
// /readyz?strict whether all is well.
func (e *app) probes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			next.ServeHTTP(w, r)
			return
		}
		doc := e.ready(r.URL.RawQuery == "strict")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/readyz" && !doc.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		json.NewEncoder(w).Encode(doc) // the balancer is there to read it, or gone
	})
}
