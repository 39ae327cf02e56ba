// The ticket: an order is first tried without placing it, and placed by a second click
// on what the trial said. Any change in between takes the preview back.
import { choices, el, entry, field } from './dom.mjs';

/** previewText says in a sentence what an order would do. */
export function previewText(o) {
  const price = o.average_price ?? o.price ?? undefined;
  const at = price === undefined ? '' : ` at ${price}`;
  const fee = (o.fee ?? undefined) === undefined ? '' : `, fee ${o.fee}`;
  return `${o.side} ${o.quantity} ${o.symbol} ${o.type}${at}${fee}: ${o.status}, ${o.broker}${o.synthetic ? ' (invented prices)' : ''}`;
}

/** ticket returns the form of an order. getSymbol names what the chart shows, onPlaced
 * gets a line about the order. */
export function ticket(transport, getSymbol, onPlaced) {
  const number = { inputmode: 'decimal', size: 8, autocomplete: 'off' };
  const side = el('select', { name: 'side' }, ...choices(['buy', 'sell']));
  const type = el('select', { name: 'ordertype' }, ...choices(['market', 'limit']));
  const quantity = el('input', { name: 'quantity', ...number });
  const price = el('input', { name: 'price', disabled: true, ...number });
  const said = el('p', { role: 'status', class: 'preview' });
  const place = el('button', { type: 'button', class: 'strong', hidden: true, onclick: () => order(false) }, 'Place this order');
  let tried; // the arguments of the preview, with the id that makes a second click harmless

  const forget = () => {
    tried = undefined;
    place.hidden = true;
    price.disabled = type.value === 'market';
    said.textContent = '';
  };
  const order = async dry => {
    const limit = type.value === 'limit' ? { price: price.value.trim() } : {};
    const args = dry ? { symbol: getSymbol(), side: side.value, type: type.value, quantity: quantity.value.trim(), ...limit } : tried;
    if (!args) return;
    place.disabled = true;
    try {
      const reply = JSON.parse(await transport.call('place_order', dry ? { ...args, dry_run: true } : args));
      said.textContent = (dry ? 'Would be: ' : 'Placed: ') + previewText(reply);
      tried = dry ? { ...args, client_order_id: 'page-' + crypto.randomUUID() } : undefined;
      place.hidden = !dry;
      if (!dry) onPlaced(`order ${reply.order_id}: ${previewText(reply)}`);
    } catch (err) {
      forget();
      said.textContent = err.message;
    }
    place.disabled = false;
  };
  return entry({ class: 'ticket', 'aria-label': 'Order', oninput: forget }, () => order(true),
    field('Side', side), field('Type', type), field('Quantity', quantity), field('Limit price', price),
    el('button', { type: 'button', onclick: () => order(true) }, 'Preview'), place, said);
}
