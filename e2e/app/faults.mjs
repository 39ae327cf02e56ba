// The owner's page when something is wrong: a server that is silent, answers that are lost,
// more orders than a page of them, a login that was taken back.
import assert from 'node:assert/strict';
import { start } from '../browser/wick.mjs';
import { binary, check, client, logIn, pictures, until } from './lib.mjs';

const wide = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export async function faultChecks({ open, asking }) {
  await check('faults: a silent server is noticed, and no halt is claimed', wide, silent);
  await check('faults: an order whose answer was lost is placed once', wide, page => lost(page, open));
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
  const wick = await start(binary, { trade: true });
  try {
    await logIn(page, wick);
    await page.waitForFunction(() => /^Running/.test(document.getElementById('state').textContent));
    process.kill(wick.pid, 'SIGSTOP');
    await page.getByRole('button', { name: 'Halt trading' }).click();
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

// loseOrders lets orders through to the server, and their answers get lost, while on is true.
async function loseOrders(page) {
  const line = { on: false };
  await page.route('**/mcp', async route => {
    const call = route.request().postDataJSON()?.params;
    if (!line.on || call?.name !== 'place_order' || call.arguments.dry_run) return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  return line;
}

const ordersOf = async (other, args) => JSON.parse((await other.call('get_orders', { limit: 500, ...args })).result.content[0].text);

async function lost(page, wick) {
  const other = await client(wick, 'counter');
  const line = await loseOrders(page);
  await logIn(page, wick);
  const before = (await ordersOf(other, {})).length;
  const placed = async () => (await ordersOf(other, {})).length - before;
  const [preview, place] = ['Preview', 'Place this order'].map(name => page.getByRole('button', { name }));
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
  await page.waitForFunction(() => /^Would be: .*not known whether/.test(document.querySelector('.preview').textContent));
  await place.click();
  await page.waitForFunction(() => /^Placed, asked again with the same id: buy 3/.test(document.querySelector('.preview').textContent));
  assert.equal(await placed(), 1, 'one order for two clicks');
  await preview.click();
  await page.waitForFunction(() => /^Would be: (?!.*not known)/.test(document.querySelector('.preview').textContent));
  await place.click();
  await page.waitForFunction(() => /^Placed: buy 3/.test(document.querySelector('.preview').textContent));
  assert.equal(await placed(), 2, 'after an answer it is another order');
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
  const wick = await start(binary, { trade: true });
  try {
    const other = await client(wick, 'many');
    const order = { symbol: 'BTCUSDT', side: 'buy', type: 'limit', quantity: '1', price: '10' };
    const { order_id: old } = JSON.parse((await other.call('place_order', { ...order, client_order_id: 'old' })).result.content[0].text);
    for (let i = 0; i < 55;) {
      const { result } = await other.call('place_order', { ...order, quantity: '2', client_order_id: 'n' + i });
      if (!result || result.isError) {
        await new Promise(resolve => { setTimeout(resolve, 500); }); // too many at once
        continue;
      }
      await other.call('cancel_order', { order_id: JSON.parse(result.content[0].text).order_id });
      i++;
    }
    assert.equal((await ordersOf(other, { filter: 'open' })).length, 1);
    await logIn(page, wick);
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
  await page.click('button.allow');
  await toldOnce(page, /there is no such file/);
  await page.screenshot({ path: pictures + `blank-${scheme}.png` });
  const red = await page.evaluate(() => {
    const canvas = document.querySelector('#chart .canvas canvas');
    return canvas.getContext('2d').getImageData(3, 3, 1, 1).data[0];
  });
  assert.equal(red > 128, scheme === 'light', `the ground has ${red}`);
}

async function approvable(page, wick) {
  const other = await client(wick, 'asker');
  for (const quantity of ['10', '20', '30']) await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity });
  await logIn(page, wick);
  const panel = page.locator('section[aria-label="Orders to approve"]');
  await panel.getByRole('button', { name: /Approve: buy 30/ }).waitFor();
  await panel.screenshot({ path: pictures + 'approve-phone.png' });
  const box = await panel.locator('.scroll').boundingBox();
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
  const panel = page.locator('section[aria-label="Fired alerts"]');
  await panel.getByText('Note: dlos').waitFor();
  await until('the note', async () => (await page.getByLabel('Note of the alert on BTCUSDT, price at or above 700000', { exact: true }).inputValue()) === 'dlos');
  assert.doesNotMatch(await page.locator('body').innerText(), /[\u202a-\u202e\u2066-\u2069]/);
}
