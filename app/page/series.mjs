// The data of a chart: bars and studies, read from the series payload of generate_chart. The newest bars come first,
// older ones in pages as the window moves, the newest few again and again while the page is visible.
import { ohlc } from './format.mjs';
import { spanOf } from './scale.mjs';

const columns = ['time', ...ohlc, 'volume'];

/** The channels of a study; those that it does not have are empty. */
export const channels = ['lines', 'histogram', 'fills', 'signals', 'hlines', 'hbars', 'divlines', 'shaded', 'sessions'];

/** readSeries returns the data of one payload. Missing values are NaN. Values for future bars follow those of the
 * bars; what is drawn back stands at the bar where it is drawn. */
export function readSeries(text) {
  const { bars, indicators, compare = [], request = {}, ...head } = JSON.parse(text, (_, v) => v ?? NaN);
  const data = { ...head, compare, request, n: bars.length };
  columns.forEach((name, i) => { data[name] = bars.map(b => b['tohlcv'[i]]); });
  data.visible = visibleOf(data);
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

/** visibleOf returns how many decimals of a single price can be seen: down to a thousandth of the range of all. */
function visibleOf({ high, low }) {
  const { lo, hi } = spanOf([high, low], 0, high.length);
  return lo < hi ? Math.min(Math.max(0, Math.ceil(-Math.log10((hi - lo) / 1000))), 8) : 8;
}

/** sameStudies reports whether two pieces of data have the same lines and areas. */
function sameStudies(a, b) {
  const counts = st => [st.key, st.lines.length, st.histogram.length, st.fills.length];
  const [one, other] = [a, b].map(d => JSON.stringify([d.symbol, d.interval, d.studies.map(counts), d.compare.length]));
  return one === other;
}

/** The members that spliced joins, by channel: in valued are lists with a value per bar, in indexed indices of bars. */
const valued = { lines: ['values'], histogram: ['values'], fills: ['y1', 'y2'] };
const indexed = { signals: ['x'], divlines: ['x1', 'x2'], shaded: ['from', 'to'] };

/** changed returns item with some of its members changed. */
const changed = (item, names, change) => ({ ...item, ...Object.fromEntries(names.map(name => [name, change(name, item[name])])) });

/** spliced returns data whose first keep bars come from a and the rest from b. Levels and profiles, which belong to no
 * bar, are those of b, the newer; the decimals of prices are those of the longer piece. */
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
  const { precision } = a.n > b.n ? a : b;
  const { heikin_ashi_open } = keep > 0 ? a : b;
  return { ...bars, precision, visible: visibleOf(bars), heikin_ashi_open, n: keep + b.n, compare, studies, walls: undefined, averaged: undefined };
}

/** prepended returns older bars and the data that follow them as one; bars that both have are taken once. It returns
 * newer alone if the two do not belong together. */
export function prepended(older, newer) {
  if (!sameStudies(older, newer) || newer.n === 0) return newer;
  const keep = older.time.filter(t => t < newer.time[0]).length;
  return { ...spliced(older, newer, keep), gaps: (older.gaps ?? 0) + (newer.gaps ?? 0), gaps_at: [...(older.gaps_at ?? []), ...(newer.gaps_at ?? [])] };
}

/** updated returns data with its newest bars replaced by those of tail and new ones added; undefined when a bar
 * between is missing and all must be asked for again. */
export function updated(data, tail) {
  if (tail.n === 0 || data.n === 0 || !sameStudies(data, tail)) return undefined;
  const keep = data.time.indexOf(tail.time[0]);
  if (keep < 0 || data.n - keep > tail.n + 1) return undefined;
  const out = { ...spliced(data, tail, keep), request: data.request, gaps: data.gaps, gaps_at: data.gaps_at };
  // A profile or a level of two bars says nothing of all: keep the old ones.
  for (const [k, { hbars, hlines, y_range }] of data.studies.entries()) Object.assign(out.studies[k], { hbars, hlines, y_range });
  return out;
}

/** heikinAshi returns averaged candles: close is the mean of a bar's four prices, open the mean of the averaged open
 * and close before. The server says where the first one opens after the bars before it. */
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

/** pageBars returns how many bars have room in limit characters, judged by a page of so many bars and characters. */
export function pageBars(bars, characters, limit) {
  const each = Math.max(60, characters / Math.max(1, bars));
  return Math.min(Math.max(Math.floor((0.9 * limit) / each), 1), mostBars);
}

/** unasked calls ask with an interval or, if none is given, first without, which the server takes for a usual one, and
 * then with that of a day: many a file has no shorter bars. */
export const unasked = (interval, ask) => (interval ? ask(interval) : ask().catch(err => ask('1d').catch(() => { throw err; })));

const firstBars = 100; // the first page, which shows how long a bar is as text
const usualBars = 200; // shown where nobody asked for a number or a period
const mostBars = 5000; // of one chart
const pollPeriod = 5000; // milliseconds between two looks at the newest bars

/** Loader keeps the data of one chart. A transport gets them: its call(tool, arguments) returns the first text of a
 * result, and its limit is how many characters that may have. onData(data, {bars, added}) gets every change,
 * onError(text) what went wrong later than load. Each chart has a number, its turn. */
export class Loader {
  constructor(transport, onData, onError) {
    Object.assign(this, { transport, onData, onError, turn: 0 });
  }

  /** load shows the chart of these arguments of generate_chart. It fails if the chart could not be had. A later call
   * replaces an earlier one, which then neither succeeds nor fails. */
  async load(args) {
    this.close();
    Object.assign(this, { args, over: false, data: undefined, reaching: true }); // one at a time asks for older bars
    try {
      const asked = Math.min(Number(args.bars) || 0, mostBars);
      const bars = Math.min(asked || firstBars, firstBars);
      const first = this.data = await unasked(args.interval, interval => this.page({ ...args, interval, bars }));
      const { symbol, interval, indicators, compare, from } = first.request; // as the server read them
      this.more = { symbol, interval, indicators, compare };
      const most = asked || (from ? mostBars : usualBars);
      const show = added => this.onData(this.data, { added, bars: Math.min(most, from ? this.data.time.filter(t => t >= from).length : most) });
      show();
      await this.older(most, from);
      this.reaching = false;
      if (this.data !== first) show(this.data.n - first.n);
    } finally {
      this.reaching = false;
      if (this.data && !this.data.request.to) this.poll(); // a period of the past does not change
    }
  }

  /** page asks for bars and notes how many characters each has. What comes when another chart is shown by then, or an
   * error, leads nowhere: whoever awaits it goes no further. */
  async page(args) {
    const { turn } = this;
    const text = await this.transport.call('generate_chart', { ...args, format: 'series' }).finally(() => turn === this.turn || new Promise(() => {}));
    if (!text.startsWith('{')) throw new Error(text.slice(0, 300));
    const data = readSeries(text);
    if (data.n > 3) this.pageBars = pageBars(data.n, JSON.stringify(text).length, this.transport.limit); // as it travels, quotes escaped
    return data;
  }

  /** older adds pages until there are that many bars, or the first is as old as from, or there are no older ones. A
   * page ends with the first bar that is there already, so that a gap before that is noticed. Its time is not sent in
   * unix seconds: of bars before 1973 the server takes those for a mistake. */
  async older(bars, from = 0) {
    const want = Math.min(bars, mostBars);
    while (this.data.n < want && this.data.time[0] > from && !this.over) {
      const before = this.data.n;
      const page = await this.page({ ...this.more, to: new Date(1000 * this.data.time[0]).toISOString(), bars: Math.max(2, Math.min(this.pageBars ?? firstBars, want - before + 1)) });
      this.data = prepended(page, this.data);
      this.over = this.data.n === before; // nothing came that was not there
    }
  }

  /** reach makes sure that the data begin before a window does, with some room. It is called with every move and asks
   * at most once at a time; what could not be had is not asked for again. */
  async reach(window) {
    if (!this.data || this.over || this.reaching || window.end - window.count > window.count / 2) return;
    const before = this.data.n;
    this.reaching = true;
    await this.older(before + Math.ceil(window.count)).catch(err => {
      this.over = true;
      this.onError(err.message);
    });
    this.reaching = false;
    if (this.data.n > before) this.onData(this.data, { added: this.data.n - before });
  }

  /** poll looks at the newest bars while the page is visible. */
  poll() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (!document.hidden) await this.newest().catch(err => this.onError(err.message));
      this.poll();
    }, pollPeriod);
  }

  /** newest looks for new bars. If some were missed it begins again, and goes on with the old ones if that fails. */
  async newest() {
    const tail = await this.page({ ...this.more, bars: 3 });
    const { data: before } = this;
    const data = updated(before, tail);
    if (data) this.onData(this.data = data);
    else await this.load(this.args).finally(() => { this.data ??= before; });
  }

  /** close ends the polling; what is under way is dropped when it comes. */
  close() {
    this.turn++;
    clearTimeout(this.timer);
  }
}
