// Trading from the chart: what its menu offers at a price, what its lines do when they are
// dragged or crossed out, and the bar below it that confirms or discards the projected order.
import { button, el, workButton } from './dom.mjs';
import { above, entryOf, exits, replacing } from './draft.mjs';
import { namedText, percentText } from './format.mjs';
import { t, word } from './texts.mjs';

const mostMoved = 3; // lines that the menu offers to move: those nearest to the price
const exitAway = 0.1; // of the prices in view, from the entry to an exit that was just added

/** trading returns the options of a chart that is traded on, and the bar. getChart returns that
 * chart; acted gets a line when something was done, say what went wrong. */
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
    if (exits.includes(part)) draft.set({ ...draft.order, [part]: undefined });
    else if (part) draft.set();
    else {
      const [tool, id] = alert ? ['cancel_alert', { alert_id: alert.alert_id }] : ['cancel_order', { order_id: order.order_id }];
      work(transport.call(tool, id).then(() => acted(t('{0} was cancelled', Object.values(id)[0]))));
    }
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

  const words = el('strong', { role: 'status' });
  const quantity = el('input', { 'aria-label': t('Quantity'), placeholder: t('Quantity'), inputmode: 'decimal', autocomplete: 'off', oninput: () => draft.set({ ...draft.order, quantity: quantity.value.trim() }) });
  const toggles = exits.map(exit => button(word(exit), () => {
    const { order } = draft;
    const { scale: { lo, hi } } = getChart().plan.panes[0];
    const price = Number(order[entryOf(order)] ?? newest()) + (above(order, exit) ? 1 : -1) * exitAway * (hi - lo);
    draft.set({ ...order, [exit]: order[exit] ? undefined : Number(price.toFixed(getChart().data.precision)) });
  }));
  const confirm = workButton(t('Confirm'), () => draft.confirm(), say, { class: 'strong' });
  const bar = el('div', { class: 'projected', role: 'group', 'aria-label': t('Projected order'), hidden: true }, words, quantity, ...toggles, confirm, button(t('Discard'), () => draft.set()));
  draft.watch(order => {
    const shown = draft.lines.length > 0;
    if (bar.contains(document.activeElement) && !shown) getChart().canvas.focus();
    bar.hidden = !shown;
    getChart().draw();
    if (!shown) return;
    const price = Number(order[entryOf(order)] ?? NaN);
    const text = `${word(order.side)} ${word(order.type)}${price ? `${t(' at {0}', nameOf(price))} · ${percentText(newest(), price)}` : ''}`;
    words.textContent = order.replaces ? t('change to {0}', text) : text;
    if (document.activeElement !== quantity) quantity.value = order.quantity ?? '';
    draft.quantity = order.quantity;
    toggles.forEach((b, k) => { b.ariaPressed = String(Boolean(order[exits[k]])); });
  });
  return { bar, options: { onMenu: menu, onLevel: put, onCross: cross, lines: () => draft.lines } };
}
