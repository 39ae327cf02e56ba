// The data of a chart: bars and studies, read from the series payload of
// generate_chart, joined from pages and kept up to date by the newest bars.
import { ohlc, placesOf, usable } from './format.mjs';

const columns = ['time', ...ohlc, 'volume'];

/** The channels of a study; those that it does not have are empty. */
export const channels = ['lines', 'histogram', 'fills', 'signals', 'hlines', 'hbars', 'divlines', 'shaded', 'sessions'];

/** readSeries returns the data of one payload. Missing values are NaN. Values for future
 * bars follow those of the bars; what is drawn back stands at the bar where it is drawn. */
export function readSeries(text) {
  const { bars, indicators, compare = [], request = {}, ...head } = JSON.parse(text, (_, v) => v ?? NaN);
  const data = { ...head, compare, request, n: bars.length };
  columns.forEach((name, i) => { data[name] = bars.map(b => b['tohlcv'[i]]); });
  data.visible = precisionOf(data).visible;
  data.studies = Object.entries(indicators).map(([key, given]) => {
    const st = { key, name: given.label, ...given };
    for (const name of channels) st[name] ??= [];
    for (const l of st.lines) {
      l.values.push(...(l.ahead ?? []));
      if (l.back) l.values.push(...l.values.splice(0, l.back).fill(NaN));
    }
    for (const f of st.fills) {
      f.y1.push(...(f.ahead1 ?? []));
      f.y2.push(...(f.ahead2 ?? []));
    }
    return st;
  });
  return data;
}

/** precisionOf returns how many decimals prices need, and how many of a price that is named
 * by itself are visible, as precision of chart/format.go does. */
export function precisionOf(data) {
  const all = ohlc.map(name => data[name]);
  const prices = Float64Array.from(all.flat().filter(usable)).sort();
  const [lo, hi] = [prices[0], prices.at(-1)];
  const largest = Math.max(-lo, hi);
  const exact = x => Math.abs(x - Math.round(x)) <= 1e-4 + 1e-15 * Math.abs(x) && (x === 0 || Math.round(x) !== 0);
  let d = largest < 1000 ? 2 : 0;
  while (d < 9 && prices.filter(v => !exact(v * 10 ** d)).length > prices.length / 50) d++;
  const computed = d > 8;
  if (computed) d = largest >= 1 ? 2 : Math.min(3 - Math.floor(Math.log10(largest)), 10);
  if (!(lo < hi)) return { precision: d, visible: Math.max(d, 8) };
  const step = Math.max((hi - lo) / (computed ? 100 : 1000), 1e-15 * largest);
  const visible = Math.min(Math.max(0, Math.ceil(-Math.log10(step))), 8);
  return { precision: Math.max(d, ...all.map(c => placesOf(c.findLast(usable) ?? 0, visible))), visible };
}

/** sameStudies reports whether two pieces of data have the same lines and areas. */
function sameStudies(a, b) {
  const counts = st => [st.key, st.lines.length, st.histogram.length, st.fills.length];
  const [one, other] = [a, b].map(d => JSON.stringify([d.symbol, d.interval, d.studies.map(counts), d.compare.length]));
  return one === other;
}

/** The members that spliced has to join, by channel: in valued they are lists with a value
 * per bar, in indexed they are indices of bars. */
const valued = { lines: ['values'], histogram: ['values'], fills: ['y1', 'y2'] };
const indexed = { signals: ['x'], divlines: ['x1', 'x2'], shaded: ['from', 'to'] };

/** changed returns item with some of its members changed. */
const changed = (item, names, change) => ({ ...item, ...Object.fromEntries(names.map(name => [name, change(name, item[name])])) });

/** spliced returns data whose first keep bars come from a and the rest from b. Levels
 * and profiles, which belong to no bar, are those of b, the newer. */
function spliced(a, b, keep) {
  const join = (x, y) => x.slice(0, keep).concat(y);
  const joinEach = (x, y, names) => y.map((item, i) => changed(item, names, (name, values) => join(x[i][name], values)));
  const move = (x, y, names) => [
    ...x.filter(item => names.every(name => item[name] < keep)), ...y.map(item => changed(item, names, (_, bar) => bar + keep))];
  const studies = b.studies.map((st, k) => {
    const out = { ...st };
    for (const name of Object.keys(valued)) out[name] = joinEach(a.studies[k][name], st[name], valued[name]);
    for (const name of Object.keys(indexed)) out[name] = move(a.studies[k][name], st[name], indexed[name]);
    out.sessions = [...a.studies[k].sessions.filter(bar => bar < keep), ...st.sessions.filter(bar => bar >= 0).map(bar => bar + keep)];
    return out;
  });
  const compare = joinEach(a.compare, b.compare, ['opens', 'closes']);
  const bars = changed(b, columns, (name, values) => join(a[name], values));
  const { heikin_ashi_open } = keep > 0 ? a : b;
  return { ...bars, ...precisionOf(bars), heikin_ashi_open, n: keep + b.n, compare, studies, walls: undefined, averaged: undefined };
}

/** prepended returns older bars and the data that follow them as one; bars that both
 * have are taken once. It returns newer alone if the two do not belong together. */
export function prepended(older, newer) {
  if (!sameStudies(older, newer) || newer.n === 0) return newer;
  const keep = older.time.filter(t => t < newer.time[0]).length;
  return { ...spliced(older, newer, keep), gaps: (older.gaps ?? 0) + (newer.gaps ?? 0), gaps_at: [...(older.gaps_at ?? []), ...(newer.gaps_at ?? [])] };
}

/** updated returns data with its newest bars replaced by those of tail and new ones
 * added; undefined when a bar between is missing and all must be asked for again. */
export function updated(data, tail) {
  if (tail.n === 0 || data.n === 0 || !sameStudies(data, tail)) return undefined;
  const keep = data.time.indexOf(tail.time[0]);
  if (keep < 0 || data.n - keep > tail.n + 1) return undefined;
  const out = { ...spliced(data, tail, keep), request: data.request, gaps: data.gaps, gaps_at: data.gaps_at };
  // A profile or a level of two bars says nothing of all: keep the old ones.
  for (const [k, { hbars, hlines, y_range }] of data.studies.entries()) Object.assign(out.studies[k], { hbars, hlines, y_range });
  return out;
}

/** pageBars returns how many bars the next page may have so that its text stays within
 * limit characters, judged by a page of so many bars and characters. */
export function pageBars(bars, characters, limit) {
  const each = Math.max(60, characters / Math.max(1, bars));
  return Math.min(Math.max(Math.floor((0.9 * limit) / each), 1), 5000);
}

/** heikinAshi returns averaged candles: close is the mean of a bar's four prices, open
 * the mean of the averaged open and close before. The server says where the first one opens
 * after the bars before it. */
export function heikinAshi({ open, high, low, close, heikin_ashi_open = (open[0] + close[0]) / 2 }) {
  const a = { open: [], high: [], low: [], close: close.map((c, i) => (open[i] + high[i] + low[i] + c) / 4) };
  a.close.forEach((c, i) => {
    const o = i > 0 ? (a.open[i - 1] + a.close[i - 1]) / 2 : heikin_ashi_open;
    a.open.push(o);
    a.high.push(Math.max(high[i], o, c));
    a.low.push(Math.min(low[i], o, c));
  });
  return a;
}
