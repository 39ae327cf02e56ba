// Package etcdtest has the parts of etcd's JSON gateway that package cluster uses, in
// memory, for tests on machines that have no etcd. It keeps revisions and leases as etcd
// does, and loses requests and answers on demand. The tests in
// test/e2e/cluster do the same with a real etcd.
package etcdtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Fault is what happens to a request.
type Fault int

// The faults that a request may meet.
const (
	None       Fault = iota
	LoseBefore       // the connection ends, and nothing is done
	LoseAfter        // it is done, and the connection ends before the answer
	Refuse           // 503, as a member answers that has lost the others
	Full             // what would write is refused, as when etcd's alarm NOSPACE is on
	Filled           // it is done and answered like Full, as the write is that sets off the alarm
)

// Server is a gateway with its store.
type Server struct {
	URL string

	mu       sync.Mutex
	fault    func(path string) Fault // guarded by mu, like all below
	revision int64
	keys     map[string]value
	leases   map[int64]*lease
	least    time.Duration // how long a lease lasts at least
	user     string
	password string
	requests int
	logins   int64 // which tokens are good
	old      int64 // and which were good before the users changed
	asked    int   // how many logins there were
}

type value struct {
	data         []byte
	created, mod int64
	version      int64
	lease        int64
}

type lease struct {
	ttl   time.Duration
	until time.Time
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{revision: 1, keys: map[string]value{}, leases: map[int64]*lease{}}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s.URL = web.URL
	return s
}

// Lengthen makes every lease that is granted from now on last at least so long, as etcd
// itself may. It is for tests in which each leader gives its lease back: a leader that
// the processor does not run for some seconds then still leads.
func (s *Server) Lengthen(least time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.least = least
}

// SetFault makes the function fault decide what happens to each request; nil means that
// there are no faults.
func (s *Server) SetFault(fault func(path string) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// SetUser makes the server require a user, and ends all tokens.
func (s *Server) SetUser(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.password = user, password
	s.logins++
}

// ChangeUsers makes all tokens belong to an earlier state of the users, as any change of
// users or roles does in etcd.
func (s *Server) ChangeUsers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = s.logins
	s.logins++
}

// Logins returns how many logins there were.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// lock returns what etcd answers to a request without a good token; "" to others.
// A request that does not say what it accepts is taken for one of the gateway
// itself, whose certificate is no user's. Called with mu held.
func (s *Server) lock(r *http.Request) (status, code int, why string) {
	token := r.Header.Get("Authorization")
	switch {
	case s.user == "" || r.URL.Path == "/v3/auth/authenticate" || token == s.user+text(s.logins):
		return 0, 0, ""
	case r.Header.Get("Accept") == "":
		return http.StatusForbidden, 7, "etcdserver: permission denied"
	case token == "":
		return http.StatusBadRequest, 3, "etcdserver: user name is empty"
	case s.old != 0 && token == s.user+text(s.old):
		return http.StatusBadRequest, 3, "etcdserver: revision of auth store is old"
	}
	return http.StatusUnauthorized, 16, "etcdserver: invalid auth token"
}

// Requests returns how many requests have come.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// ExpireLeases ends all leases, as time does.
func (s *Server) ExpireLeases() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.leases {
		s.drop(id)
	}
}

// Keys returns the keys, sorted.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.keys))
}

// Get returns the value of a key, or nil.
func (s *Server) Get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[key].data
}

// Put sets a key without a request of a client; nil deletes it.
func (s *Server) Put(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	if data == nil {
		delete(s.keys, key)
	} else {
		s.put(key, data, 0)
	}
}

// ServeHTTP answers as the gateway does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	fault := None
	if s.fault != nil {
		fault = s.fault(r.URL.Path)
	}
	status, code, why := s.lock(r)
	s.mu.Unlock()
	switch {
	case fault == LoseBefore:
		panic(http.ErrAbortHandler)
	case fault == Refuse:
		refuse(w, http.StatusServiceUnavailable, 14, "etcdserver: no leader")
		return
	case why != "":
		refuse(w, status, code, why)
		return
	}
	reply, status := s.do(r, fault == Full)
	switch fault {
	case LoseAfter:
		panic(http.ErrAbortHandler)
	case Filled:
		status = http.StatusTooManyRequests
	}
	switch {
	case status == http.StatusOK:
		json.NewEncoder(w).Encode(reply) // the client may be gone
	case r.URL.Path == "/v3/auth/authenticate":
		refuse(w, status, 3, "etcdserver: authentication failed, invalid user ID or password")
	case status == http.StatusTooManyRequests:
		refuse(w, status, 8, "etcdserver: mvcc: database space exceeded")
	default:
		refuse(w, status, 3, "etcdserver: refused")
	}
}

func refuse(w http.ResponseWriter, status, code int, text string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": text, "message": text, "code": code})
}

// do runs a request that has one answer; if full, only one that writes nothing.
func (s *Server) do(r *http.Request, full bool) (any, int) {
	var in struct {
		TTL            int64 `json:",string"`
		ID             string
		Name, Password string
		txn
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, http.StatusBadRequest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	puts := func(o operation) bool { return o.Put != nil }
	if full && (r.URL.Path == "/v3/lease/grant" || slices.ContainsFunc(in.Success, puts) || slices.ContainsFunc(in.Failure, puts)) {
		return nil, http.StatusTooManyRequests
	}
	id, _ := strconv.ParseInt(in.ID, 10, 64) // 0 is no lease
	switch r.URL.Path {
	case "/v3/auth/authenticate":
		if in.Name != s.user || in.Password != s.password {
			return nil, http.StatusBadRequest
		}
		s.asked++
		return map[string]string{"token": s.user + text(s.logins)}, http.StatusOK
	case "/v3/kv/txn":
		return s.txn(in.txn)
	case "/v3/kv/compaction":
		return map[string]any{"header": s.header()}, http.StatusOK
	case "/v3/lease/grant":
		id := int64(len(s.leases)) + s.revision<<20 + int64(s.requests)
		ttl := max(time.Duration(in.TTL)*time.Second, s.least)
		s.leases[id] = &lease{ttl, time.Now().Add(ttl)}
		return map[string]any{"ID": text(id), "TTL": text(int64(ttl / time.Second))}, http.StatusOK
	case "/v3/lease/keepalive":
		l := s.leases[id]
		if l == nil {
			return map[string]any{"result": map[string]any{"ID": in.ID}}, http.StatusOK
		}
		l.until = time.Now().Add(l.ttl)
		return map[string]any{"result": map[string]any{"ID": in.ID, "TTL": text(int64(l.ttl / time.Second))}}, http.StatusOK
	case "/v3/lease/revoke":
		s.drop(id)
		return map[string]any{"header": s.header()}, http.StatusOK
	}
	return nil, http.StatusNotFound
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

func (s *Server) header() map[string]string { return map[string]string{"revision": text(s.revision)} }

// expire ends the leases whose time is over. Called with mu held.
func (s *Server) expire() {
	now := time.Now()
	for id, l := range s.leases {
		if now.After(l.until) {
			s.drop(id)
		}
	}
}

// drop ends a lease with its keys. Called with mu held.
func (s *Server) drop(id int64) {
	delete(s.leases, id)
	for key, v := range s.keys {
		if id != 0 && v.lease == id {
			s.revision++
			delete(s.keys, key)
		}
	}
}

func (s *Server) put(key string, data []byte, lease int64) {
	v := s.keys[key]
	if v.version == 0 {
		v.created = s.revision
	}
	s.keys[key] = value{data, v.created, s.revision, v.version + 1, lease}
}

type txn struct {
	Compare []struct {
		Key      []byte
		Target   string
		Revision string `json:"mod_revision"`
		Version  string `json:"version"`
	}
	Success, Failure []operation
}

type operation struct {
	Put *struct {
		Key, Value []byte
		Lease      string
	} `json:"request_put"`
	Range *struct {
		Key   []byte
		End   []byte `json:"range_end"`
		Limit string
	} `json:"request_range"`
	Delete *struct {
		Key []byte
		End []byte `json:"range_end"`
	} `json:"request_delete_range"`
}

// txn runs a transaction. Called with mu held.
func (s *Server) txn(t txn) (any, int) {
	succeeded := true
	for _, c := range t.Compare {
		v := s.keys[string(c.Key)]
		switch c.Target {
		case "MOD":
			succeeded = succeeded && text(v.mod) == c.Revision
		case "VERSION":
			succeeded = succeeded && (text(v.version) == c.Version || v.version == 0 && c.Version == "")
		default:
			return nil, http.StatusBadRequest
		}
	}
	operations := t.Failure
	if succeeded {
		operations = t.Success
	}
	for _, o := range operations {
		if o.Put != nil && o.Put.Lease != "" {
			if id, err := strconv.ParseInt(o.Put.Lease, 10, 64); err != nil || s.leases[id] == nil {
				return nil, http.StatusNotFound
			}
		}
	}
	responses := s.run(operations)
	reply := map[string]any{"header": s.header(), "responses": responses}
	if succeeded {
		reply["succeeded"] = true
	}
	return reply, http.StatusOK
}

// run does the operations of a transaction, all under one revision.
func (s *Server) run(operations []operation) []any {
	responses := []any{}
	writes := slices.ContainsFunc(operations, func(o operation) bool { return o.Put != nil || o.Delete != nil })
	if writes {
		s.revision++
	}
	for _, o := range operations {
		switch {
		case o.Put != nil:
			id, _ := strconv.ParseInt(o.Put.Lease, 10, 64)
			s.put(string(o.Put.Key), o.Put.Value, id)
			responses = append(responses, map[string]any{"response_put": map[string]any{}})
		case o.Delete != nil:
			for _, key := range s.between(o.Delete.Key, o.Delete.End) {
				delete(s.keys, key)
			}
			responses = append(responses, map[string]any{"response_delete_range": map[string]any{}})
		case o.Range != nil:
			most, _ := strconv.Atoi(o.Range.Limit)
			responses = append(responses, map[string]any{"response_range": map[string]any{"kvs": s.find(o.Range.Key, o.Range.End, most)}})
		}
	}
	if writes {
	}
	return responses
}

// between returns the keys of a range, sorted.
func (s *Server) between(from, end []byte) (keys []string) {
	for key := range s.keys {
		if key == string(from) || end != nil && key >= string(from) && key < string(end) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (s *Server) find(from, end []byte, most int) []any {
	found := []any{}
	for _, key := range s.between(from, end) {
		if most > 0 && len(found) == most {
			break
		}
		v := s.keys[key]
		found = append(found, map[string]any{"key": []byte(key), "value": v.data, "create_revision": text(v.created), "mod_revision": text(v.mod), "version": text(v.version)})
	}
	return found
}
