// The plan of a chart: which rows and columns everything has, worked out from the data,
// the options and the window, before anything is painted. With all bars in the window
// it is the plan of the picture that the server draws.
import { measureAxis, placeLabels } from './axis.mjs';
import { paneLooks, toneInk } from './inks.mjs';
import { arrange, bodiesOf, columnsOf, heights, metricsOf } from './layout.mjs';
import { expSpan, fit, isEmpty, joined, logSpan, logarithmic, noSpan, widen, widenAll } from './scale.mjs';
import { heikinAshi } from './series.mjs';
import { countDays, dateText, timeTicks, wallTimes } from './times.mjs';

/** wholeWindow returns the window that shows the newest bars, and the bars to come that
 * overlays have values for. */
export function wholeWindow(data, bars) {
  const shown = Math.min(bars, data.n);
  const lines = data.studies.filter(st => st.is_overlay).flatMap(st => st.lines);
  const ahead = Math.max(0, ...lines.map(l => Math.min(l.values.length - data.n, Math.floor(shown / 2))));
  return { end: data.n + ahead, count: shown + ahead };
}

/** makePlan measures the chart of data in a window: {end, count} in bars. Options are
 * width, height, ratio, theme, type, scale, signals, volume, zone, levels (prices of the
 * account with text, ink, on, off), fills, marks (of the caller's own), and
 * measure(text, size, weight), which returns a width. */
export function makePlan(data, o, window) {
  const m = metricsOf(o.width, o.height, o.ratio);
  const p = { data, o, m, window, mode: data.compare.length > 0 ? 'percent' : o.scale, kind: o.type };
  p.i0 = Math.max(0, Math.floor(window.end - window.count));
  p.i1 = Math.min(data.n, Math.ceil(window.end));
  p.last = p.i1 - 1; // the newest bar in the window; -1 for none
  p.base = data.close[p.i0] ?? NaN; // 0 percent
  p.drawn = drawnPrices(data, p.kind);
  p.marks = o.marks ?? [];
  const own = p.marks.filter(k => k.type === 'level').map(k => ({ price: k.price, text: k.text ?? '', ink: toneInk(k.color, 'amber'), on: 8, off: 4 }));
  p.levels = [...(o.levels ?? []), ...own];
  split(p);
  for (const pane of p.panes) paneLooks(pane.studies, o.theme, pane.price);
  if (p.mode !== 'linear' && !scalable(p)) p.mode = 'linear';
  for (const pane of p.panes) setScale(p, pane);
  measureAxis(p);
  placeBars(p);
  for (const pane of p.panes) placeLabels(p, pane);
  placeTimes(p);
  return p;
}

/** drawnPrices returns what the chart's type makes of the bars. */
function drawnPrices(data, kind) {
  const { close } = data;
  if (kind === 'line' || kind === 'area') return { open: close, high: close, low: close, close };
  if (kind !== 'heikin_ashi') return data;
  data.averaged ??= heikinAshi(data);
  return data.averaged;
}

/** split gives the rows to the header, the price, the panels that fit and the time
 * axis. */
function split(p) {
  const { m, data } = p;
  const overlays = data.studies.filter(st => st.is_overlay);
  const panels = data.studies.filter(st => !st.is_overlay);
  p.headerEnd = m.headerH;
  p.timeY = m.h - m.timeH;
  const share = heights(m, p.timeY - p.headerEnd, panels.length);
  p.omitted = panels.length - share.fit;
  if (data.compare.length > 0) overlays.push(compareStudy(p));
  p.panes = [{ price: true, studies: overlays }, ...panels.slice(0, share.fit).map(st => ({ price: false, studies: [st] }))];
  p.volume = p.o.volume !== false && data.volume.some(v => v > 0);
  p.panes.forEach((pane, i) => {
    const y = i === 0 ? p.headerEnd : p.headerEnd + share.price + (i - 1) * share.panel;
    arrange(m, pane, y, i === 0 ? share.price : share.panel, pane.studies.length, i === 0 && p.volume);
  });
}

/** compareStudy returns other symbols as lines, moved so that all begin at the first
 * close of the window. */
function compareStudy(p) {
  const lines = p.data.compare.map(({ symbol, closes }) => {
    const first = closes.find((v, i) => i >= p.i0 && v > 0);
    return { label: symbol.slice(0, 16), values: closes.map(v => (v / first) * p.base) };
  });
  return { key: 'compare', label: 'Compare', compare: true, lines, histogram: [], fills: [], signals: [], hlines: [], hbars: [], divlines: [], shaded: [] };
}

/** scalable reports whether the prices in the window allow another scale than linear. */
function scalable(p) {
  const s = noSpan();
  for (const name of ['high', 'low']) widenAll(s, p.data[name], p.i0, p.i1);
  return s.lo > 0 && s.hi / s.lo <= 1e9;
}

function setScale(p, pane) {
  if (pane.price) {
    pane.scale = fit(priceSpan(p, pane), pane.top, pane.bottom, 10 ** -p.data.precision);
    if (p.mode === 'log' && pane.scale.lo > 0) pane.scale = logarithmic(pane.scale);
    return;
  }
  const [st] = pane.studies;
  const s = panelSpan(st, p.i0, p.i1);
  if (isEmpty(s)) for (const { y } of st.hlines.length ? st.hlines : [{ y: 0 }]) widen(s, y);
  pane.scale = fit(s, pane.top, pane.bottom, 0);
}

const overlayRoom = 0.5; // how far an overlay may widen the range of the candles

/** priceSpan returns the range of the candles, widened for overlays. */
function priceSpan(p, pane) {
  const bars = noSpan();
  const over = noSpan();
  for (const name of ['high', 'low']) widenAll(bars, p.drawn[name], p.i0, p.i1);
  widen(bars, p.data.close[p.last]);
  for (const st of pane.studies) {
    for (const l of st.lines) widenAll(st.compare ? bars : over, l.values, p.i0, p.window.end);
    for (const h of st.hlines) widen(over, h.y);
  }
  for (const l of p.levels) widen(over, l.price);
  if (p.mode === 'log' && bars.lo > 0) return expSpan(joined(logSpan(bars), logSpan(over), overlayRoom));
  return joined(bars, over, overlayRoom);
}

/** panelSpan returns the range of a panel: that of its values, and where these are
 * bounded that of its levels too. Histograms stand on zero. */
function panelSpan(st, from, to) {
  const s = noSpan();
  for (const { values } of [...st.lines, ...st.histogram]) widenAll(s, values, from, to);
  if (st.histogram.length && !isEmpty(s)) widen(s, 0);
  if (!st.bounded) return s;
  const [lo, hi] = st.y_range;
  if (!(s.lo < s.hi)) return { lo, hi };
  for (const h of st.hlines) widen(s, h.y);
  const cut = { lo: Math.max(s.lo, lo), hi: Math.min(s.hi, hi) };
  return cut.lo < cut.hi ? cut : { lo, hi };
}

/** placeBars settles the columns of bars. */
function placeBars(p) {
  const { x0, pitch } = columnsOf(p.m, p.axisX, p.window.count);
  p.pitch = pitch;
  p.x0 = x0 - (p.window.end - p.window.count) * pitch; // where bar 0 would begin
  Object.assign(p, bodiesOf(p.m, pitch));
  p.dense = pitch < p.m.thin;
}

/** barX returns the middle of bar i. */
export function barX(p, i) {
  return p.x0 + (i + 0.5) * p.pitch;
}

/** timeX returns the middle of the bar that begins at a time or is the last before it,
 * and beyond the bars as far out as so many intervals would lie. */
export function timeX(p, t) {
  const { time, n, seconds } = p.data;
  let i = 0; // the first bar after t
  for (let end = n; i < end;) {
    const middle = (i + end) >> 1;
    if (time[middle] <= t) i = middle + 1;
    else end = middle;
  }
  if (i === 0) return barX(p, (t - time[0]) / seconds);
  return barX(p, i === n ? n - 1 + (t - time[n - 1]) / seconds : i - 1);
}

/** columnAt returns the pixel column of the middle of bar i. Columns of a dense chart
 * are as far apart as the thinnest stroke is wide. */
export function columnAt(p, i) {
  const x = Math.floor(barX(p, i));
  return !p.dense || p.m.thin === 1 ? x : Math.floor(x / p.m.thin) * p.m.thin + Math.floor(p.m.thin / 2);
}

/** columnEnd returns the first bar after i that stands in another column. */
export function columnEnd(p, i) {
  if (!p.dense) return i + 1;
  const edge = columnAt(p, i) - (p.m.thin >> 1) + p.m.thin;
  return Math.max(i + 1, Math.ceil((edge - p.x0) / p.pitch - 0.5));
}

/** barAt returns the bar at column x, within the data. */
export function barAt(p, x) {
  return Math.min(Math.max(Math.floor((x - p.x0) / p.pitch), p.i0), p.i1 - 1);
}

/** placeTimes writes the time axis: the full date of the first bar in the window, then
 * ticks. */
function placeTimes(p) {
  const { data, o, m } = p;
  Object.assign(p, { times: [], breaks: [] });
  if (p.i1 <= p.i0) return;
  if (!data.walls || data.zone !== o.zone) {
    data.walls = wallTimes(data.time, data.seconds, o.zone);
    data.zone = o.zone;
    countDays(data.walls);
  }
  const bars = data.walls.slice(p.i0, p.i1);
  const text = dateText(bars[0].wall, 86400);
  const width = o.measure(text, m.axis, 700);
  const x = Math.max(m.px(4), Math.min(columnAt(p, p.i0) - Math.floor(width / 2), p.axisX - width - m.px(4)));
  p.firstTime = { text, x, width };
  const axis = {
    bars, interval: data.seconds, apart: (m.compact ? 52 : 74) * m.u, gap: m.px(10), firstEnd: x + width, right: p.axisX - m.px(2),
    column: i => columnAt(p, p.i0 + i), width: (text, strong) => o.measure(text, m.axis, strong ? 700 : 400),
  };
  p.times = timeTicks(axis, p.pitch).map(t => ({ ...t, bar: t.bar + p.i0 }));
  placeBreaks(p, bars);
}

/** placeBreaks notes where days begin, if a zone was asked for, bars are shorter than a
 * day, and days are wide enough to be told apart. */
function placeBreaks(p, bars) {
  if (!p.o.zone || p.o.zone === 'UTC' || p.data.seconds >= 86400) return;
  const marked = new Set(p.times.map(t => t.bar - p.i0));
  const begins = bars.map((_, i) => i).filter(i => i > 0 && bars[i].full !== bars[i - 1].full);
  if (begins.length * 40 * p.m.u > p.axisX) return;
  p.breaks = begins.filter(i => !marked.has(i)).map(i => Math.floor(p.x0 + (p.i0 + i) * p.pitch));
}

/** studyName writes "MACD(12, 26, 9)" as "MACD 12 26 9". Parameters that name the lines
 * one by one are left to these. */
export function studyName(st) {
  const [, name, rest] = /^([^(]*)\(?(.*)$/.exec(st.label.slice(0, 48));
  if (!rest) return name;
  const words = rest.replace(/\)$/, '').split(/[, ]+/).filter(w => w);
  const named = st.lines.length > 1 && st.lines.every(l => words.includes(l.label));
  return named ? name.trim() : name.trim() + ' ' + words.join(' ');
}
