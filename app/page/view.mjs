// A chart on the page: a canvas, what hands and keys do with it, and the same numbers in a table, to be read aloud.
import { button, el, openMenu, table } from './dom.mjs';
import { namedText, ohlc, priceText, volumeText } from './format.mjs';
import { clampWindow, freeBars, keyMove, listen } from './gestures.mjs';
import { described, printLegends, writeLegends } from './legend.mjs';
import { paint } from './paint.mjs';
import { fontOf } from './pen.mjs';
import { barAt, makePlan, wholeWindow } from './plan.mjs';
import { rangeAt, rowOf, valueAt } from './scale.mjs';
import { t } from './texts.mjs';
import { dateText } from './times.mjs';

const tableRows = 60; // bars that the table lists at most
const axisRoom = 80; // logical pixels that the price axis takes, about
const keysText = t('Arrow left and right move, plus and minus zoom, Home and End go to the ends, brackets scale the price, 0 fits it, comma and period step through bars, Shift with arrow up and down moves the price aimed at, Enter offers what can be done there, F is full screen.');

/** measurer returns a function that measures texts and remembers what it measured. */
function measurer(ctx) {
  const widths = new Map();
  return (text, size, weight) => {
    const key = `${weight} ${size} ${text}`;
    if (!widths.has(key)) {
      if (widths.size > 5000) widths.clear();
      ctx.font = fontOf(size, weight);
      widths.set(key, Math.ceil(ctx.measureText(text).width));
    }
    return widths.get(key);
  };
}

/** Chart shows data on a canvas in an element. options are those of makePlan. onMove is told when the window moved;
 * where there is an account, onLevel(line, price) when a line was dragged to another price, onCross(line) when it was
 * crossed out, and onMenu(price) returns what can be done at a price; lines returns lines beside the levels.
 * onStudy(key, place) is told of a press on the name of a study, onSizes of other sizes of the panels than those at
 * first. With barWidth, in logical pixels, a chart begins with bars as wide as that, else with all that were asked for. */
export class Chart {
  constructor(place, options) {
    this.options = { theme: 'dark', type: 'candles', scale: 'linear', signals: 'auto', volume: true, zone: 'UTC', levels: [], ...options };
    const listeners = { onkeydown: e => this.key(e) };
    this.canvas = el('canvas', { tabindex: 0, role: 'img', 'aria-label': t('Chart'), 'aria-describedby': 'chart-keys', ...listeners });
    this.said = el('p', { class: 'quiet', role: 'status' });
    this.table = table(t('The bars in view, newest first'), t('Bars as a table'), [t('Time'), t('Open'), t('High'), t('Low'), t('Close price'), t('Volume')], t('No bars'));
    this.details = el('details', { ontoggle: () => this.draw() }, el('summary', {}, t('Bars as a table')), this.table.element);
    this.newest = button(t('To newest'), () => this.show(keyMove('End', this.window, this.n)), { class: 'newest', hidden: true });
    this.legends = el('div', { class: 'legends' });
    this.box = el('div', { class: 'canvas' }, this.canvas, this.legends, this.newest);
    place.append(this.box, this.said, el('p', { class: 'quiet', id: 'chart-keys' }, keysText), this.details);
    this.ctx = this.canvas.getContext('2d', { alpha: false });
    Object.assign(this, { measure: measurer(this.ctx), ratio: 1, window: { end: 0, count: 1 }, n: 0, ranges: {}, sizes: this.options.sizes ?? {} });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    listen(this.canvas, this);
  }

  /** set changes options and draws. */
  set(options) {
    if ((options.scale ?? this.options.scale) !== this.options.scale) this.ranges = {};
    Object.assign(this.options, options);
    this.axis = 0;
    this.draw();
  }

  /** setData shows data: the newest bars if it is new, else the same window, which follows the newest bar if that was
   * in it. added is how many bars came before; exact puts all that were asked for into view. */
  setData(data, { bars, added = 0, exact } = {}) {
    const { count, end } = this.window;
    const { barWidth } = this.options;
    const grown = end >= this.n ? data.n - this.n - added : 0;
    const fresh = bars && (exact || !(barWidth && added));
    if (fresh) {
      const same = barWidth && !exact && this.data?.symbol === data.symbol && this.data.interval === data.interval; // a study was changed
      const whole = wholeWindow(data, bars);
      const free = barWidth && !data.request.from ? Math.max(0, data.n + freeBars - whole.end) : 0;
      const first = { end: whole.end + free, count: barWidth && !exact && this.width ? (this.width - axisRoom) / barWidth : whole.count + free };
      this.release();
      Object.assign(this, { axis: 0, ranges: same ? this.ranges : {}, window: same ? clampWindow({ count, end: end + data.n - this.n }, data.n) : first });
    } else this.window = { count, end: end + added + grown };
    const cross = this.cross && !fresh ? { ...this.cross, bar: this.cross.bar + added } : undefined;
    Object.assign(this, { data, n: data.n, cross });
    this.draw();
    if (barWidth && added) this.options.onMove?.(this.window); // a wide chart has room for more than was asked for
  }

  /** show moves the window. */
  show(window) {
    this.window = clampWindow(window, this.n);
    this.draw();
    this.options.onMove?.(this.window);
  }

  /** point puts the crosshair at a place in device pixels. Beyond the bars it stands where the pointer is. */
  point({ x, y }, cursor = 'crosshair') {
    const { i0, i1, axisX, timeY, x0, pitch } = this.plan;
    if (i1 <= i0) return;
    const inside = x < axisX && y < timeY;
    const within = x >= x0 + i0 * pitch && x < x0 + i1 * pitch;
    this.cross = inside ? { bar: barAt(this.plan, x), y, x: within ? undefined : x } : undefined;
    this.canvas.style.cursor = cursor;
    this.draw();
  }

  /** shift moves prices by rows where the scale is not the automatic one. */
  shift(rows) {
    const { key, scale } = this.plan.panes[0];
    if (this.ranges[key] && rows) this.ranges = { ...this.ranges, [key]: rangeAt(scale, scale.top - rows, scale.bottom - rows) };
  }

  /** release lets go what is held, without effect. */
  release() {
    this.held?.undo?.();
    this.held = undefined;
    this.draw();
  }

  /** forget takes the crosshair away. */
  forget() {
    this.cross = undefined;
    this.draw();
  }

  /** lines returns the lines of the account, the projected order first: at one price it is the one that is dragged. */
  lines = () => [...(this.options.lines?.() ?? []), ...this.options.levels];

  /** offer opens the menu of what can be done at the price at the crosshair or, without one, at that of the market,
   * and reports whether there is one. */
  offer() {
    const { cross, data, plan, ratio } = this;
    const price = cross ? this.priceIn(cross.y) : data.close.at(-1);
    const choices = price > 0 && this.options.onMenu?.(price);
    if (!choices) return false;
    const row = cross?.y ?? rowOf(plan.panes[0].scale, price);
    openMenu(this.box, { x: (cross?.x ?? plan.axisX) / ratio, y: row / ratio }, t('At {0}', namedText(data, price)), choices, this.canvas);
    return true;
  }

  /** priceIn returns the price at a row of the price pane; undefined for other rows. */
  priceIn(y) {
    const { panes: [pane] } = this.plan;
    const price = y >= pane.y && y < pane.floor ? this.priceOf(y) : 0;
    return price > 0 ? price : undefined;
  }

  /** priceOf returns the price at a row, with the decimals of the data. */
  priceOf = y => Number(valueAt(this.plan.panes[0].scale, y).toFixed(this.data.precision));

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.plan) return;
    const rows = e.shiftKey && { ArrowUp: -1, ArrowDown: 1 }[e.key];
    const next = rows ? undefined : keyMove(e.key, this.window, this.n);
    const { key, scale: { top, bottom, ...scale } } = this.plan.panes[0];
    const part = { '[': -0.1, ']': 0.125 }[e.key] * (bottom - top);
    if (rows) this.step(0, rows);
    else if (next) this.show(next);
    else if (part) this.ranges = { ...this.ranges, [key]: rangeAt({ top, bottom, ...scale }, top + part, bottom - part) };
    else if (e.key === '0') Object.assign(this, { ranges: {}, sizes: {} });
    else if (e.key === ',' || e.key === '.') this.step(e.key === '.' ? 1 : -1);
    else if (e.key === 'Enter') this.offer();
    else if (e.key === 'Escape') {
      this.release();
      this.forget();
    } else if (e.key.toLowerCase() === 'f') this.options.onFullscreen?.();
    else return;
    this.draw();
    e.preventDefault();
  }

  /** step moves the crosshair by bars, to the close there, or by rows, and says what is there. */
  step(by, rows) {
    const { plan: { i0, last, panes: [pane] }, data } = this;
    const bar = Math.min(Math.max((this.cross?.bar ?? last + (by < 0 ? 1 : 0)) + by, i0), last);
    const from = rows && this.cross?.y < pane.floor ? this.cross.y : rowOf(pane.scale, data.close[bar]);
    const y = from + (rows ?? 0) * Math.round(2 * this.ratio);
    this.cross = { bar, y: Math.min(Math.max(y, pane.y), pane.floor - 1) };
    this.render();
    this.said.textContent = rows ? t('aimed at {0}', namedText(data, this.priceIn(this.cross.y))) : described(this.plan);
  }

  /** resize takes the size of the box, unless it is not shown. Bars stay as wide as they are. */
  resize() {
    const box = this.box.getBoundingClientRect();
    if (!box.width) return;
    const [width, height] = [box.width, box.height].map(v => Math.max(120, Math.floor(v)));
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    if (this.options.barWidth && this.width) this.window = clampWindow({ ...this.window, count: this.window.count * (width - axisRoom) / (this.width - axisRoom) }, this.n);
    Object.assign(this, { ratio, width, height, axis: 0 });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.render();
  }

  /** draw paints with the next frame, once however often it is called. */
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.render();
    });
  }

  /** render paints now. */
  render() {
    if (!this.width || !this.data) return;
    const { data, options, width, height, ratio, measure, axis, cross, canvas, ranges, sizes, dragged, newest } = this;
    const ghost = l => ({ price: l.price, text: '', ink: 'muted', on: 1, off: 4 }); // where a line was before
    const levels = this.lines().flatMap(l => (l === dragged?.line ? [{ ...l, price: dragged.price }, ghost(l)] : [l]));
    const plan = makePlan(data, { ...options, levels, width, height, ratio, measure, axis, ranges, sizes }, this.window);
    Object.assign(this, { plan, axis: plan.axisWidth });
    if (!this.held && sizes !== this.told) options.onSizes?.(this.told = sizes);
    if (cross) plan.cross = this.cross = { ...cross, bar: Math.min(Math.max(cross.bar, plan.i0), plan.last) };
    paint(this.ctx, plan);
    writeLegends(this.legends, plan, canvas);
    const seen = this.window.end >= this.n;
    if (seen && document.activeElement === newest) canvas.focus();
    newest.hidden = seen;
    this.box.style.setProperty('--floor', `${plan.panes[0].floor / ratio}px`); // where the prices end
    newest.style.right = `${width - plan.axisX / ratio + 8}px`;
    const label = t('Chart of {0}, {1}, {2} bars', data.symbol, data.interval, plan.i1 - plan.i0);
    if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label);
    if (this.details.open) this.filling ??= setTimeout(() => this.fillTable(), 300);
  }

  /** picture returns what is shown as PNG, with the legends, which are elements above the canvas. */
  picture() {
    this.cross = undefined;
    this.render();
    printLegends(this.legends, this.plan);
    this.draw();
    return new Promise(resolve => this.canvas.toBlob(resolve));
  }

  /** fillTable lists the bars in view. */
  fillTable() {
    this.filling = undefined;
    const { data, i0, i1 } = this.plan;
    const bars = Array.from({ length: Math.min(i1 - i0, tableRows) }, (_, k) => i1 - 1 - k);
    const prices = i => ohlc.map(name => priceText(data[name][i], data.precision));
    this.table.fill(bars.map(i => [dateText(data.walls[i].wall, data.seconds), ...prices(i), volumeText(data.volume[i])]));
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.filling);
  }
}
