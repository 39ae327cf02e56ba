// Painting lines in their styles.
import { usable } from './format.mjs';
import { fill, box, stroke } from './pen.mjs';
import { barX, columnAt, columnEnd } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** paintLine draws one line in its style; a missing value breaks it. */
export function paintLine(p, pane, { style, tone, values }, { ink, dashed }) {
  if (style === 'dots') paintDots(p, pane, values, ink);
  else if (style === 'step') paintSteps(p, pane, values, ink, dashed);
  else strokeValues(p, pane, values, tone === 'band' ? p.m.edge : p.m.line, ink, dashed || style === 'dashed');
}

/** windowEnd is the end of what a line may show: its values, and one bar beyond the
 * window, so that it leaves the plot and does not end at its edge. */
export const windowEnd = (p, values) => Math.min(values.length, Math.ceil(p.window.end) + 1);

/** strokeValues draws the unbroken runs of values between two bars. Where bars lie closer
 * than the thinnest stroke, a column keeps its first, lowest, highest and last value. */
export function strokeValues(p, pane, values, width, ink, dashed, from = 0, to = Infinity) {
  const { m } = p;
  const end = Math.min(to, windowEnd(p, values));
  const y = v => yOf(pane.scale, v);
  stroke(p, ink, width, dashed ? [6 * m.u, 5 * m.u] : [], ctx => {
    ctx.lineJoin = 'round';
    let open = false; // a run has begun
    for (let i = Math.max(from, p.i0 - 1); i < end;) {
      const first = values[i];
      if (!usable(first)) {
        open = false;
        i++;
        continue;
      }
      const x = p.dense ? columnAt(p, i) + (m.thin % 2) / 2 : barX(p, i);
      if (open) ctx.lineTo(x, y(first));
      else ctx.moveTo(x, y(first));
      open = true;
      const stop = Math.min(columnEnd(p, i), end);
      let [lo, hi, last] = [first, first, first];
      for (i++; i < stop && usable(values[i]); i++) {
        last = values[i];
        if (last < lo) lo = last;
        if (last > hi) hi = last;
      }
      if (lo !== hi) for (const v of [lo, hi, last]) ctx.lineTo(x, y(v));
    }
  });
}

/** disc adds a disc to the path. */
export function disc(ctx, x, y, radius) {
  ctx.moveTo(x + radius, y);
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

function paintDots(p, pane, values, ink) {
  const { m } = p;
  const radius = p.pitch < 5 * m.u ? Math.max(m.u, 0.4 * p.pitch) : 2 * m.u;
  fill(p, ink, ctx => {
    for (let i = p.i0; i < windowEnd(p, values); i++) if (usable(values[i])) disc(ctx, barX(p, i), yOf(pane.scale, values[i]), radius);
  });
}

/** paintSteps draws a level for every stretch of equal values. Dashes go on from one to the
 * next and begin anew after a missing value. */
function paintSteps(p, pane, values, ink, dashed) {
  const { line, px } = p.m;
  const thick = Math.max(1, Math.round(line));
  const [on, off] = dashed ? [px(6), px(5)] : [Infinity, 0]; // a solid level is one dash
  const end = windowEnd(p, values);
  let [from, right] = [0, -Infinity]; // where the dashes begin, and where the last level ends
  for (let i = p.i0, j; i < end; i = j) {
    for (j = i + 1; j < end && values[j] === values[i];) j++;
    if (!usable(values[i])) continue;
    const left = Math.floor(p.x0 + i * p.pitch);
    if (left > right) from = left;
    right = Math.max(Math.floor(p.x0 + j * p.pitch), left + 1);
    const y = rowOf(pane.scale, values[i]) - (thick >> 1);
    for (let x = left - ((left - from) % (on + off)); x < right; x += on + off) {
      const [begin, stop] = [Math.max(x, left), Math.min(x + on, right)];
      if (begin < stop) box(p, ink, begin, y, stop - begin, thick);
    }
  }
}
