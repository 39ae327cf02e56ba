// Painting a plan on a canvas, from what lies at the bottom to the text on top.
// Upright things are whole pixels; only slanted lines are smoothed.
import { paintAreas } from './areas.mjs';
import { priceInk } from './axis.mjs';
import { usable } from './format.mjs';
import { histogramInk, levelInk, toneInk } from './inks.mjs';
import { coloursOf, look } from './look.mjs';
import { lineEnds, marksOf, textsOf } from './marks.mjs';
import { backed, dashes, frame, write } from './pen.mjs';
import { barX, columnAt, columnEnd } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';
import { paintAxes, paintCross, paintWords } from './words.mjs';

/** paint draws a plan. */
export function paint(ctx, p) {
  const c = { ctx, p, m: p.m, colours: coloursOf(p.o.theme), onTag: look.on_tag[p.o.theme] };
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.fillStyle = c.colours.back;
  ctx.fillRect(0, 0, p.m.w, p.m.h);
  if (p.data.synthetic) paintWatermark(c);
  paintGrid(c);
  for (const pane of p.i1 > p.i0 ? p.panes : []) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, pane.legendEnd, p.axisX, pane.end - pane.legendEnd);
    ctx.clip();
    paintPane(c, pane);
    ctx.restore();
  }
  paintAxes(c);
  paintWords(c);
  if (p.cross) paintCross(c);
}

/** paintPane draws the data of one pane, clipped to it. */
function paintPane(c, pane) {
  paintAreas(c, pane);
  if (pane.price) {
    if (c.p.volume) paintVolume(c, pane);
    paintPrice(c, pane);
  } else {
    paintHistograms(c, pane);
  }
  for (const st of pane.studies) st.lines.forEach((l, i) => paintLine(c, pane, l, st.lineLooks[i]));
  paintLevels(c, pane);
  if (pane.price) for (const k of c.p.marks.filter(k => k.type === 'line')) stroke(c, lineEnds(c.p, pane, k), toneInk(k.color, 'amber'));
  paintDivergences(c, pane);
  paintMarks(c, pane);
}

/** paintWatermark writes across the price that the bars are invented. */
function paintWatermark(c) {
  const { p, m, ctx } = c;
  const pane = p.panes[0];
  ctx.textAlign = 'center';
  write(c, 'SYNTHETIC DATA', p.axisX / 2, (pane.legendEnd + pane.floor) / 2, Math.min(64 * m.u, p.axisX / 12), 700, 'mark');
  ctx.textAlign = 'left';
}

function paintGrid(c) {
  const { p, m, ctx, colours } = c;
  for (const pane of p.panes) {
    ctx.fillStyle = colours.grid;
    for (const t of pane.ticks) if (!t.level && t.y >= pane.y && t.y < pane.floor) ctx.fillRect(0, t.y, p.axisX, m.thin);
    for (const strong of [false, true]) {
      ctx.fillStyle = strong ? colours.strong : colours.grid;
      for (const t of p.times) if (t.strong === strong) ctx.fillRect(columnAt(p, t.bar), pane.y, m.thin, pane.end - pane.y);
    }
    for (const x of p.breaks) dashes(c, x, pane.y, x, pane.end, 2, 3, 'strong');
  }
}

/** groups calls draw once for each bar in the window or, where bars lie closer than the
 * thinnest stroke, once for all bars of a column: draw(from, to, column). */
function groups(p, draw) {
  for (let i = p.i0; i < p.i1;) {
    const j = Math.min(columnEnd(p, i), p.i1);
    draw(i, j, columnAt(p, i));
    i = j;
  }
}

/** candleOf joins bars i to j, j excluded: the first open, the last close, the outermost
 * high and low. */
function candleOf(p, i, j) {
  const { open, high, low, close } = p.drawn;
  const c = { open: open[i], close: close[j - 1], high: high[i], low: low[i] };
  for (let k = i + 1; k < j; k++) {
    if (high[k] > c.high) c.high = high[k];
    if (low[k] < c.low) c.low = low[k];
  }
  c.filled = c.close < c.open;
  c.up = p.kind === 'hollow' && i > 0 ? c.close >= close[i - 1] : !c.filled;
  c.forming = p.data.forming && j === p.data.n;
  return c;
}

/** paintPrice draws the bars as the chart's type has them. What is not closed yet is
 * dashed or striped. */
function paintPrice(c, pane) {
  const { p } = c;
  if (p.kind === 'line' || p.kind === 'area') {
    const { close, n, forming } = p.data;
    strokeValues(c, pane, close, c.m.line, 'profile', false, 0, forming ? n - 1 : n);
    if (forming && n > 1) strokeValues(c, pane, close, c.m.line, 'profile', true, n - 2);
    return;
  }
  groups(p, (i, j, column) => paintCandle(c, pane.scale, candleOf(p, i, j), column - (p.wick >> 1)));
}

/** paintCandle draws wick and body, or a bar with its two ticks. A body that is not
 * closed is striped; one too small to have an inside is filled in every style. */
function paintCandle(c, sc, candle, x) {
  const { p, ctx, m } = c;
  const { body, wick } = p;
  const open = rowOf(sc, candle.open);
  const close = rowOf(sc, candle.close);
  let top = Math.min(open, close);
  let bottom = Math.max(open, close);
  if (bottom - top < m.thin) { // a doji is a line
    top -= Math.trunc((m.thin - (bottom - top)) / 2);
    bottom = top + m.thin;
  }
  const high = Math.min(rowOf(sc, candle.high), top);
  const low = Math.max(rowOf(sc, candle.low), bottom);
  const left = x - ((body - wick) >> 1);
  const colour = c.colours[candle.up ? 'up' : 'down'];
  ctx.fillStyle = colour;
  if (p.kind === 'bars') {
    const half = wick >> 1;
    ctx.fillRect(x, high, wick, Math.max(low - high, wick));
    ctx.fillRect(left, open - half, x - left, wick);
    ctx.fillRect(x + wick, close - half, left + body - x - wick, wick);
    return;
  }
  ctx.fillRect(x, high, wick, top - high);
  ctx.fillRect(x, bottom, wick, low - bottom);
  const room = bottom - top > 2 * wick && body >= 3 * wick;
  const hollow = p.kind === 'hollow' ? !candle.filled : p.o.theme === 'colorblind' && candle.up;
  if (room && (candle.forming || (hollow && body >= 5 * m.thin))) { // what lies under it does not shine through
    ctx.fillStyle = c.colours.back;
    ctx.fillRect(left, top, body, bottom - top);
    ctx.fillStyle = colour;
  }
  if (candle.forming && room) {
    for (let y = top; y < bottom; y += 2 * m.thin) ctx.fillRect(left, y, body, Math.min(m.thin, bottom - y));
    frame(ctx, left, top, body, bottom - top, m.thin);
  } else if (hollow && room && body >= 5 * m.thin) {
    frame(ctx, left, top, body, bottom - top, wick);
  } else {
    ctx.fillRect(left, top, body, bottom - top);
  }
}

/** bodyAt returns where a bar of full width begins whose middle is in a column. */
function bodyAt(p, column) {
  return column - (p.wick >> 1) - ((p.body - p.wick) >> 1);
}

/** paintVolume draws the strip below the candles, scaled to the largest in the window. */
function paintVolume(c, pane) {
  const { p, ctx, colours } = c;
  const { volume, close, open } = p.data;
  const bars = [];
  let largest = 0;
  groups(p, (i, j, column) => {
    let sum = 0;
    for (let k = i; k < j; k++) if (volume[k] > 0) sum += volume[k];
    largest = Math.max(largest, sum);
    if (sum > 0) bars.push({ sum, column, up: close[j - 1] >= open[i] });
  });
  const height = pane.end - pane.floor;
  for (const up of [true, false]) {
    ctx.fillStyle = up ? colours.upVolume : colours.downVolume;
    for (const b of bars) {
      if (b.up !== up) continue;
      const h = Math.max(1, Math.round((b.sum / largest) * height));
      ctx.fillRect(bodyAt(p, b.column), pane.end - h, p.body, h);
    }
  }
}

/** paintHistograms draws bars from zero, in four tones by sign and direction. */
function paintHistograms(c, pane) {
  const { p, ctx, colours, m } = c;
  const zero = rowOf(pane.scale, 0);
  for (const st of pane.studies) {
    st.histogram.forEach(({ values }, k) => {
      let before = values[p.i0 - 1] ?? NaN;
      groups(p, (i, j, column) => {
        let v = values[i];
        for (let n = i + 1; n < j; n++) if (usable(values[n]) && !(Math.abs(values[n]) < Math.abs(v))) v = values[n];
        if (!usable(v)) return;
        let y = rowOf(pane.scale, v);
        if (v !== 0 && y === zero) y -= Math.sign(v);
        ctx.fillStyle = colours[histogramInk(st.barInks[k], v, before)];
        ctx.fillRect(bodyAt(p, column), Math.min(zero, y), p.body, Math.abs(zero - y));
        before = v;
      });
    });
    if (st.histogram.length > 0 && !pane.scale.empty) {
      ctx.fillStyle = colours.sep;
      ctx.fillRect(0, zero, p.axisX, m.thin);
    }
  }
}

/** paintLine draws one line in its style; a missing value breaks it. */
function paintLine(c, pane, line, lineLook) {
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
function strokeValues(c, pane, values, width, ink, dashed, from = 0, to = Infinity) {
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
function disc(ctx, x, y, radius) {
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

/** paintLevels draws the levels of a pane as dashes, and on the price the line of the
 * last close and the levels of the account and of the caller. */
function paintLevels(c, pane) {
  const { p } = c;
  const level = (v, on, off, ink) => dashes(c, 0, rowOf(pane.scale, v), p.axisX, rowOf(pane.scale, v), on, off, ink);
  for (const st of pane.studies) {
    st.hlines.forEach((h, k) => {
      if (usable(h.y) && (h.y !== 0 || st.histogram.length === 0)) level(h.y, 6, 4, levelInk(st, k, pane.price));
    });
  }
  if (!pane.price) return;
  level(p.data.close[p.last], 2, 3, priceInk(p, p.last));
  for (const l of p.levels) level(l.price, l.on, l.off, l.ink);
}

/** stroke draws a slanted line between two points. */
function stroke({ ctx, colours, m }, [a, b], ink, dashed = false) {
  ctx.strokeStyle = colours[ink];
  ctx.lineWidth = m.line;
  ctx.setLineDash(dashed ? [7 * m.u, 5 * m.u] : []);
  ctx.beginPath();
  ctx.moveTo(...a);
  ctx.lineTo(...b);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** paintDivergences draws divergence lines with discs at their ends. */
function paintDivergences(c, pane) {
  const { p, ctx, m } = c;
  for (const d of pane.studies.flatMap(st => st.divlines)) {
    if (Math.max(d.x1, d.x2) < p.i0 || Math.min(d.x1, d.x2) >= p.i1 || !usable(d.y1) || !usable(d.y2)) continue;
    const ends = [[barX(p, d.x1), yOf(pane.scale, d.y1)], [barX(p, d.x2), yOf(pane.scale, d.y2)]];
    const ink = toneInk(d.tone, 'amber');
    stroke(c, ends, ink, d.dashed);
    ctx.fillStyle = c.colours[ink];
    ctx.beginPath();
    for (const [x, y] of ends) disc(ctx, x, y, (m.compact ? 2.5 : 4) * m.u);
    ctx.fill();
  }
}

/** paintMarks draws the triangles of a pane, each on a darker one that keeps it apart
 * from what lies under it, and the texts. */
function paintMarks(c, pane) {
  const { p, ctx, colours, m } = c;
  const marks = marksOf(p, pane);
  for (const k of marks) {
    const side = k.up ? 1 : -1;
    const triangle = (grow, ink) => {
      ctx.fillStyle = colours[ink];
      ctx.beginPath();
      ctx.moveTo(k.x, k.tip - side * 1.5 * grow);
      ctx.lineTo(k.x - k.w / 2 - 1.5 * grow, k.tip + side * (k.h + grow));
      ctx.lineTo(k.x + k.w / 2 + 1.5 * grow, k.tip + side * (k.h + grow));
      ctx.fill();
    };
    triangle(m.u, colours[k.ink + 'Edge'] ? k.ink + 'Edge' : 'back');
    triangle(0, k.ink);
  }
  for (const t of textsOf(p, pane, marks)) backed(c, t.text, t.x, t.y, m.mark, 500, t.ink, t.width);
}
