// Marks and texts within the plots: triangles at signals, arrows at fills, their names and those of levels and the
// caller's drawings, and the highest and lowest price. What has no room is counted in the legend.
import { axisText, isInside } from './axis.mjs';
import { namedText, usable } from './format.mjs';
import { signalName, toneInk } from './look.mjs';
import { barAt, barX, crossAt, timeX } from './plan.mjs';
import { rowOf, valueAt, yOf } from './scale.mjs';

const newestNamed = 3; // marks of a pane whose names are written
const namedBeyond = 3; // levels beyond an edge that are named there

/** Room finds places for the texts of a pane, which never lie over each other or over a button. */
class Room {
  constructor(p, pane) {
    const buttons = pane.price ? p.levels.filter(l => l.movable).map(l => ({ x: crossAt(p) - p.m.px(9), width: p.m.px(18), y: rowOf(pane.scale, l.price) })) : [];
    Object.assign(this, { p, pane, texts: [], buttons, height: p.m.text + p.m.px(4) });
  }

  /** put adds a text at the first of some places, each its left end and its middle row, where it hides no data, and
   * reports whether there was one. One that must be read may hide some. */
  put(text, ink, places, must) {
    const { p, pane, height } = this;
    const width = p.widthOf(text);
    const top = pane.y + pane.rows * p.m.rowH;
    const apart = ([x, y]) => [...this.texts, ...this.buttons].every(t => Math.abs(t.y - y) >= height || x >= t.x + t.width + p.m.px(5) || t.x >= x + width + p.m.px(5));
    const inside = ([x, y]) => x >= 0 && x + width <= p.axisX && y - height / 2 >= top && y + height / 2 <= pane.floor;
    const free = places.filter(place => inside(place) && apart(place));
    const best = free.find(([x, y]) => !this.hides(x, y, width)) ?? (must && free[0]);
    if (best) this.texts.push({ text, ink, x: best[0], y: best[1], width });
    return Boolean(best);
  }

  /** hides reports whether a text would lie over the bars of the price or the lines of a panel. */
  hides(x, y, width) {
    const { p, pane: { price, scale, studies }, height } = this;
    const [top, bottom] = [y - height / 2, y + height / 2].map(row => valueAt(scale, row));
    const ranges = price ? [[p.drawn.low, p.drawn.high]] : studies[0].lines.map(l => [l.values, l.values]);
    const last = barAt(p, x + width);
    for (let i = barAt(p, x); i <= last; i++) { // and the way to the next one
      if (ranges.some(([low, high]) => Math.min(low[i], low[i + 1] ?? low[i]) < top && Math.max(high[i], high[i + 1] ?? high[i]) > bottom)) return true;
    }
    return false;
  }

  /** beyond puts a text below the place of something if side is 1, above it if side is -1. */
  beyond(text, ink, x, y, side, must) {
    const { px } = this.p.m;
    const width = this.p.widthOf(text);
    const left = Math.min(Math.max(x - width / 2, 0), this.p.axisX - width);
    return this.put(text, ink, [1, 2].flatMap(k => [left, x - width - px(6), x + px(6)].map(at => [at, y + side * ((k - 0.5) * this.height + px(4))])), must);
  }

  /** along puts a text on one of some rows, as far right as there is room. */
  along(text, ink, rows, right, must) {
    const step = this.p.m.px(16);
    const begin = right - this.p.widthOf(text);
    return this.put(text, ink, Array.from({ length: Math.max(0, Math.ceil(begin / step)) }, (_, k) => begin - k * step).flatMap(x => rows.map(row => [x, row])), must);
  }
}

/** marksOf returns the triangles of a pane: {x, tip, w, h, up, ink, text, named, pale}, those of fills first. Unless
 * all are named, older ones of a kind are pale. */
export function marksOf(p, pane) {
  const { px } = p.m;
  const [w, h] = [px(8), px(6)];
  const stacked = new Map();
  // An arrow of a fill has its tip at the bar and the price, and the colour of text, which no signal has.
  const marks = (pane.price && p.o.fills ? p.o.fills : []).map(f => ({ x: timeX(p, f.time), tip: rowOf(pane.scale, f.price), w: px(10), h: px(10), up: f.buy, ink: 'text', text: '' }));
  const shown = s => p.o.signals !== 'off' && !s.silent && s.x >= p.i0 && s.x < p.i1 && (pane.price || usable(s.y));
  const signals = pane.studies.flatMap(st => st.signals.filter(shown).map(s => ({ ...s, shade: st.shade }))).sort((a, b) => a.x - b.x);
  const kind = s => `${s.tone} ${s.label}`;
  const newest = new Map(signals.map(s => [kind(s), s]));
  pane.unmarked = 0;
  for (const s of signals) {
    const up = s.tone === 'up' || (s.tone !== 'down' && pane.price && s.y <= p.data.close[s.x]);
    const key = up ? s.x : -s.x - 1;
    const level = stacked.get(key) ?? 0;
    stacked.set(key, level + 1);
    const from = rowOf(pane.scale, pane.price ? p.drawn[up ? 'low' : 'high'][s.x] : s.y);
    const away = px(4) + level * (h + px(3));
    marks.push({ x: barX(p, s.x), tip: up ? from + away : from - away, w, h, up, ink: s.shade ?? toneInk(s.tone, 'amber'), text: signalName(s.label), named: s.awaited,
      pale: p.o.signals !== 'labels' && !s.awaited && newest.get(kind(s)) !== s && !s.label.includes('div') });
  }
  return marks;
}

/** textsOf returns the texts of a pane: {text, ink, x, y, width}. */
export function textsOf(p, pane, marks) {
  const room = new Room(p, pane);
  if (pane.price) {
    putBeyond(p, pane, room);
    putLevels(p, pane, room);
    putOwn(p, pane, room);
    putExtremes(p, pane, room);
  }
  if (p.m.compact || p.o.signals === 'marks') return room.texts;
  const signals = marks.filter(k => k.text && (!k.pale || p.o.signals === 'labels'));
  const newest = p.o.signals === 'labels' ? signals : signals.slice(-newestNamed);
  for (const { text, ink, x, tip, h, up } of new Set([...signals.filter(k => k.named), ...newest.reverse()])) {
    room.beyond(text, ink, x, up ? tip + h : tip - h, up ? 1 : -1);
  }
  return room.texts;
}

/** putBeyond names at the upper and the lower edge the levels that lie beyond it, the nearest first, and counts the
 * others. */
function putBeyond(p, pane, room) {
  const top = pane.y + pane.rows * p.m.rowH;
  for (const [arrow, upper] of [['↑', true], ['↓', false]]) {
    const rows = Array.from({ length: namedBeyond + 1 }, (_, k) => (k + 0.6) * room.height).map(off => (upper ? top + off : pane.floor - off));
    const beyond = p.levels.filter(l => usable(l.price) && !isInside(pane, l.price) && yOf(pane.scale, l.price) < pane.top === upper);
    beyond.sort((a, b) => (upper ? a.price - b.price : b.price - a.price));
    const named = beyond.slice(0, namedBeyond).filter(l => [withPrice(p, l), axisText(p, l.price, true)].some(text => room.along(`${arrow} ${text}`, l.ink, rows, p.axisX, true)));
    const left = beyond.length - named.length;
    if (left > 0 && !room.along(`${arrow} +${left}`, 'axis', rows, p.axisX, true)) pane.unmarked += left;
  }
}

/** putLevels names the levels at the right end of their lines. */
function putLevels(p, pane, room) {
  for (const l of p.levels.filter(l => isInside(pane, l.price))) {
    const [row, off] = [rowOf(pane.scale, l.price), room.height / 2 + p.m.px(2)];
    const text = pane.tags.some(t => t.level === l) ? l.text : withPrice(p, l);
    const right = l.movable ? crossAt(p) - p.m.px(12) : p.axisX - p.m.px(4);
    if (text && !room.along(text, l.ink, [row - off, row + off, row - 2 * off, row + 2 * off], right, true)) pane.unmarked++;
  }
}

/** withPrice returns the text of a level followed by its value on the axis, unless the text contains the price
 * already: a percentage after that would look like the profit. */
function withPrice(p, { text, price }) {
  return text.includes(namedText(p.data, price)) ? text : (text + ' ' + axisText(p, price, true)).trim();
}

/** putOwn writes the texts of the caller's zones, lines and texts at what they name, if that is in view. */
function putOwn(p, pane, room) {
  for (const k of p.marks.filter(k => k.text && k.type !== 'level')) {
    let [x, y] = [timeX(p, k.time), rowOf(pane.scale, k.price)];
    if (k.type === 'zone') {
      const [left, top, right, bottom] = zoneBox(p, pane, k);
      [x, y] = [(Math.max(left, 0) + Math.min(right, p.axisX)) / 2, (top + bottom) / 2];
    } else if (k.type === 'line') {
      const [a, b] = linePath(p, pane, k).filter((_, i, all) => i === 0 || i === all.length - 1);
      x = (Math.max(a[0], 0) + Math.min(b[0], p.axisX)) / 2;
      y = a[1] + ((x - a[0]) / (b[0] - a[0] || 1)) * (b[1] - a[1]);
    }
    if (x < 0 || x > p.axisX || y < pane.y || y > pane.floor) continue;
    const ink = toneInk(k.color, 'amber');
    if (![false, true].some(must => [-1, 1].some(side => room.beyond(k.text, ink, x, y, side, must)))) pane.unmarked++;
  }
}

/** putExtremes writes the highest and the lowest price in the window. */
function putExtremes(p, pane, room) {
  if (p.m.compact || p.kind === 'heikin_ashi' || p.i1 - p.i0 < 2) return;
  const best = [[p.drawn.high, -1], [p.drawn.low, 1]].map(([values, side]) => {
    let bar = p.i0;
    for (let i = p.i0; i < p.i1; i++) if (side * values[i] < side * values[bar]) bar = i;
    return { bar, value: values[bar], side };
  });
  if (best[0].value === best[1].value) return;
  for (const { bar, value, side } of best) room.beyond(axisText(p, value, true), 'text', barX(p, bar), yOf(pane.scale, value), side);
}

/** zoneBox returns the corners of a caller's zone. Without a time it is at the edge. */
export function zoneBox(p, pane, k) {
  const left = k.time ? timeX(p, k.time) - p.pitch / 2 : 0;
  const right = k.time2 ? timeX(p, k.time2) + p.pitch / 2 : p.axisX;
  const [top, bottom] = [k.price, k.price2].map(v => rowOf(pane.scale, v)).sort((a, b) => a - b);
  return [Math.trunc(left), top, Math.ceil(Math.max(right, left)), Math.max(bottom, top + 1)];
}

/** linePath returns the points of a caller's line from left to right: its ends, and if one is beyond the bars, the
 * point at the first or last bar, by the share of the time. */
export function linePath(p, pane, k) {
  const { time, n } = p.data;
  const [a, b] = [[k.time, k.price], [k.time2, k.price2]].map(([t, v]) => ({ t, x: timeX(p, t) + 0.5, y: yOf(pane.scale, v) })).sort((one, other) => one.x - other.x);
  const bends = (n > 1 ? [0, n - 1] : [0]).map(i => ({ x: barX(p, i) + 0.5, y: a.y + ((b.y - a.y) * (time[i] - a.t)) / (b.t - a.t) }));
  return [a, ...bends.filter(({ x }) => a.x < x && x < b.x), b].map(({ x, y }) => [x, y]);
}
