// Signals: a triangle next to its bar, below it for up and above it for down. What
// finds no room is left out evenly, and the legend counts all.
import { priceText, usable } from './format.mjs';
import { toneInk } from './inks.mjs';
import { signalName } from './legend.mjs';
import { barAt, barX } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

const markShare = 0.1; // of a pane's area that marks may cover
const mostStacked = 3; // marks on top of each other at one bar
const newestNamed = 3; // marks of a pane whose names are written

/** marksOf returns the triangles of a pane: {x, tip, w, h, up, ink, text}. */
export function marksOf(p, pane) {
  if (p.o.signals === 'off') return [];
  const rows = pane.floor - pane.legendEnd;
  const h = Math.min(Math.max(Math.floor(0.03 * rows), p.m.px(5)), p.m.px(9));
  const w = Math.floor((h * 4) / 3);
  const most = Math.min(Math.floor((rows * p.axisX * markShare) / 2 / (w * h)), Math.floor(p.axisX / (3 * w)));
  const stacked = new Map();
  const marks = [];
  for (const s of thinned(p, paneSignals(p, pane), most)) {
    const up = s.tone !== 'down';
    const key = s.x * 2 + (up ? 1 : 0);
    const level = stacked.get(key) ?? 0;
    if (level >= mostStacked) continue;
    stacked.set(key, level + 1);
    const from = pane.price ? rowOf(pane.scale, up ? p.drawn.low[s.x] : p.drawn.high[s.x]) : rowOf(pane.scale, s.y);
    const away = p.m.px(4) + level * (h + p.m.px(3));
    const tip = up ? from + away : from - away;
    marks.push({ x: barX(p, s.x), tip, w, h, up, ink: toneInk(s.tone, 'amber'), text: signalName(s.label) });
  }
  return marks;
}

/** paneSignals returns the signals of a pane in the window, by bar. */
function paneSignals(p, pane) {
  const all = [];
  for (const st of pane.studies) {
    for (const s of st.signals) {
      if (!s.silent && s.x >= p.i0 && s.x < p.i1 && p.data.valid[s.x] && (pane.price || usable(s.y))) all.push(s);
    }
  }
  return all.sort((a, b) => a.x - b.x);
}

/** thinned returns at most most signals, spread evenly over the bars: these are divided
 * into as many stretches, of which each keeps its newest signal. */
function thinned(p, signals, most) {
  if (signals.length <= most) return signals;
  const kept = new Map();
  for (const s of signals) kept.set(Math.floor(((s.x - p.i0) * most) / (p.i1 - p.i0)), s);
  return [...kept.values()];
}

/** markNames returns the names to write beside marks: of the newest few, or of all,
 * each where it hides no data and touches no other. Steps further away from the mark
 * are tried; a name without room is left to the legend. */
export function markNames(p, pane, marks) {
  const tall = pane.floor - pane.legendEnd >= p.m.px(60);
  if (p.m.compact || p.o.signals === 'marks' || !tall) return [];
  const wanted = p.o.signals === 'labels' ? marks : marks.slice(-newestNamed);
  const placed = [];
  for (const mark of [...wanted].reverse()) {
    const width = p.o.measure(mark.text, p.m.mark, 500);
    const x = Math.min(Math.max(mark.x - width / 2, p.m.px(2)), p.axisX - width - p.m.px(2));
    for (let away = 0; away < 4; away++) {
      const far = away * p.m.mark;
      const y = mark.up ? mark.tip + mark.h + p.m.mark + far : mark.tip - mark.h - p.m.px(6) - far;
      const box = { x, y, width, text: mark.text, ink: mark.ink };
      const touches = placed.some(b => x < b.x + b.width && b.x < x + width && Math.abs(b.y - y) < p.m.mark + p.m.px(2));
      if (touches || y < pane.legendEnd + p.m.mark || y > pane.floor - p.m.mark || hides(p, pane, box)) continue;
      placed.push(box);
      break;
    }
  }
  return placed;
}

/** hides reports whether a text would cover bars or lines of its pane. */
function hides(p, pane, box) {
  const [top, bottom] = [box.y - p.m.mark / 2 - p.m.px(2), box.y + p.m.mark / 2 + p.m.px(2)];
  const within = (a, b) => Math.min(a, b) < bottom && Math.max(a, b) > top;
  const row = v => yOf(pane.scale, v);
  const last = barAt(p, box.x + box.width);
  for (let i = barAt(p, box.x); i <= last; i++) {
    if (pane.price && p.data.valid[i] && within(row(p.drawn.high[i]), row(p.drawn.low[i]))) return true;
    for (const st of pane.studies) {
      if (st.lines.some(l => usable(l.values[i]) && within(row(l.values[i]), row(l.values[i + 1] ?? l.values[i])))) return true;
      if (st.histogram.some(h => usable(h.values[i]) && within(row(0), row(h.values[i])))) return true;
    }
  }
  return false;
}

/** extremesOf returns labels for the highest and the lowest price in the window. */
export function extremesOf(p) {
  if (p.m.compact || p.kind === 'heikin_ashi' || p.i1 - p.i0 < 2) return [];
  let high = -1;
  let low = -1;
  for (let i = p.i0; i < p.i1; i++) {
    if (!p.data.valid[i]) continue;
    if (high < 0 || p.drawn.high[i] > p.drawn.high[high]) high = i;
    if (low < 0 || p.drawn.low[i] < p.drawn.low[low]) low = i;
  }
  if (high < 0) return [];
  const label = (i, v, above) => {
    const text = priceText(v, p.data.precision);
    const width = p.o.measure(text, p.m.mark, 500);
    const x = Math.min(Math.max(barX(p, i) - width / 2, p.m.px(4)), p.axisX - width - p.m.px(4));
    const row = yOf(p.panes[0].scale, v);
    return { text, x, y: above ? row - p.m.px(9) : row + p.m.px(11), ink: 'axis', width };
  };
  return [label(high, p.drawn.high[high], true), label(low, p.drawn.low[low], false)];
}
