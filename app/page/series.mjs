// The data of a chart: bars and studies, read from the series payload of
// generate_chart, joined from pages and kept up to date by the newest bars.
import { intervalSeconds } from './times.mjs';

const columns = ['time', 'open', 'high', 'low', 'close', 'volume'];
const channels = ['lines', 'histogram', 'fills', 'signals', 'hlines', 'hbars', 'divlines', 'shaded'];

/** readSeries returns the data of one payload. What is missing is NaN. Values for bars
 * to come stand behind those of the bars. */
export function readSeries(text) {
  const { bars, indicators, compare = [], request = {}, ...head } = JSON.parse(text, (_, v) => v ?? NaN);
  const data = { ...head, compare, request, n: bars.length, seconds: intervalSeconds(head.interval) };
  columns.forEach((name, i) => { data[name] = bars.map(b => b['tohlcv'[i]]); });
  data.studies = Object.entries(indicators).map(([key, given]) => {
    const st = { key, ...given };
    for (const name of channels) st[name] ??= [];
    for (const l of st.lines) l.values.push(...(l.ahead ?? []));
    for (const f of st.fills) {
      f.y1.push(...(f.ahead1 ?? []));
      f.y2.push(...(f.ahead2 ?? []));
    }
    return st;
  });
  return data;
}

/** sameStudies reports whether two pieces of data have the same lines and areas. */
function sameStudies(a, b) {
  const shape = d => JSON.stringify([d.symbol, d.interval, d.studies.map(s => [s.key, s.lines.length, s.histogram.length, s.fills.length]), d.compare.length]);
  return shape(a) === shape(b);
}

/** spliced returns data whose first keep bars come from a and the rest from b. Levels
 * and profiles, which belong to no bar, are those of b, the newer. */
function spliced(a, b, keep) {
  const join = (x, y) => x.slice(0, keep).concat(y);
  const joinEach = (x, y, ...names) => y.map((item, i) => ({ ...item, ...Object.fromEntries(names.map(name => [name, join(x[i][name], item[name])])) }));
  const move = (x, y, ...names) => x.filter(item => names.every(name => item[name] < keep))
    .concat(y.map(item => ({ ...item, ...Object.fromEntries(names.map(name => [name, item[name] + keep])) })));
  const out = { ...b, n: keep + b.n, precision: Math.max(a.precision, b.precision), walls: undefined };
  for (const name of columns) out[name] = join(a[name], b[name]);
  out.compare = joinEach(a.compare, b.compare, 'closes');
  out.studies = b.studies.map((st, k) => {
    const old = a.studies[k];
    return {
      ...st, lines: joinEach(old.lines, st.lines, 'values'), histogram: joinEach(old.histogram, st.histogram, 'values'), fills: joinEach(old.fills, st.fills, 'y1', 'y2'),
      signals: move(old.signals, st.signals, 'x'), divlines: move(old.divlines, st.divlines, 'x1', 'x2'), shaded: move(old.shaded, st.shaded, 'from', 'to'),
    };
  });
  return out;
}

/** prepended returns older bars and the data that follow them as one; bars that both
 * have are taken once. It returns newer alone if the two do not belong together. */
export function prepended(older, newer) {
  if (!sameStudies(older, newer) || newer.n === 0) return newer;
  const keep = older.time.filter(t => t < newer.time[0]).length;
  return { ...spliced(older, newer, keep), gaps: (older.gaps ?? 0) + (newer.gaps ?? 0) };
}

/** updated returns data with its newest bars replaced by those of tail and new ones
 * added; undefined when a bar between is missing and all must be asked for again. */
export function updated(data, tail) {
  if (tail.n === 0 || data.n === 0 || !sameStudies(data, tail)) return undefined;
  const keep = data.time.indexOf(tail.time[0]);
  if (keep < 0 || data.n - keep > tail.n + 1) return undefined;
  // A profile or a level of two bars says nothing of all: keep the old ones.
  const out = { ...spliced(data, tail, keep), request: data.request, gaps: data.gaps };
  out.studies.forEach((st, k) => {
    const { hbars, hlines, y_range } = data.studies[k];
    Object.assign(st, { hbars, hlines, y_range });
  });
  return out;
}

/** pageBars returns how many bars the next page may have so that its text stays within
 * limit characters, judged by a page of so many bars and characters. */
export function pageBars(bars, characters, limit) {
  const each = Math.max(60, characters / Math.max(1, bars));
  return Math.min(Math.max(Math.floor((0.9 * limit) / each), 1), 5000);
}

/** heikinAshi returns averaged candles: close is the mean of a bar's four prices, open
 * the mean of the averaged open and close before. */
export function heikinAshi({ n, open, high, low, close }) {
  const a = { open: [], high: [], low: [], close: [] };
  for (let i = 0; i < n; i++) {
    const c = (open[i] + high[i] + low[i] + close[i]) / 4;
    const o = i > 0 ? (a.open[i - 1] + a.close[i - 1]) / 2 : (open[i] + close[i]) / 2;
    a.open.push(o);
    a.close.push(c);
    a.high.push(Math.max(high[i], o, c));
    a.low.push(Math.min(low[i], o, c));
  }
  return a;
}
