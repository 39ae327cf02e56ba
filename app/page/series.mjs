// The data of a chart: bars and studies, read from the series payload of
// generate_chart, joined from pages and kept up to date by the newest bars.
import { precisionOf, usable } from './format.mjs';
import { intervalSeconds } from './times.mjs';

/** numbers returns an array of the payload with NaN where there is no value. */
function numbers(values) {
  return (values ?? []).map(v => (v === null ? NaN : v));
}

/** readSeries returns the data of one payload. */
export function readSeries(payload) {
  const bars = payload.bars ?? [];
  return settle({
    symbol: payload.symbol, interval: payload.interval, seconds: intervalSeconds(payload.interval),
    source: payload.source, synthetic: payload.synthetic === true, forming: payload.forming === true,
    time: bars.map(b => b.t), open: bars.map(b => b.o), high: bars.map(b => b.h), low: bars.map(b => b.l),
    close: bars.map(b => b.c), volume: bars.map(b => b.v),
    studies: Object.entries(payload.indicators ?? {}).map(([key, value]) => readStudy(key, value)),
    compare: (payload.compare ?? []).map(c => ({ symbol: c.symbol, values: numbers(c.closes) })),
  });
}

/** readStudy returns one indicator with all its channels, the absent ones empty. */
function readStudy(key, v) {
  return {
    key, label: v.label ?? key, overlay: v.is_overlay === true, bounded: v.bounded === true, range: v.y_range,
    lines: (v.lines ?? []).map(l => ({ ...l, values: numbers(l.values), ahead: numbers(l.ahead) })),
    histogram: (v.histogram ?? []).map(h => ({ ...h, values: numbers(h.values) })),
    fills: (v.fills ?? []).map(f => ({ ...f, y1: numbers(f.y1), y2: numbers(f.y2), ahead1: numbers(f.ahead1), ahead2: numbers(f.ahead2) })),
    signals: v.signals ?? [], hlines: v.hlines ?? [], hbars: v.hbars ?? [], divlines: v.divlines ?? [],
  };
}

/** settle adds what follows from the bars: how many there are, the decimals of their
 * prices, and which can be drawn. */
function settle(data) {
  data.n = data.time.length;
  data.precision = precisionOf([data.open, data.high, data.low, data.close]);
  data.valid = data.time.map((_, i) => usable(data.open[i]) && usable(data.high[i]) && usable(data.low[i]) && usable(data.close[i]));
  data.hasVolume = data.volume.some(v => v > 0);
  data.walls = undefined; // times on the wall clock, made for the zone that is shown
  return data;
}

const columns = ['time', 'open', 'high', 'low', 'close', 'volume'];

/** sameStudies reports whether two pieces of data have the same lines and areas. */
function sameStudies(a, b) {
  const shape = d => JSON.stringify([d.symbol, d.interval, d.studies.map(s => [s.key, s.lines.length, s.histogram.length, s.fills.length]), d.compare.length]);
  return shape(a) === shape(b);
}

/** spliced returns data whose first keep bars come from a and the rest from b. Levels
 * and profiles, which belong to no bar, are those of b, the newer. */
function spliced(a, b, keep) {
  const join = (x, y) => x.slice(0, keep).concat(y);
  const out = { ...b };
  for (const name of columns) out[name] = join(a[name], b[name]);
  out.compare = b.compare.map((c, i) => ({ ...c, values: join(a.compare[i].values, c.values) }));
  out.studies = b.studies.map((st, k) => {
    const old = a.studies[k];
    return {
      ...st,
      lines: st.lines.map((l, i) => ({ ...l, values: join(old.lines[i].values, l.values) })),
      histogram: st.histogram.map((h, i) => ({ ...h, values: join(old.histogram[i].values, h.values) })),
      fills: st.fills.map((f, i) => ({ ...f, y1: join(old.fills[i].y1, f.y1), y2: join(old.fills[i].y2, f.y2) })),
      signals: old.signals.filter(s => s.x < keep).concat(st.signals.map(s => ({ ...s, x: s.x + keep }))),
      divlines: old.divlines.filter(d => Math.max(d.x1, d.x2) < keep).concat(st.divlines.map(d => ({ ...d, x1: d.x1 + keep, x2: d.x2 + keep }))),
    };
  });
  return settle(out);
}

/** prepended returns older bars and the data that follow them as one; bars that both
 * have are taken once. It returns newer alone if the two do not belong together. */
export function prepended(older, newer) {
  if (!sameStudies(older, newer) || newer.n === 0) return newer;
  let keep = older.n;
  while (keep > 0 && older.time[keep - 1] >= newer.time[0]) keep--;
  return spliced(older, newer, keep);
}

/** updated returns data with its newest bars replaced by those of tail and new ones
 * added; undefined when a bar between is missing and all must be asked for again. */
export function updated(data, tail) {
  if (tail.n === 0 || data.n === 0 || !sameStudies(data, tail)) return undefined;
  const keep = data.time.indexOf(tail.time[0]);
  if (keep < 0 || data.n - keep > tail.n + 1) return undefined;
  // A profile or a level of two bars says nothing of all: keep the old ones.
  const out = spliced(data, tail, keep);
  out.studies.forEach((st, k) => {
    st.hbars = data.studies[k].hbars;
    st.hlines = data.studies[k].hlines;
    st.range = data.studies[k].range;
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
export function heikinAshi(data) {
  const a = { open: [], high: [], low: [], close: [] };
  let before = -1;
  for (let i = 0; i < data.n; i++) {
    const { open, high, low, close } = data;
    const c = (open[i] + high[i] + low[i] + close[i]) / 4;
    const o = before >= 0 ? (a.open[before] + a.close[before]) / 2 : (open[i] + close[i]) / 2;
    a.open.push(data.valid[i] ? o : NaN);
    a.close.push(data.valid[i] ? c : NaN);
    a.high.push(data.valid[i] ? Math.max(high[i], o, c) : NaN);
    a.low.push(data.valid[i] ? Math.min(low[i], o, c) : NaN);
    if (data.valid[i]) before = i;
  }
  return a;
}
