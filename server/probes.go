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

// ready says whether this process should get requests.
func (e *app) ready(strict bool) readiness {
	if e.replica == nil {
		return readiness{Ready: true, Role: "single"}
	}
	return e.replica.ready(e, strict)
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
