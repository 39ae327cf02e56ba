package modeltest

// request makes up an order of any kind.
func (s *scene) request() request {
	symbol := s.symbols[s.rand.IntN(len(s.symbols))]
	market := s.places[symbol].price
	r := request{symbol: symbol, side: 1 - 2*s.rand.IntN(2), qty: s.quantity()}
	r.kind = []string{"market", "limit", "limit", "limit", "stop", "stop_limit", "trailing_stop"}[s.rand.IntN(7)]
	switch r.kind {
	case "limit":
		r.price = s.near(market, -r.side)
		if s.rand.IntN(6) == 0 {
			r.price = s.near(market, r.side)
		}
		if s.rand.IntN(8) == 0 {
			r.post = true
		}
		if s.rand.IntN(4) == 0 {
			r.ocoStop = s.near(market, r.side)
			if s.rand.IntN(3) == 0 {
				r.ocoPrice = s.near(r.ocoStop, r.side)
			}
		}
	case "stop":
		r.stop = s.near(market, r.side)
	case "stop_limit":
		r.stop = s.near(market, r.side)
		r.price = s.near(r.stop, 1-2*s.rand.IntN(2))
	case "trailing_stop":
		r.trail = ceil(price(int64(1+s.rand.IntN(400))), s.tick)
		if s.rand.IntN(2) == 0 {
			r.trail, r.trailPercent = nil, price(int64(1+s.rand.IntN(400)))
		}
	}
	if s.rand.IntN(3) == 0 && r.ocoStop == nil {
		entry := s.book.ownPrice(r)
		if r.trail == nil && r.trailPercent == nil {
			r.loss, r.profit = s.exit(entry, -r.side), s.exit(entry, r.side)
			if s.rand.IntN(3) == 0 {
				r.profit = nil
			}
		}
	}
	s.howLong(&r)
	if s.rand.IntN(8) == 0 && r.loss == nil && r.profit == nil {
		r.reduce = true
	}
	r.mayOpen = s.rand.IntN(4) == 0
	r.tag = []string{"", "", "breakout", "fade"}[s.rand.IntN(4)]
	switch s.rand.IntN(24) {
	case 0:
		r.qty, r.notional = nil, whole(int64(1+s.rand.IntN(5000)))
	case 1:
		if r.ocoStop == nil && r.loss == nil && r.profit == nil {
			r.qty, r.all = nil, true
		}
	case 2, 3:
		s.amend(&r)
	case 4, 5:
		if r.ocoStop == nil && !r.reduce {
			r.qty, r.share, r.mayOpen = nil, whole(int64(1+s.rand.IntN(100))), r.mayOpen && s.rand.IntN(8) == 0
		}
	case 6, 7:
		if r.loss != nil {
			r.qty, r.risk = nil, price(int64(1+s.rand.IntN(5000)))
			if s.rand.IntN(2) == 0 {
				r.risk, r.riskPercent = nil, price(int64(1+s.rand.IntN(300)))
			}
		}
	case 8, 9:
		if held := s.places[symbol].held.qty; held.Sign() != 0 && r.ocoStop == nil {
			r = request{symbol: symbol, side: -held.Sign(), kind: "stop", all: true, even: true}
		}
	case 10, 11, 12:
		s.change(&r)
	}
	if s.rand.IntN(5) == 0 && r.replaces == "" && !r.even && s.feed.ready(symbol) {
		r.unsized = r.qty == nil
		s.rule(&r)
	}
	return r
}

// change makes a request one that names, of an open order, only what is to change.
func (s *scene) change(r *request) {
	open := s.waiting(r.symbol)
	if len(open) == 0 {
		return
	}
	o := open[s.rand.IntN(len(open))]
	market := s.places[r.symbol].price
	*r = request{symbol: r.symbol, replaces: o.id}
	switch s.rand.IntN(6) {
	case 0, 1:
		r.qty = s.quantity()
	case 2:
		r.share = whole(int64(1 + s.rand.IntN(100)))
	case 3:
		r.loss = s.exit(market, -o.side)
	default:
		switch {
		case o.kind == "limit" || o.triggered:
			r.price = s.near(market, -o.side)
		case o.kind == "trailing_stop":
			r.trailPercent = price(int64(1 + s.rand.IntN(400)))
		case s.rand.IntN(3) == 0:
			r.even = true
		default:
			r.stop = s.near(market, o.side)
		}
	}
}

// amend lets a request replace an open order. Half of the time it becomes the same order
// in another size, or, for an order of a group, another order of the same size.
func (s *scene) amend(r *request) {
	open := s.waiting(r.symbol)
	if len(open) == 0 {
		return
	}
	o := open[s.rand.IntN(len(open))]
	r.replaces = o.id
	if s.rand.IntN(2) == 0 && o.group == "" && o.loss == nil && o.profit == nil {
		qty := r.qty
		*r = o.request
		if qty != nil {
			r.qty = qty
		}
		r.notional, r.all = nil, false
		r.replaces = o.id
	} else if o.group != "" && s.rand.IntN(2) == 0 && r.side == o.side {
		r.qty, r.notional, r.all, r.ocoStop, r.ocoPrice, r.loss, r.profit = o.qty, nil, false, nil, nil, nil, nil
	}
}

// howLong gives a request a time in force.
func (s *scene) howLong(r *request) {
	switch s.rand.IntN(12) {
	case 0:
		r.tif = "day"
	case 1:
		if r.kind == "market" || r.kind == "limit" && !r.post && r.ocoStop == nil {
			r.tif = []string{"ioc", "fok"}[s.rand.IntN(2)]
		}
	case 2:
		r.tif, r.expires = "gtd", (s.now/60000+1+s.rand.Int64N(5))*60000
	}
}

// quantity is a random one, with few or many digits.
func (s *scene) quantity() num {
	switch s.rand.IntN(3) {
	case 0:
		return whole(int64(1 + s.rand.IntN(5)))
	case 1:
		return div(whole(int64(1+s.rand.IntN(900))), whole(100))
	}
	qty := mul(whole(1+s.rand.Int64N(500000000)), unit)
	if s.rand.IntN(30) == 0 {
		return qty
	}
	return ceil(qty, s.lot)
}

// near is a price up to three percent above or below another.
func (s *scene) near(p num, side int) num {
	by := int64(s.rand.IntN(300)+1) * int64(side)
	step := higher(s.tick, n("0.01"))
	if s.rand.IntN(30) == 0 {
		step = n("0.01")
	}
	return floor(mul(p, add(whole(1), div(whole(by), whole(10000)))), step)
}

// exit returns a random exit on one side of the entry.
func (s *scene) exit(entry num, side int) *exit {
	if s.rand.IntN(2) == 0 {
		return &exit{percent: price(int64(1 + s.rand.IntN(400)))}
	}
	return &exit{price: s.near(entry, side)}
}
