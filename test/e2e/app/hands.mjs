// The chart in the hand: what mouse, fingers and keys do with it.
import assert from 'node:assert/strict';
import { check, logIn, pictures, until } from './lib.mjs';
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
  await check('hands: the crosshair is free, and only the primary button drags', desktop, page => free(page, servers.open));
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
  await range(() => drag(page, [box.x + 300, box.y + 200], [-400, 0]));
  assert.ok(Math.abs(await range() / automatic - 1) < 0.05, 'panning does not end the automatic scale');
  await drag(page, axis, [0, 60]);
  await page.fill('input[name=symbol]', 'AAPL');
  await page.getByRole('button', { name: 'Show' }).click();
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
