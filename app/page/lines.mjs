// Painting lines in their styles.
import { usable } from './format.mjs';
import { barX, columnAt, columnEnd } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** paintLine draws one line in its style; a missing value breaks it. */
export function paintLine(c, pane, line, lineLook) {
  if (line.style === 'dots') paintDots(c, pane, line.values, lineLook.ink);
  else if (line.style === 'step') paintSteps(c, pane, line.values, lineLook.ink);
  else strokeValues(c, pane, line.values, line.tone === 'band' ? c.m.edge : c.m.line, lineLook.ink, lineLook.dashed || line.style === 'dashed');
}

/** windowEnd is the end of what a line may show: its values, and one bar beyond the
 * window, so that it leaves the plot and does not end at its edge. */
function windowEnd(p, values) {
  return Math.min(values.length, Math.ceil(p.window.end) + 1);
}

/** strokeValues draws the unbroken runs of values between two bars. Where bars lie closer
 * than the thinnest stroke, a column keeps its first, lowest, highest and last value. */
export function strokeValues(c, pane, values, width, ink, dashed, from = 0, to = Infinity) {
  const { p, ctx, m } = c;
  ctx.strokeStyle = c.colours[ink];
  ctx.lineWidth = width;
  ctx.lineJoin = 'round';
  ctx.setLineDash(dashed ? [6 * m.u, 5 * m.u] : []);
  ctx.beginPath();
  const end = Math.min(to, windowEnd(p, values));
  let open = false; // a run has begun
  for (let i = Math.max(from, p.i0 - 1); i < end;) {
    if (!usable(values[i])) {
      open = false;
      i++;
      continue;
    }
    const first = values[i];
    const x = p.dense ? columnAt(p, i) + (m.thin % 2) / 2 : barX(p, i);
    if (open) ctx.lineTo(x, yOf(pane.scale, first));
    else ctx.moveTo(x, yOf(pane.scale, first));
    open = true;
    const stop = Math.min(columnEnd(p, i), end);
    let [lo, hi, last] = [first, first, first];
    for (i++; i < stop && usable(values[i]); i++) {
      last = values[i];
      if (last < lo) lo = last;
      if (last > hi) hi = last;
    }
    if (lo === hi) continue;
    ctx.lineTo(x, yOf(pane.scale, lo));
    ctx.lineTo(x, yOf(pane.scale, hi));
    ctx.lineTo(x, yOf(pane.scale, last));
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** disc adds a disc to the path. */
export function disc(ctx, x, y, radius) {
  ctx.moveTo(x + radius, y);
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

function paintDots(c, pane, values, ink) {
  const { p, ctx, m } = c;
  const radius = p.pitch < 5 * m.u ? Math.max(m.u, 0.4 * p.pitch) : 2 * m.u;
  ctx.fillStyle = c.colours[ink];
  ctx.beginPath();
  for (let i = p.i0; i < windowEnd(p, values); i++) if (usable(values[i])) disc(ctx, barX(p, i), yOf(pane.scale, values[i]), radius);
  ctx.fill();
}

/** paintSteps draws a level for every stretch of equal values, without joins. */
function paintSteps(c, pane, values, ink) {
  const { p, ctx, m } = c;
  const thick = Math.max(1, Math.round(m.line));
  ctx.fillStyle = c.colours[ink];
  const end = windowEnd(p, values);
  for (let i = p.i0; i < end;) {
    let j = i + 1;
    while (j < end && values[j] === values[i]) j++;
    if (usable(values[i])) {
      const x = Math.floor(p.x0 + i * p.pitch);
      ctx.fillRect(x, rowOf(pane.scale, values[i]) - (thick >> 1), Math.floor(p.x0 + j * p.pitch) - x, thick);
    }
    i = j;
  }
}

/** stroke draws a slanted line between two points. */
export function stroke({ ctx, colours, m }, [a, b], ink, dashed = false) {
  ctx.strokeStyle = colours[ink];
  ctx.lineWidth = m.line;
  ctx.setLineDash(dashed ? [7 * m.u, 5 * m.u] : []);
  ctx.beginPath();
  ctx.moveTo(...a);
  ctx.lineTo(...b);
  ctx.stroke();
  ctx.setLineDash([]);
}
