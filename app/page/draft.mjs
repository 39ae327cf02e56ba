// The projected order: the one that is being written in the ticket or drawn on the chart. It
// is the same in both, there is at most one, and nothing of it is sent before a person
// confirms it.
import { exactText } from './format.mjs';
import { t, word } from './texts.mjs';

/** entryOf names the price at which an order enters: the limit, or the stop before it. */
export const entryOf = ({ type }) => (type === 'limit' ? 'price' : 'stop_price');

/** exits are the prices at which an order that was filled ends. */
export const exits = ['stop_loss', 'take_profit'];

/** Draft holds the order, as arguments of place_order, and its lines on the chart. Everybody
 * who watches is told of each change. send tries an order and, without one, places what was
 * tried. */
export class Draft {
  constructor(send) {
    Object.assign(this, { send, watchers: [], lines: [] });
  }

  watch = watcher => this.watchers.push(watcher);

  /** set replaces the order; without one it is discarded. */
  set(order) {
    Object.assign(this, { order, lines: linesOf(order) });
    for (const watcher of this.watchers) watcher(order);
  }

  /** confirm has the order checked and then placed, and returns a sentence about it. An order
   * that was refused stays, to be changed; one that was changed meanwhile is not what was
   * confirmed. */
  async confirm() {
    const { order } = this;
    await this.send(order);
    if (this.order !== order) throw new Error(t('The order was changed meanwhile, and nothing was sent.'));
    const text = await this.send();
    if (this.order === order) this.set();
    return text;
  }
}

/** above reports whether an exit is above the entry. */
export const above = (order, exit) => (exit === 'take_profit') === (order.side === 'buy');

/** linesOf returns the lines of an order, each with the part of the order that it shows.
 * Entry and exits keep their order: none is dragged past another. */
function linesOf(order) {
  if (!order) return [];
  const entry = entryOf(order);
  const priceOf = part => Number(order[part] ?? NaN);
  const between = (part, price) => {
    const others = part === entry ? exits.filter(exit => priceOf(exit) > 0) : [entry];
    const limits = others.map(other => [priceOf(other), part === entry ? above(order, other) : !above(order, part)]);
    return limits.every(([limit, upper]) => (upper ? !(price >= limit) : !(price <= limit))); // a market order has no price of its own
  };
  return [entry, ...exits].filter(part => priceOf(part) > 0).map(part => ({
    part, price: priceOf(part), movable: true, between: price => between(part, price), numbers: '',
    text: '◆ ' + (part === entry ? `${word(order.side)} ${word(order.type)} ${order.quantity ?? ''}`.trim() : word(part)),
    ink: part === 'stop_loss' ? 'down' : part === 'take_profit' ? 'up' : 'profile', on: 8, off: 3,
  }));
}

/** replacing returns the order that takes the place of a resting one: the same in all that can
 * be said of it again. A broker takes no exits with a change. */
export function replacing(o) {
  const exit = x => x && (Number(x.price) || (x.percent ? `${x.percent}%` : `${x.atr}atr`));
  const same = { symbol: o.symbol, side: o.side, type: o.type, quantity: exactText(o.quantity - o.filled_quantity).replaceAll(',', ''), replaces: o.order_id };
  for (const name of ['price', 'stop_price', 'time_in_force', 'expires_at', 'post_only']) if (o[name]) same[name] = o[name];
  for (const name of exits) if (o[name] && !o.account) same[name] = exit(o[name]);
  return same;
}
