// Package book has the rules of the paper account: what an order is, what becomes of it and
// of the others with it, and what is held after that. It computes and nothing else: it has
// no clock, no lock, no disk, no network and no goroutine. The time of a step is given to
// it, and what a step did is in the [Event] that package trade writes to its journal.
//
// # Nouns
//
//   - An [Order] is what a client asked for and what has become of it. It is open, at a
//     broker elsewhere perhaps partially_filled, and ends as filled, cancelled or rejected,
//     for ever.
//   - A [Holding] is the one net position of a symbol: its quantity, below zero if it is
//     short, what it cost, what was realized by it, and the fees.
//   - An [Event] is one step with its outcome: the order after it, the orders that begin
//     with it, the ids of those that end, and the holding. Applying it computes nothing
//     anew, so a replay gives the same state on every machine, for ever.
//   - A [State] is what the events add up to. It changes in one place, [State.Apply].
//     Values behind its pointers are replaced and never changed, so a copy of its lists
//     stays as it is.
//
// # Fills
//
// On paper an order is filled once and whole, at a price that the source told. The fill
// moves the position: what is of its side adds to it at that price; what is of the other
// side reduces it, and realizes the difference between the average cost and the price; what
// is more than the position closes it and opens one of the other side with the rest. Fees
// count as realized. At a broker elsewhere an order may be filled in parts, of which the
// broker tells the total and the average price; each part moves the position in the same way.
//
// # Groups
//
// Orders that belong together have a Group, the id of the order that was asked for, and a
// Role in it.
//
// An entry with stop_loss or take_profit is a bracket. On paper it has no exits until it is
// filled. With the fill they begin, in the same event: a stop ID-sl and a limit ID-tp of the
// other side, for what the fill has opened; what closed a position of the other side needs no
// protection. A distance is counted from the price of the fill. Both can only reduce. When
// one of them is filled, or is cancelled or has expired, the other ends in the same event.
// An oco is such a pair from the beginning: a limit and the stop beside it.
//
// An order against a position and for no more than that can only reduce, also if nobody said
// so, unless the request says may_open. It never opens a position and never turns one around:
// of what is more than the position at its fill the rest is cut off, and the order is
// cancelled with what was filled. When a fill leaves it nothing to reduce, it ends in the
// event of that fill, whoever caused it.
//
// # A bracket at a broker, filled in two parts and closed by hand
//
// The broker has the bracket as one order with two legs, and its stop_loss and take_profit
// as prices, worked out when it was sent. Buy 10 with both. The first answer that names the
// legs brings them into the book, in the event of that answer, as open orders ID-sl and
// ID-tp for 10; from when on they work is up to the broker. Then 4 are filled. That is an
// event: the entry is partially_filled with 4, the position is 4 at their price. Then 6 more
// are filled: the entry is filled with 10 at the average that the broker names, and the
// price of the second part is what was paid in all less what the first part cost, so the
// position is 10 at that average, too. No fee is counted: it shows in the broker's account.
//
// Now somebody sells 10 at market. The event of that fill makes the position zero. On paper
// the same event ends both exits, cancelled with [NothingToReduce], so nothing is left open. At a broker the
// legs are the broker's: they stay open in the book until it has cancelled them, which it is
// asked to do as soon as the position is known to be gone, and their end is an event of its
// own when the broker confirms it. If somebody sells 4 only, each exit is for 10 and the
// position 6: on paper an exit that is reached sells 6 and the rest of it is cut; at a
// broker, which would sell all 10, each is replaced by one for 6.
//
// # Alerts, notifications and the rest
//
// The same events carry alerts, the notifications that they fire, who is subscribed and how
// far each has read, the trading state, and how far the market of each symbol was judged:
// one record changes all that changes together, so no crash comes in between.
package book
