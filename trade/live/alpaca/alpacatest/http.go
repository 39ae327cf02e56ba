package alpacatest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/exact"
)

// What is on the wire, as Alpaca's documents have it.
type (
	wire struct {
		ID             string    `json:"id"`
		ClientOrderID  string    `json:"client_order_id"`
		CreatedAt      time.Time `json:"created_at"`
		UpdatedAt      time.Time `json:"updated_at"`
		SubmittedAt    time.Time `json:"submitted_at"`
		ReplacedBy     *string   `json:"replaced_by"`
		Replaces       *string   `json:"replaces"`
		Symbol         string    `json:"symbol"`
		AssetClass     string    `json:"asset_class"`
		OrderClass     string    `json:"order_class"`
		Type           string    `json:"type"`
		Side           string    `json:"side"`
		TimeInForce    string    `json:"time_in_force"`
		Status         string    `json:"status"`
		Notional       *string   `json:"notional"`
		Qty            string    `json:"qty"`
		FilledQty      string    `json:"filled_qty"`
		FilledAvgPrice *string   `json:"filled_avg_price"`
		LimitPrice     *string   `json:"limit_price"`
		StopPrice      *string   `json:"stop_price"`
		TrailPrice     *string   `json:"trail_price"`
		TrailPercent   *string   `json:"trail_percent"`
		Legs           []wire    `json:"legs"`
	}
	request struct {
		Symbol        string `json:"symbol"`
		Qty           string `json:"qty"`
		Side          string `json:"side"`
		Type          string `json:"type"`
		TimeInForce   string `json:"time_in_force"`
		LimitPrice    string `json:"limit_price"`
		StopPrice     string `json:"stop_price"`
		TrailPrice    string `json:"trail_price"`
		TrailPercent  string `json:"trail_percent"`
		Trail         string `json:"trail"`
		ClientOrderID string `json:"client_order_id"`
		OrderClass    string `json:"order_class"`
		TakeProfit    *struct {
			LimitPrice string `json:"limit_price"`
		} `json:"take_profit"`
		StopLoss *struct {
			StopPrice  string `json:"stop_price"`
			LimitPrice string `json:"limit_price"`
		} `json:"stop_loss"`
	}
	activity struct {
		ID              string    `json:"id"`
		ActivityType    string    `json:"activity_type"`
		TransactionTime time.Time `json:"transaction_time"`
		Type            string    `json:"type"`
		Price           string    `json:"price"`
		Qty             string    `json:"qty"`
		Side            string    `json:"side"`
		Symbol          string    `json:"symbol"`
		LeavesQty       string    `json:"leaves_qty"`
		CumQty          string    `json:"cum_qty"`
		OrderID         string    `json:"order_id"`
		OrderStatus     string    `json:"order_status"`
	}
	update struct {
		At          time.Time `json:"at"`
		Event       string    `json:"event"`
		EventID     string    `json:"event_id"`
		ExecutionID string    `json:"execution_id"`
		Order       wire      `json:"order"`
		Price       *string   `json:"price,omitempty"`
		Qty         *string   `json:"qty,omitempty"`
		Timestamp   time.Time `json:"timestamp"`
	}
)

// minuteLimit is how many requests Alpaca takes within a minute.
const minuteLimit = 200

// ServeHTTP answers one request, as well as its fault lets it.
func (v *Venue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var f Fault
	v.mu.Lock()
	faults := v.Faults
	v.mu.Unlock()
	if faults != nil {
		f = faults(r)
	}
	if f.Lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Request-ID", newID())
	w.Header().Set("Content-Type", "application/json")
	switch left := v.count(); {
	case left < 0:
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10))
		say(w, http.StatusTooManyRequests, "too many requests.")
		return
	case r.Header.Get("APCA-API-KEY-ID") != v.Keys[0] || r.Header.Get("APCA-API-SECRET-KEY") != v.Keys[1]:
		say(w, http.StatusUnauthorized, "unauthorized.")
		return
	case f.HTML:
		io.WriteString(w, "<html><body>We will be back soon.</body></html>")
		return
	case f.Status != 0:
		say(w, f.Status, "internal error occurred")
		return
	case r.URL.Path == "/v2/events/trades":
		v.stream(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if f.Late > 0 {
		clone := r.Clone(r.Context())
		time.AfterFunc(f.Late, func() { v.act(clone, body) })
		panic(http.ErrAbortHandler)
	}
	status, answer := v.act(r, body)
	if f.Done != nil {
		f.Done()
	}
	if f.Unread {
		panic(http.ErrAbortHandler)
	}
	if text, ok := answer.(string); ok {
		say(w, status, text)
		return
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		json.NewEncoder(w).Encode(answer)
	}
}

// count counts a request and returns how many are left in this minute.
func (v *Venue) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.asked = append(slices.DeleteFunc(v.asked, func(t time.Time) bool { return now.Sub(t) >= time.Minute }), now)
	v.busiest = max(v.busiest, len(v.asked))
	return cmp.Or(v.Minute, minuteLimit) - len(v.asked)
}

// say answers in the way in which Alpaca says no.
func say(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"code": status * 100_000, "message": text})
}

// act carries out a request and returns its answer; a text is a refusal.
func (v *Venue) act(r *http.Request, body []byte) (int, any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	then := time.Now().Add(-v.Lag)
	id, one := strings.CutPrefix(r.URL.Path, "/v2/orders/")
	switch at := r.Method + " " + r.URL.Path; {
	case at == "GET /v2/account":
		return http.StatusOK, v.account()
	case at == "GET /v2/positions":
		return http.StatusOK, v.positions(then)
	case at == "GET /v2/clock":
		return http.StatusOK, v.clock()
	case strings.HasPrefix(at, "GET /v2/assets/"):
		return asset(strings.TrimPrefix(r.URL.Path, "/v2/assets/"))
	case at == "GET /v2/orders":
		return http.StatusOK, v.list(then)
	case at == "GET /v2/orders:by_client_order_id":
		return seen(v.byClient(r.URL.Query().Get("client_order_id")), then, false)
	case at == "POST /v2/orders":
		var q request
		if json.Unmarshal(body, &q) != nil {
			return http.StatusUnprocessableEntity, "bad request"
		}
		o, status, why := v.place(q)
		if o == nil {
			return status, why
		}
		return http.StatusOK, o.nested()
	case at == "DELETE /v2/orders":
		return http.StatusMultiStatus, v.cancelAll()
	case one && r.Method == http.MethodGet:
		return seen(v.byID(id), then, true)
	case one && r.Method == http.MethodDelete:
		return v.cancel(v.byID(id))
	case one && r.Method == http.MethodPatch:
		return v.replace(v.byID(id), body)
	}
	return http.StatusNotFound, "endpoint not found."
}

// nested returns an order with its legs.
func (o *order) nested() wire {
	w := o.wire
	for _, l := range o.legs {
		w.Legs = append(w.Legs, l.wire)
	}
	return w
}

// as returns an order as it was at a time, with its legs.
func (o *order) as(at time.Time) (w wire, ok bool) {
	for _, k := range o.versions {
		if !k.at.After(at) {
			w, ok = k.wire, true
		}
	}
	for _, l := range o.legs {
		if leg, there := l.as(at); there {
			w.Legs = append(w.Legs, leg)
		}
	}
	return w, ok
}

func seen(o *order, at time.Time, nested bool) (int, any) {
	if o == nil {
		return http.StatusNotFound, "order not found"
	}
	w, ok := o.as(at)
	if !ok {
		return http.StatusNotFound, "order not found"
	}
	if !nested {
		w.Legs = nil
	}
	return http.StatusOK, w
}

// list returns the orders that were open at a time, legs below their parents.
func (v *Venue) list(at time.Time) []wire {
	out := []wire{}
	for _, o := range v.orders {
		w, ok := o.as(at)
		if ok && o.parent == nil && (!final(w.Status) || slices.ContainsFunc(w.Legs, func(l wire) bool { return !final(l.Status) })) {
			out = append(out, w)
		}
	}
	return out
}

func (v *Venue) cancelAll() []map[string]any {
	out := []map[string]any{}
	for _, o := range v.orders {
		switch {
		case final(o.Status):
		case v.Stuck:
			out = append(out, map[string]any{"id": o.ID, "status": 500})
		default:
			v.end(o, "canceled")
			out = append(out, map[string]any{"id": o.ID, "status": 200})
		}
	}
	return out
}

func (v *Venue) cancel(o *order) (int, any) {
	switch {
	case o == nil:
		return http.StatusNotFound, "order not found"
	case v.Stuck:
		return http.StatusUnprocessableEntity, "order is not cancelable"
	case final(o.Status):
		return http.StatusUnprocessableEntity, "order is already in \"" + o.Status + "\" state"
	}
	v.end(o, "canceled")
	return http.StatusNoContent, nil
}

// replace puts a new order in the place of one.
func (v *Venue) replace(o *order, body []byte) (int, any) {
	var q request
	if o == nil {
		return http.StatusNotFound, "order not found"
	}
	if json.Unmarshal(body, &q) != nil || final(o.Status) || v.filled(o) > 0 || v.byClient(q.ClientOrderID) != nil {
		return http.StatusUnprocessableEntity, "order is not open"
	}
	q.Symbol, q.Side, q.Type, q.OrderClass = o.Symbol, o.Side, o.Type, o.OrderClass
	quantity, err := exact.Parse([]byte(q.Qty))
	if err != nil {
		return http.StatusUnprocessableEntity, "bad qty"
	}
	n := v.add(q, quantity)
	n.Replaces, o.ReplacedBy, n.parent, n.legs = &o.ID, &n.ID, o.parent, o.legs
	if o.parent != nil {
		for i, l := range o.parent.legs {
			if l == o {
				o.parent.legs[i] = n
			}
		}
	}
	o.Status, o.legs, o.parent = "replaced", nil, nil
	v.tell(o, "replaced", nil)
	v.tell(n, "new", nil)
	return http.StatusOK, n.nested()
}

func (v *Venue) account() map[string]any {
	equity, last := 100_000*exact.One, 100_000*exact.One
	if v.accounts != nil {
		equity, last = v.accounts()
	}
	return map[string]any{
		"id": "904837e3-3b76-47ec-b432-046db621571b", "account_number": v.Number, "status": cmp.Or(v.Status, "ACTIVE"), "currency": "USD", "cash": "100000", "buying_power": "100000.123456789",
		"equity": equity.String(), "last_equity": last.String(), "trading_blocked": false, "account_blocked": false, "trade_suspended_by_user": false,
	}
}

func (v *Venue) positions(at time.Time) []map[string]any {
	symbols := []string{}
	for _, f := range v.fills {
		symbols = append(symbols, f.key)
	}
	for s := range v.adjust {
		symbols = append(symbols, s)
	}
	slices.Sort(symbols)
	out := []map[string]any{}
	for _, s := range slices.Compact(symbols) {
		q := v.position(s, at)
		side := "long"
		if q < 0 {
			side = "short"
		}
		if q != 0 {
			out = append(out, map[string]any{
				"symbol": s, "asset_class": "us_equity", "side": side, "qty": q.String(), "avg_entry_price": v.priceOf(s).String(),
				"market_value": exact.Product(q, v.priceOf(s)).String(), "unrealized_pl": "0", "cost_basis": "0",
			})
		}
	}
	return out
}

// clock returns the exchange's: it closes in an hour, and opens then too, unless Closes and
// Opens say otherwise.
func (v *Venue) clock() map[string]any {
	now, opens, closes := time.Now(), v.Opens, v.Closes
	if opens.IsZero() {
		opens = now.Add(time.Hour)
	}
	if closes.IsZero() {
		closes = now.Add(time.Hour)
	}
	return map[string]any{"timestamp": now, "is_open": !v.Closed, "next_open": opens, "next_close": closes}
}

// asset returns the rules of a symbol: one with a slash is a coin, a long one an
// option, NONE and those with a dash are not there, HALF is not sold in parts, HARD
// cannot be borrowed.
func asset(symbol string) (int, any) {
	class := "us_equity"
	if strings.Contains(symbol, "/") || strings.HasSuffix(symbol, "USD") {
		class = "crypto"
	}
	if len(symbol) > 12 {
		class = "us_option"
	}
	if symbol == "NONE" || strings.Contains(symbol, "-") || symbol == "BTC.USD" {
		return http.StatusNotFound, "asset not found for " + symbol
	}
	return http.StatusOK, map[string]any{
		"id": newID(), "class": class, "exchange": "NASDAQ", "symbol": symbol, "name": symbol, "status": "active", "tradable": symbol != "GONE",
		"marginable": true, "shortable": symbol != "HARD", "easy_to_borrow": symbol != "HARD", "fractionable": symbol != "HALF",
	}
}
