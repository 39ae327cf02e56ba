// What the account has, by the tools that any client calls, and as levels on the chart.
import { unanswered } from './answer.mjs';
import { exactText, namedText, placesOf, profitText } from './format.mjs';
import { learn } from './market.mjs';
import { isDoubtful, once } from './once.mjs';
import { t, word } from './texts.mjs';
import { lastEnd } from './times.mjs';

const mostFills = 50; // that a chart shows
const recent = 200; // orders that are asked for, ended or not
const longest = 1000; // characters of an order or an alert; most have half of that
const mostPages = 20; // of one list; the server keeps at most 1,000 alerts

/** Account keeps what the tools said last: positions, the newest orders, all open orders,
 * and all alerts. whole says that positions has the closed ones too. */
export class Account {
  constructor(transport) {
    Object.assign(this, { transport, positions: [], orders: [], open: [], alerts: [], whole: false });
  }

  /** refresh asks for everything; it fails where the login does not cover trading. */
  async refresh() {
    const size = Math.floor(this.transport.limit / longest);
    const [positions, orders, open, alerts] = await Promise.all([
      this.ask('get_positions', { include_flat: true }), this.ask('get_orders', { limit: Math.min(recent, size) }),
      this.all('get_orders', { filter: 'open' }, 'order_id', size), this.all('list_alerts', {}, 'alert_id', size)]);
    Object.assign(this, { positions, orders, open, alerts, whole: true });
    for (const { symbol, current_price } of positions) if (current_price) learn(symbol, placesOf(Number(current_price), 8));
  }

  ask = async (tool, args) => JSON.parse(await this.transport.call(tool, args));

  /** all asks for a whole list, page by page. An item that a newer one moved to the next page
   * comes twice and is kept once. */
  async all(tool, args, id, size) {
    const items = new Map();
    for (let page = 0; page < mostPages; page++) {
      const more = await this.ask(tool, { ...args, limit: size, offset: page * size });
      for (const item of more) items.set(item[id], item);
      if (more.length < size) break;
    }
    return [...items.values()];
  }

  /** held returns the positions that are not closed, also those that only the account at a
   * broker has. */
  held = () => this.positions.filter(p => Number(p.quantity) > 0 || Number(p.at_broker?.quantity ?? 0) !== 0);

  /** listed returns all open orders and after them the newest of the others, as many as most,
   * and whether there are more of those. */
  listed(most) {
    const ids = new Set(this.open.map(o => o.order_id));
    const others = this.orders.filter(o => !ids.has(o.order_id));
    return { rows: [...this.open, ...others.slice(0, most)], more: others.length > most };
  }

  /** drawn returns what a chart shows of the account, if its call asked for it: levels, of
   * which orders and alerts on a price can be dragged, and fills within the bars. The level of a position
   * has its profit at the newest close, which is always on the axis. */
  drawn(data) {
    const { symbol, request, n, time, close, forming, as_of } = data;
    const ended = !forming && request.to < Date.parse(as_of) / 1000; // the last close is not the price of now
    const of = (part, list) => (!request.show || request.show.includes(part) ? list.filter(item => item.symbol === symbol) : []);
    const positions = of('position', this.positions).filter(p => Number(p.quantity) > 0).map(p => {
      const [price, profit] = [Number(p.entry_price), ended ? NaN : profitAt(p, close[n - 1])];
      const text = t('{0} {1} at {2}', word(p.side), exactText(Number(p.quantity)), namedText(data, price));
      const known = !Number.isNaN(profit);
      const whole = known ? `${text} · ${profitText(profit)}` : text;
      return { price, text: whole, numbers: whole, ink: !known ? 'axis' : profit < 0 ? 'down' : 'up', on: 1, off: 0 };
    });
    const orders = of('orders', this.open).map(o => {
      const numbers = ` ${exactText(Number(o.quantity) - Number(o.filled_quantity))}`;
      const text = `${word(o.side)} ${word(o.type)}${numbers}`;
      return { price: Number((o.triggered_at ? null : o.stop_price) ?? o.price ?? NaN), text, numbers, ink: o.side === 'buy' ? 'up' : 'down', on: 4, off: 4, movable: o.type !== 'trailing_stop' && !o.triggered_at && (!o.when || o.when.acted_at), order: o };
    });
    const alerts = of('alerts', this.alerts).map(alert => {
      const { price_above, price_below } = alert.condition;
      const text = price_above !== undefined ? t('alert above') : t('alert below');
      return { price: Number(price_above ?? price_below), text, numbers: '', ink: 'amber', on: 1, off: 4, movable: true, alert };
    });
    const fills = of('fills', this.orders).filter(o => o.average_price !== null)
      .map(o => ({ buy: o.side === 'buy', time: filledAt(o), price: Number(o.average_price) }))
      .filter(f => f.time >= time[0] && f.time < lastEnd(data)).slice(0, mostFills);
    return { levels: [...positions, ...[...orders, ...alerts].filter(l => l.price > 0)], fills };
  }

  /** setAlert sets an alert at a price, above or below the last price, unless one waits there.
   * If old is given, that alert is moved. It returns a line about it. */
  async setAlert(symbol, price, last, old) {
    const [name, words] = price >= last ? ['price_above', t('at or above {0}', price)] : ['price_below', t('at or below {0}', price)];
    const same = a => a.symbol === symbol && Number(a.condition[name]) === price && a.alert_id !== old?.alert_id;
    if (this.alerts.some(same)) throw new Error(t('An alert on {0} {1} waits already.', symbol, words));
    const condition = { [name]: price };
    const alert = await this.renew(old ?? { symbol }, { condition });
    if (!alert.ended) this.alerts = [...this.alerts.filter(a => a.alert_id !== old?.alert_id), { ...alert, symbol, condition }]; // until the tool is asked again
    return t('alert {0} on {1}: {2}', alert.alert_id, symbol, words) + (alert.hint ? '; ' + alert.hint : '');
  }

  /** renew sets a copy of an alert with changes, and cancels the old one once the new one is
   * set. */
  async renew(old, changes) {
    const args = { ...changes };
    for (const name of ['symbol', 'condition', 'interval', 'note', 'repeat', 'cooldown', 'expires_at']) args[name] ??= old[name] || undefined;
    const alert = await once(this.transport, 'set_alert', args, 'client_alert_id').catch(err => {
      if (isDoubtful('set_alert', args)) throw unanswered(t('It is not known whether this alert was set: {0}; {1}. Setting it again asks with the same id and cannot set it twice.', args.symbol, err.message));
      throw err;
    });
    if (old.alert_id && !alert.ended) await this.transport.call('cancel_alert', { alert_id: old.alert_id });
    return alert;
  }
}

/** isOpen reports whether an order can still fill. */
export const isOpen = order => ['open', 'partially_filled'].includes(order.status);

/** filledAt returns the time of the last fill of an order: when the market was at that price,
 * or when the order came if it was filled at an older price. */
export const filledAt = o => Math.max(Date.parse(o.created_at), Date.parse(o.price_at ?? o.updated_at)) / 1000;

/** profitAt returns the unrealized profit of a position at a price, which may be a little
 * older or newer than the one that the account knows; NaN while that knows none. */
function profitAt({ side, quantity, current_price, unrealized_pnl }, price) {
  const since = price - Number(current_price ?? NaN);
  return Number(unrealized_pnl ?? NaN) + (side === 'short' ? -1 : 1) * Number(quantity) * since;
}
