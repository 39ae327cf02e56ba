// The owner's page, from the login to ending another client's.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../browser/wick.mjs';
import { readFileSync } from 'node:fs';
import { binary, browser, check, client, logIn, passphrase, pictures, sayYes, tab, until, violations } from './lib.mjs';

const hostile = '<img src=x onerror="document.title=\'owned\'">{{7*7}}</script>';

// plan reads what the chart has worked out, through its element's own text.
export const label = page => page.locator('#chart canvas').getAttribute('aria-label');
// inView returns how many bars are in view; loaded waits until they fill the chart, which they
// do with 6 to 8 pixels each.
export const inView = async page => Number((await label(page)).match(/(\d+) (?:bars|Kerzen|velas)/)[1]);
export const loaded = page => until('bars over the whole width', async () => {
  const { width } = await page.locator('#chart .canvas canvas').boundingBox();
  return await inView(page) * 8 > width - 130;
});
const locales = ['en-GB', 'de-AT', 'es-MX'];
// pickStudy adds an indicator in the dialog of all.
async function pickStudy(page, name) {
  await page.locator('.controls .more > button').first().click();
  await page.getByLabel('Search indicators').fill(name);
  await page.locator('.found li', { has: page.getByText(name, { exact: true }) }).locator('button').last().click();
  await page.keyboard.press('Escape');
}
const toasts = page => page.locator('.toast').allTextContents();

export async function ownerChecks(servers) {
  await check('owner: login, chart, zoom, indicators, order, revoke, halt', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }, page => walk(page, servers.open));
  await check('owner: a symbol is picked from what was shown, is watched, or is found', { viewport: { width: 1366, height: 768 } }, page => searched(page, servers.open));
  await check('owner: a source of files opens on a symbol that it has', { viewport: { width: 1366, height: 768 } }, opens);
  await check('owner: a chart that is loading, or could not be, says so', { viewport: { width: 1366, height: 768 } }, page => loads(page, servers.open));
  await check('owner: an alert is dragged, fires, and shows up live', { viewport: { width: 1440, height: 900 } }, page => alert(page, servers.open));
  await check('owner: the address holds no token, and the code goes from it', {}, page => address(page, servers.open));
  await check('owner: the address is the view, and a link keeps what the reader had', { viewport: { width: 1366, height: 768 } }, (page, context) => linked(page, context, servers.open));
  await check('owner: an answer that this tab did not ask for is refused', {}, page => foreign(page, servers.open));
  await check('owner: hostile names and notes stay text', { viewport: { width: 1200, height: 900 } }, page => names(page, servers.open));
  await check('owner: an order waits for a yes, gets a no, then a yes', { viewport: { width: 1200, height: 900 } }, page => approves(page, servers.asking));
  for (const [width, height] of [[320, 640], [390, 844], [768, 1024], [1024, 768], [1366, 768], [1920, 1080]]) {
    for (const locale of locales) {
      await check(`owner: ${width} pixels, ${locale}: the chart comes first, and no control leaves its panel or covers another`, { viewport: { width, height }, hasTouch: width < 800, isMobile: width < 800, locale },
        page => arranged(page, servers.asking, width, height, locale));
    }
  }
  for (const [width, height] of [[390, 844], [1366, 768], [1920, 1080]]) {
    const size = { viewport: { width, height }, hasTouch: width < 400, isMobile: width < 400 };
    await check(`owner: ${width} pixels: an order to approve is read and answered without scrolling aside`, size, page => readable(page, servers.asking, width));
    await check(`owner: ${width} pixels: the price shown is the newest while looking at history`, size, page => history(page, servers.open, width));
  }
  await check('owner: all that the page says itself is in the language of the browser', {}, () => translated(servers.asking));
  for (const locale of locales) {
    await check(`owner: ${locale}: a refusal is said for people`, { viewport: { width: 1366, height: 768 }, locale }, page => refused(page, servers.open, locale));
  }
  await check('owner: the picture of a view, and the call for it', { viewport: { width: 1366, height: 768 }, permissions: ['clipboard-read', 'clipboard-write'] }, page => taken(page, servers.open));
  await check('owner: trades are listed in pages, and lead to their place on the chart', { viewport: { width: 1366, height: 768 } }, page => trades(page, servers.open));
  await check('owner: keys alone', { viewport: { width: 1200, height: 900 } }, page => keys(page, servers.open));
  await check('owner: the theme follows the system', { viewport: { width: 1200, height: 900 }, colorScheme: 'dark' }, page => follows(page, servers.open));
  for (const [width, height, touch] of [[360, 740, true], [1440, 768, false], [2560, 1300, false]]) {
    for (const theme of ['light', 'dark', 'high_contrast']) {
      const asked = theme === 'high_contrast' ? { contrast: 'more' } : { colorScheme: theme };
      await check(`owner: ${width} pixels, ${theme}: fits, and axe-core finds nothing on any tab`, { viewport: { width, height }, hasTouch: touch, isMobile: touch, ...asked, reducedMotion: 'reduce' },
        page => fits(page, servers.open, width, theme));
    }
  }
  await check('owner: pinch and drag by touch', { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true }, (page, context) => touch(page, context, servers.open));
}

async function walk(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const canvas = page.locator('#chart .canvas canvas');
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const first = await inView(page);
  await page.mouse.wheel(0, -600);
  await until('a zoom', async () => await inView(page) < first);
  const zoomed = await label(page);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 300, box.y + box.height / 2, { steps: 8 });
  await page.mouse.up();
  assert.equal(Number((await label(page)).match(/(\d+) bars/)[1]) <= Number(zoomed.match(/(\d+) bars/)[1]) + 1, true, 'panning keeps the number of bars');

  await pickStudy(page, 'bbands');
  await page.waitForTimeout(1500);
  await page.selectOption('select[name=type]', 'hollow');
  await page.selectOption('select[name=scale]', 'log');
  await page.screenshot({ path: pictures + `walk.png`, fullPage: true });

  await page.fill('input[name=quantity]', '2');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.waitForFunction(() => /Would be: buy 2/.test(document.querySelector('.preview').textContent));
  assert.equal(await page.locator('section[aria-label=Orders] td').first().textContent(), 'No orders yet.');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.waitForFunction(() => /filled/.test(document.querySelector('section[aria-label=Orders]').textContent));
  await page.waitForFunction(() => /long/.test(document.querySelector('section[aria-label=Positions]').textContent));

  const other = await client(wick, 'another client');
  assert.equal((await other.call('get_positions', {})).status, 200);
  await tab(page, 'Clients');
  await page.locator('tr', { hasText: 'another client' }).getByRole('button', { name: /End/ }).click();
  await until('the end of a login', async () => (await other.call('get_positions', {})).status === 401);
  const row = await page.locator('section[aria-label=Positions] tbody tr').first().textContent();
  assert.match(row, /[\d,]+\.\d\d?[\d,]+\.\d\d?−[\d.,]+\u00a0USDT−[\d.,]+\u00a0USDT/, 'prices as the market has them, sums with their currency');
  await page.getByRole('button', { name: 'Halt trading' }).click();
  await page.waitForTimeout(6000); // over a look at the server
  assert.doesNotMatch((await toasts(page)).join(), /halted/, 'one press halts nothing');
  await page.getByRole('button', { name: 'Really halt' }).click();
  await page.getByRole('button', { name: 'Resume trading' }).waitFor();
  await page.fill('input[name=quantity]', '1');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.waitForFunction(() => /halt/i.test(document.querySelector('.preview').textContent));
  await page.getByRole('button', { name: 'Resume trading' }).click();
  await page.getByRole('button', { name: 'Really resume' }).click();
  await page.getByRole('button', { name: 'Halt trading' }).waitFor();
  await tab(page, 'Who did what');
  await page.getByRole('button', { name: 'Read the journal' }).click();
  await page.waitForFunction(() => /order/.test(document.querySelector('pre').textContent));
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
}

// loads: while the chart shows another symbol than the field, it says which is coming, and that it
// is still the old one where that one cannot be had.
async function loads(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const sign = page.locator('.loading');
  assert.equal(await sign.isVisible(), false);
  let go;
  const gate = new Promise(resolve => { go = resolve; });
  await page.route('**/mcp', async route => {
    if (/"symbol":"SOLUSDT"/.test(route.request().postData() ?? '')) await gate;
    await route.continue();
  });
  await page.fill('input[name=symbol]', 'SOLUSDT');
  await page.keyboard.press('Enter');
  await until('the sign', () => sign.isVisible());
  assert.equal(await sign.textContent(), 'Loading SOLUSDT 4h…');
  assert.match(await label(page), /BTCUSDT/);
  await page.screenshot({ path: pictures + 'loading.png' });
  go();
  await until('the chart', async () => /SOLUSDT/.test(await label(page)) && !(await sign.isVisible()));
  await page.fill('input[name=symbol]', 'no such symbol');
  await page.keyboard.press('Enter');
  await until('that it is the old one', async () => (await sign.textContent()) === 'Still SOLUSDT, 4h');
}

// searched: the field of the symbol offers what was shown last, the watchlist and what the source
// has, by mouse and by keys.
async function searched(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const input = page.getByRole('combobox', { name: 'Symbol' });
  const offered = () => page.locator('.choice [role=option]').allTextContents();
  await input.focus();
  await until('what was shown, and what there is', async () => (await offered())[0] === 'BTCUSDT · recent' && (await offered()).includes('DOGEUSDT · Dogecoin'));
  assert.deepEqual(await violations(page), []);
  await page.screenshot({ path: pictures + 'symbols.png' });
  await input.pressSequentially('apple');
  await until('a choice', async () => (await offered()).join() === 'AAPL · Apple');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await until('its chart', async () => /AAPL/.test(await label(page)));
  assert.equal(await page.locator('.choice [role=listbox]').isVisible(), false);
  await input.pressSequentially('<b>');
  await page.waitForTimeout(600);
  assert.equal(await page.locator('.choice [role=option]').count(), 0, 'what is nowhere is not offered');
  await input.blur();
  await page.getByLabel('Symbol to watch').fill('SOLUSDT');
  await page.keyboard.press('Enter');
  await input.focus();
  await until('the last ones first, then the watchlist', async () => /^AAPL · recent,BTCUSDT · recent,ETHUSDT · watched,SOLUSDT · watched/.test((await offered()).join()));
  await page.locator('.choice').getByRole('option', { name: 'ETHUSDT' }).click();
  await until('its chart', async () => /ETHUSDT/.test(await label(page)));
}

// opens: a source without the usual symbol opens on one that it has, as a link without an interval does on one
// that there is; where a link names another symbol, the list of what there is comes with the refusal.
async function opens(page) {
  const dir = mkdtempSync(join(tmpdir(), 'wick-csv-'));
  const rows = Array.from({ length: 300 }, (_, i) => `${new Date(Date.UTC(2024, 0, 1) + i * 86_400_000).toISOString().slice(0, 10)},10,12,9,${10 + (i % 7) / 4},100`);
  writeFileSync(join(dir, 'ACME.csv'), ['date,open,high,low,close,volume', ...rows].join('\n'));
  const wick = await start(binary, { passphrase, trade: true, extra: ['--source', 'csv:' + dir] });
  try {
    await page.goto(wick.base + '/app');
    await page.locator('#login button').click();
    await page.fill('#passphrase', passphrase);
    await page.click('button.allow');
    await until('a symbol that there is', async () => /^Chart of ACME/.test(await label(page)));
    await until('it is watched', async () => /^ACME[\d.]+/.test(await page.locator('.watch .pick').first().textContent()));
    await page.goto(wick.base + '/app?symbol=ACME');
    await until('the interval that it has', async () => /^Chart of ACME, 1d/.test(await label(page)));
    assert.deepEqual(await toasts(page), [], 'no other interval was asked for aloud');
    await page.goto(wick.base + '/app?symbol=NONE&interval=1d');
    await page.locator('.choice').getByRole('option', { name: 'ACME' }).click();
    await until('its chart', async () => /^Chart of ACME/.test(await label(page)));
  } finally {
    await wick.stop();
    rmSync(dir, { recursive: true });
  }
}

async function alert(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const canvas = page.locator('#chart .canvas canvas');
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + 300, box.y + box.height / 4, { button: 'right' });
  await page.getByRole('menuitem', { name: /^Alert/ }).click();
  await page.waitForFunction(() => /price at or/.test(document.querySelector('section[aria-label=Alerts]').textContent));
  const before = await page.locator('section[aria-label=Alerts] td').nth(1).textContent();
  // Find the new line by its cursor.
  let y = -1;
  for (let row = 40; row < box.height - 40 && y < 0; row += 3) {
    await page.mouse.move(box.x + 300, box.y + row);
    await page.waitForTimeout(5);
    if ((await canvas.evaluate(c => c.style.cursor)) === 'ns-resize') y = row;
  }
  assert.ok(y > 0, 'the line can be grabbed');
  await page.mouse.move(box.x + 300, box.y + y + 4);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + y - 20, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(old => {
    const cell = document.querySelectorAll('section[aria-label=Alerts] td')[1];
    return cell && /price at or/.test(cell.textContent) && cell.textContent !== old;
  }, before);
  assert.equal(await page.locator('section[aria-label=Alerts] tbody tr').count(), 1, 'the old alert is gone');
  // One that fires at once, set by another client, must come over the stream.
  const other = await client(wick, 'setter');
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 0.5 }, note: 'live on the page' });
  await page.waitForFunction(() => /live on the page/.test(document.querySelector('section[aria-label="Fired alerts"]').textContent), undefined, { timeout: 20_000 });
  assert.ok((await toasts(page)).length > 0);
}

async function address(page, wick) {
  const seen = [];
  page.on('request', r => seen.push(r));
  await logIn(page, wick);
  assert.match(page.url().slice(wick.base.length), /^\/app(\?symbol=BTCUSDT&[^#]*)?$/);
  const token = await page.evaluate(() => sessionStorage.getItem('wick-token'));
  assert.ok(token.length > 40);
  for (const r of seen) {
    assert.ok(!r.url().includes(token), 'a token in an address');
    assert.ok(r.url().startsWith(wick.base), `a request to ${r.url()}`);
  }
  // What is left ties forms of the login to this browser, and goes to the login alone.
  const cookies = (await page.context().cookies()).map(c => [c.name, c.path, c.httpOnly, c.sameSite]);
  assert.deepEqual(cookies, [['wick-form', '/authorize', true, 'Strict']]);
  assert.equal(await page.evaluate(t => JSON.stringify(localStorage).includes(t), token), false);
}

// linked: reload and a link restore the view; what a link opens is not kept as the reader's own
// until the reader changes it; the title has symbol and price.
async function linked(page, context, wick) {
  await logIn(page, wick);
  await page.fill('input[name=symbol]', 'ETHUSDT');
  await page.selectOption('select[name=interval]', '1h');
  await until('its chart', async () => /ETHUSDT, 1h/.test(await label(page)));
  await page.selectOption('select[name=type]', 'hollow');
  await page.locator('#chart .canvas canvas').focus();
  for (const key of ['+', '+', '+', 'PageUp', 'PageUp']) await page.keyboard.press(key);
  const shown = async on => {
    await on.waitForTimeout(700); // until it is noted
    const query = new URL(on.url()).searchParams;
    return Object.fromEntries(['symbol', 'interval', 'indicators', 'type', 'from', 'to'].map(name => [name, query.get(name)]));
  };
  const before = await shown(page);
  assert.deepEqual({ ...before, from: 0, to: 0 }, { symbol: 'ETHUSDT', interval: '1h', indicators: 'ema_stack,rsi,macd', type: 'hollow', from: 0, to: 0 });
  assert.match(before.from + before.to, /^(\d{4}-\d\d-\d\dT\d\d:00:00Z){2}$/);
  assert.match(await page.title(), /^ETHUSDT [\d.,]+ · wick$/);
  const bars = (await label(page)).match(/\d+ bars/)[0];
  await page.reload();
  await until('the same bars', async () => (await label(page)) === `Chart of ETHUSDT, 1h, ${bars}`);
  assert.deepEqual(await shown(page), before, 'after a reload');
  assert.equal(await page.locator('select[name=type]').inputValue(), 'hollow');

  const link = `${wick.base}/app?symbol=SOLUSDT&interval=15m&indicators=[{%22name%22:%22bbands%22,%22length%22:30}]&scale=log&bars=80`;
  const fresh = await context.newPage(); // without a login: the view comes back from there
  await fresh.goto(link);
  await fresh.getByRole('button', { name: 'Log in' }).click();
  await fresh.fill('#passphrase', passphrase);
  await fresh.click('button.allow');
  await until('what the link shows', async () => (await label(fresh)) === 'Chart of SOLUSDT, 15m, 80 bars');
  assert.equal(await fresh.locator('select[name=scale]').inputValue(), 'log');
  await fresh.waitForTimeout(700);
  assert.equal(new URL(fresh.url()).searchParams.get('indicators'), '[{"name":"bbands","length":30}]');
  await fresh.waitForTimeout(700);
  await fresh.goto(wick.base + '/app');
  await until('the own view', async () => (await label(fresh)).startsWith('Chart of ETHUSDT, 1h'));
  await fresh.goto(wick.base + '/app?symbol=NOSUCHTHING%20x&interval=7m');
  await until('what is wrong', async () => (await toasts(fresh)).some(t => /7m/.test(t)));
}

async function foreign(page, wick) {
  await page.goto(wick.base + '/app?code=stolen&state=theirs&iss=' + encodeURIComponent(wick.base));
  await page.getByText('not to a login of this tab').waitFor();
  assert.equal(page.url(), wick.base + '/app');
  assert.equal(await page.evaluate(() => sessionStorage.getItem('wick-token')), null);
}

async function names(page, wick) {
  const other = await client(wick, hostile);
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 900000 }, note: hostile });
  await logIn(page, wick);
  await tab(page, 'Clients');
  await page.getByText('<img src=x').first().waitFor();
  await page.fill('input[name=symbol]', hostile.slice(0, 40));
  await page.keyboard.press('Enter');
  await page.locator('.toast').first().waitFor();
  await tab(page, 'Who did what');
  await page.getByRole('button', { name: 'Read the journal' }).click();
  await page.waitForTimeout(500);
  assert.match(await page.title(), /^BTCUSDT [\d.,]+ · wick$/);
  assert.equal(await page.locator('img[src=x]').count(), 0);
  assert.equal(await page.locator('section[aria-label=Alerts] tbody input').first().inputValue(), hostile);
}

// refused: what the engine refuses is a sentence in the language of the browser, and what a tool
// says for models names no tool.
async function refused(page, wick, locale) {
  await logIn(page, wick);
  await page.fill('input[name=quantity]', '1');
  await page.selectOption('select[name=ordertype]', 'limit');
  await page.fill('input[name=price]', '1');
  await page.fill('input[name=price]', '2');
  await page.locator('.ticket > button').first().click();
  const preview = page.locator('.preview');
  const words = { 'en-GB': 'The price is too far from the market: a', 'de-AT': 'Der Preis liegt zu weit vom Markt entfernt: a', 'es-MX': 'El precio está demasiado lejos del mercado: a' };
  await until('the refusal', async () => (await preview.textContent()).startsWith(words[locale]));
  assert.equal(await page.evaluate(() => document.documentElement.lang), locale.slice(0, 2));
  const refusal = await preview.textContent();
  await page.goto(wick.base + '/app?symbol=BTCUSDT&indicators=rsii');
  await until('what is wrong', async () => (await toasts(page)).some(text => /did you mean "rsi"/.test(text)));
  const said = [refusal, ...await toasts(page)].join();
  assert.doesNotMatch(said, /price_collar|list_indicators|fix the request|invented/);
}

// taken: the picture that is saved has each pixel of the view but the crosshair, with the legends above
// it, and the call that is copied has its bars.
async function taken(page, wick) {
  const other = await client(wick, 'caller');
  await logIn(page, wick);
  await loaded(page);
  const canvas = page.locator('#chart .canvas canvas');
  await canvas.press('PageUp');
  await page.waitForTimeout(1000);
  await page.route('**/mcp', route => (route.request().postDataJSON()?.params?.name === 'generate_chart' ? route.abort() : route.fallback())); // no bar comes between the two
  await page.waitForTimeout(500);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save picture' }).click()]);
  assert.match(download.suggestedFilename(), /^BTCUSDT-4h-\d{4}-\d\d-\d\dT\d\d-\d\d\.png$/);
  const saved = readFileSync(await download.path()).toString('base64');
  const differ = await canvas.evaluate(async (shown, text) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]));
    const copy = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    copy.drawImage(bitmap, 0, 0);
    const [a, b] = [copy, shown.getContext('2d')].map(ctx => ctx.getImageData(0, 0, shown.width, shown.height).data);
    const legends = [...shown.parentElement.querySelectorAll('.legends p')].map(e => ({ top: e.parentElement.offsetTop + e.offsetTop, end: e.parentElement.offsetTop + e.offsetTop + e.offsetHeight }));
    const rows = new Set();
    a.forEach((v, i) => v !== b[i] && rows.add(Math.floor(i / 4 / shown.width)));
    const printed = legends.filter(({ top, end }) => [...rows].some(y => y >= top && y < end)).length;
    return [bitmap.width - shown.width, bitmap.height - shown.height, [...rows].filter(y => !legends.some(({ top, end }) => y >= top && y < end)), printed];
  }, saved);
  assert.deepEqual(differ, [0, 0, [], 4], 'header, EMA, RSI and MACD');
  await page.getByRole('button', { name: 'Copy call' }).click();
  const { name, arguments: args } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const { result } = await other.call(name, { ...args, format: 'series' });
  const { bars, indicators } = JSON.parse(result.content[0].text);
  assert.equal(bars.length, await inView(page));
  assert.deepEqual([new Date(bars[0].t * 1000), new Date(bars.at(-1).t * 1000), Object.keys(indicators).length, args.theme], [new Date(args.from), new Date(args.to), 3, 'light']);
}

// trades: 22 from flat to flat have the figures that the tool has, on two pages, and each leads to
// the bars around it, as an order does.
async function trades(page, wick) {
  const other = await client(wick, 'trader');
  const said = async args => JSON.parse((await other.call(...args)).result.content[0].text);
  const symbols = ['XRPUSDT', 'ADAUSDT'];
  for (let i = 0; i < 22; i++) {
    const symbol = symbols[i % 2];
    await said(['place_order', { symbol, side: 'buy', type: 'market', quantity: 5 + i, stop_loss: '2%', client_order_id: `in${i}` }]);
    await said(['place_order', { symbol, side: 'sell', type: 'market', quantity: 'all', client_order_id: `out${i}` }]);
    await new Promise(resolve => setTimeout(resolve, 250)); // ten orders a second are taken
  }
  await logIn(page, wick);
  await loaded(page);
  await tab(page, 'Trades');
  const panel = page.locator('section[aria-label=Trades]');
  await until('a page', async () => (await panel.locator('tbody tr').count()) === 20);
  const [newest] = await said(['get_orders', { view: 'trades', symbol: symbols[1], limit: 1 }]);
  const row = panel.locator('tbody tr', { hasText: symbols[1] }).first();
  assert.equal(Number((await row.locator('td[data-name=R]').textContent()).replace('−', '-')), Number(newest.r.toFixed(2)));
  assert.match(await panel.locator('p').first().textContent(), /^\d+ closed · \d+% won · [−+][\d.,]+\u00a0USDT · profit factor [\d.]+ · [−+][\d.]+ R on average\.$/);
  assert.ok(await panel.locator('.equity svg').isVisible());
  await panel.getByRole('button', { name: 'Older' }).click();
  await until('the next page', async () => (await panel.locator('tbody tr').count()) < 20);
  await panel.getByRole('button', { name: 'Newer' }).click();
  await row.getByRole('button', { name: /^Show ADAUSDT, .* on the chart$/ }).click();
  await until('its bars', async () => (await label(page)).startsWith('Chart of ADAUSDT, 4h, 4'));
  assert.equal(await focused(page), await label(page));
  await tab(page, 'Orders');
  await page.getByRole('button', { name: /^Show XRPUSDT, .* on the chart$/ }).first().press('Enter');
  await until('the bars of an order', async () => (await label(page)).startsWith('Chart of XRPUSDT, 4h, 4'));
}

// translated: a text that stands on the page in English and in another language, too, is the
// same in both by the table of texts, or does not come from the page.
async function translated(wick) {
  const table = JSON.parse(readFileSync(new URL('../../../app/texts.json', import.meta.url)));
  const same = column => Object.entries({ ...table.texts, ...table.words }).filter(([english, others]) => english.replaceAll('_', ' ') === others[column]).map(([english]) => english.replaceAll('_', ' '));
  const other = await client(wick, 'translator');
  await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 900000 }, note: 'x' });
  const said = {};
  for (const locale of locales) {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    const texts = said[locale] = new Set();
    const read = async () => {
      const all = await page.evaluate(() => [...document.querySelectorAll('body *:not(script, .legends *)')].flatMap(e => [...['aria-label', 'placeholder', 'title', 'data-name'].map(name => e.getAttribute(name)), ...[...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data)]));
      for (const text of all) if (/[a-z]{3}/i.test(text ?? '')) texts.add(text.trim());
    };
    await page.goto(wick.base + '/app');
    await page.locator('#login button').waitFor();
    await read();
    await logIn(page, wick);
    await page.waitForTimeout(2000);
    await page.fill('input[name=quantity]', '0');
    await page.locator('.ticket > button').first().click();
    await page.locator('#chart .canvas canvas').press('Enter');
    await page.getByRole('menuitem').nth(1).click();
    await page.getByText(/^(Bars as a table|Kerzen als Tabelle|Velas en una tabla)$/).first().click();
    await page.waitForTimeout(500);
    await read();
    await context.close();
  }
  // The symbol, sums, the names of signals, which the picture has too, and what others wrote.
  const foreign = /^(wick|sample|The owner's page|charts( trade( owner)?)?|translator|buyer|[A-Z]{6,}.*|[−+]?[\d.,]+\s[A-Z]+|[a-z_ ]+: .*)$|rises|falls|crosses|RSI|overbought|oversold|divergence|[bc]{6}|<img|^(buy|sell) .* order\b/;
  for (const [column, locale] of [[0, 'de-AT'], [1, 'es-MX']]) {
    const left = [...said[locale]].filter(text => said['en-GB'].has(text) && !foreign.test(text) && !same(column).includes(text));
    assert.deepEqual(left, [], locale);
    assert.ok(said[locale].size > 80, `${said[locale].size} texts`);
  }
}

async function keys(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const order = [];
  for (let i = 0; i < 14; i++) {
    await page.keyboard.press('Tab');
    order.push(await page.evaluate(() => document.activeElement.getAttribute('name') ?? document.activeElement.textContent.slice(0, 20)));
  }
  console.log('      focus order: ' + order.join(' → '));
  await page.locator('#chart .canvas canvas').focus();
  const first = await inView(page);
  await page.keyboard.press('+');
  await until('a zoom', async () => await inView(page) < first);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press(',');
  await page.waitForFunction(() => /BTCUSDT 4h, .*Close price/.test(document.querySelector('#chart p.quiet[role=status]').textContent));
  await page.getByText('Bars as a table').focus();
  await page.keyboard.press('Enter');
  await until('rows', async () => (await page.locator('#chart tbody tr').count()) > 10);
  await closeByKeys(page, wick);
  await typesNote(page, wick);
  await placeByKeys(page);
}

// focused names what has the focus.
const focused = page => page.evaluate(() => {
  const e = document.activeElement;
  return e.ariaLabel ?? (e.className || e.textContent || e.tagName);
});

// typesNote edits the note of an alert. What is typed stays over a look at the alerts, and
// Enter sets the alert anew, once, and leaves the focus on its note.
async function typesNote(page, wick) {
  const other = await client(wick, 'noter');
  await other.call('set_alert', { symbol: 'ETHUSDT', condition: { price_above: 800000 }, note: 'first' });
  await tab(page, 'Alerts');
  const note = page.getByLabel('Note of the alert on ETHUSDT, price at or above 800000', { exact: true });
  await note.focus();
  await page.keyboard.press('End');
  await page.keyboard.type(' and seco');
  await page.waitForTimeout(6000); // over a look at the alerts
  await page.keyboard.type('nd');
  const notes = async () => JSON.parse((await other.call('list_alerts', {})).result.content[0].text).filter(a => a.symbol === 'ETHUSDT').map(a => a.note);
  assert.deepEqual(await notes(), ['first']);
  await page.keyboard.press('Enter');
  await until('the other note', async () => (await notes()).join() === 'first and second');
  await page.waitForTimeout(6000);
  assert.equal(await focused(page), 'Note of the alert on ETHUSDT, price at or above 800000');
  assert.equal(await note.inputValue(), 'first and second');
}

// placeByKeys places an order and takes a symbol off the watchlist: the focus stays near.
async function placeByKeys(page) {
  await page.fill('input[name=quantity]', '2');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Confirm' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /Placed: buy 2/.test(document.querySelector('.preview').textContent));
  assert.equal(await focused(page), 'Preview');
  await page.getByRole('button', { name: 'Watch ETHUSDT no more' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'watch');
}

// closeByKeys closes a position with two presses of Enter on one button, whose name says
// which press is next. A key that is held down is one press. The focus stays on it over a look at the account, and then in the list.
async function closeByKeys(page, wick) {
  const other = await client(wick, 'buyer');
  await other.call('place_order', { symbol: 'ETHUSDT', side: 'buy', type: 'market', quantity: '3' });
  await page.getByRole('button', { name: 'Close the position in ETHUSDT', exact: true }).focus();
  await page.keyboard.down('Enter');
  await until('the name of the second press', async () => (await focused(page)) === 'Really close the position in ETHUSDT');
  await page.keyboard.down('Enter'); // again, as a key that is held
  await page.keyboard.up('Enter');
  await page.waitForTimeout(6000); // over a look at the account
  assert.equal(await focused(page), 'Really close the position in ETHUSDT');
  await page.keyboard.press('Enter');
  await until('the end of the position', async () => (await page.locator('section[aria-label=Positions] tr', { hasText: /ETHUSDT/ }).getByRole('button').count()) === 0);
  assert.equal(await focused(page), 'Positions, the list');
}

// follows: the theme auto is that of the system, also when that changes.
async function follows(page, wick) {
  await logIn(page, wick);
  await loaded(page);
  const themes = [];
  for (const colorScheme of ['dark', 'light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(300);
    themes.push(await page.evaluate(() => {
      const canvas = document.querySelector('#chart .canvas canvas');
      return `${document.documentElement.dataset.theme} ${canvas.getContext('2d').getImageData(3, canvas.height / 2, 1, 1).data[0] > 128 ? 'light' : 'dark'}`;
    }));
  }
  assert.deepEqual(themes, ['dark dark', 'light light', 'dark dark']);
}

async function fits(page, wick, width, scheme) {
  await logIn(page, wick);
  await loaded(page);
  await page.waitForTimeout(600);
  await page.screenshot({ path: pictures + `owner-${width}-${scheme}.png`, fullPage: true });
  const wide = (await page.evaluate(() => document.documentElement.scrollWidth)) - width;
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the window`);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
  await page.getByText('Bars as a table').click();
  assert.deepEqual(await violations(page), []);
  const shown = page.getByRole('tab', { selected: true });
  await shown.focus();
  for (const title of await page.getByRole('tab').allTextContents()) { // by keys alone
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(300);
    assert.deepEqual(await violations(page), [], `after ${title}, at ${await shown.textContent()}`);
  }
  for (const opener of await page.locator('#trade, .opener').all()) {
    if (!await opener.isVisible()) continue;
    await opener.press('Enter');
    assert.deepEqual(await violations(page), [], await opener.textContent());
    await opener.press('Enter');
  }
}

async function touch(page, context, wick) {
  await logIn(page, wick);
  await loaded(page);
  const box = await page.locator('#chart .canvas canvas').boundingBox();
  const cdp = await context.newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const fingers = (type, ...points) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
  const first = await inView(page);
  await fingers('touchStart', [x - 30, y], [x + 30, y]);
  for (let d = 30; d <= 120; d += 15) await fingers('touchMove', [x - d, y], [x + d, y]);
  await fingers('touchEnd');
  await until('a pinch', async () => await inView(page) < first / 2);
  const before = await page.screenshot();
  await fingers('touchStart', [x, y]);
  for (let d = 0; d <= 100; d += 20) await fingers('touchMove', [x + d, y]);
  await fingers('touchEnd');
  await page.waitForTimeout(200);
  assert.notDeepEqual(await page.screenshot(), before, 'a drag moves the chart');
}

async function approves(page, wick) {
  await logIn(page, wick);
  const other = await client(wick, hostile.slice(0, 40));
  const place = async () => (await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '10', client_order_id: 'one' })).result;
  const panel = page.locator('section[aria-label="Orders to approve"]');
  await tab(page, 'Orders to approve');
  await panel.getByText('No order waits for you.').waitFor();
  for (const button of ['Refuse', 'Approve']) {
    assert.match((await place()).content[0].text, /a person has to approve/);
    await panel.getByText(/^buy 10 BTCUSDT, market order · about [\d.,]+ USDT · paper money$/).waitFor();
    assert.match(await page.title(), /^\(1\) BTCUSDT/);
    await page.screenshot({ path: pictures + 'approvals.png' });
    if (button === 'Approve') {
      await sayYes(page, panel.getByRole('button', { name: button }));
      continue;
    }
    await panel.getByRole('button', { name: button }).click();
    await until('what follows', async () => (await toasts(page)).some(t => /not approved/.test(t)));
    assert.match((await place()).content[0].text, /the person did not approve the order/); // told once, then asked anew
  }
  assert.match((await place()).content[0].text, /"filled"/);
}

// readable: the order has a client_order_id and a client's name as long as they may be, in one
// word each. All of it and both buttons are within the panel, and stay there while tabbing.
async function readable(page, wick, width) {
  const other = await client(wick, 'c'.repeat(60));
  await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: String(3000 + width), client_order_id: 'i'.repeat(48) });
  await logIn(page, wick);
  const panel = page.locator('section[aria-label="Orders to approve"]');
  const buttons = ['Approve', 'Refuse'].map(name => panel.getByRole('button', { name: `${name}: buy ${3000 + width}` }));
  await buttons[0].waitFor();
  await panel.scrollIntoViewIfNeeded();
  await page.screenshot({ path: pictures + `approve-${width}.png` });
  const inside = async what => {
    const wrong = await panel.evaluate(box => {
      const { left, right } = box.getBoundingClientRect();
      return [...box.querySelectorAll('*')].filter(e => {
        const r = e.getBoundingClientRect();
        return r.width > 1 && (r.left < left || r.right > right || e.scrollWidth > e.clientWidth + 1);
      }).map(e => `${e.tagName} ${e.textContent.slice(0, 30)}`);
    });
    assert.deepEqual(wrong, [], what);
  };
  await inside('at first');
  for (const button of buttons) {
    await button.focus();
    await inside('with the focus on a button');
    const [order, answer] = await Promise.all([panel.getByText(`buy ${3000 + width} BTCUSDT, market order`).boundingBox(), button.boundingBox()]);
    assert.ok(order.y >= 0 && answer.y > order.y && answer.y - order.y < 120, `the order at ${order.y}, its button at ${answer.y}`);
  }
  await buttons[1].click();
  await buttons[1].waitFor({ state: 'detached' });
  const aside = await page.evaluate(() => [...document.querySelectorAll('.panel button')].filter(b => {
    const [button, panel] = [b, b.closest('.panel')].map(e => e.getBoundingClientRect());
    return button.width > 0 && (button.left < panel.left || button.right > panel.right);
  }).map(b => b.ariaLabel ?? b.textContent));
  assert.deepEqual(aside, [], 'no button of any panel lies aside, whatever others call themselves');
}

// recordTexts notes every text that is drawn; written returns those of the next frames, at the
// right of a column.
export const recordTexts = page => page.addInitScript(() => {
  window.drawnTexts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    if (this.canvas.parentElement?.className === 'canvas') window.drawnTexts.push({ text, x, y, font: this.font });
    return fillText.call(this, text, x, y, ...more);
  };
});
export async function written(page, act) {
  await page.evaluate(() => { window.drawnTexts.length = 0; });
  await act();
  await page.waitForTimeout(300);
  return page.evaluate(() => window.drawnTexts);
}

// history: after two pages back, tag and header have the market's newest close.
async function history(page, wick, width) {
  const other = await client(wick, 'newest');
  const newest = async () => {
    const { result } = await other.call('generate_chart', { symbol: 'BTCUSDT', interval: '4h', bars: 3, format: 'series' });
    return JSON.parse(result.content[0].text).bars.at(-1).c;
  };
  await recordTexts(page);
  await logIn(page, wick);
  await loaded(page);
  const canvas = page.locator('#chart .canvas canvas');
  await canvas.focus();
  for (const key of ['PageUp', 'PageUp', 'PageUp']) await page.keyboard.press(key);
  await page.waitForTimeout(6000); // over a look at the newest bars
  const before = await newest();
  const texts = await written(page, () => page.keyboard.press('ArrowLeft'));
  const known = [before, await newest()];
  await page.screenshot({ path: pictures + `history-${width}.png` });
  const axis = await canvas.evaluate((c, part) => c.width * part, width < 400 ? 0.8 : 0.92);
  const isNewest = text => known.some(v => Math.abs(Number(text.replace(/[^\d.]/g, '')) - v) < 0.02 * v);
  const tag = texts.filter(t => t.x > axis && t.font.startsWith('500') && /^[▲▼]? ?[\d.,]+$/.test(t.text) && t.y < 0.5 * box(texts));
  assert.ok(tag.length > 0 && isNewest(tag[0].text), `tags ${tag.map(t => t.text)}, the market is at ${known}`);
  if (width < 400) return; // a narrow header has no room for the close, which is on the axis
  const [, close] = (await page.locator('.legends').textContent()).match(/C ([\d,.]+\.\d\d)/);
  assert.ok(isNewest(close), `the header has ${close}, the market is at ${known}`);
}

const box = texts => Math.max(...texts.map(t => t.y));

// misplaced returns the controls that can be seen and leave the window or their panel to a side,
// or cover another, and what is covered by a notification.
const misplaced = page => page.evaluate(() => {
  const name = e => `${e.tagName} ${e.ariaLabel ?? e.name ?? ''} ${e.textContent.slice(0, 20)}`;
  const seen = [...document.querySelectorAll('button, input, select, summary')].filter(e => e.checkVisibility() && !e.closest('.canvas') && e.getBoundingClientRect().width > 1);
  const wrong = [];
  for (const [i, e] of seen.entries()) {
    const a = e.getBoundingClientRect();
    const home = e.closest('.panel, .controls, .top, .panes, #chart');
    const { left, right } = home.getBoundingClientRect();
    const scrolls = e.closest('.tabs'); // which are reached by scrolling their row
    if (!scrolls && (a.left < Math.max(left, 0) - 0.5 || a.right > Math.min(right, innerWidth) + 0.5)) wrong.push(`${name(e)} leaves ${name(home)}`);
    for (const other of seen.slice(i + 1)) {
      const b = other.getBoundingClientRect();
      const over = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
      const layers = new Set([e, other].map(one => one.closest('.more.open, .side.open, .top'))).size; // what is opened lies above the rest
      if (over && layers === 1) wrong.push(`${name(e)} covers ${name(other)}`);
    }
  }
  return wrong;
});

async function arranged(page, wick, width, height, locale) {
  const other = await client(wick, 'buyer');
  if (width === 320 && locale === locales[0]) await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '7', client_order_id: 'i'.repeat(48) }); // which waits for a yes
  await logIn(page, wick);
  await loaded(page);
  await page.waitForTimeout(1500);
  const part = (await page.locator('.canvas').boundingBox()).height / height;
  const chart = await page.locator('.canvas').boundingBox();
  assert.ok(part >= (width < 1024 ? 0.6 : 0.6999), `the chart has ${part} of the height`);
  assert.ok(chart.y + chart.height <= height, 'unscrolled');
  await page.screenshot({ path: pictures + `desk-${width}-${locale}.png` });
  for (const title of await page.getByRole('tab').allTextContents()) {
    await tab(page, title.replace(/ \d+$/, ''));
    assert.deepEqual(await misplaced(page), [], title);
  }
  for (const opener of await page.locator('#trade, .opener').all()) {
    if (!await opener.isVisible()) continue;
    await opener.click();
    assert.deepEqual(await misplaced(page), [], await opener.textContent());
    await page.screenshot({ path: pictures + `desk-${width}-${locale}-${await opener.getAttribute('aria-label') ?? 'trade'}.png` });
    await opener.click();
  }
  const wide = (await page.evaluate(() => document.documentElement.scrollWidth)) - width;
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the window`);
  await page.fill('input[name=symbol]', 'no such symbol');
  await page.keyboard.press('Enter');
  await page.locator('.toast').first().waitFor();
  const [toast, ...free] = await Promise.all(['#toasts', '#panels', '#side'].map(at => page.locator(at).boundingBox()));
  const over = free.filter(box => box && box.x < toast.x + toast.width && box.x + box.width > toast.x && box.y < toast.y + toast.height && box.y + box.height > toast.y);
  assert.deepEqual(over, [], 'a notification is over the chart alone');
}
