// Requests that get no answer: deadlines, what is said of them, and that no order is placed
// twice. Run with: node --test app/test
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Account } from '../page/account.mjs';
import { healthText } from '../page/health.mjs';
import { Draft } from '../page/order.mjs';
import { Wire } from '../page/wire.mjs';

/** turns lets promises go on. */
const turns = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };

/** hanging is a fetch that never answers, and gives up when it is told to. */
const hanging = (path, { signal }) => new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason)); });

const answer = (status, text) => async () => ({ status, ok: status < 300, text: async () => text });

/** failure returns the error of a promise. */
const failure = promise => promise.then(() => assert.fail('it did not fail'), err => err);

// A stopped server, or a line that swallows everything, left the page waiting for ever.
test('a request without an answer ends', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  globalThis.fetch = hanging;
  const wire = new Wire('token', () => {});
  for (const [ask, seconds] of [[() => wire.call('place_order', {}), 45], [() => wire.owner('halt', {}), 20]]) {
    const failed = failure(ask());
    await turns();
    mock.timers.tick(1000 * seconds);
    const err = await failed;
    assert.equal(err.message, `wick did not answer within ${seconds} s`);
    assert.equal(err.unanswered, true);
  }
  const failed = failure(wire.owner('health'));
  wire.gone.abort();
  assert.equal((await failed).message, 'the login has ended', 'not "signal is aborted without reason"');
  mock.timers.reset();
});

test('which answers leave it open whether something was done', async () => {
  const wire = new Wire('token', () => {});
  const said = async reply => {
    globalThis.fetch = reply;
    const { message, unanswered = false } = await failure(wire.call('place_order', {}));
    return [message, unanswered];
  };
  const result = r => answer(200, JSON.stringify({ jsonrpc: '2.0', id: 1, ...r }));
  assert.deepEqual(await said(async () => { throw new TypeError('Failed to fetch'); }), ['the connection to wick failed', true]);
  assert.deepEqual(await said(answer(502, '<html>bad gateway</html>')), ['wick did not answer: status 502', true]);
  assert.deepEqual(await said(result({ error: { code: -32603, message: 'failed inside' } })), ['failed inside', true]);
  assert.deepEqual(await said(result({ error: { code: -32602, message: 'no such argument' } })), ['no such argument', false]);
  assert.deepEqual(await said(result({ result: { isError: true, content: [{ type: 'text', text: 'halted' }] } })), ['halted', false]);
  globalThis.fetch = answer(504, '<html>gateway timeout</html>');
  const halt = await failure(wire.owner('halt', {}));
  assert.deepEqual([halt.message, halt.unanswered], ['wick did not answer: status 504', true]);
  globalThis.fetch = answer(409, 'this server runs without --trade\n');
  const refused = await failure(wire.owner('halt', {}));
  assert.deepEqual([refused.message, refused.unanswered], ['this server runs without --trade', undefined]);
  delete globalThis.fetch;
});

/** steps returns a function that tries an order or, without one, places what was tried. */
function steps(transport, about) {
  const draft = new Draft(transport, async () => {}, about);
  return order => {
    if (!order) return draft.confirm();
    draft.set(order);
    return draft.preview();
  };
}

// A line that broke after the order had arrived: "Failed to fetch", and the next click
// bought again.
test('an order whose answer was lost is asked for with the same id', async () => {
  const sent = [];
  let reply;
  const transport = { call: async (tool, args) => { sent.push(args); return reply(args); } };
  const good = args => JSON.stringify({ ...args, status: 'filled', broker: 'paper', order_id: 'o1' });
  const lost = args => { if (args.dry_run) return good(args); throw Object.assign(new Error('the connection to wick failed'), { unanswered: true }); };
  const ids = () => sent.filter(a => !a.dry_run).map(a => a.client_order_id);
  crypto.randomUUID = undefined; // as in a frame without TLS
  const send = steps(transport);
  const order = { symbol: 'A', side: 'buy', type: 'market', quantity: '3' };
  reply = lost;
  await send(order);
  const err = await failure(send());
  assert.match(err.message, /^It is not known whether this order was placed: buy 3 A market; the connection to wick failed\. .*same id.*cannot place it twice/);
  await failure(send()); // a second click without a preview
  await send(order);
  await failure(send());
  reply = good;
  assert.match(await send(order), /may have been placed already: its answer was lost\. .*same id/); // previewed again
  assert.match(await send(), /^Placed, asked again with the same id: /);
  assert.equal(new Set(ids()).size, 1, ids().join());
  assert.match(ids()[0], /^page-[0-9a-f]{32}$/);
  await send(order);
  await send();
  assert.equal(new Set(ids()).size, 2, 'a definite answer makes a new id');
  reply = lost;
  await send(order);
  await failure(send());
  reply = good;
  await send({ ...order, quantity: '4' });
  await send();
  assert.equal(new Set(ids()).size, 4, 'another order has another id');
  reply = args => { if (args.dry_run) return good(args); throw Object.assign(new Error('Trading is halted.'), { code: 'trading_halted' }); }; // as wire says it for people
  await send(order);
  assert.equal((await failure(send())).message, 'Trading is halted.');
  reply = good;
  await send(order);
  await send();
  assert.equal(ids().at(-2), ids().at(-4), 'it keeps its id while another order is placed');
  assert.equal(new Set(ids()).size, 5, 'a refusal is a definite answer');
  let late;
  reply = args => (args.dry_run ? good(args) : new Promise(resolve => { late = () => resolve(good(args)); }));
  await send(order);
  const first = send();
  await send(order); // while the first is under way
  const second = send();
  assert.equal(new Set(ids()).size, 6, 'two clicks before an answer are one order');
  late();
  await second;
  assert.ok(first);
});

/** shelf is a localStorage. */
const shelf = (items = new Map()) => ({ items, getItem: key => items.get(key) ?? null, setItem: (key, text) => { items.set(key, text); } });

/** reloaded returns calls.mjs as a page has it that was opened anew. */
let pages = 0;
const reloaded = () => import(`../page/calls.mjs?${++pages}`);

const idsOf = sent => new Set(sent.map(args => args.client_order_id));
const market = { symbol: 'A', side: 'buy', type: 'market', quantity: '3' };

// Another tab asked again and had the answer, so the browser's note was gone: this tab, which
// still said "cannot place it twice", placed a second order.
test('an order in doubt keeps its id when another tab has had the answer', async () => {
  globalThis.localStorage = shelf();
  const sent = [];
  let reply;
  const transport = { call: async (_, args) => { if (args.dry_run) return '{}'; sent.push(args); return reply(); } };
  const lost = () => { throw Object.assign(new Error('tool_timeout: of the host'), { unanswered: true }); };
  const send = steps(transport);
  reply = lost;
  await send(market);
  await failure(send());
  localStorage.items.clear(); // the other tab
  reply = () => '{"order_id":"o1"}';
  assert.match(await send(market), /may have been placed already/);
  assert.match(await send(), /^Placed, asked again with the same id/);
  assert.equal(idsOf(sent).size, 1);
  await send(market);
  assert.match(await send(), /^Placed: /);
  assert.equal(idsOf(sent).size, 2, 'the next one is another order');
  reply = lost;
  const close = steps(transport, '7 at 100');
  await close(market);
  await failure(close());
  reply = () => '{"order_id":"o3"}';
  const later = steps(transport, '9 at 110');
  assert.doesNotMatch(await later(market), /may have been placed/);
  assert.match(await later(), /^Placed: /);
  assert.equal(idsOf(sent).size, 4, 'closing another position is another order');
  reply = () => { throw new Error('currency: the account is in USD'); };
  await later(market);
  assert.equal((await failure(later())).message, 'currency: the account is in USD');
  delete globalThis.localStorage;
});

// The id lived in memory alone: after a reload the same order was placed a second time.
test('an order in doubt keeps its id beyond a reload, for a week', async () => {
  globalThis.localStorage = shelf();
  mock.timers.enable({ apis: ['Date'], now: 1e12 });
  const sent = [];
  let reply = () => { throw Object.assign(new Error('the connection to wick failed'), { unanswered: true }); };
  const transport = { call: async (_, args) => { sent.push(args); return reply(); } };
  const ask = async (order = market) => (await reloaded()).once(transport, 'place_order', order, 'client_order_id');
  const doubtful = async () => (await reloaded()).isDoubtful('place_order', market);
  await failure(ask());
  assert.equal(await doubtful(), true);
  await failure(ask());
  for (const message of ['too much of this client is under way', 'a person has to approve this order', 'unknown: the leader did not answer']) {
    reply = () => { throw new Error(message); };
    await failure(ask());
    assert.equal(await doubtful(), true, `${message}: it says nothing of the first attempt`);
  }
  assert.equal(idsOf(sent).size, 1);
  reply = () => '{"order_id":"o1"}';
  assert.deepEqual(await ask(), { order_id: 'o1' });
  assert.equal(await doubtful(), false);
  await ask();
  assert.equal(idsOf(sent).size, 2, 'an answer ends it');
  reply = () => 'cut off';
  await failure(ask());
  assert.equal(await doubtful(), true, 'an answer that cannot be read is none');
  mock.timers.tick(8 * 86_400_000);
  assert.equal(await doubtful(), false, 'a week later');
  for (let i = 0; i < 60; i++) await failure(ask({ ...market, quantity: String(i) }));
  const kept = Object.keys(JSON.parse(localStorage.items.get('wick-calls')));
  assert.equal(kept.length, 50);
  localStorage.items.set('wick-calls', '[null, 5');
  assert.equal(await doubtful(), false);
  mock.timers.reset();
  delete globalThis.localStorage;
});

// A person approves one call, with its id: under another one they were asked again and again.
test('a call that was refused on the way has the same id again, and is not in doubt', async () => {
  const { once, isDoubtful } = await reloaded();
  const sent = [];
  let reply = () => { throw new Error('a person has to approve this order'); };
  const transport = { call: async (_, args) => { sent.push(args); return reply(); } };
  const ask = () => once(transport, 'place_order', market, 'client_order_id');
  await failure(ask());
  assert.equal(isDoubtful('place_order', market), false);
  reply = () => '{}';
  await ask();
  assert.equal(idsOf(sent).size, 1);
});

test('where a frame may keep nothing, the ids live as long as the page', async () => {
  const forbidden = () => { throw new Error('SecurityError'); };
  for (const storage of [{ getItem: forbidden, setItem: forbidden }, { getItem: () => null, setItem: forbidden }]) {
    globalThis.localStorage = storage;
    const { once, isDoubtful } = await reloaded();
    const sent = [];
    const transport = { call: async (_, args) => { sent.push(args); throw Object.assign(new Error('lost'), { unanswered: true }); } };
    for (let i = 0; i < 2; i++) await failure(once(transport, 'place_order', market, 'client_order_id'));
    assert.equal(isDoubtful('place_order', market), true);
    assert.equal(idsOf(sent).size, 1);
    delete globalThis.localStorage;
  }
});

test('an alert whose answer was lost is asked for with the same id', async () => {
  const sent = [];
  let reply = () => { throw Object.assign(new Error('the connection to wick failed'), { unanswered: true }); };
  const account = new Account({ call: async (tool, args) => { sent.push([tool, args.client_alert_id ?? args.alert_id]); return reply(); } });
  const old = { alert_id: 'a1', symbol: 'A', condition: { price_above: 5 }, note: '' };
  assert.match((await failure(account.setAlert('A', 7, 6, old))).message, /^It is not known whether this alert was set: A; the connection to wick failed\. .*cannot set it twice/);
  reply = () => '{"alert_id":"a2","hint":"the price is there already"}';
  assert.equal(await account.setAlert('A', 7, 6, old), 'alert a2 on A: at or above 7; the price is there already');
  assert.deepEqual(sent.map(([tool]) => tool), ['set_alert', 'set_alert', 'cancel_alert']);
  assert.equal(sent[0][1], sent[1][1]);
  assert.match((await failure(account.setAlert('A', 7, 6))).message, /^An alert on A at or above 7 waits already/);
  assert.equal(sent.length, 3, 'an equal alert is not set');
  reply = () => '{"alert_id":"a3","ended":"fired"}';
  await account.setAlert('A', 8, 6, old);
  assert.equal(sent.length, 4, 'the old alert stays if the new one waits no more');
});

test('how the server is, in a line', () => {
  const h = { status: 'ok', source: 'csv', trade: true, trading: 'active', journal: 'ok', version: '0.1.0' };
  assert.equal(healthText(h), 'Running · bars from csv · paper trading active · journal ok · 0.1.0');
});
