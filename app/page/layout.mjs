// Sizes and the division of the chart into rows and columns. Nothing in this file
// knows the data, only how many bars, panels and studies there are. Lengths are in
// device pixels; u is how many of them a logical pixel has.
import { look } from './look.mjs';

/** metricsOf returns the sizes of a chart of so many logical pixels. */
export function metricsOf(width, height, ratio) {
  const compact = width < 560 || height < 360;
  const px = v => Math.round(v * ratio);
  const either = (small, full) => px(compact ? small : full);
  const [axis, legend, symbol, tag, mark] = (compact ? [11, 11, 13, 11, 11] : [13, 14, 17, 13, 12]).map(px); // sizes of text
  return {
    w: px(width), h: px(height), u: ratio, compact, px, either, thin: Math.max(1, px(1)), axis, legend, symbol, tag, mark,
    headerH: either(21, 29), timeH: either(18, 26), rowH: either(16, 20), line: (compact ? 1.5 : 2) * ratio, edge: (compact ? 1.25 : 1.5) * ratio,
    tagH: tag + px(6), tickH: 2 * (Math.floor((axis * 36 + 50) / 100) + 1), // a tick label is close about its digits, 0.72 of the text size high
  };
}

/** heights shares out free rows between the price and up to n panels. Panels have a
 * least height, and the price keeps a third, or a part of all rows; what does not fit is left out. */
export function heights(m, free, n, part = 0) {
  const least = m.either(36, 56);
  const keep = Math.max(m.either(100, 120), Math.floor(0.33 * free), Math.ceil(part * m.h));
  for (let fit = n; fit > 0; fit--) {
    const share = Math.max(look.shares[Math.min(fit, look.shares.length - 1)], keep / free);
    const panel = Math.max(least, Math.floor(Math.floor((1 - share) * free) / fit));
    if (free - fit * panel >= keep) return { price: free - fit * panel, panel, fit };
  }
  return { price: free, panel: 0, fit: 0 };
}

/** arrange cuts a pane of rows y to y+h: the legend rows, the strip of volume, and the
 * rows between which its data lie. */
export function arrange(m, pane, y, h, studies, volume) {
  const rows = Math.min(studies, 4, Math.max(1, Math.floor(Math.floor((h * 2) / 5) / m.rowH)));
  const [padTop, padBottom] = pane.price ? [m.either(6, 24), m.either(9, 24)] : [m.either(3, 6), m.either(4, 10)];
  const end = y + h;
  const legendEnd = y + 1 + rows * m.rowH;
  const floor = volume ? end - Math.min(Math.floor(0.17 * h), m.px(120)) : end;
  let top = legendEnd + padTop;
  let bottom = floor - (volume ? Math.min(padBottom, m.px(22)) : padBottom);
  if (bottom < top + 8) { // a very low pane: the pads go first
    top = Math.min(legendEnd + 1, floor - 9);
    bottom = Math.max(floor - 2, top + 1);
  }
  Object.assign(pane, { y, end, rows, legendEnd, top, bottom, floor });
}

/** columnsOf settles where n bars stand: pitch pixels apart, right-aligned before the
 * axis, so that with few bars the empty room is on the left. */
export function columnsOf(m, right, n) {
  const left = m.either(3, 4);
  let pad = m.either(5, 10);
  if (n === 0) return { x0: left, pitch: 1 };
  let pitch = Math.min((right - left - pad) / n, 40 * m.u);
  if (pad < pitch / 2) { // half a bar of air, of the same width as the bars
    pitch = Math.min((right - left) / (n + 0.5), 40 * m.u);
    pad = pitch / 2;
  }
  return { x0: right - pad - n * pitch, pitch };
}

/** bodiesOf returns the widths of candle bodies and wicks for a pitch. Both are odd or
 * both even, so that a wick stands exactly in the middle. */
export function bodiesOf(m, pitch) {
  let body = Math.min(Math.floor(0.8 * pitch), m.px(25));
  let wick = m.thin;
  const per = pitch / m.thin;
  if (per < 2.5) return { body: m.thin, wick };
  if (per <= 4) body = Math.min(3 * m.thin, Math.floor(pitch + 0.5)); // bodies may touch
  else if (m.u >= 1.25 && body >= 6) wick = Math.min(Math.ceil(m.u), Math.floor(body / 3));
  return { body: body - ((body - wick) % 2), wick };
}
