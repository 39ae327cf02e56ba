// The ticket: the first click tries an order without placing it and shows a preview, the
// second places it. Any change in between removes the preview.
import { button, el, entry, field, select } from './dom.mjs';

/** previewText says in a sentence what an order would do. */
export function previewText(o) {
  const known = (words, v) => ((v ?? '') === '' ? '' : words + v);
  const [at, fee] = [known(' at ', o.average_price ?? o.price), known(', fee ', o.fee)];
  const part = o.filled_quantity > 0 && o.filled_quantity !== o.quantity ? `, ${o.filled_quantity} of it` : ''; // price and fee are of that
  return `${o.side} ${o.quantity} ${o.symbol} ${o.type}${part}${at}${fee}: ${o.status}, ${o.broker}${o.synthetic ? ' (invented prices)' : ''}`;
}

/** twoSteps returns a function that tries an order or, called without one, places the order
 * that it tried last. It returns a sentence about the order; onPlaced gets a line about a
 * placed one. */
export function twoSteps(transport, onPlaced) {
  let tried; // the order that was tried, with an id that makes a second try of its click the same order
  return async order => {
    const reply = JSON.parse(await transport.call('place_order', order ? { ...order, dry_run: true } : tried));
    tried = order && { ...order, client_order_id: 'page-' + crypto.randomUUID() };
    if (!order) await onPlaced(`order ${reply.order_id}: ${previewText(reply)}`);
    return (order ? 'Would be: ' : 'Placed: ') + previewText(reply);
  };
}

/** ticket returns the form of an order. getSymbol names what the chart shows, onPlaced
 * gets a line about the order. */
export function ticket(transport, getSymbol, onPlaced) {
  const number = { inputmode: 'decimal', size: 8, autocomplete: 'off' };
  const side = select({ name: 'side' }, ['buy', 'sell']);
  const type = select({ name: 'ordertype' }, ['market', 'limit']);
  const quantity = el('input', { name: 'quantity', ...number });
  const price = el('input', { name: 'price', disabled: true, ...number });
  const said = el('p', { role: 'status', class: 'preview' });
  const place = button('Place this order', () => step(), { class: 'strong', hidden: true });
  let send; // of the preview that was asked for last, unless something was changed since

  /** say shows a text in place of the preview; only a preview can be placed. */
  const say = (text, placeable) => {
    said.textContent = text;
    if (!placeable && document.activeElement === place) look.focus();
    place.hidden = !placeable;
    price.disabled = type.value === 'market';
  };
  const step = async order => {
    const mine = send;
    say(order ? '' : 'Placing…');
    const [text, placeable] = await mine(order).then(words => [words, order], err => [err.message]);
    if (mine === send || !order) say(text, placeable); // an order that was placed is told in any case
  };
  const preview = () => {
    send = twoSteps(transport, onPlaced);
    const limit = type.value === 'limit' ? { price: price.value.trim() } : {};
    return step({ symbol: getSymbol(), side: side.value, type: type.value, quantity: quantity.value.trim(), ...limit });
  };
  const look = button('Preview', preview);
  const change = () => {
    send = undefined;
    say('');
  };
  return entry({ class: 'ticket', 'aria-label': 'Order', oninput: change }, preview,
    field('Side', side), field('Type', type), field('Quantity', quantity), field('Limit price', price), look, place, said);
}
