// Painting bars: candles in their types, volume, histograms.
import { usable } from './format.mjs';
import { histogramInk } from './inks.mjs';
import { strokeValues } from './lines.mjs';
import { frame } from './pen.mjs';
import { columnAt, columnEnd } from './plan.mjs';
import { rowOf } from './scale.mjs';

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
export function paintPrice(c, pane) {
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
export function paintVolume(c, pane) {
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
export function paintHistograms(c, pane) {
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
