// A chart on the page: a canvas, what hands and keys do with it, and a table of the
// same numbers for readers who do not see it.
import { el, fillRows, scrolling, tableOf } from './dom.mjs';
import { priceText, volumeText } from './format.mjs';
import { clampWindow, keyMove, listen } from './gestures.mjs';
import { described } from './legend.mjs';
import { paint } from './paint.mjs';
import { fontOf } from './pen.mjs';
import { barAt, makePlan, wholeWindow } from './plan.mjs';
import { rowOf, valueAt } from './scale.mjs';
import { dateText } from './times.mjs';

const tableRows = 60; // bars that the table lists at most
const reach = 8; // logical pixels within which a level can be grabbed

/** measurer returns a function that measures texts and remembers what it measured. */
function measurer(ctx) {
  const widths = new Map();
  return (text, size, weight) => {
    const key = `${weight} ${size} ${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      if (widths.size > 5000) widths.clear();
      ctx.font = fontOf(size, weight);
      width = Math.ceil(ctx.measureText(text).width);
      widths.set(key, width);
    }
    return width;
  };
}

/** Chart shows data on a canvas in an element. options are those of makePlan but for
 * sizes; onMove is told when the window moved, onLevel(level, price) when a level was
 * dragged to another price. */
export class Chart {
  constructor(place, options) {
    this.options = { theme: 'dark', type: 'candles', scale: 'linear', signals: 'auto', volume: true, zone: 'UTC', levels: [], ...options };
    this.canvas = el('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Chart', 'aria-describedby': 'chart-keys' });
    this.said = el('p', { class: 'quiet', role: 'status' });
    this.keys = el('p', { class: 'quiet', id: 'chart-keys' }, 'Arrow left and right move, plus and minus zoom, Home and End go to the ends, comma and period step through bars, F is full screen.');
    this.table = tableOf('The bars in view, newest first', ['Time', 'Open', 'High', 'Low', 'Close', 'Volume']);
    this.details = el('details', { ontoggle: () => this.fillTable() }, el('summary', {}, 'Bars as a table'), scrolling(this.table, 'Bars as a table'));
    this.box = el('div', { class: 'canvas' }, this.canvas);
    place.append(this.box, this.said, this.keys, this.details);
    this.ctx = this.canvas.getContext('2d', { alpha: false });
    this.measure = measurer(this.ctx);
    this.ratio = 1;
    this.window = { end: 0, count: 1 };
    this.n = 0;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    listen(this.canvas, this);
    this.canvas.addEventListener('keydown', e => this.key(e));
    this.canvas.addEventListener('blur', () => this.leave());
  }

  /** set changes options and draws. */
  set(options) {
    Object.assign(this.options, options);
    this.axis = 0;
    this.draw();
  }

  /** setData shows data: the newest bars if it is new, else the same window, which
   * follows the newest bar if that was in it. Added is how many bars came before. */
  setData(data, { bars, added = 0 } = {}) {
    const followed = this.window.end >= this.n;
    const grown = data.n - this.n - added;
    this.data = data;
    this.n = data.n;
    if (bars) {
      this.window = wholeWindow(data, bars);
      this.axis = 0;
    } else {
      this.window = { count: this.window.count, end: this.window.end + added + (followed ? grown : 0) };
    }
    this.cross = undefined;
    this.draw();
    this.fillTable();
  }

  /** show moves the window. */
  show(window) {
    this.window = clampWindow(window, this.n);
    this.draw();
    this.options.onMove?.(this.window);
  }

  /** point puts the crosshair at a place in device pixels. */
  point(x, y) {
    if (!this.plan || this.plan.i1 <= this.plan.i0) return;
    const inside = x < this.plan.axisX && y > this.plan.headerEnd && y < this.plan.timeY;
    this.cross = inside ? { bar: barAt(this.plan, x), y } : undefined;
    this.canvas.style.cursor = this.levelAt(x, y) ? 'ns-resize' : 'crosshair';
    this.draw();
  }

  leave() {
    this.cross = undefined;
    this.draw();
  }

  /** levelAt returns the level that can be dragged at a place, if there is one. */
  levelAt(x, y) {
    const near = l => l.movable && Math.abs(rowOf(this.plan.panes[0].scale, l.price) - y) < reach * this.ratio;
    return this.plan && x <= this.plan.m.w ? this.options.levels.find(near) : undefined;
  }

  /** grab begins to drag the level at a place and reports whether there is one. */
  grab(x, y) {
    this.dragged = this.levelAt(x, y);
    return this.dragged !== undefined;
  }

  drag(y) {
    const pane = this.plan.panes[0];
    this.dragged.price = this.priceOf(Math.min(Math.max(y, pane.legendEnd), pane.floor));
    this.draw();
  }

  drop() {
    const level = this.dragged;
    this.dragged = undefined;
    this.options.onLevel?.(level, level.price);
  }

  /** priceAt returns the price in the middle of the view, or at the crosshair. */
  priceAt() {
    const pane = this.plan.panes[0];
    return this.priceOf(this.cross?.y < pane.floor ? this.cross.y : (pane.top + pane.bottom) / 2);
  }

  /** priceOf returns the price at a row, with the decimals of the data. */
  priceOf(y) {
    return Number(valueAt(this.plan.panes[0].scale, y).toFixed(this.data.precision));
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.plan) return;
    const next = keyMove(e.key, this.window, this.n);
    if (next) this.show(next);
    else if (e.key === ',' || e.key === '.') this.step(e.key === '.' ? 1 : -1);
    else if (e.key === 'Escape') this.leave();
    else if (e.key === 'f' || e.key === 'F') this.options.onFullscreen?.();
    else return;
    e.preventDefault();
  }

  /** step moves the crosshair by bars and says what is there. */
  step(by) {
    const bar = Math.min(Math.max((this.cross?.bar ?? this.plan.last + (by < 0 ? 1 : 0)) + by, this.plan.i0), this.plan.i1 - 1);
    this.cross = { bar };
    this.render();
    this.said.textContent = described(this.plan);
  }

  resize() {
    const box = this.box.getBoundingClientRect();
    this.ratio = Math.min(window.devicePixelRatio || 1, 3);
    this.width = Math.max(120, Math.floor(box.width));
    this.height = Math.max(120, Math.floor(box.height));
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.axis = 0;
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
    if (!this.data || !this.width) return;
    const options = { ...this.options, width: this.width, height: this.height, ratio: this.ratio, measure: this.measure, axis: this.axis };
    this.plan = makePlan(this.data, options, this.window);
    this.axis = this.plan.axisWidth;
    if (this.cross) this.plan.cross = { ...this.cross, bar: Math.min(Math.max(this.cross.bar, this.plan.i0), this.plan.i1 - 1) };
    paint(this.ctx, this.plan);
    const label = `Chart of ${this.data.symbol}, ${this.data.interval}, ${this.plan.i1 - this.plan.i0} bars`;
    if (this.canvas.getAttribute('aria-label') !== label) this.canvas.setAttribute('aria-label', label);
    if (this.details.open && !this.filling) this.filling = setTimeout(() => this.fillTable(), 300);
  }

  /** fillTable lists the bars in view, if the table is open. */
  fillTable() {
    clearTimeout(this.filling);
    this.filling = undefined;
    if (!this.details.open || !this.plan) return;
    const { data, i0, i1 } = this.plan;
    const rows = [];
    for (let i = i1 - 1; i >= Math.max(i0, i1 - tableRows); i--) {
      const prices = ['open', 'high', 'low', 'close'].map(name => priceText(data[name][i], data.precision));
      rows.push([dateText(data.walls[i].wall, data.seconds), ...prices, volumeText(data.volume[i])]);
    }
    fillRows(this.table, rows, 'No bars');
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.filling);
  }
}
