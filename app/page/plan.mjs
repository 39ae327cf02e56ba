// The plan of a chart: which rows and columns everything has, worked out from the data,
// the options and the window, before anything is painted. With all bars in the window
// it is the plan of the picture that the server draws.
import { measureAxis, placeLabels } from './axis.mjs';
import { percentText } from './format.mjs';
import { arrange, bodiesOf, columnsOf, heights, metricsOf } from './layout.mjs';
import { lined, lineLook, toneInk } from './look.mjs';
import { expSpan, fit, isEmpty, joined, logSpan, logarithmic, noSpan, widen, widenAll } from './scale.mjs';
import { channels, heikinAshi } from './series.mjs';
import { dateText, day, lastEnd, timeTicks, wallTimes } from './times.mjs';

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
 * account with text, ink, on, off), fills, marks (of the caller's own), ranges (of panes that
 * are not scaled to their data) and sizes, both by the key of a pane, least, the part of the rows
 * that the price keeps, and measure(text, size, weight), which returns a width. */
export function makePlan(data, o, window) {
  const { levels = [], marks = [], type: kind } = o;
  const p = { data, o, m: metricsOf(o.width, o.height, o.ratio), window, marks, kind, mode: data.compare.length > 0 ? 'percent' : o.scale };
  p.i0 = Math.max(0, Math.floor(window.end - window.count));
  p.i1 = Math.min(data.n, Math.ceil(window.end));
  p.last = p.i1 - 1; // the newest bar in the window; -1 for none
  p.newest = data.n - 1; // of all: the price of the market is its close, whatever the window shows
  p.base = data.close[p.i0] ?? NaN; // 0 percent
  p.drawn = drawnPrices(data, kind);
  const own = marks.filter(k => k.type === 'level').map(k => ({ price: k.price, text: k.text ?? '', ink: toneInk(k.color, 'amber'), on: 8, off: 4 }));
  p.levels = [...levels.map(l => (l.movable ? distant(p, l) : l)), ...own];
  split(p);
  for (const st of p.panes.flatMap(pane => pane.studies)) st.lineLooks = st.lines.map(l => lineLook(l, o.theme));
  const prices = spanOf(p, [data.high, data.low]);
  if (!(prices.lo > 0 && prices.hi / prices.lo <= 1e9)) p.mode = 'linear'; // no other scale can show these
  for (const pane of p.panes) pane.scale = ranged(pane.price ? priceScale(p, pane) : panelScale(p, pane), o.ranges?.[pane.key]);
  measureAxis(p);
  placeBars(p);
  for (const pane of p.panes) placeLabels(p, pane);
  placeTimes(p);
  return p;
}

/** distant returns a line of the account with its distance from the price of the market. */
function distant(p, l) {
  const away = ' ' + percentText(p.data.close[p.newest], l.price);
  return { ...l, text: l.text + away, numbers: l.numbers + away };
}

/** plusAt and crossAt return the columns of the middles of the two buttons on a row: what opens
 * the menu there, and what crosses a line out. */
export const plusAt = p => p.axisX - p.m.px(11);
export const crossAt = p => p.axisX - p.m.px(35);

/** drawnPrices returns what the chart's type makes of the bars. */
function drawnPrices(data, kind) {
  const { close } = data;
  if (lined(kind)) return { open: close, high: close, low: close, close };
  return kind === 'heikin_ashi' ? (data.averaged ??= heikinAshi(data)) : data;
}

/** split gives the rows to the header, the price, the panels that fit and the time
 * axis. o.sizes has the rows of panes that were given others, by key. */
function split(p) {
  const { m, data } = p;
  const overlays = data.studies.filter(st => st.is_overlay);
  const panels = data.studies.filter(st => !st.is_overlay);
  Object.assign(p, { headerEnd: m.headerH, timeY: m.h - m.timeH, volume: p.o.volume !== false && data.volume.some(v => v > 0) });
  const share = heights(m, p.timeY - p.headerEnd, panels.length, p.o.least);
  p.omitted = panels.length - share.fit;
  if (data.compare.length > 0) overlays.push(compareStudy(p));
  p.panes = [{ price: true, key: '', studies: overlays }, ...panels.slice(0, share.fit).map(st => ({ price: false, key: st.key, studies: [st] }))];
  const rows = p.panes.map(pane => p.o.sizes?.[pane.key] ?? (pane.price ? share.price : share.panel));
  const all = rows.reduce((sum, h) => sum + h, 0);
  let [y, above] = [p.headerEnd, 0];
  p.panes.forEach((pane, k) => {
    above += rows[k];
    const end = p.headerEnd + Math.round((above / all) * (p.timeY - p.headerEnd));
    arrange(m, pane, y, end - y, pane.studies.length, pane.price && p.volume);
    y = end;
  });
}

/** shortName cuts a long symbol in the middle, since symbols may begin alike. */
const shortName = s => (s.length > 16 ? `${s.slice(0, 7)}…${s.slice(-8)}` : s);

/** compareStudy returns other symbols as lines, scaled so that the change of each counts
 * from its first close in the window, where all lines are at 0. */
function compareStudy(p) {
  const lines = p.data.compare.map(other => {
    const since = other.closes.findIndex((v, i) => i >= p.i0 && v > 0);
    return { ...other, since, label: shortName(other.symbol), values: other.closes.map(v => (v / other.closes[since]) * p.base) };
  });
  return { ...Object.fromEntries(channels.map(name => [name, []])), key: 'compare', name: 'Compare', compare: true, lines };
}

/** spanOf returns the range of lists of values in the window. */
function spanOf(p, lists, to = p.i1) {
  const s = noSpan();
  for (const values of lists) widenAll(s, values, p.i0, to);
  return s;
}

/** ranged returns a scale that shows a given range, if there is one. */
const ranged = (sc, range) => (!range ? sc : sc.log ? logarithmic({ ...sc, ...range }) : { ...sc, ...range });

const overlayRoom = 0.5; // how far an overlay may widen the range of the candles

/** priceScale fits the candles, widened for overlays. A level that would not be seen
 * widens nothing. */
function priceScale(p, pane) {
  const valuesOf = compare => pane.studies.filter(st => Boolean(st.compare) === compare).flatMap(st => st.lines.map(l => l.values));
  const over = spanOf(p, valuesOf(false), p.window.end);
  let bars = spanOf(p, [p.drawn.high, p.drawn.low, ...valuesOf(true)]);
  widen(bars, p.data.close[p.last]);
  for (const h of pane.studies.flatMap(st => st.hlines)) widen(over, h.y);
  const log = p.mode === 'log' && bars.lo > 0;
  const drawn = log ? logSpan : s => s;
  const reach = joined(drawn(bars), { lo: -Infinity, hi: Infinity }, overlayRoom);
  for (const { price } of p.levels) {
    const v = log ? Math.log(price) : price;
    if (v >= reach.lo && v <= reach.hi) widen(over, price);
  }
  bars = joined(drawn(bars), drawn(over), overlayRoom);
  if (log) bars = expSpan(bars);
  const sc = fit(bars, pane.top, pane.bottom, 10 ** -p.data.precision);
  return p.mode === 'log' && sc.lo > 0 ? logarithmic(sc) : sc;
}

/** panelScale fits the values of a panel, with zero if there is a histogram, and if the
 * values have fixed bounds the levels too. Without any value it fits only the levels. */
function panelScale(p, { studies: [st], top, bottom }) {
  let s = spanOf(p, [...st.lines, ...st.histogram].map(l => l.values));
  if (st.histogram.length && !isEmpty(s)) widen(s, 0);
  if (st.bounded) {
    const [lo, hi] = st.y_range;
    if (s.lo < s.hi) for (const h of st.hlines) widen(s, h.y);
    s = { lo: Math.max(s.lo, lo), hi: Math.min(s.hi, hi) };
    if (!(s.lo < s.hi)) s = { lo, hi };
  }
  if (isEmpty(s)) for (const { y } of st.hlines.length ? st.hlines : [{ y: 0 }]) widen(s, y);
  return fit(s, top, bottom, 0);
}

/** placeBars computes the columns of bars. */
function placeBars(p) {
  const { x0, pitch } = columnsOf(p.m, p.axisX, p.window.count);
  Object.assign(p, bodiesOf(p.m, pitch), { pitch, dense: pitch < p.m.thin });
  p.x0 = x0 - (p.window.end - p.window.count) * pitch; // where bar 0 would begin
}

/** barX returns the middle of bar i. */
export const barX = (p, i) => p.x0 + (i + 0.5) * p.pitch;

/** barAt returns the bar at column x, within the data. */
export const barAt = (p, x) => Math.min(Math.max(Math.floor((x - p.x0) / p.pitch), p.i0), p.i1 - 1);

/** timeX returns the middle of the bar that begins at a time or is the last before it,
 * and beyond the bars as far out as so many intervals would lie. */
export function timeX(p, t) {
  const { time, n, seconds } = p.data;
  const i = time.findLastIndex(begin => begin <= t);
  if (i < 0) return barX(p, (t - time[0]) / seconds);
  const beyond = i === n - 1 && t >= lastEnd(p.data); // not within the last bar
  return barX(p, beyond ? i + (t - time[i]) / seconds : i);
}

/** columnAt returns the pixel column of the middle of bar i. Columns of a dense chart
 * are as far apart as the thinnest stroke is wide. */
export function columnAt(p, i) {
  const [x, { thin }] = [Math.floor(barX(p, i)), p.m];
  return p.dense ? Math.floor(x / thin) * thin + (thin >> 1) : x;
}

/** columnEnd returns the first bar after i that stands in another column. */
export function columnEnd(p, i) {
  if (!p.dense) return i + 1;
  const edge = columnAt(p, i) - (p.m.thin >> 1) + p.m.thin;
  return Math.max(i + 1, Math.ceil((edge - p.x0) / p.pitch - 0.5));
}

/** placeTimes writes the time axis: the full date of the first bar in the window, then
 * ticks. */
function placeTimes(p) {
  const { data, o, m } = p;
  Object.assign(p, { times: [], breaks: [] });
  if (p.i1 <= p.i0) return;
  if (!data.walls || data.zone !== o.zone) Object.assign(data, { walls: wallTimes(data.time, data.seconds, o.zone), zone: o.zone });
  const bars = data.walls.slice(p.i0, p.i1);
  const text = dateText(bars[0].wall, day);
  const width = o.measure(text, m.axis, 700);
  const x = Math.max(m.px(4), Math.min(columnAt(p, p.i0) - Math.floor(width / 2), p.axisX - width - m.px(4)));
  p.firstTime = { text, x, width };
  const axis = {
    bars, interval: data.seconds, apart: (m.compact ? 75 : 110) * m.u, gap: m.px(10), firstEnd: x + width, right: p.axisX - m.px(2),
    column: i => columnAt(p, p.i0 + i), width: (text, strong) => o.measure(text, m.axis, strong ? 700 : 400),
  };
  p.times = timeTicks(axis, p.pitch).map(t => ({ ...t, bar: t.bar + p.i0 }));
  placeBreaks(p, bars);
}

/** placeBreaks notes where days begin, if a zone was asked for, bars are shorter than a
 * day, and days are wide enough to be told apart. */
function placeBreaks(p, bars) {
  if (!p.o.zone || p.o.zone === 'UTC' || p.data.seconds >= day) return;
  const begins = bars.map((_, i) => p.i0 + i).filter((_, i) => i > 0 && bars[i].full !== bars[i - 1].full);
  if (begins.length * 40 * p.m.u > p.axisX) return;
  p.breaks = begins.filter(i => !p.times.some(t => t.bar === i)).map(i => Math.floor(p.x0 + i * p.pitch));
}
