// Painting a plan on a canvas, from the lowest layer to the text on top. Horizontal and
// vertical things are whole pixels; only slanted lines are smoothed.
import { isCandles, paintAreas } from './areas.mjs';
import { isInside, priceInk } from './axis.mjs';
import { paintHistograms, paintPrice, paintVolume } from './bars.mjs';
import { usable } from './format.mjs';
import { disc, paintLine } from './lines.mjs';
import { coloursOf, look, toneInk } from './look.mjs';
import { linePath, marksOf, textsOf } from './marks.mjs';
import { backed, box, dashes, fill, stroke, through, write } from './pen.mjs';
import { barX, columnAt, crossAt } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';
import { paintAxes, paintButton, paintCross, paintHeader, paintLegend } from './words.mjs';

/** paint draws a plan. */
export function paint(ctx, p) {
  const { m, axisX, panes } = p;
  Object.assign(p, { ctx, colours: coloursOf(p.o.theme), onTag: { ...look.on_tag.dark, ...look.on_tag[p.o.theme] } });
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  box(p, 'back', 0, 0, m.w, m.h);
  if (p.data.synthetic) paintWatermark(p);
  paintGrid(p);
  for (const pane of p.i1 > p.i0 ? panes : []) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, pane.legendEnd, axisX, pane.end - pane.legendEnd);
    ctx.clip();
    paintPane(p, pane);
    ctx.restore();
    p.dipped = undefined; // that is taken back, too
  }
  paintAxes(p);
  paintHeader(p);
  for (const pane of panes) paintLegend(p, pane);
  if (p.i1 <= p.i0) write(p, 'No bars to draw', axisX / 2 - m.px(50), (panes[0].y + panes[0].end) / 2, m.legend, 400, 'text');
  paintCross(p);
}

/** paintPane draws the data of one pane, clipped to it. */
function paintPane(p, pane) {
  const { m } = p;
  paintAreas(p, pane);
  if (pane.price && p.volume) paintVolume(p, pane);
  paintLevels(p, pane);
  if (pane.price) paintPrice(p, pane);
  else paintHistograms(p, pane);
  for (const st of pane.studies.filter(st => !isCandles(st))) st.lines.forEach((l, i) => paintLine(p, pane, l, st.lineLooks[i]));
  if (pane.price) paintOwn(p, pane);
  const drawn = pane.price ? p.marks.filter(k => k.type === 'line') : [];
  for (const k of drawn) stroke(p, toneInk(k.color, 'amber'), m.line, [], through(linePath(p, pane, k)));
  paintDivergences(p, pane);
  paintMarks(p, pane);
}

/** paintWatermark writes across the price that the bars are invented. */
function paintWatermark(p) {
  const { m, ctx } = p;
  const pane = p.panes[0];
  ctx.textAlign = 'center';
  write(p, 'SYNTHETIC DATA', p.axisX / 2, (pane.legendEnd + pane.floor) / 2, Math.min(64 * m.u, p.axisX / 12), 700, 'mark');
  ctx.textAlign = 'left';
}

function paintGrid(p) {
  const { m } = p;
  for (const pane of p.panes) {
    for (const t of pane.ticks) if (!t.level && t.y >= pane.y && t.y < pane.floor) box(p, 'grid', 0, t.y, p.axisX, m.thin);
    for (const t of p.times) box(p, t.strong ? 'strong' : 'grid', columnAt(p, t.bar), pane.y, m.thin, pane.end - pane.y);
    for (const x of p.breaks) dashes(p, x, pane.y, x, pane.end, 2, 3, 'strong');
    for (const i of (p.data.gaps_at ?? []).map(t => p.data.time.indexOf(t))) { // bars are missing before this one
      const x = Math.floor(p.x0 + i * p.pitch) - m.thin;
      if (i > p.i0 && i < p.i1) dashes(p, x, pane.y, x, pane.end, 4, 3, 'muted');
    }
  }
}

const level = (p, pane, v, on, off, ink) => dashes(p, 0, rowOf(pane.scale, v), p.axisX, rowOf(pane.scale, v), on, off, ink);

/** paintLevels draws the levels of studies as dashes, under what they are levels of. None is
 * drawn among the volume. */
function paintLevels(p, pane) {
  const drawn = st => st.hlines.filter(h => usable(h.y) && (h.y !== 0 || st.histogram.length === 0)); // a histogram has its own zero
  for (const h of pane.studies.flatMap(drawn)) if (!pane.price || isInside(pane, h.y)) level(p, pane, h.y, 6, 4, h.ink);
}

/** paintOwn draws the line of the newest close, and the levels of the account and the
 * caller. */
function paintOwn(p, pane) {
  const newest = p.data.close[p.newest];
  const row = yOf(pane.scale, newest);
  if (row >= pane.y && row <= pane.floor) level(p, pane, newest, 2, 3, priceInk(p, p.newest));
  for (const l of p.levels.filter(l => isInside(pane, l.price))) {
    level(p, pane, l.price, l.on, l.off, l.ink);
    if (l.movable) paintButton(p, '×', crossAt(p), rowOf(pane.scale, l.price), l.ink);
  }
}

/** paintDivergences draws divergence lines with discs at their ends. */
function paintDivergences(p, pane) {
  const { m } = p;
  for (const d of pane.studies.flatMap(st => st.divlines)) {
    if (Math.max(d.x1, d.x2) < p.i0 || Math.min(d.x1, d.x2) >= p.i1 || !usable(d.y1) || !usable(d.y2)) continue;
    const ends = [[barX(p, d.x1), yOf(pane.scale, d.y1)], [barX(p, d.x2), yOf(pane.scale, d.y2)]];
    const ink = toneInk(d.tone, 'amber');
    stroke(p, ink, m.line, d.dashed ? [7 * m.u, 5 * m.u] : [], through(ends));
    fill(p, ink, ctx => ends.forEach(([x, y]) => disc(ctx, x, y, (m.compact ? 2.5 : 4) * m.u)));
  }
}

/** paintMarks draws the triangles of a pane, each on a darker one that keeps it apart
 * from what lies under it, and the texts with the lines that lead to them. */
function paintMarks(p, pane) {
  const { colours, m } = p;
  const marks = marksOf(p, pane);
  for (const { x, tip, w, h, up, ink, pale } of marks) {
    const side = up ? 1 : -1;
    const triangle = (grow, ink, level) => {
      const [half, base] = [w / 2 + 1.5 * grow, tip + side * (h + grow)];
      fill(p, ink, through([[x, tip - side * 1.5 * grow], [x - half, base], [x + half, base]]), level);
    };
    if (!pale) triangle(m.u, colours[ink + 'Edge'] ? ink + 'Edge' : 'back');
    triangle(0, ink, pale ? 'poc' : undefined); // of half cover
  }
  for (const { text, x, y, ink, width, leader } of textsOf(p, pane, marks)) {
    if (leader) dashes(p, leader.x, Math.round(leader.top), leader.x + leader.width, Math.round(leader.top), 1, 2, 'muted');
    backed(p, text, x, y, m.mark, 500, ink, width);
  }
}
