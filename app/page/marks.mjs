// Marks and texts within the plots: triangles at signals, arrows at fills, their names and those of levels and the
// caller's drawings, and the highest and lowest price. What has no room is counted in the legend.
import { axisText, isInside, levelName } from './axis.mjs';
import { namedText, usable } from './format.mjs';
import { signalName, toneInk } from './look.mjs';
import { barAt, barX, crossAt, timeX } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

const markShare = 0.1; // of a pane's area that marks may cover
const mostStacked = 3; // marks on top of each other at one bar
const newestNamed = 3; // marks of a pane whose names are written
const namedBeyond = 3; // levels beyond an edge that are named there

/** Room puts texts where they hide neither data nor marks nor each other. */
export class Room {
  constructor(p, pane, marks) {
    const { px } = p.m;
    const rows = pane.price ? [p.data.close[p.newest], ...p.levels.map(l => l.price)].map(v => rowOf(pane.scale, v)) : [];
    const taken = marks.map(k => ({ x: k.x - k.w / 2, width: k.w, top: k.up ? k.tip : k.tip - k.h, height: k.h }));
    if (pane.price) for (const l of p.levels.filter(l => l.movable)) taken.push({ x: crossAt(p) - px(9), width: px(18), top: rowOf(pane.scale, l.price) - px(9), height: px(18) });
    Object.assign(this, { p, pane, rows, taken, texts: [], height: p.m.mark + px(4) });
  }

  /** widthOf returns the width of a text. */
  widthOf = text => this.p.o.measure(text, this.p.m.mark, 500);

  /** put adds a text at the first free one of some places and reports whether there was one. A place is its left end,
   * its middle row, and the line that leads to it, if there is one. */
  put(text, ink, places) {
    const { p: { m, axisX }, pane, height } = this;
    const width = this.widthOf(text);
    for (const [x, y, leader] of places) {
      const box = { text, ink, x, y, width, top: y - height / 2, height, leader };
      const inside = x >= m.px(2) && x + width <= axisX - m.px(2) && box.top >= pane.legendEnd && box.top + height <= pane.floor;
      // The gap is between the grounds of two texts.
      if (!inside || this.covers(box, m.px(5)) || (leader && this.covers(leader))) continue;
      this.taken.push(box, ...(leader ? [leader] : []));
      this.texts.push(box);
      return true;
    }
    return false;
  }

  /** covers reports whether a box lies over bars, lines or levels, or within a gap of marks and texts. A name stays
   * further away from the price of a wick, which alone has the ink text: it would be taken for that of the name. */
  covers({ x, width, top, height, ink }, gap = 0) {
    const { p, pane } = this;
    const touches = b => {
      const away = b.text && (b.ink === 'text') !== (ink === 'text') ? 4 * height : gap;
      return x < b.x + b.width + away && b.x < x + width + away && top < b.top + b.height && b.top < top + height;
    };
    const within = (a, b) => Math.min(a, b) < top + height && Math.max(a, b) > top;
    if (this.taken.some(touches) || this.rows.some(y => within(y, y))) return true;
    const row = v => yOf(pane.scale, v);
    for (let [i, last] = [barAt(p, x), barAt(p, x + width)]; i <= last; i++) {
      if (pane.price && within(row(p.drawn.high[i]), row(p.drawn.low[i]))) return true;
      for (const st of pane.studies) {
        if (st.lines.some(l => usable(l.values[i]) && within(row(l.values[i]), row(l.values[i + 1] ?? l.values[i])))) return true;
        if (st.histogram.some(h => usable(h.values[i]) && within(row(0), row(h.values[i])))) return true;
      }
    }
    return false;
  }

  /** beyond puts a text below the end of a wick or a mark if side is 1, above it if side is -1: in the middle, or
   * shifted to either side, or a little further away. */
  beyond(text, ink, x, y, side) {
    const { m, axisX } = this.p;
    const width = this.widthOf(text);
    const lefts = [x - width / 2, x + m.px(8) - width, x - m.px(8)].map(left => Math.min(Math.max(left, m.px(2)), axisX - width - m.px(2)));
    return this.put(text, ink, [5, 13, 21, 29].flatMap(away => lefts.map(left => [left, y + side * (m.mark / 2 + m.px(away))])));
  }

  /** beside puts a text to the right or left of what it names, which reaches half to either side of x at row y, the
   * nearest free place first. From some distance on a dotted line leads to it. */
  beside(text, ink, x, half, y, row = y) {
    const { px, thin } = this.p.m;
    const width = this.widthOf(text);
    const leader = (from, off) => (off < px(10) ? undefined : { x: from, width: off - px(5), top: y, height: thin });
    return this.put(text, ink, Array.from({ length: 18 }, (_, k) => px(3 + 8 * k)).flatMap(off => [
      [x + half + off, row, leader(x + half + px(5), off)], [x - half - off - width, row, leader(x - half - off, off)]]));
  }

  /** near puts a text at the free place nearest to a point, searching outwards. */
  near(text, ink, x, y) {
    const width = this.widthOf(text);
    const ring = d => [[0, -d], [0, d], [d, 0], [-width - d, 0], [-width / 2, -d], [-width / 2, d], [-width, -d], [-width, d]];
    return this.put(text, ink, Array.from({ length: 14 }, (_, i) => this.p.m.px(8 + 10 * i)).flatMap(d => ring(d).map(([dx, dy]) => [x + dx, y + dy])));
  }

  /** along puts a text on one of some rows, as far right as there is room, but not left of from. */
  along(text, ink, rows, step, from) {
    const { px } = this.p.m;
    const places = function* (begin) {
      for (let x = begin; x >= from; x -= px(step)) for (const row of rows) yield [x, row];
    };
    return Boolean(text) && this.put(text, ink, places(this.p.axisX - this.widthOf(text) - px(2)));
  }

  /** atEdge puts a text at the upper or the lower edge, or where that is full a few rows further in. */
  atEdge(text, ink, upper) {
    const { pane, height } = this;
    const rows = [0.5, 1, 1.5, 2, 2.5, 3].map(row => (upper ? pane.legendEnd + row * height : pane.floor - row * height));
    return rows.some(row => this.along(text, ink, [row], 6, this.p.m.px(2)));
  }

  /** nameEnd puts a text above or below the line at a row, or so far off it. */
  nameEnd(text, ink, row, from = 0, off = 0) {
    const away = (this.height + this.p.m.px(4)) / 2 + off;
    return this.along(text, ink, [row - away, row + away], 12, from);
  }

  /** nameAway is like nameEnd for a text that has no room at its line: up to three lines of text away, and if it must
   * with its words cut short before its numbers: a stop for 20 is not one for 2. */
  nameAway(text, ink, row, words, numbers) {
    const short = words.length > 12 ? words.slice(0, 11).replace(/ \w*$/, '') + '…' + numbers : text;
    return [text, short].some(one => [0, 0.5, 1, 1.5, 2, 2.5, 3].some(lines => this.nameEnd(one, ink, row, 0, lines * this.height)));
  }
}

/** marksOf returns the triangles of a pane: {x, tip, w, h, up, ink, text, named, pale}, those of fills first. Unless
 * all are named, older ones of a kind are pale. */
export function marksOf(p, pane) {
  const rows = pane.floor - pane.legendEnd;
  const h = Math.min(Math.max(Math.floor(0.03 * rows), p.m.px(5)), p.m.px(9));
  const w = Math.floor((h * 4) / 3);
  const stacked = new Map();
  // An arrow of a fill has its tip at the bar and the price, and the colour of text, which no signal has.
  const marks = (pane.price && p.o.fills ? p.o.fills : []).map(f => ({ x: timeX(p, f.time), tip: rowOf(pane.scale, f.price), w: p.m.px(10), h: p.m.px(10), up: f.buy, ink: 'text', text: '' }));
  const shown = s => p.o.signals !== 'off' && !s.silent && s.x >= p.i0 && s.x < p.i1 && (pane.price || usable(s.y));
  const signals = pane.studies.flatMap(st => st.signals.filter(shown).map(s => ({ ...s, shade: st.shade }))).sort((a, b) => a.x - b.x);
  pane.unmarked = signals.length;
  const kind = s => `${s.tone} ${s.label}`;
  const newest = new Map(signals.map(s => [kind(s), s]));
  const most = Math.min(Math.floor((rows * p.axisX * markShare) / 2 / (w * h)), Math.floor(p.axisX / (3 * w)));
  for (const s of p.o.signals === 'labels' ? thinned(p, signals, most) : signals) {
    const up = s.tone === 'up' || (s.tone !== 'down' && pane.price && s.y <= p.data.close[s.x]);
    const key = s.x * 2 + (up ? 1 : 0);
    const level = stacked.get(key) ?? 0;
    if (level >= mostStacked) continue;
    stacked.set(key, level + 1);
    const from = rowOf(pane.scale, pane.price ? p.drawn[up ? 'low' : 'high'][s.x] : s.y);
    const away = p.m.px(4) + level * (h + p.m.px(3));
    marks.push({ x: barX(p, s.x), tip: up ? from + away : from - away, w, h, up, ink: s.shade ?? toneInk(s.tone, 'amber'), text: signalName(s.label), named: s.awaited,
      pale: p.o.signals !== 'labels' && !s.awaited && newest.get(kind(s)) !== s && !s.label.includes('div') });
    pane.unmarked--;
  }
  return marks;
}

/** thinned returns at most most signals: the newest of each stretch of bars, or rather one that an alert waits for. */
function thinned(p, signals, most) {
  if (signals.length <= most) return signals;
  const kept = new Map();
  for (const s of signals) {
    const stretch = Math.floor(((s.x - p.i0) * most) / (p.i1 - p.i0));
    if (s.awaited || !kept.get(stretch)?.awaited) kept.set(stretch, s);
  }
  return [...kept.values()];
}

/** textsOf returns the texts of a pane: {text, ink, x, y, width, top, height, leader}. */
export function textsOf(p, pane, marks) {
  const room = new Room(p, pane, marks);
  if (pane.price) {
    putBeyond(p, pane, room);
    putExtremes(p, room);
    putMarkTexts(p, pane, room);
    putLevelNames(p, pane, room);
    // The header says it if neither a row of the legend nor a place in the plot does.
    const told = pane.unmarked === 0 || pane.rows > 0 || room.atEdge(`${pane.unmarked} more not drawn`, 'axis', true);
    p.untold = told ? 0 : pane.unmarked;
  }
  const tall = pane.floor - pane.legendEnd >= p.m.px(60);
  if (p.m.compact || p.o.signals === 'marks' || !tall) return room.texts;
  const signals = marks.filter(k => k.text && (!k.pale || p.o.signals === 'labels'));
  const newest = p.o.signals === 'labels' ? signals : signals.slice(-newestNamed);
  for (const k of new Set([...signals.filter(k => k.named), ...newest.reverse()])) {
    const side = k.up ? 1 : -1;
    if (!room.beyond(k.text, k.ink, k.x, k.tip + side * k.h, side)) room.beside(k.text, k.ink, k.x, k.w / 2, k.tip + (side * k.h) / 2);
  }
  return room.texts;
}

/** putBeyond names at the upper and the lower edge the levels that lie beyond it, the nearest first, by their price
 * alone where there is no more room, and counts the others. */
function putBeyond(p, pane, room) {
  for (const [arrow, upper] of [['↑ ', true], ['↓ ', false]]) {
    const beyond = p.levels.filter(l => usable(l.price) && !isInside(pane, l.price) && yOf(pane.scale, l.price) < pane.top === upper);
    beyond.sort((a, b) => (upper ? a.price - b.price : b.price - a.price));
    const named = beyond.slice(0, namedBeyond).filter(l => [withPrice(p, l), axisText(p, l.price, true)].some(text => room.atEdge(arrow + text, l.ink, upper)));
    const left = beyond.length - named.length;
    if (left > 0 && !room.atEdge(`${arrow}+${left}`, 'axis', upper)) pane.unmarked += left;
  }
}

/** putExtremes writes the highest and the lowest price in the window. */
function putExtremes(p, room) {
  if (p.m.compact || p.kind === 'heikin_ashi' || p.i1 - p.i0 < 2) return;
  const ends = [[p.drawn.high, -1], [p.drawn.low, 1]].map(([values, side]) => {
    let best = p.i0;
    for (let i = p.i0; i < p.i1; i++) if (side * values[i] < side * values[best]) best = i;
    return { value: values[best], side, x: barX(p, best) };
  });
  if (ends[0].value === ends[1].value) return;
  for (const { value, side, x } of ends) {
    const [text, y] = [axisText(p, value, true), yOf(p.panes[0].scale, value)];
    const half = Math.max(p.m.px(2), p.pitch / 2); // of the bar
    if (!room.beyond(text, 'text', x, y, side)) [0, -1, 1].some(to => room.beside(text, 'text', x, half, y, y + to * (p.m.mark / 2)));
  }
}

/** putMarkTexts writes the texts of the caller's zones, lines and texts near what they name, if that is in view. */
function putMarkTexts(p, pane, room) {
  for (const k of p.marks.filter(k => k.text && k.type !== 'level')) {
    let [x, y] = [timeX(p, k.time), rowOf(pane.scale, k.price)];
    if (k.type === 'zone') {
      const [left, top, right, bottom] = zoneBox(p, pane, k);
      if (right < 0 || left > p.axisX || bottom < pane.legendEnd || top > pane.floor) continue;
      [x, y] = [Math.max(left, 0), Math.max(top, pane.legendEnd)];
    } else if (k.type === 'line') { // in the middle of what is between the sides of the plot
      const path = linePath(p, pane, k);
      x = (Math.max(path[0][0], 0) + Math.min(path.at(-1)[0], p.axisX)) / 2;
      const [a, b] = path.slice(Math.max(0, path.findLastIndex((at, i) => i < path.length - 1 && at[0] <= x)));
      y = a[1] + ((x - a[0]) / (b[0] - a[0] || 1)) * (b[1] - a[1]);
    }
    const seen = x >= 0 && x <= p.axisX && y >= pane.legendEnd && y <= pane.floor;
    if (seen && !room.near(k.text, toneInk(k.color, 'amber'), x, y)) pane.unmarked++;
  }
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

/** withPrice returns the text of a level followed by its value on the axis, unless the text contains the price
 * already: a percentage after that would look like the profit. */
function withPrice(p, { text, price }) {
  return text.includes(namedText(p.data, price)) ? text : (text + ' ' + axisText(p, price, true)).trim();
}

/** putLevelNames writes the names of levels that no tag names at the end of their lines, or counts them, and
 * those of lines that hold a value for a session if a study has several. */
function putLevelNames(p, pane, room) {
  for (const l of p.levels.filter(l => isInside(pane, l.price))) {
    const row = rowOf(pane.scale, l.price);
    const told = pane.tags.some(t => t.y === row && t.outline);
    const text = told ? l.text : withPrice(p, l);
    const { numbers = '' } = l; // the end of the text that is never cut off
    const words = l.text.slice(0, l.text.length - numbers.length);
    if (text && !room.nameEnd(text, l.ink, row) && !room.nameAway(withPrice(p, l), l.ink, row, words, `${numbers} ${axisText(p, l.price, true)}`)) pane.unmarked++;
  }
  if (p.m.compact) return; // no room for names that stand in the legend too
  for (const st of pane.studies) {
    for (const h of st.hlines) {
      const name = levelName(pane, st, h);
      if (usable(h.y) && !pane.tags.some(t => t.text.startsWith(name + ' '))) room.nameEnd(name, toneInk(h.tone, 'band'), rowOf(pane.scale, h.y));
    }
    if (st.lines.length < 3) continue;
    st.lines.forEach((l, i) => {
      const v = l.values[p.last];
      if (l.style !== 'step' || !usable(v)) return;
      const from = l.values.findLastIndex((other, k) => k < p.last && other !== v) + 1;
      room.nameEnd((l.label ?? '').slice(0, 16), st.lineLooks[i].ink, rowOf(pane.scale, v), p.x0 + from * p.pitch);
    });
  }
}
