// Painting a plan on a canvas, from what lies at the bottom to the text on top.
// Upright things are whole pixels; only slanted lines are smoothed.
import { paintAreas } from './areas.mjs';
import { usable } from './format.mjs';
import { histogramInk, levelInk } from './inks.mjs';
import { coloursOf, faded, look } from './look.mjs';
import { extremesOf, markNames, marksOf } from './marks.mjs';
import { dashes, frame, write } from './pen.mjs';
import { barX, columnAt, columnEnd, priceInk } from './plan.mjs';
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
  for (const pane of p.panes) {
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
 * high and low. It returns undefined when none can be drawn. */
function candleOf(p, i, j) {
  const { open, high, low, close } = p.drawn;
  const { valid } = p.data;
  let k = i;
  while (k < j && !valid[k]) k++;
  if (k === j) return undefined;
  const c = { open: open[k], close: close[k], high: high[k], low: low[k] };
  for (k++; k < j; k++) {
    if (!valid[k]) continue;
    c.close = close[k];
    if (high[k] > c.high) c.high = high[k];
    if (low[k] < c.low) c.low = low[k];
  }
  c.up = c.close >= c.open;
  c.filled = !c.up;
  if (p.kind === 'hollow' && i > 0 && valid[i - 1]) c.up = c.close >= close[i - 1];
  c.forming = p.data.forming && j === p.data.n;
  return c;
}

/** paintPrice draws the bars as the chart's type has them. */
function paintPrice(c, pane) {
  const { p } = c;
  if (p.kind === 'line' || p.kind === 'area') {
    const closed = p.data.forming ? p.data.n - 1 : p.data.n;
    strokeValues(c, pane, p.data.close.slice(0, closed), c.m.line, 'profile', false);
    if (p.data.forming && p.data.n > 1) strokeValues(c, pane, sparse(p.data.close, p.data.n - 2), c.m.line, 'profile', true);
    return;
  }
  groups(p, (i, j, column) => {
    const candle = candleOf(p, i, j);
    if (candle) paintCandle(c, pane.scale, candle, column - (p.wick >> 1));
  });
}

/** sparse returns values with all before from missing. */
function sparse(values, from) {
  return values.map((v, i) => (i < from ? NaN : v));
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
  ctx.fillStyle = c.colours[candle.up ? 'up' : 'down'];
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
  if (candle.forming && room) {
    for (let y = top; y < bottom; y += 2 * m.thin) ctx.fillRect(left, y, body, Math.min(m.thin, bottom - y));
    frame(ctx, left, top, body, bottom - top, m.thin);
  } else if (hollow && room && body >= 5 * m.thin) {
    frame(ctx, left, top, body, bottom - top, wick);
  } else {
    ctx.fillRect(left, top, body, bottom - top);
  }
}

/** paintVolume draws the strip below the candles, scaled to the largest in the window. */
function paintVolume(c, pane) {
  const { p, ctx, colours } = c;
  const { volume, close, open } = p.data;
  const bars = [];
  let largest = 0;
  groups(p, (i, j, column) => {
    let sum = 0;
    for (let k = i; k < j; k++) if (volume[k] > 0 && usable(volume[k])) sum += volume[k];
    largest = Math.max(largest, sum);
    if (sum > 0) bars.push({ sum, column, up: close[j - 1] >= open[i] });
  });
  const height = pane.end - pane.floor;
  for (const up of [true, false]) {
    ctx.fillStyle = up ? colours.upVolume : colours.downVolume;
    for (const b of bars) {
      if (b.up !== up) continue;
      const h = Math.max(1, Math.round((b.sum / largest) * height));
      ctx.fillRect(b.column - (p.wick >> 1) - ((p.body - p.wick) >> 1), pane.end - h, p.body, h);
    }
  }
}

/** paintHistograms draws bars from zero, in four tones by sign and direction. */
function paintHistograms(c, pane) {
  const { p, ctx, colours, m } = c;
  for (const st of pane.studies) {
    st.histogram.forEach((h, k) => {
      const zero = rowOf(pane.scale, 0);
      let before = h.values[p.i0 - 1] ?? NaN;
      groups(p, (i, j, column) => {
        let v = h.values[i];
        for (let n = i + 1; n < j; n++) if (usable(h.values[n]) && !(Math.abs(h.values[n]) < Math.abs(v))) v = h.values[n];
        if (!usable(v)) return;
        let y = rowOf(pane.scale, v);
        if (v !== 0 && y === zero) y -= Math.sign(v);
        ctx.fillStyle = colours[histogramInk(st.barInks[k], v, before)];
        ctx.fillRect(column - (p.wick >> 1) - ((p.body - p.wick) >> 1), Math.min(zero, y), p.body, Math.abs(zero - y));
        before = v;
      });
    });
    if (st.histogram.length > 0 && !pane.scale.empty) {
      ctx.fillStyle = colours.sep;
      ctx.fillRect(0, rowOf(pane.scale, 0), p.axisX, m.thin);
    }
  }
}

/** paintLine draws one line in its style; a missing value breaks it. */
function paintLine(c, pane, line, lineLook) {
  const { m } = c;
  const values = line.ahead.length ? line.values.concat(line.ahead) : line.values;
  if (line.style === 'dots') return paintDots(c, pane, values, lineLook.ink);
  if (line.style === 'step') return paintSteps(c, pane, values, lineLook.ink);
  const width = line.tone === 'band' ? m.edge : m.line;
  strokeValues(c, pane, values, width, lineLook.ink, lineLook.dashed || line.style === 'dashed');
}

/** windowEnd is the end of what a line may show: its values, and one bar beyond the
 * window, so that it leaves the plot and does not end at its edge. */
function windowEnd(p, values) {
  return Math.min(values.length, Math.ceil(p.window.end) + 1);
}

/** strokeValues draws the unbroken runs of values. Where bars lie closer than the
 * thinnest stroke, a column keeps its first, lowest, highest and last value. */
function strokeValues(c, pane, values, width, ink, dashed) {
  const { p, ctx, m } = c;
  ctx.strokeStyle = c.colours[ink];
  ctx.lineWidth = width;
  ctx.lineJoin = 'round';
  ctx.setLineDash(dashed ? [6 * m.u, 5 * m.u] : []);
  ctx.beginPath();
  const end = windowEnd(p, values);
  let open = false; // a run has begun
  for (let i = Math.max(0, p.i0 - 1); i < end;) {
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
    let lo = first;
    let hi = first;
    let last = first;
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

function paintDots(c, pane, values, ink) {
  const { p, ctx, m } = c;
  const radius = p.pitch < 5 * m.u ? Math.max(m.u, 0.4 * p.pitch) : 2 * m.u;
  ctx.fillStyle = c.colours[ink];
  ctx.beginPath();
  for (let i = p.i0; i < windowEnd(p, values); i++) {
    if (!usable(values[i])) continue;
    const [x, y] = [barX(p, i), yOf(pane.scale, values[i])];
    ctx.moveTo(x + radius, y);
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
  }
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
 * last close and the levels of the account. */
function paintLevels(c, pane) {
  const { p } = c;
  const level = (v, on, off, ink) => dashes(c, 0, rowOf(pane.scale, v), p.axisX, rowOf(pane.scale, v), on, off, ink);
  for (const st of pane.studies) {
    st.hlines.forEach((h, k) => {
      if (usable(h.y) && (h.y !== 0 || st.histogram.length === 0)) level(h.y, 6, 4, levelInk(st, k, pane.price));
    });
  }
  if (!pane.price || p.last < 0) return;
  level(p.data.close[p.last], 2, 3, priceInk(p, p.last));
  for (const l of p.levels) level(l.price, l.on, l.off, l.ink);
}

/** paintDivergences draws divergence lines with discs at their ends. */
function paintDivergences(c, pane) {
  const { p, ctx, m } = c;
  const radius = (m.compact ? 2.5 : 4) * m.u;
  for (const st of pane.studies) {
    for (const d of st.divlines) {
      if (Math.max(d.x1, d.x2) < p.i0 || Math.min(d.x1, d.x2) >= p.i1 || !usable(d.y1) || !usable(d.y2)) continue;
      const ends = [[barX(p, d.x1), yOf(pane.scale, d.y1)], [barX(p, d.x2), yOf(pane.scale, d.y2)]];
      ctx.strokeStyle = ctx.fillStyle = c.colours[{ up: 'up', down: 'down' }[d.tone] ?? 'amber'];
      ctx.lineWidth = m.line;
      ctx.setLineDash(d.dashed ? [7 * m.u, 5 * m.u] : []);
      ctx.beginPath();
      ctx.moveTo(...ends[0]);
      ctx.lineTo(...ends[1]);
      ctx.stroke();
      ctx.setLineDash([]);
      for (const [x, y] of ends) {
        ctx.beginPath();
        ctx.arc(x, y, radius, 0, 2 * Math.PI);
        ctx.fill();
      }
    }
  }
}

/** paintMarks draws the triangles of a pane, each on a darker one that keeps it apart
 * from what lies under it, and the names of the newest. */
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
  const names = markNames(p, pane, marks);
  if (pane.price) names.push(...extremesOf(p));
  for (const n of names) {
    ctx.fillStyle = faded(colours.back, look.levels.backing);
    ctx.fillRect(n.x - m.px(2), n.y - m.mark / 2 - m.px(2), n.width + m.px(4), m.mark + m.px(4));
    write(c, n.text, n.x, n.y, m.mark, 500, n.ink);
  }
}
