// The ticket: the first click tries an order without placing it and shows a preview, the
// second places it. Any change in between removes the preview.
import { unanswered } from './answer.mjs';
import { button, el, entry, field, select } from './dom.mjs';
import { entryOf, exits } from './draft.mjs';
import { moneyText, ofMarket } from './market.mjs';
import { isDoubtful, newID, once } from './once.mjs';
import { t, word } from './texts.mjs';

/** previewText says in a sentence what an order would do. */
export function previewText(o) {
  const known = v => (v ?? '') !== '';
  const at = known(o.average_price) ? t(' at {0}', ofMarket(o.symbol, Number(o.average_price))) : known(o.price) ? t(' at {0}', o.price) : '';
  const fee = known(o.fee) ? t(', fee {0}', moneyText(o.symbol, Number(o.fee))) : '';
  const part = o.filled_quantity > 0 && o.filled_quantity !== o.quantity ? t(', {0} of it', o.filled_quantity) : ''; // price and fee are of that
  return `${word(o.side)} ${o.quantity} ${o.symbol} ${word(o.type)}${part}${at}${fee}: ${word(o.status)}, ${word(o.broker)}${o.synthetic ? ' ' + t('(invented prices)') : ''}`;
}

/** twoSteps returns a function that tries an order, or, called without one, places the order
 * that it tried last. about tells two orders of equal values apart. It returns a sentence
 * about the order; onPlaced gets a line about a placed one. */
export function twoSteps(transport, onPlaced) {
  let order, about; // that was tried last
  let id; // of an attempt to place it whose answer was lost
  const isInDoubt = () => Boolean(id) || isDoubtful('place_order', order, about);
  const attempt = async () => {
    // With an id of its own it is not taken for the repetition of an equal order.
    const reply = JSON.parse(await transport.call('place_order', { ...order, dry_run: true, client_order_id: newID() }));
    const doubt = isInDoubt() ? '. ' + t('An order with these values may have been placed already: its answer was lost. Placing it asks with the same id and cannot place it twice.') : '';
    return t('Would be: {0}', previewText(reply)) + (reply.note ? '. ' + t('Note: {0}', reply.note) : '') + doubt;
  };
  const place = async () => {
    const mine = order;
    const { side, quantity, symbol, type } = mine;
    const words = isInDoubt() ? t('Placed, asked again with the same id') : t('Placed');
    const reply = await once(transport, 'place_order', mine, 'client_order_id', { about, id }).catch(err => {
      const doubtful = isDoubtful('place_order', mine, about);
      if (mine === order) id = doubtful ? err.id : undefined;
      const what = `${word(side)} ${quantity} ${symbol} ${word(type)}`;
      throw doubtful ? unanswered(t('It is not known whether this order was placed: {0}; {1}. Placing it again asks with the same id and cannot place it twice.', what, err.message)) : err;
    });
    if (mine === order) id = undefined;
    await onPlaced(t('order {0}: {1}', reply.order_id, previewText(reply)));
    return `${words}: ${previewText(reply)}`;
  };
  return (given, what) => {
    if (!given) return place();
    if (JSON.stringify([given, what]) !== JSON.stringify([order, about])) id = undefined;
    [order, about] = [given, what];
    return attempt();
  };
}

/** ticket returns the form of an order: {element, change}. getSymbol names what the chart
 * shows; what is written is the projected order, and what is drawn of that is written here.
 * change ends the preview, which is of one symbol. */
export function ticket(getSymbol, draft) {
  const number = { inputmode: 'decimal', size: 8, autocomplete: 'off' };
  const side = select({ name: 'side' }, ['buy', 'sell']);
  const type = select({ name: 'ordertype' }, ['market', 'limit', 'stop']);
  type.append(el('option', { value: 'stop_limit', hidden: true }, word('stop_limit'))); // one that is changed has its limit already
  const [quantity, price, ...ends] = ['quantity', 'price', ...exits].map(name => el('input', { name, ...number, disabled: name === 'price' }));
  const said = el('p', { role: 'status', class: 'preview' });
  const place = button(t('Place this order'), () => step(), { class: 'strong', hidden: true });
  let turn = 0; // counts previews and changes: what comes later for an earlier one cannot be placed
  let typing = false;

  /** say shows a text in place of the preview; only a preview can be placed, and again what
   * may have been placed. */
  const say = (text, placeable) => {
    said.textContent = text;
    if (!placeable && document.activeElement === place) look.focus();
    place.hidden = !placeable;
    price.disabled = type.value === 'market';
  };
  const step = async order => {
    const mine = turn;
    say(order ? '' : t('Placing…'));
    const [text, placeable] = await draft.send(order).then(words => {
      if (!order) draft.set();
      return [words, Boolean(order)];
    }, err => [err.message, !order && err.unanswered]);
    if (mine === turn || !order) say(text, placeable && mine === turn); // an order that was placed is told in any case
  };
  const change = () => {
    turn++;
    say('');
  };
  /** written returns the order of the fields; of one that is changed, the rest stays. */
  const written = () => {
    const { order = {} } = draft;
    const { replaces } = order;
    const all = { ...(order.type === type.value ? order : { replaces }), symbol: getSymbol(), side: side.value, type: type.value, quantity: quantity.value.trim() };
    if (all.type !== 'market') all[entryOf(all)] = price.value.trim();
    exits.forEach((exit, k) => { all[exit] = ends[k].value.trim() || undefined; });
    return all;
  };
  const write = () => {
    change();
    typing = true;
    draft.set(written());
    typing = false;
  };
  draft.watch(order => {
    if (typing) return;
    [side.value, type.value] = [order?.side ?? side.value, order?.type ?? 'market'];
    quantity.value = order?.quantity ?? quantity.value;
    price.value = order?.[entryOf(order)] ?? '';
    exits.forEach((exit, k) => { ends[k].value = order?.[exit] ?? ''; });
    change();
  });
  const preview = () => {
    turn++;
    return step(written());
  };
  const look = button(t('Preview'), preview);
  const element = entry({ class: 'ticket', 'aria-label': t('Order'), oninput: write }, preview,
    field(t('Side'), side), field(t('Type'), type), field(t('Quantity'), quantity), field(t('Price'), price), field(t('Stop loss'), ends[0]), field(t('Take profit'), ends[1]), look, place, said);
  return { element, change };
}
