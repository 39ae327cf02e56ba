// The plan of a chart: which rows and columns everything has, worked out from the data, the options and the window,
// before anything is painted. Lengths are in device pixels; u is how many of them a logical pixel has.
import { measureAxis } from './axis.mjs';
import { percentText } from './format.mjs';
import { lined, lineLook, look, toneInk } from './look.mjs';
import { expSpan, fit, isEmpty, joined, logarithmic, logSpan, spanOf, widen } from './scale.mjs';
import { channels, heikinAshi } from './series.mjs';
import { dateText, day, lastEnd, timeTicks, wallTimes } from './times.mjs';

/** makePlan measures the chart of data in a window: {end, count} in bars. Options are width, height, ratio, theme,
 * type, scale, signals, volume, zone, levels (prices of the account with text, ink, on, off), fills, marks (of the
 * caller's own), ranges (of panes that are not scaled to their data) and sizes, both by the key of a pane, and
 * measure(text, size, weight), which returns a width. */
export function makePlan(data, o, window) {
  const { levels = [], marks = [], type: kind } = o;
  const m = metricsOf(o.width, o.height, o.ratio);
  const p = { data, o, m, window, marks, kind, mode: data.compare.length > 0 ? 'percent' : o.scale };
  p.widthOf = (text, weight = 500) => o.measure(text, m.text, weight);
  p.i0 = Math.max(0, Math.floor(window.end - window.count));
  p.i1 = Math.min(data.n, Math.ceil(window.end));
  p.last = p.i1 - 1; // the newest bar in the window; -1 for none
  p.newest = data.n - 1; // of all: the price of the market is its close, whatever the window shows
  p.base = data.close[p.i0] ?? NaN; // 0 percent
  p.drawn = drawnPrices(data, kind);
  const away = l => ' ' + percentText(data.close[p.newest], l.price); // from the price of the market
  const own = marks.filter(k => k.type === 'level').map(k => ({ price: k.price, text: k.text ?? '', ink: toneInk(k.color, 'amber'), on: 8, off: 4 }));
  p.levels = [...levels.map(l => (l.movable ? { ...l, text: l.text + away(l) } : l)), ...own];
  split(p);
  for (const st of p.panes.flatMap(pane => pane.studies)) st.lineLooks = st.lines.map(l => lineLook(l, o.theme));
  const prices = spanOf([data.high, data.low], p.i0, p.i1);
  if (!(prices.lo > 0 && prices.hi / prices.lo <= 1e9)) p.mode = 'linear'; // no other scale can show these
  for (const pane of p.panes) {
    const [scale, range] = [pane.price ? priceScale(p, pane) : panelScale(p, pane), o.ranges?.[pane.key]];
    pane.scale = !range ? scale : scale.log ? logarithmic({ ...scale, ...range }) : { ...scale, ...range };
  }
  measureAxis(p);
  placeBars(p);
  placeTimes(p);
  return p;
}

/** wholeWindow returns the window that shows the newest bars, and the bars to come that overlays have values for. */
export function wholeWindow(data, bars) {
  const shown = Math.min(bars, data.n);
  const lines = data.studies.filter(st => st.is_overlay).flatMap(st => st.lines);
  const ahead = Math.max(0, ...lines.map(l => Math.min(l.values.length - data.n, Math.floor(shown / 2))));
  return { end: data.n + ahead, count: shown + ahead };
}

/** metricsOf returns the sizes of a chart of so many logical pixels; rowH is that of a row of a legend. */
function metricsOf(width, height, ratio) {
  const compact = width < 560 || height < 360;
  const px = v => Math.round(v * ratio);
  const text = px(compact ? 11 : 12);
  return { w: px(width), h: px(height), u: ratio, compact, px, thin: Math.max(1, px(1)), text, tagH: text + px(6), rowH: px(20), timeH: px(24), line: (compact ? 1.5 : 2) * ratio };
}

/** drawnPrices returns what the chart's type makes of the bars. */
function drawnPrices(data, kind) {
  const { close } = data;
  if (lined(kind)) return { open: close, high: close, low: close, close };
  return kind === 'heikin_ashi' ? (data.averaged ??= heikinAshi(data)) : data;
}

/** split shares the rows out: to the price, the panels that fit, and times, by o.sizes if that has a pane's key. */
function split(p) {
  const { m, data } = p;
  const [overlays, panels] = [true, false].map(is => data.studies.filter(st => Boolean(st.is_overlay) === is));
  Object.assign(p, { timeY: m.h - m.timeH, volume: p.o.volume !== false && data.volume.some(v => v > 0) });
  const share = heights(m, p.timeY, panels.length);
  p.omitted = panels.length - share.fit;
  if (data.compare.length > 0) overlays.push(compareStudy(p));
  p.panes = [{ price: true, key: '', studies: overlays }, ...panels.slice(0, share.fit).map(st => ({ price: false, key: st.key, studies: [st] }))];
  const rows = p.panes.map(pane => p.o.sizes?.[pane.key] ?? (pane.price ? share.price : share.panel));
  const all = rows.reduce((sum, h) => sum + h, 0);
  let [y, above] = [0, 0];
  p.panes.forEach((pane, k) => {
    above += rows[k];
    const end = Math.round((above / all) * p.timeY);
    arrange(m, pane, y, end, pane.price && p.volume);
    y = end;
  });
}

/** heights shares out free rows between the price, which has half of the chart or more, and up to n panels, which have
 * a least height; what does not fit is left out. */
function heights(m, free, n) {
  const half = Math.ceil(m.h / 2);
  const fit = Math.min(n, Math.max(0, Math.floor((free - half) / m.px(m.compact ? 36 : 56))));
  const price = fit > 0 ? Math.max(half, Math.floor(look.shares[Math.min(fit, look.shares.length - 1)] * free)) : free;
  return { price, panel: (free - price) / fit, fit };
}

const mostRows = 4; // of the legend of a pane

/** arrange cuts a pane of rows y to end into those of the data, below the legend, and those of the volume. */
function arrange(m, pane, y, end, volume) {
  const rows = Math.min((pane.price ? 1 : 0) + pane.studies.length, mostRows, Math.max(1, Math.floor((end - y) / 2.5 / m.rowH)));
  const floor = volume ? end - Math.floor(Math.min(0.17 * (end - y), m.px(120))) : end;
  const bottom = floor - m.px(pane.price && !m.compact ? 20 : 10);
  Object.assign(pane, { y, end, rows, floor, bottom, top: Math.min(y + rows * m.rowH + m.px(pane.price ? 20 : 4), bottom - 1) });
}

/** shortName cuts a long symbol in the middle, since symbols may begin alike. */
const shortName = s => (s.length > 16 ? `${s.slice(0, 7)}…${s.slice(-8)}` : s);

/** compareStudy returns other symbols as lines of their change since the first close that each has in the window. */
function compareStudy(p) {
  const lines = p.data.compare.map(other => {
    const since = other.closes.findIndex((v, i) => i >= p.i0 && v > 0);
    return { ...other, since, label: shortName(other.symbol), values: other.closes.map(v => (v / other.closes[since]) * p.base) };
  });
  return { ...Object.fromEntries(channels.map(name => [name, []])), key: 'compare', name: 'Compare', compare: true, lines };
}

const overlayRoom = 0.5; // how far an overlay may widen the range of the candles

/** priceScale fits the candles, widened for overlays. A level that would not be seen widens nothing. */
function priceScale(p, pane) {
  const valuesOf = compare => pane.studies.filter(st => Boolean(st.compare) === compare).flatMap(st => st.lines.map(l => l.values));
  const over = spanOf(valuesOf(false), p.i0, p.window.end);
  let bars = spanOf([p.drawn.high, p.drawn.low, ...valuesOf(true)], p.i0, p.i1);
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
  const sc = fit(log ? expSpan(bars) : bars, pane.top, pane.bottom, 10 ** -p.data.precision);
  return p.mode === 'log' && sc.lo > 0 ? logarithmic(sc) : sc;
}

/** panelScale fits the values of a panel, with zero if there is a histogram, and if the values have fixed bounds the
 * levels too. Without any value it fits only the levels. */
function panelScale(p, { studies: [st], top, bottom }) {
  let s = spanOf([...st.lines, ...st.histogram].map(l => l.values), p.i0, p.i1);
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

const widest = 40; // logical pixels from bar to bar

/** placeBars settles where bars stand: pitch pixels apart, from the axis to the left, with half a bar of air. Bodies and
 * wicks are both odd or both even wide, so that a wick stands exactly in the middle. */
function placeBars(p) {
  const { m, axisX, window: { count, end } } = p;
  const pitch = Math.min(axisX / (count + 0.5), widest * m.u);
  let [body, wick] = [Math.min(Math.floor(0.8 * pitch), m.px(25)), m.thin];
  const per = pitch / m.thin;
  if (per < 2.5) body = wick;
  else if (per <= 4) body = Math.min(3 * m.thin, Math.floor(pitch + 0.5)); // bodies may touch
  else if (m.u >= 1.25 && body >= 6) wick = Math.min(Math.ceil(m.u), Math.floor(body / 3));
  const x0 = axisX - (end + 0.5) * pitch; // where bar 0 would begin
  Object.assign(p, { x0, pitch, body: body - ((body - wick) % 2), wick, dense: pitch < m.thin });
}

/** barX returns the middle of bar i. */
export const barX = (p, i) => p.x0 + (i + 0.5) * p.pitch;

/** barAt returns the bar at column x, within the data. */
export const barAt = (p, x) => Math.min(Math.max(Math.floor((x - p.x0) / p.pitch), p.i0), p.i1 - 1);

/** timeX returns the middle of the bar that begins at a time or is the last before it, and beyond the bars as far out
 * as so many intervals would lie. */
export function timeX(p, t) {
  const { time, n, seconds } = p.data;
  const i = time.findLastIndex(begin => begin <= t);
  if (i < 0) return barX(p, (t - time[0]) / seconds);
  const beyond = i === n - 1 && t >= lastEnd(p.data); // not within the last bar
  return barX(p, beyond ? i + (t - time[i]) / seconds : i);
}

/** columnAt returns the pixel column of the middle of bar i; those of a dense chart are a thinnest stroke apart. */
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

/** plusAt and crossAt return the columns of the two buttons on a row, which open the menu and cross a line out. */
export const plusAt = p => p.axisX - p.m.px(11);
export const crossAt = p => p.axisX - p.m.px(35);

/** placeTimes writes the time axis: the full date of the first bar in the window, then ticks. */
function placeTimes(p) {
  const { data, o, m, i0 } = p;
  p.times = [];
  if (p.i1 <= i0) return;
  if (!data.walls || data.zone !== o.zone) Object.assign(data, { walls: wallTimes(data.time, data.seconds, o.zone), zone: o.zone });
  const bars = data.walls.slice(i0, p.i1);
  const text = dateText(bars[0].wall, day);
  const width = p.widthOf(text, 700);
  const x = Math.max(m.px(4), Math.min(columnAt(p, i0) - Math.floor(width / 2), p.axisX - width - m.px(4)));
  p.firstTime = { text, x };
  const axis = {
    bars, interval: data.seconds, apart: (m.compact ? 75 : 110) * m.u, gap: m.px(10), firstEnd: x + width, right: p.axisX - m.px(2),
    column: i => columnAt(p, i0 + i), width: (text, strong) => p.widthOf(text, strong ? 700 : 400),
  };
  p.times = timeTicks(axis, p.pitch).map(t => ({ ...t, bar: t.bar + i0 }));
}
