// Sizes and the division of the chart into rows and columns. Nothing in this file
// knows the data, only how many bars, panels and studies there are. Lengths are in
// device pixels; u is how many of them a logical pixel has.
import { look } from './look.mjs';

/** metricsOf returns the sizes of a chart of so many logical pixels. */
export function metricsOf(width, height, ratio) {
  const m = { w: Math.round(width * ratio), h: Math.round(height * ratio), u: ratio, compact: width < 560 || height < 360 };
  m.px = v => Math.round(v * m.u);
  m.either = (compact, full) => m.px(m.compact ? compact : full);
  m.thin = Math.max(1, m.px(1));
  const sizes = m.compact ? [11, 11, 13, 11, 11] : [13, 14, 17, 13, 12];
  [m.axis, m.legend, m.symbol, m.tag, m.mark] = sizes.map(m.px);
  m.headerH = m.either(21, 29);
  m.timeH = m.either(18, 26);
  m.rowH = m.either(16, 20);
  m.line = (m.compact ? 1.5 : 2) * m.u;
  m.edge = (m.compact ? 1.25 : 1.5) * m.u;
  m.tagH = m.tag + m.px(6);
  return m;
}

/** heights shares out free rows between the price and up to n panels. Panels have a
 * least height, and the price keeps a third; what does not fit is left out. */
export function heights(m, free, n) {
  const least = m.either(36, 56);
  const keep = Math.max(m.either(100, 120), Math.floor(0.33 * free));
  for (let fit = n; fit > 0; fit--) {
    const share = look.shares[Math.min(fit, look.shares.length - 1)];
    const panel = Math.max(least, Math.floor(Math.floor((1 - share) * free) / fit));
    if (free - fit * panel >= keep) return { price: free - fit * panel, panel, fit };
  }
  return { price: free, panel: 0, fit: 0 };
}

/** arrange cuts a pane of rows y to y+h: the legend rows, the strip of volume, and the
 * rows between which its data lie. */
export function arrange(m, pane, y, h, studies, volume) {
  const rows = Math.min(studies, 4, Math.max(1, Math.floor(Math.floor((h * 2) / 5) / m.rowH)));
  const padTop = pane.price ? m.either(6, 24) : m.either(3, 6);
  const padBottom = pane.price ? m.either(9, 24) : m.either(4, 10);
  pane.y = y;
  pane.end = y + h;
  pane.rows = rows;
  pane.legendEnd = y + 1 + rows * m.rowH;
  pane.top = pane.legendEnd + padTop;
  pane.bottom = pane.end - padBottom;
  pane.floor = pane.end;
  if (volume) {
    pane.floor -= Math.min(Math.floor(0.17 * h), m.px(120));
    pane.bottom = pane.floor - Math.min(padBottom, m.px(22));
  }
  if (pane.bottom < pane.top + 8) { // a very low pane: the pads go first
    pane.top = Math.min(pane.legendEnd + 1, pane.floor - 9);
    pane.bottom = Math.max(pane.floor - 2, pane.top + 1);
  }
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
  if (per < 2.5) return { body: m.thin, wick: m.thin };
  if (per <= 4) body = Math.min(3 * m.thin, Math.floor(pitch + 0.5)); // bodies may touch
  else if (m.u >= 1.25 && body >= 6) wick = Math.min(Math.ceil(m.u), Math.floor(body / 3));
  if ((body - wick) % 2 !== 0) body--;
  return { body, wick };
}
