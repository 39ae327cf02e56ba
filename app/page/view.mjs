// A chart on the page: a canvas, what hands and keys do with it, and a table of the
// same numbers for readers who do not see it.
import { el, table } from './dom.mjs';
import { namedText, ohlc, priceText, volumeText } from './format.mjs';
import { clampWindow, keyMove, listen, moved, restOf } from './gestures.mjs';
import { described } from './legend.mjs';
import { coloursOf } from './look.mjs';
import { paint } from './paint.mjs';
import { fontOf } from './pen.mjs';
import { barAt, makePlan, wholeWindow } from './plan.mjs';
import { rowOf, valueAt } from './scale.mjs';
import { dateText } from './times.mjs';

const tableRows = 60; // bars that the table lists at most
const reach = 8; // logical pixels within which a level can be grabbed
const keysText = 'Arrow left and right move, plus and minus zoom, Home and End go to the ends, comma and period step through bars, Shift with arrow up and down moves the price aimed at, F is full screen.';

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

/** Chart shows data on a canvas in an element. options are those of makePlan but for
 * sizes; onMove is told when the window moved, onLevel(level, price) when a level was
 * dragged to another price, onAim(text) which price is aimed at, as text. */
export class Chart {
  constructor(place, options) {
    this.options = { theme: 'dark', type: 'candles', scale: 'linear', signals: 'auto', volume: true, zone: 'UTC', levels: [], ...options };
    const listeners = { onkeydown: e => this.key(e), onblur: () => this.leave() };
    this.canvas = el('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Chart', 'aria-describedby': 'chart-keys', ...listeners });
    this.said = el('p', { class: 'quiet', role: 'status' });
    this.table = table('The bars in view, newest first', 'Bars as a table', ['Time', 'Open', 'High', 'Low', 'Close', 'Volume'], 'No bars');
    this.details = el('details', { ontoggle: () => this.fillTable() }, el('summary', {}, 'Bars as a table'), this.table.element);
    this.box = el('div', { class: 'canvas' }, this.canvas);
    place.append(this.box, this.said, el('p', { class: 'quiet', id: 'chart-keys' }, keysText), this.details);
    this.ctx = this.canvas.getContext('2d', { alpha: false });
    Object.assign(this, { measure: measurer(this.ctx), ratio: 1, window: { end: 0, count: 1 }, n: 0 });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    listen(this.canvas, this);
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
    const { count, end } = this.window;
    const grown = end >= this.n ? data.n - this.n - added : 0;
    if (bars) this.axis = 0;
    this.window = bars ? wholeWindow(data, bars) : { count, end: end + added + grown };
    const cross = this.cross && !bars ? { ...this.cross, bar: this.cross.bar + added } : undefined;
    if (this.data?.symbol !== data.symbol) this.aimed = undefined;
    Object.assign(this, { data, n: data.n, cross });
    this.draw();
    this.fillTable();
  }

  /** show moves the window. */
  show(window) {
    this.window = clampWindow(window, this.n);
    this.draw();
    this.options.onMove?.(this.window);
  }

  /** point puts the crosshair at a place in device pixels, at a time. */
  point(x, y, time) {
    const { i0, i1, axisX, headerEnd, timeY } = this.plan;
    this.motion = moved(this.motion, { x, y }, time);
    if (i1 <= i0) return;
    const inside = x < axisX && y > headerEnd && y < timeY;
    this.cross = inside ? { bar: barAt(this.plan, x), y } : undefined;
    this.canvas.style.cursor = this.levelAt(x, y) ? 'ns-resize' : 'crosshair';
    this.draw();
  }

  /** leave takes the crosshair away. The price that was aimed at stays: where the pointer
   * rested before it left for an outside place, or where keys went. */
  leave(outside, time) {
    const row = outside && this.motion ? restOf(this.motion, outside, time, this.ratio).y : this.cross?.y;
    this.aimed = this.priceIn(row) ?? this.aimed;
    this.forget();
  }

  /** forget takes the crosshair away, of which nothing stays. */
  forget() {
    Object.assign(this, { cross: undefined, motion: undefined });
    this.draw();
  }

  /** aim returns the price at the crosshair or, without one, that was aimed at before. */
  aim = () => this.priceIn(this.cross?.y) ?? this.aimed;

  /** priceIn returns the price at a row of the price pane; undefined for other rows. */
  priceIn(y) {
    const { panes: [pane] } = this.plan;
    const price = y >= pane.y && y < pane.floor ? this.priceOf(y) : 0;
    return price > 0 ? price : undefined;
  }

  /** levelAt returns the level that can be dragged at a place, if there is one. */
  levelAt(x, y) {
    const near = l => l.movable && Math.abs(rowOf(this.plan.panes[0].scale, l.price) - y) < reach * this.ratio;
    return x <= this.plan.m.w ? this.options.levels.find(near) : undefined;
  }

  /** drag moves the level that is being dragged. */
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

  /** priceOf returns the price at a row, with the decimals of the data. */
  priceOf = y => Number(valueAt(this.plan.panes[0].scale, y).toFixed(this.data.precision));

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.plan) return;
    const rows = e.shiftKey && { ArrowUp: -1, ArrowDown: 1 }[e.key];
    const next = rows ? undefined : keyMove(e.key, this.window, this.n);
    if (rows) this.step(0, rows);
    else if (next) this.show(next);
    else if (e.key === ',' || e.key === '.') this.step(e.key === '.' ? 1 : -1);
    else if (e.key === 'Escape') {
      this.aimed = undefined;
      this.forget();
    }
    else if (e.key.toLowerCase() === 'f') this.options.onFullscreen?.();
    else return;
    e.preventDefault();
  }

  /** step moves the crosshair by bars, to the close there, or by rows, and says what is
   * there. */
  step(by, rows) {
    const { plan: { i0, last, panes: [pane] }, data } = this;
    const bar = Math.min(Math.max((this.cross?.bar ?? last + (by < 0 ? 1 : 0)) + by, i0), last);
    const from = rows && this.cross?.y < pane.floor ? this.cross.y : rowOf(pane.scale, data.close[bar]);
    const y = from + (rows ?? 0) * Math.round(2 * this.ratio);
    this.cross = { bar, y: Math.min(Math.max(y, pane.legendEnd), pane.floor - 1) };
    this.render();
    this.said.textContent = rows ? `aimed at ${namedText(data, this.aim())}` : described(this.plan);
  }

  resize() {
    const { width, height } = this.box.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    Object.assign(this, { ratio, width: Math.max(120, Math.floor(width)), height: Math.max(120, Math.floor(height)), axis: 0 });
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
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
    if (!this.width) return;
    const { data, options, width, height, ratio, measure, axis, cross, canvas } = this;
    if (!data) return this.blank();
    const plan = makePlan(data, { ...options, width, height, ratio, measure, axis }, this.window);
    Object.assign(this, { plan, axis: plan.axisWidth });
    if (cross) plan.cross = this.cross = { ...cross, bar: Math.min(Math.max(cross.bar, plan.i0), plan.last) };
    if (!cross && this.aimed) plan.aim = this.aimed;
    paint(this.ctx, plan);
    const aim = this.aim();
    options.onAim?.(aim && priceText(aim, data.precision));
    const label = `Chart of ${data.symbol}, ${data.interval}, ${plan.i1 - plan.i0} bars`;
    if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label);
    if (this.details.open) this.filling ??= setTimeout(() => this.fillTable(), 300);
  }

  /** blank paints a chart without data. */
  blank() {
    const { ctx, canvas: { width, height }, ratio, options } = this;
    const { back, axis } = coloursOf(options.theme);
    ctx.fillStyle = back;
    ctx.fillRect(0, 0, width, height);
    Object.assign(ctx, { fillStyle: axis, font: fontOf(14 * ratio, 400), textAlign: 'center', textBaseline: 'middle' });
    ctx.fillText('No bars yet', width / 2, height / 2);
    ctx.textAlign = 'start';
  }

  /** fillTable lists the bars in view, if the table is open. */
  fillTable() {
    clearTimeout(this.filling);
    this.filling = undefined;
    if (!this.details.open || !this.plan) return;
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
