// Fetching the data of a chart: the newest bars first, older ones in pages as the window
// moves, the newest few again and again while the page is visible. A transport gets the
// data: its call(tool, arguments) returns the first text of a result, and its limit is how
// many characters that may have.
import { pageBars, prepended, readSeries, updated } from './series.mjs';

const firstBars = 100; // the first page, which shows how long a bar is as text
const usualBars = 200; // shown where nobody asked for a number or a period
const mostBars = 5000; // of one chart
const pollPeriod = 5000; // milliseconds between two looks at the newest bars

/** Loader keeps the data of one chart. onData(data, {bars, added}) gets every change,
 * onError(text) what went wrong. Each chart has a number, its turn: what still arrives for
 * an earlier chart is dropped silently. */
export class Loader {
  constructor(transport, onData, onError) {
    Object.assign(this, { transport, onData, onError, turn: 0 });
  }

  /** load shows the chart of these arguments of generate_chart. A later call replaces an
   * earlier one, even if that is not finished. */
  async load(args) {
    const turn = ++this.turn;
    clearTimeout(this.timer);
    Object.assign(this, { args, over: false, data: undefined, reaching: true }); // one at a time asks for older bars
    await this.attempt(turn, async () => {
      const asked = Math.min(Number(args.bars) || 0, mostBars);
      const first = this.data = await this.page({ ...args, bars: Math.min(asked || firstBars, firstBars) }, turn);
      const { symbol, interval, indicators, compare, from } = first.request; // as the server read them
      this.more = { symbol, interval, indicators, compare };
      const most = asked || (from ? mostBars : usualBars);
      const show = added => this.onData(this.data, { added, bars: Math.min(most, from ? this.data.time.filter(t => t >= from).length : most) });
      show();
      await this.older(most, turn, from);
      this.reaching = false;
      if (this.data !== first) show(this.data.n - first.n);
    });
    if (turn !== this.turn) return;
    this.reaching = false;
    if (this.data && !this.data.request.to) this.poll(turn); // a period of the past does not change
  }

  /** attempt does work and reports what went wrong, unless a later chart has replaced this
   * one. It returns whether the work succeeded. */
  async attempt(turn, work) {
    try {
      await work();
      return true;
    } catch (err) {
      if (turn === this.turn) this.onError(err.message);
      return false;
    }
  }

  /** page asks for bars and notes how many characters each has. */
  async page(args, turn) {
    const text = await this.transport.call('generate_chart', { ...args, format: 'series' });
    if (turn !== this.turn) throw new Error('another chart is shown by now');
    if (!text.startsWith('{')) throw new Error(text.slice(0, 300));
    const data = readSeries(text);
    if (data.n > 3) this.pageBars = pageBars(data.n, JSON.stringify(text).length, this.transport.limit); // as it travels, quotes escaped
    return data;
  }

  /** older adds pages until there are that many bars, or the first is as old as from, or
   * there are no older ones. A page ends with the first bar that is there already, so that a
   * gap before that is noticed. Its time is not sent in unix seconds: of bars before 1973
   * the server takes those for a mistake. */
  async older(bars, turn, from = 0) {
    const want = Math.min(bars, mostBars);
    while (this.data.n < want && this.data.time[0] > from && !this.over) {
      const before = this.data.n;
      const page = await this.page({ ...this.more, to: new Date(1000 * this.data.time[0]).toISOString(), bars: Math.max(2, Math.min(this.pageBars ?? firstBars, want - before + 1)) }, turn);
      this.data = prepended(page, this.data);
      this.over = this.data.n === before; // nothing came that was not there
    }
  }

  /** reach makes sure that the data begin before a window does, with some room. It is
   * called with every move and asks at most once at a time. */
  async reach(window) {
    if (!this.data || this.over || this.reaching || window.end - window.count > window.count / 2) return;
    const [turn, before] = [this.turn, this.data.n];
    this.reaching = true;
    const came = await this.attempt(turn, async () => {
      await this.older(before + Math.ceil(window.count), turn);
      if (this.data.n > before) this.onData(this.data, { added: this.data.n - before });
    });
    if (!came && turn === this.turn) this.over = true;
    if (turn === this.turn) this.reaching = false;
  }

  /** poll looks at the newest bars while the page is visible. */
  poll(turn) {
    this.timer = setTimeout(async () => {
      if (!document.hidden) await this.attempt(turn, () => this.newest(turn));
      if (turn === this.turn) this.poll(turn);
    }, pollPeriod);
  }

  async newest(turn) {
    const tail = await this.page({ ...this.more, bars: 3 }, turn);
    const data = updated(this.data, tail);
    if (data) this.onData(this.data = data);
    else await this.load(this.args); // bars were missed: begin again
  }

  /** close ends the polling; what is under way is dropped when it comes. */
  close() {
    this.turn++;
    clearTimeout(this.timer);
  }
}
