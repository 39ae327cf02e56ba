// The panels below the owner's chart. Each is a heading, a table or list, and buttons;
// what they show comes from the tools and from the owner's functions.
import { equity, isOpen } from './account.mjs';
import { el, entry, fillRows, scrolling, tableOf } from './dom.mjs';
import { exactText, fixedText, priceText, signed } from './format.mjs';
import { coloursOf, signalName } from './look.mjs';
import { previewText } from './ticket.mjs';

/** panel returns a box with a heading. */
export function panel(title, ...children) {
  return el('section', { class: 'panel', 'aria-label': title }, el('header', {}, el('h2', {}, title)), ...children);
}

/** listPanel returns a panel with a table: {element, show(items)}. rowOf returns the cells
 * of an item; none is said where there are no items. */
function listPanel(title, headings, none, rowOf, ...more) {
  const table = tableOf(title, headings);
  return { element: panel(title, scrolling(table, title), ...more), show: items => fillRows(table, items.map(rowOf), none) };
}

/** workButton returns a button that is off while its work lasts and says what went wrong. */
export function workButton(text, work, say, attributes = {}) {
  const b = el('button', { type: 'button', ...attributes, onclick: async () => {
    b.disabled = true;
    await work().catch(err => say(err.message));
    b.disabled = false;
  } }, text);
  return b;
}

const at = text => (text ? new Date(text).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'short' }) : ''); // 2026-01-31 14:30, on the clock of the browser
const exact = text => (text === null ? '' : exactText(Number(text)));

/** closeButton closes a position by a second click, on what a trial of the order said. */
function closeButton(position, transport, say, changed) {
  const args = { symbol: position.symbol, side: position.side === 'long' ? 'sell' : 'buy', type: 'market', quantity: 'all' };
  let tried = false;
  const b = workButton('Close', async () => {
    const reply = JSON.parse(await transport.call('place_order', tried ? args : { ...args, dry_run: true }));
    say(`${tried ? 'Placed' : 'Would be'}: ${previewText(reply)}`);
    if (tried) await changed(`order ${reply.order_id}: ${previewText(reply)}`);
    else args.client_order_id = 'page-' + crypto.randomUUID(); // a second try of the same click is the same order
    tried = !tried;
    b.textContent = tried ? 'Really close' : 'Close';
  }, say, { 'aria-label': `Close the position in ${position.symbol}` });
  return b;
}

/** positionsPanel shows what is held, and what filled orders realized over time. */
export function positionsPanel(account, theme, transport, say, changed) {
  const buttons = new Map(); // by symbol and side, so that a look at the account does not take back a first click
  const close = p => {
    const key = `${p.side} ${p.quantity} ${p.symbol}`;
    if (!buttons.has(key)) buttons.set(key, closeButton(p, transport, say, changed));
    return buttons.get(key);
  };
  const canvas = el('canvas', { class: 'equity', role: 'img', 'aria-label': 'Realized profit over time' });
  const line = el('p', { class: 'soft' });
  const list = listPanel('Positions', ['Symbol', 'Side', 'Quantity', 'Entry', 'Price', 'Profit', 'Realized', ''], 'Nothing is held.', p => [
    p.symbol, p.side, exact(p.quantity), exact(p.entry_price), exact(p.current_price), p.unrealized_pnl === null ? '' : signed(Number(p.unrealized_pnl), 2),
    signed(Number(p.realized_pnl), 2), Number(p.quantity) > 0 ? close(p) : ''], canvas, line);
  const show = () => {
    list.show(account.positions);
    const points = equity(account.orders);
    const realized = points.at(-1)?.value ?? 0;
    const open = account.positions.reduce((sum, p) => sum + Number(p.unrealized_pnl ?? 0), 0);
    canvas.hidden = points.length === 0;
    line.textContent = points.length === 0 ? '' : `Realized ${signed(realized, 2)}, open ${signed(open, 2)}`;
    drawLine(canvas, [0, ...points.map(p => p.value), realized + open], theme());
  };
  return { element: list.element, show };
}

/** ordersPanel shows orders, the newest first, with a button on those that wait. */
export function ordersPanel(account, transport, say, changed) {
  const list = listPanel('Orders', ['Time', 'Order', 'Status', ''], 'No orders yet.', o => {
    const price = o.average_price ?? o.price;
    const cancel = workButton('Cancel', async () => {
      await transport.call('cancel_order', { order_id: o.order_id });
      await changed();
    }, say, { 'aria-label': `Cancel order ${o.order_id}` });
    return [at(o.created_at), `${o.side} ${exact(o.quantity)} ${o.symbol} ${o.type}${price === null ? '' : ' at ' + exact(price)}`, o.status, isOpen(o) ? cancel : ''];
  });
  return { element: list.element, show: () => list.show(account.orders.slice(0, 50)) };
}

/** conditionText says what an alert waits for. */
function conditionText(c) {
  if (c.price_above !== undefined) return `price at or above ${c.price_above}`;
  if (c.price_below !== undefined) return `price at or below ${c.price_below}`;
  const s = c.indicator_signal;
  return s ? `${s.indicator}: ${s.signal}${s.level === undefined ? '' : ' ' + s.level}` : JSON.stringify(c).slice(0, 120);
}

/** alertsPanel shows the alerts that wait, each with its note, which can be edited: that
 * sets the alert anew. */
export function alertsPanel(account, transport, say, changed) {
  const renew = async (a, note) => {
    const set = await account.renew(a, { note });
    await changed(`alert ${set.alert_id} on ${a.symbol} instead of ${a.alert_id}, with another note`);
  };
  const list = listPanel('Alerts', ['Symbol', 'Waits for', 'Note', ''], 'No alerts wait.', a => {
    const note = el('input', { maxlength: 200, 'aria-label': `Note of the alert on ${a.symbol}`, value: a.note ?? '', onchange: () => renew(a, note.value.trim()).catch(err => say(err.message)) });
    const cancel = workButton('Remove', async () => {
      await transport.call('cancel_alert', { alert_id: a.alert_id });
      await changed(`alert ${a.alert_id} on ${a.symbol} was cancelled`);
    }, say, { 'aria-label': `Remove the alert on ${a.symbol}` });
    return [a.symbol, conditionText(a.condition), note, cancel];
  });
  return { element: list.element, show: () => list.show(account.alerts) };
}

/** firedText says what happened, with the note of the alert. */
export function firedText(n) {
  return (n.message ?? `${n.symbol}: ${n.condition?.type} at ${n.value}`) + (n.note ? ` Note: ${n.note}` : '');
}

/** firedPanel lists fired alerts, the newest first. */
export function firedPanel() {
  const fired = [];
  const list = listPanel('Fired alerts', ['Time', 'Symbol', 'What happened'], 'Nothing has fired since the page was opened.', n => [at(n.triggered_at), n.symbol, firedText(n)]);
  const add = n => {
    if (!fired.some(old => old.alert_id === n.alert_id && old.triggered_at === n.triggered_at)) fired.unshift(n);
    list.show(fired.slice(0, 50));
  };
  list.show([]);
  return { element: list.element, add };
}

/** askedPanel is a listPanel whose items the server tells the owner. It is hidden where
 * there is no such list. rowOf gets show, too, to show what a button changed. */
function askedPanel(wire, path, title, headings, none, rowOf) {
  const list = listPanel(title, headings, none, item => rowOf(item, show));
  async function show() {
    const items = await wire.owner(path);
    list.element.hidden = items === null;
    list.show(items ?? []);
  }
  return { element: list.element, show };
}

/** clientsPanel lists the logins, each with a button that ends it. */
export function clientsPanel(wire, say) {
  return askedPanel(wire, 'clients', 'Clients', ['Client', 'May', 'Since', 'Last used', 'From', ''], 'Nobody is logged in.', (l, show) => {
    const end = workButton('End', async () => {
      say(await wire.owner('revoke', { id: l.id }));
      await show();
    }, say, { class: 'danger', 'aria-label': `End the login ${l.id} of ${l.client}` });
    return [l.client, l.scope, at(l.since), at(l.used), l.from, end];
  });
}

/** approvalsPanel lists the orders that wait for the owner's yes. */
export function approvalsPanel(wire, say) {
  return askedPanel(wire, 'approvals', 'Orders to approve', ['Until', 'Order', ''], 'No order waits for you.', (q, show) => {
    const answer = (word, text, kind) => workButton(text, async () => {
      say(await wire.owner('approve', { id: q.id, answer: word }));
      await show();
    }, say, { class: kind, 'aria-label': `${text}: ${q.lines[0]}` });
    return [at(q.until), el('ul', {}, ...q.lines.map(line => el('li', {}, line))), el('div', { class: 'add' }, answer('yes', 'Approve', 'strong'), answer('no', 'Refuse', 'danger'))];
  });
}

/** lettersPanel lists the messages that could not be brought to the owner. */
export function lettersPanel(wire) {
  return askedPanel(wire, 'letters', 'Messages not delivered', ['Given up', 'To', 'Message', 'Why'], 'None: every message has arrived or is on its way.', d => [at(d.at), d.to, d.text, d.reason]);
}

/** auditPanel shows the last lines of who did what. */
export function auditPanel(wire, say) {
  const text = el('pre', { tabindex: 0, role: 'region', 'aria-label': 'The end of the journal' });
  const load = async () => {
    const lines = await wire.owner('audit');
    text.textContent = lines.length ? lines.reverse().join('\n') : 'Nothing was done yet.';
  };
  return { element: panel('Who did what', workButton('Read the journal', load, say), text) };
}

/** keptSymbols returns the watchlist of this browser. */
function keptSymbols() {
  try {
    return JSON.parse(localStorage.getItem('wick-watch')) ?? ['BTCUSDT', 'ETHUSDT'];
  } catch {
    return ['BTCUSDT', 'ETHUSDT'];
  }
}

/** watchPanel lists symbols with a small chart, the change, and the newest signal; the
 * list is kept in this browser. */
export function watchPanel(transport, pick, theme, say) {
  let symbols = keptSymbols();
  const list = el('ul', { class: 'watch' });
  const keep = list => {
    symbols = list;
    localStorage.setItem('wick-watch', JSON.stringify(symbols));
    show().catch(err => say(err.message));
  };
  const input = el('input', { 'aria-label': 'Symbol to watch', placeholder: 'Symbol', maxlength: 40 });
  const more = () => {
    const symbol = input.value.trim();
    input.value = '';
    if (symbol && !symbols.includes(symbol)) keep([...symbols, symbol].slice(-12));
  };
  const add = entry({ class: 'add', 'aria-label': 'Watch another symbol' }, more, input, el('button', { type: 'button', onclick: more }, 'Watch'));

  async function row(symbol) {
    const small = el('canvas', { 'aria-hidden': 'true' });
    const words = el('span', {}, '…');
    const remove = el('button', { type: 'button', 'aria-label': `Watch ${symbol} no more`, onclick: () => keep(symbols.filter(s => s !== symbol)) }, '×');
    list.append(el('li', {}, el('button', { type: 'button', class: 'pick', onclick: () => pick(symbol) }, el('span', {}, symbol), small, words), remove));
    try {
      const data = JSON.parse(await transport.call('generate_chart', { symbol, interval: '1h', bars: 48, indicators: ['rsi', 'macd'], format: 'series' }));
      const closes = data.bars.map(b => b.c);
      const change = (closes.at(-1) / closes[0] - 1) * 100;
      const signals = Object.values(data.indicators).flatMap(i => i.signals ?? []).filter(s => s.x >= data.bars.length - 6 && !s.silent).sort((a, b) => b.x - a.x);
      words.textContent = `${priceText(closes.at(-1), data.precision)} ${signed(change, 2)}%${signals.length ? ' · ' + signalName(signals[0].label) : ''}`;
      drawLine(small, closes, theme());
    } catch (err) {
      words.textContent = err.message.slice(0, 80);
    }
  }
  async function show() {
    list.replaceChildren();
    await Promise.all(symbols.map(row));
  }
  return { element: panel('Watchlist', list, add), show };
}

/** drawLine draws values as a line over the whole canvas. */
function drawLine(canvas, values, theme) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const w = canvas.width = Math.round((canvas.clientWidth || 96) * ratio);
  const h = canvas.height = Math.round((canvas.clientHeight || 28) * ratio);
  if (values.length < 2) return;
  const [lo, hi] = [Math.min(...values), Math.max(...values)];
  const ctx = canvas.getContext('2d');
  ctx.strokeStyle = coloursOf(theme)[values.at(-1) >= values[0] ? 'up' : 'down'];
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  values.forEach((v, i) => ctx.lineTo((i / (values.length - 1)) * w, hi > lo ? 2 + ((hi - v) / (hi - lo)) * (h - 4) : h / 2));
  ctx.stroke();
}

/** healthText says how the server is in one line. */
export function healthText(h) {
  const parts = [h.status === 'ok' ? 'Running' : 'Needs its owner', `bars from ${h.source}`];
  const where = h.broker ? `${h.money === 'real' ? 'REAL MONEY at ' : ''}${h.broker}, account ${h.account}:` : 'paper trading';
  if (h.trade) parts.push(`${where} ${h.trading}`, `journal ${h.journal}`);
  if (h.feed_age_seconds !== undefined) parts.push(`prices ${fixedText(h.feed_age_seconds, 0)} s old`);
  return [...parts, h.version].join(' · ');
}
