// The panels beside and below the owner's chart. Each gets the account, the transport that calls tools and the owner's
// functions, say for what went wrong, changed for what was done, and lead, which shows a place on the chart.
import { conditionText, isOpen, learn, moneyText, ofMarket, orderText, unitsText } from './account.mjs';
import { button, cards, el, entry, panel, plain, secondPress, table, workButton } from './dom.mjs';
import { exactText, fixedText, priceText, profitText, signed } from './format.mjs';
import { signalName } from './look.mjs';
import { Draft } from './order.mjs';
import { unasked } from './series.mjs';
import { recall, remember } from './store.mjs';
import { t, word } from './texts.mjs';

/** listPanel returns a panel, {element, show, title, count}, with a table, or cards if there are no headings, of items,
 * each with its cells. items returns null if there is no such list; none is the text for an empty one. */
function listPanel(title, headings, none, items, cells, ...more) {
  const list = headings ? table(title, title, headings, none) : cards(title, none);
  const made = { title, element: panel(title, list.element, ...more), count: 0, show };
  async function show() {
    const shown = await items();
    made.element.hidden = shown === null;
    made.count = shown?.length ?? 0;
    list.fill((shown ?? []).map(cells));
  }
  return made;
}

/** at writes a time on the clock of the browser: 2026-01-31 14:30. */
const at = text => (text ? new Date(text).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'short' }) : '');

/** told writes a number of a position, and an empty text for a missing one. */
const told = (text, write) => (text === null ? '' : write(Number(text)));

/** linked returns a text that leads to a place on the chart, where there is one beside the panel: a symbol, and from
 * when to when, in milliseconds. what names the place for readers. */
const linked = ({ lead }, text, what, ...place) => (lead ? button(text, () => lead(...place), { class: 'link', 'aria-label': t('Show {0} on the chart', what) }) : text);

/** closeButton returns a button that closes a position. Its first press says what that would do. */
function closeButton({ symbol, side, quantity, entry_price }, { transport, say, changed }) {
  const draft = new Draft(transport, changed, `${quantity} at ${entry_price}`);
  const order = { symbol, side: side === 'long' ? 'sell' : 'buy', type: 'market', quantity: 'all' };
  const name = (b, armed) => {
    const [textContent, ariaLabel] = armed ? [t('Really close'), t('Really close the position in {0}', symbol)] : [t('Close'), t('Close the position in {0}', symbol)];
    Object.assign(b, { textContent, ariaLabel });
  };
  const preview = async () => {
    draft.set(order);
    say(await draft.preview());
  };
  return secondPress(name, preview, () => draft.confirm().then(say), say).element;
}

/** positionsPanel shows what is held, and what all positions have made. */
export function positionsPanel(shared) {
  const { account } = shared;
  const buttons = new Map(); // by symbol and side, so that a look at the account does not take back a first click
  const heldKey = p => `${p.side} ${p.quantity} ${p.symbol}`;
  const close = p => buttons.get(heldKey(p)) ?? buttons.set(heldKey(p), closeButton(p, shared)).get(heldKey(p));
  const line = el('p', { class: 'soft' });
  const held = () => {
    const all = account.held();
    for (const key of buttons.keys()) if (!all.some(p => heldKey(p) === key)) buttons.delete(key); // a new position is not asked about with an old click
    line.textContent = account.positions.length ? sumsText(account) : '';
    return all;
  };
  const headings = [t('Symbol'), t('Side'), t('Quantity'), t('Entry'), t('Price'), t('Profit'), t('Realized'), ''];
  return listPanel(t('Positions'), headings, t('Nothing is held.'), held, p => [
    linked(shared, p.symbol, p.symbol, p.symbol), word(p.side), told(p.quantity, exactText), ...[p.entry_price, p.current_price].map(v => told(v, x => ofMarket(p.symbol, x))),
    ...[p.unrealized_pnl, p.realized_pnl].map(v => told(v, x => moneyText(p.symbol, x, true))),
    Number(p.quantity) > 0 ? close(p) : ''], line);
}

/** sumsText says what all positions have made, per currency. */
function sumsText({ positions, whole }) {
  const open = positions.filter(p => Number(p.quantity) > 0);
  const sum = unitsText(positions, 'realized_pnl');
  const realized = whole ? t('Realized in all, less fees: {0}.', sum) : t('Realized by these positions, less fees: {0}.', sum);
  return realized + (open.length ? ' ' + t('Open: {0}.', unitsText(open, 'unrealized_pnl')) : '');
}

const tradesShown = 20; // of a page

/** tradesPanel shows trades from flat to flat in pages, the last first, and above them what the closed ones have made,
 * as a sum and as a line. The server is asked while they are seen, when an order has changed. */
export function tradesPanel(shared) {
  const { account, say } = shared;
  const curve = el('div', { class: 'equity', role: 'img', 'aria-label': t('Realized profit over time') });
  const line = el('p', { class: 'soft' });
  let [trades, first, known] = [[], 0];
  const [newer, older] = [[t('Newer'), -tradesShown], [t('Older'), tradesShown]].map(([text, by]) => workButton(text, () => {
    first += by;
    return list.show();
  }, say));
  const look = async () => {
    const state = account.orders.map(o => o.updated_at).join();
    if (state === known || !list.element.checkVisibility()) return;
    const [all, report] = await Promise.all([account.all('get_orders', { view: 'trades' }, 'trade_id', 100), account.ask('get_orders', { view: 'report' })]);
    [trades, first, known] = [all, 0, state];
    line.textContent = report.all.map(reportText).join(' ');
    const sums = madeBy(trades);
    curve.hidden = !sums?.length;
    curve.replaceChildren(lineOf([0, ...sums ?? []]));
  };
  const page = async () => {
    await look().catch(err => say(err.message));
    [newer.hidden, older.hidden] = [first === 0, first + tradesShown >= trades.length];
    return trades.slice(first, first + tradesShown);
  };
  const headings = [t('Symbol'), t('Side'), t('Opened'), t('Closed'), t('Quantity'), t('Entry'), t('Exit'), t('Profit'), 'R', t('Most ahead'), t('Most behind')];
  const list = listPanel(t('Trades'), headings, t('No trades yet.'), page, trade => {
    const { symbol, side, quantity, opened_at, closed_at, why = {} } = trade;
    const cell = (name, write) => (trade[name] === null ? el('span', { title: why[name] }, '–') : write(Number(trade[name])));
    const [price, money] = [v => ofMarket(symbol, v), v => moneyText(symbol, v, true)];
    return [linked(shared, symbol, `${symbol}, ${at(opened_at)}`, symbol, Date.parse(opened_at), Date.parse(closed_at ?? '')), word(side), at(opened_at), at(closed_at), told(quantity, exactText),
      cell('entry_price', price), cell('exit_price', price), cell('profit', money), cell('r', v => signed(v, 2)), cell('best', money), cell('worst', money)];
  }, el('div', { class: 'add' }, newer, older));
  list.element.querySelector('header').after(line, curve);
  return { title: list.title, element: list.element, show: list.show };
}

/** madeBy returns what closed trades have made, one after the other, from the oldest on; nothing if they are in
 * several currencies, or nobody knows what one has made. trades has the last first. */
export function madeBy(trades) {
  const closed = trades.filter(trade => trade.status === 'closed').reverse();
  if (closed.some(trade => trade.profit === null || trade.currency !== closed[0].currency)) return undefined;
  let sum = 0;
  return closed.map(trade => (sum += Number(trade.profit)));
}

/** reportText says what closed trades of a currency have made. */
const reportText = ({ trades, currency, win_rate, profit, profit_factor, r }) => [
  t('{0} closed', trades), win_rate !== null && t('{0}% won', fixedText(100 * win_rate, 0)), `${profitText(Number(profit))}\u00a0${currency}`,
  profit_factor !== null && t('profit factor {0}', fixedText(Number(profit_factor), 2)), r.average !== null && t('{0} R on average', signed(Number(r.average), 2)),
].filter(text => text).join(' · ') + '.';

const mostOrders = 50; // that are listed beside the open ones

/** ordersPanel shows all open orders, with a button each, and after them the newest of the others. */
export function ordersPanel(shared) {
  const { account, transport, say, changed } = shared;
  const more = el('p', { class: 'soft', hidden: true }, t('All open orders, and the newest {0} of the others; older ones are not listed here.', mostOrders));
  const rows = () => {
    const listed = account.listed(mostOrders);
    more.hidden = !listed.more;
    return listed.rows;
  };
  return listPanel(t('Orders'), [t('Time'), t('Order'), t('Status'), ''], t('No orders yet.'), rows, o => {
    const cancel = () => transport.call('cancel_order', { order_id: o.order_id }).then(() => changed());
    const time = at(o.created_at);
    return [linked(shared, time, `${o.symbol}, ${time}`, o.symbol, Date.parse(o.created_at)), orderText(o), word(o.status),
      isOpen(o) ? workButton(t('Cancel'), cancel, say, { 'aria-label': t('Cancel order {0}', o.order_id) }) : ''];
  }, more);
}

/** alertsPanel shows the alerts that wait, each with its note, which can be edited: that sets the alert anew. */
export function alertsPanel(shared) {
  const { account, transport, say, changed } = shared;
  return listPanel(t('Alerts'), [t('Symbol'), t('Waits for'), t('Note'), ''], t('No alerts wait.'), () => account.alerts, a => {
    const renew = async input => {
      if (!account.alerts.some(other => other.alert_id === a.alert_id)) return say(t('This alert has fired or was removed meanwhile.'));
      const set = await account.renew(a, { note: input.value.trim() });
      input.defaultValue = input.value; // it is no longer typed
      return changed(t('alert {0} on {1} instead of {2}, with another note', set.alert_id, a.symbol, a.alert_id));
    };
    const which = t('the alert on {0}, {1}', a.symbol, conditionText(a));
    const onchange = e => renew(e.target).catch(err => say(err.message));
    const note = el('input', { maxlength: 200, dir: 'auto', 'aria-label': t('Note of {0}', which), value: plain(a.note ?? ''), onchange });
    const cancel = () => transport.call('cancel_alert', { alert_id: a.alert_id }).then(() => changed(t('alert {0} on {1} was cancelled', a.alert_id, a.symbol)));
    return [linked(shared, a.symbol, a.symbol, a.symbol), conditionText(a), note, workButton(t('Remove'), cancel, say, { 'aria-label': t('Remove {0}', which) })];
  });
}

/** firedText says what happened, with the note of the alert. */
export const firedText = n => (n.message ?? `${n.symbol}: ${n.condition?.type} ${n.value}`) + (n.note ? ' ' + t('Note: {0}', n.note) : '');

/** ownerPanels returns the lists of what only the owner sees: orders that wait for a yes, the logins, the messages
 * that could not be delivered, the alerts that have fired, and who did what. */
export function ownerPanels(shared) {
  const { transport: wire, say, changed } = shared;

  // Each order is a card with what is ordered, what it is worth and with which money, below that the two
  // answers, and folded all else that a person has to know of it.
  const approvals = listPanel(t('Orders to approve'), null, t('No order waits for you.'), () => wire.owner('approvals'), ({ id, lines: [order, ...facts], real, gist, page, until }) => {
    const refuse = () => wire.owner('approve', { id, answer: 'no' }).then(say).then(changed);
    // A yes is given on the page that asks for the passphrase, not with this page's token.
    const approve = async () => {
      window.addEventListener('focus', () => changed(), { once: true }); // the person comes back from there with an answer
      open(page, '_blank', 'noopener');
    };
    const buttons = [[t('Approve'), approve, 'strong'], [t('Refuse'), refuse, 'danger']].map(([text, work, kind]) => workButton(text, work, say, { class: kind, 'aria-label': `${text}: ${order}` }));
    const details = el('details', {}, el('summary', {}, t('All about it; answer until {0}', at(until))), el('ul', {}, ...facts.map(line => el('li', {}, line))));
    const gists = [order, gist, real ? t('REAL MONEY') : t('paper money')];
    return [el('strong', { class: real ? 'real' : '' }, gists.filter(part => part).join(' · ')), el('div', { class: 'add' }, ...buttons), details];
  });

  const clients = listPanel(t('Clients'), [t('Client'), t('May'), t('Since'), t('Last used'), t('From'), ''], t('Nobody is logged in.'), () => wire.owner('clients'), l => {
    const end = () => wire.owner('revoke', { id: l.id }).then(say).then(changed);
    return [l.client, l.scope, at(l.since), at(l.used), l.from, workButton(t('End'), end, say, { class: 'danger', 'aria-label': t('End the login {0} of {1}', l.id, l.client) })];
  });

  const letters = listPanel(t('Messages not delivered'), [t('Given up'), t('To'), t('Message'), t('Why')], t('None: every message has arrived or is on its way.'),
    () => wire.owner('letters'), d => [at(d.at), d.to, d.text, d.reason]);

  const all = []; // that have fired since the page was opened, the newest first
  const fired = listPanel(t('Fired alerts'), [t('Time'), t('Symbol'), t('What happened')], t('Nothing has fired since the page was opened.'), () => all,
    n => [at(n.triggered_at), linked(shared, n.symbol, `${n.symbol}, ${at(n.triggered_at)}`, n.symbol, Date.parse(n.triggered_at)), firedText(n)]);
  fired.add = n => {
    if (!all.some(old => old.alert_id === n.alert_id && old.triggered_at === n.triggered_at)) all.unshift(n);
    all.length = Math.min(all.length, 50);
    fired.show();
  };

  const text = el('pre', { tabindex: 0, role: 'region', 'aria-label': t('The end of the journal') });
  const read = async () => { text.textContent = plain((await wire.owner('audit')).reverse().join('\n')) || t('Nothing was done yet.'); };
  const title = t('Who did what');
  const audit = { title, element: panel(title, workButton(t('Read the journal'), read, say), text) };
  return [Object.assign(approvals, { urgent: true }), clients, letters, fired, audit];
}

const mostWatched = 12;

/** watchPanel lists symbols with a small chart, the change, and the newest signal; the list is kept in this browser;
 * show gets the usual one. A click on one leads to it. */
export function watchPanel({ transport, lead }) {
  let symbols = [];
  const list = el('ul', { class: 'watch', tabindex: -1 });
  const keep = changed => {
    remember('wick-watch', changed);
    show();
  };
  const input = el('input', { 'aria-label': t('Symbol to watch'), placeholder: t('Symbol'), maxlength: 40 });
  const more = () => {
    const symbol = input.value.trim();
    input.value = '';
    if (symbol && !symbols.includes(symbol)) keep([...symbols, symbol].slice(-mostWatched));
  };
  const add = entry({ class: 'add', 'aria-label': t('Watch another symbol') }, more, input, button(t('Watch'), more));

  async function row(symbol) {
    const small = el('span', { class: 'small', 'aria-hidden': 'true' });
    const [words, told] = [el('span', {}, '…'), el('span')];
    const remove = button('×', () => {
      keep(symbols.filter(s => s !== symbol));
      list.focus({ preventScroll: true }); // the button that had it is gone
    }, { 'aria-label': t('Watch {0} no more', symbol) });
    list.append(el('li', {}, el('button', { type: 'button', class: 'pick', onclick: () => lead(symbol) }, el('span', {}, symbol), small, words, told), remove));
    try {
      const data = JSON.parse(await unasked('', interval => transport.call('generate_chart', { symbol, interval: interval ?? '1h', bars: 48, indicators: ['rsi', 'macd'], format: 'series' })));
      const closes = data.bars.map(b => b.c);
      learn(symbol, data.precision);
      const change = (closes.at(-1) / closes[0] - 1) * 100;
      const [newest] = Object.values(data.indicators).flatMap(i => i.signals ?? []).filter(s => s.x >= closes.length - 6 && !s.silent).sort((a, b) => b.x - a.x);
      words.textContent = `${priceText(closes.at(-1), data.precision)} ${signed(change, 2)}%`;
      if (newest) told.title = told.textContent = signalName(newest.label);
      small.append(lineOf(closes));
    } catch (err) {
      words.title = words.textContent = err.message;
    }
  }
  function show(usual = []) {
    symbols = recall('wick-watch', usual).map(String);
    list.replaceChildren();
    symbols.forEach(row);
  }
  return { element: panel(t('Watchlist'), list, add), show };
}

/** lineOf returns a picture of values as a line, in the colour of a rise or of a fall. */
function lineOf(values) {
  const [picture, line] = ['svg', 'polyline'].map(name => document.createElementNS('http://www.w3.org/2000/svg', name));
  const [lo, hi] = [Math.min(...values), Math.max(...values)];
  line.setAttribute('points', values.map((v, i) => `${i / Math.max(1, values.length - 1)},${hi > lo ? (hi - v) / (hi - lo) : 0.5}`).join(' '));
  picture.append(line);
  picture.classList.add(values.at(-1) < values[0] ? 'fall' : 'rise');
  picture.setAttribute('viewBox', '0 0 1 1');
  picture.setAttribute('preserveAspectRatio', 'none');
  return picture;
}

/** tabs returns the row of tabs with the panels below it, and refresh, which writes how many things each panel lists
 * and leaves out those that are hidden. A panel is {title, element, count, show, urgent}; where something new is
 * listed in an urgent one, it comes to the front. */
export function tabs(label, panels) {
  const row = el('div', { role: 'tablist', class: 'tabs', 'aria-label': label, onkeydown: move });
  const all = panels.map((panel, i) => {
    const button = el('button', { type: 'button', role: 'tab', id: `tab-${i}`, 'aria-controls': `pane-${i}`, onclick: () => pick(one) });
    const pane = el('div', { role: 'tabpanel', id: `pane-${i}`, 'aria-labelledby': `tab-${i}` }, panel.element);
    const one = { panel, button, pane, before: 0 };
    return one;
  });
  row.append(...all.map(one => one.button));

  function pick(chosen) {
    for (const one of all) {
      one.pane.hidden = one !== chosen;
      one.button.ariaSelected = String(one === chosen);
      one.button.tabIndex = one === chosen ? 0 : -1;
    }
    chosen.panel.show?.();
  }
  function move(e) {
    const shown = all.filter(one => !one.button.hidden);
    const next = shown.at((shown.findIndex(one => one.button === e.target) + ({ ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? NaN)) % shown.length);
    if (!/^Arrow(Left|Right)$/.test(e.key)) return;
    pick(next);
    next.button.focus();
  }
  function refresh() {
    for (const one of all) {
      const { title, element, count = 0, urgent } = one.panel;
      const text = count ? `${title} ${count}` : title;
      if (one.button.textContent !== text) one.button.textContent = text;
      one.button.hidden = element.hidden;
      if (urgent && count > one.before && !row.parentElement.contains(document.activeElement)) pick(one);
      one.before = count;
    }
    if (!all.some(one => !one.pane.hidden && !one.button.hidden)) pick(all.find(one => !one.button.hidden));
  }
  const element = el('div', { class: 'panes' }, row, ...all.map(one => one.pane));
  pick(all.find(one => !one.panel.urgent));
  refresh();
  return { element, refresh };
}
