// Time per frame while panning 5,000 bars with three panels, beside lightweight-charts
// in the same browser: both get the same bars and lines. Two times are taken of each
// frame: that of the scripts, and that until its pixels were read back, so that no work
// stays behind. Without a graphics processor the second is that of filling pixels.
import { readFileSync } from 'node:fs';
import { browser, client, pictures } from './lib.mjs';

const theirs = readFileSync(new URL('./node_modules/lightweight-charts/dist/lightweight-charts.standalone.production.js', import.meta.url), 'utf8');
const frames = 120;
const [width, height] = [1400, 760];

export async function speed(wick) {
  const other = await client(wick, 'speed');
  const ask = async args => JSON.parse((await other.call('generate_chart', { symbol: 'BTCUSDT', interval: '1h', indicators: ['ema_stack', 'rsi', 'macd'], format: 'series', ...args })).result.content[0].text);
  const pages = [await ask({ bars: 1500 })];
  while (pages.reduce((n, p) => n + p.bars.length, 0) < 5000) pages.unshift(await ask({ bars: 1500, to: String(pages[0].bars[0].t - 1) }));
  for (const visible of [200, 1000, 5000]) {
    const ours = await measure(wick, pages, visible, drawOurs);
    const others = await measure(wick, pages, visible, drawTheirs);
    console.log(`      ${visible} of 5,000 bars in view, milliseconds a frame: wick ${ours.text}; lightweight-charts ${others.text}`);
  }
}

// measure pans in a fresh page and returns the middle and the slowest twentieth of the
// frames, and the heap.
async function measure(wick, pages, visible, draw) {
  const context = await browser.newContext({ viewport: { width, height }, timezoneId: 'UTC', bypassCSP: true }); // theirs writes markup
  const page = await context.newPage();
  await page.goto(wick.base + '/app');
  if (draw === drawTheirs) await page.evaluate(theirs);
  const { times, heap } = await page.evaluate(draw, { pages, visible, frames, width, height });
  await page.screenshot({ path: pictures + `speed-${draw === drawOurs ? 'wick' : 'lightweight-charts'}-${visible}.png` });
  await context.close();
  const at = (list, part) => list.sort((a, b) => a - b)[Math.floor(part * (list.length - 1))].toFixed(1);
  const [script, whole] = [times.map(t => t.script), times.map(t => t.whole)];
  return { text: `script ${at(script, 0.5)} (95 of 100 below ${at(script, 0.95)}), with pixels ${at(whole, 0.5)} (${at(whole, 0.95)}), heap ${(heap / 1e6).toFixed(0)} MB` };
}

async function drawOurs({ pages, visible, frames, width, height }) {
  const { Chart } = await import('/app/view.mjs');
  const { readSeries, prepended } = await import('/app/series.mjs');
  const read = page => readSeries(JSON.stringify(page));
  let data = read(pages.at(-1));
  for (const page of pages.slice(0, -1).reverse()) data = prepended(read(page), data);
  document.body.replaceChildren();
  const place = document.createElement('div');
  place.style.cssText = `width:${width}px;height:${height}px;display:flex;flex-direction:column`;
  document.body.append(place);
  const chart = new Chart(place, { theme: 'dark' });
  chart.box.style.height = height + 'px';
  chart.resize();
  chart.setData(data, { bars: visible });
  await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const times = [];
  for (let i = 0; i < frames; i++) {
    const start = performance.now();
    chart.window = { count: visible, end: data.n - i * Math.max(1, visible / 400) };
    chart.render();
    const script = performance.now() - start;
    chart.ctx.getImageData(0, 0, 1, 1);
    times.push({ script, whole: performance.now() - start });
    if (i % 20 === 0) await new Promise(resolve => requestAnimationFrame(resolve));
  }
  return { times, heap: performance.memory.usedJSHeapSize };
}

async function drawTheirs({ pages, visible, frames, width, height }) {
  const L = window.LightweightCharts;
  const bars = pages.flatMap(p => p.bars);
  const line = (key, k, channel = 'lines') => pages.flatMap(p => p.indicators[key][channel][k].values.map((value, i) => (value === null ? { time: p.bars[i].t } : { time: p.bars[i].t, value })));
  document.body.replaceChildren();
  const place = document.createElement('div');
  document.body.append(place);
  const chart = L.createChart(place, { width, height, layout: { background: { color: '#131722' }, textColor: '#d1d4dc', panes: { enableResize: false } } });
  chart.addSeries(L.CandlestickSeries).setData(bars.map(b => ({ time: b.t, open: b.o, high: b.h, low: b.l, close: b.c })));
  const volume = chart.addSeries(L.HistogramSeries, { priceScaleId: 'volume' });
  volume.setData(bars.map(b => ({ time: b.t, value: b.v })));
  volume.priceScale().applyOptions({ scaleMargins: { top: 0.83, bottom: 0 } });
  for (let k = 0; k < 4; k++) chart.addSeries(L.LineSeries, { lineWidth: 2 }).setData(line('ema_stack', k));
  chart.addSeries(L.LineSeries, { lineWidth: 2 }, 1).setData(line('rsi', 0));
  for (let k = 0; k < 2; k++) chart.addSeries(L.LineSeries, { lineWidth: 2 }, 2).setData(line('macd', k));
  chart.addSeries(L.HistogramSeries, {}, 2).setData(line('macd', 0, 'histogram'));
  const scale = chart.timeScale();
  scale.setVisibleLogicalRange({ from: bars.length - visible, to: bars.length });
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  await frame();
  await frame();
  // They draw in a frame callback. Here these are kept and called at once, so that the
  // time of a frame is that of its work.
  const asked = [];
  window.requestAnimationFrame = f => asked.push(f);
  const canvases = [...place.querySelectorAll('canvas')];
  const times = [];
  for (let i = 0; i < frames; i++) {
    const start = performance.now();
    const end = bars.length - i * Math.max(1, visible / 400);
    scale.setVisibleLogicalRange({ from: end - visible, to: end });
    while (asked.length) asked.shift()(performance.now());
    const script = performance.now() - start;
    for (const c of canvases) c.getContext('2d').getImageData(0, 0, 1, 1);
    times.push({ script, whole: performance.now() - start });
    if (i % 20 === 0) await new Promise(resolve => setTimeout(resolve));
  }
  return { times, heap: performance.memory.usedJSHeapSize };
}
