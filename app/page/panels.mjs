// The panels below the owner's chart. Each is a heading, a table or list, and buttons;
// what they show comes from the tools and from the owner's functions.
import { equity, isOpen } from './account.mjs';
import { el, entry, fillRows, tableOf } from './dom.mjs';
import { exactText, fixedText, signed, valueText } from './format.mjs';
import { coloursOf } from './look.mjs';
import { previewText } from './ticket.mjs';

/** panel returns a box with a heading. */
export function panel(title, ...children) {
  return el('section', { class: 'panel', 'aria-label': title }, el('header', {}, el('h2', {}, title)), ...children);
}

/** button returns a button that is off while its work lasts and says what went wrong. */
export function workButton(text, work, say, attributes = {}) {
  const b = el('button', { type: 'button', ...attributes, onclick: async () => {
    b.disabled = true;
    try {
      await work();
    } catch (err) {
      say(err.message);
    }
    b.disabled = false;
  } }, text);
  return b;
}

/** scrolling puts a table where it may scroll, also by keys. */
function scrolling(table, label) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label + ', the list' }, table);
}

const at = text => (text ? text.replace('T', ' ').slice(0, 16) : '');

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
  const table = tableOf('Positions', ['Symbol', 'Side', 'Quantity', 'Entry', 'Price', 'Profit', 'Realized', '']);
  const buttons = new Map(); // by symbol and side, so that a look at the account does not take back a first click
  const close = p => {
    const key = `${p.side} ${p.quantity} ${p.symbol}`;
    if (!buttons.has(key)) buttons.set(key, closeButton(p, transport, say, changed));
    return buttons.get(key);
  };
  const canvas = el('canvas', { class: 'equity', role: 'img', 'aria-label': 'Realized profit over time' });
  const line = el('p', { class: 'soft' });
  const show = () => {
    fillRows(table, account.positions.map(p => [p.symbol, p.side, exactText(Number(p.quantity)), exactText(Number(p.entry_price)),
      p.current_price === null ? '' : exactText(Number(p.current_price)), p.unrealized_pnl === null ? '' : signed(Number(p.unrealized_pnl), 2), signed(Number(p.realized_pnl), 2), Number(p.quantity) > 0 ? close(p) : '']), 'Nothing is held.');
    const points = equity(account.orders);
    const open = account.positions.reduce((sum, p) => sum + Number(p.unrealized_pnl ?? 0), 0);
    canvas.hidden = points.length === 0;
    line.textContent = points.length === 0 ? '' : `Realized ${signed(points[points.length - 1].value, 2)}, open ${signed(open, 2)}`;
    drawLine(canvas, [0, ...points.map(p => p.value), (points[points.length - 1]?.value ?? 0) + open], theme());
  };
  return { element: panel('Positions', scrolling(table, 'Positions'), canvas, line), show };
}

/** ordersPanel shows orders, the newest first, with a button on those that wait. */
export function ordersPanel(account, transport, say, changed) {
  const table = tableOf('Orders', ['Time', 'Order', 'Status', '']);
  const show = () => fillRows(table, account.orders.slice(0, 50).map(o => {
    const price = o.average_price ?? o.price;
    const cancel = workButton('Cancel', async () => {
      await transport.call('cancel_order', { order_id: o.order_id });
      await changed();
    }, say, { 'aria-label': `Cancel order ${o.order_id}` });
    return [at(o.created_at), `${o.side} ${exactText(Number(o.quantity))} ${o.symbol} ${o.type}${price === null ? '' : ' at ' + exactText(Number(price))}`, o.status, isOpen(o) ? cancel : ''];
  }), 'No orders yet.');
  return { element: panel('Orders', scrolling(table, 'Orders')), show };
}

/** conditionText says what an alert waits for. */
export function conditionText(c) {
  if (c.price_above !== undefined) return `price at or above ${c.price_above}`;
  if (c.price_below !== undefined) return `price at or below ${c.price_below}`;
  const s = c.indicator_signal;
  return s ? `${s.indicator}: ${s.signal}${s.level === undefined ? '' : ' ' + s.level}` : JSON.stringify(c).slice(0, 120);
}

/** alertsPanel shows the alerts that wait, each with its note, which can be edited: that
 * sets the alert anew. */
export function alertsPanel(account, transport, say, changed) {
  const table = tableOf('Alerts', ['Symbol', 'Waits for', 'Note', '']);
  const renew = async (a, note) => {
    const set = await account.renew(a, { note });
    await changed(`alert ${set.alert_id} on ${a.symbol} instead of ${a.alert_id}, with another note`);
  };
  const show = () => fillRows(table, account.alerts.map(a => {
    const note = el('input', { maxlength: 200, 'aria-label': `Note of the alert on ${a.symbol}`, onchange: () => renew(a, note.value.trim()).catch(err => say(err.message)) });
    note.value = a.note ?? '';
    const cancel = workButton('Remove', async () => {
      await transport.call('cancel_alert', { alert_id: a.alert_id });
      await changed(`alert ${a.alert_id} on ${a.symbol} was cancelled`);
    }, say, { 'aria-label': `Remove the alert on ${a.symbol}` });
    return [a.symbol, conditionText(a.condition), note, cancel];
  }), 'No alerts wait.');
  return { element: panel('Alerts', scrolling(table, 'Alerts')), show };
}

/** firedText says what happened, with the note of the alert. */
export function firedText(n) {
  return (n.message ?? `${n.symbol}: ${n.condition?.type} at ${n.value}`) + (n.note ? ` Note: ${n.note}` : '');
}

/** firedPanel lists fired alerts, the newest first. */
export function firedPanel() {
  const table = tableOf('Fired alerts', ['Time', 'Symbol', 'What happened']);
  const fired = [];
  const show = () => fillRows(table, fired.slice(0, 50).map(n => [at(n.triggered_at), n.symbol, firedText(n)]), 'Nothing has fired since the page was opened.');
  const add = n => {
    if (!fired.some(old => old.alert_id === n.alert_id && old.triggered_at === n.triggered_at)) fired.unshift(n);
    show();
  };
  show();
  return { element: panel('Fired alerts', scrolling(table, 'Fired alerts')), add };
}

/** clientsPanel lists the logins, each with a button that ends it. */
export function clientsPanel(wire, say) {
  const table = tableOf('Clients', ['Client', 'May', 'Since', 'Last used', 'From', '']);
  const show = async () => {
    const logins = await wire.owner('clients');
    fillRows(table, logins.map(l => {
      const end = workButton('End', async () => {
        say(await wire.owner('revoke', { id: l.id }));
        await show();
      }, say, { class: 'danger', 'aria-label': `End the login ${l.id} of ${l.client}` });
      return [l.client, l.scope, at(l.since), at(l.used), l.from, end];
    }), 'Nobody is logged in.');
  };
  return { element: panel('Clients', scrolling(table, 'Clients')), show };
}

/** approvalsPanel lists the orders that wait for the owner's yes. It is hidden where none
 * needs one. */
export function approvalsPanel(wire, say) {
  const table = tableOf('Orders to approve', ['Until', 'Order', '']);
  const element = panel('Orders to approve', scrolling(table, 'Orders to approve'));
  const show = async () => {
    const list = await wire.owner('approvals');
    element.hidden = list === null;
    fillRows(table, (list ?? []).map(q => {
      const answer = (word, text, attributes) => workButton(text, async () => {
        say(await wire.owner('approve', { id: q.id, answer: word }));
        await show();
      }, say, { ...attributes, 'aria-label': `${text}: ${q.lines[0]}` });
      return [at(q.until), el('ul', {}, ...q.lines.map(line => el('li', {}, line))), el('div', { class: 'add' }, answer('yes', 'Approve', { class: 'strong' }), answer('no', 'Refuse', { class: 'danger' }))];
    }), 'No order waits for you.');
  };
  return { element, show };
}

/** lettersPanel lists the messages that could not be brought to the owner. It is hidden
 * where there is nowhere to send any. */
export function lettersPanel(wire) {
  const table = tableOf('Messages not delivered', ['Given up', 'To', 'Message', 'Why']);
  const element = panel('Messages not delivered', scrolling(table, 'Messages not delivered'));
  const show = async () => {
    const list = await wire.owner('letters');
    element.hidden = list === null;
    fillRows(table, (list ?? []).map(d => [at(d.at), d.to, d.text, d.reason]), 'None: every message has arrived or is on its way.');
  };
  return { element, show };
}

/** auditPanel shows the last lines of who did what. */
export function auditPanel(wire, say) {
  const text = el('pre', { tabindex: 0, role: 'region', 'aria-label': 'The end of the journal' });
  const load = async () => {
    const lines = await wire.owner('audit');
    text.textContent = lines.length ? lines.reverse().join('\n') : 'Nothing was done yet.';
  };
  return { element: panel('Who did what', workButton('Read the journal', load, say), text), load };
}

/** watchPanel lists symbols with a small chart, the change, and the newest signal; the
 * list is kept in this browser. */
export function watchPanel(transport, pick, theme, say) {
  const kept = 'wick-watch';
  let symbols;
  try {
    symbols = JSON.parse(localStorage.getItem(kept)) ?? ['BTCUSDT', 'ETHUSDT'];
  } catch {
    symbols = ['BTCUSDT', 'ETHUSDT'];
  }
  const list = el('ul', { class: 'watch' });
  const keep = () => {
    localStorage.setItem(kept, JSON.stringify(symbols));
    return show();
  };
  const input = el('input', { 'aria-label': 'Symbol to watch', placeholder: 'Symbol', maxlength: 40 });
  const more = () => {
    const symbol = input.value.trim();
    if (symbol && !symbols.includes(symbol)) symbols = [...symbols, symbol].slice(-12);
    input.value = '';
    keep().catch(err => say(err.message));
  };
  const add = entry({ class: 'add', 'aria-label': 'Watch another symbol' }, more, input, el('button', { type: 'button', onclick: more }, 'Watch'));

  async function row(symbol) {
    const small = el('canvas', { 'aria-hidden': 'true' });
    const words = el('span', {}, '…');
    const name = el('span', {}, symbol);
    const remove = el('button', { type: 'button', 'aria-label': `Watch ${symbol} no more`, onclick: () => {
      symbols = symbols.filter(s => s !== symbol);
      keep();
    } }, '×');
    const item = el('li', {}, el('button', { type: 'button', class: 'pick', onclick: () => pick(symbol) }, name, small, words), remove);
    list.append(item);
    try {
      const data = JSON.parse(await transport.call('generate_chart', { symbol, interval: '1h', bars: 48, indicators: ['rsi', 'macd'], format: 'series' }));
      const closes = data.bars.map(b => b.c);
      const last = closes[closes.length - 1];
      const change = ((last - closes[0]) / closes[0]) * 100;
      const signals = Object.values(data.indicators).flatMap(i => i.signals ?? []).filter(s => s.x >= data.bars.length - 6 && !s.silent).sort((a, b) => b.x - a.x);
      words.textContent = `${valueText(last)} ${signed(change, 2)}%${signals.length ? ' · ' + signals[0].label.replaceAll('_', ' ') : ''}`;
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
  ctx.strokeStyle = coloursOf(theme)[values[values.length - 1] >= values[0] ? 'up' : 'down'];
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  values.forEach((v, i) => ctx.lineTo((i / (values.length - 1)) * w, hi > lo ? 2 + ((hi - v) / (hi - lo)) * (h - 4) : h / 2));
  ctx.stroke();
}

/** healthText says how the server is in one line. */
export function healthText(h) {
  const parts = [`${h.status === 'ok' ? 'Running' : 'Needs its owner'}`, `bars from ${h.source}`];
  const where = h.broker ? `${h.money === 'real' ? 'REAL MONEY at ' : ''}${h.broker}, account ${h.account}:` : 'paper trading';
  if (h.trade) parts.push(`${where} ${h.trading}`, `journal ${h.journal}`);
  if (h.feed_age_seconds !== undefined) parts.push(`prices ${fixedText(h.feed_age_seconds, 0)} s old`);
  return parts.join(' · ') + ` · ${h.version}`;
}
