// Marks and texts within the plots: a triangle next to the bar of a signal, an arrow at a
// fill of the account, the names of these, of levels and of the caller's own drawings,
// and the highest and lowest price. What has no room is counted in the legend.
import { axisText, isInside, levelName } from './axis.mjs';
import { namedText, usable } from './format.mjs';
import { signalName, toneInk } from './look.mjs';
import { barX, timeX } from './plan.mjs';
import { Room } from './room.mjs';
import { rowOf, yOf } from './scale.mjs';

const markShare = 0.1; // of a pane's area that marks may cover
const mostStacked = 3; // marks on top of each other at one bar
const newestNamed = 3; // marks of a pane whose names are written
const namedBeyond = 3; // levels beyond an edge that are named there

/** marksOf returns the triangles of a pane: {x, tip, w, h, up, ink, text, named, pale}, those
 * of fills first. Unless all are named, older ones of a kind are pale. */
export function marksOf(p, pane) {
  const rows = pane.floor - pane.legendEnd;
  const h = Math.min(Math.max(Math.floor(0.03 * rows), p.m.px(5)), p.m.px(9));
  const w = Math.floor((h * 4) / 3);
  const stacked = new Map();
  const marks = pane.price ? fillMarks(p, pane) : [];
  const signals = paneSignals(p, pane);
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

/** fillMarks returns an arrow per fill with its tip at the bar and the price: from below
 * for a purchase, from above for a sale. Its colour is that of text, which no signal has. */
function fillMarks(p, pane) {
  const size = p.m.px(10);
  return (p.o.fills ?? []).map(f => ({ x: timeX(p, f.time), tip: rowOf(pane.scale, f.price), w: size, h: size, up: f.buy, ink: 'text', text: '' }));
}

/** paneSignals returns the signals of a pane in the window, by bar. */
function paneSignals(p, pane) {
  if (p.o.signals === 'off') return [];
  const shown = s => !s.silent && s.x >= p.i0 && s.x < p.i1 && (pane.price || usable(s.y));
  return pane.studies.flatMap(st => st.signals.filter(shown).map(s => ({ ...s, shade: st.shade }))).sort((a, b) => a.x - b.x);
}

/** thinned returns at most most signals, spread evenly: of each of so many stretches of bars
 * the newest, or rather one that an alert waits for. */
function thinned(p, signals, most) {
  if (signals.length <= most) return signals;
  const kept = new Map();
  for (const s of signals) {
    const stretch = Math.floor(((s.x - p.i0) * most) / (p.i1 - p.i0));
    if (s.awaited || !kept.get(stretch)?.awaited) kept.set(stretch, s);
  }
  return [...kept.values()];
}

/** textsOf returns the texts of a pane: {text, ink, x, y, width, top, height}. */
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
    const middle = k.tip + (side * k.h) / 2;
    if (!room.beyond(k.text, k.ink, k.x, k.tip + side * k.h, side)) room.beside(k.text, k.ink, [k.x - k.w / 2, k.x + k.w / 2], middle, middle, p.m.px(140));
  }
  return room.texts;
}

/** putExtremes writes the highest and the lowest price in the window. */
function putExtremes(p, room) {
  if (p.m.compact || p.kind === 'heikin_ashi' || p.i1 - p.i0 < 2) return;
  const ends = [[p.drawn.high, -1], [p.drawn.low, 1]].map(([values, side]) => {
    let best = p.i0;
    for (let i = p.i0; i < p.i1; i++) if (side * values[i] < side * values[best]) best = i;
    return { values, side, best };
  });
  if (ends[0].values[ends[0].best] === ends[1].values[ends[1].best]) return;
  for (const { values, side, best } of ends) {
    const [text, x, y] = [axisText(p, values[best], true), barX(p, best), yOf(p.panes[0].scale, values[best])];
    const half = Math.max(p.m.px(2), p.pitch / 2); // of the bar
    const rows = [0, -1, 1].map(to => y + to * (p.m.mark / 2));
    if (!room.beyond(text, 'text', x, y, side)) rows.some(row => room.beside(text, 'text', [x - half, x + half], y, row, p.m.px(160)));
  }
}

/** zoneBox returns the corners of a caller's zone. Without a time it is at the edge. */
export function zoneBox(p, pane, k) {
  const left = k.time ? timeX(p, k.time) - p.pitch / 2 : 0;
  const right = k.time2 ? timeX(p, k.time2) + p.pitch / 2 : p.axisX;
  const [top, bottom] = [k.price, k.price2].map(v => rowOf(pane.scale, v)).sort((a, b) => a - b);
  return [Math.trunc(left), top, Math.ceil(Math.max(right, left)), Math.max(bottom, top + 1)];
}

/** linePath returns the points of a caller's line from left to right: its ends, and if one is
 * beyond the bars, the point at the first or last bar, by the share of the time. */
export function linePath(p, pane, k) {
  const { time, n } = p.data;
  let [a, b] = [[k.time, k.price], [k.time2, k.price2]].map(([t, v]) => ({ t, x: timeX(p, t) + 0.5, y: yOf(pane.scale, v) }));
  if (a.x > b.x) [a, b] = [b, a];
  const bends = (n > 1 ? [0, n - 1] : [0]).map(i => ({ x: barX(p, i) + 0.5, y: a.y + ((b.y - a.y) * (time[i] - a.t)) / (b.t - a.t) }));
  return [a, ...bends.filter(({ x }) => a.x < x && x < b.x), b].map(({ x, y }) => [x, y]);
}

/** inPlot returns the ends of the part of a path that is in the plot, the longest from left
 * to right, or undefined if there is none. */
function inPlot(p, pane, path) {
  // within cuts a segment to the part whose coordinate i is between lo and hi.
  const within = ([a, b], i, lo, hi) => {
    const cut = (from, to) => {
      const share = (Math.min(Math.max(from[i], lo), hi) - from[i]) / (to[i] - from[i] || 1);
      return from.map((c, k) => c + (to[k] - c) * share);
    };
    return Math.max(a[i], b[i]) < lo || Math.min(a[i], b[i]) > hi ? [] : [[cut(a, b), cut(b, a)]];
  };
  return path.slice(1).map((b, k) => [path[k], b])
    .flatMap(part => within(part, 1, pane.legendEnd, pane.end)).flatMap(part => within(part, 0, 0, p.axisX))
    .sort(([a, b], [c, d]) => d[0] - c[0] - b[0] + a[0])[0];
}

/** putMarkTexts writes the texts of the caller's zones, lines and texts near what they
 * name. What lies out of view needs none. */
function putMarkTexts(p, pane, room) {
  for (const k of p.marks.filter(k => k.text && k.type !== 'level')) {
    let [x, y] = [timeX(p, k.time), rowOf(pane.scale, k.price)];
    if (k.type === 'zone') {
      const [left, top, right, bottom] = zoneBox(p, pane, k);
      if (right < 0 || left > p.axisX || bottom < pane.legendEnd || top > pane.floor) continue;
      [x, y] = [Math.max(left, 0), Math.max(top, pane.legendEnd)];
    } else if (k.type === 'line') {
      const part = inPlot(p, pane, linePath(p, pane, k));
      if (!part) continue;
      [x, y] = [0, 1].map(i => (part[0][i] + part[1][i]) / 2);
    } else if (y < pane.legendEnd || y > pane.floor) continue;
    if (x >= 0 && x <= p.axisX && !room.near(k.text, toneInk(k.color, 'amber'), x, y)) pane.unmarked++;
  }
}

/** withPrice returns the text of a level followed by its value on the axis, unless the text
 * contains the price already: a percentage after that would look like the profit. */
function withPrice(p, { text, price }) {
  return text.includes(namedText(p.data, price)) ? text : (text + ' ' + axisText(p, price, true)).trim();
}

/** putBeyond names at the upper and the lower edge the levels that lie beyond it, the
 * nearest first, by their price alone where there is no more room, and counts the others. */
function putBeyond(p, pane, room) {
  for (const [arrow, upper] of [['↑ ', true], ['↓ ', false]]) {
    const beyond = p.levels.filter(l => usable(l.price) && !isInside(pane, l.price) && yOf(pane.scale, l.price) < pane.top === upper);
    beyond.sort((a, b) => (upper ? a.price - b.price : b.price - a.price));
    const named = beyond.slice(0, namedBeyond).filter(l => [withPrice(p, l), axisText(p, l.price, true)].some(text => room.atEdge(arrow + text, l.ink, upper)));
    const left = beyond.length - named.length;
    if (left > 0 && !room.atEdge(`${arrow}+${left}`, 'axis', upper)) pane.unmarked += left;
  }
}

/** putLevelNames writes the names of levels that no tag names at the end of their lines, and
 * those of lines that hold a value for a session if a study has several. A level of the
 * account or the caller whose name has no room is counted as not drawn. */
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
