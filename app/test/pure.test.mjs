// The pure functions of the page. Run with: node --test app/test
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock, test } from 'node:test';
import { Account } from '../page/account.mjs';
import { textOf } from '../page/calls.mjs';
import { table, workButton } from '../page/dom.mjs';
import { exactText, fixedText, levelText, namedText, percentText, priceText, valueText, volumeText } from '../page/format.mjs';
import { clampWindow, keyMove, panned, zoomed } from '../page/gestures.mjs';
import { described, headerItems, legendItems } from '../page/legend.mjs';
import { base64url, challengeOf, pageKey } from '../page/login.mjs';
import { coloursOf, look, setLook, signalName } from '../page/look.mjs';
import { marksOf, textsOf } from '../page/marks.mjs';
import { Draft, previewText, replacing, ticket } from '../page/order.mjs';
import { paint, paintCross } from '../page/paint.mjs';
import { makePlan, wholeWindow } from '../page/plan.mjs';
import { rowOf } from '../page/scale.mjs';
import { Loader, pageBars, prepended, readSeries, updated } from '../page/series.mjs';
import { queryOf, viewOf } from '../page/store.mjs';
import { t, word } from '../page/texts.mjs';
import { lastEnd, offsetIn, wallTimes } from '../page/times.mjs';
import { parseEvents } from '../page/wire.mjs';

const read = name => JSON.parse(readFileSync(new URL(name, import.meta.url)));
setLook(read('look.json'));

// What the page shows of nine pictures that the server measured has their decimals, ranges and
// colours, and their newest price; where it stands is the page's own.
for (const v of read('layout.json')) {
  test(`values: ${v.name}`, () => {
    const data = readSeries(JSON.stringify(v.series));
    const measure = (text, size, weight) => [...text].reduce((sum, c) => sum + (v.widths[`${weight} ${c}`] ?? 7), 0);
    const p = makePlan(data, { width: v.width, height: v.height, ratio: v.ratio, theme: v.theme, type: v.type, scale: v.scale, zone: 'UTC', marks: data.request.marks, measure }, wholeWindow(data, data.n));
    assert.equal(data.precision, v.precision, 'precision');
    assert.ok(p.panes[0].tags[0].text === v.panes[0].tags[0].replace(/^-?\d+ /, ''), `${p.panes[0].tags[0].text}, want ${v.panes[0].tags[0]}`);
    p.panes.forEach((pane, i) => {
      const want = v.panes[i];
      for (const end of ['lo', 'hi']) assert.ok(Math.abs(pane.scale[end] - want[end]) <= 1e-9 * Math.abs(want[end]), `${end} of pane ${i}: ${pane.scale[end]}, want ${want[end]}`);
      assert.deepEqual(pane.studies.flatMap(st => st.lineLooks.map(l => l.ink + (l.dashed ? '-' : ''))), want.inks ?? [], `inks of pane ${i}`);
      const rows = [...pane.ticks.filter(t => t.shown), ...pane.tags].map(t => t.y).sort((a, b) => a - b);
      assert.ok(rows.length > 1 && rows.every((y, k) => k === 0 || y - rows[k - 1] >= p.m.tagH), `labels of pane ${i} at ${rows}`);
    });
  });
}

// Numbers by hand, after the rules of chart/format.go.
test('the key of the start line is kept for the next login', () => {
  const kept = new Map();
  const store = { getItem: name => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
  assert.equal(pageKey('', store), null);
  assert.equal(pageKey('?key=first', store), 'first');
  assert.equal(pageKey('', store), 'first');
  assert.equal(pageKey('?key=after-a-restart', store), 'after-a-restart');
  assert.equal(pageKey('?state=x', store), 'after-a-restart');
});

test('numbers', () => {
  assert.equal(fixedText(-1234567.891, 2), '−1,234,567.89');
  assert.equal(fixedText(-0.001, 2), '0.00');
  assert.equal(fixedText(2.5, 0), '2');
  assert.equal(fixedText(3.5, 0), '4');
  assert.equal(fixedText(0.125, 2), '0.12');
  assert.equal(priceText(NaN, 2), '–');
  assert.equal(priceText(1.2342e-11, 2), '1.234e-11');
  assert.equal(priceText(1.5506e-10, 10), '1.551e-10');
  assert.equal(priceText(5.1234e-8, 10), '5.123e-8');
  assert.equal(priceText(0, 10), '0.0000000000');
  assert.equal(volumeText(999999), '1.00M');
  assert.equal(volumeText(86400000), '86.4M');
  assert.equal(volumeText(811), '811');
  assert.equal(valueText(54.24), '54.2');
  assert.equal(valueText(0.0202), '0.0202');
  assert.equal(levelText(70), '70');
  assert.equal(levelText(-100), '−100');
  assert.equal(levelText(0.5), '0.5');
  assert.equal(percentText(100, 102.55), '+2.55%');
  assert.equal(percentText(0, 1), '–');
  assert.equal(percentText(100, 99.999), '0.00%');
  assert.equal(percentText(100, 100.004), '0.00%');
  assert.equal(percentText(100, 99.977, 3), '−0.023%');
  assert.equal(percentText(1e-9, 1e9), '+1.00e20%');
});

// Three bars that hardly move have a precision of 5, by which all prices were written.
test('the newest bars add no decimals that cannot be seen', () => {
  const page = (from, n, precision) => readSeries(payload(from, n, { lines: [], signals: [], shaded: [] }, { precision }));
  const data = page(1, 100, 2);
  assert.deepEqual([updated(data, page(99, 3, 5)).precision, prepended(page(1, 50, 2), page(50, 20, 5)).precision, prepended(page(1, 20, 5), page(20, 50, 2)).precision], [2, 2, 2]);
});

test('a price that is named has its own decimals', () => {
  const data = readSeries(payload(30, 5, { lines: [] }));
  assert.equal(namedText(data, 31.975), '31.975');
  assert.equal(namedText(data, 30.5), '30.50');
  const account = new Account();
  account.positions = [{ symbol: 'ACME', side: 'long', quantity: '2', entry_price: '31.975', current_price: null, unrealized_pnl: null }];
  account.open = [{ symbol: 'ACME', status: 'open', side: 'sell', type: 'limit', quantity: '2', filled_quantity: '0', price: '33.125', average_price: null }];
  const p = makePlan(data, { ...plain, ...account.drawn(data) }, wholeWindow(data, data.n));
  assert.deepEqual(p.levels.map(l => l.text), ['long 2 at 31.975', 'sell limit 2 −3.99%']);
  assert.deepEqual(p.panes[0].tags.map(t => t.text), ['34.50', '31.975', '33.125']);
});

const payload = (from, n, extra = {}, head = {}) => JSON.stringify({
  symbol: 'ACME', interval: '1h', seconds: 3600, precision: 2, ...head, bars: Array.from({ length: n }, (_, i) => ({ t: (from + i) * 3600, o: from + i, h: from + i + 1, l: from + i - 1, c: from + i + 0.5, v: 1 })),
  indicators: { x: { label: 'X(1)', is_overlay: true, lines: [{ index: 0, label: 'x', ink: 'line1', values: Array.from({ length: n }, (_, i) => (i === 0 ? null : from + i)), ahead: [0] }],
    signals: [{ x: 1, y: 1, label: 'flip' }], shaded: [{ from: 0, to: 1 }], ...extra } },
});

test('pages join, and bars that both have are taken once', () => {
  const whole = prepended(readSeries(payload(1, 5)), readSeries(payload(4, 5)));
  assert.deepEqual(whole.time, [1, 2, 3, 4, 5, 6, 7, 8].map(h => h * 3600));
  assert.deepEqual(whole.studies[0].lines[0].values, [NaN, 2, 3, NaN, 5, 6, 7, 8, 0], 'with one for a bar to come');
  assert.deepEqual(whole.studies[0].shaded, [{ from: 0, to: 1 }, { from: 3, to: 4 }]);
  assert.deepEqual(whole.studies[0].signals.map(s => s.x), [1, 4]);
  const other = readSeries(payload(1, 5, {}, { symbol: 'OTHER' }));
  assert.equal(prepended(other, whole), whole);
});

test('a gap between two pages is counted', async () => {
  const hours = Array.from({ length: 310 }, (_, i) => i + 1).filter(h => h <= 200 || h > 210); // the newest 100 begin after the gap
  const call = async (_, { to, bars }) => {
    const page = hours.filter(h => !to || h * 3600 <= Date.parse(to) / 1000).slice(-bars);
    const { bars: rows, ...rest } = JSON.parse(payload(page[0], page.at(-1) - page[0] + 1, { lines: [], signals: [], shaded: [] }));
    const gaps = page.filter((h, i) => i > 0 && h > page[i - 1] + 1).length;
    return JSON.stringify({ ...rest, gaps, bars: rows.filter(bar => page.includes(bar.t / 3600)), request: { symbol: 'ACME', interval: '1h' } });
  };
  const loader = new Loader({ call, limit: 1e6 }, () => {}, text => assert.fail(text));
  await loader.load({ symbol: 'ACME' });
  loader.close();
  assert.deepEqual([loader.data.n, loader.data.time[0] / 3600, loader.data.gaps], [200, 101, 1]);
});

// A laptop that slept has missed bars; the first load after it woke failed, and nothing was asked for again.
test('a chart that missed bars looks on when it cannot be loaded', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  globalThis.document = { hidden: false };
  const said = [];
  let page = () => payload(1, 5);
  const loader = new Loader({ call: async (_, { bars }) => page(bars), limit: 1e6 }, () => {}, text => said.push(text));
  const later = async () => {
    mock.timers.tick(5000);
    for (let i = 0; i < 50; i++) await Promise.resolve();
    return loader.data.time.at(-1) / 3600;
  };
  await loader.load({ symbol: 'ACME', interval: '1h', bars: 5 });
  page = bars => (bars === 3 ? payload(90, 3) : Promise.reject(new Error('no answer')));
  assert.deepEqual([await later(), said], [5, ['no answer']]);
  page = bars => payload(93 - bars, bars);
  assert.equal(await later(), 92);
  loader.close();
  delete globalThis.document;
  mock.timers.reset();
});

const plain = { width: 600, height: 400, ratio: 1, theme: 'dark', type: 'candles', scale: 'linear', measure: text => 7 * text.length };

test('a compared symbol is named, also if it is the only one', () => {
  for (const [closes, text] of [[[20, 21, 22], 'TWIN +10.00%'], [[NaN, NaN, NaN], 'TWIN –']]) {
    const opens = [22 / 1.15, 20, 21]; // the last close is 15 % above the first open, and 10 % above the first close
    const data = readSeries(payload(4, 3, {}, { compare: [{ symbol: 'TWIN', ink: 'line2', opens: closes.map((v, i) => (v > 0 ? opens[i] : null)), closes: closes.map(v => v || null) }] }));
    const p = makePlan(data, plain, wholeWindow(data, data.n));
    const study = p.panes[0].studies.find(st => st.compare);
    assert.deepEqual(legendItems(p, p.panes[0], study).map(item => item.text), ['Compare', text]);
    assert.ok(described(p).endsWith('Compare ' + text), described(p));
  }
});

// As TestCompareSince of the picture.
test('where a compared symbol begins later than the window, the legend says since when', () => {
  const other = (symbol, opens, closes) => ({ symbol, ink: 'line2', opens, closes });
  const compare = [other('WHOLE', [50, 55, 58, 59], [55, 58, 59, 60]), other('LATE', [null, null, 100, 99], [null, null, 99, 100.55]), other('OLD', [null, null, null, null], [null, null, null, null])];
  const data = readSeries(payload(490_000, 4, {}, { compare })); // from 2025-11-24 16:00 on
  const texts = window => {
    const p = makePlan(data, plain, window);
    return [legendItems(p, p.panes[0], p.panes[0].studies.find(st => st.compare)).map(item => item.text).slice(1), described(p).split('Compare ')[1]];
  };
  assert.deepEqual(texts({ end: 4, count: 4 }), [['WHOLE +9.09%', 'LATE +1.57%', 'since 2025-11-24 18:00', 'OLD –'], 'WHOLE +9.09%, LATE +1.57% since 2025-11-24 18:00, OLD –']);
  const [long, alike] = ['LONGSYMBOLNAME-ABCDE', 'LONGSYMBOLNAME-ABCD2'].map(symbol => readSeries(payload(4, 3, {}, { compare: [other(symbol, [20, 20, 21], [20, 21, 22])] })))
    .map(data => legendItems(...(p => [p, p.panes[0], p.panes[0].studies.find(st => st.compare)])(makePlan(data, plain, wholeWindow(data, data.n))))[1].text);
  assert.deepEqual([long, alike], ['LONGSYM…ME-ABCDE +10.00%', 'LONGSYM…ME-ABCD2 +10.00%'], 'as TestCompareIsNamed of the picture');
  assert.deepEqual(texts({ end: 4, count: 2 })[0], ['WHOLE +1.69%', 'LATE +1.57%', 'OLD –'], 'from the first bar of the window on');
  assert.deepEqual(texts({ end: 2, count: 2 })[0], ['WHOLE +9.09%', 'LATE +1.57%', 'since 2025-11-24 18:00', 'OLD –'], 'the newest values, also of a window before them');
});

test('no level and no zone is drawn among the volume', () => {
  const rows = marks => {
    const data = readSeries(payload(1, 60));
    const p = makePlan(data, { ...plain, marks }, wholeWindow(data, data.n));
    const drawn = [];
    const ctx = new Proxy({}, { get: (_, name) => (...args) => { if (name === 'fillRect') drawn.push(args.join(' ')); } });
    paint(ctx, p);
    const [pane] = p.panes;
    return { pane, rows: drawn.filter(box => { const [, y, , h] = box.split(' ').map(Number); return y > pane.floor && y + h <= pane.end; }) };
  };
  const near = { type: 'level', price: -20, text: 'near' }; // widens the range as far as it may
  const plainRows = rows([near]);
  const { scale, floor, end } = plainRows.pane;
  const perRow = (scale.hi - scale.lo) / (rowOf(scale, scale.lo) - rowOf(scale, scale.hi));
  const below = scale.lo - ((floor + end) / 2 - rowOf(scale, scale.lo)) * perRow;
  for (const k of [{ type: 'level', price: below, text: 'beyond' }, { type: 'zone', price: below, price2: below - 1, text: 'beyond' }]) {
    const y = rowOf(scale, k.price);
    assert.ok(y > floor && y < end, `${k.type} at row ${y}, the volume from ${floor} to ${end}`);
    assert.deepEqual(rows([near, k]).rows, plainRows.rows, k.type);
  }
});

/** strokes paints a chart and returns its plan, the boxes, and the corners of the filled
 * shapes, each with its colour. */
function strokes(data, options) {
  const p = makePlan(data, { ...plain, ...options }, wholeWindow(data, data.n));
  const [boxes, shapes, lines] = [[], [], []];
  let path = [];
  const calls = {
    beginPath: () => { path = []; },
    moveTo: (...at) => path.push([at]),
    lineTo: (...at) => path.at(-1).push(at),
    fill: () => shapes.push(...path.map(corners => ({ corners, colour: ctx.fillStyle }))),
    stroke: () => lines.push(...path.map(points => ({ points, colour: ctx.strokeStyle }))),
    fillRect: (x, y, w, h) => boxes.push({ x, y, w, h, colour: ctx.fillStyle }),
  };
  const ctx = new Proxy({}, { get: (set, name) => calls[name] ?? set[name] ?? (() => {}) });
  paint(ctx, p);
  return { p, boxes, shapes, lines };
}

/** stepped returns the data of 20 bars with two levels that change on bar 10. */
function stepped(ink, missing, fills = []) {
  const [upper, lower] = [[16, 9], [14, 6]].map(levels => Array.from({ length: 20 }, (_, i) => (i === missing ? null : levels[i < 10 ? 0 : 1])));
  const line = (tone, values) => ({ tone, style: 'step', ink, values });
  return readSeries(payload(1, 20, { lines: [line('down', upper), line('up', lower)], fills: fills.map(f => ({ ...f, y1: upper, y2: lower })), signals: [], shaded: [] }));
}

// Each stretch of equal values is a level over the whole width of its bars; a missing value
// breaks it.
test('levels that step', () => {
  const { p, lines } = strokes(stepped('line3 dashed', 3));
  const edge = bar => Math.floor(p.x0 + bar * p.pitch);
  const want = [[16, 9], [14, 6]].flatMap(([before, after]) => [[0, 3, before], [4, 10, before], [10, 20, after]])
    .map(([from, to, v]) => [edge(from), edge(to)].map(x => [x, rowOf(p.panes[0].scale, v)]));
  assert.deepEqual(lines.filter(l => l.colour === p.colours.line3).map(l => l.points), want);
});

// As TestGapsAreMarked of the picture.
test('where bars are missing, a line says so', () => {
  const { p, lines } = strokes(readSeries(payload(1, 20, { lines: [], signals: [], shaded: [] }, { gaps: 1, gaps_at: [11 * 3600] })));
  const x = Math.floor(p.x0 + 10 * p.pitch) - p.m.thin + p.m.thin / 2;
  const [pane] = p.panes;
  assert.ok(lines.some(({ points, colour }) => colour === p.colours.muted && `${points}` === `${[[x, pane.y], [x, pane.end]]}`));
});

// As TestStepFill of the picture. The tone of the fill is none of the lines'.
test('a fill between levels that step has their ends', () => {
  const { p, shapes } = strokes(stepped('line3', -1, [{ tone: 'band' }]));
  const found = shapes.filter(s => s.colour.startsWith(p.colours.fill)).map(s => s.corners);
  const { scale } = p.panes[0];
  const want = Array.from({ length: 20 }, (_, i) => {
    const [left, right] = [i, i + 1].map(k => Math.floor(p.x0 + k * p.pitch));
    const [top, bottom] = (i < 10 ? [16, 14] : [9, 6]).map(v => rowOf(scale, v));
    return [[left, top], [right, top], [right, bottom], [left, bottom]];
  });
  assert.deepEqual(found, want);
});

// The axis is as wide as what it shows: a crosshair at 1,037.45 said 1,037.4.
test('the price at the crosshair is whole, also if it is wider than the axis', () => {
  const data = readSeries(payload(900, 200, { lines: [] }));
  for (const scale of ['linear', 'percent']) {
    const p = makePlan(data, { ...plain, scale }, { end: 50, count: 50 });
    const [written, boxes] = [[], []];
    const ctx = new Proxy({}, { get: (_, name) => ({ fillText: (text, x) => written.push({ text, x }), fillRect: (x, y, w, h) => boxes.push({ x, w, h }) }[name] ?? (() => {})), set: () => true });
    Object.assign(p, { ctx, colours: coloursOf('dark'), onTag: look.on_tag.dark, cross: { bar: 10, y: p.panes[0].top }, axisX: 560 });
    paintCross(p);
    const { text, x } = written.at(-1);
    assert.ok(x + plain.measure(text) <= plain.width, `${text} at ${x}`);
    const box = boxes.at(-1);
    assert.ok(box.x <= x && box.x + box.w === plain.width, 'on its ground');
  }
});

// As the picture does: two equal labels say nothing.
test('of a flat series no highest and lowest price is written', () => {
  const texts = closes => {
    const bars = closes.map((c, i) => ({ t: i * 3600, o: c, h: c, l: c, c, v: 0 }));
    const data = readSeries(JSON.stringify({ ...JSON.parse(payload(1, closes.length, { lines: [], signals: [], shaded: [] })), bars }));
    const p = makePlan(data, plain, wholeWindow(data, data.n));
    return textsOf(p, p.panes[0], []).map(t => t.text);
  };
  assert.deepEqual(texts([50, 50, 50]), []);
  assert.deepEqual(texts([50, 51, 50]).sort(), ['50.00', '51.00']);
});

// Bars are in the way above and below.
test('what the caller writes is there, also over bars', () => {
  const data = readSeries(payload(10, 60, { lines: [], signals: [], shaded: [] }));
  const bars = { ...data, high: data.high.map(() => 80), low: data.low.map(() => 2) };
  const marks = [{ type: 'text', time: data.time[30], price: 40, text: 'here' }, { type: 'zone', price: 30, price2: 35, text: 'zone' }];
  const p = makePlan(bars, { ...plain, marks }, wholeWindow(data, data.n));
  assert.deepEqual(textsOf(p, p.panes[0], marksOf(p, p.panes[0])).map(t => t.text).slice(0, 2), ['here', 'zone']);
});

test('a text whose price is out of sight is not written at the edge', () => {
  const data = readSeries(payload(10, 5, { lines: [] }));
  const marks = [[13, 'in sight'], [17, 'above'], [8, 'below']].map(([price, text]) => ({ type: 'text', time: data.time[2], price, text }));
  const p = makePlan(data, { ...plain, marks }, wholeWindow(data, data.n));
  assert.deepEqual(textsOf(p, p.panes[0], marksOf(p, p.panes[0])).map(t => t.text).filter(t => marks.some(k => k.text === t)), ['in sight']);
});

// Of 40 levels in a small chart some have no room.
test('levels without room for their names are counted', () => {
  const data = readSeries(payload(1, 60, { lines: [], signals: [], shaded: [] }));
  const levels = Array.from({ length: 40 }, (_, i) => ({ price: 11 + i, text: 'sell stop_limit', ink: 'down', on: 4, off: 4 }));
  const p = makePlan(data, { ...plain, width: 320, height: 240, levels }, wholeWindow(data, data.n));
  const [pane] = p.panes;
  const texts = textsOf(p, pane, marksOf(p, pane));
  assert.equal(pane.unmarked + texts.filter(t => t.text.startsWith('sell')).length, 40);
  assert.ok(pane.unmarked > 0);
  for (const [i, a] of texts.entries()) {
    for (const b of texts.slice(i + 1)) assert.ok(Math.abs(a.y - b.y) >= p.m.text || a.x + a.width <= b.x || b.x + b.width <= a.x, `${a.text} lies over ${b.text}`);
  }
});

test('levels out of sight are named at the edges', () => {
  const data = readSeries(payload(10, 5, { lines: [] }));
  const levels = [90, 50, 70, 60, 80, 1].map(price => ({ price, text: 'alert', ink: 'amber', on: 1, off: 4 }));
  const texts = width => {
    const p = makePlan(data, { ...plain, width, levels: [...levels, { price: 16, text: 'buy', ink: 'up', on: 4, off: 4 }] }, wholeWindow(data, data.n));
    assert.deepEqual([p.panes[0].scale.lo, p.panes[0].scale.hi], [9, 16]);
    return textsOf(p, p.panes[0], marksOf(p, p.panes[0])).map(t => t.text).filter(t => /[↑↓]/.test(t));
  };
  assert.deepEqual(texts(600), ['↑ alert 50.00', '↑ alert 60.00', '↑ alert 70.00', '↑ +2', '↓ alert 1.00']);
  assert.deepEqual(texts(400), texts(600));
  assert.deepEqual(texts(120), ['↑ 50.00', '↑ 60.00', '↑ 70.00', '↑ +2', '↓ 1.00'], 'by the price alone where there is no more room');
});

test('a page stays within the limit of a host', () => {
  for (const [bars, characters] of [[100, 12000], [100, 60000], [1, 3000]]) {
    const n = pageBars(bars, characters, 100_000);
    assert.ok(n >= 1 && n <= 5000 && (n * characters) / bars <= 100_000, `${n} bars`);
  }
});

test('windows stay within the data', () => {
  const w = { end: 100, count: 50 };
  assert.deepEqual(panned(w, 10, 100), { end: 90, count: 50 });
  assert.deepEqual(panned(w, 1e9, 100), { end: 5, count: 50 });
  assert.deepEqual(panned(w, -1e9, 100), { end: 145, count: 50 });
  assert.equal(zoomed(w, 1e9, 1, 100).count, 200);
  assert.equal(zoomed(w, 0, 1, 100).count, 5);
  const z = zoomed(w, 0.5, 0.5, 100);
  assert.deepEqual(z, { count: 25, end: 87.5 }, 'the middle stays');
  assert.deepEqual(clampWindow({ end: NaN, count: 1 }, 0).count, 1);
  assert.equal(keyMove('Home', w, 100).end, 50);
  assert.equal(keyMove('x', w, 100), undefined);
});

// Berlin changed its clocks at 01:00 UTC on 2026-03-29 and on 2026-10-25.
// The market is at 103.5. A tag, a line and a header of 62.5 stood above the ticket of a market
// order.
test('the price of the market is its newest, whatever the window shows', () => {
  const data = readSeries(payload(4, 100, {}));
  const shown = window => {
    const p = makePlan(data, plain, window);
    const [tag] = p.panes[0].tags;
    return [tag.text, tag.ink, headerItems(p).find(part => part.text.startsWith('C ')).text, p.panes[0].y < tag.y && tag.y < p.panes[0].end];
  };
  assert.deepEqual(shown({ end: 100, count: 20 }), ['103.50', 'up', 'C 103.50', true]);
  assert.deepEqual(shown({ end: 59, count: 20 }), ['▲ 103.50', 'up', 'C 103.50', true], 'above what is shown');
  assert.deepEqual(shown({ end: 99, count: 20 }), ['103.50', 'up', 'C 103.50', true], 'within what is shown');
});

test('time zones', () => {
  const berlin = offsetIn('Europe/Berlin');
  const at = text => Date.parse(text) / 1000;
  assert.equal(berlin(at('2026-03-29T00:59:59Z')), 3600);
  assert.equal(berlin(at('2026-03-29T01:00:00Z')), 7200);
  assert.equal(berlin(at('2026-10-25T01:00:00Z')), 3600);
  assert.equal(offsetIn('+05:30')(0), 19800);
  assert.equal(offsetIn('Not/AZone')(0), 0);
  assert.equal(wallTimes([at('2026-07-01T23:00:00Z')], 3600, 'Europe/Berlin')[0].day, 2);
  assert.equal(wallTimes([at('2026-07-01T00:00:00Z')], 86400, 'America/New_York')[0].day, 1, 'a bar of a day is a date');
});

test('the address is the view', () => {
  const view = { symbol: 'A/B', interval: '4h', indicators: ['ema_stack', 'rsi'], bars: 80 };
  assert.equal(queryOf(view), '?symbol=A%2FB&interval=4h&bars=80&indicators=ema_stack%2Crsi');
  const given = ['ema_stack', { name: 'rule', when: 'close > bbands(20,2).upper' }];
  assert.deepEqual(JSON.parse(viewOf(queryOf({ ...view, indicators: given })).indicators), given, 'what has parameters is JSON, which the server reads, too');
  assert.deepEqual([viewOf('?interval=1h'), viewOf('?symbol=A&key=secret')], [undefined, { symbol: 'A' }]);
});

// RFC 7636 appendix B.
test('the challenge of a login', async () => {
  assert.equal(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  assert.equal(base64url(new Uint8Array([251, 255])), '-_8');
});

test('events of a stream', () => {
  const { events, rest } = parseEvents(': open\n\nid: 7\ndata: {"a":1}\n\nid: 8\r\ndata: x\r\ndata: y\r\n\r\ndata: half');
  assert.deepEqual(events, [{ id: '7', data: '{"a":1}' }, { id: '8', data: 'x\ny' }]);
  assert.equal(rest, 'data: half');
});

test('a profit that is not known is not 0', () => {
  const account = new Account();
  const position = { symbol: 'A', side: 'short', quantity: 18, entry_price: 88.603, current_price: 88 };
  const level = profit => {
    account.positions = [{ ...position, unrealized_pnl: profit }];
    const [{ text, ink }] = account.drawn({ symbol: 'A', precision: 3, visible: 3, request: {}, n: 1, time: [0], close: [88], seconds: 60 }).levels;
    return [text, ink];
  };
  assert.deepEqual(level(null), ['short 18 at 88.603', 'axis']);
  assert.deepEqual(level(0), ['short 18 at 88.603 · 0.00', 'up']);
  assert.deepEqual(level(-34.7), ['short 18 at 88.603 · −34.70', 'down']);
});

// As TestProfitOfTheShownPrice of the picture: bought 2 at 10, sold 2 at 10, and the account
// knows a price of 11. The last close of the bars is 13.5.
test('the profit on a chart is that of its own price', () => {
  const account = new Account();
  const texts = (head, window = { end: 4, count: 4 }) => {
    const data = readSeries(payload(10, 4, { lines: [] }, head));
    const p = makePlan(data, { ...plain, ...account.drawn(data) }, window);
    return p.levels.map(l => [l.text, l.ink]);
  };
  const held = (side, pnl) => { account.positions = [{ symbol: 'ACME', side, quantity: '2', entry_price: '10', current_price: '11', unrealized_pnl: pnl }]; };
  held('short', '-2');
  assert.deepEqual(texts({}), [['short 2 at 10.00 · −7.00', 'down']]);
  held('long', '2');
  assert.deepEqual(texts({}), [['long 2 at 10.00 · +7.00', 'up']]);
  const bare = [['long 2 at 10.00', 'axis']];
  assert.deepEqual(texts({}, { end: 3, count: 2 }), texts({}), 'a window before the last bar: its price is on the axis all the same');
  const asked = { as_of: '1970-01-01T13:20:00.000Z', request: { to: 13 * 3600 } };
  assert.deepEqual(texts({ ...asked, forming: false }), bare, 'a period of the past');
  assert.deepEqual(texts({ ...asked, forming: true }), texts({}), 'one that ends within the bar of now');
  assert.deepEqual(texts({ ...asked, request: { to: 14 * 3600 } }), texts({}), 'one that ends later than now');
});

test('quantities and prices of the account keep their decimals', () => {
  assert.deepEqual([100, 0.12345678, 1234567.5, 10.46352915, 0, -3].map(exactText), ['100', '0.12345678', '1,234,567.5', '10.46352915', '0', '−3']);
  assert.deepEqual([5399118186.9885, 91999999999.1, 1e-8, 0.1 + 0.2].map(exactText), ['5,399,118,186.9885', '91,999,999,999.1', '0.00000001', '0.3'], 'as the server wrote it');
  assert.equal(namedText({ precision: 2, visible: 8 }, 5399118186.9885), '5,399,118,186.9885');
});

test('a month ends when the next begins', () => {
  const end = (interval, date, seconds) => new Date(1000 * lastEnd({ interval, seconds, n: 1, time: [Date.parse(date) / 1000] })).toISOString().slice(0, 10);
  assert.equal(end('1mo', '2026-01-01', 30 * 86400), '2026-02-01');
  assert.equal(end('1mo', '2026-02-01', 30 * 86400), '2026-03-01');
  assert.equal(end('1mo', '2026-12-01', 30 * 86400), '2027-01-01');
  assert.equal(end('1wk', '2026-01-26', 7 * 86400), '2026-02-02');
});

// As TestShadesDiffer of the picture.
test('shade, legend and marks of a rule have one ink', () => {
  const data = readSeries(payload(1, 5, { lines: [], shaded: [], shade: 'amber', signals: [{ x: 1, y: 1, label: 'becomes_true', tone: 'up' }] }));
  const p = makePlan(data, plain, wholeWindow(data, data.n));
  const [, key, state, count] = legendItems(p, p.panes[0], data.studies[0]);
  assert.deepEqual([key.text, key.ink, state.text, state.ink, count.tone], ['■ true', 'amber', 'last bar false', 'axis', 'amber'], 'also if it is never true');
  assert.deepEqual(marksOf(p, p.panes[0]).map(k => k.ink), ['amber']);
});

test('texts and words are those of the page', async () => {
  assert.deepEqual([t('at {1} or {0}', 1, '{0}'), word('partially_filled')], ['at {0} or 1', 'partially filled'], 'as in a view of a chat');
  globalThis.document = { getElementById: () => ({ textContent: '{"refusals":{},"texts":{"at {0}":"bei {0}"},"words":{"buy":"Kauf"}}' }) };
  const german = await import('../page/texts.mjs?german');
  delete globalThis.document;
  assert.deepEqual([german.t('at {0}', 5), german.word('buy'), german.t('other')], ['bei 5', 'Kauf', 'other']);
});

test('what a tool says for models is said for people', async () => {
  globalThis.document = { getElementById: () => ({ textContent: '{"refusals":{"price_collar":"Too far from the market:","trading_halted":"Trading is halted."},"texts":{}}' }) };
  const { forPeople } = await import('../page/texts.mjs?refusals');
  delete globalThis.document;
  for (const [text, code, want] of [
    ['price_collar: a buy limit of 1 is too far from the price 94.92; 18.984 to 142.38 is allowed; the data is invented (fix the request)', 'price_collar',
      'Too far from the market: a buy limit of 1 is too far from the price 94.92; 18.984 to 142.38 is allowed'],
    ['trading_halted: the owner has halted trading: lunch; cancels still pass (retry later)', 'trading_halted', 'Trading is halted.'],
    ['unknown indicator "rsii", did you mean "rsi", "crsi" or "lrsi"?: call list_indicators for the names (fix the request)', undefined, 'unknown indicator "rsii", did you mean "rsi", "crsi" or "lrsi"?'],
    ['quantity "x": write units of the base, such as 0.5, or all for the whole position; get_positions has how much is held\nnothing was changed: put this right and call again', undefined,
      'quantity "x": write units of the base, such as 0.5, or all for the whole position; nothing was changed'],
    ['failed', undefined, 'failed'],
  ]) {
    assert.equal(forPeople(text, code), want);
  }
});

test('words', () => {
  assert.equal(signalName('rsi_overbought'), 'RSI leaves overbought');
  assert.equal(signalName('zero_up'), 'rises above 0');
  assert.throws(() => textOf({ isError: true, content: [{ type: 'text', text: 'no' }] }), /no/);
  assert.match(previewText({ side: 'buy', quantity: 1, symbol: 'A', type: 'market', average_price: 2, fee: 0.1, status: 'filled', broker: 'paper' }), /^buy 1 A market at 2, fee 0.10: filled, paper$/);
  const part = { side: 'buy', quantity: 30, filled_quantity: 10, symbol: 'A', type: 'market', average_price: 2, fee: 0.1, status: 'partially_filled', broker: 'paper' };
  assert.equal(previewText(part), 'buy 30 A market, 10 of it at 2, fee 0.10: partially filled, paper');
  assert.equal(previewText({ ...part, filled_quantity: 0, average_price: null, price: 3, fee: 0, status: 'open' }), 'buy 30 A market at 3, fee 0.00: open, paper');
});

/** Part is an element with what dom.mjs asks of one. Only what is within the document can
 * have the focus: what is taken out of it or disabled loses it, as in a browser. */
class Part {
  constructor(tag) { Object.assign(this, { tagName: tag.toUpperCase(), children: [], listeners: {}, classList: { toggle() {} } }); }

  setAttribute(name, value) { this[name === 'aria-label' ? 'ariaLabel' : name] = value; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  append(...children) {
    for (const c of children.filter(c => c instanceof Part)) {
      if (c.parent) c.parent.children = c.parent.children.filter(other => other !== c);
      if (c.contains(Part.active)) Part.active = Part.body;
      c.parent = this;
      this.children.push(c);
    }
  }
  replaceChildren(...children) {
    for (const c of this.children) {
      if (c.contains(Part.active)) Part.active = Part.body;
      c.parent = undefined;
    }
    this.children = [];
    this.append(...children);
  }
  contains(other) { return other === this || this.children.some(c => c.contains(other)); }
  querySelectorAll(tags) { return this.children.flatMap(c => [...(tags.toUpperCase().split(', ').includes(c.tagName) ? [c] : []), ...c.querySelectorAll(tags)]); }
  focus() { if (Part.body.contains(this)) Part.active = this; }
  set disabled(off) { if (off && Part.active === this) Part.active = Part.body; }
}

test('a button or an input keeps the focus while it works and when its table is filled again', async () => {
  Part.active = Part.body = new Part('body');
  globalThis.document = { createElement: tag => new Part(tag), get activeElement() { return Part.active; } };
  const list = table('Orders', 'Orders', ['Order', ''], 'No orders.');
  Part.body.append(list.element);
  let done;
  let times = 0;
  const work = () => { times++; return new Promise(resolve => { done = resolve; }); };
  const made = name => workButton('Cancel', work, () => {}, { 'aria-label': name });
  const kept = made('Cancel order 1');
  list.fill([['one', kept], ['two', made('Cancel order 2')]]);
  kept.focus();
  const first = kept.listeners.click();
  kept.listeners.click(); // while the first click works
  assert.equal(Part.active, kept, 'while it works');
  list.fill([['two', made('Cancel order 2')], ['one', kept]]);
  assert.equal(Part.active, kept, 'in the table again');
  done();
  await first;
  assert.deepEqual([Part.active, kept.ariaDisabled, times], [kept, 'false', 1], 'after its work');
  list.fill([['one', made('Cancel order 1')], ['two', made('Cancel order 2')]]);
  assert.notEqual(Part.active, kept);
  assert.equal(Part.active.ariaLabel, 'Cancel order 1', 'made anew');
  list.fill([['two', made('Cancel order 2')]]);
  assert.equal(Part.active, list.element, 'when it is gone');
  const note = value => Object.assign(new Part('input'), { ariaLabel: 'Note of 2', value, defaultValue: 'old' });
  const typed = note('new');
  list.fill([['two', typed]]);
  typed.focus();
  list.fill([['two', note('old')]]);
  assert.equal(Part.active, typed, 'while something is typed');
  typed.defaultValue = 'new';
  list.fill([['two', note('old')]]);
  assert.deepEqual([Part.active.ariaLabel, Part.active.value], ['Note of 2', 'old'], 'when it is no longer typed');
  Part.active = Part.body;
  list.fill([]);
  assert.equal(Part.active, Part.body, 'when something else had it');
  delete globalThis.document;
});

test('a preview of values that were changed since cannot be placed', async () => {
  Part.active = Part.body = new Part('body');
  globalThis.document = { createElement: tag => new Part(tag), get activeElement() { return Part.active; } };
  const sent = [];
  const transport = { call: (tool, args) => new Promise(resolve => sent.push({ args, reply: () => resolve(JSON.stringify({ ...args, status: 'filled', broker: 'paper', average_price: '1' })) })) };
  const draft = new Draft(transport, async () => {});
  const form = ticket(() => ({ data: { symbol: 'A' } }), draft);
  Part.body.append(form);
  for (const input of form.querySelectorAll('input')) input.value = '';
  const [quantity] = form.querySelectorAll('input');
  const [, , preview, place] = form.querySelectorAll('button');
  const [said] = form.querySelectorAll('p');
  form.querySelectorAll('select').forEach((s, i) => { s.value = ['buy', 'market'][i]; });
  const type = text => { quantity.value = text; form.listeners.input(); };
  const reply = async k => { sent[k].reply(); await new Promise(resolve => { setImmediate(resolve); }); };
  type('1');
  preview.listeners.click();
  type('2');
  await reply(0);
  assert.deepEqual([said.textContent, place.hidden], ['', true], 'the answer for 1 comes when the field says 2');
  preview.listeners.click();
  preview.listeners.click();
  await reply(2);
  await reply(1); // the older one last
  assert.match(said.textContent, /^Would be: buy 2 A/);
  assert.equal(place.hidden, false);
  place.listeners.click();
  assert.equal(place.hidden, true, 'while it is placed');
  assert.deepEqual([sent.length, sent[3].args.quantity, sent[3].args.dry_run], [4, '2', undefined]);
  await reply(3);
  assert.match(said.textContent, /^Placed: buy 2 A/);
  preview.listeners.click();
  await reply(4);
  assert.equal(place.hidden, false);
  draft.set();
  assert.deepEqual([said.textContent, place.hidden], ['', true], 'the chart shows another symbol');
  delete globalThis.document;
});

test('the lines of a projected order are not dragged past each other', () => {
  const draft = new Draft();
  const orders = [];
  draft.watch(order => orders.push(order));
  draft.set({ symbol: 'A', side: 'buy', type: 'limit', quantity: '2', price: 100, stop_loss: 90, take_profit: 120 });
  assert.deepEqual(draft.lines.map(l => [l.part, l.price]), [['price', 100], ['stop_loss', 90], ['take_profit', 120]]);
  const [entry, loss, profit] = draft.lines;
  assert.deepEqual([entry.between(89), entry.between(91), entry.between(121), loss.between(100), loss.between(99), profit.between(99), profit.between(101)], [false, true, false, false, true, false, true]);
  draft.set();
  assert.deepEqual([orders.length, draft.lines], [2, []]);
});

test('an order that is changed while it is checked is not placed', async () => {
  const sent = [];
  const draft = new Draft({ call: async (_, order) => { sent.push(order); return '{}'; } }, async () => {});
  draft.set({ symbol: 'A', side: 'buy', type: 'limit', quantity: '1', price: 100 });
  const confirmed = draft.confirm();
  draft.set({ ...draft.order, quantity: '9' });
  await assert.rejects(confirmed, /changed meanwhile/);
  assert.deepEqual(sent.map(order => [order.quantity, order.dry_run]), [['1', true]], 'the trial alone');
  await draft.confirm();
  assert.deepEqual([sent.map(order => [order.quantity, order.dry_run]), draft.order], [[['1', true], ['9', true], ['9', undefined]], undefined]);
});

// By docs/trading.md: replaces must name stop_loss, take_profit, time_in_force and post_only again.
test('what takes the place of an order is the same but for its price', () => {
  const order = { order_id: 'o-1', symbol: 'A', side: 'buy', type: 'limit', quantity: 3, filled_quantity: 1, price: 10, stop_loss: { price: 9 }, take_profit: { percent: 3 }, time_in_force: 'gtd', expires_at: '2099-01-01T00:00:00Z', post_only: true, reduce_only: false };
  const same = { symbol: 'A', side: 'buy', type: 'limit', quantity: '2', replaces: 'o-1', price: 10, time_in_force: 'gtd', expires_at: '2099-01-01T00:00:00Z', post_only: true };
  assert.deepEqual(replacing(order), { ...same, stop_loss: 9, take_profit: '3%' });
  assert.deepEqual(replacing({ ...order, account: 'live' }), same, 'a broker takes no exits with a change');
});
