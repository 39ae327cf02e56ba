// Fetching the data of a chart: the newest bars first, older ones in pages as the window
// moves, the newest two again and again while the page is visible. Where the data come
// from is a transport's: call(tool, arguments) returns the texts of a result, and limit
// is how many characters one of them may have.
import { pageBars, prepended, readSeries, updated } from './series.mjs';

const firstBars = 100; // the first page, which shows how long a bar is as text
const mostBars = 5000; // of one chart
const period = 5000; // milliseconds between two looks at the newest bars

/** Loader keeps the data of one chart. onData(data, {bars, added}) gets every change,
 * onError(text) what went wrong. */
export class Loader {
  constructor(transport, onData, onError) {
    Object.assign(this, { transport, onData, onError, wanted: 0, turn: 0 });
  }

  /** load shows the chart of arguments as generate_chart takes them. A later call
   * overtakes an earlier one. */
  async load(args, bars) {
    const turn = ++this.turn;
    clearTimeout(this.timer);
    this.args = { ...args, format: 'series' };
    this.over = false;
    this.data = undefined;
    try {
      const data = await this.page({ bars: Math.min(bars, firstBars) });
      if (turn !== this.turn) return;
      this.data = data;
      this.onData(data, { bars });
      await this.older(bars, turn);
      if (turn === this.turn) this.onData(this.data, { bars });
    } catch (err) {
      if (turn === this.turn) this.onError(err.message);
    }
    if (turn === this.turn && !args.to) this.poll(turn); // a period of the past does not change
  }

  /** page asks for bars and notes how many characters each has. */
  async page(range) {
    const text = await this.transport.call('generate_chart', { ...this.args, ...range });
    let payload;
    try {
      payload = JSON.parse(text);
    } catch {
      throw new Error(text.slice(0, 300));
    }
    const data = readSeries(payload);
    if (data.n > 3) this.pageBars = pageBars(data.n, JSON.stringify(text).length, this.transport.limit); // as it travels, quotes escaped
    return data;
  }

  /** older adds pages until there are so many bars, or no older ones. */
  async older(bars, turn = this.turn) {
    const want = Math.min(bars, mostBars);
    while (turn === this.turn && this.data && this.data.n < want && !this.over) {
      const first = this.data.time[0];
      const page = await this.page({ from: undefined, to: String(first - 1), bars: Math.min(this.pageBars ?? firstBars, want - this.data.n) });
      if (turn !== this.turn) return;
      const before = this.data.n;
      this.data = prepended(page, this.data);
      this.over = this.data.n === before; // nothing came that was not there
    }
  }

  /** reach makes sure that the data begin before a window does, with some room. It is
   * called with every move and asks at most once at a time. */
  async reach(window) {
    if (!this.data || this.over || this.reaching || window.end - window.count > window.count / 2) return;
    this.reaching = true;
    const turn = this.turn;
    const before = this.data.n;
    try {
      await this.older(before + Math.ceil(window.count), turn);
      if (turn === this.turn && this.data.n > before) this.onData(this.data, { added: this.data.n - before });
    } catch (err) {
      this.over = true;
      if (turn === this.turn) this.onError(err.message);
    }
    this.reaching = false;
  }

  /** poll looks at the newest bars while the page is visible. */
  poll(turn) {
    this.timer = setTimeout(async () => {
      if (turn !== this.turn) return;
      if (!document.hidden && this.data) await this.newest(turn);
      if (turn === this.turn) this.poll(turn);
    }, period);
  }

  async newest(turn) {
    try {
      const tail = await this.page({ bars: 3 });
      if (turn !== this.turn || !this.data) return;
      const data = updated(this.data, tail);
      if (!data) {
        await this.load(this.args, this.data.n); // bars were missed: begin again
        return;
      }
      this.data = data;
      this.onData(data);
    } catch (err) {
      if (turn === this.turn) this.onError(err.message);
    }
  }

  /** close ends the polling; what is under way is dropped when it comes. */
  close() {
    this.turn++;
    clearTimeout(this.timer);
  }
}
