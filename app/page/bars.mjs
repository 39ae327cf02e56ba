// Painting bars: candles in their types, volume, histograms.
import { usable } from './format.mjs';
import { strokeValues } from './lines.mjs';
import { barInk, lined, signedInk } from './look.mjs';
import { box, frame } from './pen.mjs';
import { columnAt, columnEnd } from './plan.mjs';
import { rowOf } from './scale.mjs';

/** groups calls draw once for each bar in the window or, where bars lie closer than the
 * thinnest stroke, once for all bars of a column: draw(from, to, column). */
function groups(p, draw) {
  for (let i = p.i0, j; i < p.i1; i = j) {
    j = Math.min(columnEnd(p, i), p.i1);
    draw(i, j, columnAt(p, i));
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
  c.up = c.close >= (p.kind === 'hollow' && i > 0 ? close[i - 1] : c.open);
  c.forming = p.data.forming && j === p.data.n;
  return c;
}

/** paintPrice draws the bars as the chart's type has them. What is not closed yet is
 * dashed or striped. */
export function paintPrice(p, pane) {
  if (lined(p.kind)) {
    const { close, n, forming } = p.data;
    strokeValues(p, pane, close, p.m.line, 'profile', false, 0, forming ? n - 1 : n);
    if (forming && n > 1) strokeValues(p, pane, close, p.m.line, 'profile', true, n - 2);
    return;
  }
  groups(p, (i, j, column) => paintCandle(p, pane.scale, candleOf(p, i, j), column - (p.wick >> 1)));
}

/** paintCandle draws wick and body, or a bar with its two ticks. A body that is not
 * closed is striped; one too small to have an inside is filled in every style. */
function paintCandle(p, sc, candle, x) {
  const { m, body, wick } = p;
  const [open, close] = [rowOf(sc, candle.open), rowOf(sc, candle.close)];
  let [top, bottom] = [Math.min(open, close), Math.max(open, close)];
  if (bottom - top < m.thin) { // a doji is a line
    top -= Math.trunc((m.thin - (bottom - top)) / 2);
    bottom = top + m.thin;
  }
  const high = Math.min(rowOf(sc, candle.high), top);
  const low = Math.max(rowOf(sc, candle.low), bottom);
  const left = x - ((body - wick) >> 1);
  const height = bottom - top;
  const ink = candle.up ? 'up' : 'down';
  if (p.kind === 'bars') {
    const half = wick >> 1;
    box(p, ink, x, high, wick, Math.max(low - high, wick));
    box(p, ink, left, open - half, x - left, wick);
    box(p, ink, x + wick, close - half, left + body - x - wick, wick);
    return;
  }
  box(p, ink, x, high, wick, top - high);
  box(p, ink, x, bottom, wick, low - bottom);
  const room = height > 2 * wick && body >= 3 * wick;
  const striped = room && candle.forming;
  const hollow = room && (p.kind === 'hollow' ? candle.close >= candle.open : p.o.theme === 'colorblind' && body >= 5 * m.thin && candle.up);
  box(p, striped || hollow ? 'back' : ink, left, top, body, height); // what lies under a body does not shine through
  if (striped) for (let y = top; y < bottom; y += 2 * m.thin) box(p, ink, left, y, body, Math.min(m.thin, bottom - y));
  if (striped || hollow) frame(p, ink, left, top, body, height, striped ? m.thin : wick);
}

/** bodyAt returns where a bar of full width begins whose middle is in a column. */
const bodyAt = (p, column) => column - (p.wick >> 1) - ((p.body - p.wick) >> 1);

/** paintVolume draws the strip below the candles, scaled to the largest in the window. */
export function paintVolume(p, pane) {
  const { volume, close, open } = p.data;
  const bars = { upVolume: [], downVolume: [] }; // by ink
  let largest = 0;
  groups(p, (i, j, column) => {
    let sum = 0;
    for (let k = i; k < j; k++) if (volume[k] > 0) sum += volume[k];
    largest = Math.max(largest, sum);
    if (sum > 0) bars[close[j - 1] >= open[i] ? 'upVolume' : 'downVolume'].push([column, sum]);
  });
  for (const [ink, list] of Object.entries(bars)) {
    for (const [column, sum] of list) {
      const h = Math.max(1, Math.round((sum / largest) * (pane.end - pane.floor)));
      box(p, ink, bodyAt(p, column), pane.end - h, p.body, h);
    }
  }
}

/** paintHistograms draws bars from zero, in four tones by sign and direction. */
export function paintHistograms(p, pane) {
  const zero = rowOf(pane.scale, 0);
  for (const st of pane.studies) {
    for (const h of st.histogram) {
      const [base, values] = [barInk(h), h.values];
      let before = values[p.i0 - 1] ?? NaN;
      groups(p, (i, j, column) => {
        let v = values[i];
        for (let n = i + 1; n < j; n++) if (usable(values[n]) && !(Math.abs(values[n]) < Math.abs(v))) v = values[n];
        if (!usable(v)) return;
        let y = rowOf(pane.scale, v);
        if (v !== 0 && y === zero) y -= Math.sign(v);
        box(p, base === 'up' ? signedInk(v, before) : base, bodyAt(p, column), Math.min(zero, y), p.body, Math.abs(zero - y));
        before = v;
      });
    }
    if (st.histogram.length > 0 && !pane.scale.empty) box(p, 'sep', 0, zero, p.axisX, p.m.thin);
  }
}
