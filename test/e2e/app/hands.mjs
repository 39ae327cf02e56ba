// The chart in the hand: what mouse, fingers and keys do with it.
import assert from 'node:assert/strict';
import { check, client, logIn, pictures, tab, until, violations } from './lib.mjs';
import { inView, label, loaded, recordTexts, written } from './owner.mjs';

const desktop = { viewport: { width: 1366, height: 768 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export async function handChecks(servers) {
  for (const [name, size] of Object.entries({ desktop, phone })) {
    await check(`hands: ${name}: bars are 6 to 8 pixels wide at first, with four free at the right`, size, page => widths(page, servers.open));
  }
  await check('hands: Home, End and the way to the newest bar', desktop, page => ends(page, servers.open));
  await check('hands: the price axis is scaled, panned, fitted, and automatic for another symbol', desktop, page => scales(page, servers.open));
  await check('hands: the border of a panel is dragged, and reset', desktop, page => borders(page, servers.open));
  for (const [name, size] of Object.entries({ desktop, phone })) await check(`hands: ${name}: the price has half of the canvas`, size, page => halves(page, servers.open));
  await check('hands: the crosshair is free, and only the primary button drags', desktop, page => free(page, servers.open));
  for (const [name, size] of Object.entries({ desktop, phone })) {
    await check(`hands: ${name}: an alert, a limit and a stop are at the price aimed at`, size, page => aims(page, servers.open, name));
  }
  await check('hands: there is one projected order, the same in the ticket, and nothing is sent before its confirmation', { viewport: { width: 1366, height: 1300 } }, page => projects(page, servers.open));
  await check('hands: a new user places a bracket, and moves its stop', desktop, page => brackets(page, servers.open));
  await check('hands: a drag changes an order, with every check, and adds none', desktop, page => changes(page, servers.open));
  await check('hands: Escape, a lost pointer, another button and another symbol change nothing', desktop, page => rollsBack(page, servers.open));
  await check('hands: what waits beyond the edge is named there, and crossed out where it is drawn', desktop, page => crosses(page, servers.open));
  await check('hands: an order that waits for a rule is listed, shown beside the bars, and crossed out there', desktop, page => waits(page, servers.open));
  await check('hands: a study is changed and removed at its row of the legend, and the view stays', desktop, page => restudies(page, servers.open));
  for (const [name, size] of Object.entries({ desktop, phone })) {
    await check(`hands: ${name}: indicators are found, set, turned off and on, and kept under a name`, size, page => studies(page, servers.open, name));
  }
  await check('hands: a finger scrolls the page upright, pans aside, and grips 24 pixels', phone, (page, context) => swipes(page, context, servers.open));
}

// open logs in and returns where the canvas is. The page's chart is window.shownChart for the
// checks, which look up there where panes, bars and scales are.
async function open(page, wick) {
  await recordTexts(page);
  await page.route('**/app/view.mjs', async route => {
    const reply = await route.fetch();
    route.fulfill({ response: reply, body: (await reply.text()).replace('listen(this.canvas, this);', 'listen(this.canvas, window.shownChart = this);') });
  });
  await logIn(page, wick);
  await loaded(page);
  await page.waitForTimeout(300);
  return page.locator('#chart .canvas canvas').boundingBox();
}

// planOf returns the places of the chart in logical pixels.
const planOf = page => page.evaluate(() => {
  const { plan: p, ratio, window } = globalThis.shownChart;
  const panes = p.panes.map(q => ({ y: q.y / ratio, end: q.end / ratio, lo: q.scale.lo, hi: q.scale.hi, top: q.scale.top / ratio, bottom: q.scale.bottom / ratio }));
  return { panes, axisX: p.axisX / ratio, pitch: p.pitch / ratio, newestX: (p.x0 + p.data.n * p.pitch) / ratio, n: p.data.n, close: p.data.close.at(-1), end: window.end };
});
const number = text => Number(text.replace(/[^\d.]/g, ''));

async function widths(page, wick) {
  const box = await open(page, wick);
  const { axisX, pitch, newestX } = await planOf(page);
  await page.screenshot({ path: pictures + `bars-${box.width}.png` });
  assert.ok(pitch >= 6 && pitch <= 8, `${pitch} pixels a bar`);
  const room = (axisX - newestX) / pitch;
  assert.ok(room >= 4 && room < 6, `room for ${room} bars at the right`);
}

async function ends(page, wick) {
  const box = await open(page, wick);
  const newest = page.getByRole('button', { name: 'To newest' });
  assert.equal(await newest.isVisible(), false);
  await page.locator('#chart .canvas canvas').focus();
  const before = await inView(page);
  await page.keyboard.press('Home');
  await newest.waitFor();
  await page.keyboard.press('End');
  await newest.waitFor({ state: 'hidden' });
  assert.equal(await inView(page), before);
  await drag(page, [box.x + 300, box.y + 200], [600, 0]);
  await newest.waitFor();
  await page.screenshot({ path: pictures + 'to-newest.png' });
  await newest.click();
  await newest.waitFor({ state: 'hidden' });
  assert.equal(await inView(page), before);
}

async function drag(page, [x, y], [dx, dy], button = 'left') {
  await page.mouse.move(x, y);
  await page.mouse.down({ button });
  await page.mouse.move(x + dx, y + dy, { steps: 6 });
  await page.mouse.up({ button });
}

async function scales(page, wick) {
  const box = await open(page, wick);
  const axis = [box.x + box.width - 20, box.y + 0.2 * box.height];
  const range = async act => {
    await act?.();
    await page.waitForTimeout(200);
    const { panes: [{ lo, hi }] } = await planOf(page);
    return hi - lo;
  };
  const automatic = await range();
  const wider = await range(() => drag(page, axis, [0, 60]));
  assert.ok(wider > 1.1 * automatic, `${wider}, automatically ${automatic}`);
  const same = await range(() => drag(page, [box.x + 300, box.y + 200], [300, 0]));
  assert.ok(Math.abs(same / wider - 1) < 1e-9, 'the scale by hand stays while panning');
  const fitted = await range(() => page.mouse.dblclick(...axis));
  assert.ok(fitted < 0.95 * wider, 'a double click fits');
  await range(() => drag(page, [box.x + 300, box.y + 200], [-300, 0]));
  assert.ok(Math.abs(await range() / automatic - 1) < 0.05, 'panning does not end the automatic scale');
  await drag(page, axis, [0, 60]);
  await page.fill('input[name=symbol]', 'AAPL');
  await page.keyboard.press('Enter');
  await until('the other symbol', async () => /AAPL/.test(await label(page)));
  await page.waitForTimeout(500);
  const { panes: [{ lo, hi }], close } = await planOf(page);
  assert.ok(lo < close && close < hi && hi < 2 * lo, `the axis has ${lo} to ${hi}, the market is at ${close}`);
  await page.locator('#chart .canvas canvas').focus();
  const [byKey, back] = [await range(() => page.keyboard.press('[')), await range(() => page.keyboard.press('0'))];
  assert.ok(byKey > 1.1 * back, `${byKey} by a key, ${back} fitted`);
}

async function borders(page, wick) {
  const box = await open(page, wick);
  const at = async act => {
    await act?.();
    await page.waitForTimeout(200);
    return (await planOf(page)).panes[1].y;
  };
  const first = await at();
  const border = [box.x + 300, box.y + first + 2];
  const taller = await at(() => drag(page, border, [0, -60]));
  assert.ok(Math.abs(first - 60 - taller) <= 1, `the panel began at ${first}, then at ${taller}`);
  await page.screenshot({ path: pictures + 'border.png' });
  assert.equal(await at(() => page.mouse.dblclick(border[0], border[1] - 60)), first);
  assert.equal(await at(() => drag(page, border, [0, -60], 'right')), first, 'the secondary button drags nothing');
  await drag(page, border, [0, -60]);
  await page.reload();
  await loaded(page);
  await page.waitForTimeout(300);
  assert.ok(Math.abs((await planOf(page)).panes[1].y - taller) <= 1, 'the sizes are kept');
}

// halves: the price has half of the canvas or more, however many panels there are.
async function halves(page, wick) {
  await open(page, wick);
  for (const indicators of ['rsi', 'rsi, macd', 'rsi, macd, stoch, atr, adx']) {
    await page.goto(`${wick.base}/app?symbol=BTCUSDT&indicators=${indicators}`);
    await until('its panels', async () => (await page.evaluate(() => globalThis.shownChart?.data?.studies.length)) === indicators.split(',').length);
    await page.waitForTimeout(300);
    const { panes: [price] } = await planOf(page);
    const { height } = await page.locator('#chart .canvas canvas').boundingBox();
    assert.ok(price.end - price.y >= height / 2 - 1, `with ${indicators} the price has ${price.end - price.y} of ${height}`);
  }
}

async function free(page, wick) {
  const box = await open(page, wick);
  const { panes: [{ lo, hi, top, bottom }] } = await planOf(page);
  for (const y of [150, 153]) {
    const text = (await written(page, () => page.mouse.move(box.x + 400, box.y + y))).at(-1).text;
    const price = hi - ((y - top) / (bottom - top)) * (hi - lo);
    assert.ok(Math.abs(number(text) - price) <= 0.011 * Math.max(1, price / 100), `${text} at the row of ${price}`);
  }
}

async function swipes(page, context, wick) {
  await open(page, wick);
  await page.locator('#chart .canvas canvas').scrollIntoViewIfNeeded();
  const cdp = await context.newCDPSession(page);
  const swipe = async (dx, dy, row) => {
    const box = await page.locator('#chart .canvas canvas').boundingBox();
    const [x, y] = [box.x + 100, box.y + row];
    const finger = (type, ...touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    await finger('touchStart', { x, y });
    for (let k = 1; k <= 10; k++) {
      await finger('touchMove', { x: x + (dx * k) / 10, y: y + (dy * k) / 10 });
      await page.waitForTimeout(16);
    }
    await finger('touchEnd');
    await page.waitForTimeout(400);
  };
  const scrolled = () => page.evaluate(() => scrollY);
  await page.evaluate(() => { document.body.style.minHeight = '1500px'; }); // more than the window shows
  const before = await scrolled();
  await swipe(0, -150, 200);
  const by = await scrolled() - before;
  assert.ok(by > 50, `the page has scrolled by ${by}`);
  const { end, n, panes } = await planOf(page);
  assert.equal(end, n + 4, 'and the chart not');
  await swipe(150, 0, 150);
  assert.ok((await planOf(page)).end < n, 'a finger that goes aside pans');
  const there = await scrolled();
  await swipe(0, -50, panes[1].y + 10);
  const { panes: [, { y }] } = await planOf(page);
  assert.ok(Math.abs(panes[1].y - 50 - y) <= 2, `the panel began at ${panes[1].y}, then at ${y}`);
  assert.equal(await scrolled(), there, 'a handle does not scroll');
}

const ask = async (other, tool, args) => JSON.parse((await other.call(tool, args)).result.content[0].text);
const openOrders = other => ask(other, 'get_orders', { filter: 'open', symbol: 'BTCUSDT' });
const alertsOf = other => ask(other, 'list_alerts', {});

// projected reports whether an order is drawn, which can be discarded then.
const projected = page => page.locator('.ticket').getByRole('button', { name: 'Discard' }).isVisible();

// emptied cancels all that waits and closes what is held, and returns how to ask.
async function emptied(wick) {
  const other = await client(wick, 'checker');
  for (const o of await openOrders(other)) await other.call('cancel_order', { order_id: o.order_id });
  for (const a of await alertsOf(other)) await other.call('cancel_alert', { alert_id: a.alert_id });
  for (const p of await ask(other, 'get_positions', {})) await other.call('place_order', { symbol: p.symbol, side: p.side === 'long' ? 'sell' : 'buy', type: 'market', quantity: 'all' });
  return other;
}

// rowOf returns where a price is on the screen.
async function rowOf(page, box, price) {
  const { panes: [{ lo, hi, top, bottom }] } = await planOf(page);
  return box.y + top + ((hi - price) / (hi - lo)) * (bottom - top);
}
const shownPrice = async (page, act) => number((await written(page, act)).at(-1).text);

// aims: by the button at the crosshair, by the secondary button or a finger, and by keys.
async function aims(page, wick, device) {
  const other = await emptied(wick);
  const box = await open(page, wick);
  const { axisX, panes: [pane] } = await planOf(page);
  const at = part => box.y + pane.top + part * (pane.bottom - pane.top);
  const x = box.x + 120;
  const choose = name => page.getByRole('menuitem', { name }).click();
  const touch = device === 'phone';
  const aim = y => shownPrice(page, () => (touch ? page.touchscreen.tap(x, y) : page.mouse.move(x, y, { steps: 4 })));
  const plus = y => (touch ? page.touchscreen.tap(box.x + axisX - 11, y) : page.mouse.click(box.x + axisX - 11, y));

  let price = await aim(at(0.3));
  await page.screenshot({ path: pictures + `plus-${device}.png` });
  await plus(at(0.3));
  await page.getByRole('menu').waitFor();
  await page.screenshot({ path: pictures + `menu-${device}.png` });
  assert.deepEqual(await violations(page), []);
  await choose(/^Alert at/);
  await until('the alert', async () => (await alertsOf(other)).length === 1);
  const [{ condition }] = await alertsOf(other);
  assert.equal(Number(condition.price_above ?? condition.price_below), price);
  await until('a confirmation', async () => (await page.locator('.toast').allTextContents()).some(t => t.includes(String(price))));

  await page.locator('#chart .canvas canvas').focus();
  await page.keyboard.press(',');
  for (let k = 0; k < 9; k++) await page.keyboard.press('Shift+ArrowDown');
  price = await shownPrice(page, () => page.keyboard.press('Shift+ArrowDown'));
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const bar = page.locator('.ticket');
  const ordered = async what => {
    assert.equal((await openOrders(other)).length, 0, 'nothing is sent yet');
    await bar.getByLabel('Quantity').fill('2');
    await page.screenshot({ path: pictures + `projected-${device}.png` });
    await bar.getByRole('button', { name: 'Confirm' }).click();
    await until('the order', async () => (await openOrders(other)).length === 1);
    const [order] = await openOrders(other);
    assert.deepEqual([order.type, Number(order.price ?? order.stop_price)], [what, price]);
    await other.call('cancel_order', { order_id: order.order_id });
    await until('the end of its line', () => page.evaluate(() => !globalThis.shownChart.lines().some(l => l.order))); // it widens the scale
  };
  await ordered('limit');
  if (touch) {
    price = await aim(at(0.55));
    const cdp = await page.context().newCDPSession(page);
    const finger = (type, ...touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    await finger('touchStart', { x, y: at(0.55) + 8 }); // near the level, not on it
    price = await shownPrice(page, async () => {
      for (let by = 0; by <= 30; by += 6) await finger('touchMove', { x, y: at(0.55) + 8 + by });
      await finger('touchEnd');
    });
    await plus(at(0.55) + 30);
  } else {
    price = await aim(at(0.6));
    await page.mouse.click(x, at(0.6), { button: 'right' });
  }
  await choose(/stop at/);
  await ordered('stop');
}

async function projects(page, wick) {
  const other = await emptied(wick);
  const box = await open(page, wick);
  const sent = [];
  page.on('request', r => /place_order/.test(r.postData() ?? '') && sent.push(r));
  const { panes: [pane], close } = await planOf(page);
  const x = box.x + 300;
  const field = name => page.locator(`.ticket [name=${{ Type: 'ordertype', 'Stop loss': 'stop_loss', 'Take profit': 'take_profit' }[name] ?? name.toLowerCase()}]`);
  const bar = page.locator('.ticket');
  const project = async (y, name) => {
    await page.mouse.click(x, y, { button: 'right' });
    await page.getByRole('menuitem', { name }).click();
  };
  await project(box.y + pane.top + 20, /stop at/);
  const low = box.y + pane.bottom - 30;
  await project(low, /Buy limit at/);
  assert.equal((await page.evaluate(() => globalThis.shownChart.lines().length)), 1, 'there is one');
  await field('Quantity').fill('3');
  assert.deepEqual([await field('Side').inputValue(), await field('Type').inputValue(), await field('Quantity').inputValue()], ['buy', 'limit', '3']);
  const first = Number(await field('Price').inputValue());
  assert.ok(first < close);
  await drag(page, [x, await rowOf(page, box, first)], [0, -14]);
  const moved = Number(await field('Price').inputValue());
  assert.ok(moved > first, 'the ticket has the price of the line');
  await field('Price').fill(String(first));
  const [line] = await page.evaluate(() => globalThis.shownChart.lines().map(l => l.price));
  assert.equal(line, first, 'the line has the price of the ticket');
  await bar.getByRole('button', { name: 'stop loss' }).click();
  await bar.getByRole('button', { name: 'take profit' }).click();
  const profit = Number(await field('Take profit').inputValue());
  await drag(page, [x, await rowOf(page, box, profit)], [0, -20]);
  assert.ok(Number(await field('Take profit').inputValue()) > profit);
  const stop = Number(await field('Stop loss').inputValue());
  await drag(page, [x, await rowOf(page, box, stop)], [0, -300]);
  assert.ok(Number(await field('Stop loss').inputValue()) < first, 'a stop stays below the entry');
  await page.screenshot({ path: pictures + 'bracket.png' });
  assert.equal(sent.length, 0, 'nothing is sent');
  await bar.getByRole('button', { name: 'Discard' }).click();
  assert.equal(await projected(page), false);
  assert.equal(sent.length, 0);
  await project(low, /Buy limit at/);
  await bar.getByLabel('Quantity').fill('2');
  await bar.getByRole('button', { name: 'stop loss' }).click();
  await bar.getByRole('button', { name: 'Confirm' }).click();
  await until('the order', async () => (await openOrders(other)).length === 1);
  await until('its end', async () => !await projected(page));
  const [order] = await openOrders(other);
  assert.deepEqual([order.type, order.quantity], ['limit', 2]);
  assert.ok(order.stop_loss);
  await project(low - 30, /Buy limit at/);
  await page.fill('input[name=symbol]', 'ETHUSDT');
  await page.keyboard.press('Enter');
  await until('the other symbol', async () => /ETHUSDT/.test(await label(page)));
  assert.equal(await projected(page), false, 'another symbol discards it');
}

// brackets: an order with its exits, whose stop is moved once it is filled.
async function brackets(page, wick) {
  const other = await emptied(wick);
  const box = await open(page, wick);
  const { close } = await planOf(page);
  const [stop, profit] = [0.98, 1.02].map(part => Number((part * close).toFixed(2)));
  for (const [name, value] of Object.entries({ quantity: 1, stop_loss: stop, take_profit: profit })) await page.fill(`.ticket [name=${name}]`, String(value));
  for (const name of ['Preview', 'Confirm']) await page.getByRole('button', { name }).click();
  await until('the line of its stop', async () => (await page.evaluate(() => globalThis.shownChart.lines().find(l => l.order?.type === 'stop')?.price)) === stop);
  await page.waitForTimeout(300);
  await drag(page, [box.x + 300, await rowOf(page, box, stop)], [0, -8]);
  await page.locator('.ticket').getByRole('button', { name: 'Confirm' }).click();
  await until('its other price', async () => (await openOrders(other)).some(o => o.type === 'stop' && o.stop_price > stop));
  assert.deepEqual((await openOrders(other)).map(o => o.type).sort(), ['limit', 'stop'], 'the other exit stays');
}

// changes: the accidents of others. A drag added a second order; it skipped the checks of a
// typed order; it stored a price between two ticks; a price that came meanwhile moved the line.
async function changes(page, wick) {
  const other = await emptied(wick);
  const { result } = await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '2' });
  assert.ok(!result.isError, result.content[0].text);
  const box = await open(page, wick);
  const { panes: [pane], close } = await planOf(page);
  const price = Number((close - 0.25 * (close - pane.lo)).toFixed(2));
  const placed = await ask(other, 'place_order', { symbol: 'BTCUSDT', side: 'sell', type: 'stop', quantity: '2', stop_price: price });
  const line = () => page.evaluate(() => globalThis.shownChart.lines().find(l => l.order)?.price);
  await until('its line', async () => await line() === price);
  const bar = page.locator('.ticket');
  const x = box.x + 300;
  await page.mouse.move(x, await rowOf(page, box, price));
  await page.mouse.down();
  const y = await rowOf(page, box, price);
  await page.mouse.move(x, y + 17, { steps: 5 });
  const held = await page.evaluate(() => globalThis.shownChart.dragged.price);
  assert.equal(held, Number(held.toFixed(2)), 'on a tick while it is dragged');
  await page.waitForTimeout(6000); // over a look at prices and account
  assert.equal(await page.evaluate(() => globalThis.shownChart.dragged.price), held, 'a price that comes does not move it');
  await page.screenshot({ path: pictures + 'drag.png' });
  await page.mouse.up();
  await until('the projected order', () => projected(page));
  assert.deepEqual((await openOrders(other)).map(o => [o.order_id, o.stop_price]), [[placed.order_id, price]], 'nothing is sent before');
  await page.screenshot({ path: pictures + 'change.png' });
  await bar.getByRole('button', { name: 'Confirm' }).click();
  await until('the change', async () => (await openOrders(other))[0]?.order_id !== placed.order_id);
  await until('its end', async () => !await projected(page));
  const open_ = await openOrders(other);
  assert.deepEqual(open_.map(o => [o.side, o.quantity, o.stop_price, o.replaces]), [['sell', 2, held, placed.order_id]], 'one order in the place of the other');

  await until('its line', async () => await line() === held);
  await drag(page, [x, await rowOf(page, box, held)], [0, (await rowOf(page, box, close)) - (await rowOf(page, box, held)) - 40]); // a stop above the market
  await bar.getByRole('button', { name: 'Confirm' }).click();
  await until('the refusal', async () => /stop/i.test(await bar.locator('.preview').textContent()));
  assert.deepEqual((await openOrders(other)).map(o => o.order_id), open_.map(o => o.order_id), 'the order that protects stays');
  await bar.getByRole('button', { name: 'Discard' }).click();
}

async function rollsBack(page, wick) {
  const other = await emptied(wick);
  const box = await open(page, wick);
  const { panes: [pane], close, axisX } = await planOf(page);
  const price = Number((close - 0.3 * (close - pane.lo)).toFixed(2));
  const placed = await ask(other, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'limit', quantity: '1', price });
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_below: Number((close - 0.7 * (close - pane.lo)).toFixed(2)) } });
  const lines = () => page.evaluate(() => globalThis.shownChart.lines().filter(l => l.movable).map(l => l.price));
  await until('two lines', async () => (await lines()).length === 2);
  const [before, alerts] = [await lines(), await alertsOf(other)];
  const bar = page.locator('.ticket');
  const same = async what => {
    await page.waitForTimeout(300);
    assert.deepEqual([await lines(), await page.evaluate(() => globalThis.shownChart.dragged), await projected(page)], [before, undefined, false], what);
    assert.deepEqual([(await openOrders(other)).map(o => o.order_id), (await alertsOf(other)).map(a => a.alert_id)], [[placed.order_id], alerts.map(a => a.alert_id)], what);
  };
  for (const at of before) {
    const [x, y] = [box.x + 300, await rowOf(page, box, at)];
    const lift = async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x, y + 12, { steps: 3 });
    };
    await lift();
    await page.keyboard.press('Escape');
    await page.mouse.move(x, y + 30);
    await page.mouse.up();
    await same('Escape');
    await lift();
    await page.locator('#chart .canvas canvas').evaluate(c => c.dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1 })));
    await page.mouse.up();
    await same('a lost pointer');
    await drag(page, [x, y], [0, 12], 'right');
    await page.keyboard.press('Escape');
    await same('another button');
    await page.mouse.click(box.x + axisX - 35, y, { button: 'right' });
    await page.keyboard.press('Escape');
    await page.mouse.click(box.x + axisX - 35, y, { button: 'middle' });
    await same('another button on the cross');
  }
  const y = await rowOf(page, box, price);
  await page.mouse.move(box.x + 300, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, y + 12, { steps: 3 });
  await page.evaluate(() => { // as a click elsewhere would, with the button still down
    document.querySelector('input[name=symbol]').value = 'ETHUSDT';
    document.querySelector('input[name=symbol]').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  });
  await until('the other symbol', async () => /ETHUSDT/.test(await label(page)));
  await page.mouse.up();
  await page.waitForTimeout(300);
  assert.equal(await projected(page), false);
  assert.deepEqual((await openOrders(other)).map(o => [o.order_id, o.price]), [[placed.order_id, price]]);
}

async function crosses(page, wick) {
  const other = await emptied(wick);
  const box = await open(page, wick);
  const { panes: [pane], close, axisX } = await planOf(page);
  const [near, far] = [Number((close - 0.3 * (close - pane.lo)).toFixed(2)), Number((0.5 * close).toFixed(2))];
  for (const price of [near, far]) await ask(other, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'limit', quantity: '1', price });
  const { alert_id } = await ask(other, 'set_alert', { symbol: 'BTCUSDT', condition: { price_below: Number((close - 0.7 * (close - pane.lo)).toFixed(2)) } });
  await until('three lines', async () => await page.evaluate(() => globalThis.shownChart.lines().length) === 3);
  const texts = (await written(page, () => page.mouse.move(box.x + 300, box.y + 100))).map(t => t.text);
  const beyond = texts.find(t => t.startsWith('↓ buy limit 1'));
  assert.match(beyond ?? texts.join('|'), /−(49|50|51)\.\d\d%/, 'the arrow and the distance');
  await page.screenshot({ path: pictures + 'lines.png' });
  await page.mouse.click(box.x + axisX - 35, await rowOf(page, box, near));
  await until('the end of the order', async () => (await openOrders(other)).map(o => o.price).join() === String(far));
  const alert = await page.evaluate(() => globalThis.shownChart.lines().find(l => l.alert).price);
  await page.mouse.click(box.x + axisX - 35, await rowOf(page, box, alert));
  await until('the end of the alert', async () => !(await alertsOf(other)).some(a => a.alert_id === alert_id));
}

// waits: an order without a price says on the chart and in the list what it waits for.
async function waits(page, wick) {
  const other = await emptied(wick);
  const placed = await ask(other, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '1', when: 'rsi(14) crosses above 99', interval: '1h' });
  await open(page, wick);
  const badge = page.getByRole('list', { name: 'Orders without a price' }).getByText('buy 1 BTCUSDT market, when rsi(14) crosses above 99');
  await badge.waitFor();
  const [{ y }, canvas] = [await badge.boundingBox(), await page.locator('#chart .canvas canvas').boundingBox()];
  const { panes: [pane] } = await planOf(page);
  assert.ok(y > canvas.y + pane.y && y < canvas.y + pane.end, 'among the prices');
  await page.screenshot({ path: pictures + 'waits.png' });
  assert.deepEqual(await violations(page), []);
  await tab(page, 'Orders');
  await page.locator('section[aria-label=Orders] tr', { hasText: 'when rsi(14) crosses above 99' }).getByText('open', { exact: true }).waitFor();
  await page.locator('#chart .waiting').getByRole('button', { name: `Cancel order ${placed.order_id}` }).click();
  await until('its end', async () => (await openOrders(other)).length === 0);
  await badge.waitFor({ state: 'detached' });
}

async function restudies(page, wick) {
  await open(page, wick);
  await page.locator('#chart .canvas canvas').focus();
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.waitForTimeout(500);
  const state = () => page.evaluate(() => {
    const { window: { count, end }, n, data } = globalThis.shownChart;
    return { count, back: n - end, studies: data.studies.map(st => st.name) };
  });
  const before = await state();
  const press = async name => {
    await page.locator('.legends').getByRole('button', { name: `Change ${name}`, exact: true }).click();
    return page.getByRole('dialog', { name: /^Change / });
  };
  const form = await press('RSI 14');
  await form.getByLabel('length').fill('21');
  await page.screenshot({ path: pictures + 'study.png' });
  assert.deepEqual(await violations(page), []);
  await form.getByLabel('length').press('Enter');
  await until('the other length', async () => (await state()).studies.join() === 'EMA,RSI 21,MACD 12 26 9');
  await page.waitForTimeout(1000);
  const after = await state();
  assert.ok(Math.abs(after.count - before.count) < 1e-6 && Math.abs(after.back - before.back) <= 1, `the window was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`);
  assert.equal(new URL(page.url()).searchParams.get('indicators'), '["ema_stack",{"name":"rsi","length":21},"macd"]');
  await (await press('EMA')).press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await (await press('RSI 21')).getByRole('button', { name: 'Remove' }).click();
  await until('one study less', async () => (await state()).studies.join() === 'EMA,MACD 12 26 9');
}

// refusals: what the server refuses is said at the field, the dialog stays, and the chart is as it was.
async function refusals(page, dialog, shown) {
  await dialog.getByRole('button', { name: 'All indicators' }).click();
  await dialog.getByLabel('Category').selectOption('all');
  await dialog.getByLabel('Search indicators').fill('rule');
  await until('what is searched for', async () => (await dialog.locator('.found strong').allTextContents()).includes('rule'));
  await dialog.locator('.found li', { has: page.getByText('rule', { exact: true }) }).locator('.pick').click();
  await dialog.getByLabel('when', { exact: true }).fill('close >');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.locator('.field', { has: page.locator('[name=when]') }).getByRole('alert').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.screenshot({ path: pictures + 'refused.png' });
  await dialog.getByRole('button', { name: 'All indicators' }).click();
  await dialog.getByRole('button', { name: 'odd', exact: true }).click(); // a list from a time when there was such a one
  await dialog.getByText('did you mean "rsi"').waitFor();
  await dialog.getByRole('button', { name: 'Forget odd' }).click();
  assert.equal(await page.locator('.toast').count(), 0, 'it is said once');
  await shown('EMA,RSI 14,MACD 12 26 9');
}

// studies: the dialog of the indicators, over the whole catalogue.
async function studies(page, wick, name) {
  await open(page, wick);
  const shown = what => until(what, async () => (await page.evaluate(() => globalThis.shownChart.data.studies.map(st => st.name).join())) === what);
  const dialog = page.locator('.studies');
  const openIt = async () => {
    if (name === 'phone') await page.locator('.controls .opener').click();
    await page.getByRole('button', { name: 'Indicators', exact: true }).click();
  };
  await page.evaluate(() => localStorage.setItem('wick-lists', '{"odd":["rsii"]}'));
  await openIt();
  await until('the whole catalogue', async () => (await dialog.locator('.found li').count()) > 150);
  assert.deepEqual(await violations(page), []);
  await page.screenshot({ path: pictures + `indicators-${name}.png` });
  await dialog.getByLabel('Category').selectOption('volatility');
  await dialog.getByLabel('Search indicators').fill('bollinger bands');
  await until('what is searched for', async () => /^bbands /.test(await dialog.locator('.found li').first().textContent()));
  await dialog.locator('.found .pick').first().click();
  await dialog.getByLabel('length').fill('100000');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  assert.match(await dialog.getAttribute('aria-label'), /^Add /, 'beyond its bounds nothing is added');
  await refusals(page, dialog, shown);
  await dialog.getByLabel('Category').selectOption('volatility');
  await dialog.getByLabel('Search indicators').fill('bollinger bands');
  await until('what is searched for', async () => /^bbands /.test(await dialog.locator('.found li').first().textContent()));
  await dialog.locator('.found .pick').first().click();
  await dialog.getByLabel('length').fill('30');
  await page.screenshot({ path: pictures + `parameters-${name}.png` });
  assert.deepEqual(await violations(page), []);
  await dialog.getByLabel('length').press('Enter');
  await shown('EMA,RSI 14,MACD 12 26 9,BB 30 2');
  await dialog.getByLabel('rsi', { exact: true }).uncheck();
  await dialog.getByLabel('macd', { exact: true }).uncheck();
  await shown('EMA,BB 30 2');
  await dialog.getByLabel('Name of these indicators').fill('bands');
  await dialog.getByLabel('Name of these indicators').press('Enter');
  await dialog.getByLabel('rsi', { exact: true }).check();
  await shown('EMA,RSI 14,BB 30 2');
  await page.keyboard.press('Escape');
  assert.equal(await dialog.count(), 0);
  await page.waitForTimeout(700); // until the address has it
  await page.reload();
  await loaded(page);
  await shown('EMA,RSI 14,BB 30 2');
  await openIt();
  await dialog.getByRole('button', { name: 'bands', exact: true }).click();
  await shown('EMA,BB 30 2');
  await dialog.getByRole('button', { name: 'Forget bands' }).click();
  await until('no preset', async () => (await dialog.locator('.presets > span').count()) === 0);
  assert.equal(await dialog.count(), 1, 'the dialog stays open');
}
