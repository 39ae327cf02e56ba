// The owner's page when something is wrong: a server that is silent, answers that are lost,
// more orders than a page of them, a login that was taken back.
import assert from 'node:assert/strict';
import { start } from '../browser/wick.mjs';
import { binary, check, client, logIn, passphrase, pictures, sayYes, tab, until } from './lib.mjs';

const wide = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export async function faultChecks({ open, asking }) {
  await check('faults: a silent server is noticed, and no halt is claimed', wide, silent);
  await check('faults: an order whose answer was lost is placed once', wide, page => lost(page, open));
  await check('faults: an order whose answer was lost before a reload is placed once', wide, page => lostBeforeReload(page, open));
  await check('faults: a retry that was refused on the way leaves it open whether the order was placed', wide, page => busyRetry(page, open));
  await check('faults: an alert whose answer was lost is set once', wide, page => lostAlert(page, open));
  await check('faults: the preview of an order ends with the symbol of the chart', wide, page => otherSymbol(page, open));
  await check('faults: a preview says that a person has to approve, and the approved order is placed', wide, page => approvedOrder(page, asking));
  await check('faults: a position whose closing was not answered is closed once', wide, page => lostClose(page, open));
  await check('faults: an open order below many newer ones can be cancelled', wide, many);
  await check('faults: a login that was taken back leaves no words of the browser', wide, page => revoked(page, open));
  for (const colorScheme of ['light', 'dark']) await check(`faults: a first symbol without bars, ${colorScheme}`, { ...wide, colorScheme }, page => blank(page, open, colorScheme));
  await check('faults: no button of an order to approve is cut on a telephone', phone, page => approvable(page, asking));
  await check('faults: a note cannot turn a line around', wide, page => turned(page, open));
}

const said = (page, selector) => page.locator(selector).innerText();
const toldOnce = (page, words) => until(String(words), async () => (await page.locator('.toast').allTextContents()).some(t => words.test(t)), 60_000);

// silent: the server is stopped, as a machine is that sleeps, and then goes on.
async function silent(page) {
  const wick = await start(binary, { passphrase, trade: true });
  try {
    await logIn(page, wick);
    await page.waitForFunction(() => /^Running/.test(document.getElementById('state').textContent));
    process.kill(wick.pid, 'SIGSTOP');
    await page.getByRole('button', { name: 'Halt trading' }).click();
    await page.getByRole('button', { name: 'Really halt' }).click();
    await page.getByRole('button', { name: 'Halting…' }).waitFor();
    await until('the silence', async () => /^No answer from wick since \d\d:\d\d:\d\d: what is shown is from then\./.test(await said(page, '#state')), 20_000);
    const age = async () => Number((await said(page, '#age')).match(/prices (\d+) s old/)[1]);
    const before = await age();
    assert.ok(before >= 10, `${before} seconds`);
    await page.waitForTimeout(3000);
    assert.ok(await age() >= before + 2, 'the age goes on');
    await page.screenshot({ path: pictures + 'silent.png' });
    await toldOnce(page, /not known whether trading was halted: wick did not answer within 20 s/);
    process.kill(wick.pid, 'SIGCONT');
    await until('the answer', async () => /^Running/.test(await said(page, '#state')), 60_000);
    assert.equal(await page.locator('.toast', { hasText: 'No answer from wick' }).count(), 0);
  } finally {
    process.kill(wick.pid, 'SIGCONT');
    await wick.stop();
  }
}

// loseOrders lets orders, or calls of another tool, through to the server, and their answers
// get lost, while on is true. While busy is true, the server is said to be too busy for them.
async function loseOrders(page, tool = 'place_order') {
  const line = { on: false, busy: false };
  await page.route('**/mcp', async route => {
    const call = route.request().postDataJSON()?.params;
    if (call?.name !== tool || call.arguments.dry_run) return route.continue();
    if (line.busy) return route.fulfill({ status: 429, json: { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'too much of this client is under way' } } });
    if (!line.on) return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  return line;
}

const buttons = page => ['Preview', 'Confirm'].map(name => page.getByRole('button', { name }));
const previewIs = (page, words) => until(String(words), async () => words.test(await said(page, '.preview')));
const doubted = /^Would be: .*An order with these values may have been placed already/;

// counter returns a function that counts the orders placed since.
async function counter(wick, name) {
  const other = await client(wick, name);
  const before = (await ordersOf(other, {})).length;
  return async () => (await ordersOf(other, {})).length - before;
}

const ordersOf = async (other, args) => JSON.parse((await other.call('get_orders', { limit: 500, ...args })).result.content[0].text);

async function lost(page, wick) {
  const line = await loseOrders(page);
  await logIn(page, wick);
  const placed = await counter(wick, 'counter');
  const [preview, place] = buttons(page);
  await page.fill('input[name=quantity]', '3');
  line.on = true;
  await preview.click();
  await place.click();
  await page.getByText('It is not known whether this order was placed: buy 3 BTCUSDT market').waitFor();
  await page.screenshot({ path: pictures + 'lost.png' });
  assert.equal(await placed(), 1);
  assert.ok(await place.isVisible(), 'it can be asked again');
  line.on = false;
  await preview.click();
  await previewIs(page, doubted);
  await place.click();
  await previewIs(page, /^Placed, asked again with the same id: buy 3/);
  assert.equal(await placed(), 1, 'one order for two clicks');
  await preview.click();
  await previewIs(page, /^Would be: (?!.*may have been placed)/);
  await place.click();
  await previewIs(page, /^Placed: buy 3/);
  assert.equal(await placed(), 2, 'after an answer it is another order');
}

// loseOne previews an order of so many and places it; the answer is lost.
async function loseOne(page, line, quantity) {
  const [preview, place] = buttons(page);
  await page.fill('input[name=quantity]', quantity);
  await preview.click();
  await place.waitFor();
  line.on = true;
  await place.click();
  await page.getByText('It is not known whether this order was placed').waitFor();
  line.on = false;
}

async function lostBeforeReload(page, wick) {
  const line = await loseOrders(page);
  await logIn(page, wick);
  const placed = await counter(wick, 'reloader');
  const [preview, place] = buttons(page);
  const again = async () => {
    await page.fill('input[name=quantity]', '4');
    await preview.click();
    await previewIs(page, doubted);
    await place.click();
    await previewIs(page, /^Placed, asked again with the same id: buy 4/);
  };
  await loseOne(page, line, '4');
  await page.reload();
  await page.waitForSelector('#chart[data-state=ready]');
  await again();
  assert.equal(await placed(), 1, 'after a reload');
  await loseOne(page, line, '4');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('The login has ended').waitFor();
  await logIn(page, wick);
  await again();
  assert.equal(await placed(), 2, 'after a new login');
}

async function busyRetry(page, wick) {
  const line = await loseOrders(page);
  await logIn(page, wick);
  const placed = await counter(wick, 'busy');
  const [preview, place] = buttons(page);
  await loseOne(page, line, '5');
  line.busy = true;
  await place.click();
  await previewIs(page, /^It is not known whether this order was placed: buy 5 .*too much of this client/);
  assert.ok(await place.isVisible(), 'it can be asked again');
  line.busy = false;
  await preview.click();
  await previewIs(page, doubted);
  await place.click();
  await previewIs(page, /^Placed, asked again with the same id: buy 5/);
  assert.equal(await placed(), 1);
}

async function lostAlert(page, wick) {
  const other = await client(wick, 'watcher');
  const alerts = async () => JSON.parse((await other.call('list_alerts', {})).result.content[0].text).length;
  const line = await loseOrders(page, 'set_alert');
  await logIn(page, wick);
  await page.route('**/mcp', route => (route.request().postDataJSON()?.params?.name === 'generate_chart' ? route.abort() : route.fallback())); // the axis stays
  const before = await alerts();
  line.on = true;
  const set = async () => {
    await page.locator('#chart .canvas canvas').click({ position: { x: 300, y: 150 }, button: 'right' });
    await page.getByRole('menuitem', { name: /^Alert at/ }).click();
  };
  await set();
  await toldOnce(page, /not known whether this alert was set: BTCUSDT/);
  line.on = false;
  await set();
  await toldOnce(page, /^alert a-\S+ on BTCUSDT/);
  assert.equal(await alerts() - before, 1);
}

async function otherSymbol(page, wick) {
  await logIn(page, wick);
  const [preview, place] = buttons(page);
  await page.fill('input[name=quantity]', '1');
  await preview.click();
  await place.waitFor();
  await page.getByLabel('Interval').selectOption('1h');
  await page.waitForFunction(() => /BTCUSDT, 1h/.test(document.querySelector('#chart canvas').getAttribute('aria-label')));
  assert.ok(await place.isVisible(), 'the symbol is the same');
  await page.getByLabel('Symbol', { exact: true }).fill('ETHUSDT');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /ETHUSDT/.test(document.querySelector('#chart canvas').getAttribute('aria-label')));
  await place.waitFor({ state: 'hidden' });
  assert.equal(await said(page, '.preview'), '');
}

async function approvedOrder(page, wick) {
  await logIn(page, wick);
  const placed = await counter(wick, 'approver');
  const [preview, place] = buttons(page);
  await page.fill('input[name=quantity]', '6');
  const ask = async () => {
    await preview.click();
    await previewIs(page, /^Would be: (?!.*may have been placed).*\. Note: a person has to approve this order/);
    await place.click();
  };
  await ask();
  await previewIs(page, /^a person has to approve this order/);
  await sayYes(page, page.getByRole('button', { name: /^Approve: buy 6/ }));
  await page.getByText('No order waits for you.').waitFor();
  await ask();
  await previewIs(page, /^Placed: buy 6/);
  assert.equal(await placed(), 1);
}

async function lostClose(page, wick) {
  const other = await client(wick, 'closer');
  await other.call('place_order', { symbol: 'SOLUSDT', side: 'buy', type: 'market', quantity: '7' });
  const line = await loseOrders(page);
  await logIn(page, wick);
  await page.getByRole('button', { name: 'Close the position in SOLUSDT', exact: true }).click();
  line.on = true;
  await page.getByRole('button', { name: 'Really close the position in SOLUSDT' }).click();
  await toldOnce(page, /not known whether this order was placed: sell all SOLUSDT/);
  await until('the end of the position', async () => (await page.getByRole('button', { name: /close the position in SOLUSDT/i }).count()) === 0);
  assert.equal((await ordersOf(other, { symbol: 'SOLUSDT' })).filter(o => o.side === 'sell').length, 1);
}

async function many(page) {
  const wick = await start(binary, { passphrase, trade: true });
  try {
    const other = await client(wick, 'many');
    const order = { symbol: 'BTCUSDT', side: 'buy', type: 'limit', quantity: '0.0001', price: '40000' };
    const { order_id: old } = JSON.parse((await other.call('place_order', { ...order, client_order_id: 'old' })).result.content[0].text);
    for (let i = 0; i < 55;) {
      const { result } = await other.call('place_order', { ...order, quantity: '0.0002', client_order_id: 'n' + i });
      if (!result || result.isError) {
        await new Promise(resolve => { setTimeout(resolve, 500); }); // too many at once
        continue;
      }
      await other.call('cancel_order', { order_id: JSON.parse(result.content[0].text).order_id });
      i++;
    }
    assert.equal((await ordersOf(other, { filter: 'open' })).length, 1);
    await logIn(page, wick);
    await tab(page, 'Orders');
    const panel = page.locator('section[aria-label=Orders]');
    await panel.getByText('All open orders, and the newest 50 of the others').waitFor();
    assert.equal(await panel.locator('tbody tr').count(), 51);
    await panel.screenshot({ path: pictures + 'orders.png' });
    await panel.getByRole('button', { name: `Cancel order ${old}` }).click();
    await until('no open order', async () => (await ordersOf(other, { filter: 'open' })).length === 0);
  } finally {
    await wick.stop();
  }
}

async function revoked(page, wick) {
  await logIn(page, wick);
  await tab(page, 'Clients');
  await page.locator('section[aria-label=Clients] tr', { hasText: "The owner's page" }).last().waitFor();
  const token = await page.evaluate(() => sessionStorage.getItem('wick-token'));
  await fetch(wick.base + '/revoke', { method: 'POST', body: new URLSearchParams({ client_id: 'wick-app', token }) });
  await page.getByText('The login has ended').waitFor();
  await page.waitForTimeout(1000);
  assert.equal(await said(page, '#health'), '');
}

async function blank(page, wick, scheme) {
  await page.route('**/mcp', route => {
    if (route.request().postDataJSON()?.params?.name !== 'generate_chart') return route.continue();
    return route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: { isError: true, content: [{ type: 'text', text: 'there is no such file' }] } } });
  });
  await page.goto(wick.base + '/app');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.fill('#passphrase', passphrase);
  await page.click('button.allow');
  await toldOnce(page, /there is no such file/);
  await page.screenshot({ path: pictures + `blank-${scheme}.png` });
  await page.locator('.loading', { hasText: 'No bars yet' }).waitFor();
  assert.equal(await page.locator('#chart .canvas canvas').isVisible(), false, 'it would be black');
  const red = Number((await page.evaluate(() => getComputedStyle(document.getElementById('chart')).backgroundColor)).match(/\d+/)[0]);
  assert.equal(red > 128, scheme === 'light', `the ground has ${red}`);
}

async function approvable(page, wick) {
  const other = await client(wick, 'asker');
  for (const quantity of ['10', '20', '30']) await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity });
  await logIn(page, wick);
  const panel = page.locator('section[aria-label="Orders to approve"]');
  await panel.getByRole('button', { name: /Approve: buy 30/ }).waitFor();
  await panel.screenshot({ path: pictures + 'approve-phone.png' });
  const box = await panel.locator('.cards').boundingBox();
  for (const button of await panel.getByRole('button').all()) {
    const b = await button.boundingBox();
    assert.ok(b.y >= box.y && b.y + b.height <= box.y + box.height && b.x + b.width <= box.x + box.width, `${JSON.stringify(b)} in ${JSON.stringify(box)}`);
  }
  for (const quantity of [30, 20, 10]) await panel.getByRole('button', { name: `Refuse: buy ${quantity}` }).click();
  await panel.getByText('No order waits for you.').waitFor();
}

async function turned(page, wick) {
  await logIn(page, wick);
  const other = await client(wick, 'turner');
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 0.5 }, note: '\u202Edlos' });
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 700000 }, note: '\u202Edlos' });
  await tab(page, 'Fired alerts');
  const panel = page.locator('section[aria-label="Fired alerts"]');
  await panel.getByText('Note: dlos').waitFor();
  await until('the note', async () => (await page.getByLabel('Note of the alert on BTCUSDT, price at or above 700000', { exact: true }).inputValue()) === 'dlos');
  assert.doesNotMatch(await page.locator('body').innerText(), /[\u202a-\u202e\u2066-\u2069]/);
}
