// What the account has, by the tools that any client calls: as lists, as levels on the chart, and as texts. What is
// known of a market by its symbol is the currency of its prices, in which sums are made, and their decimals.
import { isDoubtful, once, unanswered } from './calls.mjs';
import { exactText, fixedText, membersText, namedText, placesOf, profitText, usable } from './format.mjs';
import { t, word } from './texts.mjs';
import { lastEnd } from './times.mjs';

const mostFills = 50; // that a chart shows
const recent = 200; // orders that are asked for, ended or not
const longest = 1000; // characters of an order or an alert; most have half of that
const mostPages = 20; // of one list; the server keeps at most 1,000 alerts

/** Account keeps what the tools said last: positions (whole: the closed ones too), orders, all open ones, all alerts. */
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

  /** all asks for a whole list, page by page. What a newer item moved to the next page comes twice and is kept once. */
  async all(tool, args, id, size) {
    const items = new Map();
    for (let page = 0; page < mostPages; page++) {
      const more = await this.ask(tool, { ...args, limit: size, offset: page * size });
      for (const item of more) items.set(item[id], item);
      if (more.length < size) break;
    }
    return [...items.values()];
  }

  /** held returns the positions that are not closed, also those that only the account at a broker has. */
  held = () => this.positions.filter(p => Number(p.quantity) > 0 || Number(p.at_broker?.quantity ?? 0) !== 0);

  /** listed returns all open orders, then at most so many of the others, the newest, and whether there are more. */
  listed(most) {
    const ids = new Set(this.open.map(o => o.order_id));
    const others = this.orders.filter(o => !ids.has(o.order_id));
    return { rows: [...this.open, ...others.slice(0, most)], more: others.length > most };
  }

  /** drawn returns what a chart shows of the account, if its call asked for it: levels, of which orders and alerts on
   * a price can be dragged, fills within the bars, and as unpriced the orders that wait without a price. The level of
   * a position has its profit at the newest close, which is always on the axis. */
  drawn(data) {
    const { symbol, request, n, time, close, forming, as_of } = data;
    const ended = !forming && request.to < Date.parse(as_of) / 1000; // the last close is not the price of now
    const of = (part, list) => (!request.show || request.show.includes(part) ? list.filter(item => item.symbol === symbol) : []);
    const positions = of('position', this.positions).filter(p => Number(p.quantity) > 0).map(p => {
      const price = Number(p.entry_price);
      const since = (p.side === 'short' ? -1 : 1) * Number(p.quantity) * (close[n - 1] - Number(p.current_price ?? NaN)); // at the price of the account
      const profit = ended ? NaN : Number(p.unrealized_pnl ?? NaN) + since;
      const text = t('{0} {1} at {2}', word(p.side), exactText(Number(p.quantity)), namedText(data, price));
      const known = !Number.isNaN(profit);
      return { price, text: known ? `${text} · ${profitText(profit)}` : text, ink: !known ? 'axis' : profit < 0 ? 'down' : 'up', on: 1, off: 0 };
    });
    const orders = of('orders', this.open).map(order => {
      const { side, type, quantity, filled_quantity, triggered_at, stop_price, price, when } = order;
      const left = exactText(Number(quantity) - Number(filled_quantity));
      const movable = type !== 'trailing_stop' && !triggered_at && (!when || when.acted_at);
      return { price: Number((triggered_at ? null : stop_price) ?? price ?? NaN), text: `${word(side)} ${word(type)} ${left}`, ink: side === 'buy' ? 'up' : 'down', on: 4, off: 4, movable, order };
    });
    const alerts = of('alerts', this.alerts).map(alert => {
      const { price_above, price_below } = alert.condition;
      const text = price_above !== undefined ? t('alert above') : t('alert below');
      return { price: Number(price_above ?? price_below), text, ink: 'amber', on: 1, off: 4, movable: true, alert };
    });
    const filledAt = o => Math.max(Date.parse(o.created_at), Date.parse(o.price_at ?? o.updated_at)) / 1000; // a fill at an older price came with the order
    const fills = of('fills', this.orders).filter(o => o.average_price !== null)
      .map(o => ({ buy: o.side === 'buy', time: filledAt(o), price: Number(o.average_price) }))
      .filter(f => f.time >= time[0] && f.time < lastEnd(data)).slice(0, mostFills);
    const unpriced = orders.filter(l => !(l.price > 0)).map(l => ({ ...l, text: orderText(l.order) }));
    return { levels: [...positions, ...[...orders, ...alerts].filter(l => l.price > 0)], fills, unpriced };
  }

  /** setAlert sets an alert at a price, above or below the last price, unless one waits there. If old is given, that
   * alert is moved. It returns a line about it. */
  async setAlert(symbol, price, last, old) {
    const [name, words] = price >= last ? ['price_above', t('at or above {0}', price)] : ['price_below', t('at or below {0}', price)];
    const same = a => a.symbol === symbol && Number(a.condition[name]) === price && a.alert_id !== old?.alert_id;
    if (this.alerts.some(same)) throw new Error(t('An alert on {0} {1} waits already.', symbol, words));
    const condition = { [name]: price };
    const alert = await this.renew(old ?? { symbol }, { condition });
    if (!alert.ended) this.alerts = [...this.alerts.filter(a => a.alert_id !== old?.alert_id), { ...alert, symbol, condition }]; // until the tool is asked again
    return t('alert {0} on {1}: {2}', alert.alert_id, symbol, words) + (alert.hint ? '; ' + alert.hint : '');
  }

  /** renew sets a copy of an alert with changes, and cancels the old one once the new one is set. */
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

const exactly = text => exactText(Number(text));

/** orderText says what was ordered, what it waits for, and what of it was filled. */
export function orderText(o) {
  const known = text => text !== undefined && text !== null && Number(text) !== 0;
  const [stop, limit] = [o.stop_price, o.price].map(text => known(text) && exactly(text));
  const at = stop && limit ? t(', stop at {0}, limit at {1}', stop, limit) : stop || limit ? t(' at {0}', stop || limit) : '';
  const by = known(o.trail_percent) ? exactly(o.trail_percent) + '%' : known(o.trail_amount) && exactly(o.trail_amount);
  const part = Number(o.filled_quantity) !== Number(o.quantity) ? t('; {0} of it filled', exactly(o.filled_quantity)) : t('; filled');
  const filled = known(o.filled_quantity) ? part + (known(o.average_price) ? t(' at {0}', ofMarket(o.symbol, Number(o.average_price))) : '') : '';
  const when = o.when && !o.when.acted_at ? t(', when {0}', o.when.rule) : '';
  return `${word(o.side)} ${exactly(o.quantity)} ${o.symbol} ${word(o.type)}${at}${by ? t(', trails by {0}', by) : ''}${filled}${when}`;
}

const reaches = { price_above: t('price at or above'), price_below: t('price at or below'), profit_above: t('profit at or above'), profit_below: t('profit at or below') };

/** conditionText says what an alert waits for: of an indicator with its rule, its parameters and its interval. */
export function conditionText({ condition: c, interval }) {
  const sum = Object.keys(reaches).find(name => c[name] !== undefined);
  if (sum) return `${c.of ? c.of + ' ' : ''}${reaches[sum]} ${c[sum]}`;
  const time = c.at ?? c.daily;
  if (time) return `${c.daily ? t('daily at {0}', time) : time} ${c.timezone ?? 'UTC'}${c.weekdays ? ', ' + c.weekdays.map(word).join(' ') : ''}`;
  if (!c.indicator_signal) return JSON.stringify(c).slice(0, 120);
  const { indicator, signal, level, line, when, params, ...beside } = c.indicator_signal;
  const what = when !== undefined ? `: ${when} ${signal.replaceAll('_', ' ')}` : `${line ? ' ' + line : ''}: ${signal}${level === undefined ? '' : ' ' + level}`;
  return indicator + membersText({ ...beside, ...params }) + what + (interval ? `, ${interval}` : '');
}

const currencies = 'USD EUR GBP JPY CHF AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ZAR MXN BRL CNY HKD SGD INR KRW BTC ETH BNB'.split(' ');
const placesKnown = new Map(); // by symbol

/** unitOf returns the currency in which a symbol is priced, if its form leaves no doubt, else the symbol itself. Stocks
 * of up to five letters may end like a currency; BTCBUSD may be in BUSD or in USD. */
export function unitOf(symbol) {
  const [, apart, end] = /^[A-Z0-9]{2,}?([-_/]?)(FDUSD|USDT|USDC|[A-Z]{3})$/.exec(symbol) ?? [];
  const sure = end?.length > 3 || (currencies.includes(end) && (apart || (symbol.length >= 6 && !/[BT]USD$/.test(symbol))));
  return sure ? end : symbol;
}

/** learn notes how many decimals the prices of a market have. */
export const learn = (symbol, places) => placesKnown.set(symbol, Math.max(places, placesKnown.get(symbol) ?? 2));

/** ofMarket writes a price, such as an average of fills, with at most the decimals of its market, if they are known. */
export const ofMarket = (symbol, v) => (usable(v) ? fixedText(v, Math.min(placesOf(v, 8), placesKnown.get(symbol) ?? 8)) : '–');

/** moneyText writes a sum in the currency of a market; signed says whether with a plus. */
export function moneyText(symbol, v, signed) {
  const [unit, text] = [unitOf(symbol), profitText(v)];
  return (signed ? text : text.replace('+', '')) + (unit === symbol ? '' : '\u00a0' + unit);
}

/** unitsText adds up a member of positions and writes a sum per currency: "+12.50 USDT, −3.00 (AAA)", where AAA is a
 * symbol whose currency is not known. Sums of zero are left out; where a value is missing, the sum is not known. */
export function unitsText(positions, member) {
  const sums = new Map();
  for (const p of positions) sums.set(unitOf(p.symbol), (sums.get(unitOf(p.symbol)) ?? 0) + Number(p[member] ?? NaN));
  const symbols = new Set(positions.map(p => p.symbol));
  const known = [...sums].filter(([, sum]) => Math.abs(sum) > 0).map(([unit, sum]) => `${profitText(sum)}\u00a0${symbols.has(unit) ? `(${unit})` : unit}`);
  const unknown = [...sums].filter(([, sum]) => Number.isNaN(sum)).map(([unit]) => unit);
  return [...known, ...(unknown.length ? [t('not known in {0}', unknown.join(', '))] : [])].join(', ') || profitText(0);
}
