// The strokes and letters that all painting shares.
import { faded, look } from './look.mjs';

/** fontOf returns the font of a text of so many pixels. */
export function fontOf(size, weight) {
  return `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
}

/** write draws a text whose middle is at row y. */
export function write(c, text, x, y, size, weight, ink) {
  c.ctx.font = fontOf(size, weight);
  c.ctx.textBaseline = 'middle';
  c.ctx.fillStyle = c.colours[ink];
  c.ctx.fillText(text, x, y);
}

/** backed is like write, on a ground through which little of the data is seen. */
export function backed(c, text, x, y, size, weight, ink, width) {
  const { px } = c.m;
  c.ctx.fillStyle = faded(c.colours.back, look.levels.backing);
  c.ctx.fillRect(x - px(2), y - size / 2 - px(2), width + px(4), size + px(4));
  write(c, text, x, y, size, weight, ink);
}

/** dashes draws an upright or level line of dashes, or a solid one without a gap. */
export function dashes(c, x1, y1, x2, y2, on, off, ink) {
  const { ctx, m } = c;
  const half = m.thin / 2;
  const [dx, dy] = x1 === x2 ? [half, 0] : [0, half];
  ctx.strokeStyle = c.colours[ink];
  ctx.lineWidth = m.thin;
  ctx.setLineDash(off ? [m.px(on), m.px(off)] : []);
  ctx.beginPath();
  ctx.moveTo(x1 + dx, y1 + dy);
  ctx.lineTo(x2 + dx, y2 + dy);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** frame draws the outline of a box within it, in the current fill. */
export function frame(ctx, x, y, w, h, t) {
  ctx.fillRect(x, y, w, t);
  ctx.fillRect(x, y + h - t, w, t);
  ctx.fillRect(x, y + t, t, h - 2 * t);
  ctx.fillRect(x + w - t, y + t, t, h - 2 * t);
}
