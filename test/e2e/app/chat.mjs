// The chart in a chat, with the official bridge for hosts. The bridge runs here and
// speaks with the view through a page of another origin, as web hosts do; the view
// itself comes with the strict policy that works in every host.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { check, client, pictures, until, violations } from './lib.mjs';

let view; // what resources/read answers, of the chart unless a check says otherwise
const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'none'";
const hostile = '<img src=x onerror="document.title=1">';

// The host's page passes messages between the frame and the bridge, and nothing else.
const hostPage = (sandbox, height) => `<!doctype html><title>host</title><body style="margin:0"><iframe id=f sandbox="allow-scripts allow-same-origin" src="${sandbox}" style="border:0;width:100%;height:${height}px"></iframe>
<script>addEventListener('message', e => { if (e.source === f.contentWindow) window.fromView(e.data); });
window.toView = m => f.contentWindow.postMessage(m, '*');</script>`;

async function serve(answer) {
  const server = createServer((request, reply) => answer(reply));
  await new Promise(resolve => server.listen(0, resolve));
  return { port: server.address().port, close: () => server.close() };
}

// host opens the view in a page with a bridge and returns both with what was seen.
export async function host(page, call, { capabilities = { serverTools: {}, updateModelContext: { text: {} } }, html = view, context = { theme: 'dark', displayMode: 'inline', timeZone: 'Europe/Berlin', containerDimensions: { maxHeight: 480 } }, setup = () => {} } = {}) {
  const seen = { calls: [], sizes: [], told: [], outside: [] };
  const sandbox = await serve(reply => reply.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(html));
  const outer = await serve(reply => reply.writeHead(200, { 'content-type': 'text/html' }).end(hostPage(`http://127.0.0.1:${sandbox.port}/`, context.containerDimensions?.height ?? 480)));
  const own = [`http://127.0.0.1:${sandbox.port}/`, `http://localhost:${outer.port}/`];
  page.on('request', r => own.some(o => r.url().startsWith(o)) || r.url().startsWith('data:') || seen.outside.push(r.url()));
  const transport = { async start() {}, async close() {}, send: m => page.evaluate(m => window.toView(m), m) };
  await page.exposeFunction('fromView', m => transport.onmessage?.(m));
  const bridge = new AppBridge(null, { name: 'test host', version: '1' }, capabilities, { hostContext: context });
  bridge.oncalltool = async params => {
    seen.calls.push(params);
    const result = await call(params.name, params.arguments);
    seen.longest = Math.max(seen.longest ?? 0, JSON.stringify(result).length);
    return result;
  };
  bridge.onsizechange = s => seen.sizes.push(s);
  bridge.onupdatemodelcontext = async p => { seen.told.push(p.content[0].text); return {}; };
  bridge.onrequestdisplaymode = async ({ mode }) => { bridge.setHostContext({ ...context, displayMode: mode }); return { mode }; };
  seen.initialized = new Promise(resolve => { bridge.oninitialized = resolve; });
  setup(bridge);
  await bridge.connect(transport);
  await page.goto(`http://localhost:${outer.port}/`);
  await seen.initialized;
  const frame = page.frames().find(f => f.url().startsWith(own[0]));
  return { bridge, frame, seen, close: () => { sandbox.close(); outer.close(); } };
}

const label = frame => frame.locator('canvas').first().getAttribute('aria-label');
const ready = frame => frame.waitForSelector('#chart[data-state=ready]');

// samePicture shows the same bars with one argument of generate_chart after the other.
// Each must change the view, and one that is spelled otherwise must not. Bars of the past
// do not change by themselves.
async function samePicture(page, call) {
  const from = Date.UTC(2026, 5, 1) / 1000;
  const at = bar => new Date((from + bar * 3600) * 1000).toISOString();
  const base = { symbol: 'BTCUSDT', interval: '1h', from: at(0), to: at(99), indicators: ['sma', 'rsi', { name: 'rule', when: 'close > 0' }] };
  const { bars } = JSON.parse((await call('generate_chart', { ...base, indicators: [], format: 'series' })).content[0].text);
  assert.equal(bars.length, 100);
  const mid = bars[50].c;
  const h = await host(page, call, { context: { theme: 'dark', displayMode: 'inline', timeZone: 'UTC', containerDimensions: { height: 900 } } });
  const seen = new Map();
  const shown = async args => {
    const calls = h.seen.calls.length;
    await h.frame.evaluate(() => { document.getElementById('chart').dataset.state = 'waiting'; });
    await h.bridge.sendToolInput({ arguments: args });
    await ready(h.frame).catch(async () => assert.fail(`${JSON.stringify(args)}: ${await h.frame.locator('.notice').textContent()}`));
    await page.waitForTimeout(250);
    assert.ok(h.seen.calls.length > calls);
    return h.frame.locator('.canvas canvas').evaluate(c => c.toDataURL());
  };
  const level = { type: 'level', price: mid, text: 'mine', color: 'up' };
  const variants = {
    base, bars: { ...base, bars: 60 }, interval: { ...base, interval: '2h' }, 'to alone': { ...base, from: undefined, bars: 80 }, indicators: { ...base, indicators: ['sma', 'rsi'] }, none: { ...base, indicators: [] },
    'hollow candles': { ...base, type: 'hollow' }, 'heikin ashi': { ...base, type: 'heikin_ashi' }, lines: { ...base, type: 'line' }, area: { ...base, type: 'area' }, 'price bars': { ...base, type: 'bars' },
    log: { ...base, scale: 'log' }, percent: { ...base, scale: 'percent' }, signals: { ...base, signals: 'off' }, labels: { ...base, signals: 'labels' }, volume: { ...base, volume: false },
    zone: { ...base, from: from, to: from + 99 * 3600, timezone: 'America/New_York' }, theme: { ...base, theme: 'light' }, colorblind: { ...base, theme: 'colorblind' }, compare: { ...base, compare: ['ETHUSDT'] },
    level: { ...base, marks: [level] }, area2: { ...base, marks: [{ type: 'zone', price: 0.99 * mid, price2: mid, time: at(20), time2: at(60), text: 'a zone' }] },
    line: { ...base, marks: [{ type: 'line', price: mid, time: at(10), price2: 1.01 * mid, time2: at(80), color: 'down' }] }, text: { ...base, marks: [{ type: 'text', price: mid, time: at(50), text: 'here' }] },
  };
  for (const [name, args] of Object.entries(variants)) {
    const picture = await shown(args);
    assert.equal(seen.get(picture), undefined, `${name} looks like ${seen.get(picture)}`);
    seen.set(picture, name);
  }
  const spellings = {
    'hollow candles': { ...base, chart_type: 'Hollow' }, log: { ...base, log_scale: true }, none: { ...base, indicators: '' }, level: { ...base, annotations: JSON.stringify([level]) }, volume: { ...base, show_volume: 'no' },
    indicators: { ticker: 'btcusdt', timeframe: '60m', since: at(0), until: at(99), panels: 'sma, rsi' }, compare: { ...base, compare_with: 'ETHUSDT' },
  };
  for (const [name, args] of Object.entries(spellings)) assert.equal(seen.get(await shown(args)), name, JSON.stringify(args));
  const everything = {
    ...base, type: 'hollow', indicators: ['bbands', 'rsi', 'macd', { name: 'rule', when: 'rsi(14) > 55' }],
    marks: [{ ...level, text: 'a level of the caller' }, { type: 'zone', price: 0.985 * mid, price2: 0.99 * mid, text: 'a zone over all' }, ...variants.area2.marks, ...variants.line.marks, ...variants.text.marks],
  };
  await shown(everything);
  await page.screenshot({ path: pictures + 'same-view.png' });
  const png = await call('generate_chart', { ...everything, width: 1440, height: 768 });
  writeFileSync(pictures + 'same-png.png', Buffer.from(png.content[0].data, 'base64'));
  h.close();
}

export async function chatChecks(wick) {
  const other = await client(wick, 'host');
  const listed = (await other.request('tools/list', {})).result.tools.find(t => t.name === 'generate_chart');
  view = (await other.request('resources/read', { uri: listed._meta.ui.resourceUri })).result.contents[0].text;
  const call = async (name, args) => (await other.call(name, args)).result;
  const input = { symbol: 'BTCUSDT', interval: '4h', indicators: ['bbands', { name: 'rsi', length: 21 }], bars: 240, type: 'candles' };

  await check('chat: the whole sequence, theme, actions, teardown during a poll', { viewport: { width: 900, height: 520 } }, async page => {
    const h = await host(page, call);
    await h.bridge.sendToolInput({ arguments: input });
    await h.bridge.sendToolResult(await call('generate_chart', input));
    await ready(h.frame);
    await until('240 bars', async () => /BTCUSDT, 4h, 240 bars/.test(await label(h.frame)));
    await page.screenshot({ path: pictures + 'chat-dark.png' });
    assert.ok(h.seen.sizes.length > 0 && h.seen.sizes.at(-1).height <= 480, JSON.stringify(h.seen.sizes));
    assert.ok(h.seen.longest <= 100_000, `a result of ${h.seen.longest} characters`);
    h.bridge.setHostContext({ theme: 'light', displayMode: 'inline', timeZone: 'Europe/Berlin', containerDimensions: { maxHeight: 480 } });
    await h.frame.waitForFunction(() => document.documentElement.dataset.theme === 'light');
    await page.waitForTimeout(200);
    await page.screenshot({ path: pictures + 'chat-light.png' });
    await h.frame.locator('#chart .canvas canvas').click({ position: { x: 200, y: 100 }, button: 'right' });
    await h.frame.getByRole('menuitem', { name: /^Alert at/ }).click();
    await until('a line for the model', () => h.seen.told.some(t => /^alert a-/.test(t)));
    await h.frame.getByText('Order', { exact: true }).click();
    await h.frame.fill('input[name=quantity]', '1');
    await h.frame.getByRole('button', { name: 'Preview' }).click();
    await h.frame.waitForFunction(() => /Would be: buy 1/.test(document.querySelector('.preview').textContent));
    await h.frame.getByRole('button', { name: 'Confirm' }).click();
    await until('a line for the model', () => h.seen.told.some(t => /^order .*buy 1 BTCUSDT/.test(t)));
    await h.frame.getByRole('button', { name: 'Expand' }).click();
    await page.waitForTimeout(300);
    await until('a poll', () => h.seen.calls.filter(c => c.arguments.bars === 3).length > 0, 20_000);
    assert.deepEqual(await h.bridge.teardownResource({}), {});
    const calls = h.seen.calls.length;
    await page.waitForTimeout(6500);
    assert.equal(h.seen.calls.length, calls, 'nothing is asked after teardown');
    assert.deepEqual(h.seen.outside, [], 'no request leaves the frame');
    h.close();
  });

  await check('chat: crosshair, legend and the way to the newest bar', { viewport: { width: 900, height: 520 } }, async page => {
    const h = await host(page, call, { html: view.replace('listen(this.canvas, this);', 'listen(this.canvas, window.shownChart = this);') });
    await h.bridge.sendToolInput({ arguments: input });
    await ready(h.frame);
    await until('240 bars', async () => /BTCUSDT, 4h, 240 bars/.test(await label(h.frame)));
    const canvas = h.frame.locator('#chart .canvas canvas');
    const box = await canvas.boundingBox();
    const newest = h.frame.getByRole('button', { name: 'To newest' });
    assert.equal(await newest.isVisible(), false);
    const panel = await h.frame.evaluate(() => window.shownChart.plan.panes[1].bottom / window.shownChart.ratio); // no alert of another check is there
    await page.mouse.move(box.x + 200, box.y + panel - 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + panel - 5, { steps: 6 });
    await page.mouse.up();
    await newest.waitFor();
    await page.mouse.move(box.x + 300, box.y + 120);
    await page.screenshot({ path: pictures + 'chat-hands.png' });
    assert.ok(await h.frame.evaluate(() => window.shownChart.cross && window.shownChart.priceIn(window.shownChart.cross.y) > 0), 'the crosshair shows a price');
    await newest.click();
    await newest.waitFor({ state: 'hidden' });
    await h.frame.locator('.legends').getByRole('button', { name: 'Change RSI 21' }).click();
    const form = h.frame.getByRole('dialog', { name: 'Change rsi' });
    assert.equal(await form.getByLabel('length').inputValue(), '21');
    assert.deepEqual(await violations(h.frame), []);
    await form.getByLabel('length').fill('9');
    await form.getByRole('button', { name: 'Apply' }).click();
    await until('the other length', () => h.frame.evaluate(() => window.shownChart.data.studies.some(st => st.name === 'RSI 9')));
    h.close();
  });

  await check('chat: the view is the picture of the call', { viewport: { width: 1440, height: 900 } }, page => samePicture(page, call));

  await check('chat: 320 pixels, 5,000 bars in pages', { viewport: { width: 320, height: 480 } }, async page => {
    const h = await host(page, call);
    await h.bridge.sendToolInput({ arguments: { ...input, bars: 5000 } });
    await until('5,000 bars', async () => /5000 bars/.test(await label(h.frame)), 60_000);
    await page.screenshot({ path: pictures + 'chat-320.png' });
    assert.ok(h.seen.longest <= 100_000, `a result of ${h.seen.longest} characters`);
    assert.equal(await h.frame.evaluate(() => document.documentElement.scrollWidth), 320);
    console.log(`      5,000 bars came in ${h.seen.calls.length} calls, the longest of ${h.seen.longest} characters`);
    h.close();
  });

  await check('chat: a tool error, and hostile texts', { viewport: { width: 700, height: 500 } }, async page => {
    const h = await host(page, async () => ({ isError: true, content: [{ type: 'text', text: hostile }] }));
    await h.bridge.sendToolInput({ arguments: { symbol: hostile, interval: hostile, indicators: [hostile] } });
    await h.bridge.sendToolResult({ isError: true, content: [{ type: 'text', text: hostile }] });
    await h.frame.getByText('<img src=x').first().waitFor();
    assert.equal(await h.frame.locator('img').count(), 0);
    assert.equal(await h.frame.title(), 'wick');
    h.close();
  });

  await check('chat: hostile names within the data stay text', { viewport: { width: 700, height: 500 } }, async page => {
    const dirty = async (name, args) => {
      const result = await call(name, args);
      if (name !== 'generate_chart') return result;
      const data = JSON.parse(result.content[0].text);
      data.symbol = hostile;
      for (const i of Object.values(data.indicators)) {
        i.label = hostile;
        for (const l of i.lines ?? []) l.label = hostile;
      }
      return { content: [{ type: 'text', text: JSON.stringify(data) }] };
    };
    const h = await host(page, dirty);
    await h.bridge.sendToolInput({ arguments: input });
    await ready(h.frame);
    await h.frame.getByText('Bars as a table').click();
    assert.equal(await h.frame.locator('img').count(), 0);
    assert.match(await label(h.frame), /<img src=x/);
    h.close();
  });

  await check('chat: a host without serverTools gets the picture and a sentence', { viewport: { width: 700, height: 500 } }, async page => {
    const h = await host(page, call, { capabilities: {} });
    const png = await other.call('generate_chart', { symbol: 'BTCUSDT', width: 640, height: 400 });
    await h.bridge.sendToolInput({ arguments: input });
    await h.bridge.sendToolResult(png.result);
    await h.frame.getByText('lets the view call no tools').waitFor();
    await h.frame.waitForSelector('#chart[data-state=picture]');
    assert.equal(await h.frame.locator('canvas.still').evaluate(c => c.width), 640);
    assert.equal(h.seen.calls.length, 0);
    h.close();
  });

  await check('chat: a host that sends no input gets the picture, and a chart once a symbol is named', { viewport: { width: 700, height: 500 } }, async page => {
    const h = await host(page, call);
    await h.bridge.sendToolResult((await other.call('generate_chart', { symbol: 'BTCUSDT', width: 640, height: 400 })).result);
    await h.frame.getByText('did not say what was asked for').waitFor();
    await h.frame.waitForSelector('#chart[data-state=picture]');
    assert.equal(await h.frame.locator('canvas.still').evaluate(c => c.width), 640);
    await page.screenshot({ path: pictures + 'chat-no-input.png' });
    await h.frame.fill('input[name=symbol]', 'ETHUSDT');
    await h.frame.locator('input[name=symbol]').press('Enter');
    await ready(h.frame);
    assert.match(await label(h.frame), /ETHUSDT/);
    assert.equal(await h.frame.locator('canvas.still').count(), 0);
    h.close();
  });

  await check('chat: the result before the input, and a login that covers charts only', { viewport: { width: 700, height: 500 } }, async page => {
    const charts = async (name, args) => (name === 'generate_chart' ? call(name, args) : { isError: true, content: [{ type: 'text', text: 'the owner allowed charts only' }] });
    const h = await host(page, charts);
    await h.bridge.sendToolResult({ content: [] });
    await h.bridge.sendToolInput({ arguments: input });
    await ready(h.frame);
    await h.frame.locator('#chart .canvas canvas').click({ position: { x: 200, y: 100 }, button: 'right' });
    await h.frame.getByRole('menuitem', { name: /^Alert at/ }).click();
    await h.frame.getByText('charts only').waitFor();
    assert.equal(await h.frame.getByText('Order', { exact: true }).isVisible(), false);
    h.close();
  });

  const viewOf = async tool => {
    const { result } = await other.request('tools/list', {});
    return (await other.request('resources/read', { uri: result.tools.find(t => t.name === tool)._meta.ui.resourceUri })).result.contents[0].text;
  };

  await check('chat: positions, closed by a second click', { viewport: { width: 700, height: 500 } }, async page => {
    await other.call('place_order', { symbol: 'ETHUSDT', side: 'buy', type: 'market', quantity: '3' });
    const h = await host(page, call, { html: await viewOf('get_positions') });
    await h.bridge.sendToolInput({ arguments: {} });
    await h.bridge.sendToolResult(await call('get_positions', {}));
    await ready(h.frame);
    const close = h.frame.getByRole('button', { name: 'Close the position in ETHUSDT' });
    await page.screenshot({ path: pictures + 'chat-positions.png' });
    await close.click();
    await h.frame.getByText('Would be: sell 3 ETHUSDT').waitFor();
    assert.ok(JSON.parse((await call('get_positions', {})).content[0].text).some(p => p.symbol === 'ETHUSDT'), 'one click closes nothing');
    await page.waitForTimeout(6000); // a look at the account in between keeps the first click
    await close.click();
    await until('a line for the model', () => h.seen.told.some(t => /^order .*sell 3 ETHUSDT/.test(t)));
    await until('the row is gone', async () => await close.count() === 0);
    assert.ok(h.seen.sizes.length > 0 && h.seen.sizes.at(-1).height < 500, JSON.stringify(h.seen.sizes));
    assert.deepEqual(await h.bridge.teardownResource({}), {});
    const calls = h.seen.calls.length;
    await page.waitForTimeout(6000);
    assert.equal(h.seen.calls.length, calls, 'nothing is asked after teardown');
    assert.deepEqual(h.seen.outside, [], 'no request leaves the frame');
    h.close();
  });

  await check('chat: alerts, a note changed and one removed; hostile notes stay text', { viewport: { width: 360, height: 500 } }, async page => {
    await other.call('set_alert', { symbol: 'SOLUSDT', condition: { price_above: 900000 }, repeat: 'each_time', cooldown: '4h', expires_at: '2099-01-31', note: hostile });
    const h = await host(page, call, { html: await viewOf('list_alerts'), context: { theme: 'light' } });
    await h.bridge.sendToolResult(await call('list_alerts', {}));
    await ready(h.frame);
    await page.screenshot({ path: pictures + 'chat-alerts.png' });
    assert.equal(await h.frame.locator('img').count(), 0);
    const note = h.frame.getByRole('textbox', { name: 'Note of the alert on SOLUSDT' });
    await note.fill('watch the gap');
    await note.press('Tab');
    await until('a line for the model', () => h.seen.told.some(t => /on SOLUSDT instead of/.test(t)));
    const kept = JSON.parse((await call('list_alerts', {})).content[0].text).filter(a => a.symbol === 'SOLUSDT');
    assert.deepEqual(kept.map(a => [a.note, a.repeat, a.cooldown, a.expires_at.slice(0, 4)]), [['watch the gap', 'each_time', '4h0m0s', '2099']], 'all but the note is as it was');
    await h.frame.getByRole('button', { name: 'Remove the alert on SOLUSDT' }).click();
    await until('a line for the model', () => h.seen.told.some(t => /SOLUSDT was cancelled/.test(t)));
    assert.equal(await h.frame.evaluate(() => document.documentElement.scrollWidth), 360);
    h.close();
  });

  for (const tool of ['generate_chart', 'get_positions', 'list_alerts']) {
    for (const [width, theme] of [[320, 'light'], [320, 'dark'], [1200, 'light'], [1200, 'dark']]) {
      await check(`chat: ${tool}, ${width} pixels, ${theme}: fits, and axe-core finds nothing`, { viewport: { width, height: 500 }, reducedMotion: 'reduce' }, async page => {
        await other.call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '1' });
        await other.call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 900000 }, note: 'far away' });
        const h = await host(page, call, { html: await viewOf(tool), context: { theme, displayMode: 'inline', containerDimensions: { maxHeight: 480 } } });
        await h.bridge.sendToolInput({ arguments: tool === 'generate_chart' ? input : {} });
        await h.bridge.sendToolResult(await call(tool, {}));
        await ready(h.frame);
        if (tool === 'generate_chart') {
          await h.frame.getByText('Order', { exact: true }).click();
          await h.frame.getByText('Bars as a table').click();
        }
        await page.waitForTimeout(400);
        await page.screenshot({ path: pictures + `chat-${tool}-${width}-${theme}.png` });
        assert.deepEqual(await violations(h.frame), []);
        assert.equal(await h.frame.evaluate(() => document.documentElement.scrollWidth), width);
        h.close();
      });
    }
  }

  await check('chat: a small view in a host without serverTools shows the result', { viewport: { width: 700, height: 400 } }, async page => {
    const h = await host(page, call, { html: await viewOf('get_positions'), capabilities: {} });
    await h.bridge.sendToolResult({ content: [{ type: 'text', text: JSON.stringify([{ symbol: hostile, side: 'long', quantity: 2, entry_price: 10, current_price: 11, unrealized_pnl: 2, realized_pnl: 0, price_at: '2026-01-31T14:30:05Z' }]) }] });
    await h.frame.getByText('<img src=x').first().waitFor();
    assert.equal(h.seen.calls.length, 0);
    await h.frame.getByText('As the tool answered, with prices of 2026-01-31 14:30:05. This host lets the view call no tools, so it stays like this.').waitFor();
    await h.frame.getByRole('button', { name: /Close the position/ }).click();
    await h.frame.locator('.notice', { hasText: 'lets the view call no tools' }).waitFor();
    h.close();
  });
}
