// Painting what lies under the data: regions between lines, shaded bars, the caller's
// zones, the area below a line of closes, and the bars of profiles.
import { usable } from './format.mjs';
import { windowEnd } from './lines.mjs';
import { areaInk, toneInk } from './look.mjs';
import { zoneBox } from './marks.mjs';
import { box, fill, through } from './pen.mjs';
import { barX, columnAt } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** paintAreas draws what lies at the bottom of a pane. */
export function paintAreas(p, pane) {
  let profile = 'profile'; // of the first study that has one
  for (const st of pane.studies) {
    for (const { from, to } of st.shaded) paintStretch(p, pane, from, to + 1, st.shade);
    paintProfile(p, pane, st.hbars, profile);
    if (st.hbars.length > 0) profile = 'osc';
    if (isCandles(st)) {
      paintAveraged(p, pane, st.lines.map(l => l.values));
      continue;
    }
    const step = st.lines.some(l => l.style === 'step'); // then all of its fills do
    for (const f of st.fills) {
      const above = areaInk(st, f.tone);
      paintFill(p, pane, f, above, f.below ? areaInk(st, f.below) : above, step);
    }
  }
  if (!pane.price) return;
  for (const k of p.marks.filter(k => k.type === 'zone')) {
    const [left, top, right, bottom] = zoneBox(p, pane, k);
    const end = Math.min(bottom, pane.floor); // above the volume
    if (end > top) box(p, toneInk(k.color, 'amber'), left, top, right - left, end - top, 'weak');
  }
  if (p.kind === 'area') paintBelow(p, pane);
}

/** isCandles reports whether the lines of an overlay are the four prices of candles. */
export const isCandles = st => Boolean(st.is_overlay) && st.lines.map(l => l.label).join() === 'Open,High,Low,Close';

/** paintAveraged draws candles of other prices under the chart's own, as wide as a bar and its
 * gap, with what is under them shining through. */
function paintAveraged(p, pane, columns) {
  for (let i = p.i0; i < p.i1; i++) {
    const values = columns.map(column => column[i]);
    if (!values.every(usable)) continue;
    const [open, high, low, close] = values.map(v => rowOf(pane.scale, v));
    const [left, right] = [i, i + 1].map(k => Math.floor(p.x0 + k * p.pitch));
    const [top, ink] = [Math.min(open, close), values[3] >= values[0] ? 'up' : 'down'];
    const bottom = Math.max(open, close, top + p.m.thin);
    box(p, ink, left, top, Math.max(right - left, 1), bottom - top, 'strong');
    const x = columnAt(p, i) - (p.wick >> 1);
    box(p, ink, x, high, p.wick, top - high, 'strong');
    box(p, ink, x, bottom, p.wick, low - bottom, 'strong');
  }
}

/** paintStretch shades bars from top to bottom. */
function paintStretch(p, pane, from, to, ink) {
  if (to <= p.i0 || from >= p.i1) return;
  const [left, right] = [from, to].map(i => Math.trunc(p.x0 + i * p.pitch));
  box(p, ink, left, pane.y, Math.max(1, right - left), pane.end - pane.y, 'fill');
}

const mostProfile = 0.3; // of the plot that the longest profile bar may take

/** paintProfile draws horizontal bars from either edge; base is the ink of those
 * without a meaning of their own. */
function paintProfile(p, pane, bars, base) {
  const longest = Math.max(1e-9, ...bars.map(b => b.width + b.offset).filter(usable));
  const unit = p.axisX * Math.min(1, mostProfile / longest);
  for (const b of bars) {
    if (!usable(b.y) || !usable(b.height) || !(b.width > 0) || !(b.offset >= 0)) continue;
    const [top, end] = [b.y + b.height / 2, b.y - b.height / 2].map(v => rowOf(pane.scale, v));
    const rows = end - top >= 3 ? end - top - 1 : end - top; // a gap between neighbours
    const from = Math.floor(b.offset * unit + 0.5);
    const width = Math.max(Math.floor((b.offset + b.width) * unit + 0.5), from + 1) - from;
    const level = b.tone === 'accent' ? 'poc' : b.strong ? 'strong' : 'weak';
    const ink = b.tone === 'band' || b.tone === 'muted' ? base : toneInk(b.tone, base);
    box(p, ink, b.left ? from : p.axisX - from - width, top, width, Math.max(rows, 1), level);
  }
}

/** paintFill shades the region between two series and changes its ink exactly where
 * they cross. Steps hold a bar's values over its whole width, in the columns of its lines. */
function paintFill(p, pane, { y1, y2 }, above, below, step) {
  const end = Math.min(windowEnd(p, y1), windowEnd(p, y2));
  const pieces = { [above]: [], [below]: [] };
  for (let i = Math.max(0, p.i0 - 1); i + (step ? 0 : 1) < end; i++) {
    const next = step ? i : i + 1;
    const values = [y1[i], y2[i], y1[next], y2[next]];
    if (!values.every(usable)) continue;
    const [a1, a2, b1, b2] = values.map(v => (step ? rowOf : yOf)(pane.scale, v));
    const [xa, xb] = [i, i + 1].map(k => (step ? Math.floor(p.x0 + k * p.pitch) : barX(p, k)));
    const inkA = values[0] >= values[1] ? above : below;
    const inkB = values[2] >= values[3] ? above : below;
    if (inkA === inkB) {
      pieces[inkA].push(through([[xa, a1], [xb, b1], [xb, b2], [xa, a2]]));
    } else {
      const t = (values[0] - values[1]) / (values[0] - values[1] - (values[2] - values[3])); // where on the way they cross
      const cross = [xa + t * (xb - xa), a1 + t * (b1 - a1)];
      pieces[inkA].push(through([[xa, a1], cross, [xa, a2]]));
      pieces[inkB].push(through([[xb, b1], cross, [xb, b2]]));
    }
  }
  for (const [ink, traces] of Object.entries(pieces)) fill(p, ink, ctx => traces.forEach(trace => trace(ctx)), 'fill');
}

/** paintBelow shades what lies below the line of closes. */
function paintBelow(p, pane) {
  const points = [];
  for (let i = p.i0; i < p.i1; i++) points.push([barX(p, i), yOf(pane.scale, p.data.close[i])]);
  fill(p, 'profile', through([[points[0][0], pane.floor], ...points, [points.at(-1)[0], pane.floor]]), 'fill');
}
