// The strokes and letters that all painting shares. While it is painted, a plan has the context of its canvas, too,
// and the colours of its theme by ink.
import { faded, look } from './look.mjs';

/** fontOf returns the font of a text of so many pixels. */
export const fontOf = (size, weight) => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;

/** write draws a text whose middle is at row y. */
export function write(p, text, x, y, ink, weight = 500, size = p.m.text) {
  dip(p, ink);
  Object.assign(p.ctx, { font: fontOf(size, weight), textBaseline: 'middle' });
  p.ctx.fillText(text, x, y);
}

/** backed is like write, on a ground through which little of the data is seen. */
export function backed(p, text, x, y, ink, width) {
  const { px, text: size } = p.m;
  box(p, 'back', x - px(2), y - size / 2 - px(2), width + px(4), size + px(4), 'backing');
  write(p, text, x, y, ink);
}

/** dip sets the ink to fill with, at one of the levels of transparency if given. It is asked for thousands of times a
 * frame and mostly has the ink already. */
function dip(p, ink, level) {
  const colour = level ? faded(p.colours[ink], look.levels[level]) : p.colours[ink];
  if (colour !== p.dipped) p.ctx.fillStyle = p.dipped = colour;
}

/** box fills whole pixels. */
export function box(p, ink, x, y, w, h, level) {
  dip(p, ink, level);
  p.ctx.fillRect(x, y, w, h);
}

/** frame draws the outline of a box within it, so many pixels thick. */
export function frame({ ctx, colours }, ink, x, y, w, h, t) {
  Object.assign(ctx, { strokeStyle: colours[ink], lineWidth: t });
  ctx.setLineDash([]);
  ctx.strokeRect(x + t / 2, y + t / 2, w - t, h - t);
}

/** fill fills a path, which trace makes. */
export function fill(p, ink, trace, level) {
  dip(p, ink, level);
  p.ctx.beginPath();
  trace(p.ctx);
  p.ctx.fill();
}

/** stroke draws a path, which trace makes; dash has the lengths of dashes and gaps, none for a solid line. */
export function stroke({ ctx, colours }, ink, width, dash, trace) {
  Object.assign(ctx, { strokeStyle: colours[ink], lineWidth: width });
  ctx.setLineDash(dash);
  ctx.beginPath();
  trace(ctx);
  ctx.stroke();
}

/** through returns the trace of straight lines from point to point. */
export const through = points => ctx => points.forEach(([x, y], i) => (i > 0 ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));

/** dashes draws a thin line of whole pixels, upright from y1 to y2 or level from x1 to x2; without a gap it is solid. */
export function dashes(p, x1, y1, x2, y2, on, off, ink) {
  const { thin, px } = p.m;
  const [dx, dy] = x1 === x2 ? [thin / 2, 0] : [0, thin / 2];
  stroke(p, ink, thin, off ? [px(on), px(off)] : [], through([[x1 + dx, y1 + dy], [x2 + dx, y2 + dy]]));
}
