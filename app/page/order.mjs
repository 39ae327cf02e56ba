// The order of a person: the projected one, which is the same in the ticket and on the chart, and what is sent of it.
// There is at most one, and nothing of it is sent before it is confirmed.
import { moneyText, ofMarket } from './account.mjs';
import { isDoubtful, newID, once, unanswered } from './calls.mjs';
import { button, el, entry, field, select } from './dom.mjs';
import { exactText, namedText, percentText } from './format.mjs';
import { t, word } from './texts.mjs';

/** entryOf names the price at which an order enters: the limit, or the stop before it. */
const entryOf = ({ type }) => (type === 'limit' ? 'price' : 'stop_price');

/** exits are the prices at which an order that was filled ends; above reports whether one is above the entry. */
const exits = ['stop_loss', 'take_profit'];
const above = (order, exit) => (exit === 'take_profit') === (order.side === 'buy');

/** linesOf returns the lines of an order, each with the part that it shows. None is dragged past another. */
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
    part, price: priceOf(part), movable: true, between: price => between(part, price),
    text: '◆ ' + (part === entry ? `${word(order.side)} ${word(order.type)} ${order.quantity ?? ''}`.trim() : word(part)),
    ink: { stop_loss: 'down', take_profit: 'up' }[part] ?? 'profile', on: 8, off: 3,
  }));
}

/** replacing returns the order that takes the place of a resting one, like it, but a broker takes no exits with it. */
export function replacing(o) {
  const exit = x => x && (Number(x.price) || (x.percent ? `${x.percent}%` : `${x.atr}atr`));
  const same = { symbol: o.symbol, side: o.side, type: o.type, quantity: exactText(o.quantity - o.filled_quantity).replaceAll(',', ''), replaces: o.order_id };
  for (const name of ['price', 'stop_price', 'time_in_force', 'expires_at', 'post_only']) if (o[name]) same[name] = o[name];
  for (const name of exits) if (o[name] && !o.account) same[name] = exit(o[name]);
  return same;
}

/** previewText says in a sentence what an order would do. */
export function previewText(o) {
  const known = v => (v ?? '') !== '';
  const at = known(o.average_price) ? t(' at {0}', ofMarket(o.symbol, Number(o.average_price))) : known(o.price) ? t(' at {0}', o.price) : '';
  const fee = known(o.fee) ? t(', fee {0}', moneyText(o.symbol, Number(o.fee))) : '';
  const part = o.filled_quantity > 0 && o.filled_quantity !== o.quantity ? t(', {0} of it', o.filled_quantity) : ''; // price and fee are of that
  return `${word(o.side)} ${o.quantity} ${o.symbol} ${word(o.type)}${part}${at}${fee}: ${word(o.status)}, ${word(o.broker)}${o.synthetic ? ' ' + t('(invented prices)') : ''}`;
}

/** Draft is the order of a person, as arguments of place_order. As the projected order it has lines on the chart.
 * Everybody who watches is told of each change, onPlaced gets a line about an order that was placed, and about tells
 * orders of equal values apart. */
export class Draft {
  constructor(transport, onPlaced, about) {
    Object.assign(this, { transport, onPlaced, about, watchers: [], lines: [] });
  }

  watch = watcher => this.watchers.push(watcher);

  /** set replaces the order; without one it is discarded. */
  set(order) {
    Object.assign(this, { order, lines: linesOf(order), quantity: order?.quantity ?? this.quantity });
    for (const watcher of this.watchers) watcher(order);
  }

  /** isInDoubt reports whether the answer to an attempt to place what was tried was lost; id is that of the attempt. */
  isInDoubt = () => Boolean(this.id) || isDoubtful('place_order', this.tried, this.about);

  /** preview has the order checked, and returns a sentence about what it would do. */
  async preview() {
    const { order } = this;
    if (JSON.stringify(order) !== JSON.stringify(this.tried)) this.id = undefined;
    this.tried = order;
    // With an id of its own it is not taken for the repetition of an equal order.
    const reply = JSON.parse(await this.transport.call('place_order', { ...order, dry_run: true, client_order_id: newID() }));
    if (this.order === order) this.checked = order;
    const doubt = this.isInDoubt() ? '. ' + t('An order with these values may have been placed already: its answer was lost. Placing it asks with the same id and cannot place it twice.') : '';
    return t('Would be: {0}', previewText(reply)) + (reply.note ? '. ' + t('Note: {0}', reply.note) : '') + doubt;
  }

  /** confirm has the order checked, if it was not, and then placed, and returns a sentence about it. An order that was
   * refused stays, to be changed; one that was changed meanwhile is not what was confirmed. */
  async confirm() {
    const { order, about } = this;
    if (this.checked !== order) await this.preview();
    if (this.order !== order) throw new Error(t('The order was changed meanwhile, and nothing was sent.'));
    const words = this.isInDoubt() ? t('Placed, asked again with the same id') : t('Placed');
    const reply = await once(this.transport, 'place_order', order, 'client_order_id', { about, id: this.id }).catch(err => {
      const doubtful = isDoubtful('place_order', order, about);
      if (this.tried === order) this.id = doubtful ? err.id : undefined;
      const what = `${word(order.side)} ${order.quantity} ${order.symbol} ${word(order.type)}`;
      throw doubtful ? unanswered(t('It is not known whether this order was placed: {0}; {1}. Placing it again asks with the same id and cannot place it twice.', what, err.message)) : err;
    });
    if (this.tried === order) this.id = undefined;
    await this.onPlaced(t('order {0}: {1}', reply.order_id, previewText(reply)));
    if (this.order === order) this.set();
    return `${words}: ${previewText(reply)}`;
  }
}

const exitAway = 0.1; // of the prices in view, from the entry to an exit that was just added

/** ticket returns the form of the projected order, for the symbol of the chart that getChart returns. A preview of what
 * was typed, or a line on the chart, comes before the button that confirms it; any change takes back the preview. */
export function ticket(getChart, draft) {
  const number = { inputmode: 'decimal', size: 8, autocomplete: 'off' };
  const side = select({ name: 'side' }, ['buy', 'sell']);
  const type = select({ name: 'ordertype' }, ['market', 'limit', 'stop']);
  type.append(el('option', { value: 'stop_limit', hidden: true }, word('stop_limit'))); // one that is changed has its limit already
  const [quantity, price] = ['quantity', 'price'].map(name => el('input', { name, ...number, disabled: name === 'price' }));
  const [loss, profit] = [t('Stop loss'), t('Take profit')].map((label, k) => el('input', { name: exits[k], ...number, 'aria-label': label }));
  const inputs = { side, type, quantity, price, stop_loss: loss, take_profit: profit };
  const toggles = exits.map(exit => button(word(exit), () => getChart().plan && draft.set({ ...written(), [exit]: inputs[exit].value ? undefined : exitOf(exit) })));
  const said = el('p', { role: 'status', class: 'preview' });
  let turn = 0; // counts previews and changes: what comes later for an earlier one cannot be placed

  /** written returns the order of the fields; of one that is changed, the rest stays. */
  const written = () => {
    const { order = {} } = draft;
    const { replaces } = order;
    const all = { ...(order.type === type.value ? order : { replaces }), symbol: getChart().data?.symbol, side: side.value, type: type.value, quantity: quantity.value.trim() };
    if (all.type !== 'market') all[entryOf(all)] = price.value.trim();
    for (const exit of exits) all[exit] = inputs[exit].value.trim() || undefined;
    return all;
  };
  /** exitOf returns the first price of an exit, some way from the entry. */
  const exitOf = exit => {
    const { data: { close, precision }, plan: { panes: [{ scale: { lo, hi } }] } } = getChart();
    const order = written();
    const from = Number(order[entryOf(order)] || close.at(-1));
    return Number((from + (above(order, exit) ? 1 : -1) * exitAway * (hi - lo)).toFixed(precision));
  };
  /** summary says what is drawn, and how far from the market. */
  const summary = () => {
    const { order, lines } = draft;
    if (!lines.length) return '';
    const { data } = getChart();
    const at = Number(order[entryOf(order)] ?? NaN);
    const text = `${word(order.side)} ${word(order.type)}${at ? `${t(' at {0}', namedText(data, at))} · ${percentText(data.close.at(-1), at)}` : ''}`;
    return order.replaces ? t('change to {0}', text) : text;
  };
  /** say shows a text; only what is drawn or previewed can be confirmed, and again what may have been placed. */
  const say = (text, ready) => {
    said.textContent = text;
    if (!ready && document.activeElement === confirm) look.focus();
    confirm.hidden = !ready;
    price.disabled = type.value === 'market';
  };
  const step = async work => {
    const [mine, confirmed] = [++turn, work === draft.confirm];
    say(confirmed ? t('Placing…') : '');
    const [text, ready] = await work.call(draft).then(words => [words, !confirmed], err => [err.message, draft.lines.length > 0 || (confirmed && err.unanswered)]);
    if (mine === turn || confirmed) say(text, ready && mine === turn); // an order that was placed is told in any case
  };
  const preview = () => {
    draft.set(written());
    return step(draft.preview);
  };
  const look = button(t('Preview'), preview);
  const confirm = button(t('Confirm'), () => step(draft.confirm), { class: 'strong', hidden: true });
  const discard = button(t('Discard'), () => draft.set(), { hidden: true });

  draft.watch(order => {
    const values = { side: order?.side ?? side.value, type: order?.type ?? 'market', quantity: order?.quantity ?? quantity.value, price: order?.[entryOf(order)] };
    for (const [name, input] of Object.entries(inputs)) if (!order || input !== document.activeElement) input.value = { ...order, ...values }[name] ?? ''; // not what is being typed
    exits.forEach((exit, k) => { toggles[k].ariaPressed = String(Boolean(order?.[exit])); });
    const drawn = draft.lines.length > 0;
    if (!drawn && document.activeElement === discard) getChart().canvas.focus();
    discard.hidden = !drawn;
    element.classList.toggle('drawn', drawn);
    turn++;
    say(summary(), drawn);
  });
  const exitFields = exits.map((_, k) => el('div', { class: 'field' }, toggles[k], inputs[exits[k]]));
  const element = entry({ class: 'ticket', 'aria-label': t('Order'), oninput: () => draft.set(written()) }, preview,
    field(t('Side'), side), field(t('Type'), type), field(t('Quantity'), quantity), field(t('Price'), price), ...exitFields, look, confirm, discard, said);
  return element;
}

const mostMoved = 3; // lines that the menu offers to move: those nearest to the price
/** trading returns the options of a chart that is traded on. getChart returns that chart; acted gets a line when
 * something was done, say what went wrong. */
export function trading(getChart, { account, transport, draft, acted, say }) {
  const newest = () => getChart().data.close.at(-1);
  const nameOf = price => namedText(getChart().data, price);
  const work = done => done.catch(err => say(err.message));

  /** put moves a line to a price: an alert at once, an order as a projected one in its place. */
  function put({ alert, order, part }, price) {
    if (part) draft.set({ ...draft.order, [part]: price });
    else if (order) {
      const moved = { ...replacing(order), [entryOf(order)]: price };
      if (order.type === 'stop_limit') moved.price = Number((order.price - order.stop_price + price).toFixed(8)); // as far from the stop as it was
      draft.set(moved);
    } else work(account.setAlert(getChart().data.symbol, price, newest(), alert).then(acted));
  }
  function cross({ alert, order, part }) {
    if (part) return draft.set(exits.includes(part) ? { ...draft.order, [part]: undefined } : undefined);
    const [tool, id] = alert ? ['cancel_alert', { alert_id: alert.alert_id }] : ['cancel_order', { order_id: order.order_id }];
    work(transport.call(tool, id).then(() => acted(t('{0} was cancelled', Object.values(id)[0]))));
  }

  /** project draws an order at a price: for as much as is held if it leaves that position. */
  function project(side, type, price) {
    const { symbol } = getChart().data;
    const held = account.held().find(p => p.symbol === symbol && (p.side === 'long') === (side === 'sell'));
    draft.set({ symbol, side, type, quantity: String(held?.quantity ?? draft.quantity ?? ''), [entryOf({ type })]: price });
  }
  function menu(price) {
    const [at, low] = [nameOf(price), price < newest()];
    const near = getChart().lines().filter(l => l.movable).sort((a, b) => Math.abs(a.price - price) - Math.abs(b.price - price)).slice(0, mostMoved);
    const offer = (side, type) => [t('{0} {1} at {2}', word(side), word(type), at).replace(/^./, c => c.toUpperCase()), () => project(side, type, price)];
    return [[t('Alert at {0}', at), () => put({}, price)], offer(low ? 'buy' : 'sell', 'limit'), offer(low ? 'sell' : 'buy', 'stop'),
      ...near.flatMap(l => [[t('Move {0} to {1}', l.text, at), () => put(l, price)], [t('Remove {0} at {1}', l.text, nameOf(l.price)), () => cross(l)]])];
  }

  draft.watch(() => getChart().draw());
  return { onMenu: menu, onLevel: put, onCross: cross, lines: () => draft.lines };
}
