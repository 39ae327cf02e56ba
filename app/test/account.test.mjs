// What the page says of the account: sums, orders, alerts. Run with: node --test app/test
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Account, conditionText, learn, moneyText, ofMarket, orderText, unitOf, unitsText } from '../page/account.mjs';
import { profitText } from '../page/format.mjs';
import { setLook } from '../page/look.mjs';
import { madeBy } from '../page/panels.mjs';

setLook(JSON.parse(readFileSync(new URL('look.json', import.meta.url))));

// A profit of 0.0048 BTC is about 500 dollars: with two decimals it was "+0.00".
test('a profit has digits enough for its size', () => {
  const got = [0.0048, -0.00481234, 1.23456, 12.3456, -29631.331, 0, 1e-7, 0.1, -250, 1.5e-11].map(profitText);
  assert.deepEqual(got, ['+0.0048', '−0.004812', '+1.235', '+12.35', '−29,631.33', '0.00', '+0.0000001', '+0.10', '−250.00', '+1.500e-11']);
});

// An average of fills was shown as 94.96746 where the market has two decimals, a fee as 1.80671291.
test('a price has the decimals of its market, and a sum its currency', () => {
  assert.equal(ofMarket('SOLUSDT', 94.96746), '94.96746', 'nothing is known of the market');
  learn('SOLUSDT', 2);
  learn('SOLUSDT', 1);
  assert.deepEqual([94.96746, 94.9, 95].map(v => ofMarket('SOLUSDT', v)), ['94.97', '94.9', '95']);
  assert.equal(ofMarket('SOLUSDT', NaN), '–');
  assert.deepEqual([moneyText('BTCUSDT', 23.97032118), moneyText('ETHBTC', -0.00017014, true), moneyText('BTCUSDT', 2, true), moneyText('AAA', 1)].map(text => text.replace('\u00a0', ' ')),
    ['23.97 USDT', '−0.0001701 BTC', '+2.00 USDT', '1.00']);
});

// The currencies by market.Currency, which reads more than these forms; what is not sure stays
// with its symbol, so that nothing is added to what it may not be added to.
test('profits are added per currency', () => {
  const units = { BTCUSDT: 'USDT', 'BTC-USD': 'USD', ETHBTC: 'BTC', BBBEUR: 'EUR', BIGJPY: 'JPY', BTC_UAH: 'BTC_UAH', AAA: 'AAA', BTCBUSD: 'BTCBUSD', 'BRK-B': 'BRK-B', GBTC: 'GBTC' };
  for (const [symbol, unit] of Object.entries(units)) assert.equal(unitOf(symbol), unit, symbol);
  const position = (symbol, realized_pnl, unrealized_pnl) => ({ symbol, quantity: 1, realized_pnl, unrealized_pnl });
  const list = [position('BTCUSDT', '10.5', '1'), position('ETHUSDT', '2', null), position('ETHBTC', '0.0048', '0'), position('AAA', '-3', '2'), position('SOLEUR', '0', '0')];
  const text = member => unitsText(list, member).replaceAll('\u00a0', ' '); // a number stays with its currency
  assert.equal(text('realized_pnl'), '+12.50 USDT, +0.0048 BTC, −3.00 (AAA)');
  assert.equal(text('unrealized_pnl'), '+2.00 (AAA), not known in USDT');
  assert.equal(unitsText([], 'realized_pnl'), '0.00');
});

/** book is a transport with lists as long as given, cut as the tools cut them. */
function book(lists, limit = 500_000) {
  const asked = [];
  const call = async (tool, args) => {
    asked.push([tool, args]);
    const all = lists[tool + (args.filter ? ' ' + args.filter : '')] ?? [];
    return JSON.stringify(all.slice(args.offset ?? 0, (args.offset ?? 0) + (args.limit ?? 100)));
  };
  return { transport: { call, limit }, asked };
}

const orders = (n, more) => Array.from({ length: n }, (_, i) => ({ order_id: `o${n - i}`, symbol: 'A', side: 'buy', status: 'cancelled', average_price: null, created_at: new Date(1e12 + 1000 * (n - i)).toISOString(), ...more }));

// One open order and 300 newer ones that were cancelled: it had no row and could not be
// cancelled on the page.
test('an open order is listed however many newer ones there are', async () => {
  const open = { ...orders(1)[0], order_id: 'old', status: 'open', created_at: '2000-01-01T00:00:00Z' };
  const { transport } = book({ get_orders: orders(300), 'get_orders open': [open] });
  const account = new Account(transport);
  await account.refresh();
  assert.deepEqual(account.open, [open]);
  const { rows, more } = account.listed(50);
  assert.deepEqual([rows.length, rows[0].order_id, rows[1].order_id, more], [51, 'old', 'o300', true]);
  account.orders = orders(49);
  assert.equal(account.listed(50).more, false);
});

test('all alerts and open orders are asked for, in pages that a host passes on', async () => {
  for (const [limit, size] of [[500_000, 500], [100_000, 100]]) {
    const alerts = Array.from({ length: 720 }, (_, i) => ({ alert_id: 'a' + i, symbol: 'A', condition: { price_above: 1 } }));
    const { transport, asked } = book({ list_alerts: alerts, 'get_orders open': orders(size, { status: 'open' }) }, limit);
    const account = new Account(transport);
    await account.refresh();
    assert.deepEqual([account.alerts.length, account.open.length], [720, size]);
    assert.ok(asked.every(([, args]) => !(args.limit > size)), 'no page is longer');
  }
});

// By hand, the last first, as the tool lists them; the open one has made something already.
test('a curve is what closed trades made, in one currency', () => {
  const closed = (profit, currency = 'USDT') => ({ status: 'closed', profit, currency });
  const list = [{ status: 'open', profit: -1, currency: 'USDT' }, closed(-5), closed(30), closed(-2)];
  assert.deepEqual(madeBy(list), [-2, 28, 23]);
  assert.equal(madeBy([...list, closed(1, 'EUR')]), undefined, 'two currencies');
  assert.equal(madeBy([...list, closed(null)]), undefined, 'one that nobody knows');
  assert.deepEqual(madeBy([]), []);
});

test('an order in a line', () => {
  const order = more => orderText({ side: 'buy', quantity: '10', symbol: 'AAA', type: 'market', price: null, average_price: null, filled_quantity: '0', status: 'open', ...more });
  assert.equal(order({ type: 'limit', price: '100.5' }), 'buy 10 AAA limit at 100.5');
  assert.equal(order({ type: 'limit', price: '100.5', average_price: '100', filled_quantity: '3', status: 'cancelled' }), 'buy 10 AAA limit at 100.5; 3 of it filled at 100');
  assert.equal(order({ average_price: '100', filled_quantity: '10', status: 'filled' }), 'buy 10 AAA market; filled at 100');
  assert.equal(order({ type: 'stop', stop_price: '120' }), 'buy 10 AAA stop at 120');
  assert.equal(order({ type: 'stop_limit', stop_price: '120', price: '130' }), 'buy 10 AAA stop limit, stop at 120, limit at 130');
  assert.equal(order({ type: 'trailing_stop', stop_price: '95', trail_percent: '5' }), 'buy 10 AAA trailing stop at 95, trails by 5%');
  assert.equal(order({ type: 'trailing_stop', stop_price: '95', trail_amount: '2.5', trail_percent: '0' }), 'buy 10 AAA trailing stop at 95, trails by 2.5');
  assert.equal(order({ when: { rule: 'close > 5', interval: '1h' } }), 'buy 10 AAA market, when close > 5');
  assert.equal(order({ when: { rule: 'close > 5', acted_at: '2026-01-01T00:00:00.000Z' }, average_price: '100', filled_quantity: '10' }), 'buy 10 AAA market; filled at 100');
});

test('what an alert waits for, whole', () => {
  const signal = (more, interval = '4h') => conditionText({ interval, condition: { indicator_signal: more } });
  assert.equal(conditionText({ condition: { price_above: 150 }, interval: '' }), 'price at or above 150');
  assert.equal(conditionText({ condition: { profit_below: -500, of: 'day' }, interval: '' }), 'day profit at or below -500');
  assert.equal(conditionText({ condition: { at: '2026-11-20T15:30', timezone: 'America/New_York' }, interval: '' }), '2026-11-20T15:30 America/New_York');
  assert.equal(conditionText({ condition: { daily: '15:30', weekdays: ['mon', 'fri'] }, interval: '' }), 'daily at 15:30 UTC, mon fri');
  assert.equal(signal({ indicator: 'rule', signal: 'becomes_true', when: 'rsi(14) < 30' }), 'rule: rsi(14) < 30 becomes true, 4h');
  assert.equal(signal({ indicator: 'rsi', signal: 'rsi_oversold', length: 21 }), 'rsi length=21: rsi_oversold, 4h');
  assert.equal(signal({ indicator: 'macd', signal: 'crosses_above', level: 0, line: 'MACD', params: { fast: 5 } }), 'macd fast=5 MACD: crosses_above 0, 4h');
});
